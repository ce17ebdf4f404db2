//! M8: Memory that no process maps is counted.

use metier_testkit::Workspace;

use crate::binary::{metier, workspace};

/// Runs a python script of a user's skill and gives its report.
fn report(script: &str) -> serde_json::Value {
    let document = "---\nname: lab\ndescription: Takes memory.\n---\nRun it.\n";
    let workspace: Workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file("home/.agents/skills/lab/scripts/a.py", script);
    metier(&workspace, &["exec", "lab", "a.py", "--json"]).json()
}

/// Ten processes; each fills sockets until it holds this many megabytes, and all stay for some seconds.
fn ten_processes(megabytes: u32) -> String {
    format!(
        r#"
import os, socket, sys, time
reader, writer = os.pipe()
for _ in range(10):
    if os.fork() == 0:
        kept, taken = [], 0
        while taken < {megabytes} << 20:
            pair = socket.socketpair()
            kept.append(pair)
            for end in pair:
                end.setblocking(False)
                try:
                    while True:
                        taken += end.send(bytes(65536))
                except BlockingIOError:
                    pass
        os.write(writer, b"x")
        time.sleep(5)
        os._exit(0)
full = 0
while full < 10:
    full += len(os.read(reader, 10))
time.sleep(1)
print("all are full")
"#
    )
}

#[test]
fn full_local_sockets_of_ten_processes_are_stopped_at_the_limit() {
    let report = report(&ten_processes(180));
    assert_eq!(report["stopped"], "memory", "{report}");
    let held = report["usage"]["memory_bytes"].as_u64().unwrap();
    assert!(held > 2 << 30, "the report says {held} bytes");
}

#[test]
fn some_full_sockets_are_no_harm() {
    let report = report(&ten_processes(5));
    assert_eq!(report["exit_code"], 0, "{report}");
}

#[test]
fn shared_memory_that_shows_in_no_process_is_counted() {
    let script = r#"
import mmap, time
kept = []
for _ in range(24):
    area = mmap.mmap(-1, 100 << 20)
    for page in range(0, 100 << 20, 4096):
        area[page] = 1
    area.madvise(mmap.MADV_DONTNEED)
    kept.append(area)
time.sleep(2)
print("2.4 GB are kept")
"#;
    let report = report(script);
    assert_eq!(report["stopped"], "memory", "{report}");
}

//! C1: A script cannot switch off the process that watches it.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use metier_testkit::Workspace;
use serde_json::json;

use crate::binary::{Run, command, program, workspace};
use crate::mcp_client::McpClient;

/// What took the supervisor's eyes: it can open no file any more.
const BLIND: &str = "prlimit --pid 1 --nofile=0:0 && echo BLIND\n";

/// A user who is nobody else on a machine.
const USER: u32 = 54_321;

/// A user's skill with one script, which begins with the attack.
fn lab(script: &str) -> Workspace {
    let document = "---\nname: lab\ndescription: Attacks its supervisor.\n---\nRun it.\n";
    workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file("home/.agents/skills/lab/scripts/a.sh", format!("{BLIND}{script}"))
}

/// Runs the script as whoever runs the test and, where that is root, as an ordinary user, too.
fn each_user(script: &str, args: &[&str], check: impl Fn(&str, &Run, Duration)) {
    let args = [&["exec", "lab", "a.sh"], args].concat();
    let run = |mut command: Command| {
        let began = Instant::now();
        let output = command.output().expect("the binary can be started");
        let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (Run { stdout, stderr, code: output.status.code().unwrap_or(-1) }, began.elapsed())
    };
    let own = lab(script);
    let (outcome, took) = run(command(&own, &args));
    check("this user", &outcome, took);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let other = lab(script);
    give(other.path());
    let own = command(&other, &args);
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()]);
    command.arg(reachable(&other)).args(own.get_args()).current_dir(other.join("project"));
    command.env_clear().envs([("HOME", other.join("home")), ("PATH", "/usr/bin:/bin".into())]);
    let (outcome, took) = run(command);
    check("an ordinary user", &outcome, took);
}

/// The program where everybody can start it: the folder of a build may be closed to others.
fn reachable(workspace: &Workspace) -> PathBuf {
    let copy = workspace.join("metier");
    std::fs::copy(program(), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

/// Gives a folder with all in it to the other user.
fn give(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    for entry in path.is_dir().then(|| std::fs::read_dir(path).unwrap()).into_iter().flatten().flatten() {
        give(&entry.path());
    }
}

#[test]
fn a_script_cannot_set_the_limits_of_its_supervisor() {
    each_user("", &[], |who, run, _| {
        assert!(!run.stdout.contains("BLIND"), "{who}: {}", run.stdout);
    });
}

#[test]
fn a_call_ends_in_time_whatever_its_script_did() {
    each_user("sleep 60", &["--timeout", "2", "--json"], |who, run, took| {
        let report = run.json();
        assert_eq!(report["stopped"], "time", "{who}: {report}");
        assert!(took < Duration::from_secs(9), "{who}: {took:?}");
    });
}

#[test]
fn the_data_folder_stays_within_its_limit_whatever_the_script_did() {
    let fill = "i=0; while [ $i -lt 45 ]; do i=$((i+1)); head -c 10000000 /dev/zero > $SKILL_DATA/$i; done; \
                sleep 2; du -sm $SKILL_DATA | cut -f1";
    each_user(fill, &["--json"], |who, run, _| {
        assert_eq!(run.json()["stopped"], "data", "{who}: {}", run.stdout);
    });
}

#[test]
fn a_script_may_steer_its_own_processes() {
    let script = "sleep 30 & p=$!; prlimit --pid $p --nofile=64:64 && renice -n 5 -p $p >/dev/null \
                  && taskset -p 1 $p >/dev/null && ionice -c 3 -p $p && kill -STOP $p && kill -KILL $p; \
                  wait $p; ulimit -n 64; nice true; timeout 5 true; kill -0 $$ && echo steered";
    each_user(script, &[], |who, run, _| {
        assert_eq!(run.stdout, "steered\n", "{who}: {}", run.stderr);
    });
}

/// How many processes have this word among theirs.
fn with_word(word: &str) -> usize {
    let has_word = |line: Vec<u8>| line.split(|byte| *byte == 0).any(|other| other == word.as_bytes());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(has_word)).count()
}

/// Waits until so many processes have this word; false where that does not come about.
fn comes_to(word: &str, count: usize) -> bool {
    let began = Instant::now();
    while with_word(word) != count {
        if began.elapsed() > Duration::from_secs(30) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}

#[test]
fn nothing_of_a_cancelled_call_works_on_in_a_metier_that_stays() {
    // A number that no other process has among its words.
    let token = format!("97.{}", std::process::id());
    let workspace = lab(&format!("(setsid sleep {token} >/dev/null 2>&1 &); sleep {token}"));
    let mut client = McpClient::start(&workspace, &[], &json!({}));
    let arguments = json!({ "skill_name": "lab", "script_name": "a.sh" });
    let id = client.send("tools/call", &json!({ "name": "skill_run_script", "arguments": arguments }));
    assert!(comes_to(&token, 2), "the script did not start");
    let params = json!({ "requestId": id, "reason": "enough" });
    client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    assert!(comes_to(&token, 0), "{} processes are left", with_word(&token));
    // The server is still there and answers.
    assert!(Path::new(&format!("/proc/{}", client.process())).exists());
    let id = client.send("ping", &json!({}));
    client.answer(id);
}

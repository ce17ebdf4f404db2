//! What /proc, /sys and the control groups give away or let be changed.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::answer::{Answer, Step, cannot_say, held};
use crate::arguments::{Arguments, read_canary, sings};
use crate::attacks::privilege::needs_resources;
use crate::kernel::call;
use crate::probe::{Class, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Proc, "proc-self-root", "reads the file outside through /proc/self/root", self_root),
    Probe::plain(Class::Proc, "proc-self-cwd", "reads it through /proc/self/cwd and `..`", self_cwd),
    Probe::plain(Class::Proc, "proc-thread-root", "reads it through the root of its thread", thread_root),
    Probe::throwaway(Class::Proc, "proc-first-root", "reads it through the first process's root", first_root),
    Probe::throwaway(
        Class::Proc,
        "proc-first-environ",
        "reads the first process's environment",
        first_environ,
    ),
    Probe::throwaway(Class::Proc, "proc-first-files", "opens what the first process has open", first_files),
    Probe::throwaway(Class::Proc, "proc-first-memory", "opens the first process's memory", first_memory),
    Probe::plain(Class::Proc, "proc-parent-root", "reads it through its parent's root", parent_root),
    Probe::plain(
        Class::Proc,
        "proc-victim-root",
        "reads it through the root of a process outside",
        victim_root,
    ),
    Probe::plain(
        Class::Proc,
        "proc-victim-environ",
        "reads the environment of a process outside",
        victim_environ,
    ),
    Probe::plain(Class::Proc, "proc-victim-memory", "opens the memory of a process outside", victim_memory),
    Probe::plain(Class::Proc, "proc-victim-line", "reads the command line of a process outside", victim_line),
    Probe::plain(Class::Proc, "proc-walk", "looks for a secret in every environment it can see", walk),
    Probe::plain(Class::Proc, "proc-mounts", "learns what is mounted outside", mounts),
    Probe::plain(Class::Proc, "proc-sys", "opens a setting of the kernel for writing", sys).by(Who::Root),
    Probe::plain(
        Class::Proc,
        "proc-core-pattern",
        "opens the name of the program that gets dumps",
        core_pattern,
    )
    .by(Who::Root),
    Probe::plain(Class::Proc, "proc-sysrq", "opens the keys of the console for writing", sysrq).by(Who::Root),
    Probe::plain(Class::Proc, "proc-oom", "makes itself the last to be ended when memory is short", oom)
        .by(Who::Root),
    Probe::plain(Class::Proc, "proc-kcore", "opens the kernel's memory", kcore).by(Who::Root),
    Probe::plain(Class::Proc, "proc-symbols", "learns where the kernel's code lies", symbols).by(Who::Root),
    Probe::plain(Class::Proc, "proc-sockets", "learns the names of local sockets outside", sockets),
    Probe::plain(Class::Proc, "proc-keys", "lists the keys of the system", keys),
    Probe::plain(Class::Proc, "sys-write", "opens a setting in /sys for writing", sys_write).by(Who::Root),
    Probe::plain(Class::Proc, "sys-helper", "opens the name of the program for device events", sys_helper)
        .by(Who::Root),
    Probe::plain(Class::Proc, "cgroup-join", "opens the list of a control group for writing", cgroup_join)
        .by(Who::Root),
    Probe::plain(
        Class::Proc,
        "cgroup-release",
        "opens the program that runs when a group is empty",
        cgroup_release,
    )
    .by(Who::Root),
];

fn below(root: &str, arguments: &Arguments) -> Answer {
    read_canary(format!("{root}{}", arguments.text("outside")?))
}

fn self_root(arguments: &Arguments) -> Answer {
    below("/proc/self/root", arguments)
}

fn self_cwd(arguments: &Arguments) -> Answer {
    below(&format!("/proc/self/cwd{}", "/..".repeat(24)), arguments)
}

fn thread_root(arguments: &Arguments) -> Answer {
    below("/proc/thread-self/root", arguments)
}

fn first_root(arguments: &Arguments) -> Answer {
    below("/proc/1/root", arguments)
}

fn parent_root(arguments: &Arguments) -> Answer {
    let parent = call(libc::SYS_getppid, &[]).prepare("getppid")?;
    below(&format!("/proc/{parent}/root"), arguments)
}

fn victim_root(arguments: &Arguments) -> Answer {
    below(&format!("/proc/{}/root", arguments.text("victim")?), arguments)
}

fn first_environ(_: &Arguments) -> Answer {
    let theirs = std::fs::read("/proc/1/environ").attempt("/proc/1/environ")?;
    let mine: Vec<Vec<u8>> = std::env::vars_os()
        .map(|(name, value)| [name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat())
        .collect();
    // What it has and this process has not was meant for nobody here.
    match theirs.split(|byte| *byte == 0).find(|pair| !pair.is_empty() && !mine.iter().any(|own| own == pair))
    {
        Some(pair) => {
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            Ok(format!("it has {}", String::from_utf8_lossy(name)))
        }
        None => held(format!("{} bytes and nothing new", theirs.len())),
    }
}

fn first_files(_: &Arguments) -> Answer {
    let mut mine = Vec::new();
    for stream in 0..3 {
        if let Ok(found) = std::fs::metadata(format!("/proc/self/fd/{stream}")) {
            mine.push((found.dev(), found.ino()));
        }
    }
    let mut looked = 0;
    for entry in std::fs::read_dir("/proc/1/fd").attempt("/proc/1/fd")?.flatten() {
        looked += 1;
        let Ok(file) = open(&entry.path(), false) else { continue };
        let Ok(found) = file.metadata() else { continue };
        let place = std::fs::read_link(entry.path()).unwrap_or_default();
        // What both have is no secret, and everybody has the null device.
        if !mine.contains(&(found.dev(), found.ino())) && place != Path::new("/dev/null") {
            return Ok(format!("opened its {}", place.display()));
        }
    }
    held(format!("{looked} descriptors, none that can be opened"))
}

/// Opens something without waiting and without taking it as a terminal.
fn open(path: &Path, write: bool) -> std::io::Result<std::fs::File> {
    OpenOptions::new().read(!write).write(write).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// Opens one of these for writing, and writes nothing.
fn writable(arguments: &Arguments, paths: &[&str]) -> Answer {
    let mut refusal = None;
    for path in paths {
        match open(Path::new(path), true) {
            Ok(_) => return Ok(format!("{path} is open for writing")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => refusal = Some(format!("{path}: {error}")),
        }
    }
    match refusal {
        Some(refusal) => held(refusal),
        None => absent(arguments),
    }
}

/// Outside, a machine without such a file shows nothing; inside, its absence is the point.
fn absent(arguments: &Arguments) -> Answer {
    if arguments.has("contained") { held("there is none") } else { cannot_say("the machine has none") }
}

fn memory_of(process: &str) -> Answer {
    let path = format!("/proc/{process}/mem");
    OpenOptions::new().read(true).write(true).open(&path).attempt(&path)?;
    Ok(format!("{path} is open for writing"))
}

fn first_memory(_: &Arguments) -> Answer {
    memory_of("1")
}

fn victim_memory(arguments: &Arguments) -> Answer {
    memory_of(arguments.text("victim")?)
}

fn victim_environ(arguments: &Arguments) -> Answer {
    read_canary(format!("/proc/{}/environ", arguments.text("victim")?))
}

fn victim_line(arguments: &Arguments) -> Answer {
    let path = format!("/proc/{}/cmdline", arguments.text("victim")?);
    let bytes = std::fs::read(&path).attempt(&path)?;
    let wanted = b"victim";
    if bytes.windows(wanted.len()).any(|window| window == wanted) {
        return Ok("its command line can be read".to_owned());
    }
    held("that number is another process here")
}

fn walk(_: &Arguments) -> Answer {
    let mut seen = 0;
    for entry in std::fs::read_dir("/proc").attempt("/proc")?.flatten() {
        if let Ok(bytes) = std::fs::read(entry.path().join("environ")) {
            seen += 1;
            if sings(&bytes) {
                return Ok(format!("{} has it", entry.path().display()));
            }
        }
    }
    held(format!("{seen} environments, no canary"))
}

fn mounts(arguments: &Arguments) -> Answer {
    // The folder that all of the test's folders lie in is nobody's business; nor is the device they lie on.
    let text = std::fs::read_to_string("/proc/self/mountinfo").attempt("/proc/self/mountinfo")?;
    let first = std::fs::read_to_string("/proc/1/mountinfo").unwrap_or_default();
    if arguments.has("own-pids") {
        let outside = arguments.text("outside")?;
        if text.contains(outside) || first.contains(outside) {
            return Ok("the folder outside is in the list".to_owned());
        }
        return held("the list is that of its own namespace");
    }
    Ok(format!("{} mounts", text.lines().count()))
}

fn sys(arguments: &Arguments) -> Answer {
    writable(
        arguments,
        &[
            "/proc/sys/kernel/hostname",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/hotplug",
            "/proc/sys/vm/overcommit_memory",
            "/proc/sys/vm/drop_caches",
            "/proc/sys/net/ipv4/ip_forward",
            "/proc/sys/fs/file-max",
            "/proc/sys/user/max_user_namespaces",
        ],
    )
}

fn core_pattern(arguments: &Arguments) -> Answer {
    writable(arguments, &["/proc/sys/kernel/core_pattern"])
}

fn sysrq(arguments: &Arguments) -> Answer {
    writable(arguments, &["/proc/sysrq-trigger", "/proc/sys/kernel/sysrq"])
}

fn oom(arguments: &Arguments) -> Answer {
    needs_resources(arguments)?;
    let before = std::fs::read_to_string("/proc/self/oom_score_adj").attempt("/proc/self/oom_score_adj")?;
    let now: i32 = before.trim().parse().unwrap_or_default();
    if now <= -1000 {
        return cannot_say("it already is the last");
    }
    std::fs::write("/proc/self/oom_score_adj", (now - 1).max(-1000).to_string()).attempt("lower it")?;
    Ok("lowered".to_owned())
}

fn kcore(arguments: &Arguments) -> Answer {
    let file = match open(Path::new("/proc/kcore"), false) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return absent(arguments),
        other => other.attempt("/proc/kcore")?,
    };
    let found = file.metadata().prepare("stat")?;
    if found.is_file() && found.len() > 0 {
        Ok(format!("{} bytes", found.len()))
    } else {
        held("it is masked")
    }
}

fn symbols(_: &Arguments) -> Answer {
    let text = std::fs::read_to_string("/proc/kallsyms").attempt("/proc/kallsyms")?;
    let known = text.lines().any(|line| !line.starts_with("0000000000000000"));
    if known { Ok("addresses are shown".to_owned()) } else { held("no addresses") }
}

fn sockets(arguments: &Arguments) -> Answer {
    let name = arguments.text("abstract")?;
    let text = std::fs::read_to_string("/proc/net/unix").attempt("/proc/net/unix")?;
    if text.contains(name) { Ok("the socket is listed".to_owned()) } else { held("it is not listed") }
}

fn keys(arguments: &Arguments) -> Answer {
    let text = std::fs::read_to_string("/proc/key-users").attempt("/proc/key-users")?;
    // Everybody sees themselves.
    let users = text.lines().count();
    match users {
        // Where nobody else has keys there is nobody to be seen, held or not.
        0 | 1 if !arguments.has("contained") => cannot_say("nobody else has keys here"),
        0 | 1 => held("nobody but itself"),
        users => Ok(format!("{users} users")),
    }
}

fn sys_write(arguments: &Arguments) -> Answer {
    writable(
        arguments,
        &[
            "/sys/power/state",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/module/printk/parameters/time",
            "/sys/devices/system/cpu/cpu1/online",
            "/sys/kernel/profiling",
        ],
    )
}

fn sys_helper(arguments: &Arguments) -> Answer {
    writable(arguments, &["/sys/kernel/uevent_helper", "/sys/kernel/uevent_seqnum", "/sys/kernel/mm/ksm/run"])
}

fn cgroup_join(arguments: &Arguments) -> Answer {
    writable(
        arguments,
        &[
            "/sys/fs/cgroup/cgroup.procs",
            "/sys/fs/cgroup/unified/cgroup.procs",
            "/sys/fs/cgroup/memory/cgroup.procs",
            "/sys/fs/cgroup/pids/cgroup.procs",
        ],
    )
}

fn cgroup_release(arguments: &Arguments) -> Answer {
    writable(
        arguments,
        &[
            "/sys/fs/cgroup/memory/release_agent",
            "/sys/fs/cgroup/pids/release_agent",
            "/sys/fs/cgroup/memory/notify_on_release",
            "/sys/fs/cgroup/cgroup.subtree_control",
        ],
    )
}

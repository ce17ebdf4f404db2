//! Many calls at once, and the end of the process that made them.

use crate::ending::alive;
use crate::scene::{Scene, sandbox, setup, sh};
use metier_sandbox::{Choice, Sandbox, Tier};
use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

fn count(folder: &str) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

const KINDS: &[&str] = &["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];

/// The processes that this one has started and not waited for, whatever thread did it.
fn children() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .flat_map(|task| {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

/// This test binary again, with one of its tests alone: what is counted must not be another test's.
fn alone(test: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", test]);
    command
}

#[test]
fn two_hundred_at_once_leave_nothing_behind() {
    let output = alone("many::two_hundred_at_once").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn two_hundred_at_once() {
    let scene = Scene::new();
    let before = (count("/proc/self/fd"), children(), mounts());
    let (order, used) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    {
        let sandbox = sandbox(Choice::Only(Tier::Namespaces));
        thread::scope(|scope| {
            for number in 0..200 {
                let (sandbox, scene, order, used) = (&sandbox, &scene, &order, &used);
                scope.spawn(move || {
                    let line = format!(
                        "echo {number} > $TMPDIR/x; cat $TMPDIR/x; cd /proc/self/ns; readlink {}; sleep 0.01 # many-4714",
                        KINDS.join(" ")
                    );
                    let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
                    let text = report.stdout.text();
                    let mut lines = text.lines().map(ToOwned::to_owned);
                    assert_eq!(lines.next(), Some(number.to_string()));
                    order.lock().unwrap().push(number);
                    used.lock().unwrap().extend(lines);
                });
                // They come in this order, so that it can be said whether they were served in it.
                thread::sleep(Duration::from_millis(1));
            }
        });
    }
    let order = order.into_inner().unwrap();
    assert_eq!(order.len(), 200);
    let late = order.iter().enumerate().map(|(at, number)| at.abs_diff(*number)).max();
    assert!(late <= Some(64), "nobody is passed over: {late:?} {order:?}");
    let used = used.into_inner().unwrap();
    assert_eq!(used.len(), 200 * KINDS.len());
    // The last process of a call ends after it has said how the call ended; that takes a moment.
    let began = Instant::now();
    loop {
        let after = (count("/proc/self/fd"), children(), mounts());
        // A namespace ends with its last process unless something holds it: a descriptor or a mount, and those are
        // counted, too.
        if after == before && alive("many-4714").is_empty() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "before {before:?}, after {after:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn two_calls_at_the_same_time_share_no_namespace_with_each_other_or_with_us() {
    let scene = Scene::new();
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let run = || {
        let line = format!("cd /proc/self/ns; readlink {}; sleep 0.5", KINDS.join(" "));
        let text = sandbox.run(&scene.profile, &sh(&line)).unwrap().stdout.text();
        text.lines().map(ToOwned::to_owned).collect::<BTreeSet<_>>()
    };
    let [one, two] =
        thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(|call| call.join().unwrap()));
    let own: BTreeSet<_> = KINDS
        .iter()
        .map(|kind| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!((one.len(), two.len(), own.len()), (KINDS.len(), KINDS.len(), KINDS.len()));
    assert!(one.is_disjoint(&two) && one.is_disjoint(&own) && two.is_disjoint(&own));
}

fn mounts() -> usize {
    fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count()
}

#[test]
fn a_room_serves_many_calls_one_after_another_with_stable_memory() {
    let scene = Scene::new();
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let resident = || {
        let text = fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    };
    let run = |times: u32| {
        for _ in 0..times {
            assert!(sandbox.run(&scene.profile, &sh("true")).unwrap().succeeded());
        }
    };
    run(20);
    let before = resident();
    run(100);
    let grown = resident().saturating_sub(before);
    assert!(grown < 512, "{grown} pages more after a hundred calls");
}

/// Not a test of its own: the process that the test below kills in the middle of its calls.
#[test]
#[ignore = "started by the test below, which kills it"]
fn victim() {
    let scene = Scene::new();
    let choice = match std::env::var("TIER").as_deref() {
        Ok("landlock") => Choice::Only(Tier::Landlock),
        _ => Choice::Only(Tier::Namespaces),
    };
    let mut setup = setup(choice);
    setup.at_once = 20.try_into().unwrap();
    let sandbox = Sandbox::new(setup);
    let word = std::env::var("WORD").unwrap();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let line = format!("trap '' TERM HUP; (setsid sleep {word} &); sleep {word}; true");
                sandbox.run(&scene.profile, &sh(&line))
            });
        }
    });
}

#[test]
fn killing_the_process_leaves_none_of_twenty_scripts_alive() {
    for (tier, word) in [("namespaces", "4715.25"), ("landlock", "4716.25")] {
        let mut child = alone("many::victim")
            .envs([("TIER", tier), ("WORD", word)])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let name = format!("sleep {word}");
        let began = Instant::now();
        while alive(&name).len() < 40 {
            assert!(began.elapsed() < Duration::from_secs(30), "{tier}: {}", alive(&name).len());
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        thread::sleep(Duration::from_secs(1));
        assert_eq!(alive(&name), [""; 0], "{tier}: one second later");
    }
}

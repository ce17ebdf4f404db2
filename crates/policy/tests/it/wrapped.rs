//! A deny rule sees a command inside of others: every form of `wrapped.txt` is stopped, and none of `harmless.txt` is.

use metier_policy::{
    Action, Actor, Answers, Asking, Decision, Gate, Layer, List, Owner, Rules, Source, Standing,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

const WRAPPED: &str = include_str!("../wrapped.txt");
const HARMLESS: &str = include_str!("../harmless.txt");

fn lines(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.replace("\\n", "\n").replace("\\t", "\t"))
}

fn decide(line: &str, rule: &str, asking: Asking) -> Decision {
    let layer = Layer::new(Source::new(Owner::User, "config.toml")).list(List::Deny, [rule]).mode("yolo");
    let layer = if asking == Asking::Terminal { layer.mode("ask") } else { layer };
    let rules = Rules::new(vec![layer], Standing::Untrusted);
    let gate = Gate { rules: &rules, answers: &Answers::default(), scopes: &[], asking };
    gate.decide(&Action::command(Actor::Agent, line))
}

#[test]
fn every_form_is_stopped() {
    let passed: Vec<String> =
        lines(WRAPPED).filter(|line| decide(line, "command:zap:*", Asking::Nobody).is_allowed()).collect();
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), lines(WRAPPED).count(), passed.join("\n"));
}

#[test]
fn every_form_takes_at_least_a_question() {
    let passed: Vec<String> =
        lines(WRAPPED).filter(|line| decide(line, "command:zap:*", Asking::Terminal).is_allowed()).collect();
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}

/// What starts another program can itself be started by one.
#[test]
fn every_form_is_stopped_inside_of_every_wrapper() {
    let outer = [
        "env",
        "env -i A=1",
        "nice -n 5",
        "timeout -s KILL 5",
        "setsid -w",
        "stdbuf -o0",
        "sudo -n",
        "xargs",
        "xargs -I{}",
        "find . -exec",
        "flock out",
        "linux64 -R",
        "ionice -c3",
        "busybox",
        "strace -f",
        "npx",
        "parallel",
        "git bisect run",
        "ssh host",
        "unshare -r",
        "nice timeout 5 env",
        "xargs env",
        "/usr/bin/env --",
    ];
    // What is more than one command, or is read from the line's input, stays as it is.
    let is_one = |line: &String| !line.contains(['|', ';', '&', '\n', '\\']);
    let mut passed = Vec::new();
    for line in lines(WRAPPED).filter(is_one) {
        for outer in outer {
            let line = format!("{outer} {line}");
            if decide(&line, "command:zap:*", Asking::Nobody).is_allowed() {
                passed.push(line);
            }
        }
    }
    assert!(passed.is_empty(), "{}:\n{}", passed.len(), passed.join("\n"));
}

#[test]
fn what_does_not_start_it_passes() {
    let stopped: Vec<String> = lines(HARMLESS)
        .filter_map(|line| {
            let decision = decide(&line, "command:zap:*", Asking::Nobody);
            (!decision.is_allowed()).then(|| format!("{line}\n    {decision}"))
        })
        .collect();
    assert!(stopped.is_empty(), "{}", stopped.join("\n"));
}

/// Runs every line in a real bash with a `zap` that leaves a mark. What starts it there has to be in `wrapped.txt`, and nothing
/// of `harmless.txt` may.
#[test]
fn a_real_bash_agrees() {
    let folder = std::env::temp_dir().join(format!("metier-wrapped-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("bin")).unwrap();
    let mark = folder.join("mark");
    let zap = folder.join("bin/zap");
    fs::write(&zap, format!("#!/bin/sh\n: >{}\n", mark.display())).unwrap();
    fs::set_permissions(&zap, fs::Permissions::from_mode(0o755)).unwrap();
    let starts = |line: &str| {
        let _ = fs::remove_file(&mark);
        let work = folder.join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).unwrap();
        fs::write(work.join("f"), "one\ntwo\n").unwrap();
        fs::write(work.join("list"), "x\n").unwrap();
        // Without a network, in a folder of its own, as nobody's business: what asks, waits or starts a daemon is ended.
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-k", "1", "3", "bash", "-c", line]).current_dir(&work).env_clear();
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.join("bin").display())).env("HOME", &work);
        // No repository around the temporary folder is touched.
        command.env("GIT_CEILING_DIRECTORIES", &folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap();
        mark.exists()
    };
    let mut tried = 0;
    for line in lines(WRAPPED).filter(|line| is_tame(line)) {
        if starts(&line) {
            tried += 1;
            assert!(!decide(&line, "command:zap:*", Asking::Nobody).is_allowed(), "{line}");
        }
    }
    for line in lines(HARMLESS).filter(|line| is_tame(line)) {
        assert!(!starts(&line), "{line}");
    }
    let _ = fs::remove_dir_all(&folder);
    // Which programs there are differs; shells and the usual wrappers are everywhere.
    assert!(tried > 60, "only {tried} forms started anything here");
}

/// Whether a line may run on the machine of whoever runs the tests: nothing that changes users, talks to others or needs a
/// terminal.
fn is_tame(line: &str) -> bool {
    const KNOWN: &[&str] = &[
        "awk",
        "bash",
        "dash",
        "ed",
        "env",
        "find",
        "flock",
        "gawk",
        "ionice",
        "linux64",
        "ls",
        "mawk",
        "nice",
        "nohup",
        "perl",
        "prlimit",
        "python3",
        "sed",
        "setarch",
        "setsid",
        "sh",
        "sort",
        "split",
        "stdbuf",
        "tar",
        "taskset",
        "timeout",
        "xargs",
        "zap",
        "logsave",
        "make",
        "setpriv",
        "sqlite3",
        "echo",
        "false",
        "/usr/bin/time",
        "/usr/bin/env",
        "script",
        "git",
    ];
    let first = line.split([' ', '\n']).next().unwrap_or_default();
    let is_wild = ["--global", "://", "cargo"].iter().any(|word| line.contains(word));
    KNOWN.contains(&first.trim_matches(['\'', '"'])) && !is_wild
}

//! The attacks without a sandbox: each must work, else that it is held inside shows nothing.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::ground::Ground;
use crate::judge::{End, Outcome, judge};
use crate::part::{User, wanted};
use crate::probes::{self, Control, Ending, Probe, Who};
use crate::suite::{spread, swapping};
use crate::table::Table;
use crate::traces::{end, survivors};

/// Small enough to harm nobody, large enough to show that nothing stops it.
const SMALL: &[(&str, &str)] =
    &[("seconds", "1"), ("bytes", "33554432"), ("count", "64"), ("files", "1000"), ("chatter", "1048576")];

/// Namespaces that are thrown away: all kinds, with every right inside.
const THROWAWAY: &[&str] = &[
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
    "--mount-proc",
    "--",
];

/// The first process in there: a shell that knows a variable which its child does not.
const FIRST: &[&str] = &["env", "FIRST=1", "sh", "-c", "env -u FIRST \"$@\"; exit $?", "sh"];

/// Attacks that every supported machine can perform where nothing stops them: plain files, variables, descriptors,
/// signals, the loopback device, one's own processes, time, memory and disk. Their controls have to run and get through.
/// Another one that this machine cannot perform (no such device, kernel feature, program or right; no namespaces to throw
/// away) is shown in the table and fails nothing: it only leaves open what the attack is worth.
const REQUIRED: &[&str] = &[
    "read-absolute",
    "read-dotdot",
    "read-home-key",
    "link-scratch",
    "secret-env",
    "write-skill",
    "write-project",
    "write-outside",
    "persist-hook",
    "env-secret",
    "net-tcp",
    "unix-outside",
    "fd-read",
    "signal-kill",
    "signal-thread",
    "signal-parent",
    "trace-me",
    "limits-other",
    "priority-other",
    "outlive-child",
    "time-sleep",
    "cpu-spin",
    "pids-processes",
    "memory-own",
    "memory-sockets",
    "disk-data",
    "quota-unlisted",
    "quota-wide",
    "quota-in-flight",
    "quota-mapped",
    "kernel-sockets",
    "kernel-sockets-in-flight",
    "kernel-shared-dropped",
    "output-stdout",
];

/// Runs all controls and gives those that do not work.
pub(crate) fn run(user: User) -> Vec<String> {
    let first = Ground::new();
    let no_namespaces = why_no_namespaces();
    let mut probes = probes::all(&first.folders.probe());
    probes.retain(|probe| wanted(&probe.name) && has_control(probe, user));
    let outcomes = spread(
        first,
        &probes,
        |probe| probe.ending != Ending::Says,
        |ground, probe| {
            let outcome = match &no_namespaces {
                Some(why) if probe.control == Control::Throwaway => Outcome::NotApplicable(why.clone()),
                _ => control(ground, probe),
            };
            if ground.victim_lives() { outcome } else { Outcome::Broken("it ended the victim".to_owned()) }
        },
    );
    let mut table = Table::default();
    let mut missing = Vec::new();
    for (probe, outcome) in probes.iter().zip(outcomes) {
        // Here getting through is the aim.
        let is_fine = match outcome {
            Outcome::Through(_) => true,
            Outcome::NotApplicable(_) => !REQUIRED.contains(&probe.name.as_str()),
            Outcome::Held(_) | Outcome::Broken(_) => false,
        };
        if !is_fine {
            missing.push(format!("{}: {outcome}", probe.name));
        }
        table.push(probe, outcome);
    }
    let title = format!("controls as {}", user.word());
    table.print(&format!("{title}: `through` is the aim"), |outcome| matches!(outcome, Outcome::Through(_)));
    table.summarise(&title);
    missing
}

/// Why this user can make no namespaces to throw away, where that is so.
fn why_no_namespaces() -> Option<String> {
    let tried = Command::new("unshare").args(THROWAWAY).arg("true").output();
    match tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("unshare: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("unshare: {error}")),
    }
}

/// Whether there is a control for this user.
fn has_control(probe: &Probe, user: User) -> bool {
    let fits = match probe.who {
        Who::Anyone => true,
        Who::Root => user == User::Root,
        Who::Unprivileged => user == User::Unprivileged,
    };
    fits && !matches!(probe.control, Control::None(_))
}

/// Runs the control.
fn control(ground: &Ground, probe: &Probe) -> Outcome {
    let mut command = if probe.control == Control::Throwaway {
        let mut command = Command::new("unshare");
        command.args(THROWAWAY).args(FIRST).arg(ground.folders.probe());
        command
    } else {
        Command::new(ground.folders.probe())
    };
    let token = format!("control-{}-{}", probe.name, ground.number);
    command.arg(&probe.name).args(ground.arguments(&token));
    for (key, value) in SMALL {
        command.arg(format!("--{key}")).arg(value);
    }
    if probe.control == Control::Throwaway {
        command.arg("--contained");
    }
    ground.empty_data();
    let folders = &ground.folders;
    let (scratch, home) = (folders.at("scratch"), folders.at("home"));
    command.current_dir(folders.skill()).env("TMPDIR", scratch).env("HOME", home);
    let canary = std::fs::File::open(folders.at("outside/canary"));
    command.stdin(Stdio::from(canary.expect("the canary")));
    let output = swapping(ground, probe, || run_to_end(command, probe));
    let left = survivors(&token, probe.ending);
    end(&left);
    let how =
        output.status.code().map_or_else(|| End::Signaled(output.status.signal().unwrap_or(0)), End::Exited);
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().rfind(|line| line.contains(": ")).unwrap_or_default();
    match judge(probe.ending, &probe.name, &how, said) {
        // Outside, staying is getting through.
        Outcome::Held(_) if probe.ending == Ending::Outlives && !left.is_empty() => {
            Outcome::Through(format!("{} processes stay", left.len()))
        }
        other => other,
    }
}

/// What is left may keep the streams open, so they are files where something is left on purpose.
fn run_to_end(mut command: Command, probe: &Probe) -> std::process::Output {
    if probe.ending != Ending::Outlives {
        return command.output().expect("start the probe");
    }
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("start the probe");
    std::process::Output { status, stdout: Vec::new(), stderr: Vec::new() }
}

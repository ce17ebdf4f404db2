//! The attacks without a sandbox: each must work, else that it is held inside shows nothing.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::ground::Ground;
use crate::judge::{End, Outcome, judge};
use crate::part::{User, wanted};
use crate::probes::{self, Control, Ending, Probe, Who};
use crate::suite::swapping;
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

/// Attacks whose control needs something that a machine may lack; then they cannot say.
const MAY_LACK: &[&str] = &[
    "device-",
    "entry-32-",
    "memory-layout",
    "net-",
    "ns-bubblewrap",
    "proc-kcore",
    "proc-oom",
    "proc-sysrq",
    "setuid-program",
    "wrap-",
];

/// Runs all controls and gives those that do not work.
pub(crate) fn run(user: User) -> Vec<String> {
    let mut ground = Ground::new();
    let mut table = Table::default();
    let mut missing = Vec::new();
    for probe in probes::all(&ground.probe()).iter().filter(|probe| wanted(&probe.name)) {
        let outcome = control(&ground, probe, user);
        // Here getting through is the aim.
        if let Some(outcome) = outcome {
            let may_lack = MAY_LACK.iter().any(|start| probe.name.starts_with(start));
            let works = matches!(outcome, Outcome::Through(_))
                || may_lack && matches!(outcome, Outcome::NotApplicable(_));
            if !works {
                missing.push(format!("{}: {outcome}", probe.name));
            }
            table.push(probe, outcome);
        }
        if !ground.victim_lives() {
            missing.push(format!("{} ended the victim", probe.name));
            break;
        }
    }
    let title = format!("controls as {}: `through` is the aim ({} ran)", user.word(), table.len());
    table.print(&title, |outcome| matches!(outcome, Outcome::Through(_)));
    missing
}

/// Runs the control, if there is one for this user.
fn control(ground: &Ground, probe: &Probe, user: User) -> Option<Outcome> {
    let fits = match probe.who {
        Who::Anyone => true,
        Who::Root => user == User::Root,
        Who::Unprivileged => user == User::Unprivileged,
    };
    if !fits {
        return None;
    }
    let mut command = match &probe.control {
        Control::Plain => Command::new(ground.probe()),
        Control::Throwaway => {
            let mut command = Command::new("unshare");
            command.args(THROWAWAY).args(FIRST).arg(ground.probe());
            command
        }
        Control::None(_) => return None,
    };
    let token = format!("control-{}-{}", probe.name, std::process::id());
    command.arg(&probe.name).args(ground.arguments(&token));
    for (key, value) in SMALL {
        command.arg(format!("--{key}")).arg(value);
    }
    if probe.control == Control::Throwaway {
        command.arg("--contained");
    }
    ground.fresh_data();
    let home = ground.skill().with_file_name("home");
    command.current_dir(ground.skill()).env("TMPDIR", ground.scratch()).env("HOME", home);
    let canary = std::fs::File::open(ground.skill().with_file_name("outside").join("canary"));
    command.stdin(Stdio::from(canary.expect("the canary")));
    let output = swapping(ground, probe, || run_to_end(command, probe));
    let left = survivors(&token, probe.ending);
    end(&left);
    let how =
        output.status.code().map_or_else(|| End::Signaled(output.status.signal().unwrap_or(0)), End::Exited);
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().rfind(|line| line.contains(": ")).unwrap_or_default();
    Some(match judge(probe.ending, &probe.name, &how, said) {
        // Outside, staying is getting through.
        Outcome::Held(_) if probe.ending == Ending::Outlives && !left.is_empty() => {
            Outcome::Through(format!("{} processes stay", left.len()))
        }
        other => other,
    })
}

/// What is left may keep the streams open, so they are files where something is left on purpose.
fn run_to_end(mut command: Command, probe: &Probe) -> std::process::Output {
    if probe.ending != Ending::Outlives {
        return command.output().expect("start the probe");
    }
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("start the probe");
    std::process::Output { status, stdout: Vec::new(), stderr: Vec::new() }
}

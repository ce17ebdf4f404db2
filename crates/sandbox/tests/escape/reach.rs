//! Attacks on a call that runs: by another call, and by processes of other users outside.
//!
//! The victim is a contained process. A script cannot reach another call on any tier. Outside, a user reaches their own
//! processes; but a call of root's has an id of its own, so nobody does but root.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use metier_sandbox::{Running, Tier};

use crate::contained::Contained;
use crate::ground::Ground;
use crate::judge::{End, Outcome, judge};
use crate::part::{User, wanted};
use crate::probes::{self, Probe};
use crate::suite::{Grant, Way, bubblewrap_is_installed};
use crate::table::Table;

/// Attacks on a process by its number.
const ON_PROCESSES: &[&str] = &[
    "trace-attach",
    "trace-seize",
    "memory-read",
    "memory-move",
    "memory-migrate",
    "robust-list",
    "pidfd-take",
    "compare",
    "limits-other",
    "affinity-other",
    "priority-other",
    "signal-kill",
    "signal-thread",
    "signal-queue",
    "signal-pidfd",
    "proc-victim-environ",
    "proc-victim-memory",
    "ns-enter-victim",
    "scratch-other",
];

/// The user `nobody`, as whom all calls of root's ran once.
const NOBODY: u32 = 65534;

/// A call that naps.
struct Napping {
    running: Running,
    process: u32,
    user: u32,
    scratch: String,
}

impl Napping {
    fn start(contained: &Contained, ground: &Ground, token: &str) -> Result<Self, String> {
        let mut running = contained.start(&ground.folders, &["nap", "--run", token])?;
        let mut scratch = String::new();
        let stdout = running.stdout.take().ok_or("it was piped")?;
        BufReader::new(stdout).read_line(&mut scratch).map_err(|error| error.to_string())?;
        let scratch = scratch.trim_end().to_owned();
        let process =
            *crate::traces::seen(token).first().ok_or_else(|| format!("no call naps: {scratch}"))?;
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let user = status.lines().find_map(|line| line.strip_prefix("Uid:\t")).expect("it has a user");
        let user = user.split('\t').next().and_then(|user| user.parse().ok()).expect("a number");
        Ok(Self { running, process, user, scratch })
    }

    /// What a probe that attacks it is told.
    fn arguments(&self) -> Vec<String> {
        let words = ["--victim", &self.process.to_string(), "--victim-scratch", &self.scratch];
        words.map(str::to_owned).to_vec()
    }
}

/// Runs all of them on every tier and gives what got through.
pub(crate) fn run(user: User) -> Vec<String> {
    let tiers = [Tier::Namespaces, Tier::Bubblewrap, Tier::Landlock];
    let there = tiers.into_iter().filter(|tier| *tier != Tier::Bubblewrap || bubblewrap_is_installed());
    there.flat_map(|tier| run_on(tier, user)).collect()
}

fn run_on(tier: Tier, user: User) -> Vec<String> {
    let ground = Ground::new();
    let naps = Contained::new(tier, Way::Kept, &ground).and_then(|contained| {
        let [one, two, gone] = ["one", "two", "gone"].map(|name| {
            let token = format!("nap-{name}-{tier}-{}", ground.number);
            Napping::start(&contained, &ground, &token)
        });
        Ok((contained, one?, two?, gone?))
    });
    let (contained, one, two, gone) = match naps {
        Ok(naps) => naps,
        Err(reason) => return vec![format!("{tier} as {}: {reason}", user.word())],
    };
    let stale = gone.user;
    gone.running.end().expect("it ends");
    let all = probes::all(&ground.folders.probe());
    let attacks =
        all.into_iter().filter(|probe| ON_PROCESSES.contains(&probe.name.as_str()) && wanted(&probe.name));
    let mut table = Table::default();
    let mut problems = Vec::new();
    let mut add = |probe: &Probe, by: &str, outcome| {
        let name = format!("{}-by-{by}", probe.name);
        table.push(&Probe { name, class: "reach".to_owned(), ..probe.clone() }, outcome);
    };
    for probe in attacks {
        let token = format!("reach-{}-{}", probe.name, ground.number);
        let by_call = contained.attack_on(&ground, &probe, Grant::Nothing, &token, &one.arguments());
        add(&probe, "call", by_call);
        if user == User::Root {
            for (by, id) in [("nobody", NOBODY), ("other-call", two.user), ("stale-id", stale)] {
                add(&probe, by, by_user(&ground, &probe, id, &one));
            }
        }
    }
    if user == User::Root {
        if one.user == two.user || [one.user, two.user].contains(&NOBODY) {
            problems.push(format!("{tier}: two calls run as {} and {}", one.user, two.user));
        }
        // The control: who had the same id would reach it.
        let signal =
            probes::all(&ground.folders.probe()).into_iter().find(|probe| probe.name == "signal-kill");
        let control = by_user(&ground, &signal.expect("there is one"), one.user, &one);
        if !matches!(control, Outcome::Through(_)) {
            problems.push(format!("{tier}: somebody with the same id does not reach it: {control}"));
        }
    }
    for napping in [one, two] {
        if napping.running.end().is_err() {
            problems.push(format!("{tier}: a call that napped is gone"));
        }
    }
    let title = format!("calls by {tier} as {}", user.word());
    table.print(&title, |outcome| matches!(outcome, Outcome::Held(_)));
    table.summarise(&title);
    problems.extend(table.failures().into_iter().map(|name| format!("{title}: {name}")));
    problems
}

/// Has a process outside attack, which runs as this user.
fn by_user(ground: &Ground, probe: &Probe, user: u32, victim: &Napping) -> Outcome {
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
    command.arg(ground.folders.probe()).arg(&probe.name).arg("--contained").args(victim.arguments());
    let output = command.current_dir("/").stdin(Stdio::null()).output().expect("start the probe");
    let Some(status) = output.status.code() else {
        return Outcome::Broken(format!("{}: {}", probe.name, output.status));
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().rfind(|line| line.contains(": ")).unwrap_or_default();
    judge(probe.ending, &probe.name, &End::Exited(status), said)
}

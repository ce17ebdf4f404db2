//! All attacks against one tier.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use metier_sandbox::Tier;
use rustix::fs::{CWD, RenameFlags};

use crate::contained::Contained;
use crate::ground::Ground;
use crate::judge::Outcome;
use crate::part::{User, wanted};
use crate::probes::{self, Ending, Probe};
use crate::table::Table;
use crate::traces::{Picture, end, survivors};

/// How many attacks run at once, each on a ground of its own. Most of them wait, so there are more than processors.
pub(crate) const WORKERS: usize = 4;

/// What gets through on a tier, as the documentation says. Nothing else may.
const KNOWN: &[(Tier, &str, &str)] = &[
    (Tier::Landlock, "read-stat", NAMES),
    (Tier::Landlock, "read-statfs", NAMES),
    (Tier::Landlock, "secret-size", NAMES),
    (Tier::Landlock, "group-folders", NAMES),
    (Tier::Landlock, "pidfd-open", NUMBERS),
    (Tier::Landlock, "scheduler-other", NUMBERS),
    (Tier::Landlock, "session-other", NUMBERS),
];

const NAMES: &str = "Landlock keeps what files hold, not that they are there and how large";
const NUMBERS: &str =
    "without a namespace processes have their real numbers; they can be asked for, not touched";

/// Needs another call that runs; see `reach`.
const AGAINST_A_CALL: &str = "scratch-other";

/// How the sandbox is asked to run something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a helper that is kept.
    Kept,
    /// Without one.
    Once,
}

/// What the gate granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    Nothing,
    /// The project is shown through a layer.
    Layer,
    /// There is a gateway, and somebody at it.
    Gateway,
}

impl Grant {
    /// What another grant than none adds to the name of an attack.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Layer => "-layer",
            Self::Gateway => "-gateway",
        }
    }

    /// The word for another process.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Layer => "layer",
            Self::Gateway => "gateway",
        }
    }

    pub(crate) fn read(word: &str) -> Option<Self> {
        [Self::Nothing, Self::Layer, Self::Gateway].into_iter().find(|grant| grant.word() == word)
    }
}

/// Attacks that mean something else where there is a gateway. Those of its own class need one.
const BY_NETWORK: &[&str] = &["network", "sockets", "descriptors", GATEWAY];
const GATEWAY: &str = "gateway";

/// Attacks that mean something else where the project has a layer. Those of its own class need one.
const BY_FILES: &[&str] = &[
    "read",
    "secrets",
    "write",
    "persistence",
    "wrapper",
    "toctou",
    "mount",
    "namespace",
    "privilege",
    "proc",
    "device",
    "supervisor",
    LAYER,
];
const LAYER: &str = "layer";

/// Attacks that change the project. Through a layer they change what the call sees and nothing else; the test looks whether
/// that is so.
const INTO_THE_LAYER: &[&str] = &[
    "write-project",
    "write-project-file",
    "write-remove",
    "persist-hook",
    "persist-git-config",
    "persist-git-move",
    "persist-shell",
    "persist-mcp",
    "persist-editor",
    "persist-skills",
    "persist-config",
];

/// Attacks that only the free room of the disk gives away. Another program that frees as much at the same moment hides them,
/// so one that got through is tried again; three times in a row is no accident.
const BY_FREE_ROOM: &[&str] = &["quota-in-flight-few", "quota-in-flight-nested", "quota-unaccepted"];

/// Runs every attack, those on files once more with a layer, and those by network once more with a gateway. Gives what got
/// through.
pub(crate) fn run(tier: Tier, way: Way, user: User) -> Vec<String> {
    let first = Ground::new();
    let contained = match Contained::new(tier, way, &first) {
        Ok(contained) => contained,
        Err(reason) => {
            println!("\n== {tier} as {}: not there: {reason} ==", user.word());
            let expected = tier == Tier::Bubblewrap && !bubblewrap_is_installed();
            return if expected {
                Vec::new()
            } else {
                vec![format!("this machine should have {tier}: {reason}")]
            };
        }
    };
    let mut attacks = Vec::new();
    for probe in probes::all(&first.folders.probe()) {
        if wanted(&probe.name) && probe.name != AGAINST_A_CALL {
            let leaves = BY_NETWORK.contains(&probe.class.as_str()) && contained.has_namespaces();
            let layered = BY_FILES.contains(&probe.class.as_str()) && tier == Tier::Namespaces;
            let alone = probe.class != GATEWAY && probe.class != LAYER;
            attacks.extend(alone.then(|| (probe.clone(), Grant::Nothing)));
            attacks.extend(layered.then(|| (probe.clone(), Grant::Layer)));
            attacks.extend(leaves.then_some((probe, Grant::Gateway)));
        }
    }
    let outcomes = spread(
        first,
        &attacks,
        |(probe, _)| probe.ending != Ending::Says,
        |ground, (probe, grant)| {
            let tries = if BY_FREE_ROOM.contains(&probe.name.as_str()) { 3 } else { 1 };
            let mut outcome = attack(&contained, ground, probe, *grant);
            for _ in 1..tries {
                if matches!(outcome, Outcome::Through(_)) {
                    outcome = attack(&contained, ground, probe, *grant);
                }
            }
            outcome
        },
    );
    let mut table = Table::default();
    for ((mut probe, grant), outcome) in attacks.into_iter().zip(outcomes) {
        let known = KNOWN.iter().find(|(at, name, _)| *at == tier && *name == probe.name);
        if probe.class != GATEWAY && probe.class != LAYER {
            probe.name.push_str(grant.suffix());
        }
        match known {
            Some((_, _, reason)) if matches!(outcome, Outcome::Through(_)) => {
                table.push_known(&probe, outcome, reason);
            }
            _ => table.push(&probe, outcome),
        }
    }
    let way = if way == Way::Once { " once" } else { "" };
    let title = format!("{tier}{way} as {}", user.word());
    table.print(&title, |outcome| matches!(outcome, Outcome::Held(_)));
    table.summarise(&title);
    table.failures().into_iter().map(|name| format!("{title}: {name}")).collect()
}

/// Does work on several grounds at once, what is slow first, and gives what came of it in the order of the work.
pub(crate) fn spread<T: Sync>(
    first: Ground,
    work: &[T],
    is_slow: impl Fn(&T) -> bool,
    each: impl Fn(&mut Ground, &T) -> Outcome + Sync,
) -> Vec<Outcome> {
    let (slow, quick): (Vec<usize>, Vec<usize>) = (0..work.len()).partition(|at| is_slow(&work[*at]));
    let queue = Mutex::new(slow.into_iter().chain(quick));
    let outcomes = Mutex::new(vec![Outcome::Broken("it was not run".to_owned()); work.len()]);
    let serve = |mut ground: Ground| {
        loop {
            let next = queue.lock().expect("no worker panics").next();
            let Some(at) = next else { break };
            let outcome = each(&mut ground, &work[at]);
            outcomes.lock().expect("no worker panics")[at] = outcome;
        }
    };
    let workers = WORKERS.min(work.len().max(1));
    // Made here and not by the workers: while a ground is made, descriptors are open that no other attack may get.
    let more: Vec<Ground> = (1..workers).map(|_| Ground::new()).collect();
    std::thread::scope(|scope| {
        for ground in more {
            scope.spawn(|| serve(ground));
        }
        serve(first);
    });
    outcomes.into_inner().expect("no worker panics")
}

/// Runs one attack, then looks for what it left.
fn attack(contained: &Contained, ground: &mut Ground, probe: &Probe, grant: Grant) -> Outcome {
    let token = format!("attack-{}-{}", probe.name, ground.number);
    ground.empty_data();
    let watched = ground.watched();
    let take = || Picture::take(&watched, &ground.folders.swapping());
    let before = take();
    let outcome = swapping(ground, probe, || contained.attack(ground, probe, grant, &token));
    let left = survivors(&token, probe.ending);
    end(&left);
    let changed = before.differences(&take());
    if !left.is_empty() {
        return Outcome::Through(format!("{} processes survived; {outcome}", left.len()));
    }
    if !changed.is_empty() {
        return Outcome::Through(format!("changed {}; {outcome}", changed.join(", ")));
    }
    if !ground.victim_lives() {
        return Outcome::Through(format!("the victim is dead; {outcome}"));
    }
    match outcome {
        Outcome::Through(how) if grant == Grant::Layer && INTO_THE_LAYER.contains(&probe.name.as_str()) => {
            Outcome::Held(format!("{how}, in the layer alone"))
        }
        outcome => outcome,
    }
}

pub(crate) fn bubblewrap_is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("bwrap").exists())
}

/// Does something; for the attack on swapped folders, while a folder and a link that leads out change places.
pub(crate) fn swapping<T>(ground: &Ground, probe: &Probe, work: impl FnOnce() -> T) -> T {
    if probe.class != "toctou" {
        return work();
    }
    let done = AtomicBool::new(false);
    let swapping = ground.folders.swapping();
    let (one, two) = (swapping.join("swap"), swapping.join("link"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE)
                    .expect("change places");
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

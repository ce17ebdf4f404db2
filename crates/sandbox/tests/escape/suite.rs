//! All attacks against one tier.

use std::sync::atomic::{AtomicBool, Ordering};

use metier_sandbox::Tier;
use rustix::fs::{CWD, RenameFlags};

use crate::contained::{Room, contained};
use crate::ground::Ground;
use crate::judge::Outcome;
use crate::part::{User, wanted};
use crate::probes::{self, Probe};
use crate::table::Table;
use crate::traces::{Picture, end, survivors};

/// What gets through on a tier, as the documentation says. Nothing else may.
const KNOWN: &[(Tier, &str, &str)] = &[
    (Tier::Landlock, "read-stat", NAMES),
    (Tier::Landlock, "read-statfs", NAMES),
    (Tier::Landlock, "secret-size", NAMES),
    (Tier::Landlock, "pidfd-open", NUMBERS),
    (Tier::Landlock, "scheduler-other", NUMBERS),
    (Tier::Landlock, "session-other", NUMBERS),
];

const NAMES: &str = "Landlock keeps what files hold, not that they are there and how large";
const NUMBERS: &str =
    "without a namespace processes have their real numbers; they can be asked for, not touched";

/// How the sandbox is asked to run something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a helper that is kept.
    Kept,
    /// Without one.
    Once,
}

/// Runs every attack, and those that want to stay once more with a project that can be written. Gives what got through.
pub(crate) fn run(tier: Tier, way: Way, user: User) -> Vec<String> {
    let mut ground = Ground::new();
    let mut table = Table::default();
    let room = match Room::new(tier, way, &ground) {
        Ok(room) => room,
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
    for probe in probes::all(&ground.probe()).iter().filter(|probe| wanted(&probe.name)) {
        let outcome = attack(&room, &mut ground, probe, Project::ReadOnly);
        add(&mut table, tier, probe, outcome);
        if probe.class == "persistence" && room.shows_project() {
            let mut writable = probe.clone();
            writable.name.push_str("-writable");
            let outcome = attack(&room, &mut ground, probe, Project::Writable);
            add(&mut table, tier, &writable, outcome);
        }
    }
    let title = format!("{tier} ({way:?}) as {}: {} attacks", user.word(), table.len());
    table.print(&title, |outcome| matches!(outcome, Outcome::Held(_)));
    table.failures().into_iter().map(|name| format!("{tier} as {}: {name}", user.word())).collect()
}

/// Whether the gate granted the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Project {
    ReadOnly,
    Writable,
}

fn add(table: &mut Table, tier: Tier, probe: &Probe, outcome: Outcome) {
    let known = KNOWN.iter().find(|(at, name, _)| *at == tier && *name == probe.name);
    match known {
        Some((_, _, reason)) if matches!(outcome, Outcome::Through(_)) => {
            table.push_known(probe, outcome, reason);
        }
        _ => table.push(probe, outcome),
    }
}

/// Runs one attack, then looks for what it left.
fn attack(room: &Room, ground: &mut Ground, probe: &Probe, project: Project) -> Outcome {
    let token = format!("attack-{}-{}", probe.name, std::process::id());
    ground.fresh_data();
    let watched = ground.watched();
    let before = Picture::take(&watched, &ground.swapping());
    let outcome = swapping(ground, probe, || contained(room, ground, probe, project, &token));
    let left = survivors(&token, probe.ending);
    end(&left);
    let changed = before.differences(&Picture::take(&watched, &ground.swapping()));
    if !left.is_empty() {
        return Outcome::Through(format!("{} processes survived; {outcome}", left.len()));
    }
    // Where the project can be written, its folder changes; the attacks there are on other places.
    if !changed.is_empty() && project == Project::ReadOnly {
        return Outcome::Through(format!("changed {}; {outcome}", changed.join(", ")));
    }
    if !ground.victim_lives() {
        return Outcome::Through(format!("the victim is dead; {outcome}"));
    }
    outcome
}

fn bubblewrap_is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("bwrap").exists())
}

/// Does something; for the attack on swapped folders, while a folder and a link that leads out change places.
pub(crate) fn swapping<T>(ground: &Ground, probe: &Probe, work: impl FnOnce() -> T) -> T {
    if probe.class != "toctou" {
        return work();
    }
    let done = AtomicBool::new(false);
    let (one, two) = (ground.swapping().join("swap"), ground.swapping().join("link"));
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

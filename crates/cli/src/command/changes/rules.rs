//! What the rules say against applying a set.

use crate::agency;
use crate::output::clean;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_changes::{LayerPath, LayerRecord};
use metier_exec::written_place;
use metier_policy::{Action, Actor, Mode, Need, Reason, Skill};
use std::collections::BTreeSet;
use std::path::Path;

/// Refuses what a deny rule or the mode `plan` refuses. A yes lifts neither, here as in a run.
pub(super) fn check(
    set: &LayerRecord,
    selected: &BTreeSet<LayerPath>,
    surroundings: &Surroundings,
) -> Result<()> {
    let actor = actor(&set.origin.actor);
    check_for(&actor, &set.project, selected, surroundings)
}

/// The same for the changes of an actor.
pub(super) fn check_for(
    actor: &Actor,
    project: &Path,
    selected: &BTreeSet<LayerPath>,
    surroundings: &Surroundings,
) -> Result<()> {
    let skills = agency::one_call(&surroundings.seen_from(project))?.open();
    let session = agency::session(&skills);
    if session.mode() == Mode::Plan {
        bail!("nothing was changed: the mode `plan` changes nothing; `--mode ask` sets another one");
    }
    for path in selected {
        let write = Action::more(actor.clone(), Need::Write(written_place(path, project)));
        if let Reason::Denied(rule) = session.judge(&write).by {
            let path = clean(&super::text::shown(path));
            bail!(
                "nothing was changed: the deny rule {rule} is about `{path}`; name the other paths to apply them without it"
            );
        }
    }
    Ok(())
}

/// Who made a set, as the set has it: `agent`, or `skill:ORIGIN:NAME`.
fn actor(text: &str) -> Actor {
    let skill = text.strip_prefix("skill:").and_then(|skill| skill.rsplit_once(':'));
    skill.map_or(Actor::Agent, |(origin, name)| Actor::Skill(Skill::new(name, origin)))
}

//! What the layers of sessions hold: ignored and cache files, which stay out of the project until someone wants them.

use super::{refused, tell, text};
use crate::args::ChangesApply;
use crate::exit::Exit;
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_changes::{CallOrigin, LayerPath, LayerStore, SessionRecord, apply, scan};
use metier_diagnostic::counted;
use metier_policy::Actor;
use std::collections::BTreeSet;

/// A session whose layer holds something: by the id of the layer, or by a set of changes of the session.
fn find(id: &str, surroundings: &Surroundings) -> Result<SessionRecord> {
    let sessions = surroundings.layers().sessions(None);
    let mut named = sessions.iter().filter(|session| id != "last" && session.id.starts_with(id));
    if let Some(session) = named.next() {
        if named.next().is_some() {
            bail!("several sessions begin with `{id}`; write more of the id");
        }
        return Ok(session.clone());
    }
    let here: Vec<&SessionRecord> =
        sessions.iter().filter(|session| Some(session.project.as_path()) == surroundings.project()).collect();
    if let ("last", [only]) = (id, here.as_slice()) {
        return Ok((*only).clone());
    }
    let set = super::find(id, surroundings)?;
    let of_set =
        |session: &&SessionRecord| session.session == set.origin.session && session.project == set.project;
    match sessions.iter().find(of_set) {
        Some(session) => Ok(session.clone()),
        None => bail!("the session of `{}` keeps no ignored or cache files", set.id),
    }
}

/// Applies everything that the layer of a session holds.
pub(super) fn apply_session(
    args: &ChangesApply,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    if !args.paths.is_empty() {
        bail!("`--ignored` applies everything that the session keeps; leave the paths out");
    }
    let record = find(&args.id, surroundings)?;
    let session = surroundings.layers().session(&record.project, &record.session)?;
    let kept = session.changes()?;
    let all: BTreeSet<LayerPath> = kept.entries.iter().map(|change| change.path.clone()).collect();
    super::rules::check_for(&Actor::Agent, &record.project, &all, surroundings)?;
    if !args.yes {
        let mut lines = vec![line(&record)];
        lines.extend(text::paths(&kept, &all, &BTreeSet::new(), text::Detail::Folded));
        let asked =
            format!("Apply {} to {}?", counted(all.len(), "change", "changes"), record.project.display());
        if !super::is_approved(lines, asked, Vec::new, output)? {
            return Ok(Exit::NeedsYes);
        }
    }
    let origin = CallOrigin::new("ignored and cache files", "session", &record.session);
    let Some(layer) = session.to_layer(origin)? else {
        bail!("a command of the session is running; try again when it has ended");
    };
    let changes = scan(&layer)?;
    let selected = changes.entries.iter().map(|change| change.path.clone()).collect();
    match apply(&layer, &changes, &selected) {
        Ok(applied) => {
            let count = selected.len().saturating_sub(applied.left_out.len());
            tell(
                &layer.id(),
                &record.project,
                &format!("applied {}", counted(count, "change", "changes")),
                output,
            )?;
            Ok(Exit::Fine)
        }
        Err(error) => {
            output.aside(&format!("they are kept as the set `{}`", layer.id()))?;
            Err(refused(&error))
        }
    }
}

/// Forgets what the layer of a session holds. Gives whether the id names one.
pub(super) fn discard_session(id: &str, store: &LayerStore, output: &mut Output) -> Result<bool> {
    let Some(record) = store.sessions(None).into_iter().find(|session| session.id.starts_with(id)) else {
        return Ok(false);
    };
    if !store.session(&record.project, &record.session)?.discard()? {
        bail!("a command of the session is running; try again when it has ended");
    }
    tell(&record.id, &record.project, "discarded", output)?;
    Ok(true)
}

/// The sessions that keep something, a line each.
pub(super) fn list(sessions: &[SessionRecord], output: &mut Output) -> Result<()> {
    for session in sessions {
        output.line(line(session))?;
    }
    if !output.is_json() && !sessions.is_empty() {
        output.comment(
            "`metier changes apply --ignored ID` applies them, `metier changes discard ID` removes them",
        )?;
    }
    Ok(())
}

fn line(record: &SessionRecord) -> String {
    format!(
        "{}  ignored and cache files of the session {}",
        short(&record.id),
        crate::output::clean(&record.session)
    )
}

/// As much of an id as tells it from others.
fn short(id: &str) -> &str {
    const SHOWN: usize = "session-".len() + 12;
    id.get(..SHOWN).unwrap_or(id)
}

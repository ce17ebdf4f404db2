//! What an earlier metier left: finishes what it was applying, keeps what it had not decided.

use serde::Serialize;

use crate::apply::{Places, finish, finish_undo};
use crate::error::{ApplyError, LayerError};
use crate::journal::Journal;
use crate::layer::Layer;
use crate::scan::scan;
use crate::stage;
use crate::state::{JOURNAL, LayerState, UNDO};

/// A layer that an earlier process left unfinished, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// Which.
    pub id: String,
    /// What was interrupted.
    pub interrupted: Interrupted,
    /// What became of it.
    pub state: LayerState,
    /// Why applying was not finished, for people.
    pub problem: Option<String>,
}

/// What an earlier process did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interrupted {
    /// The call itself. Its changes are known now and wait for a decision.
    Call,
    /// Applying changes.
    Apply,
    /// Taking changes back.
    Undo,
}

/// Finishes what was interrupted. `None` where nothing was.
pub(crate) fn settle(layer: &Layer) -> Result<Option<Recovered>, LayerError> {
    let (interrupted, outcome) = if let Some(journal) = layer.read::<Journal>(JOURNAL)? {
        (Interrupted::Apply, resume_journal(layer, &journal, finish))
    } else if let Some(journal) = layer.read::<Journal>(UNDO)? {
        (Interrupted::Undo, resume_journal(layer, &journal, finish_undo))
    } else {
        let last = layer.last_journal();
        // The stage was not taken away yet, or was not complete yet.
        match last.and_then(|(_, applied)| applied) {
            Some(number) => stage::keep(layer, number)?,
            None => stage::clear(layer)?,
        }
        // What was applied once was scanned. Every command comes by here, so the lists of paths are not read for nothing.
        if last.is_some() && layer.has_whole_changes() {
            return Ok(None);
        }
        match layer.state()? {
            LayerState::Running => (Interrupted::Call, scan(layer).map(|_| ()).map_err(ApplyError::Layer)),
            _ => return Ok(None),
        }
    };
    let problem = match outcome {
        // It waits for a command that sees both in one mount, and says so each time.
        Err(ApplyError::Layer(error @ LayerError::OtherMount { .. })) => Some(error.to_string()),
        Err(ApplyError::Layer(error)) => return Err(error),
        outcome => outcome.err().map(|error| error.to_string()),
    };
    Ok(Some(Recovered { id: layer.id(), interrupted, state: layer.state()?, problem }))
}

/// Resumes a journal whose layer and project are on the mounts that it was started on.
fn resume_journal(
    layer: &Layer,
    journal: &Journal,
    finish: impl FnOnce(&Layer, &Places, &Journal) -> Result<(), ApplyError>,
) -> Result<(), ApplyError> {
    stage::check_renames(layer)?;
    finish(layer, &Places::open(layer, journal.number)?, journal)
}

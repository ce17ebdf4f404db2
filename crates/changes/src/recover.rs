//! What an earlier metier left: finishes what it was applying, keeps what it had not decided.

use std::io;
use std::path::Path;

use crate::apply::{Places, UNDO, finish, finish_undo};
use crate::change::ChangeSet;
use crate::error::{ApplyError, LayerError};
use crate::journal::Journal;
use crate::layer::{APPLIED, CHANGES, JOURNAL, Layer};
use crate::scan::scan;

/// A layer that was found, and what became of it.
#[derive(Debug)]
pub struct Recovered {
    /// The layer.
    pub layer: Layer,
    /// What became of it.
    pub state: State,
}

/// What became of a layer that was found.
#[derive(Debug)]
pub enum State {
    /// Its changes are in the project, since just now or before.
    Applied,
    /// Its changes wait for a decision.
    Pending(ChangeSet),
    /// Applying it was finished and failed; the project is as it was before.
    TakenBack(ApplyError),
    /// Its changes were in the project and were taken back.
    Undone,
}

/// Settles every layer below `layers` that no other process works with.
pub fn recover(layers: &Path) -> Result<Vec<Recovered>, LayerError> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(layers) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(LayerError::io("read", layers)(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        folders.push(entry.map_err(LayerError::io("read", layers))?.path());
    }
    folders.sort();
    for folder in folders {
        if let Some(layer) = Layer::reopen(&folder)? {
            let state = settle(&layer)?;
            found.push(Recovered { layer, state });
        }
    }
    Ok(found)
}

fn settle(layer: &Layer) -> Result<State, LayerError> {
    if let Some(journal) = layer.read::<Journal>(JOURNAL)? {
        let places = Places::open(layer)?;
        return match finish(layer, &places, &journal) {
            Ok(()) => Ok(State::Applied),
            Err(ApplyError::Layer(error)) => Err(error),
            Err(error) => Ok(State::TakenBack(error)),
        };
    }
    if let Some(journal) = layer.read::<Journal>(UNDO)? {
        let places = Places::open(layer)?;
        return match finish_undo(layer, &places, &journal) {
            Ok(()) => Ok(State::Undone),
            Err(ApplyError::Layer(error)) => Err(error),
            Err(error) => Ok(State::TakenBack(error)),
        };
    }
    if layer.read::<Journal>(APPLIED)?.is_some() {
        return Ok(State::Applied);
    }
    let known = layer.read::<ChangeSet>(CHANGES)?;
    Ok(State::Pending(match known {
        Some(changes) => changes,
        // The call itself was interrupted.
        None => scan(layer)?,
    }))
}

//! What programs wrote beyond what a model gets: files of the session, which go with it.

use std::path::{Path, PathBuf};

use metier_exec::{ResultFolder, RunOutput};
use metier_files::PassingFolder;
use metier_sandbox::{Existing, Outputs as Results};

/// The most runs of a session whose long outputs are kept. Each may hold two files of some megabytes, and a model that fills
/// more than this reads none of them.
const MAX_RUNS: u32 = 100;

/// The folder of a session for outputs, made when the first one comes.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    pub(super) keeping: Keeping,
    folder: Option<PassingFolder>,
    runs: u32,
}

/// Where long outputs are kept.
#[derive(Debug, Default)]
pub(super) enum Keeping {
    /// In a folder that goes with the session.
    #[default]
    Session,
    /// In a folder for results, under the name by which its reader knows it.
    Results(PathBuf, ResultFolder),
    Nowhere,
}

impl Outputs {
    /// Keeps what is too long of a run; gives the place before the names of its files, or nothing where there is none.
    pub(super) fn keep(&mut self, ran: &RunOutput, base: &Path) -> Result<Option<String>, String> {
        if ran.long.is_empty() {
            return Ok(None);
        }
        match &self.keeping {
            Keeping::Session => {}
            Keeping::Results(shown, results) => return put(ran, shown, results).map(Some),
            Keeping::Nowhere => return Ok(None),
        }
        if self.runs == MAX_RUNS {
            return Err(format!("this session keeps the outputs of {MAX_RUNS} runs, and no more"));
        }
        let trouble = |error: std::io::Error| format!("the whole output could not be kept: {error}");
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => PassingFolder::make(base).map_err(trouble)?,
        };
        let folder = self.folder.insert(folder);
        self.runs += 1;
        let place = folder.path().join(self.runs.to_string());
        for long in &ran.long {
            Results::put(&place, &long.name, &long.bytes, Existing::Replaced).map_err(trouble)?;
        }
        Ok(Some(format!("{}/", place.display())))
    }

    /// Where they are.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(PassingFolder::path)
    }
}

fn put(ran: &RunOutput, shown: &Path, results: &ResultFolder) -> Result<String, String> {
    for long in &ran.long {
        let trouble = |why: &dyn std::fmt::Display| {
            format!("the whole output was not written to {}: {why}", shown.join(&long.name).display())
        };
        let left_out = results.put(&long.name, &long.bytes).map_err(|error| trouble(&error))?;
        left_out.map_or(Ok(()), |why| Err(trouble(&why)))?;
    }
    Ok(format!("{}/", shown.display()))
}

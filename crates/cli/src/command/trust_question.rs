//! The question for trust that `run` and `chat` ask once, where somebody sits at the terminal.

use super::trust;
use crate::output::Output;
use crate::question::{self, Question};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_catalog::{Ownership, Preview, Standing, TrustDiff};
use metier_diagnostic::Paint;
use metier_files::{Mode, read_bounded, write_atomic};
use metier_store::Timestamp;
use rustix::process::getsid;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For how long "do not ask again in this terminal" holds at most: numbers of terminals come again, and a day is a long session.
const QUIET: Duration = Duration::from_hours(24);

/// How many projects are remembered as not to be asked about. Nobody works in more at once.
const MAX_QUIET: usize = 50;

/// The largest file of them that is read. Ours has a few kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// Asks whether the project is trusted, where that would change anything and was not asked before in this terminal. Gives back
/// the surroundings as they are then.
pub(crate) fn settle(
    surroundings: &Surroundings,
    can_ask: bool,
    output: &mut Output,
) -> Result<Surroundings> {
    let as_it_was = Ok(surroundings.clone());
    // Roots of the command line are trusted, and nothing else is used with them.
    if !can_ask || !surroundings.is_usual {
        return as_it_was;
    }
    let layout = trust::layout_of(None, surroundings)?;
    let Some(preview) = Preview::of(&layout) else { return as_it_was };
    let diff = TrustDiff::of(&preview, &layout.trust);
    let is_new = layout.standing == Standing::Untrusted;
    if diff.is_settled() {
        return as_it_was;
    }
    let quiet = Quiet::of(&surroundings.places.data);
    if quiet.holds(&preview.project)? {
        return as_it_was;
    }
    let mut lines = shown(&preview, (!is_new).then_some(&diff));
    lines.push(if is_new {
        "not trusted, so nothing of it is used; trust it?".to_owned()
    } else {
        "what has changed is not used; trust it as it is now?".to_owned()
    });
    match answer(lines, CHOICES)? {
        TrustAnswer::No => return as_it_was,
        TrustAnswer::Silence => {
            quiet.add(&preview.project)?;
            return as_it_was;
        }
        TrustAnswer::Trust(ownership) => trust::record(&preview, ownership, &surroundings.places.data)?,
    }
    output.aside("trusted; `metier trust --revoke` takes it back")?;
    Ok(surroundings.with_new_trust())
}

/// What a yes would switch on: everything of a project that is new, else what has changed since.
fn shown(preview: &Preview, diff: Option<&TrustDiff>) -> Vec<String> {
    let lines = match diff {
        None => trust::preview_lines(preview, Paint::Plain),
        Some(diff) => {
            let head = format!("{} has changed since you trusted it:", preview.project.display());
            std::iter::once(head).chain(trust::diff_lines(diff, Paint::Plain)).collect()
        }
    };
    // A line that begins with a line break has an empty line above it.
    lines.iter().flat_map(|line| line.split('\n')).map(str::to_owned).collect()
}

/// The answer to a question for trust.
pub(super) enum TrustAnswer {
    Trust(Ownership),
    No,
    /// No, and not to be asked again.
    Silence,
}

/// What can be answered in a terminal that may not be asked again.
const CHOICES: &str = "[y]es  [m]ine: I write it, changes are not asked about  [n]o  [s]ilence: no, and do not ask again in this terminal";

/// Asks for trust. Silence is an answer where it is among the choices.
pub(super) fn answer(lines: Vec<String>, choices: &str) -> io::Result<TrustAnswer> {
    let has_silence = choices.contains("[s]ilence");
    let question = Question { lines, choices: choices.to_owned(), ..Question::default() };
    question::ask(&question, TrustAnswer::No, |typed| match typed {
        "y" | "yes" => Some(TrustAnswer::Trust(Ownership::Theirs)),
        "m" | "mine" => Some(TrustAnswer::Trust(Ownership::Mine)),
        "n" | "no" | "" => Some(TrustAnswer::No),
        "s" | "silence" if has_silence => Some(TrustAnswer::Silence),
        _ => None,
    })
}

/// Which projects are not asked about, in which terminals.
struct Quiet {
    file: PathBuf,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Hushed {
    project: PathBuf,
    terminal: i32,
    at: u64,
}

impl Quiet {
    fn of(data: &Path) -> Self {
        Self { file: data.join("not-asked.json") }
    }

    fn read(&self) -> Result<Vec<Hushed>> {
        let bytes = read_bounded(&self.file, MAX_BYTES).with_context(|| self.file.display().to_string())?;
        let now = Timestamp::now();
        // What cannot be read is asked again, which harms nobody.
        let all: Vec<Hushed> = serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default();
        Ok(all.into_iter().filter(|hushed| is_recent(hushed.at, now)).collect())
    }

    fn holds(&self, project: &Path) -> Result<bool> {
        let terminal = terminal();
        Ok(self.read()?.iter().any(|hushed| hushed.terminal == terminal && hushed.project == project))
    }

    fn add(&self, project: &Path) -> Result<()> {
        let mut all = self.read()?;
        let hushed =
            Hushed { project: project.to_owned(), terminal: terminal(), at: Timestamp::now().millis() };
        all.push(hushed);
        let from = all.len().saturating_sub(MAX_QUIET);
        let bytes = serde_json::to_vec(&all[from..])?;
        write_atomic(&self.file, &bytes, Mode::Private).with_context(|| self.file.display().to_string())
    }
}

/// Whether a no still keeps the question away. One from the future is none: where the clock was set back, it would hold until the
/// clock gets there.
fn is_recent(at: u64, now: Timestamp) -> bool {
    (now.before(QUIET).millis()..=now.millis()).contains(&at)
}

/// The terminal, by the number of the session that the shell in it leads.
fn terminal() -> i32 {
    getsid(None).map_or(0, |session| session.as_raw_nonzero().get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_holds_for_its_time_and_not_longer_where_the_clock_is_set_back() {
        let now = Timestamp::from_millis(1_700_000_000_000);
        assert!(is_recent(now.millis(), now));
        assert!(is_recent(now.before(QUIET).millis(), now));
        assert!(!is_recent(now.before(QUIET).millis() - 1, now));
        assert!(!is_recent(now.millis() + 1, now));
    }
}

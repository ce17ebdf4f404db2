//! What `--fix` would write.

use super::levels::Judgement;
use super::subject::Subject;
use anyhow::{Context, Result};
use metier_diagnostic::{Edit, apply};
use metier_files::{Mode, write_atomic};
use metier_lint::mend;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One file before and after its fixes.
pub(crate) struct Mending {
    /// The file as it is shown.
    pub(crate) shown: PathBuf,
    /// Where it is written; standard output without a place.
    pub(crate) real: Option<PathBuf>,
    pub(crate) before: String,
    pub(crate) after: String,
    /// How many fixes were made.
    pub(crate) fixes: usize,
}

impl Mending {
    /// The files of a skill that have something to fix. What the configuration allows is left alone.
    pub(crate) fn of(subject: &Subject, judgement: &Judgement) -> Vec<Self> {
        if !subject.may_be_written() {
            return Vec::new();
        }
        let file = subject.real.as_deref().unwrap_or(&subject.shown);
        let is_own = |path: Option<&Path>| path.is_none_or(|path| path == &*subject.shown);
        let mended = mend(&subject.source, subject.folder.as_deref(), |text| {
            let found = subject.findings_of(text).into_iter().filter(|found| is_own(found.path.as_deref()));
            found.filter_map(|found| judgement.apply(found, file)).collect()
        });
        let mut mendings: Vec<Self> = mended
            .map(|mended| Self {
                shown: subject.shown.to_path_buf(),
                real: subject.real.clone(),
                before: subject.source.clone(),
                after: mended.text,
                fixes: mended.done.len(),
            })
            .into_iter()
            .collect();
        let mut others: BTreeMap<PathBuf, Vec<Edit>> = BTreeMap::new();
        for found in subject.findings().into_iter().filter(|found| !is_own(found.path.as_deref())) {
            let (Some(path), Some(fix)) = (found.path, found.fix) else { continue };
            others.entry(path.to_path_buf()).or_default().extend(fix.edits);
        }
        mendings.extend(others.into_iter().filter_map(|(path, edits)| Self::of_file(subject, path, &edits)));
        mendings
    }

    fn of_file(subject: &Subject, shown: PathBuf, edits: &[Edit]) -> Option<Self> {
        let before = subject.file(&shown)?.text.clone()?;
        let folder = subject.real.as_deref()?.parent()?;
        let real = folder.join(shown.strip_prefix(subject.shown.parent()?).ok()?);
        let after = apply(&before, edits);
        (after != before).then_some(Self { shown, real: Some(real), before, after, fixes: 1 })
    }

    /// Writes it in place of what was there.
    pub(crate) fn write(&self) -> Result<()> {
        let Some(path) = &self.real else { return Ok(()) };
        let written = write_atomic(path, self.after.as_bytes(), Mode::Shared);
        written.with_context(|| format!("cannot write `{}`", self.shown.display()))
    }
}

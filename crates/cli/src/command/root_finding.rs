//! The roots that count, and how many skills each has: for `doctor` and `init`.

use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Origin, RootTrust, Snapshot};
use metier_diagnostic::counted;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub(super) struct RootFinding {
    origin: Origin,
    path: PathBuf,
    pub(super) exists: bool,
    pub(super) trust: RootTrust,
    pub(super) skills: usize,
}

impl RootFinding {
    /// All roots, highest first.
    pub(super) fn all(snapshot: &Snapshot) -> Vec<Self> {
        let mut skills: BTreeMap<&Path, usize> = BTreeMap::new();
        for (_, entry) in snapshot.entries() {
            *skills.entry(&snapshot.root(entry).path).or_default() += 1;
        }
        let roots = snapshot.layout().roots.iter().map(|root| Self {
            origin: root.origin.clone(),
            path: root.path.clone(),
            exists: root.real.is_some(),
            trust: root.trust,
            skills: skills.get(root.path.as_path()).copied().unwrap_or_default(),
        });
        roots.collect()
    }

    pub(super) fn write(&self, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
        let trust = if self.trust == RootTrust::Untrusted { ", not trusted" } else { "" };
        let (origin, path) = (self.origin.to_string(), clean(&surroundings.shown(&self.path)));
        output.line(format!("  {origin:<22} {path} ({}{trust})", counted(self.skills, "skill", "skills")))
    }
}

//! What every package holds, as a tree below `/usr` or `~/.local`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::archive::gzip;
use super::licences;
use super::program::Program;
use crate::repository::Repository;

/// The folder of licences and documents.
const DOCUMENTS: &str = "share/doc/metier";

/// Each shell, and where it looks for the completions of a program.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/metier"),
    ("fish", "share/fish/vendor_completions.d/metier.fish"),
    ("zsh", "share/zsh/site-functions/_metier"),
];

/// A packaged file.
#[derive(Clone)]
pub(super) struct PackagedFile {
    pub(super) bytes: Vec<u8>,
    pub(super) is_executable: bool,
}

/// Files by their paths, in the order in which packages hold them.
pub(super) type Files = BTreeMap<String, PackagedFile>;

/// The files of all packages.
pub(super) struct Contents {
    files: Files,
}

impl Contents {
    /// Has the program print completions, and its manual pages into the folder `manual`; collects licences.
    pub(super) fn collect(repository: &Repository, program: &Program, manual: &Path) -> Result<Self> {
        let mut contents = Self { files: Files::new() };
        let bytes = fs::read(&program.path)?;
        contents.files.insert("bin/metier".to_owned(), PackagedFile { bytes, is_executable: true });
        for (shell, path) in COMPLETIONS {
            contents.add(*path, output(&program.path, &["completions", shell])?);
        }
        contents.add_manual(&program.path, manual)?;
        for name in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
            let text =
                fs::read(repository.root().join(name)).with_context(|| format!("{name} is missing"))?;
            contents.add(format!("{DOCUMENTS}/{name}"), text);
        }
        contents.add(format!("{DOCUMENTS}/THIRD-PARTY-LICENSES"), licences::text(repository)?.into_bytes());
        Ok(contents)
    }

    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// The licences, by their file names.
    pub(super) fn licences(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let documents = self.files.iter().filter_map(|(path, file)| {
            Some((path.strip_prefix(DOCUMENTS)?.trim_start_matches('/'), file.bytes.as_slice()))
        });
        documents.filter(|(name, _)| name.contains("LICENSE"))
    }

    fn add(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        self.files.insert(path.into(), PackagedFile { bytes, is_executable: false });
    }

    /// Manual pages are compressed, as systems keep them.
    fn add_manual(&mut self, program: &Path, folder: &Path) -> Result<()> {
        // Pages of commands that are gone must not come along.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder)?;
        let to = folder.to_str().context("the path of the target folder is not UTF-8")?;
        output(program, &["completions", "man", "--out", to])?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            self.add(format!("share/man/man1/{name}.gz"), gzip(&fs::read(entry.path())?)?);
        }
        fs::remove_dir_all(folder)?;
        Ok(())
    }
}

/// What the program prints.
fn output(program: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let line = format!("{} {}", program.display(), arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

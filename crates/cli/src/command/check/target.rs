//! From what was said on the command line to the skills that are judged.

use super::agent_file::is_agent;
use super::subject::Subject;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{Entry, Failure, Include, Layout, RootChoice, SkillFile, Snapshot, code};
use metier_diagnostic::Diagnostic;
use metier_files::{Kind, SkillDir, kind};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most that is read from standard input: what is read of a file.
const MAX_INPUT: u64 = metier_catalog::MAX_DOCUMENT;

/// What is to be checked.
pub(crate) struct Targets {
    /// The skills below the folders that were given.
    pub(crate) snapshot: Option<Snapshot>,
    /// Files that were given by another name than SKILL.md, and standard input.
    pub(crate) lone: Vec<Subject>,
    /// Files that define agents.
    pub(crate) agents: Vec<PathBuf>,
}

impl Targets {
    /// Finds what is meant by the paths: `-` is standard input, a SKILL.md is its folder, a folder is all skills in it; an agent
    /// or a crew is meant by its own file.
    pub(crate) fn find(paths: &[PathBuf], surroundings: &Surroundings) -> Result<Self> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let (mut lone, mut agents) = (Vec::new(), Vec::new());
        for path in paths {
            if path.as_os_str() == "-" {
                lone.push(standard_input()?);
                continue;
            }
            let absolute = surroundings.places.current.join(path);
            match kind(&absolute) {
                Kind::Folder => folders.push(absolute),
                Kind::File if is_document(&absolute) => {
                    folders.push(absolute.parent().unwrap_or(Path::new("/")).to_owned());
                }
                Kind::File if is_agent(&absolute, surroundings) => agents.push(absolute),
                Kind::File => {
                    let read = Subject::lone(&absolute, path);
                    let read = read.with_context(|| format!("cannot read `{}`", path.display()))?;
                    lone.extend(read);
                }
                Kind::Missing => bail!(
                    "there is no `{}`; give a SKILL.md, a folder with skills, an agent's file, or `-` for standard input",
                    path.display()
                ),
                Kind::Other => bail!("`{}` is neither a file nor a folder", path.display()),
            }
        }
        let is_given = !folders.is_empty() || !surroundings.is_usual;
        if !is_given && lone.is_empty() && agents.is_empty() {
            folders.push(surroundings.places.current.clone());
        }
        let layout = if folders.is_empty() {
            (!surroundings.is_usual).then(|| Arc::clone(&surroundings.layout))
        } else {
            folders.dedup();
            Some(Arc::new(Layout::new(&surroundings.places, &RootChoice::Given(folders))))
        };
        let snapshot = layout.map(|layout| Snapshot::load(layout, Include::Usual));
        Ok(Self { snapshot, lone, agents })
    }

    /// The skills below the folders, each with its file: those that load, then those that do not.
    pub(crate) fn places(&self) -> Vec<Place<'_>> {
        let Some(snapshot) = &self.snapshot else { return Vec::new() };
        let loaded = snapshot.entries().map(|(_, entry)| Place::Entry(snapshot, entry));
        loaded.chain(snapshot.failures().iter().map(|failure| Place::Failure(snapshot, failure))).collect()
    }

    /// What is wrong with the folders themselves.
    pub(crate) fn problems(&self) -> &[Diagnostic] {
        self.snapshot.as_ref().map_or(&[], Snapshot::diagnostics)
    }
}

/// Where a skill is, or should be.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Entry(&'a Snapshot, &'a Entry),
    Failure(&'a Snapshot, &'a Failure),
}

impl Place<'_> {
    /// The folder.
    pub(crate) fn folder(self) -> PathBuf {
        match self {
            Self::Entry(snapshot, entry) => snapshot.folder(entry),
            Self::Failure(snapshot, failure) => {
                let root = snapshot.layout().roots.get(failure.root);
                root.map(|root| root.path.join(&failure.folder)).unwrap_or_default()
            }
        }
    }

    /// Reads it; what cannot be read is said instead.
    pub(crate) fn read(self, surroundings: &Surroundings) -> Result<Subject, Vec<Diagnostic>> {
        let folder = self.folder();
        let (path, read, opened) = match self {
            Self::Entry(snapshot, entry) => {
                (snapshot.document_path(entry), snapshot.read(entry), snapshot.open(entry).ok())
            }
            Self::Failure(_, _) => {
                let opened = SkillDir::open(&folder);
                let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
                let (read, opened) = match opened {
                    Ok(opened) => (SkillFile::read(&opened, name.as_deref()), Some(opened)),
                    Err(error) => (Err(error), None),
                };
                (folder.join("SKILL.md"), read, opened)
            }
        };
        let shown: Arc<Path> = Path::new(&surroundings.shown(&path)).into();
        match (read, self) {
            (Ok(file), _) => Ok(Subject::new(file, &folder, opened.as_ref(), shown)),
            (Err(_), Self::Failure(_, failure)) => {
                Err(failure.diagnostics.iter().map(|found| surroundings.relative(found)).collect())
            }
            (Err(error), Self::Entry(..)) => {
                let message = format!("the file cannot be read: {error}");
                Err(vec![Diagnostic::new(&code::FOLDER_UNREADABLE, message).in_file(&shown)])
            }
        }
    }
}

fn is_document(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "SKILL.md" || name == "skill.md")
}

fn standard_input() -> Result<Subject> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes);
    read.context("cannot read standard input")?;
    if bytes.len() as u64 > MAX_INPUT {
        bail!("standard input has more than {MAX_INPUT} bytes, which is no SKILL.md");
    }
    Ok(Subject::text(&bytes, Path::new("<stdin>")))
}

//! The skills that come with metier: carried in the program, kept in the cache folder, the lowest of all roots.

use crate::code;
use crate::entry::Entry;
use crate::origin::Class;
use crate::root::{Root, RootTrust};
use crate::snapshot::Snapshot;
use metier_diagnostic::Diagnostic;
use metier_files::{Difference, Imprint, private_folder};
use std::path::{Path, PathBuf};

/// Skills that a program carries along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Where they are kept on the disk, since what runs has to be there. The folder's name has to differ for different
    /// skills (by a digest, say), so that two versions of a program do not write over each other. `None` on a machine
    /// that has no place for it.
    pub folder: Option<PathBuf>,
    /// What they are.
    pub imprint: Imprint,
}

/// Why a skill that seems to come with metier is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundledError {
    /// It is not among them.
    #[error("`{}` is no skill that comes with metier; remove it", .0.display())]
    Stranger(PathBuf),
    /// It is other than it came.
    #[error("{0}; remove `{folder}` and metier writes it anew", folder = .1.display())]
    Changed(#[source] Difference, PathBuf),
}

impl Bundled {
    /// The root of these skills, once they are on the disk. What was changed there is written anew; where nothing can be
    /// written there is no root. Both are said, and neither is an error: everything else works.
    pub(crate) fn root(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<Root> {
        let Some(folder) = &self.folder else {
            diagnostics.push(unavailable("there is no home directory, so there is no cache folder"));
            return None;
        };
        if let Err(difference) = self.imprint.glance(folder) {
            if !difference.is_absence_of(folder) {
                let message = format!("{difference}, so the skills that come with metier were written anew");
                let help = "to change one, copy its folder to one of your own roots; yours then has the name";
                diagnostics.push(Diagnostic::new(&code::BUNDLED_CHANGED, message).help(help));
            }
            if let Err(error) = self.write(folder) {
                diagnostics.push(unavailable(&format!("`{}` cannot be written: {error}", folder.display())));
                return None;
            }
        }
        Some(Root::new(Class::Bundled, "bundled", folder.clone(), RootTrust::Trusted))
    }

    fn write(&self, folder: &Path) -> std::io::Result<()> {
        // Private: what is in it runs without a question, so nobody else may put anything there.
        folder.parent().map_or(Ok(()), private_folder)?;
        self.imprint.write(folder)
    }
}

fn unavailable(why: &str) -> Diagnostic {
    let message = format!("{why}, so the skills that come with metier are left out");
    Diagnostic::new(&code::BUNDLED_UNAVAILABLE, message)
        .help("make the folder writable, set `METIER_HOME`, or say `bundled = false` in `config.toml`")
}

impl Snapshot {
    /// Reads every file of a skill that comes with metier and makes sure that it is as it came. To be asked before anything
    /// of it is used: a listing goes by sizes and dates, which whoever changes a file can set. Of a skill from elsewhere
    /// there is nothing to say.
    pub fn verify_bundled(&self, entry: &Entry) -> Result<(), BundledError> {
        let root = self.root(entry);
        let Some(bundled) = &self.layout().places.bundled else { return Ok(()) };
        if root.origin.class != Class::Bundled {
            return Ok(());
        }
        let part = bundled.imprint.part(&entry.folder);
        let folder = self.folder(entry);
        if part.is_empty() {
            return Err(BundledError::Stranger(folder));
        }
        part.compare(&folder).map_err(|difference| BundledError::Changed(difference, root.path.clone()))
    }
}

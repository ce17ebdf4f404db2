//! A skill's file read whole, for those who need more than a listing.

use metier_diagnostic::{Code, Diagnostic};
use metier_files::{DocumentName, Error, FileDigest, SkillDir};
use metier_skill::{Document, Manifest};
use std::borrow::Cow;
use std::path::Path;

/// The largest `SKILL.md` that is read whole. The largest public one has 400 KB; what is larger is no text that a model
/// could be given, and a listing still shows it.
pub const MAX_DOCUMENT: u64 = 4 * 1024 * 1024;

/// A `SKILL.md`: its text and what was understood of it.
#[derive(Clone, Debug)]
pub struct SkillFile {
    /// The name it was found by.
    pub name: String,
    /// The text; bytes that are not UTF-8 are replaced.
    pub source: String,
    /// How many bytes the file has.
    pub size: usize,
    /// What was understood; `None` when it was refused.
    pub document: Option<Document>,
    /// What there is to say about it, without the path.
    pub diagnostics: Vec<Diagnostic>,
    /// The bytes, where they are not the text's.
    replaced: Option<Box<[u8]>>,
}

impl SkillFile {
    /// Reads the file of a skill's folder.
    pub fn read(folder: &SkillDir, folder_name: Option<&str>) -> Result<Self, Error> {
        let document = folder.read_document(MAX_DOCUMENT)?;
        Ok(Self::from_bytes(document.name.as_str(), &document.bytes, folder_name))
    }

    /// Reads a file that is not in the skill's folder: its `SKILL.md` is a link that the sweep was allowed to follow.
    pub(crate) fn read_at(target: &Path, folder_name: Option<&str>) -> Result<Self, Error> {
        let failed = |source| Error::Io { path: target.to_owned(), source };
        let bytes = metier_files::read_bounded(target, MAX_DOCUMENT).map_err(failed)?;
        let bytes = bytes.ok_or_else(|| Error::NotFound { path: target.to_owned() })?;
        Ok(Self::from_bytes(DocumentName::CANONICAL, &bytes, folder_name))
    }

    pub(crate) fn from_bytes(name: &str, bytes: &[u8], folder_name: Option<&str>) -> Self {
        let parsed = metier_skill::parse_whole(bytes, folder_name);
        // Nearly all are valid, and asking that first is several times faster than replacing right away.
        let valid = str::from_utf8(bytes);
        let source = valid.map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned);
        Self {
            name: name.to_owned(),
            source,
            size: bytes.len(),
            document: parsed.document,
            diagnostics: parsed.diagnostics,
            replaced: valid.is_err().then(|| bytes.into()),
        }
    }

    /// What the frontmatter says.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.document.as_ref().map(|document| &document.manifest)
    }

    /// The digest of the bytes that were read, which are the ones that everything here was made of.
    pub fn digest(&self) -> FileDigest {
        FileDigest::of(self.replaced.as_deref().unwrap_or(self.source.as_bytes()))
    }

    /// What follows the frontmatter.
    pub fn body(&self) -> &str {
        let start = self.document.as_ref().map_or(0, |document| document.body as usize);
        self.source.get(start..).unwrap_or_default()
    }

    /// The file with its body as it is used, without control characters. Its digest stays that of the bytes that were read.
    #[must_use]
    pub fn for_use(mut self) -> Self {
        if let Cow::Owned(body) = metier_skill::without_controls(self.body()) {
            let start = self.source.len() - self.body().len();
            self.replaced.get_or_insert_with(|| self.source.as_bytes().into());
            self.source.replace_range(start.., &body);
        }
        self
    }
}

/// Whether a code says that the text was mended in memory.
pub(crate) fn is_repair(code: &Code) -> bool {
    metier_skill::code::REPAIRS.contains(&code)
}

//! One skill to be judged: its file read whole, and what lies beside it.

use metier_catalog::{MAX_DOCUMENT, SkillFile};
use metier_diagnostic::Diagnostic;
use metier_files::{ListBounds, SkillDir, read_bounded};
use metier_lint::{File, Files, RunBit, Skill, lint};
use metier_skill::Parsed;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest script whose text is looked at. Rules ask for its lines and for what it reaches and writes; what is larger is
/// generated or data.
const MAX_SCRIPT: u64 = 256 * 1024;

/// How much of a text is kept for the rules about several skills, which look there for words that tell two of them apart. Ten
/// thousand skills are then 40 MB, and what a skill is about stands at its beginning.
const KEPT_TEXT: usize = 4 * 1024;

/// A skill with everything that rules ask for.
pub(crate) struct Subject {
    /// The SKILL.md as it is shown.
    pub(crate) shown: Arc<Path>,
    /// The SKILL.md as it is opened; `None` for standard input.
    pub(crate) real: Option<PathBuf>,
    /// The name of its folder.
    pub(crate) folder: Option<String>,
    /// Its text.
    pub(crate) source: String,
    /// What was understood of it; the diagnostics have the path.
    pub(crate) parsed: Parsed,
    files: Option<Vec<File>>,
}

impl Subject {
    /// A skill's file, with what lies beside it.
    pub(crate) fn new(file: SkillFile, folder: &Path, opened: Option<&SkillDir>, shown: Arc<Path>) -> Self {
        let real = folder.join(&file.name);
        let mut subject = Self {
            shown,
            real: Some(real),
            folder: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
            source: file.source,
            parsed: Parsed { document: file.document, diagnostics: file.diagnostics },
            files: opened.and_then(list),
        };
        subject.name_the_file();
        subject
    }

    /// Whether its files are the skill's own and its text is what is on the disk. A SKILL.md that is a link belongs to
    /// somebody else, and replaced bytes would be written for good.
    pub(crate) fn may_be_written(&self) -> bool {
        let is_exact =
            !self.parsed.diagnostics.iter().any(|found| found.code == &metier_skill::code::INVALID_UTF8);
        let Some(real) = &self.real else { return is_exact };
        let is_own = || {
            let folder = metier_files::real_path(real.parent()?).ok()?;
            Some(metier_files::real_path(real).ok()? == folder.join(real.file_name()?))
        };
        is_exact && is_own().unwrap_or(false)
    }

    /// A text without a folder.
    pub(crate) fn text(bytes: &[u8], shown: &Path) -> Self {
        let parsed = metier_skill::parse_whole(bytes, None);
        let source = String::from_utf8_lossy(bytes).into_owned();
        let mut subject = Self { shown: shown.into(), real: None, folder: None, source, parsed, files: None };
        subject.name_the_file();
        subject
    }

    /// A file that is not called SKILL.md: its folder may be anything, so nothing beside it counts.
    pub(crate) fn lone(path: &Path, shown: &Path) -> std::io::Result<Option<Self>> {
        let Some(bytes) = read_bounded(path, MAX_DOCUMENT)? else { return Ok(None) };
        let mut subject = Self::text(&bytes, shown);
        subject.real = Some(path.to_owned());
        Ok(Some(subject))
    }

    fn name_the_file(&mut self) {
        for found in &mut self.parsed.diagnostics {
            found.path = Some(Arc::clone(&self.shown));
        }
    }

    /// The skill as rules see it; `None` when the file is no skill.
    pub(crate) fn skill(&self) -> Option<Skill<'_>> {
        let document = self.parsed.document.as_ref()?;
        Some(Skill::new(
            Arc::clone(&self.shown),
            self.folder.as_deref(),
            &self.source,
            document,
            self.files(),
        ))
    }

    /// What the parser and the rules say of it.
    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        let mut found = self.parsed.diagnostics.clone();
        if let Some(skill) = self.skill() {
            found.extend(lint(&skill));
        }
        found.sort_by_key(|one| one.place.map(|place| place.span.start));
        found
    }

    /// Puts another text in the place of one of its files.
    pub(crate) fn replace(&mut self, path: &Path, text: &str) {
        if path == &*self.shown {
            text.clone_into(&mut self.source);
            self.parsed = metier_skill::parse_whole(text.as_bytes(), self.folder.as_deref());
            self.name_the_file();
        } else if let Some(below) = self.below(path)
            && let Some(file) = self.files.iter_mut().flatten().find(|file| file.path == below)
        {
            file.text = Some(text.to_owned());
        }
    }

    /// What would be said of another text in its place.
    pub(crate) fn findings_of(&self, source: &str) -> Vec<Diagnostic> {
        let parsed = metier_skill::parse(source.as_bytes(), self.folder.as_deref());
        let mut found = parsed.diagnostics;
        if let Some(document) = &parsed.document {
            let shown = Arc::clone(&self.shown);
            found.extend(lint(&Skill::new(shown, self.folder.as_deref(), source, document, self.files())));
        }
        found
    }

    /// The file beside it that is shown as `path`.
    pub(crate) fn file(&self, path: &Path) -> Option<&File> {
        self.files().get(&self.below(path)?)
    }

    /// Where a shown path is below the skill's folder.
    fn below(&self, path: &Path) -> Option<String> {
        path.strip_prefix(self.shown.parent()?).ok()?.to_str().map(str::to_owned)
    }

    /// What the file is called.
    pub(crate) fn document_name(&self) -> &str {
        self.shown.file_name().and_then(|name| name.to_str()).unwrap_or("SKILL.md")
    }

    /// Whether its folder is reached through a link, which some clients do not follow.
    pub(crate) fn is_linked(&self) -> bool {
        let real = || {
            let folder = self.real.as_deref()?.parent()?;
            let above = metier_files::real_path(folder.parent()?).ok()?;
            Some(metier_files::real_path(folder).ok()? != above.join(folder.file_name()?))
        };
        real().unwrap_or(false)
    }

    /// Lets go of everything but the frontmatter and the beginning of the text, which is all that rules about several skills ask
    /// for.
    pub(crate) fn shrink(&mut self) {
        if let Some(document) = &self.parsed.document {
            let kept = (document.body as usize).saturating_add(KEPT_TEXT);
            self.source.truncate(self.source.floor_char_boundary(kept));
            self.source.shrink_to_fit();
        }
        self.parsed.diagnostics = Vec::new();
        self.files = None;
    }

    fn files(&self) -> Files<'_> {
        self.files.as_deref().map_or(Files::Unknown, Files::Known)
    }
}

/// The files of a folder, with the texts of its scripts. A folder too large to list is judged by its SKILL.md alone.
fn list(folder: &SkillDir) -> Option<Vec<File>> {
    let listing = folder.list(ListBounds::default()).ok().filter(|listing| listing.extent.is_whole())?;
    let files = listing.files.into_iter().filter_map(|listed| {
        let path = listed.path.as_str()?.to_owned();
        let run_bit = if listed.executable { RunBit::Set } else { RunBit::Clear };
        let mut file = File { path, size: listed.size, run_bit, text: None };
        let is_in_scripts = file.path.starts_with("scripts/");
        if (is_in_scripts || file.is_script()) && listed.size <= MAX_SCRIPT {
            let bytes = folder.read(&listed.path, MAX_SCRIPT).ok();
            file.text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        }
        Some(file)
    });
    Some(files.collect())
}

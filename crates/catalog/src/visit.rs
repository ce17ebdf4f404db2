//! What happens to each skill while the sweep is at it: the parser runs on the bytes that are there anyway.

use crate::code;
use crate::entry::{Card, Links, folder_call_name};
use crate::identity::NameHasher;
use crate::snapshot::{Plan, Stamps};
use metier_diagnostic::Diagnostic;
use metier_files::{Candidate, Extent, Stamp};
use metier_skill::{Parsed, Portion, UserOnly, is_canonical, summarize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of a file is read when its beginning is not enough: the largest frontmatter twice over, which leaves as much
/// for the first paragraph of the body. No listing reads a whole file, or one of 50 MB would cost 50 MB.
const PREFIX: usize = 128 * 1024;

/// What became of a candidate.
#[derive(Clone, Debug)]
pub(crate) enum Visited {
    /// A skill.
    Loaded(Loaded),
    /// A file that is no skill, and why.
    Refused(Vec<Diagnostic>),
    /// A skill whose file is broken now, as it was before, and what is said of it for that.
    Kept(Box<Kept>),
}

impl Visited {
    /// The skill, also where its file is broken now.
    pub(crate) fn loaded(&self) -> Option<&Loaded> {
        match self {
            Self::Loaded(loaded) => Some(loaded),
            Self::Kept(kept) => Some(&kept.loaded),
            Self::Refused(_) => None,
        }
    }
}

/// The last good version of a file that broke.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) loaded: Loaded,
    pub(crate) why: Diagnostic,
}

/// A skill, with what is asked of every entry beside the card.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) card: Arc<Card>,
    pub(crate) hash: u64,
    pub(crate) is_titled: bool,
    pub(crate) is_odd: bool,
    pub(crate) user_only: Option<UserOnly>,
    /// How the document looked before its first byte was used, where somebody wanted to know.
    pub(crate) stamp: Option<Stamp>,
}

impl Loaded {
    pub(crate) fn new(
        card: Card,
        user_only: Option<UserOnly>,
        stamp: Option<Stamp>,
        hasher: &NameHasher,
    ) -> Self {
        let name = card.name.as_str();
        Self {
            hash: hasher.hash(name),
            is_titled: card.title.is_some(),
            is_odd: !is_canonical(name),
            user_only,
            stamp,
            card: Arc::new(card),
        }
    }
}

/// Parses one skill. Everything that can be computed from the skill alone is computed here, where many workers do it.
pub(crate) fn visit(candidate: &Candidate<'_>, plan: &Plan, hasher: &NameHasher) -> Visited {
    let root = plan.roots.get(candidate.root).map_or(Path::new(""), |root| &root.path);
    let name = folder_call_name(candidate.folder).or_else(|| folder_call_name(root));
    let path = || -> Arc<Path> { document_path(root, candidate).into() };
    let stamp = if plan.stamps == Stamps::Taken { candidate.stamp() } else { None };
    let Parsed { document, mut diagnostics } = match summarized(candidate, name.as_deref()) {
        Ok(summarized) => summarized,
        Err(error) => {
            let message = format!("the file cannot be read: {error}");
            return Visited::Refused(vec![
                Diagnostic::new(&code::FOLDER_UNREADABLE, message).in_file(&path()),
            ]);
        }
    };
    let document_name = candidate.document_name;
    if !document_name.is_canonical() {
        let message = format!("the file is called `{document_name}`; most clients look for `SKILL.md` only");
        diagnostics
            .push(Diagnostic::new(&code::FILE_NAME_LOWER_CASE, message).help("rename it to `SKILL.md`"));
    }
    if !diagnostics.is_empty() {
        let path = path();
        for diagnostic in &mut diagnostics {
            diagnostic.path = Some(Arc::clone(&path));
        }
    }
    let Some(manifest) = document.map(|document| document.manifest) else {
        return Visited::Refused(diagnostics);
    };
    let user_only = manifest.user_only;
    // A list grows to room for four at once, and most have one or two. They are kept, so the rest is given back.
    diagnostics.shrink_to_fit();
    let mut card = Card::new(manifest, document_name, diagnostics);
    if candidate.real.is_some() || candidate.document_target.is_some() {
        card.links = Some(Box::new(Links {
            folder: candidate.real.map(Path::to_owned),
            document: candidate.document_target.map(Path::to_owned),
        }));
    }
    Visited::Loaded(Loaded::new(card, user_only, stamp, hasher))
}

fn summarized(candidate: &Candidate<'_>, folder: Option<&str>) -> Result<Parsed, metier_files::OsError> {
    let head = candidate.head;
    let portion = if candidate.extent == Extent::Whole { Portion::Whole } else { Portion::Beginning };
    if let Some(summarized) = summarize(head, folder, portion) {
        return Ok(summarized);
    }
    let mut bytes = Vec::new();
    let portion = match candidate.read_up_to(PREFIX, &mut bytes)? {
        Extent::Whole => Portion::Whole,
        Extent::Truncated => Portion::Prefix,
    };
    Ok(summarize(&bytes, folder, portion).unwrap_or_default())
}

fn document_path(root: &Path, candidate: &Candidate<'_>) -> PathBuf {
    root.join(candidate.folder).join(candidate.document_name.as_str())
}

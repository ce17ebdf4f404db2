//! Profiles: what other clients make of the same file.
//!
//! One parse, many opinions. A profile is a table of rules about keys and about the file as a whole; it changes nothing
//! in how metier reads or runs a skill. [`judge`] answers two questions for one skill and one client: does it load
//! there, and does it mean the same there?
//!
//! ```
//! use metier_skill::parse;
//! use metier_skill::profile::{Fate, FileView, Loads, Meaning, Profile, judge};
//!
//! let source = "---\nname: pdf\ndescription: Reads PDFs.\nallowed-tools: Read\n---\n# PDF\n";
//! let parsed = parse(source.as_bytes(), Some("pdf"));
//! let file = FileView::new(source, &parsed, Some("pdf"));
//!
//! let there = judge(Profile::Codex, &file);
//! assert_eq!((there.loads, there.meaning()), (Loads::Yes, Meaning::Different));
//! assert_eq!(there.key("allowed-tools").map(|key| key.fate), Some(Fate::Changed));
//!
//! // A text where a list is wanted stops every skill there, and the diagnostic says where it stands.
//! let there = judge(Profile::CoreAgent, &file);
//! assert_eq!(there.loads, Loads::NoAndOthers);
//! assert_eq!(there.diagnostics(source)[0].line(), Some(4));
//! ```

mod agentmd;
mod claude_code;
mod codex;
mod core_agent;
mod fence;
mod loss;
mod metier;
mod openpollen;
mod opinion;
mod python;
mod schema;
mod skilled_crew;
mod standard;
mod substitution;
mod text;
mod ultron;
mod verdict;

use crate::document::Parsed;
use crate::manifest::Manifest;
use crate::parse::strict_entries;
use crate::repair::{self, Mended};
use crate::yaml::Entry;
use opinion::{Bench, Refusal};
use std::fmt;

pub use verdict::{Fate, Loads, Meaning, Remark, Verdict};

/// A client whose opinion can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// This one.
    Metier,
    /// The open standard, as its reference validator holds it.
    Standard,
    /// skilled-crew.
    SkilledCrew,
    /// Ultron.
    Ultron,
    /// agentmd.
    Agentmd,
    /// `OpenPollen`.
    Openpollen,
    /// core-agent with ADK 1.2.0.
    CoreAgent,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl Profile {
    /// All of them, in the order in which they are shown.
    pub const ALL: &[Self] = &[
        Self::Metier,
        Self::Standard,
        Self::SkilledCrew,
        Self::Ultron,
        Self::Agentmd,
        Self::Openpollen,
        Self::CoreAgent,
        Self::ClaudeCode,
        Self::Codex,
    ];

    /// The name it is asked for by, what it calls itself, and its rules.
    fn client(self) -> (&'static str, &'static str, Judge) {
        match self {
            Self::Metier => ("metier", "metier", metier::judge),
            Self::Standard => ("standard", "the open standard", standard::judge),
            Self::SkilledCrew => ("skilled-crew", "skilled-crew", skilled_crew::judge),
            Self::Ultron => ("ultron", "Ultron", ultron::judge),
            Self::Agentmd => ("agentmd", "agentmd", agentmd::judge),
            Self::Openpollen => ("openpollen", "OpenPollen", openpollen::judge),
            Self::CoreAgent => ("core-agent", "core-agent", core_agent::judge),
            Self::ClaudeCode => ("claude-code", "Claude Code", claude_code::judge),
            Self::Codex => ("codex", "Codex", codex::judge),
        }
    }

    /// The name it is asked for by, such as `claude-code`.
    pub fn name(self) -> &'static str {
        self.client().0
    }

    /// The profile of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|profile| profile.name() == name)
    }

    /// What it calls itself, for messages.
    pub fn title(self) -> &'static str {
        self.client().1
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One skill's file as it lies in its folder.
#[derive(Clone, Copy, Debug)]
pub struct FileView<'a> {
    /// The whole text as read; what is not UTF-8 replaced.
    pub source: &'a str,
    /// What metier made of it.
    pub parsed: &'a Parsed,
    /// The name of the folder it lies in.
    pub folder: Option<&'a str>,
    /// The name of the file; `SKILL.md` or `skill.md`.
    pub document_name: &'a str,
    /// Whether the folder is reached through a symbolic link.
    pub is_linked: bool,
}

impl<'a> FileView<'a> {
    /// The view of a `SKILL.md` in a real folder.
    pub fn new(source: &'a str, parsed: &'a Parsed, folder: Option<&'a str>) -> Self {
        Self { source, parsed, folder, document_name: "SKILL.md", is_linked: false }
    }

    fn manifest(&self) -> Option<&'a Manifest> {
        self.parsed.document.as_ref().map(|document| &document.manifest)
    }

    /// The keys as metier reads them, after repairs where it needed any.
    fn entries(&self) -> Vec<Entry<'a>> {
        if let Some((entries, _)) = strict_entries(self.source) {
            return entries;
        }
        match repair::mend(self.source) {
            Mended::Frontmatter(found) => found.entries,
            Mended::Empty { .. } | Mended::Missing | Mended::Refused(_) => Vec::new(),
        }
    }
}

/// The rules of a client. What it returns as an error is the last thing that is said.
type Judge = fn(&mut Bench, &FileView<'_>) -> Result<(), Refusal>;

/// What one client makes of one skill.
pub fn judge(profile: Profile, file: &FileView<'_>) -> Verdict {
    let mut bench = Bench::new(profile);
    let (_, _, judge) = profile.client();
    if let Err((span, opinion)) = judge(&mut bench, file) {
        bench.note(span, opinion);
    }
    bench.verdict()
}

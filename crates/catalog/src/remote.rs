//! Skills that MCP servers offer: entries of the catalogue whose files are somewhere else until somebody uses them.
//!
//! What is known of such a skill is what its server listed: the frontmatter, and every file with its size and digest. The
//! catalogue shows it from that alone and fetches nothing. Whoever uses a skill calls [`Snapshot::bring`] first, which has the
//! wanted files fetched, held against the list and put into a private folder outside of every root.
//!
//! A server's skill never has a short name: it is called `mcp.LABEL:name`, whoever else is called `name`. A server chooses its
//! names as it likes, and one that named its skill like the user's would otherwise be called in its place.

use crate::code;
use crate::entry::{Card, Entry};
use crate::identity::NameHasher;
use crate::layout::Layout;
use crate::origin::{Class, Origin};
use crate::place;
use crate::root::{Root, RootTrust};
use crate::snapshot::{Failure, Snapshot};
use crate::visit::Loaded;
use metier_diagnostic::Diagnostic;
use metier_files::{DocumentName, FileDigest, RelativePath};
use metier_skill::{Parsed, Portion, SkillName, summarize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One file of a skill, as its server listed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFile {
    /// Where it is in the skill's folder.
    pub path: RelativePath,
    /// Its address at the server.
    pub uri: String,
    /// How many bytes it has.
    pub size: u64,
    /// The digest of its bytes.
    pub digest: FileDigest,
}

/// Whether the user has approved a skill as it is listed now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// These very files were approved.
    Approved,
    /// Other files were approved: the server has changed the skill since.
    Changed,
    /// Nothing was.
    #[default]
    NotYet,
}

/// A skill that a server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSkill {
    /// The label of its server.
    pub server: String,
    /// The address of its `SKILL.md`: with the server's label this is who it is.
    pub uri: String,
    /// The folder for its files, below the server's shelf. Another set of files has another folder.
    pub folder: PathBuf,
    /// The listed frontmatter as the text of a `SKILL.md` without a body.
    pub text: String,
    /// Every file of it, by path; its `SKILL.md` is among them.
    pub files: Vec<RemoteFile>,
    /// The digest of all addresses and digests together: what an approval is bound to.
    pub set: FileDigest,
    /// Whether the user has approved exactly this.
    pub approval: Approval,
}

impl RemoteSkill {
    /// A file of it by its path in the skill's folder.
    pub fn file(&self, path: &RelativePath) -> Option<&RemoteFile> {
        self.files.iter().find(|file| file.path == *path)
    }

    /// How many bytes its files have.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// An entry of a server's list that is no skill here, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRefusal {
    /// Its address, or as much of it as there is.
    pub uri: String,
    /// Why.
    pub why: String,
}

/// A server and what it listed when it was last asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteServer {
    /// Its label, which the user gave it.
    pub label: String,
    /// The folder in which the files of its skills are kept: private, and in no root.
    pub shelf: PathBuf,
    /// Its skills, by address.
    pub skills: Vec<RemoteSkill>,
    /// What of its list was refused.
    pub refused: Vec<RemoteRefusal>,
}

/// What is wanted of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Its `SKILL.md`: it is activated, or looked at.
    Document,
    /// One file of it.
    File(&'a RelativePath),
    /// All of it: something of it runs, and may open whatever lies beside it.
    All,
}

/// Fetches files of servers. When it returns, the wanted files are in `folder`, and each is what its entry says: those that were
/// there already are held against it again.
pub trait Fetch: fmt::Debug + Send + Sync {
    /// Fetches, or says in a sentence why the files cannot be used.
    fn fetch(&self, skill: &RemoteSkill, folder: &Path, wanted: Wanted<'_>) -> Result<(), String>;
}

/// The servers of a machine, and who fetches from them.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The servers, in a stable order.
    pub servers: Vec<RemoteServer>,
    /// Who fetches.
    pub fetch: Arc<dyn Fetch>,
}

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        self.servers == other.servers && Arc::ptr_eq(&self.fetch, &other.fetch)
    }
}

impl Eq for Remote {}

/// Why files of a server's skill cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not used: {why}")]
pub struct NotBrought {
    /// What it is called.
    pub name: String,
    /// Why.
    pub why: String,
}

impl Remote {
    /// A root for each server, the lowest of all.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Root> {
        self.servers.iter().map(|server| {
            let root = Root::new(Class::Mcp, &server.label, server.shelf.clone(), RootTrust::Trusted);
            // Nothing in the shelf is found by looking: it is no folder of skills.
            Root { real: None, ..root }
        })
    }
}

/// The skills of all servers as entries, and what of their lists is none as failures.
pub(crate) fn entries(layout: &Layout, hasher: &NameHasher, failures: &mut Vec<Failure>) -> Vec<Entry> {
    let Some(remote) = &layout.places.remote else { return Vec::new() };
    let mut entries = Vec::new();
    for server in &remote.servers {
        let is_its = |root: &Root| root.origin.class == Class::Mcp && root.path == server.shelf;
        let Some(root) = layout.roots.iter().position(is_its) else { continue };
        for refused in &server.refused {
            let message =
                format!("`{}` is left out: {}", crate::shown::one_line(&refused.uri, 200), refused.why);
            failures.push(Failure {
                root,
                folder: Path::new("").into(),
                diagnostics: vec![Diagnostic::new(&code::REMOTE_SKILL_REFUSED, message)],
            });
        }
        let mut taken: Vec<SkillName> = Vec::new();
        for skill in &server.skills {
            match entry(root, &layout.roots[root].origin, skill, &mut taken, hasher) {
                Ok(entry) => entries.push(entry),
                Err(diagnostics) => {
                    let folder = skill.folder.clone().into_boxed_path();
                    failures.push(Failure { root, folder, diagnostics });
                }
            }
        }
    }
    entries
}

fn entry(
    root: usize,
    origin: &Origin,
    skill: &RemoteSkill,
    taken: &mut Vec<SkillName>,
    hasher: &NameHasher,
) -> Result<Entry, Vec<Diagnostic>> {
    let folder = skill.folder.clone().into_boxed_path();
    let name = skill.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let summarized = summarize(skill.text.as_bytes(), name.as_deref(), Portion::Whole).unwrap_or_default();
    let Parsed { document, mut diagnostics } = summarized;
    let Some(manifest) = document.map(|document| document.manifest) else { return Err(diagnostics) };
    let user_only = manifest.user_only;
    // Where two skills of a server have one name, the later by address is told from the first by a number, as with slugs.
    let mut call = manifest.name.clone();
    for number in 2..=taken.len() + 2 {
        if !taken.contains(&call) {
            break;
        }
        call = manifest.name.numbered(number);
    }
    if call != manifest.name {
        let message =
            format!("the server has another skill called `{}`; this one is called `{call}`", manifest.name);
        diagnostics.push(Diagnostic::new(&code::SLUG_CLASH, message));
    }
    taken.push(call.clone());
    if skill.approval == Approval::Changed {
        let message = "the server has changed the skill since you approved it";
        let help = format!("look at it, then approve it again with `metier trust {origin}:{call}`");
        diagnostics.push(Diagnostic::new(&code::REMOTE_SKILL_CHANGED, message).help(help));
    }
    let mut card = Card::new(manifest, DocumentName::canonical(), diagnostics);
    card.remote = Some(Arc::new(Listed { skill: skill.clone(), call_name: format!("{origin}:{call}") }));
    card.name = call;
    Ok(Entry::new(root, folder, Loaded::new(card, user_only, None, hasher)))
}

/// A server's skill as its card has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) skill: RemoteSkill,
    /// `mcp.LABEL:name`.
    pub(crate) call_name: String,
}

impl Entry {
    /// What its server listed, where it is a server's.
    pub fn remote(&self) -> Option<&RemoteSkill> {
        self.card.remote.as_ref().map(|listed| &listed.skill)
    }

    /// What it is called: its name, or `mcp.LABEL:name` where it is a server's.
    pub fn call_name(&self) -> &str {
        self.card.remote.as_ref().map_or(self.card.name.as_str(), |listed| listed.call_name.as_str())
    }
}

impl Snapshot {
    /// Has the wanted files of a server's skill fetched and held against its list, before anything of it is used. There is
    /// nothing to do for any other skill.
    pub fn bring(&self, entry: &Entry, wanted: Wanted<'_>) -> Result<(), NotBrought> {
        let Some(skill) = entry.remote() else { return Ok(()) };
        let not = |why: String| NotBrought { name: entry.call_name().to_owned(), why };
        let Some(remote) = &self.layout().places.remote else {
            return Err(not("nobody can fetch its files".to_owned()));
        };
        if let Wanted::File(path) = wanted
            && skill.file(path).is_none()
        {
            return Err(not(format!("`{path}` is not among the files that its server listed")));
        }
        // What runs was approved. The gate says so, too; this holds where somebody forgets to ask it.
        if wanted == Wanted::All && skill.approval != Approval::Approved {
            return Err(not(format!("you have not approved it; `metier trust {}` does", entry.call_name())));
        }
        remote.fetch.fetch(skill, &place::folder(self.layout(), entry), wanted).map_err(not)
    }
}

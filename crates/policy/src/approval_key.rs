//! The key of an approval: everything that was shown, as a value with one canonical text.

mod wording;

use crate::action::{Action, Actor, Deed, Need, Skill};
use crate::path_change::{ModeChange, PathChange, PathChangeKind, PathEntryKind};
use crate::place::Place;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;

/// What an approval is for: who acts, what it does, what it needs, and the fences that stood in the way.
///
/// Two approvals are the same when their keys are equal, and never because a text that people see is. The JSON of a key is
/// canonical: fields in a fixed order, sets sorted. Skills carry the digest of their folder and scripts that of their bytes, so an
/// approval ends when the bytes change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalKey {
    #[serde(deserialize_with = "read_version")]
    pub(crate) version: u8,
    pub(crate) actor: ActorKey,
    pub(crate) act: ActKey,
    pub(crate) needs: BTreeSet<NeedKey>,
    pub(crate) outside: BTreeSet<String>,
}

impl Action {
    /// The key of this action, whole.
    pub fn approval_key(&self) -> ApprovalKey {
        ApprovalKey {
            version: VERSION,
            actor: ActorKey::of(&self.actor),
            act: ActKey::exact(&self.deed),
            needs: need_keys(self),
            outside: BTreeSet::new(),
        }
    }
}

/// The version of the form of keys.
const VERSION: u8 = 1;

/// A key of another version is not read, so what it approved is asked about again.
fn read_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        number => Err(D::Error::custom(format_args!("approvals of version {number} are not read"))),
    }
}

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ActorKey {
    Agent,
    Skill {
        origin: String,
        name: String,
        /// The digest of its folder: an approval of a skill is one of these bytes.
        tree: Option<String>,
        /// The project or root it lies in: two projects may each have a `deploy`.
        place: Option<String>,
    },
}

impl ActorKey {
    fn of(actor: &Actor) -> Self {
        match actor {
            Actor::Agent => Self::Agent,
            Actor::Skill(Skill { name, origin, tree, place, .. }) => Self::Skill {
                origin: origin.clone(),
                name: name.clone(),
                tree: tree.as_ref().map(|tree| tree.0.clone()),
                place: place.clone(),
            },
        }
    }
}

/// What is done. A part that is `None` stands for any.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ActKey {
    Activate,
    Read { path: Option<String> },
    Script { file: Option<String>, digest: Option<String>, argv: Option<Vec<String>> },
    Command { line: Option<String> },
    Inject { line: Option<String> },
    Hook { event: Option<String>, line: Option<String> },
    More,
    Tool { tool: String, path: AnyPath },
    Mcp { server: String, tool: String },
    Changes,
}

/// The path of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnyPath {
    Any,
    None,
    Path(String),
}

impl ActKey {
    /// Everything that was shown.
    fn exact(deed: &Deed) -> Self {
        match deed {
            Deed::Activate => Self::Activate,
            Deed::Read { place } => Self::Read { path: Some(place.key()) },
            Deed::Script { file, argv, digest } => Self::Script {
                file: Some(file.clone()),
                digest: digest.as_ref().map(|digest| digest.0.clone()),
                argv: Some(argv.clone()),
            },
            Deed::Command(line) => Self::Command { line: Some(line.text().to_owned()) },
            Deed::Inject(line) => Self::Inject { line: Some(line.text().to_owned()) },
            Deed::Hook { event, line } => {
                Self::Hook { event: Some(event.clone()), line: Some(line.text().to_owned()) }
            }
            // What is needed is among the needs.
            Deed::More(_) => Self::More,
            Deed::Tool { tool, place } => Self::Tool {
                tool: tool.name().to_owned(),
                path: place.as_ref().map_or(AnyPath::None, |place| AnyPath::Path(place.key())),
            },
            Deed::Mcp { server, tool } => Self::Mcp { server: server.clone(), tool: tool.clone() },
            // What is changed is among the needs.
            Deed::Changes(_) => Self::Changes,
        }
    }

    /// The same for the tool, whatever it is called with. Programs of a skill stay bound to their text where no digest of the
    /// folder binds them.
    pub(crate) fn tool(self, has_tree: bool) -> Self {
        match self {
            Self::Read { .. } => Self::Read { path: None },
            Self::Script { .. } if has_tree => Self::Script { file: None, digest: None, argv: None },
            Self::Script { file, digest, .. } => Self::Script { file, digest, argv: None },
            Self::Command { .. } => Self::Command { line: None },
            Self::Inject { .. } if has_tree => Self::Inject { line: None },
            Self::Hook { .. } if has_tree => Self::Hook { event: None, line: None },
            Self::Tool { tool, .. } => Self::Tool { tool, path: AnyPath::Any },
            other => other,
        }
    }

    /// The same as it is kept for good: a script with any arguments, anything else word for word.
    pub(crate) fn always(self) -> Self {
        match self {
            Self::Script { file, digest, .. } => Self::Script { file, digest, argv: None },
            other => other,
        }
    }
}

/// Something beyond the default containment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum NeedKey {
    Write {
        path: String,
        is_project: bool,
    },
    WriteBelow {
        glob: String,
        is_project: bool,
    },
    Host {
        host: String,
        port: u16,
    },
    Hosts {
        pattern: String,
    },
    Secret {
        name: String,
    },
    Change {
        kind: PathChangeKind,
        path: String,
        /// `None` in an approval of an earlier version, which did not show it. No change has that, so it covers nothing.
        #[serde(default)]
        entry: Option<PathEntryKind>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced: Option<PathEntryKind>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        executable: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<ModeChange>,
        digest: Option<String>,
        is_project: bool,
    },
}

impl NeedKey {
    fn of(need: &Need) -> Self {
        match need {
            Need::Write(place) => Self::Write { path: place.key(), is_project: is_project(place) },
            Need::WriteBelow(glob) => {
                Self::WriteBelow { glob: glob.to_string(), is_project: glob.names_a_place() }
            }
            Need::Host { host, port } => Self::Host { host: host.as_str().to_owned(), port: *port },
            Need::Hosts(hosts) => Self::Hosts { pattern: hosts.to_string() },
            Need::Secret(name) => Self::Secret { name: name.clone() },
        }
    }

    fn of_change(change: &PathChange) -> Self {
        // What acts later is approved with its bytes, and a link with its target; any other file may have other content the
        // next time.
        let facts = &change.facts;
        let is_bound = change.place.is_guarded() || facts.entry == PathEntryKind::Link;
        let digest = change.digest.as_ref().filter(|_| is_bound);
        Self::Change {
            kind: change.kind,
            path: change.place.key(),
            entry: Some(facts.entry),
            replaced: facts.replaced,
            target: facts.target.clone(),
            executable: facts.executable,
            mode: facts.mode,
            digest: digest.map(|digest| digest.0.clone()),
            is_project: is_project(&change.place),
        }
    }

    /// Whether it is an ordinary file of the project. A yes to a tool that writes one is a yes to all of them.
    pub(crate) fn is_project(&self) -> bool {
        match self {
            Self::Write { is_project, .. }
            | Self::WriteBelow { is_project, .. }
            | Self::Change { is_project, .. } => *is_project,
            Self::Host { .. } | Self::Hosts { .. } | Self::Secret { .. } => false,
        }
    }
}

fn is_project(place: &Place) -> bool {
    place.is_inside() && !place.is_guarded()
}

/// What an action needs.
fn need_keys(action: &Action) -> BTreeSet<NeedKey> {
    match &action.deed {
        Deed::Changes(changes) => changes.iter().map(NeedKey::of_change).collect(),
        Deed::More(need) => action.needs.iter().chain([need]).map(NeedKey::of).collect(),
        _ => action.needs.iter().map(NeedKey::of).collect(),
    }
}

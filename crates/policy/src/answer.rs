//! Answers that were given, and to which questions they are answers.

use crate::action::{Action, Actor, Deed, Need, Skill};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a person says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this time.
    Once,
    /// Yes, to this very question until the session ends.
    SessionExact,
    /// Yes, to this tool until the session ends.
    SessionTool,
    /// Yes, to this question from now on; kept in the user's configuration, never in a project's.
    Always,
    /// No. Until [`Answers::forget_refusals`] the same question is answered with it.
    No,
}

impl Answer {
    /// The words users see.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Once => "yes, this time",
            Self::SessionExact => "yes, for this session",
            Self::SessionTool => "yes, to this tool for this session",
            Self::Always => "yes, always",
            Self::No => "no",
        }
    }
}

/// A question, known by everything that was shown and by the bytes that would run.
///
/// An answer holds for the skill, its folder's digest and the script's digest that it was given for. Where no digest is
/// known, a yes to a script cannot be bound to its bytes and holds once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Everything, word for word.
    exact: Option<String>,
    /// The tool.
    tool: Option<String>,
    /// What is kept for good: a script whatever its arguments, anything else word for word.
    always: Option<String>,
    needs: BTreeSet<NeedKey>,
    outside: BTreeSet<String>,
}

/// A need in a question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct NeedKey {
    text: String,
    /// An ordinary file of the project. A yes to a tool that writes one is a yes to all of them.
    is_project_write: bool,
}

/// An answer that is kept for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// What was asked, with the digests it is bound to.
    pub subject: String,
    /// The needs that were shown.
    #[serde(default)]
    pub needs: BTreeSet<String>,
    /// The fences that were shown to stand in the way.
    #[serde(default)]
    pub outside: BTreeSet<String>,
}

impl Question {
    /// The question about an action that stands outside of some fences.
    pub(crate) fn new(action: &Action, outside: BTreeSet<String>) -> Self {
        let who = who(&action.actor);
        let key = |parts: &[&str]| {
            Some(serde_json::Value::from([&who, &list(parts)].map(String::as_str).to_vec()).to_string())
        };
        let tree = action.skill().and_then(|skill| skill.tree.as_ref());
        let (exact, tool, always) = match &action.deed {
            Deed::Activate => (key(&["activate"]), key(&["activate"]), key(&["activate"])),
            Deed::Read { place } => {
                let exact = key(&["read", place.as_str()]);
                (exact.clone(), key(&["read"]), exact)
            }
            Deed::Script { file, argv, digest } => {
                let own = digest.as_ref().map_or("", |digest| digest.0.as_str());
                let words: Vec<&str> =
                    ["script", file, own].into_iter().chain(argv.iter().map(String::as_str)).collect();
                let always = key(&["script", file, own]);
                match (tree, digest) {
                    (Some(_), _) => (key(&words), key(&["script"]), always),
                    (None, Some(_)) => (key(&words), always.clone(), always),
                    (None, None) => (None, None, None),
                }
            }
            Deed::Command(line) => {
                let exact = key(&["command", line.text()]);
                (exact.clone(), key(&["command"]), exact)
            }
            Deed::Inject(line) => {
                let exact = key(&["inject", line.text()]);
                (exact.clone(), tree.map_or_else(|| exact.clone(), |_| key(&["inject"])), exact)
            }
            Deed::Hook { event, line } => {
                let exact = key(&["hook", event, line.text()]);
                (exact.clone(), tree.map_or_else(|| exact.clone(), |_| key(&["hook"])), exact)
            }
            Deed::More(_) => (key(&["more"]), key(&["more"]), key(&["more"])),
            Deed::Tool { tool, place } => {
                let exact = key(&["tool", tool.name(), place.as_ref().map_or("", |place| place.as_str())]);
                (exact.clone(), key(&["tool", tool.name()]), exact)
            }
            Deed::Mcp { server, tool } => {
                let exact = key(&["mcp", server, tool]);
                (exact.clone(), exact.clone(), exact)
            }
        };
        let more = match &action.deed {
            Deed::More(need) => Some(need),
            _ => None,
        };
        let needs = action.needs.iter().chain(more).map(NeedKey::new).collect();
        Self { exact, tool, always, needs, outside }
    }

    fn texts(&self) -> BTreeSet<String> {
        self.needs.iter().map(|need| need.text.clone()).collect()
    }
}

/// Who asks, with the digest of the folder: a yes to a skill is a yes to these bytes.
fn who(actor: &Actor) -> String {
    match actor {
        Actor::Agent => list(&["agent"]),
        Actor::Skill(Skill { name, origin, tree, place, .. }) => {
            let tree = tree.as_ref().map_or("", |tree| tree.0.as_str());
            // Two projects may each have a `deploy`, and a yes to one is none to the other.
            let place = place.as_deref();
            list(&["skill", origin, name, tree].into_iter().chain(place).collect::<Vec<_>>())
        }
    }
}

/// Texts as one text from which they can be told apart, whatever is in them.
fn list(parts: &[&str]) -> String {
    serde_json::Value::from(parts.to_vec()).to_string()
}

impl NeedKey {
    fn new(need: &Need) -> Self {
        let (text, is_project_write) = match need {
            Need::Write(place) => {
                (list(&["write", place.as_str()]), place.is_inside() && !place.is_guarded())
            }
            Need::WriteBelow(glob) => (list(&["write-below", &glob.to_string()]), glob.names_a_place()),
            Need::Host { host, port } => (list(&["host", host.as_str(), &port.to_string()]), false),
            Need::Hosts(hosts) => (list(&["hosts", &hosts.to_string()]), false),
            Need::Secret(name) => (list(&["secret", name]), false),
        };
        Self { text, is_project_write }
    }
}

/// The answers of a session, and those that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    exact: Vec<Question>,
    tools: Vec<Question>,
    refused: Vec<Question>,
    kept: BTreeSet<Kept>,
}

impl Answers {
    /// The answers of a new session, with those that were kept.
    pub fn new(kept: impl IntoIterator<Item = Kept>) -> Self {
        Self { kept: kept.into_iter().collect(), ..Self::default() }
    }

    /// Takes an answer down. What comes back is to be kept in the user's configuration.
    pub fn give(&mut self, question: &Question, answer: Answer) -> Option<Kept> {
        match answer {
            Answer::Once => {}
            Answer::No => self.refused.push(question.clone()),
            Answer::SessionExact => self.exact.push(question.clone()),
            Answer::SessionTool => self.tools.push(question.clone()),
            Answer::Always => {
                let subject = question.always.clone()?;
                let kept = Kept { subject, needs: question.texts(), outside: question.outside.clone() };
                self.kept.insert(kept.clone());
                return Some(kept);
            }
        }
        None
    }

    /// Takes every no back, such as when the user speaks again.
    pub fn forget_refusals(&mut self) {
        self.refused.clear();
    }

    /// The answer that was given to this very question.
    pub fn to(&self, question: &Question) -> Option<Answer> {
        let same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
        if self.refused.contains(question) && question.exact.is_some() {
            return Some(Answer::No);
        }
        // A yes was given knowing what was shown; more needs, or another fence in the way, is another question.
        let is_exact = |given: &Question| {
            same(&given.exact, &question.exact)
                && question.needs.is_subset(&given.needs)
                && question.outside.is_subset(&given.outside)
        };
        if self.exact.iter().any(is_exact) {
            return Some(Answer::SessionExact);
        }
        let is_tool = |given: &Question| {
            let writes = given.needs.iter().any(|need| need.is_project_write);
            let is_known = |need: &NeedKey| given.needs.contains(need) || (writes && need.is_project_write);
            same(&given.tool, &question.tool)
                && question.needs.iter().all(is_known)
                && question.outside.is_subset(&given.outside)
        };
        if self.tools.iter().any(is_tool) {
            return Some(Answer::SessionTool);
        }
        let texts = question.texts();
        let is_kept = |kept: &Kept| {
            question.always.as_ref() == Some(&kept.subject)
                && texts.is_subset(&kept.needs)
                && question.outside.is_subset(&kept.outside)
        };
        self.kept.iter().any(is_kept).then_some(Answer::Always)
    }
}

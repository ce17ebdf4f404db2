//! What to do next, one sentence each.

use super::{Explanation, InCatalogue};
use crate::entry::{Entry, Relation, State};
use crate::lookup::Lookup;
use crate::snapshot::Snapshot;
use metier_skill::UserOnly;

/// A state, as the end of a sentence.
pub(super) fn state_in_words(snapshot: &Snapshot, entry: &Entry) -> String {
    match entry.state() {
        State::Off => "the configuration turns it off",
        State::Disabled => "it is disabled",
        State::Untrusted if snapshot.layout().standing.is_trusted() => {
            "it is not among what you trusted, so nothing of it reaches a model"
        }
        State::Untrusted => "its project is not trusted, so nothing of it reaches a model",
        State::Nested => "it lies inside another skill and is not offered",
        State::Shadowed => return shadowed(snapshot, entry),
        State::UserOnly => "you can use it, the model is not told of it",
        State::NameOnly => "the model sees its name without the description",
        State::Ready if matches!(entry.relation(), Relation::VersionBeside(_)) => {
            "it is used where its version is asked for"
        }
        State::Ready if !entry.paths().is_empty() => {
            "you can use it, and the model sees it once the work touches its files"
        }
        State::Ready => "the model sees it and you can use it",
    }
    .to_owned()
}

fn shadowed(snapshot: &Snapshot, entry: &Entry) -> String {
    match entry.relation() {
        Relation::CopyOf(of) => match snapshot.entry(of) {
            Some(of) => format!("it is an equal copy of `{}`", snapshot.folder(of).display()),
            None => "it is an equal copy of another skill".to_owned(),
        },
        Relation::ShadowedBy(by) => match snapshot.entry(by) {
            Some(by) => format!("`{}` has its name", snapshot.document_path(by).display()),
            None => "another skill has its name".to_owned(),
        },
        _ => "another skill has its name".to_owned(),
    }
}

pub(super) fn advice(snapshot: &Snapshot, explanation: &Explanation, lookup: &Lookup<'_>) -> Vec<String> {
    let mut advice = match lookup {
        Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => of_entry(snapshot, entry),
        Lookup::NoVersion(versions) => {
            vec![format!("Ask for one of the versions there are: {}.", versions.join(", "))]
        }
        Lookup::Ambiguous(several) => {
            let names: Vec<_> = several.iter().map(|(_, entry)| format!("`{}`", entry.name())).collect();
            vec![format!("Use one of the names {}.", names.join(", "))]
        }
        Lookup::Failed(failure) => {
            let help = failure.reason().and_then(|reason| reason.help.clone());
            vec![help.map_or_else(|| "Mend the file.".to_owned(), |help| sentence(&help))]
        }
        Lookup::NotFound(nearest) => not_found(&explanation.asked, nearest),
    };
    let first = explanation.skills.first();
    if first.is_some_and(|skill| skill.catalogue == InCatalogue::OverBudget) {
        advice.push(
            "Its description does not fit into the catalogue: raise `budget` in `[catalog]`, or set other skills to \
             `name-only`."
                .to_owned(),
        );
    }
    if first.is_some_and(|skill| !skill.trust_changes.is_empty()) {
        advice.push("Look at what changed with `metier trust --diff`, then `metier trust` again.".to_owned());
    }
    if let Some(first) = first
        && matches!(first.parsed, super::Parsing::Repaired(_))
    {
        let path = first.path.display();
        advice.push(format!(
            "It was repaired in memory only; other clients may refuse it: see `metier check {path}`."
        ));
    }
    advice
}

fn of_entry(snapshot: &Snapshot, entry: &Entry) -> Vec<String> {
    let name = entry.name();
    let origin = &snapshot.root(entry).origin;
    match entry.state() {
        State::Off => {
            let visibility = snapshot.layout().settings.visibility(name.as_str(), origin);
            let file = visibility.map(|(_, file)| file.display().to_string()).unwrap_or_default();
            vec![format!("Set `visibility = \"on\"` for it in `{file}`.")]
        }
        State::Disabled => vec![format!("Enable it with `metier enable {name}`.")],
        State::Untrusted if entry.remote().is_some() => {
            let name = entry.call_name();
            vec![format!("Look at it with `metier use {name}`, then approve it with `metier trust {name}`.")]
        }
        State::Untrusted => vec![
            "See what the project would switch on with `metier trust --preview`, then trust it with `metier trust`."
                .to_owned(),
        ],
        State::Nested => {
            vec!["Set `nested = true` on its root, or move it out of the other skill's folder.".to_owned()]
        }
        State::Shadowed => match entry.relation() {
            Relation::CopyOf(_) => Vec::new(),
            _ => vec![format!("Call it `{origin}:{name}`, or give one of the two another name.")],
        },
        State::UserOnly => vec![match entry.user_only() {
            Some(UserOnly::Declared) => {
                format!("Use it with `metier use {name}`, or take `disable-model-invocation` out.")
            }
            Some(UserOnly::NoFrontmatter | UserOnly::NoDescription) => {
                "Write a frontmatter with a `description`, so that the model can be offered it.".to_owned()
            }
            None => format!("Use it with `metier use {name}`, or set its visibility to `on`."),
        }],
        State::NameOnly => vec!["Set its visibility to `on` for the model to see its description.".to_owned()],
        State::Ready => Vec::new(),
    }
}

fn not_found(asked: &str, nearest: &[String]) -> Vec<String> {
    let mut advice = Vec::new();
    if let Some(near) = nearest.first() {
        advice.push(format!("Did you mean `{near}`?"));
    }
    advice.push(
        "Put the skill's folder into one of the places that were searched, or name another with `--root`."
            .to_owned(),
    );
    advice.push(format!("Write a new one with `metier new {asked}`."));
    advice
}

/// Help is written as the end of a sentence; advice is a whole one.
fn sentence(help: &str) -> String {
    let mut letters = help.chars();
    let first = letters.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

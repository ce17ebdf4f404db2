//! From what somebody asked for to the skill that is meant.

use crate::entry::{Entry, EntryId, Relation, folder_call_name};
use crate::identity::members;
use crate::nearest::nearest;
use crate::place::{below, folder_name};
use crate::reference::Reference;
use crate::snapshot::{Failure, Snapshot};
use crate::version::rank;
use metier_skill::{Naming, SkillName, judge, slug};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// How many names are offered to somebody whose name was not found.
const NEAREST: usize = 5;

/// What a reference led to.
#[derive(Clone, Debug)]
pub enum Lookup<'a> {
    /// A skill that the user can use. Whether the model may is a matter of its state.
    Found(EntryId, &'a Entry),
    /// A skill that cannot be used as it stands; its state says why.
    Unusable(EntryId, &'a Entry),
    /// Skills of that name, none of them in a version that was asked for; the versions there are, by precedence.
    NoVersion(Vec<String>),
    /// Several skills that are meant equally; their names differ, so none goes first.
    Ambiguous(Vec<(EntryId, &'a Entry)>),
    /// A file that should be that skill and is none.
    Failed(&'a Failure),
    /// Nothing; with the names that may have been meant.
    NotFound(Vec<String>),
}

/// A reference that does not lead to a usable skill, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// What was asked for.
    pub reference: String,
    /// Why it cannot be had, lower case, without a full stop.
    pub problem: String,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.reference, self.problem)
    }
}

impl Snapshot {
    /// Finds the skill that a reference means.
    ///
    /// The name it is called by goes first; then the name of its folder and its title, where no other skill is called
    /// that. Without a requirement the holder of the name is meant, with one the highest version that satisfies it.
    pub fn find(&self, reference: &Reference) -> Lookup<'_> {
        let in_origin = |ids: Vec<EntryId>| -> Vec<EntryId> {
            let is_in = |id: &EntryId| {
                let entry = &self.entries[id.at()];
                match &reference.origin {
                    Some(wanted) => self.root(entry).origin.is_in(wanted),
                    // A server's skill is meant by its whole name only.
                    None => entry.remote().is_none(),
                }
            };
            ids.into_iter().filter(is_in).collect()
        };
        let is_able = |id: &EntryId| self.entries[id.at()].state.holds_name();
        let mut candidates = in_origin(self.called(&reference.name));
        // A skill that cannot be used does not keep another from its second name, any more than from its first.
        if !candidates.iter().any(is_able) {
            let known = in_origin(self.known_as(&reference.name));
            if candidates.is_empty() || known.iter().any(is_able) {
                candidates = known;
            }
            let able: Vec<EntryId> = candidates.iter().copied().filter(is_able).collect();
            let mut names = able.iter().map(|id| self.entries[id.at()].name());
            let first = names.next();
            if names.any(|name| Some(name) != first) {
                return Lookup::Ambiguous(able.into_iter().map(|id| (id, &self.entries[id.at()])).collect());
            }
        }
        let Some(first) = candidates.first().copied() else { return self.failed_or_missing(reference) };
        let found = match &reference.requirement {
            Some(requirement) => {
                let able = candidates.iter().filter(|id| self.entries[id.at()].state.holds_name());
                let matching =
                    able.filter(|id| requirement.matches(self.entries[id.at()].version().as_ref()));
                let best = self.highest(matching.copied());
                if best.is_none() && candidates.iter().any(is_able) {
                    return Lookup::NoVersion(self.versions(&candidates));
                }
                best
            }
            None => self.holder(&candidates),
        };
        match found {
            Some(id) => Lookup::Found(id, &self.entries[id.at()]),
            None => Lookup::Unusable(first, &self.entries[first.at()]),
        }
    }

    /// Finds every skill of a list, or says everything that is wrong with it at once.
    pub fn resolve<'a>(
        &self,
        references: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<EntryId>, Vec<Unresolved>> {
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        for written in references {
            let problem = match written.parse::<Reference>() {
                Err(error) => error.to_string(),
                Ok(reference) => match self.find(&reference) {
                    Lookup::Found(id, _) => {
                        found.push(id);
                        continue;
                    }
                    lookup => self.in_words(&lookup),
                },
            };
            problems.push(Unresolved { reference: written.to_owned(), problem });
        }
        if problems.is_empty() { Ok(found) } else { Err(problems) }
    }

    /// What a lookup says, as the end of a sentence.
    pub fn in_words(&self, lookup: &Lookup<'_>) -> String {
        match lookup {
            Lookup::Found(_, entry) => format!("found in `{}`", self.folder(entry).display()),
            Lookup::Unusable(_, entry) => {
                format!("the skill in `{}` is {}", self.folder(entry).display(), entry.state)
            }
            Lookup::NoVersion(versions) => format!("no such version; there is {}", versions.join(", ")),
            Lookup::Ambiguous(entries) => {
                let names: Vec<_> = entries.iter().map(|(_, entry)| format!("`{}`", entry.name())).collect();
                format!("could be {}", names.join(" or "))
            }
            Lookup::Failed(failure) => failure
                .reason()
                .map_or_else(|| "the skill could not be loaded".to_owned(), |reason| reason.message.clone()),
            Lookup::NotFound(nearest) if nearest.is_empty() => "there is no such skill".to_owned(),
            Lookup::NotFound(nearest) => {
                let names: Vec<_> = nearest.iter().map(|name| format!("`{name}`")).collect();
                format!("there is no such skill; did you mean {}?", names.join(" or "))
            }
        }
    }

    /// The entries called by a name, by precedence.
    pub(crate) fn called(&self, name: &str) -> Vec<EntryId> {
        let chain = callable(name).and_then(|name| self.names.get(&self.entries, name.as_str()));
        chain.map(|chain| members(&self.entries, chain).collect()).unwrap_or_default()
    }

    /// What its folder calls a skill, where that is another name that leads to it: no skill is called so.
    pub fn folder_alias(&self, entry: &Entry) -> Option<String> {
        let folder = folder_name(self.layout(), entry)?;
        (folder != entry.name().as_str() && self.called(&folder).is_empty()).then_some(folder)
    }

    /// The entries whose folder or title is `name`, by precedence.
    fn known_as(&self, name: &str) -> Vec<EntryId> {
        let normal = |text: &str| text.nfkc().collect::<String>();
        let (wanted, call) = (normal(name.trim()), slug(name));
        let is_meant = |entry: &Entry| {
            folder_name(self.layout(), entry).is_some_and(|folder| normal(&folder) == wanted)
                || entry.title().is_some_and(|title| normal(title) == wanted)
        };
        let mut found: Vec<_> =
            self.entries().filter(|(_, entry)| is_meant(entry)).map(|(id, _)| id).collect();
        if found.is_empty() && call != name {
            found = self.called(&call);
        }
        found
    }

    /// Who is meant by a name alone: the holder, or among some of the name's entries whoever would be.
    fn holder(&self, candidates: &[EntryId]) -> Option<EntryId> {
        let state = |id: &EntryId| self.entries[id.at()].state;
        if let Some(holder) = candidates.iter().find(|id| self.entries[id.at()].relation == Relation::Holder)
        {
            return Some(*holder);
        }
        let first = candidates.iter().find(|id| state(id).holds_name())?;
        let root = self.entries[first.at()].root;
        let same_root =
            candidates.iter().filter(|id| self.entries[id.at()].root == root && state(id).holds_name());
        self.highest(same_root.copied())
    }

    /// The highest version; of equals the first.
    fn highest(&self, candidates: impl Iterator<Item = EntryId>) -> Option<EntryId> {
        let version = |id: EntryId| self.entries[id.at()].version();
        candidates.reduce(
            |best, id| {
                if rank(version(id).as_ref(), version(best).as_ref()).is_gt() { id } else { best }
            },
        )
    }

    fn versions(&self, candidates: &[EntryId]) -> Vec<String> {
        let mut versions = Vec::new();
        for id in candidates {
            let entry = &self.entries[id.at()];
            let version = entry.version_text().map_or_else(|| "one without a version".to_owned(), Into::into);
            if entry.state.holds_name() && !versions.contains(&version) {
                versions.push(version);
            }
        }
        versions
    }

    /// The files that should be a skill of that name, judged by their folders, and are none.
    pub(crate) fn failures_called<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Failure> {
        self.failures().iter().filter(move |failure| {
            let folder = below(&self.layout().roots[failure.root].path, &failure.folder);
            folder_call_name(&folder).is_some_and(|folder| folder == name)
        })
    }

    fn failed_or_missing(&self, reference: &Reference) -> Lookup<'_> {
        let is_meant = |failure: &&Failure| {
            let origin = &self.layout().roots[failure.root].origin;
            reference.origin.as_ref().is_none_or(|wanted| origin.is_in(wanted))
        };
        if let Some(failure) = self.failures_called(&reference.name).find(is_meant) {
            return Lookup::Failed(failure);
        }
        let names = self.entries.iter().map(Entry::call_name);
        let near = nearest(&reference.name, names, NEAREST);
        Lookup::NotFound(near.into_iter().map(str::to_owned).collect())
    }
}

/// A text as the name of a skill, if it can be one.
fn callable(text: &str) -> Option<SkillName> {
    match judge(text) {
        Naming::Canonical(name) | Naming::Accepted(name, _) => Some(name),
        Naming::Slugged { .. } | Naming::Refused(_) => None,
    }
}

//! How each skill stands on its own, before anybody else's name matters.

use super::Circumstances;
use crate::config::Visibility;
use crate::entry::{Entry, Relation, State, folder_call_name};
use crate::root::RootTrust;
use crate::snapshot::{Failure, Include};
use crate::trust::is_trusted;
use std::collections::HashSet;
use std::path::Path;

pub(super) fn stand(entries: &mut [Entry], circumstances: &Circumstances<'_>) {
    let settings = &circumstances.layout.settings;
    let has_rules = settings.has_rules();
    let mut around = Around::new(circumstances.failures);
    for entry in entries {
        let root = &circumstances.layout.roots[entry.root as usize];
        let says = if has_rules {
            settings.visibility(entry.card.name.as_str(), &root.origin).map(|(visibility, _)| visibility)
        } else {
            None
        };
        let nested = circumstances.include == Include::Nested && !root.nested && around.holds(entry);
        let disabled = &circumstances.disabled[entry.root as usize];
        let is_disabled = || names_of(entry, &root.path).iter().any(|name| disabled.contains(name));
        entry.state = if says == Some(Visibility::Off) {
            State::Off
        } else if !disabled.is_empty() && is_disabled() {
            State::Disabled
        } else if root.trust == RootTrust::Untrusted
            || entry.lacks_approval()
            || !is_trusted(circumstances.layout, entry)
        {
            State::Untrusted
        } else if nested {
            State::Nested
        } else if entry.user_only.is_some() || says == Some(Visibility::UserOnly) {
            // The skill's own word is not overruled: a configuration can take from the model, not give to it.
            State::UserOnly
        } else if says == Some(Visibility::NameOnly) {
            State::NameOnly
        } else {
            State::Ready
        };
        entry.relation = if entry.state.holds_name() { Relation::Holder } else { Relation::Aside };
    }
}

/// Every name that `.disabled.json` may know a skill by, the one it is called by first. `OpenPollen` writes the name as the
/// skill does, which may be a title here; people write what they see, which is often the folder.
pub(crate) fn names_of(entry: &Entry, root: &Path) -> Vec<String> {
    let folder = folder_call_name(&entry.folder).or_else(|| folder_call_name(root));
    let mut names = vec![entry.card.name.as_str().to_owned()];
    for name in entry.title().map(str::to_owned).into_iter().chain(folder.map(std::borrow::Cow::into_owned)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The skill around the one that is looked at. Entries are in the order of their paths, so one is enough to remember.
struct Around<'a> {
    skill: Option<(u16, Box<Path>)>,
    /// A skill that was refused is around others all the same.
    refused: HashSet<(usize, &'a Path)>,
}

impl<'a> Around<'a> {
    fn new(failures: &'a [Failure]) -> Self {
        Self {
            skill: None,
            refused: failures.iter().map(|failure| (failure.root, &*failure.folder)).collect(),
        }
    }

    fn holds(&mut self, entry: &Entry) -> bool {
        if let Some((root, folder)) = &self.skill
            && *root == entry.root
            && entry.folder.starts_with(folder)
        {
            return true;
        }
        self.skill = Some((entry.root, entry.folder.clone()));
        entry.folder.ancestors().skip(1).any(|folder| self.refused.contains(&(entry.root as usize, folder)))
    }
}

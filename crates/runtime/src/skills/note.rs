//! What became of the skills while a conversation went on.

use std::collections::HashMap;
use std::path::PathBuf;

use metier_catalog::{Change, ChangeKind};
use metier_diagnostic::visible;

use super::ledger::UnreadChanges;
use crate::toolset::Visible;

/// How many names one line of a note has: enough to choose from. A note is read once and stays in the conversation for good.
const MAX_NAMES: usize = 20;

/// What became of the skills since the session last looked: which came, which went, which are other, which broke.
///
/// The catalogue and the tools that the model was given stay as they are, to the byte, so that whatever the model's server
/// keeps of them holds; [`Note::text`] goes into the conversation instead, wherever its next message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Every change, one for each skill, in the order in which they happened; also of skills that the model may not know of.
    pub changes: Vec<Change>,
    /// How many changes came before these and are not remembered: the session did not look for very long.
    pub missed: u64,
    lines: Vec<(ChangeKind, Vec<String>)>,
}

impl Note {
    /// The note of changes, where there are any. `before` is what the model could use, `now` what it can.
    pub(super) fn of(unread: UnreadChanges, before: &Visible, now: &Visible) -> Option<Self> {
        let (changes, missed) = (settled(unread.changes), unread.missed);
        if changes.is_empty() && missed == 0 {
            return None;
        }
        let mut lines: Vec<(ChangeKind, Vec<String>)> = Vec::new();
        for kind in [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Changed, ChangeKind::Broken] {
            let names = changes.iter().filter_map(|change| {
                // To the model a skill comes when it may use it, whatever it was before.
                let (was, is) = (before.offers(&change.name), now.offers(&change.name));
                let told = match (was, is, change.kind) {
                    (false, false, _) => return None,
                    (false, true, _) => ChangeKind::Added,
                    (true, false, _) => ChangeKind::Removed,
                    (true, true, ChangeKind::Broken) => ChangeKind::Broken,
                    (true, true, _) => ChangeKind::Changed,
                };
                (told == kind).then(|| change.name.clone())
            });
            let mut names: Vec<String> = names.collect();
            names.sort();
            names.dedup();
            if !names.is_empty() {
                lines.push((kind, names));
            }
        }
        Some(Self { changes, missed, lines })
    }

    /// The note as the model gets it: only skills that it may use or could. Nothing where it is not concerned.
    pub fn text(&self) -> Option<String> {
        if self.lines.is_empty() && self.missed == 0 {
            return None;
        }
        let mut text = String::from("The available skills have changed since they were listed:");
        for (kind, names) in &self.lines {
            let more = names.len().saturating_sub(MAX_NAMES);
            let shown: Vec<String> =
                names.iter().take(MAX_NAMES).map(|name| visible(name).into_owned()).collect();
            let shown = shown.join(", ");
            let shown = if more == 0 { shown } else { format!("{shown} and {more} more") };
            let (word, rest) = match kind {
                ChangeKind::Added => ("new", "can be used from now on"),
                ChangeKind::Removed => ("gone", "cannot be used any more"),
                ChangeKind::Broken => ("broken", "cannot be activated until the file is mended"),
                ChangeKind::Changed | ChangeKind::Mended => (
                    "changed",
                    "what was said of it before stays as it was; activate it again to get what it says now",
                ),
            };
            text.push_str(&format!("\n- {word}: {shown} ({rest})"));
        }
        if self.missed > 0 {
            text.push_str("\n- and more, of which nothing is remembered");
        }
        Some(text)
    }
}

/// One change for each skill: what is left of several.
fn settled(news: impl IntoIterator<Item = Change>) -> Vec<Change> {
    let mut changes: Vec<Option<Change>> = Vec::new();
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    for change in news {
        let Some(before) = places.get(&change.path).and_then(|at| changes.get_mut(*at)) else {
            places.insert(change.path.clone(), changes.len());
            changes.push(Some(change));
            continue;
        };
        let kind = match (before.as_ref().map(|before| before.kind), change.kind) {
            // What came and went was never there for anybody who did not look.
            (Some(ChangeKind::Added), ChangeKind::Removed) => None,
            (Some(ChangeKind::Added), ChangeKind::Broken) => Some(ChangeKind::Broken),
            (Some(ChangeKind::Added), _) => Some(ChangeKind::Added),
            (Some(ChangeKind::Removed), ChangeKind::Added) => Some(ChangeKind::Changed),
            (_, kind) => Some(kind),
        };
        *before = kind.map(|kind| Change { kind, ..change });
    }
    changes.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_changes_of_one_skill_are_told_as_one() {
        use ChangeKind::{Added, Broken, Changed, Mended, Removed};
        let check = |kinds: &[ChangeKind], expect: Option<ChangeKind>| {
            let news = kinds.iter().map(|kind| Change {
                kind: *kind,
                name: "a".to_owned(),
                path: "/s/a/SKILL.md".into(),
                state: None,
                reason: None,
            });
            let kind = settled(news).first().map(|change| change.kind);
            assert_eq!(kind, expect, "{kinds:?}");
        };
        check(&[Added, Removed], None);
        check(&[Added, Removed, Added], Some(Added));
        check(&[Added, Changed], Some(Added));
        check(&[Added, Broken, Mended], Some(Mended));
        check(&[Removed, Added], Some(Changed));
        check(&[Changed, Removed], Some(Removed));
        check(&[Broken, Mended], Some(Mended));
        check(&[Changed, Broken], Some(Broken));
    }
}

//! Names given out: each its own, and a number behind a slug that is taken.

use super::names::{Chain, NameHasher, Names};
use crate::code;
use crate::entry::Entry;
use crate::layout::Layout;
use crate::place::{document_path, report_on};
use metier_skill::SkillName;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The chains with more than one entry, by the first.
pub(super) type Shared = BTreeMap<u32, Chain>;

/// Puts every entry on the chain of its name.
///
/// A written name that cannot be called is called by its slug. Where another skill of the same root is called that and
/// was written differently, the two are not the same skill: the one with the slug gets a number, and of two slugs the
/// later by path. What was written alike is a matter of versions and precedence, not of numbers.
pub(super) fn give_names(entries: &mut [Entry], layout: &Layout, hasher: NameHasher) -> (Names, Shared) {
    let mut names = Names::new(hasher, entries.len());
    let mut shared = Shared::new();
    let mut clashes = Clashes::default();
    let mut append = |names: &mut Names, entries: &mut [Entry], at| {
        if let Some(chain) = names.append(entries, at) {
            shared.insert(chain.first.0, chain);
        }
    };
    let mut start = 0;
    while start < entries.len() {
        let root = entries[start].root;
        let end = start + entries[start..].partition_point(|entry| entry.root == root);
        // A skill that was written as it is called keeps its name, so those go first.
        let mut titled = Vec::new();
        for at in start..end {
            if entries[at].is_titled {
                titled.push(at);
            } else {
                append(&mut names, entries, at);
            }
        }
        for at in titled {
            clashes.settle(entries, &names, layout, at);
            append(&mut names, entries, at);
        }
        start = end;
    }
    (names, shared)
}

/// What is known about slugs that clash. Kept so that ten thousand clashes are ten thousand steps and not their square.
#[derive(Default)]
struct Clashes {
    /// The name that a title was given in a root.
    given: HashMap<(u16, Box<str>), SkillName>,
    /// The last number that a slug was given in a root.
    numbers: HashMap<(u16, SkillName), usize>,
}

impl Clashes {
    fn settle(&mut self, entries: &mut [Entry], names: &Names, layout: &Layout, at: usize) {
        let (root, slug) = (entries[at].root, entries[at].card.name.clone());
        // Entries are put on chains root by root, so the last one tells whether this root has the name.
        let holder = |name: &SkillName| {
            let last = names.get(entries, name.as_str()).map(|chain| chain.last);
            last.filter(|last| entries[last.at()].root == root)
        };
        let Some(other) = holder(&slug) else { return };
        if entries[other.at()].card.title == entries[at].card.title {
            return;
        }
        let title = entries[at].card.title.clone().unwrap_or_default();
        let known = self.given.get(&(root, title.clone())).cloned();
        let name = known.unwrap_or_else(|| {
            let number = self.numbers.entry((root, slug.clone())).or_insert(1);
            let name = loop {
                *number += 1;
                let name = slug.numbered(*number);
                if holder(&name).is_none() {
                    break name;
                }
            };
            self.given.insert((root, title), name.clone());
            name
        });
        let other = document_path(layout, &entries[other.at()]);
        let message =
            format!("`{slug}` is also the name of `{}`, so this skill is called `{name}`", other.display());
        report_on(&mut entries[at], layout, &code::SLUG_CLASH, message, "give one of them another `name`");
        entries[at].hash = names.hash(name.as_str());
        Arc::make_mut(&mut entries[at].card).name = name;
    }
}

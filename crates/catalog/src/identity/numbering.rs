//! Names given out: each its own, and a number behind a slug that is taken.

use super::{Chain, Names};
use crate::code;
use crate::entry::{Entry, EntryId};
use crate::layout::Layout;
use crate::place::report_on;
use metier_skill::SkillName;
use std::collections::HashMap;

/// Puts every entry on the chain of its name.
///
/// A written name that cannot be called is called by its slug. Where another skill of the same root is called that and
/// was written differently, the two are not the same skill: the one with the slug gets a number, and of two slugs the
/// later by path. What was written alike is a matter of versions and precedence, not of numbers.
pub(super) fn give_names(entries: &mut [Entry], layout: &Layout) -> Names {
    let mut names = Names::with_capacity(entries.len());
    let mut clashes = Clashes::default();
    let mut start = 0;
    while start < entries.len() {
        let root = entries[start].root;
        let end = start + entries[start..].partition_point(|entry| entry.root == root);
        // A skill that was written as it is called keeps its name, so those go first.
        for at in start..end {
            if entries[at].card.title.is_none() {
                append(entries, &mut names, at);
            }
        }
        for at in start..end {
            if entries[at].card.title.is_some() {
                clashes.settle(entries, &names, layout, at);
                append(entries, &mut names, at);
            }
        }
        start = end;
    }
    names
}

fn append(entries: &mut [Entry], names: &mut Names, at: usize) {
    let id = EntryId::new(at);
    match names.get_mut(&entries[at].card.name) {
        Some(chain) => {
            entries[chain.last.at()].next = Some(id);
            chain.last = id;
        }
        None => {
            names.insert(entries[at].card.name.clone(), Chain { first: id, last: id });
        }
    }
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
        let holder = |name: &SkillName| {
            names.get(name).map(|chain| chain.last).filter(|last| entries[last.at()].root == root)
        };
        let Some(other) = holder(&slug) else { return };
        if entries[other.at()].card.title == entries[at].card.title {
            return;
        }
        let title = entries[at].card.title.clone().unwrap_or_default();
        let name = match self.given.get(&(root, title.clone())) {
            Some(name) => name.clone(),
            None => {
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
            }
        };
        let other = crate::place::document_path(layout, &entries[other.at()]);
        let message =
            format!("`{slug}` is also the name of `{}`, so this skill is called `{name}`", other.display());
        report_on(&mut entries[at], layout, &code::SLUG_CLASH, message, "give one of them another `name`");
        entries[at].card.name = name;
    }
}

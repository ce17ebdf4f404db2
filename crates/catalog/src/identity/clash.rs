//! Names that differ only in case or Unicode form.

use super::Names;
use crate::code;
use crate::entry::{Entry, EntryId};
use crate::layout::Layout;
use crate::place::{document_path, report_on};
use metier_skill::{Naming, SkillName, is_canonical, judge};
use std::collections::HashMap;

/// Reports every such name, at the later of the two by precedence. Names by the rules are their own folded form, so a set
/// of skills that keeps the rules costs one look at each name.
pub(super) fn report(entries: &mut [Entry], names: &Names, layout: &Layout) {
    let is_odd = |entry: &Entry| !is_canonical(entry.card.name.as_str());
    let odd: Vec<EntryId> = (0..entries.len())
        .filter(|at| is_odd(&entries[*at]))
        .map(EntryId::new)
        .filter(|id| names.get(&entries[id.at()].card.name).is_some_and(|chain| chain.first == *id))
        .collect();
    let mut seen: HashMap<String, EntryId> = HashMap::new();
    for id in odd {
        let name = entries[id.at()].card.name.clone();
        let folded = name.folded();
        let plain = named(&folded)
            .filter(|plain| *plain != name)
            .and_then(|plain| names.get(&plain))
            .map(|chain| chain.first);
        let earlier = plain.or_else(|| seen.get(&folded).copied());
        seen.entry(folded).or_insert(id);
        if let Some(other) = earlier {
            let (first, second) = if other < id { (other, id) } else { (id, other) };
            let message = format!(
                "`{}` and `{}` (`{}`) differ only in case or Unicode form",
                entries[second.at()].card.name,
                entries[first.at()].card.name,
                document_path(layout, &entries[first.at()]).display(),
            );
            report_on(
                &mut entries[second.at()],
                layout,
                &code::NAME_CASE_CLASH,
                message,
                "rename one of them",
            );
        }
    }
}

fn named(text: &str) -> Option<SkillName> {
    match judge(text) {
        Naming::Canonical(name) | Naming::Accepted(name, _) => Some(name),
        Naming::Slugged { .. } | Naming::Refused(_) => None,
    }
}

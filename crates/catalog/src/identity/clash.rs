//! Names that differ only in case or Unicode form.

use super::names::Names;
use crate::code;
use crate::entry::{Entry, EntryId};
use crate::layout::Layout;
use crate::place::{document_path, report_on};
use std::collections::HashMap;

/// Reports every such name, at the later of the two by precedence. Names by the rules are their own folded form, so a set
/// of skills that keeps the rules costs a look at one mark of each.
pub(super) fn report(entries: &mut [Entry], names: &Names, layout: &Layout) {
    let odd: Vec<EntryId> = (0..entries.len())
        .filter(|at| entries[*at].is_odd)
        .filter(|at| first(entries, names, entries[*at].card.name.as_str()) == Some(EntryId::new(*at)))
        .map(EntryId::new)
        .collect();
    let mut seen: HashMap<String, EntryId> = HashMap::new();
    for id in odd {
        let name = entries[id.at()].card.name.clone();
        let folded = name.folded();
        let plain = if folded == name.as_str() { None } else { first(entries, names, &folded) };
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

fn first(entries: &[Entry], names: &Names, name: &str) -> Option<EntryId> {
    names.get(entries, name).map(|chain| chain.first)
}

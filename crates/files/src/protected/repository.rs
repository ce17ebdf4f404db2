//! Repositories of git by their parts, whatever their folder is called.

use std::path::Path;

/// What git runs or obeys in the folder of a repository.
const OBEYED: [&str; 6] = ["config", "config.worktree", "hooks", "commondir", "modules", "worktrees"];

/// The parts of a repository by which git knows one.
const PARTS: [&str; 4] = [HEAD, "objects", "refs", "commondir"];

const HEAD: &str = "HEAD";

/// Folders of a repository in which single files are protected.
const HOLDERS: [&str; 4] = ["info", "rebase-merge", "rebase-apply", "sequencer"];

/// The folders of which a path is a part, or lies in one, if they are repositories.
pub fn maybe_repositories(path: &Path) -> impl Iterator<Item = &Path> {
    let is_part = |part: &&Path| PARTS.iter().chain(&OBEYED).chain(&HOLDERS).any(|name| part.ends_with(name));
    path.ancestors().filter(is_part).filter_map(Path::parent)
}

/// Whether git takes a folder with these parts for a repository.
pub fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    // With `commondir` the rest is elsewhere.
    has(HEAD) && (has("commondir") || has("objects") && has("refs"))
}

/// The parts that make a folder a repository which was none. Without them it stays none, whatever else of the changes is applied.
pub fn completing_parts(
    had: impl Fn(&str) -> bool,
    has: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &'static str> {
    let is_completed = is_repository(&has) && !is_repository(&had);
    let is_new = |name: &str| has(name) && !had(name);
    let (has_new_head, new) = (is_new(HEAD), PARTS.map(|name| (name, is_new(name))));
    new.into_iter()
        .filter(move |(name, is_new)| is_completed && *is_new && (!has_new_head || *name == HEAD))
        .map(|(name, _)| name)
}

/// Whether git runs or obeys a path in a repository of this folder.
pub fn is_obeyed_in(repository: &Path, path: &Path) -> bool {
    let first = path.strip_prefix(repository).ok().and_then(|inside| inside.iter().next());
    first.is_some_and(|first| OBEYED.iter().any(|obeyed| first.eq_ignore_ascii_case(obeyed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_that_make_a_repository_of_a_folder_are_known() {
        let check = |had: &[&str], added: &[&str], expect: &[&str]| {
            let has = |name: &str| had.contains(&name) || added.contains(&name);
            let found: Vec<_> = completing_parts(|name| had.contains(&name), has).collect();
            assert_eq!(found, expect, "{had:?} and {added:?}");
        };
        check(&["config"], &["HEAD", "objects", "refs"], &["HEAD"]);
        check(&["config", "HEAD"], &["objects", "refs"], &["objects", "refs"]);
        check(&["HEAD", "objects"], &["refs"], &["refs"]);
        check(&["HEAD"], &["commondir"], &["commondir"]);
        check(&["commondir"], &["HEAD"], &["HEAD"]);
        check(&["HEAD", "objects", "refs"], &["commondir"], &[]);
        check(&[], &["HEAD", "objects"], &[]);
    }
}

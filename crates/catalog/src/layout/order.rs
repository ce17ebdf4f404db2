//! One real folder, one root; one label, one root.

use crate::origin::{Class, Origin};
use crate::root::Root;
use std::collections::HashMap;

/// Takes out roots that are the same real folder as another one and gives each its final origin.
pub(super) fn settle(roots: &mut Vec<Root>) {
    drop_repeats(roots);
    name(roots);
}

/// The first of two roots stays, with one exception: what is a user root counts as the user root, also where a project
/// has it. A project that contains the user's folders (a repository of dotfiles) must not make them untrusted.
fn drop_repeats(roots: &mut Vec<Root>) {
    let mut stays = Vec::with_capacity(roots.len());
    for (at, root) in roots.iter().enumerate() {
        let same = |other: &Root| match (&root.real, &other.real) {
            (Some(a), Some(b)) => a == b,
            // Neither exists: the path itself tells, as where the current folder is the project's.
            (None, None) => root.path == other.path,
            _ => false,
        };
        let earlier = roots[..at].iter().any(|other| same(other) && !yields(other, root));
        let later = roots[at + 1..].iter().any(|other| same(other) && yields(root, other));
        stays.push(!earlier && !later);
    }
    let mut stays = stays.into_iter();
    roots.retain(|_| stays.next().unwrap_or(true));
}

fn yields(root: &Root, to: &Root) -> bool {
    root.origin.class == Class::Project && to.origin.class == Class::User
}

/// Where a class has one root its name is enough; where it has several the label follows, and a label that is taken gets
/// a number. The folders of a crew share their label: together they are one place.
fn name(roots: &mut [Root]) {
    let mut count: HashMap<Class, usize> = HashMap::new();
    for root in roots.iter() {
        *count.entry(root.origin.class).or_default() += 1;
    }
    let mut taken: HashMap<Origin, usize> = HashMap::new();
    for root in roots {
        let class = root.origin.class;
        // A server is called by its label, however many there are: its skills keep their names when another comes.
        if count.get(&class) == Some(&1) && class != Class::Mcp {
            root.origin = Origin::class(class);
            continue;
        }
        let times = taken.entry(root.origin.clone()).or_default();
        *times += 1;
        let label = root.origin.label.as_deref().unwrap_or_default();
        if *times > 1 && label != "crew" {
            root.origin = Origin::labelled(class, &format!("{label}-{times}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::RootTrust;

    fn root(class: Class, label: &str, real: &str) -> Root {
        let mut root = Root::new(class, label, format!("/m-none{real}").into(), RootTrust::Trusted);
        root.real = Some(real.into());
        root
    }

    fn settled(mut roots: Vec<Root>) -> Vec<String> {
        settle(&mut roots);
        roots
            .iter()
            .map(|root| format!("{} {}", root.origin, root.real.as_ref().unwrap().display()))
            .collect()
    }

    #[test]
    fn the_same_folder_counts_once_and_as_the_users_where_it_is_the_users() {
        let roots = vec![
            root(Class::Project, "metier", "/p/.metier/skills"),
            root(Class::Project, "claude", "/home/.claude/skills"),
            root(Class::User, "claude", "/home/.claude/skills"),
            root(Class::User, "agents", "/home/.agents/skills"),
            root(Class::Config, "agents", "/home/.agents/skills"),
            root(Class::Config, "team", "/srv/team"),
        ];
        let expected = [
            "project /p/.metier/skills",
            "user.claude /home/.claude/skills",
            "user.agents /home/.agents/skills",
            "config /srv/team",
        ];
        assert_eq!(settled(roots), expected);
    }

    #[test]
    fn labels_are_told_apart_by_numbers_except_a_crews() {
        let roots = vec![
            root(Class::Project, "claude", "/p/a/.claude/skills"),
            root(Class::Project, "claude", "/p/.claude/skills"),
            root(Class::Project, "crew", "/p/x"),
            root(Class::Project, "crew", "/p/y"),
        ];
        let expected = [
            "project.claude /p/a/.claude/skills",
            "project.claude-2 /p/.claude/skills",
            "project.crew /p/x",
            "project.crew /p/y",
        ];
        assert_eq!(settled(roots), expected);
    }
}

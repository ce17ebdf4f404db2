//! Random trees: many workers find what one finds, and what the plainest walk finds.

use std::fs;
use std::path::{Path, PathBuf};

use metier_testkit::Workspace;
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Thing {
    Skill,
    LowerCaseSkill,
    Fifo,
    Folder,
    File,
    Link(String),
}

/// Paths of up to five parts from three names, so that things meet.
fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof!["[ab]", Just("a-b".to_owned())], 1..6).prop_map(|parts| parts.join("/"))
}

fn thing(links: bool) -> impl Strategy<Value = Thing> {
    let target = prop_oneof![path().prop_map(|path| format!("root/{path}")), path(), Just(String::new())];
    prop_oneof![
        4 => Just(Thing::Skill),
        1 => Just(Thing::LowerCaseSkill),
        1 => Just(Thing::Fifo),
        2 => Just(Thing::Folder),
        1 => Just(Thing::File),
        (if links { 6 } else { 0 }) => target.prop_map(Thing::Link),
    ]
}

/// Makes what can be made; where a file stands in the way of a folder, or something is there already, the thing is
/// left out.
fn build(things: &[(String, Thing)]) -> Workspace {
    let mut workspace = Workspace::new().dir("root");
    for (path, thing) in things {
        let place = workspace.join("root").join(path);
        let is_free = |place: &Path| fs::symlink_metadata(place).is_err();
        let has_way = place
            .ancestors()
            .skip(1)
            .take_while(|above| above.starts_with(workspace.path()))
            .all(|above| fs::symlink_metadata(above).map_or(true, |metadata| metadata.is_dir()));
        if !has_way || (!is_free(&place) && !place.is_dir()) {
            continue;
        }
        let inside = format!("root/{path}");
        workspace = match thing {
            Thing::Skill if is_free(&place.join("SKILL.md")) => workspace.skill(inside, "S."),
            Thing::LowerCaseSkill => workspace.file(format!("{inside}/skill.md"), "---\n---\n"),
            Thing::Fifo if is_free(&place.join("SKILL.md")) => workspace.fifo(format!("{inside}/SKILL.md")),
            Thing::Folder => workspace.dir(inside),
            Thing::File if is_free(&place) => workspace.file(inside, "x"),
            Thing::Link(target) if is_free(&place) => {
                let target = workspace.join(target);
                workspace.symlink(inside, target)
            }
            _ => workspace,
        };
    }
    workspace
}

/// The rule in its plainest form, for trees without links.
fn plain_walk(root: &Path, folder: &Path, depth: u16, found: &mut Vec<PathBuf>) {
    let place = root.join(folder);
    for name in ["SKILL.md", "skill.md"] {
        match fs::symlink_metadata(place.join(name)) {
            Ok(metadata) if metadata.is_file() => return found.push(folder.to_owned()),
            Ok(_) => return,
            Err(_) => {}
        }
    }
    let mut names: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        if depth > 0 && place.join(&name).is_dir() {
            plain_walk(root, &folder.join(name), depth - 1, found);
        }
    }
}

fn sweep_both(roots: &[SweepRoot], bounds: &Bounds) -> [(Sweep<PathBuf>, Extent); 2] {
    [Order::Any, Order::Sorted].map(|order| {
        round::sweep_in(order, roots, bounds, None, &|candidate: Candidate<'_>| candidate.folder.to_owned())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_sweep_finds_what_the_plainest_walk_finds(
        things in prop::collection::vec((path(), thing(false)), 0..40),
        depth in 0_u16..6,
    ) {
        let workspace = build(&things);
        let mut root = SweepRoot::new(workspace.join("root"), LinkPolicy::Anywhere);
        root.depth = depth;
        let mut expected = Vec::new();
        plain_walk(&root.path, Path::new(""), depth, &mut expected);
        for (sweep, extent) in sweep_both(&[root], &Bounds::default()) {
            let found: Vec<_> = sweep.found.iter().map(|found| found.folder.clone()).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert!(sweep.found.iter().all(|found| found.folder == found.value));
            prop_assert_eq!(extent, Extent::Whole);
        }
    }

    #[test]
    fn a_place_holds_what_the_whole_sweep_finds_there(
        things in prop::collection::vec((path(), thing(false)), 0..40),
        depth in 0_u16..6,
        nested in prop_oneof![Just(Nested::Skip), Just(Nested::Search)],
    ) {
        let workspace = build(&things);
        let root = SweepRoot { depth, nested, ..SweepRoot::new(workspace.join("root"), LinkPolicy::Anywhere) };
        let roots = [root];
        let visit = |candidate: Candidate<'_>| candidate.folder.to_owned();
        let whole = sweep(&roots, &Bounds::default(), visit);
        let known = whole.found.iter().map(|found| &found.folder).chain(whole.folders.iter().map(|place| &place.folder));
        for folder in known {
            let place = Place { root: 0, folder: folder.clone() };
            let part = sweep_places(&roots, &Bounds::default(), &[place], visit);
            let mut expected = whole.clone();
            expected.found.retain(|found| found.folder.starts_with(folder));
            expected.folders.retain(|place| place.folder.starts_with(folder));
            expected.problems = part.problems.clone();
            prop_assert_eq!(part, expected);
        }
    }

    #[test]
    fn many_workers_and_one_find_the_same_through_all_links(
        things in prop::collection::vec((path(), thing(true)), 0..40),
        depth in 0_u16..8,
        nested in prop_oneof![Just(Nested::Skip), Just(Nested::Search)],
        trusted in any::<bool>(),
    ) {
        let workspace = build(&things);
        let links = if trusted { LinkPolicy::Anywhere } else { LinkPolicy::Inside(Vec::new()) };
        let whole = SweepRoot { depth, nested, ..SweepRoot::new(workspace.join("root"), links) };
        let part = SweepRoot { path: workspace.join("root/a"), ..whole.clone() };
        for roots in [vec![whole.clone()], vec![part, whole]] {
            let [any, sorted] = sweep_both(&roots, &Bounds::default());
            prop_assert_eq!(&any, &sorted);
            // Nothing is found twice, and whatever a repeat stands for was found or is a folder on the way.
            let sweep = any.0;
            for (index, found) in sweep.found.iter().enumerate() {
                let real = roots[found.root].path.join(&found.folder).canonicalize().unwrap();
                prop_assert_eq!(found.real.as_ref().unwrap_or(&real), &real);
                for other in &sweep.found[..index] {
                    prop_assert_ne!(roots[other.root].path.join(&other.folder).canonicalize().unwrap(), real.clone());
                }
            }
            for repeat in &sweep.repeats {
                let [here, there] = [&repeat.place, &repeat.same_as]
                    .map(|place| roots[place.root].path.join(&place.folder).canonicalize().unwrap());
                prop_assert_eq!(here, there);
            }
        }
    }

    #[test]
    fn a_bound_on_entries_is_the_same_bound_for_many_workers(
        things in prop::collection::vec((path(), thing(true)), 0..40),
        entries in 0_usize..40,
    ) {
        let workspace = build(&things);
        let roots = [SweepRoot::new(workspace.join("root"), LinkPolicy::Anywhere)];
        let bounds = Bounds { entries, ..Bounds::default() };
        let [any, sorted] = sweep_both(&roots, &bounds);
        prop_assert_eq!(any.1, sorted.1);
        let is_told = sorted.0.problems.contains(&Problem::EntryBound { limit: entries });
        prop_assert_eq!(is_told, sorted.1 == Extent::Truncated);
    }
}

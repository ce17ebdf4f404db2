//! The bounds on depth and entries.

use metier_files::{Bounds, Problem, SweepRoot};
use metier_testkit::Workspace;

use crate::support::{confined, sweep_documents, tell, told, trusted};

#[test]
fn a_skill_at_the_depth_is_found_and_one_below_it_is_reported_once() {
    let workspace = Workspace::new()
        .skill("root/one", "1.")
        .skill("root/a/two", "2.")
        .skill("root/b/b/three", "3.")
        .skill("root/c/c/three", "3.")
        .skill("root/c/c/c/four", "4.");
    let at = |depth| told(&workspace, &[SweepRoot { depth, ..trusted(&workspace) }]);
    assert_eq!(at(0), "the folders in `root/` are deeper than 0 and were not searched\n");
    assert_eq!(at(1), "found one\nthe folders in `root/a` are deeper than 1 and were not searched\n");
    assert_eq!(
        at(2),
        "found a/two\nfound one\nthe folders in `root/b/b` are deeper than 2 and were not searched\n"
    );
    assert_eq!(
        at(3),
        "found a/two\nfound b/b/three\nfound c/c/three\nfound one\n\
         the folders in `root/c/c/c` are deeper than 3 and were not searched\n",
    );
    assert!(at(4).ends_with("found one\n"));
}

#[test]
fn nothing_is_reported_where_nothing_was_left_out() {
    let workspace = Workspace::new()
        .skill("root/a/skill/deep/deeper", "A skill's own folder is not searched.")
        .file("root/a/skill/SKILL.md", "---\n---\n")
        .file("root/a/files/README.md", "only files")
        .dir("root/a/packages/node_modules");
    let root = SweepRoot { depth: 2, ..trusted(&workspace) };
    assert_eq!(told(&workspace, &[root]), "found a/skill\n");
}

#[test]
fn each_root_has_its_own_depth() {
    let workspace = Workspace::new().skill("root/a/b/skill", "S.").skill("second/a/b/skill", "S.");
    let second = SweepRoot::new(workspace.join("second"), metier_files::LinkPolicy::Anywhere);
    let roots = [SweepRoot { depth: 1, ..trusted(&workspace) }, SweepRoot { depth: 2, ..second }];
    assert_eq!(
        told(&workspace, &roots),
        "the folders in `root/a` are deeper than 1 and were not searched\n\
         the folders in `second/a/b` are deeper than 2 and were not searched\n",
    );
}

#[test]
fn depth_counts_through_links() {
    let workspace =
        Workspace::new().skill("allowed/group/sub/skill", "S.").symlink("root/link", "../allowed/group");
    let at = |depth| told(&workspace, &[SweepRoot { depth, ..confined(&workspace) }]);
    assert_eq!(at(3), "found link/sub/skill at allowed/group/sub/skill\n");
    assert_eq!(at(2), "the folders in `root/link/sub` are deeper than 2 and were not searched\n");
    assert_eq!(at(1), "the folders in `root/link` are deeper than 1 and were not searched\n");
}

#[test]
fn too_many_entries_are_one_problem_and_the_same_skills_every_time() {
    let mut workspace = Workspace::new();
    for number in 0..300 {
        workspace = workspace.skill(format!("root/skill-{number:03}"), "S.");
    }
    let roots = [trusted(&workspace)];
    let bounds = Bounds { entries: 100, ..Bounds::default() };
    let first = sweep_documents(&roots, &bounds);
    assert_eq!(first.found.len(), 100);
    assert_eq!(first.problems, [Problem::EntryBound { limit: 100 }]);
    assert!(first.found.is_sorted_by_key(|found| found.folder.clone()));
    for _ in 0..10 {
        assert_eq!(sweep_documents(&roots, &bounds), first);
    }

    let all = Bounds { entries: 300, ..Bounds::default() };
    let whole = sweep_documents(&roots, &all);
    assert_eq!((whole.found.len(), whole.problems.len()), (300, 0));
}

#[test]
fn skills_beside_a_huge_folder_are_found_before_it_uses_up_the_bound() {
    let mut workspace = Workspace::new();
    for number in 0..400 {
        workspace = workspace.file(format!("root/data/file-{number:03}"), "");
    }
    let workspace = workspace.skill("root/alpha", "A.").skill("root/zeta", "Z.").skill("root/zoo/late", "L.");
    let bounds = Bounds { entries: 50, ..Bounds::default() };
    let sweep = sweep_documents(&[trusted(&workspace)], &bounds);
    assert_eq!(
        tell(&workspace, &sweep),
        "found alpha\nfound zeta\nthere are more than 50 files and folders, and the rest was not searched\n",
    );
}

#[test]
fn an_earlier_root_is_whole_when_a_later_one_is_cut() {
    let mut workspace = Workspace::new();
    for number in 0..80 {
        workspace = workspace.skill(format!("root/skill-{number:02}"), "S.");
        workspace = workspace.skill(format!("second/skill-{number:02}"), "S.");
    }
    let second = SweepRoot::new(workspace.join("second"), metier_files::LinkPolicy::Anywhere);
    let bounds = Bounds { entries: 100, ..Bounds::default() };
    let sweep = sweep_documents(&[trusted(&workspace), second], &bounds);
    assert_eq!(sweep.found.iter().filter(|found| found.root == 0).count(), 80);
    assert_eq!(sweep.found.iter().filter(|found| found.root == 1).count(), 20);
    assert_eq!(sweep.problems, [Problem::EntryBound { limit: 100 }]);
}

//! Workers race, results do not.

use std::collections::BTreeSet;

use metier_files::{Bounds, LinkPolicy, SweepRoot, sweep};
use metier_testkit::Workspace;

use crate::support::{sweep_documents, tell};

/// Enough for several workers, in all the shapes that are shared differently: flat, in groups, deep, and linked.
fn varied() -> Workspace {
    let mut workspace = Workspace::new();
    for number in 0..1300 {
        workspace = workspace.skill(format!("flat/skill-{number:04}"), "F.");
    }
    for group in 0..30 {
        for number in 0..20 {
            workspace = workspace.skill(format!("groups/team-{group:02}/skill-{number:02}"), "G.");
        }
        let target = format!("../groups/team-{:02}", 29 - group);
        workspace = workspace.symlink(format!("linked/alias-{group:02}"), &target);
        workspace = workspace.symlink(format!("linked/other-{group:02}"), &target);
        workspace = workspace
            .symlink(format!("groups/team-{group:02}/next"), format!("../team-{:02}", (group + 1) % 30));
        workspace = workspace.symlink(format!("linked/nowhere-{group:02}"), "missing");
    }
    let mut deep = String::from("deep");
    for level in 0..12 {
        deep = format!("{deep}/level-{level}");
        workspace = workspace.skill(format!("{deep}/skill-a"), "D.").skill(format!("{deep}/skill-b"), "D.");
        workspace = workspace.fifo(format!("{deep}/pipe/SKILL.md"));
    }
    workspace
}

#[test]
fn twenty_sweeps_are_equal_to_the_last_byte() {
    let workspace = varied();
    let folders = ["linked", "flat", "groups", "deep"].map(|name| workspace.join(name));
    let roots = folders.clone().map(|path| SweepRoot::new(path, LinkPolicy::Inside(folders.to_vec())));
    let first = sweep_documents(&roots, &Bounds::default());
    // Linked groups come first, as their root does; the groups' own root then only repeats them.
    assert_eq!(first.found.len(), 600 + 1300 + 2 * 10 - 2, "{}", tell(&workspace, &first));
    assert!(first.repeats.len() >= 600 + 30);
    for _ in 0..20 {
        assert_eq!(sweep_documents(&roots, &Bounds::default()), first);
    }
}

#[test]
fn every_skill_is_visited_once_however_the_work_is_shared() {
    let workspace = varied();
    let roots =
        ["flat", "groups", "deep"].map(|name| SweepRoot::new(workspace.join(name), LinkPolicy::Anywhere));
    for _ in 0..20 {
        let visits = std::sync::Mutex::new(Vec::new());
        let sweep = sweep(&roots, &Bounds::default(), |candidate| {
            visits.lock().unwrap().push((candidate.root, candidate.folder.to_owned()));
        });
        let visits = visits.into_inner().unwrap();
        let distinct: BTreeSet<_> = visits.iter().cloned().collect();
        assert_eq!(visits.len(), distinct.len());
        let found: BTreeSet<_> = sweep.found.into_iter().map(|found| (found.root, found.folder)).collect();
        assert_eq!(found, distinct);
    }
}

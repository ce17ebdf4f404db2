//! Links: where they may lead, that they end, and that nothing is found twice.

use metier_files::{LinkPolicy, Nested, SweepRoot};
use metier_testkit::Workspace;

use crate::support::{confined, told, trusted};

#[test]
fn a_linked_skill_loads_with_its_real_path() {
    let workspace = Workspace::new()
        .skill("allowed/real", "R.")
        .symlink("root/alias", "../allowed/real")
        .skill("root/plain", "P.");
    for root in [trusted(&workspace), confined(&workspace)] {
        assert_eq!(told(&workspace, &[root]), "found alias at allowed/real\nfound plain\n");
    }
}

#[test]
fn a_link_outside_is_skipped_and_reported_unless_the_root_is_trusted() {
    let workspace = Workspace::new()
        .skill("outside/skill", "S.")
        .skill("outside/group/one", "O.")
        .symlink("root/group", "../outside/group")
        .symlink("root/skill", "../outside/skill")
        .symlink("root/team/notes.md", "../../outside/skill/SKILL.md")
        .skill("root/plain", "P.");
    assert_eq!(
        told(&workspace, &[confined(&workspace)]),
        "found plain\nthe link `root/group` leads outside, to `outside/group`\n\
         the link `root/skill` leads outside, to `outside/skill`\n",
    );
    assert_eq!(
        told(&workspace, &[trusted(&workspace)]),
        "found group/one at outside/group/one\nfound plain\nfound skill at outside/skill\n",
    );
}

#[test]
fn a_link_that_is_only_like_an_allowed_one_is_outside() {
    let workspace = Workspace::new()
        .skill("allowed-not/skill", "S.")
        .skill("allowed/x", "X.")
        .skill("outside/y", "Y.")
        .symlink("root/sibling", "../allowed-not/skill")
        .symlink("root/through", "../allowed/../outside/y")
        .symlink("allowed/hop", "../outside/y")
        .symlink("root/hop", "../allowed/hop");
    assert_eq!(
        told(&workspace, &[confined(&workspace)]),
        "the link `root/hop` leads outside, to `outside/y`\n\
         the link `root/sibling` leads outside, to `allowed-not/skill`\n\
         the link `root/through` leads outside, to `outside/y`\n",
    );
}

#[test]
fn a_link_to_nothing_or_to_itself_is_broken() {
    let workspace = Workspace::new()
        .symlink("root/dangling", "nowhere")
        .symlink("root/self", "self")
        .symlink("root/ping", "pong")
        .symlink("root/pong", "ping")
        .file("root/file", "x")
        .symlink("root/through-file", "file/below")
        .skill("root/plain", "P.");
    assert_eq!(
        told(&workspace, &[confined(&workspace)]),
        "found plain\nthe link `root/dangling` leads nowhere\nthe link `root/ping` leads nowhere\n\
         the link `root/pong` leads nowhere\nthe link `root/self` leads nowhere\n\
         the link `root/through-file` leads nowhere\n",
    );
}

#[test]
fn loops_end() {
    let workspace = Workspace::new()
        .skill("root/team/one", "O.")
        .symlink("root/team/self", ".")
        .symlink("root/team/up", "..")
        .symlink("root/team/root", "../../root")
        .symlink("root/team/above", "../..")
        .symlink("root/loop/back", "../loop")
        .skill("root/zeta", "Z.");
    assert_eq!(
        told(&workspace, &[trusted(&workspace)]),
        "found team/one\nfound zeta\n\
         the link `root/loop/back` leads back to `root/loop`, which it lies in\n\
         the link `root/team/above` leads back to `WORKSPACE`, which it lies in\n\
         the link `root/team/root` leads back to `root`, which it lies in\n\
         the link `root/team/self` leads back to `root/team`, which it lies in\n\
         the link `root/team/up` leads back to `root`, which it lies in\n"
            .replace("WORKSPACE", &workspace.path().display().to_string()),
    );
}

#[test]
fn folders_that_link_to_each_other_are_walked_once() {
    let workspace = Workspace::new()
        .skill("allowed/a/one", "O.")
        .skill("allowed/b/two", "T.")
        .symlink("allowed/a/b", "../b")
        .symlink("allowed/b/a", "../a")
        .symlink("root/first", "../allowed/a");
    assert_eq!(
        told(&workspace, &[confined(&workspace)]),
        "found first/b/two at allowed/b/two\nfound first/one at allowed/a/one\nfirst/b/a is first\n",
    );
}

#[test]
fn a_thousand_ways_to_the_same_folders_cost_one_walk_each() {
    // Every folder links to every other: followed blindly, that is a walk for each of millions of paths.
    let mut workspace = Workspace::new();
    for a in 0..12 {
        workspace = workspace.skill(format!("allowed/{a:02}/skill"), "S.");
        for b in (0..12).filter(|b| *b != a) {
            workspace = workspace.symlink(format!("allowed/{a:02}/to-{b:02}"), format!("../{b:02}"));
        }
    }
    let workspace = workspace.symlink("root/start", "../allowed/00");
    let text = told(&workspace, &[confined(&workspace)]);
    assert_eq!(text.lines().filter(|line| line.starts_with("found")).count(), 12);
    // All 132 links lead somewhere already walked, but for the eleven that got there first.
    assert_eq!(text.lines().filter(|line| line.contains(" is ")).count(), 132 - 11);
    assert_eq!(text.lines().count(), 12 + 132 - 11, "{text}");
}

#[test]
fn the_same_skill_is_found_once_the_first_by_path() {
    let workspace = Workspace::new()
        .skill("root/middle", "M.")
        .symlink("root/alias", "middle")
        .symlink("root/zalias", "middle");
    assert_eq!(
        told(&workspace, &[confined(&workspace)]),
        "found alias at root/middle\nmiddle is alias\nzalias is alias\n",
    );
}

#[test]
fn the_same_skill_is_found_once_over_all_roots_the_first_root_first() {
    let workspace = Workspace::new()
        .skill("first/own", "O.")
        .symlink("first/shared", "../second/shared")
        .symlink("first/team", "../second/team")
        .skill("second/shared", "S.")
        .skill("second/team/one", "O.")
        .symlink("second/own", "../first/own");
    let folders = ["first", "second"].map(|name| workspace.join(name));
    let roots = folders.clone().map(|path| SweepRoot::new(path, LinkPolicy::Inside(folders.to_vec())));
    assert_eq!(
        told(&workspace, &roots),
        "found 0:own\nfound 0:shared at second/shared\nfound 0:team/one at second/team/one\n\
         1:own is 0:own\n1:shared is 0:shared\n1:team/one is 0:team/one\n",
    );
}

#[test]
fn a_group_that_an_earlier_root_walks_is_not_walked_again() {
    let workspace = Workspace::new()
        .skill("first/team/one", "O.")
        .skill("second/two", "T.")
        .symlink("second/team", "../first/team")
        .symlink("second/team-again", "../first/team");
    let folders = ["first", "second"].map(|name| workspace.join(name));
    let roots = folders.clone().map(|path| SweepRoot::new(path, LinkPolicy::Inside(folders.to_vec())));
    assert_eq!(
        told(&workspace, &roots),
        "found 0:team/one\nfound 1:two\n1:team is 0:team\n1:team-again is 0:team\n",
    );
}

#[test]
fn roots_that_overlap_or_are_given_twice_find_nothing_twice() {
    let workspace = Workspace::new().skill("root/team/one", "O.").skill("root/two", "T.");
    let inner = SweepRoot::new(workspace.join("root/team"), LinkPolicy::Anywhere);
    let roots = [inner, trusted(&workspace), trusted(&workspace)];
    assert_eq!(
        told(&workspace, &roots),
        "found 0:one\nfound 1:two\n1:team/one is 0:one\n2:team/one is 0:one\n2:two is 1:two\n",
    );
}

#[test]
fn a_root_behind_a_link_has_to_be_allowed_too() {
    let workspace = Workspace::new().skill("outside/skills/one", "O.").symlink("root", "outside/skills");
    let confined = |folders| SweepRoot::new(workspace.join("root"), LinkPolicy::Inside(folders));
    assert_eq!(
        told(&workspace, &[confined(Vec::new())]),
        "the link `root` leads outside, to `outside/skills`\n",
    );
    assert_eq!(told(&workspace, &[confined(vec![workspace.join("outside")])]), "found one\n");
    assert_eq!(told(&workspace, &[trusted(&workspace)]), "found one\n");

    // A link further up is a link all the same.
    let through = SweepRoot::new(workspace.join("root/one"), LinkPolicy::Inside(Vec::new()));
    assert_eq!(told(&workspace, &[through]), "the link `root/one` leads outside, to `outside/skills/one`\n");
}

#[test]
fn a_document_may_be_a_link_within_the_same_limits() {
    let workspace = Workspace::new()
        .file("root/inside/docs/text.md", "---\nname: inside\n---\n")
        .symlink("root/inside/SKILL.md", "docs/text.md")
        .file("allowed/text.md", "---\nname: allowed\n---\n")
        .symlink("root/allowed/SKILL.md", "../../allowed/text.md")
        .file("outside/text.md", "---\nname: outside\n---\n")
        .symlink("root/outside/SKILL.md", "../../outside/text.md")
        .symlink("root/absolute/SKILL.md", "/etc/passwd")
        .symlink("root/broken/SKILL.md", "nowhere")
        .symlink("root/folder/SKILL.md", "../../allowed")
        .symlink("root/lower/skill.md", "../../allowed/text.md")
        .symlink("root/device/SKILL.md", "/dev/zero");
    assert_eq!(
        told(&workspace, &[confined(&workspace)]),
        "found allowed\nfound inside\nfound lower by skill.md\n\
         the link `root/absolute/SKILL.md` leads outside, to `/etc/passwd`\n\
         the link `root/broken/SKILL.md` leads nowhere\n\
         `root/device/SKILL.md` is not a regular file\n\
         `root/folder/SKILL.md` is not a regular file\n\
         the link `root/outside/SKILL.md` leads outside, to `outside/text.md`\n",
    );
}

#[test]
fn the_visitor_is_told_where_a_linked_document_really_is() {
    let workspace = Workspace::new()
        .file("allowed/text.md", "---\n---\n")
        .symlink("root/linked/SKILL.md", "../../allowed/text.md")
        .skill("root/plain", "P.");
    let sweep = metier_files::sweep(&[confined(&workspace)], &metier_files::Bounds::default(), |candidate| {
        candidate.document_target.map(std::path::Path::to_owned)
    });
    let targets: Vec<_> = sweep.found.into_iter().map(|found| found.value).collect();
    assert_eq!(targets, [Some(workspace.join("allowed/text.md")), None]);
}

#[test]
fn skills_inside_linked_skills_are_found_when_asked() {
    let workspace = Workspace::new()
        .skill("allowed/outer", "O.")
        .skill("allowed/outer/inner", "I.")
        .symlink("allowed/outer/again", "../outer")
        .symlink("root/link", "../allowed/outer");
    let nested = SweepRoot { nested: Nested::Search, ..confined(&workspace) };
    assert_eq!(
        told(&workspace, &[nested]),
        "found link at allowed/outer\nfound link/inner at allowed/outer/inner\n\
         the link `root/link/again` leads back to `allowed/outer`, which it lies in\n",
    );
}

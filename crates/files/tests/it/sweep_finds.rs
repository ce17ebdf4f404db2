//! What a sweep finds in ordinary trees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use metier_files::{Bounds, Extent, Ignore, LinkPolicy, Nested, SweepRoot, sweep};
use metier_testkit::Workspace;

use crate::support::{as_somebody, told, trusted};

#[test]
fn skills_are_found_at_every_depth_in_order_of_their_parts() {
    let workspace = Workspace::new()
        .skill("root/zeta", "Z.")
        .skill("root/team/beta", "B.")
        .skill("root/team/alpha", "A.")
        .skill("root/team-2/alpha", "A.")
        .skill("root/.system/inner/deep", "D.")
        .file("root/README.md", "not a skill")
        .dir("root/empty");
    assert_eq!(
        told(&workspace, &[trusted(&workspace)]),
        "found .system/inner/deep\nfound team/alpha\nfound team/beta\nfound team-2/alpha\nfound zeta\n",
    );
}

#[test]
fn a_root_that_is_a_skill_is_the_one_skill_found() {
    let workspace = Workspace::new().skill("root", "R.").skill("root/inner", "I.");
    assert_eq!(told(&workspace, &[trusted(&workspace)]), "found .\n");

    let nested = SweepRoot { nested: Nested::Search, ..trusted(&workspace) };
    assert_eq!(told(&workspace, &[nested]), "found .\nfound inner\n");
}

#[test]
fn a_skills_own_folder_is_searched_only_when_asked() {
    let workspace = Workspace::new()
        .skill("root/outer", "O.")
        .skill("root/outer/skills/inner", "I.")
        .skill("root/outer/skills/inner/most", "M.")
        .file("root/lower/skill.md", "---\n---\n")
        .skill("root/lower/inner", "I.");
    assert_eq!(told(&workspace, &[trusted(&workspace)]), "found lower by skill.md\nfound outer\n");

    let nested = SweepRoot { nested: Nested::Search, ..trusted(&workspace) };
    assert_eq!(
        told(&workspace, &[nested]),
        "found lower by skill.md\nfound lower/inner\nfound outer\nfound outer/skills/inner\n\
         found outer/skills/inner/most\n",
    );
}

#[test]
fn the_documents_name_may_have_other_cases_and_the_canonical_one_wins() {
    let workspace = Workspace::new()
        .file("root/both/SKILL.md", "---\nname: upper\n---\n")
        .file("root/both/skill.md", "---\nname: lower\n---\n")
        .file("root/lower/skill.md", "---\n---\n")
        .file("root/mixed/Skill.md", "---\n---\n")
        .file("root/shout/SKILL.MD", "---\n---\n")
        .file("root/team/lower/skill.md", "---\n---\n")
        .file("root/other/skills.md", "---\n---\n");
    assert_eq!(
        told(&workspace, &[trusted(&workspace)]),
        "found both\nfound lower by skill.md\nfound mixed by Skill.md\nfound shout by SKILL.MD\n\
         found team/lower by skill.md\n",
    );
}

#[test]
fn a_missing_root_an_empty_path_and_a_file_are_nothing() {
    let workspace = Workspace::new().file("file", "x").dir("empty").symlink("dangling", "nowhere");
    let roots = [
        workspace.join("missing"),
        workspace.join("missing/deeper"),
        Path::new("").to_owned(),
        workspace.join("file"),
        workspace.join("file/below"),
        workspace.join("empty"),
        workspace.join("dangling"),
    ]
    .map(|path| SweepRoot::new(path, LinkPolicy::Inside(Vec::new())));
    assert_eq!(told(&workspace, &roots), "");
}

#[test]
fn history_packages_and_builds_are_not_searched_but_may_be_skills() {
    let workspace = Workspace::new()
        .skill("root/.git/hooks", "H.")
        .skill("root/node_modules/package", "P.")
        .skill("root/team/target/debug", "D.")
        .skill("root/team/node_modules", "N.")
        .file("root/target/skill.md", "---\n---\n")
        .skill("allowed/modules/one", "O.")
        .symlink("root/deep/node_modules", "../../allowed/modules")
        .skill("root/targets/fine", "F.");
    let nested = SweepRoot { nested: Nested::Search, ..trusted(&workspace) };
    for root in [trusted(&workspace), nested] {
        assert_eq!(
            told(&workspace, &[root]),
            "found target by skill.md\nfound targets/fine\nfound team/node_modules\n"
        );
    }
    // The rule is for what lies below a root, not for the root.
    let root = SweepRoot::new(workspace.join("root/node_modules"), LinkPolicy::Anywhere);
    assert_eq!(told(&workspace, &[root]), "found package\n");
}

#[test]
fn ignored_folders_are_not_looked_at() {
    let workspace = Workspace::new()
        .skill("root/drafts/one", "O.")
        .skill("root/team/drafts", "D.")
        .skill("root/team/old.bak", "O.")
        .symlink("root/team/link.bak", "nowhere")
        .skill("root/team/kept", "K.");
    let ignore = Some(Ignore::new(["drafts", "**/*.bak"]).unwrap());
    let root = SweepRoot { ignore, ..trusted(&workspace) };
    assert_eq!(told(&workspace, &[root]), "found team/drafts\nfound team/kept\n");
}

#[test]
fn gits_ignore_files_are_not_consulted() {
    let workspace = Workspace::new().file("root/.gitignore", "*\n").skill("root/kept", "K.");
    assert_eq!(told(&workspace, &[trusted(&workspace)]), "found kept\n");
}

#[test]
fn names_that_are_not_utf8_are_kept() {
    let name = OsStr::from_bytes(b"caf\xe9");
    let workspace = Workspace::new().skill(Path::new("root").join(name), "C.");
    let sweep = sweep(&[trusted(&workspace)], &Bounds::default(), |candidate| candidate.folder.to_owned());
    assert_eq!(sweep.found[0].folder.as_os_str(), name);
    assert_eq!(sweep.found[0].value.as_os_str(), name);
}

#[test]
fn the_visitor_sees_the_head_and_reads_more_when_it_asks() {
    let long = format!("---\n{}", "0123456789".repeat(1000));
    let exact = &long[..2048];
    let workspace = Workspace::new()
        .file("root/empty/SKILL.md", "")
        .file("root/exact/SKILL.md", exact)
        .file("root/long/SKILL.md", &long)
        .file("root/short/SKILL.md", "short");
    let sweep = sweep(&[trusted(&workspace)], &Bounds::default(), |candidate| {
        let mut bytes = b"left over".to_vec();
        let mut read = |limit| {
            let extent = candidate.read_up_to(limit, &mut bytes).unwrap();
            (bytes.clone(), extent)
        };
        let parts = [4, 2048, 5000, 1 << 20].map(&mut read);
        (candidate.head.to_vec(), candidate.extent, candidate.stamp().unwrap().size(), parts)
    });
    for (found, text) in sweep.found.iter().zip(["", exact, &long, "short"]) {
        let (head, extent, size, parts) = &found.value;
        assert_eq!(head, &text.as_bytes()[..text.len().min(2048)]);
        // A file that is exactly as long as the head may go on, for all the head tells.
        assert_eq!(*extent, if text.len() < 2048 { Extent::Whole } else { Extent::Truncated });
        assert_eq!(*size, text.len() as u64);
        for ((bytes, extent), limit) in parts.iter().zip([4, 2048, 5000, 1 << 20]) {
            assert_eq!(bytes, &text.as_bytes()[..text.len().min(limit)], "{limit}");
            assert_eq!(
                *extent,
                if text.len() <= limit { Extent::Whole } else { Extent::Truncated },
                "{limit}"
            );
        }
    }
}

#[test]
fn one_unreadable_folder_or_file_does_not_hide_the_others() {
    let workspace = Workspace::new()
        .mode(".", 0o755)
        .skill("root/closed/inner", "C.")
        .mode("root/closed", 0o000)
        .skill("root/listed-only/inner", "L.")
        .mode("root/listed-only", 0o444)
        .skill("root/secret", "S.")
        .mode("root/secret/SKILL.md", 0o000)
        .skill("root/unlisted", "U.")
        .mode("root/unlisted", 0o111)
        .dir("root/unlisted-group")
        .mode("root/unlisted-group", 0o111)
        .skill("root/team/open", "O.");
    let text = as_somebody(|| told(&workspace, &[trusted(&workspace)]));
    assert_eq!(
        text,
        "found team/open\nfound unlisted\n\
         the folder `root/closed` cannot be read: Permission denied (os error 13)\n\
         the folder `root/listed-only` cannot be read: Permission denied (os error 13)\n\
         the file `root/secret/SKILL.md` cannot be read: Permission denied (os error 13)\n\
         the folder `root/unlisted-group` cannot be read: Permission denied (os error 13)\n",
    );
    // The temporary folder has to be removed by whoever runs the tests.
    let _ = workspace.mode("root/closed", 0o755).mode("root/listed-only", 0o755).mode("root/unlisted", 0o755);
}

#[test]
fn an_unreadable_root_is_a_problem_and_the_next_root_loads() {
    let workspace = Workspace::new()
        .mode(".", 0o755)
        .skill("root/one", "O.")
        .mode("root", 0o000)
        .skill("second/two", "T.");
    let roots = [trusted(&workspace), SweepRoot::new(workspace.join("second"), LinkPolicy::Anywhere)];
    assert_eq!(
        as_somebody(|| told(&workspace, &roots)),
        "found 1:two\nthe folder `root` cannot be read: Permission denied (os error 13)\n",
    );
    let _ = workspace.mode("root", 0o755);
}

#[test]
fn a_group_larger_than_a_chunk_is_still_a_skill_by_its_lower_case_document() {
    let mut workspace = Workspace::new().file("root/big/skill.md", "---\n---\n");
    for number in 0..1500 {
        workspace = workspace.dir(format!("root/big/part-{number}"));
    }
    workspace = workspace.skill("root/big/part-7/inner", "I.");
    assert_eq!(told(&workspace, &[trusted(&workspace)]), "found big by skill.md\n");
}

#[test]
fn a_visitor_that_panics_does_not_leave_the_others_waiting() {
    let mut workspace = Workspace::new();
    for number in 0..300 {
        workspace = workspace.skill(format!("root/skill-{number:03}"), "S.");
    }
    let root = trusted(&workspace);
    let outcome = crate::support::never_hangs(move || {
        std::panic::catch_unwind(|| {
            sweep(&[root], &Bounds::default(), |candidate| {
                assert_ne!(candidate.folder, Path::new("skill-150"), "as intended");
            })
        })
        .is_err()
    });
    assert!(outcome);
}

//! What changes a tree digest, and what does not.

use std::fs;

use metier_files::{Error, SkillDir, TreeDigest};
use metier_testkit::Workspace;

fn digest(workspace: &Workspace) -> Result<TreeDigest, Error> {
    TreeDigest::of(&SkillDir::open(&workspace.join("skill")).unwrap())
}

fn base() -> Workspace {
    Workspace::new()
        .file("skill/SKILL.md", "---\nname: golden\n---\n")
        .executable("skill/scripts/run.sh", "#!/bin/sh\necho hello\n")
        .file("skill/references/a.md", "alpha")
        .symlink("skill/latest", "references/a.md")
}

#[test]
fn the_digest_of_a_known_tree_is_known() {
    // Locks and trust are bound to this: a change here is a change of the format, which needs another version.
    assert_eq!(
        digest(&base()).unwrap().to_string(),
        "sha256:ecca794a5333a03979de8dfa18b749a5376ae2848a65513b7f4f50e5eede5500",
    );
}

#[test]
fn the_same_tree_elsewhere_has_the_same_digest() {
    assert_eq!(digest(&base()).unwrap(), digest(&base()).unwrap());
    let workspace = base();
    let before = digest(&workspace).unwrap();
    fs::rename(workspace.join("skill"), workspace.join("renamed")).unwrap();
    let after = TreeDigest::of(&SkillDir::open(&workspace.join("renamed")).unwrap()).unwrap();
    assert_eq!(before, after);
}

#[test]
fn what_is_not_the_skills_own_does_not_count() {
    let workspace = base()
        .file("skill/.source.json", "{}")
        .file("skill/.git/HEAD", "ref")
        .file("skill/vendor/.git/HEAD", "ref")
        .file("skill/scripts/.git", "gitdir")
        .dir("skill/empty/folder");
    assert_eq!(digest(&workspace).unwrap(), digest(&base()).unwrap());
}

#[test]
fn every_change_changes_it() {
    let trees: Vec<(&str, Workspace)> = vec![
        ("base", base()),
        ("a byte", base().file("skill/references/a.md", "alphb")),
        ("a file more", base().file("skill/b", "")),
        ("an empty name's worth", base().file("skill/references/a.m", "dalpha")),
        ("the execute bit set", base().mode("skill/references/a.md", 0o755)),
        ("the execute bit gone", base().mode("skill/scripts/run.sh", 0o644)),
        ("a link's text", {
            let workspace = base();
            fs::remove_file(workspace.join("skill/latest")).unwrap();
            workspace.symlink("skill/latest", "SKILL.md")
        }),
        ("a file of the link's text", {
            let workspace = base();
            fs::remove_file(workspace.join("skill/latest")).unwrap();
            workspace.file("skill/latest", "references/a.md")
        }),
        ("a file of the link's content", {
            let workspace = base();
            fs::remove_file(workspace.join("skill/latest")).unwrap();
            workspace.file("skill/latest", "alpha")
        }),
        ("a rename", {
            let workspace = base();
            fs::rename(workspace.join("skill/references/a.md"), workspace.join("skill/references/b.md"))
                .unwrap();
            workspace
        }),
        ("another folder", {
            let workspace = base();
            fs::rename(workspace.join("skill/scripts"), workspace.join("skill/script")).unwrap();
            workspace
        }),
        ("a nested note", base().file("skill/references/.source.json", "{}")),
        ("something like git's", base().file("skill/.gitignore", "")),
    ];
    let digests: Vec<_> = trees.iter().map(|(what, tree)| (what, digest(tree).unwrap())).collect();
    for (index, (what, digest)) in digests.iter().enumerate() {
        for (other, earlier) in &digests[..index] {
            assert_ne!(digest, earlier, "{what} and {other}");
        }
    }
}

#[test]
fn which_of_the_execute_bits_is_set_does_not_matter() {
    let [one, all] = [0o645, 0o755].map(|mode| digest(&base().mode("skill/references/a.md", mode)).unwrap());
    assert_eq!(one, all);
}

#[test]
fn bytes_cannot_move_between_names_and_contents() {
    // Each pair has the same bytes in the same order, were they only put one after the other.
    let pairs = [
        [vec![("a", "b"), ("c", "d")], vec![("a", "bcd")]],
        [vec![("ab", "c")], vec![("a", "bc")]],
        [vec![("a", "x"), ("b", "")], vec![("a", ""), ("b", "x")]],
        [vec![("a", "1"), ("b", "2")], vec![("a", "2"), ("b", "1")]],
    ];
    for [one, two] in pairs {
        let [one, two] = [one, two].map(|files| {
            let empty = Workspace::new().dir("skill");
            let workspace = files
                .iter()
                .fold(empty, |workspace, (name, content)| workspace.file(format!("skill/{name}"), content));
            digest(&workspace).unwrap()
        });
        assert_ne!(one, two);
    }
}

#[test]
fn what_could_change_unseen_has_no_digest() {
    let table = [
        ("absolute", base().symlink("skill/x", "/etc/passwd"), "outside"),
        ("outside", base().file("other", "x").symlink("skill/x", "../other"), "outside"),
        ("outside and missing", base().symlink("skill/x", "../missing"), "outside"),
        ("git's", base().file("skill/.git/hook", "x").symlink("skill/x", ".git/hook"), "not covered"),
        ("git's, still missing", base().symlink("skill/x", ".git/hook"), "not covered"),
        (
            "the note",
            base().file("skill/.source.json", "x").symlink("skill/x", ".source.json"),
            "not covered",
        ),
        ("the note, still missing", base().symlink("skill/scripts/x", "../.source.json"), "not covered"),
        ("a FIFO", base().fifo("skill/pipe"), "not a file"),
        ("a socket", base().socket("skill/socket"), "not a file"),
    ];
    for (what, workspace, expected) in table {
        let refusal = match digest(&workspace).expect_err(what) {
            Error::Outside { .. } => "outside",
            Error::NotCovered { .. } => "not covered",
            Error::NotAFile { .. } => "not a file",
            other => panic!("{what}: {other}"),
        };
        assert_eq!(refusal, expected, "{what}");
    }
    for harmless in ["nowhere", "x", "references"] {
        digest(&base().symlink("skill/x", harmless)).unwrap();
    }
}

#[test]
fn too_much_is_an_error_that_says_so() {
    let workspace = base();
    let file = fs::File::create(workspace.join("skill/huge")).unwrap();
    file.set_len(TreeDigest::MAX_BYTES).unwrap();
    let error = digest(&workspace).unwrap_err();
    assert_eq!(error.to_string(), "with `huge` the skill has more than the limit of 268435456 bytes");

    let mut deep = String::from("skill");
    for _ in 0..70 {
        deep.push_str("/d");
    }
    let workspace = base().file(format!("{deep}/file"), "");
    assert!(matches!(digest(&workspace), Err(Error::TooDeep { limit: 64, .. })));

    let workspace = base();
    for number in 0..TreeDigest::MAX_ENTRIES {
        fs::write(workspace.join(format!("skill/{number}")), "").unwrap();
    }
    let error = digest(&workspace).unwrap_err();
    assert_eq!(error.to_string(), "the skill has more than the limit of 10000 files and folders");
}

//! What is found, what is not, and what is said about it.

use crate::machine::{Machine, codes, found, listed, offered, skill};
use std::time::Instant;

/// D01, D02: nothing is no error.
#[test]
fn a_missing_an_empty_and_a_wrong_root_hold_nothing() {
    let machine =
        Machine::new(|files| files.dir("empty").file("file", "x").file("readme/README.md", "# Hello"));
    for roots in [&["missing"][..], &[""], &["file"], &["empty"], &["readme"], &[]] {
        let snapshot = machine.load_roots(roots);
        assert_eq!((snapshot.loaded(), snapshot.failures().len()), (0, 0), "{roots:?}");
        assert_eq!(snapshot.catalogue(&snapshot.catalogue_options(None)).text, "");
        let severest = snapshot.diagnostics().iter().map(metier_diagnostic::Diagnostic::severity).max();
        assert!(severest <= Some(metier_diagnostic::Severity::Info), "{roots:?}");
    }
    let untouched = Machine::new(|files| files).load();
    assert_eq!((untouched.loaded(), untouched.diagnostics().len()), (0, 0));
}

/// D06: one bad skill never hides another.
#[test]
fn one_bad_skill_among_many_is_one_failure() {
    let machine = Machine::new(|mut files| {
        for at in 0..17 {
            files = files.skill(format!("root/s{at:02}"), "Fine.");
        }
        files.file("root/bad/SKILL.md", "---\n- a list\n---\n")
    });
    let snapshot = machine.load_roots(&["root"]);
    assert_eq!((snapshot.loaded(), snapshot.failures().len()), (17, 1));
    let failure = &snapshot.failures()[0];
    let reason = failure.reason().unwrap();
    assert_eq!(reason.code.name(), "frontmatter-not-a-mapping");
    assert!(reason.line().is_some());
    assert_eq!(reason.path.as_deref(), Some(machine.files.join("root/bad/SKILL.md").as_path()));
}

/// D07: folders that group skills are walked, as deep as the root says.
#[test]
fn groups_are_walked_to_the_depth_of_the_root() {
    let config =
        |depth: &str| format!("[[roots]]\npath = \"{depth}\"\ndepth = 1\n[[roots]]\npath = \"~/deep\"\n");
    let machine = Machine::new(|files| {
        files
            .skill("home/flat/a", "A.")
            .skill("home/flat/group/b", "B.")
            .file("home/flat/README.md", "# Skills")
            .skill("home/deep/x/y/c", "C.")
            .file("home/.config/metier/config.toml", config("~/flat"))
    });
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["config.flat:a ready", "config.deep:c ready"]);
    assert!(codes(&snapshot).contains(&"bound-depth"));
}

/// D19: what belongs to other tools is not searched, and bounds hold.
#[test]
fn other_tools_folders_are_skipped_and_bounds_are_reported() {
    let machine = Machine::new(|mut files| {
        for at in 0..40 {
            files = files.skill(format!("root/s{at:02}"), "Fine.");
        }
        files
            .skill("root/.git/hidden", "No.")
            .skill("root/node_modules/hidden", "No.")
            .skill("root/target/hidden", "No.")
            .file("home/.config/metier/config.toml", "[discovery]\nentries = 20\n")
    });
    let snapshot = machine.load_roots(&["root"]);
    assert!(snapshot.loaded() < 40);
    assert!(codes(&snapshot).contains(&"bound-entries"));
    let again = machine.load_roots(&["root"]);
    assert_eq!(listed(&snapshot), listed(&again));

    let unbound = machine.with(|files| files.file("home/.config/metier/config.toml", ""));
    assert_eq!(unbound.load_roots(&["root"]).loaded(), 40);
}

#[test]
fn ignored_folders_are_left_out_and_a_bad_pattern_is_reported() {
    let text = "[[roots]]\npath = \"~/team\"\nignore = [\"drafts\", \"a[b\"]\n";
    let machine = Machine::new(|files| {
        files
            .skill("home/team/drafts/a", "A.")
            .skill("home/team/b", "B.")
            .file("home/.config/metier/config.toml", text)
    });
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["config:b ready"]);
    assert_eq!(codes(&snapshot), ["ignore-invalid"]);
}

/// F33, F34: odd names and odd files.
#[test]
fn lower_case_files_load_and_files_that_are_none_fail_without_waiting() {
    let lower = skill("name: lower\ndescription: Lower.", "x");
    let machine = Machine::new(|files| {
        files
            .file("root/lower/skill.md", &lower)
            .file("root/both/SKILL.md", skill("name: both\ndescription: Upper.", "x"))
            .file("root/both/skill.md", &lower)
            .fifo("root/fifo/SKILL.md")
            .socket("root/socket/SKILL.md")
            .dir("root/folder/SKILL.md")
    });
    let snapshot = machine.load_roots(&["root"]);
    assert_eq!(listed(&snapshot), ["cli:both ready", "cli:lower ready"]);
    assert_eq!(found(&snapshot, "both").description(), "Upper.");
    assert_eq!(found(&snapshot, "lower").diagnostics()[0].code.name(), "file-name-lower-case");
    let failed: Vec<_> = snapshot.failures().iter().map(|one| one.reason().unwrap().code.name()).collect();
    assert_eq!(failed, ["file-not-regular"; 3]);
}

/// D09: hostile trees cost a diagnostic, not the others.
#[test]
fn hostile_trees_are_bounded() {
    let machine = Machine::new(|mut files| {
        for at in 0..3_000 {
            files = files.dir(format!("root/many/d{at}"));
        }
        files
            .skill("root/good", "Good.")
            .skill("root/locked/hidden", "Hidden.")
            .symlink("root/loop", ".")
            .symlink("root/broken", "nowhere")
            .file(
                "root/huge/SKILL.md",
                format!("---\nname: huge\ndescription: Huge.\n---\n{}", "x".repeat(50_000_000)),
            )
            .file(
                "root/deep/SKILL.md",
                format!("---\nname: deep\ndescription: {}\n---\n", "[".repeat(10_000)),
            )
            .file("root/bytes/SKILL.md", b"---\nname: bytes\ndescription: a\xff\0b\n---\nbody\n")
            .mode("root/locked", 0o000)
    });
    let start = Instant::now();
    let snapshot = machine.load_roots(&["root"]);
    assert!(start.elapsed().as_secs() < 5);
    assert_eq!(found(&snapshot, "good").description(), "Good.");
    assert_eq!(found(&snapshot, "huge").description(), "Huge.");
    assert!(snapshot.read(found(&snapshot, "huge")).is_err());
    assert_eq!(found(&snapshot, "bytes").name().as_str(), "bytes");
    let codes = codes(&snapshot);
    assert!(codes.contains(&"link-broken"), "{codes:?}");
    // Whoever runs the tests as root can read everything.
    assert!(codes.contains(&"folder-unreadable") || snapshot.find(&"hidden".parse().unwrap()).is_found());
    let _ = machine.with(|files| files.mode("root/locked", 0o755));
}

trait IsFound {
    fn is_found(&self) -> bool;
}

impl IsFound for metier_catalog::Lookup<'_> {
    fn is_found(&self) -> bool {
        matches!(self, metier_catalog::Lookup::Found(..))
    }
}

/// P02: a description can be derived, or be missing.
#[test]
fn skills_without_a_description_are_derived_or_for_the_user() {
    let machine = Machine::new(|files| {
        files
            .file("root/derived/SKILL.md", skill("name: derived", "The first paragraph."))
            .file("root/none/SKILL.md", "---\nname: none\n---\n")
            .file("root/plain/SKILL.md", "Just some text without any frontmatter.\n")
            .file(
                "root/hidden/SKILL.md",
                skill("name: hidden\ndescription: H.\ndisable-model-invocation: true", "x"),
            )
            .file("root/broken/SKILL.md", "---\n[[[\n---\n")
    });
    let snapshot = machine.load_roots(&["root"]);
    let expected = ["cli:derived ready", "cli:hidden user-only", "cli:none user-only", "cli:plain user-only"];
    assert_eq!(listed(&snapshot), expected);
    assert_eq!(offered(&snapshot), ["derived"]);
    assert_eq!(found(&snapshot, "derived").description(), "The first paragraph.");
    // P22: always reachable by the user.
    assert_eq!(found(&snapshot, "hidden").state().word(), "user-only");
    assert_eq!(snapshot.failures().len(), 1);
}

#[test]
fn a_skill_inside_a_skill_is_found_only_when_asked_for() {
    let build = |nested: bool| {
        Machine::new(|files| {
            files
                .skill("home/team/outer", "Outer.")
                .skill("home/team/outer/inner", "Inner.")
                .skill("home/team/outer/inner/most", "Most.")
                .skill("home/team/zebra", "Zebra.")
                .file("home/team/refused/SKILL.md", "---\n- no\n---\n")
                .skill("home/team/refused/below", "Below.")
                .file(
                    "home/.config/metier/config.toml",
                    format!("[[roots]]\npath = \"~/team\"\nnested = {nested}\n"),
                )
        })
    };
    let machine = build(false);
    assert_eq!(listed(&machine.load()), ["config:outer ready", "config:zebra ready"]);
    let all = machine.load_all();
    let expected = [
        "config:outer ready",
        "config:inner nested",
        "config:most nested",
        "config:below nested",
        "config:zebra ready",
    ];
    assert_eq!(listed(&all), expected);
    assert_eq!(offered(&all), ["outer", "zebra"]);
    assert_eq!(offered(&build(true).load()), ["below", "inner", "most", "outer", "zebra"]);
}

/// The root itself may be a skill: a crew names such folders, and people give them to `--root`.
#[test]
fn a_root_that_is_a_skill_is_that_skill() {
    let machine = Machine::new(|files| files.file("tools/pdf/SKILL.md", skill("description: Reads.", "x")));
    let snapshot = machine.load_roots(&["tools/pdf"]);
    assert_eq!(listed(&snapshot), ["cli:pdf ready"]);
    let entry = found(&snapshot, "pdf");
    assert_eq!(snapshot.folder(entry), machine.files.join("tools/pdf"));
    assert_eq!(snapshot.document_path(entry), machine.files.join("tools/pdf/SKILL.md"));
    assert!(snapshot.read(entry).unwrap().body().contains('x'));
}

/// D17: a reload makes new skills visible and leaves the old snapshot alone.
#[test]
fn a_reload_swaps_the_snapshot_as_a_whole() {
    let machine = Machine::new(|files| files.skill("home/.claude/skills/old", "Old."));
    let catalog = metier_catalog::Catalog::load(
        machine.places.clone(),
        metier_catalog::RootChoice::Usual,
        metier_catalog::Include::Usual,
    );
    let before = catalog.snapshot();
    let _machine = machine.with(|files| {
        files
            .skill("home/.claude/skills/new", "New.")
            .skill("home/.agents/skills/later-root", "Later.")
            .file("home/.claude/skills/broken/SKILL.md", "---\n[\n---\n")
    });
    assert_eq!(offered(&before), ["old"]);
    catalog.reload();
    assert_eq!(offered(&before), ["old"]);
    assert_eq!(offered(&catalog.snapshot()), ["later-root", "new", "old"]);
    assert_eq!(catalog.snapshot().failures().len(), 1);
}

/// Everything a snapshot says, in one text.
fn everything(snapshot: &metier_catalog::Snapshot) -> String {
    let entries: Vec<_> = snapshot
        .entries()
        .map(|(_, entry)| {
            format!(
                "{} {:?} {:?}",
                snapshot.document_path(entry).display(),
                entry.relation(),
                entry.diagnostics()
            )
        })
        .collect();
    format!("{:?} {entries:?} {:?} {:?}", listed(snapshot), snapshot.failures(), snapshot.diagnostics())
}

#[test]
fn the_same_tree_gives_the_same_snapshot_every_time() {
    let machine = Machine::new(|mut files| {
        for at in 0..300 {
            let root = ["home/.claude/skills", "home/.agents/skills", "etc/skills"][at % 3];
            let name = ["twin", "Twin", "Twin Two!", "other"][at % 4];
            let text =
                skill(&format!("name: {name}\ndescription: Number {}.\nversion: 1.{}", at % 7, at % 5), "x");
            files = files.file(format!("{root}/g{}/s{at:03}/SKILL.md", at % 5), text);
        }
        files.symlink("home/.claude/skills/linked", "../../.agents/skills/g0")
    });
    let first = everything(&machine.load());
    for _ in 0..10 {
        assert_eq!(everything(&machine.load()), first);
    }
}

//! `.disabled.json`, `.source.json`.

use crate::machine::{Machine, codes, found, listed, offered, skill};
use metier_catalog::{Provenance, Switch, switch};

/// D15: disabled names are absent from the catalogue and listed as disabled.
#[test]
fn disabled_names_are_honoured_and_a_corrupt_file_disables_nothing() {
    let build = |text: &str| {
        Machine::new(|files| {
            files
                .skill("home/.claude/skills/a", "A.")
                .skill("home/.claude/skills/b", "B.")
                .file("home/.claude/skills/c/SKILL.md", skill("name: \"A Title!\"\ndescription: C.", "x"))
                .file("home/.claude/skills/.disabled.json", text)
        })
    };
    let snapshot = build("[\"a\", \"A Title!\", \"gone\"]").load();
    let expected = ["user.claude:a disabled", "user.claude:b ready", "user.claude:a-title disabled"];
    assert_eq!(listed(&snapshot), expected);
    assert_eq!(offered(&snapshot), ["b"]);

    for text in ["{", "{\"a\": 1}", "[1]", "\"a\""] {
        let machine = build(text);
        let snapshot = machine.load();
        assert_eq!(offered(&snapshot).len(), 3, "{text}");
        assert!(codes(&snapshot).contains(&"disabled-file-corrupt"), "{text}");
        let root = machine.files.join("home/.claude/skills");
        assert!(switch(&root, &["a"], Switch::Disable).is_err());
        let kept = metier_files::read_bounded(&root.join(".disabled.json"), 100).unwrap().unwrap();
        assert_eq!(kept, text.as_bytes());
    }
}

#[test]
fn enabling_and_disabling_keep_other_names() {
    let machine =
        Machine::new(|files| files.skill("root/a", "A.").file("root/.disabled.json", "[\"z\",\"b\"]"));
    let root = machine.files.join("root");
    let text = || {
        let bytes = metier_files::read_bounded(&root.join(".disabled.json"), 1_000).unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert!(switch(&root, &["a"], Switch::Disable).unwrap());
    assert_eq!(text(), "[\n  \"a\",\n  \"b\",\n  \"z\"\n]\n");
    assert!(!switch(&root, &["a"], Switch::Disable).unwrap());
    assert_eq!(listed(&machine.load_roots(&["root"])), ["cli:a disabled"]);
    assert!(switch(&root, &["a"], Switch::Enable).unwrap());
    assert!(!switch(&root, &["a"], Switch::Enable).unwrap());
    assert_eq!(text(), "[\n  \"b\",\n  \"z\"\n]\n");
    // Known by its title or its folder: every name of it goes.
    assert!(switch(&root, &["new-name", "z"], Switch::Enable).unwrap());
    assert_eq!(text(), "[\n  \"b\"\n]\n");
}

#[test]
fn provenance_is_kept_as_it_is_and_never_believed() {
    let machine = Machine::new(|files| {
        files
            .skill("root/a", "A.")
            .file(
                "root/a/.source.json",
                "{\"type\":\"git\",\"url\":\"https://x\",\"commit\":\"abc\",\"odd\":[1]}",
            )
            .skill("root/b", "B.")
            .file("root/b/.source.json", "[]")
            .skill("root/c", "C.")
    });
    let snapshot = machine.load_roots(&["root"]);
    let source = |name: &str| Provenance::of(&snapshot.open(found(&snapshot, name)).unwrap());
    let a = source("a").unwrap().unwrap();
    assert_eq!((a.kind(), a.text("commit"), a.as_object().len()), (Some("git"), Some("abc"), 4));
    assert_eq!(source("b").unwrap_err().code.name(), "source-file-corrupt");
    assert_eq!(source("c").unwrap(), None);
}

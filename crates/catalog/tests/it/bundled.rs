//! Skills that come with the program, and plugins.

use crate::machine::{Machine, codes, found, listed, origins};
use metier_catalog::{Bundled, BundledError, Plugin};
use metier_files::{Imprint, ImprintFile, Kind, Mode, kind, write_new};

const FILES: &[ImprintFile] = &[
    ImprintFile {
        path: "greet/SKILL.md",
        bytes: b"---\nname: greet\ndescription: Greets.\n---\nDo.\n",
        executable: false,
    },
    ImprintFile { path: "greet/scripts/run.sh", bytes: b"#!/bin/sh\n", executable: true },
];

/// A machine whose program brings a skill along.
fn machine(fill: impl FnOnce(metier_testkit::Workspace) -> metier_testkit::Workspace) -> Machine {
    let mut machine = Machine::new(fill);
    let folder = Some(machine.files.join("home/.cache/bundled/1"));
    machine.places.bundled = Some(Bundled { folder, imprint: Imprint::new(FILES) });
    machine
}

#[test]
fn they_are_the_lowest_root_and_trusted() {
    let machine = machine(|files| files.skill("etc/skills/other", "Other."));
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["system:other ready", "bundled:greet ready"]);
    assert_eq!(origins(&snapshot.layout().roots).last().map(String::as_str), Some("bundled"));
    assert!(snapshot.verify_bundled(found(&snapshot, "greet")).is_ok());
    assert!(snapshot.verify_bundled(found(&snapshot, "other")).is_ok(), "of others there is nothing to say");
}

#[test]
fn the_configuration_leaves_them_out_and_then_nothing_is_written() {
    let machine = machine(|files| files.file("home/.config/metier/config.toml", "bundled = false\n"));
    assert_eq!(listed(&machine.load()), [""; 0]);
    assert_eq!(kind(&machine.files.join("home/.cache")), Kind::Missing);
}

#[test]
fn roots_that_are_given_replace_them_too() {
    let machine = machine(|files| files.skill("one/a", "A."));
    assert_eq!(listed(&machine.load_roots(&["one"])), ["cli:a ready"]);
    assert_eq!(kind(&machine.files.join("home/.cache")), Kind::Missing);
}

#[test]
fn a_place_that_cannot_be_written_costs_these_skills_only() {
    let machine = machine(|files| files.file("home/.cache", "").skill("etc/skills/other", "Other."));
    let snapshot = machine.load();
    assert_eq!(
        (listed(&snapshot), codes(&snapshot)),
        (vec!["system:other ready".to_owned()], vec!["bundled-unavailable"])
    );
}

#[test]
fn what_differs_from_the_program_is_refused_when_it_is_used() {
    let machine = machine(|files| files);
    let snapshot = machine.load();
    let entry = found(&snapshot, "greet");
    write_new(&snapshot.folder(entry).join("scripts/more.sh"), b"", Mode::Shared).unwrap();
    let error = snapshot.verify_bundled(entry).unwrap_err();
    assert!(matches!(error, BundledError::Changed(..)), "{error}");
    assert!(error.to_string().contains("more.sh` does not belong there; remove `"), "{error}");
    // Whoever looks again finds it written anew, and is told.
    let snapshot = machine.load();
    assert_eq!(codes(&snapshot), ["bundled-changed"]);
    assert!(snapshot.verify_bundled(found(&snapshot, "greet")).is_ok());
}

#[test]
fn a_skill_knows_the_plugin_it_is_in() {
    let machine = Machine::new(|files| {
        files
            .file("home/.claude/skills/todo/.claude-plugin/plugin.json", "{\"name\": \"to/do\"}")
            .skill("home/.claude/skills/todo/skills/a", "A.")
            .file("home/.claude/skills/broken/.claude-plugin/plugin.json", "{")
            .skill("home/.claude/skills/broken/skills/b", "B.")
            .skill("home/.claude/skills/c", "C.")
            .file("home/.claude-plugin/plugin.json", "{\"name\": \"too far up\"}")
            .file("etc/.claude-plugin/plugin.json", "{\"name\": \"system\"}")
            .skill("etc/skills/d", "D.")
    });
    let snapshot = machine.load();
    let plugin = |name: &str| snapshot.plugin(found(&snapshot, name));
    let folder = machine.files.join("home/.claude/skills/todo");
    assert_eq!(plugin("a"), Some(Plugin { name: "to/do".to_owned(), folder }));
    assert_eq!(plugin("b").map(|plugin| plugin.name).as_deref(), Some("broken"));
    assert_eq!(plugin("c"), None);
    assert_eq!(plugin("d").map(|plugin| plugin.name).as_deref(), Some("system"));
}

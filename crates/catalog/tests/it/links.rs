//! Links: where they may lead, and what is found twice through them.

use crate::machine::{Machine, codes, found, listed};

#[test]
fn a_trusted_roots_links_lead_anywhere_an_untrusted_ones_into_roots() {
    let machine = Machine::new(|files| {
        files
            .skill("elsewhere/tool", "Tool.")
            .skill("home/.claude/skills/mine", "Mine.")
            .symlink("home/.claude/skills/tool", "../../../elsewhere/tool")
            .symlink("home/project/.claude/skills/stolen", "../../../../elsewhere/tool")
            .symlink("home/project/.claude/skills/alias", "../../../.claude/skills/mine")
    });
    let snapshot = machine.load();
    // The project's link to the user's own skill does not make it the project's.
    assert_eq!(listed(&snapshot), ["user.claude:mine ready", "user.claude:tool ready"]);
    assert_eq!(codes(&snapshot), ["link-outside"]);
    let mine = snapshot.entries().find(|(_, entry)| entry.name().as_str() == "mine").unwrap().0;
    assert_eq!(snapshot.other_folders(mine), [machine.files.join("home/project/.claude/skills/alias")]);
}

#[test]
fn a_projects_root_may_be_a_link_inside_the_project_only() {
    let inside = Machine::new(|files| {
        files.skill("home/project/skills/a", "A.").symlink("home/project/.claude/skills", "../skills")
    });
    assert_eq!(listed(&inside.load()), ["project.claude:a untrusted"]);

    let outside = Machine::new(|files| {
        files.skill("home/documents/a", "A.").symlink("home/project/.claude/skills", "../../documents")
    });
    let snapshot = outside.load();
    assert_eq!(listed(&snapshot), Vec::<String>::new());
    assert_eq!(codes(&snapshot), ["link-outside"]);
}

#[test]
fn the_same_folder_through_two_roots_is_loaded_once() {
    let machine = Machine::new(|files| {
        files
            .skill("home/.agents/skills/group/a", "A.")
            .symlink("home/.claude/skills", "../.agents/skills")
            .skill("team/b", "B.")
            .skill("team/sub/c", "C.")
    });
    assert_eq!(listed(&machine.load()), ["user.agents:a ready"]);
    // One root inside another.
    let snapshot = machine.load_roots(&["team", "team/sub"]);
    assert_eq!(listed(&snapshot), ["cli.team:b ready", "cli.team:c ready"]);
}

#[test]
fn a_skill_also_found_under_claude_means_pre_approval() {
    let text = |name: &str| format!("---\nname: {name}\ndescription: D.\nallowed-tools: Read\n---\nx");
    let machine = Machine::new(|files| {
        files
            .file("home/.openpollen/skills/own/SKILL.md", text("own"))
            .file("home/.agents/skills/linked/SKILL.md", text("linked"))
            .file("home/.openpollen/skills/untrusted/SKILL.md", text("untrusted"))
            .file("home/project/.claude/skills/untrusted/SKILL.md", text("untrusted"))
            .file("home/project/agents/skills/both/SKILL.md", text("both"))
            .file("home/.claude/skills/both/SKILL.md", text("both"))
            .file(
                "home/.claude/skills/tools/SKILL.md",
                "---\nname: tools\ndescription: T.\ntools: [Read]\n---\nx",
            )
    });
    crate::trust::trust(&machine, metier_catalog::Ownership::Mine);
    let meaning = |machine: &Machine, name: &str| {
        let snapshot = machine.load();
        let own =
            |(_, entry): &(_, &metier_catalog::Entry)| entry.name().as_str() == name && !entry.is_copy();
        let (id, entry) = snapshot.entries().find(own).unwrap();
        snapshot.allowed_tools(id, snapshot.read(entry).unwrap().manifest().unwrap()).word()
    };
    assert_eq!(meaning(&machine, "own"), "both");
    assert_eq!(meaning(&machine, "linked"), "grant");
    assert_eq!(meaning(&machine, "both"), "grant");
    assert_eq!(meaning(&machine, "tools"), "both");
    let project = machine.files.join("home/project");
    metier_catalog::TrustStore::update(&machine.places.data, |store| Ok(store.revoke(&project))).unwrap();
    // A project that is not trusted cannot turn a fence into a grant by holding a copy.
    assert_eq!(meaning(&machine, "untrusted"), "both");
}

#[test]
fn what_the_configuration_says_of_a_root_goes_before_what_is_usual() {
    let text = |name: &str, key: &str| format!("---\nname: {name}\ndescription: D.\n{key}\n---\nx");
    for (said, expect) in [
        ("fence", "fence fence fence"),
        ("both", "both both fence"),
        ("advisory", "advisory advisory advisory"),
        ("grant", "grant both fence"),
    ] {
        let machine = Machine::new(|files| {
            files
                .file(
                    "home/.config/metier/config.toml",
                    format!("[[roots]]\npath = \"~/.claude/skills\"\nallowed_tools = \"{said}\"\n"),
                )
                .file("home/.claude/skills/list/SKILL.md", text("list", "allowed-tools: Read"))
                .file("home/.claude/skills/tools/SKILL.md", text("tools", "tools: [Read]"))
                // Nobody knows what was meant, so nothing is let through.
                .file("home/.claude/skills/open/SKILL.md", text("open", "disallowed-tools: \"Bash(rm:*\""))
        });
        let snapshot = machine.load();
        let meaning = |name: &str| {
            let (id, entry) = snapshot.entries().find(|(_, entry)| entry.name().as_str() == name).unwrap();
            snapshot.allowed_tools(id, snapshot.read(entry).unwrap().manifest().unwrap()).word()
        };
        assert_eq!(["list", "tools", "open"].map(meaning).join(" "), expect, "{said}");
    }
}

#[test]
fn a_document_that_is_a_link_is_read_where_it_leads() {
    let machine = Machine::new(|files| {
        files
            .file("elsewhere/text.md", "---\nname: linked\ndescription: L.\n---\nThe body.\n")
            .symlink("home/.claude/skills/linked/SKILL.md", "../../../../elsewhere/text.md")
    });
    let snapshot = machine.load();
    let entry = found(&snapshot, "linked");
    assert_eq!(snapshot.read(entry).unwrap().body(), "The body.\n");
    assert!(snapshot.cost(entry).activation.is_some());
}

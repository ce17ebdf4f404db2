//! From places and configuration to roots.

use crate::machine::{Machine, codes, found, listed, offered, origins};
use metier_catalog::{AllowedTools, Layout, Ownership, Preview, RootChoice, RootTrust, Standing, TrustStore};

#[test]
fn roots_are_in_the_order_of_precedence() {
    let machine = Machine::new(|files| {
        files
            .dir("home/project/sub/deep")
            .file("home/.config/metier/config.toml", "[[roots]]\npath = \"~/team/skills\"\n")
            .dir("home/team/skills")
    });
    let layout = machine.current("home/project/sub").layout();
    let expected = [
        "project.metier",
        "project.agents",
        "project.claude",
        "project.metier-2",
        "project.agents-2",
        "project.claude-2",
        "project.workspace",
        "project.agentmd",
        "project.agentmd-config",
        "user.metier",
        "user.agents",
        "user.claude",
        "user.openpollen",
        "user.core-agent",
        "config",
        "system",
    ];
    assert_eq!(origins(&layout.roots), expected);
    let meaning = |origin: &str| {
        layout.roots.iter().find(|root| root.origin.to_string() == origin).map(|root| root.allowed_tools)
    };
    for origin in ["project.workspace", "project.agentmd", "user.openpollen", "user.core-agent"] {
        assert_eq!(meaning(origin), Some(AllowedTools::Both), "{origin}");
    }
    for origin in ["project.claude", "user.agents", "config", "system"] {
        assert_eq!(meaning(origin), Some(AllowedTools::Grant), "{origin}");
    }
    let untrusted = layout.roots.iter().filter(|root| root.trust == RootTrust::Untrusted).count();
    assert_eq!(untrusted, 9);
}

#[test]
fn outside_a_repository_only_the_current_folder_is_looked_at() {
    let machine = Machine::new(|files| {
        files
            .skill("home/plain/.claude/skills/above", "Above.")
            .skill("home/plain/sub/.claude/skills/here", "Here.")
    });
    let snapshot = machine.current("home/plain/sub").load();
    assert_eq!(listed(&snapshot), ["project.claude:here untrusted"]);
}

#[test]
fn parents_up_to_the_repository_are_looked_at() {
    let machine = Machine::new(|files| {
        files
            .skill("home/project/.claude/skills/top", "Top.")
            .skill("home/project/a/.claude/skills/middle", "Middle.")
            .skill("home/project/a/b/.claude/skills/here", "Here.")
            .skill("home/project/agents/_config/skills/agentmd", "A.")
            .skill("home/.claude/skills/mine", "Mine.")
    });
    let snapshot = machine.current("home/project/a/b").load();
    let expected = [
        "project.claude:here untrusted",
        "project.claude-2:middle untrusted",
        "project.claude-3:top untrusted",
        "project.agentmd-config:agentmd untrusted",
        "user.claude:mine ready",
    ];
    assert_eq!(listed(&snapshot), expected);
}

#[test]
fn the_home_directory_is_no_project() {
    let machine = Machine::new(|files| files.skill("home/.claude/skills/mine", "Mine.").dir("home/.git"));
    let snapshot = machine.current("home").load();
    assert_eq!(listed(&snapshot), ["user.claude:mine ready"]);
    assert_eq!(codes(&snapshot), ["no-project"]);
    assert_eq!(snapshot.layout().standing, Standing::Untrusted);
}

/// A repository of dotfiles that holds the user's own folders.
#[test]
fn a_root_that_is_also_a_user_root_counts_as_the_users() {
    let machine = Machine::new(|files| {
        files
            .dir("home/dotfiles/.git")
            .skill("home/dotfiles/.claude/skills/mine", "Mine.")
            .symlink("home/.claude", "dotfiles/.claude")
    });
    let snapshot = machine.current("home/dotfiles").load();
    assert_eq!(listed(&snapshot), ["user.claude:mine ready"]);
}

#[test]
fn given_roots_replace_all_others() {
    let machine = Machine::new(|files| {
        files
            .skill("home/.claude/skills/user", "U.")
            .skill("home/project/.claude/skills/project", "P.")
            .skill("one/skills/a", "A.")
            .skill("two/skills/b", "B.")
            .skill("home/project/.agents/skills/given", "G.")
    });
    let snapshot =
        machine.load_roots(&["one/skills", "two/skills", "home/project/.agents/skills", "one/skills"]);
    assert_eq!(listed(&snapshot), ["cli.one:a ready", "cli.two:b ready", "cli.agents:given ready"]);
}

const CREW: &str = "id: crew\nagents:\n  main:\n    skills:\n      - name: inside\n        folderPath: ./_skills/inside\n      \
                    - name: outside\n        folderPath: ../elsewhere/outside\n      - name: gone\n        folderPath: gone\n";

#[test]
fn a_crew_file_names_skill_folders() {
    let build = || {
        Machine::new(|files| {
            files
                .file("home/project/team.skilled_crew.yaml", CREW)
                .skill("home/project/_skills/inside", "Inside.")
                .skill("home/elsewhere/outside", "Outside.")
        })
    };
    let machine = build();
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["project.crew:inside untrusted"]);
    let said: Vec<_> = snapshot.diagnostics().iter().map(|found| (found.code.name(), found.line())).collect();
    assert_eq!(said, [("crew-folder-outside", Some(8)), ("crew-folder-missing", Some(10))]);

    crate::trust::trust(&machine, metier_catalog::Ownership::Theirs);
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["project.crew:inside ready", "project.crew:outside ready"]);
    let root = snapshot.root(found(&snapshot, "inside"));
    assert_eq!(root.allowed_tools, AllowedTools::Both);
}

#[test]
fn a_crew_file_that_is_not_yaml_is_reported_with_its_place() {
    let machine = Machine::new(|files| files.file("home/project/x.skilled_crew.yaml", "agents:\n  a: [b\n"));
    let snapshot = machine.load();
    let said = &snapshot.diagnostics()[0];
    assert_eq!(said.code.name(), "crew-file-invalid");
    assert!(said.line().is_some());
}

#[test]
fn a_projects_configuration_narrows_until_it_is_trusted() {
    let text = "[[roots]]\npath = \"more\"\n[skills.mine]\nvisibility = \"off\"\n[skills.loud]\nvisibility = \"on\"\n";
    let machine = Machine::new(|files| {
        files
            .file("home/project/metier.toml", text)
            .file("home/.config/metier/config.toml", "[skills.loud]\nvisibility = \"user-only\"\n")
            .skill("home/project/more/extra", "Extra.")
            .skill("home/.claude/skills/mine", "Mine.")
            .skill("home/.claude/skills/loud", "Loud.")
    });
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["user.claude:loud user-only", "user.claude:mine off"]);
    assert_eq!(codes(&snapshot), ["config-untrusted"]);

    crate::trust::trust(&machine, metier_catalog::Ownership::Theirs);
    let snapshot = machine.load();
    assert_eq!(
        listed(&snapshot),
        ["project.more:extra ready", "user.claude:loud ready", "user.claude:mine off"]
    );
    assert_eq!(offered(&snapshot), ["extra", "loud"]);
}

#[test]
fn visibility_decides_who_is_offered_a_skill() {
    let text = "[skills.a]\nvisibility = \"on\"\n[skills.b]\nvisibility = \"name-only\"\n[skills.c]\nvisibility = \
                \"user-only\"\n[skills.d]\nvisibility = \"off\"\n";
    let machine = Machine::new(|mut files| {
        for name in ["a", "b", "c", "d"] {
            files = files.skill(format!("home/.claude/skills/{name}"), "Described.");
        }
        files.file("home/.config/metier/config.toml", text)
    });
    let snapshot = machine.load();
    let expected =
        ["user.claude:a ready", "user.claude:b name-only", "user.claude:c user-only", "user.claude:d off"];
    assert_eq!(listed(&snapshot), expected);
    let catalogue = snapshot.catalogue(&snapshot.catalogue_options(None)).text;
    assert!(catalogue.ends_with("- **a**: Described.\n- **b**\n"), "{catalogue}");
}

#[test]
fn a_broken_configuration_is_reported_and_the_rest_holds() {
    let machine = Machine::new(|files| {
        files
            .file(
                "home/.config/metier/config.toml",
                "[skills.a]\nvisibility = \"off\"\n[discovery]\ndepth = \"x\"\n",
            )
            .skill("home/.claude/skills/a", "A.")
    });
    let snapshot = machine.load();
    assert_eq!(listed(&snapshot), ["user.claude:a off"]);
    let said = &snapshot.diagnostics()[0];
    assert_eq!((said.code.name(), said.line(), said.column()), ("config-invalid", Some(4), Some(9)));
}

#[test]
fn another_trust_or_folder_does_not_read_the_configuration_again() {
    let user = "home/.config/metier/config.toml";
    let own = "home/project/metier.toml";
    let denying = |command: &str| format!("[gate]\ndeny = [\"command:{command}\"]\n");
    let machine = Machine::new(|files| {
        files
            .file(user, denying("user-before"))
            .file(own, denying("project-before"))
            .file("home/other/metier.toml", denying("other"))
    });
    let layout = machine.layout();
    let preview = Preview::of(&layout).unwrap();
    TrustStore::update(&machine.places.data, |store| store.trust(&preview, "now", Ownership::Theirs))
        .unwrap();
    let machine =
        machine.with(|files| files.file(user, denying("user-after")).file(own, denying("project-after")));
    let denied = |layout: &Layout| -> Vec<String> {
        layout.settings.gate.iter().flat_map(|layer| layer.config.deny.clone()).collect()
    };

    let trusted = layout.with_new_trust();
    assert_eq!((layout.standing, trusted.standing), (Standing::Untrusted, Standing::Trusted));
    assert_eq!(denied(&layout), ["command:user-before", "command:project-before"]);
    assert_eq!(denied(&trusted), denied(&layout));
    let other = layout.seen_from(&machine.files.join("home/other"), &RootChoice::Usual);
    assert_eq!(denied(&other), ["command:user-before", "command:other"]);
    assert_eq!(denied(&machine.layout()), ["command:user-after", "command:project-after"]);
}

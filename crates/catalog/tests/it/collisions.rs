//! Two skills, one name.

use crate::machine::{Machine, codes, found, listed, offered, skill};
use metier_catalog::Relation;

/// D03, D04, D16: the higher root wins, the loser is still there.
#[test]
fn the_higher_root_wins_the_name() {
    let machine = Machine::new(|files| {
        files
            .skill("home/.config/metier/skills/shared", "Metier's.")
            .skill("home/.agents/skills/shared", "Agents'.")
            .skill("home/.claude/skills/shared", "Claude's.")
            .skill("etc/skills/shared", "System's.")
            .skill("home/.agents/skills/only-agents", "One.")
            .skill("etc/skills/only-system", "Two.")
    });
    let snapshot = machine.load();
    let expected = [
        "user.metier:shared ready",
        "user.agents:only-agents ready",
        "user.agents:shared shadowed",
        "user.claude:shared shadowed",
        "system:only-system ready",
        "system:shared shadowed",
    ];
    assert_eq!(listed(&snapshot), expected);
    assert_eq!(found(&snapshot, "shared").description(), "Metier's.");
    assert_eq!(found(&snapshot, "user.claude:shared").description(), "Claude's.");
    assert_eq!(found(&snapshot, "system:shared").description(), "System's.");
    assert_eq!(found(&snapshot, "user:shared").description(), "Metier's.");
    assert_eq!(offered(&snapshot), ["shared", "only-agents", "only-system"]);

    let loser = found(&snapshot, "user.claude:shared");
    let said = &loser.diagnostics()[0];
    assert_eq!(said.code.name(), "name-shadowed");
    assert!(said.message.contains("home/.config/metier/skills/shared/SKILL.md"), "{}", said.message);
    assert_eq!(
        said.path.as_deref(),
        Some(machine.files.join("home/.claude/skills/shared/SKILL.md").as_path())
    );
}

/// D05: shadowing is whole-skill.
#[test]
fn files_never_leak_from_the_loser() {
    let machine = Machine::new(|files| {
        files
            .skill("one/shared", "Winner.")
            .skill("two/shared", "Loser.")
            .file("two/shared/references/a.md", "secret")
    });
    let snapshot = machine.load_roots(&["one", "two"]);
    let folder = snapshot.open(found(&snapshot, "shared")).unwrap();
    assert!(folder.read(&"references/a.md".parse().unwrap(), 100).is_err());
    let loser = snapshot.open(found(&snapshot, "cli.two:shared")).unwrap();
    assert!(loser.read(&"references/a.md".parse().unwrap(), 100).is_ok());
}

#[test]
fn equal_skills_are_shown_once_with_their_other_paths() {
    let machine = Machine::new(|files| {
        files
            .skill("home/.agents/skills/same", "Same.")
            .executable("home/.agents/skills/same/scripts/run.sh", "echo")
            .skill("home/.claude/skills/same", "Same.")
            .executable("home/.claude/skills/same/scripts/run.sh", "echo")
            .file("home/.claude/skills/same/.source.json", "{\"type\":\"local\"}")
            .skill("etc/skills/same", "Same.")
            .executable("etc/skills/same/scripts/run.sh", "exho")
    });
    let snapshot = machine.load();
    // The third has a script of the same size and another content.
    assert_eq!(listed(&snapshot), ["user.agents:same ready", "system:same shadowed"]);
    assert_eq!(snapshot.loaded(), 3);
    let (id, _) = snapshot.entries().next().unwrap();
    assert_eq!(snapshot.other_folders(id), [machine.files.join("home/.claude/skills/same")]);
}

/// An untrusted skill never shadows, and of two equal ones the trusted stays.
#[test]
fn what_may_not_be_used_hides_nothing() {
    let refused = "---\n- no\n---\n";
    let machine = Machine::new(|files| {
        files
            .skill("home/project/.claude/skills/deploy", "Evil.")
            .skill("home/project/.claude/skills/equal", "Equal.")
            .file("home/project/.claude/skills/refused/SKILL.md", refused)
            .skill("home/.agents/skills/disabled", "Disabled.")
            .skill("home/.agents/skills/off", "Off.")
            .file("home/.agents/skills/.disabled.json", "[\"disabled\"]")
            .file("home/.config/metier/config.toml", "[skills.\"user.agents:off\"]\nvisibility = \"off\"\n")
            .skill("home/.claude/skills/deploy", "Mine.")
            .skill("home/.claude/skills/equal", "Equal.")
            .skill("home/.claude/skills/refused", "Mine.")
            .skill("home/.claude/skills/disabled", "Mine.")
            .skill("home/.claude/skills/off", "Mine.")
    });
    let snapshot = machine.load();
    for name in ["deploy", "refused", "disabled", "off"] {
        assert_eq!(found(&snapshot, name).description(), "Mine.", "{name}");
    }
    let expected = [
        "project.claude:deploy untrusted",
        "user.agents:disabled disabled",
        "user.agents:off off",
        "user.claude:deploy ready",
        "user.claude:disabled ready",
        "user.claude:equal ready",
        "user.claude:off ready",
        "user.claude:refused ready",
    ];
    assert_eq!(listed(&snapshot), expected);
    assert_eq!(offered(&snapshot), ["deploy", "disabled", "equal", "off", "refused"]);
    assert!(!codes(&snapshot).contains(&"name-shadowed"));
    assert_eq!((snapshot.loaded(), snapshot.failures().len()), (9, 1));
}

/// D18: names that differ only in case or Unicode form.
#[test]
fn names_that_look_alike_are_reported() {
    let machine = Machine::new(|files| {
        files
            .file("root/1/SKILL.md", skill("name: deploy\ndescription: A.", "x"))
            .file("root/2/SKILL.md", skill("name: Deploy\ndescription: B.", "x"))
            .file("root/3/SKILL.md", skill("name: DEPLOY\ndescription: C.", "x"))
            .file("root/4/SKILL.md", skill("name: other\ndescription: D.", "x"))
    });
    let snapshot = machine.load_roots(&["root"]);
    let clashing: Vec<_> = snapshot
        .entries()
        .filter(|(_, entry)| entry.diagnostics().iter().any(|found| found.code.name() == "name-case-clash"))
        .map(|(_, entry)| entry.name().to_string())
        .collect();
    assert_eq!(clashing, ["Deploy", "DEPLOY"]);
    assert_eq!(found(&snapshot, "deploy").description(), "A.");
    assert_eq!(found(&snapshot, "DEPLOY").description(), "C.");
}

#[test]
fn slugs_that_clash_get_a_number() {
    let machine = Machine::new(|files| {
        files
            .file("root/a/SKILL.md", skill("name: My Skill!\ndescription: First.", "x"))
            .file("root/b/SKILL.md", skill("name: My, Skill\ndescription: Second.", "x"))
            .file("root/c/SKILL.md", skill("name: my-skill-2\ndescription: Third.", "x"))
            .file("root/d/SKILL.md", skill("name: pdf tools\ndescription: Fourth.", "x"))
            .file("root/e/SKILL.md", skill("name: pdf-tools\ndescription: Fifth.", "x"))
            .file("other/f/SKILL.md", skill("name: My Skill!\ndescription: Sixth.", "x"))
    });
    let snapshot = machine.load_roots(&["root", "other"]);
    let expected = [
        "cli.root:my-skill ready",
        "cli.root:my-skill-3 ready",
        "cli.root:my-skill-2 ready",
        "cli.root:pdf-tools-2 ready",
        "cli.root:pdf-tools ready",
        "cli.other:my-skill shadowed",
    ];
    assert_eq!(listed(&snapshot), expected);
    assert_eq!(found(&snapshot, "pdf-tools").description(), "Fifth.");
    assert_eq!(found(&snapshot, "My, Skill").description(), "Second.");
    assert_eq!(found(&snapshot, "My Skill!").description(), "First.");
    assert_eq!(codes(&snapshot).iter().filter(|code| **code == "slug-clash").count(), 2);
}

#[test]
fn a_folders_name_is_a_second_name_unless_it_is_anothers() {
    let machine = Machine::new(|files| {
        files
            .file("root/folder/SKILL.md", skill("name: named\ndescription: A.", "x"))
            .file("root/taken/SKILL.md", skill("name: other\ndescription: B.", "x"))
            .file("root/z/SKILL.md", skill("name: taken\ndescription: C.", "x"))
    });
    let snapshot = machine.load_roots(&["root"]);
    assert_eq!(found(&snapshot, "named").description(), "A.");
    assert_eq!(found(&snapshot, "folder").description(), "A.");
    assert_eq!(found(&snapshot, "taken").description(), "C.");
    assert_eq!(found(&snapshot, "other").description(), "B.");
}

/// What may not be used takes no second name away either.
#[test]
fn an_untrusted_skill_does_not_take_a_folders_name() {
    let machine = Machine::new(|files| {
        files
            .file("home/.claude/skills/deploy/SKILL.md", skill("name: deployer\ndescription: Mine.", "x"))
            .skill("home/project/.claude/skills/deploy", "Evil.")
            .file("home/project/.claude/skills/x/SKILL.md", skill("name: deploy-it\ndescription: Evil.", "x"))
    });
    let snapshot = machine.load();
    assert_eq!(found(&snapshot, "deploy").description(), "Mine.");
    let lookup = snapshot.find(&"project:deploy".parse().unwrap());
    assert!(matches!(lookup, metier_catalog::Lookup::Unusable(_, entry) if entry.description() == "Evil."));
}

#[test]
fn a_folder_name_that_several_skills_share_is_ambiguous() {
    let machine = Machine::new(|files| {
        files
            .file("one/tool/SKILL.md", skill("name: first\ndescription: A.", "x"))
            .file("two/tool/SKILL.md", skill("name: second\ndescription: B.", "x"))
    });
    let snapshot = machine.load_roots(&["one", "two"]);
    let lookup = snapshot.find(&"tool".parse().unwrap());
    assert!(matches!(&lookup, metier_catalog::Lookup::Ambiguous(several) if several.len() == 2));
    assert_eq!(found(&snapshot, "first").description(), "A.");
}

#[test]
fn many_skills_of_one_slug_are_settled_in_time() {
    let machine = Machine::new(|mut files| {
        for at in 0..2_000 {
            let text =
                skill(&format!("name: \"same {}\"\ndescription: Number {at}.", "!".repeat(at % 50)), "x");
            files = files.file(format!("root/s{at:05}/SKILL.md"), text);
        }
        files
    });
    let start = std::time::Instant::now();
    let snapshot = machine.load_roots(&["root"]);
    assert_eq!(snapshot.loaded(), 2_000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    let holders = snapshot.entries().filter(|(_, entry)| entry.relation() == Relation::Holder).count();
    assert_eq!(holders, 50);
}

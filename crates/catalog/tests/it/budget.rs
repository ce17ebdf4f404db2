//! The catalogue over real skills.

use crate::machine::{Machine, found, offered, skill};
use metier_catalog::{Disclosure, Tokens};

#[test]
fn the_order_is_by_precedence_and_then_by_name() {
    let machine = Machine::new(|files| {
        files
            .skill("home/.claude/skills/b", "B.")
            .file("home/.claude/skills/z/SKILL.md", skill("name: a\ndescription: A.", "x"))
            .skill("home/.agents/skills/c", "C.")
            .skill("etc/skills/0", "Zero.")
    });
    let snapshot = machine.load();
    assert_eq!(offered(&snapshot), ["c", "a", "b", "0"]);
    let options = snapshot.catalogue_options(None);
    assert_eq!(snapshot.catalogue(&options).text, machine.load().catalogue(&options).text);
}

#[test]
fn the_three_renderings_show_the_same_skills() {
    let machine = Machine::new(|files| {
        let text = skill(
            "name: pdf\ndescription: Reads PDFs.\nallowed-tools: Read Bash(x:*)",
            "# PDF\n\nDo !`id` $1.",
        );
        files
            .file("root/pdf/SKILL.md", text)
            .file("root/none/SKILL.md", skill("name: none\ndescription: None.\ntools: []", ""))
            .file(
                "root/user/SKILL.md",
                skill("name: user\ndescription: U.\ndisable-model-invocation: yes", "x"),
            )
    });
    let snapshot = machine.load_roots(&["root"]);
    let mut options = snapshot.catalogue_options(None);
    let markdown = snapshot.catalogue(&options).text;
    assert!(markdown.ends_with("- **none**: None.\n- **pdf**: Reads PDFs.\n"), "{markdown}");

    options.disclosure = Disclosure::Xml;
    let xml = snapshot.catalogue(&options).text;
    let location = machine.files.join("root/pdf/SKILL.md");
    assert!(xml.contains(&format!("<location>{}</location>", location.display())), "{xml}");
    assert_eq!(xml.matches("<skill>").count(), 2);

    options.disclosure = Disclosure::Eager;
    let eager = snapshot.catalogue(&options).text;
    let expected = "### Skill: none\n**Description:** None.\n**Allowed tools:** none\n\n### Skill: pdf\n**Description:** Reads \
                    PDFs.\n**Allowed tools:** Read, Bash(x:*)\n\n# PDF\n\nDo !`id` $1.\n\n";
    assert!(eager.ends_with(expected), "{eager}");
}

#[test]
fn settings_give_the_options() {
    let text = "[catalog]\nwindow = 100000\ndisclosure = \"xml\"\n";
    let machine = Machine::new(|files| files.file("home/.config/metier/config.toml", text));
    let options = machine.load().catalogue_options(None);
    assert_eq!((options.disclosure, options.budget), (Disclosure::Xml, Tokens(2_000)));
    assert_eq!(machine.load().catalogue_options(Some(1_000_000)).budget, Tokens(20_000));
}

#[test]
fn each_skill_has_a_cost() {
    let body = "x".repeat(4_000);
    let machine = Machine::new(|files| {
        files
            .file("root/a/SKILL.md", skill("name: a\ndescription: Twelve bytes", &body))
            .file("root/b/SKILL.md", skill("name: b\ndescription: B.\ndisable-model-invocation: true", "x"))
    });
    let snapshot = machine.load_roots(&["root"]);
    let cost = snapshot.cost(found(&snapshot, "a"));
    assert_eq!(cost.catalogue, Some(Tokens::of("- **a**: Twelve bytes\n")));
    assert!(cost.activation.is_some_and(|tokens| (1_000..1_100).contains(&tokens.0)));
    assert_eq!(snapshot.cost(found(&snapshot, "b")).catalogue, None);
}

#[test]
fn names_are_an_enum_while_there_are_few() {
    let machine = |count: usize| {
        Machine::new(|mut files| {
            for at in 0..count {
                files = files.skill(format!("root/s{at:02}"), "S.");
            }
            files
        })
    };
    assert_eq!(machine(64).load_roots(&["root"]).name_enum().unwrap().len(), 64);
    assert_eq!(machine(65).load_roots(&["root"]).name_enum(), None);
}

#[test]
fn the_user_is_told_what_did_not_fit() {
    let machine = Machine::new(|mut files| {
        for at in 0..100 {
            files =
                files.skill(format!("root/skill-{at:02}"), "Does something that takes a few words to say.");
        }
        files
    });
    let snapshot = machine.load_roots(&["root"]);
    let mut options = snapshot.catalogue_options(None);
    options.budget = Tokens(400);
    let told = snapshot.catalogue(&options).report.to_string();
    assert!(told.starts_with("100 skills: ") && told.contains(" only counted; "), "{told}");
    options.disclosure = Disclosure::Eager;
    let eager = snapshot.catalogue(&options);
    assert!(eager.text.contains("Use the `skill_search` tool"), "{}", eager.text);
    assert!(eager.report.tokens <= Tokens(400));
}

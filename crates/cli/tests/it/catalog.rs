//! `metier catalog`

use crate::binary::{metier, workspace};

fn three() -> metier_testkit::Workspace {
    workspace()
        .file("project/s/b/SKILL.md", "---\nname: b\ndescription: |\n  Two\n  lines.\nwhen_to_use: Always.\nargument-hint: \"[x]\"\n---\n# B\n\nBody of b.\n")
        .file("project/s/a/SKILL.md", "---\nname: a\ndescription: <b>bold</b> & more\n---\nBody of a.\n")
}

#[test]
fn markdown_is_a_line_per_skill_and_nothing_else_on_standard_output() {
    let run = metier(&three(), &["catalog", "--root", "s"]);
    assert_eq!(
        run.stdout,
        "## Available Skills\n\nEach of these is a set of instructions for one kind of work. Before you do such work, \
         load its instructions with the `skill_use` tool.\n\n\
         - **a**: &lt;b>bold&lt;/b> & more\n- **b** [x]: Two lines. Always.\n"
    );
    assert!(run.stderr.starts_with("2 skills, about "), "{}", run.stderr);
}

#[test]
fn xml_is_escaped_and_says_where_each_skill_is() {
    let run = metier(&three(), &["catalog", "--root", "s", "--format", "xml"]);
    assert!(run.stdout.contains("&lt;b&gt;bold&lt;/b&gt; &amp; more"), "{}", run.stdout);
    assert!(run.stdout.contains("s/a/SKILL.md</location>"), "{}", run.stdout);
}

#[test]
fn eager_has_the_bodies() {
    let run = metier(&three(), &["catalog", "--root", "s", "--format", "eager"]);
    assert!(run.stdout.contains("### Skill: b\n**Description:** Two lines. Always.\n\n"), "{}", run.stdout);
    assert!(run.stdout.contains("Body of a."), "{}", run.stdout);
}

#[test]
fn over_budget_the_model_and_the_user_are_told() {
    let mut setup = workspace();
    for number in 0..40 {
        setup = setup
            .skill(format!("project/s/skill-{number:02}"), &"A long description of something. ".repeat(6));
    }
    let run = metier(&setup, &["catalog", "--root", "s", "--budget", "400"]);
    assert!(run.stdout.len() <= 1_600, "{} bytes", run.stdout.len());
    assert!(run.stdout.contains("skill_search") && run.stdout.contains("40"), "{}", run.stdout);
    assert!(
        run.stdout.contains(&"A long description of something. ".repeat(6).trim().to_owned()),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("by name alone"), "{}", run.stderr);
    let again = metier(&setup, &["catalog", "--root", "s", "--budget", "400"]);
    assert_eq!(run.stdout, again.stdout);
}

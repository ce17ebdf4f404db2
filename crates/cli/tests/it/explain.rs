//! `metier explain`

use crate::binary::{metier, workspace};

fn explained(setup: &metier_testkit::Workspace, args: &[&str], verdict: &str, pieces: &[&str]) {
    let mut json = args.to_vec();
    json.push("--json");
    let answer = metier(setup, &json).json();
    assert_eq!(answer["verdict"], verdict, "{answer:#}");
    let run = metier(setup, args);
    for piece in pieces {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    assert_eq!(run.code, 0);
}

#[test]
fn a_repaired_skill_says_how_it_was_read_with_the_line_underlined() {
    let text = "---\nname: pdf\ndescription: Use when: asked about PDFs\n---\n";
    explained(
        &workspace().file("project/pdf/SKILL.md", text),
        &["explain", "pdf", "--root", "."],
        "ready",
        &[
            "after repairs: unquoted-colon",
            "warning[unquoted-colon]: the value of `description` contains `: ` and was read as text",
            " --> pdf/SKILL.md:3:14",
            "3 | description: Use when: asked about PDFs",
            "  |              ^^^^^^^^^^^^^^^^^^^^^^^^^^",
            "a strict parser says: mapping values are not allowed in this context",
            "put the value in quotes",
        ],
    );
}

#[test]
fn every_fate_of_a_name_has_an_answer() {
    let untrusted = workspace().file("project/metier.toml", "").skill("project/.claude/skills/x", "d");
    explained(&untrusted, &["explain", "x"], "untrusted", &["metier trust"]);
    let disabled = workspace().skill("project/s/x", "d").file("project/s/.disabled.json", "[\"x\"]");
    explained(&disabled, &["explain", "x", "--root", "s"], "disabled", &[".disabled.json", "metier enable"]);
    let hidden = workspace()
        .file("project/s/x/SKILL.md", "---\nname: x\ndescription: d\ndisable-model-invocation: true\n---\n");
    explained(&hidden, &["explain", "x", "--root", "s"], "user-only", &["disable-model-invocation"]);
    let broken = workspace().file("project/s/x/SKILL.md", "---\nname: !t x\n---\n");
    explained(&broken, &["explain", "x", "--root", "s"], "failed", &["custom-tag", "s/x/SKILL.md:2:7"]);
    let shadowed = workspace().skill("project/a/x", "one").skill("project/b/x", "two");
    explained(&shadowed, &["explain", "x", "--root", "a", "--root", "b"], "ready", &["shadows", "b/x"]);
    let missing = workspace().skill("project/s/deploy", "d");
    explained(&missing, &["explain", "deplyo", "--root", "s"], "not-found", &["deploy", "looked in"]);
    let off = workspace()
        .skill("home/.claude/skills/x", "d")
        .file("home/.config/metier/config.toml", "[skills.x]\nvisibility = \"off\"\n");
    explained(&off, &["explain", "x"], "off", &["config.toml"]);
}

#[test]
fn a_skill_over_the_budget_is_said_to_be() {
    let long = "word ".repeat(120);
    let mut setup = workspace().file("home/.config/metier/config.toml", "[catalog]\nbudget = 200\n");
    for name in ["a", "b", "c"] {
        setup = setup.skill(format!("home/.claude/skills/{name}"), &long);
    }
    explained(&setup, &["explain", "c"], "ready", &["does not fit into the budget"]);
}

//! One clear answer about one name.

use crate::machine::{Machine, skill};
use metier_catalog::{CatalogueOptions, Explanation, InCatalogue, Lookup, Parsing, State, Tokens, Verdict};

fn explain(machine: &Machine, name: &str) -> Explanation {
    let snapshot = machine.load_all();
    snapshot.explain(name, &snapshot.catalogue_options(None))
}

fn machine() -> Machine {
    Machine::new(|files| {
        files
            .skill("home/.agents/skills/deploy", "Mine.")
            .skill("home/.claude/skills/deploy", "Other.")
            .skill("home/.claude/skills/copy", "Copy.")
            .skill("etc/skills/copy", "Copy.")
            .skill("home/.claude/skills/disabled", "D.")
            .file("home/.claude/skills/.disabled.json", "[\"disabled\"]")
            .skill("home/.claude/skills/off", "O.")
            .file("home/.config/metier/config.toml", "[skills.off]\nvisibility = \"off\"\n")
            .file(
                "home/.claude/skills/hidden/SKILL.md",
                skill("name: hidden\ndescription: H.\ndisable-model-invocation: true", "x"),
            )
            .file("home/.claude/skills/odd/SKILL.md", skill("name: odd\ndescription: Use when: asked", "x"))
            .file("home/.claude/skills/broken/SKILL.md", "---\n- list\n---\n")
            .skill("home/project/.claude/skills/strange", "S.")
    })
}

#[test]
fn every_verdict_has_an_answer_and_advice() {
    let machine = machine();
    let table = [
        ("deploy", Verdict::Stands(State::Ready), "the model sees it and you can use it", None),
        ("user.claude:deploy", Verdict::Stands(State::Shadowed), "has its name", Some("user.claude:deploy")),
        ("disabled", Verdict::Stands(State::Disabled), "it is disabled", Some("metier enable disabled")),
        ("off", Verdict::Stands(State::Off), "the configuration turns it off", Some("config.toml")),
        (
            "hidden",
            Verdict::Stands(State::UserOnly),
            "the model is not told of it",
            Some("disable-model-invocation"),
        ),
        ("strange", Verdict::Stands(State::Untrusted), "not trusted", Some("metier trust --preview")),
        ("broken", Verdict::Failed, "could not be loaded", None),
        ("deplyo", Verdict::NotFound, "no skill is called `deplyo`", Some("Did you mean `deploy`?")),
        ("deploy@^9", Verdict::NoVersion, "no such version", Some("one without a version")),
        ("../x", Verdict::Invalid, "is a path", None),
    ];
    for (name, verdict, answer, advice) in table {
        let explanation = explain(&machine, name);
        assert_eq!(explanation.verdict, verdict, "{name}");
        assert!(explanation.answer.contains(answer), "{name}: {}", explanation.answer);
        assert!(explanation.answer.ends_with('.'), "{name}: {}", explanation.answer);
        let all = explanation.advice.join(" ");
        assert!(advice.is_none_or(|advice| all.contains(advice)), "{name}: {all}");
        assert!(explanation.advice.iter().all(|one| one.ends_with(['.', '?'])), "{name}: {all}");
    }
}

#[test]
fn an_explanation_says_who_shadows_whom_and_where_copies_are() {
    let machine = machine();
    let winner = &explain(&machine, "deploy").skills[0];
    assert_eq!(winner.shadows, [machine.files.join("home/.claude/skills/deploy/SKILL.md")]);
    let loser = &explain(&machine, "user.claude:deploy").skills[0];
    assert_eq!(loser.shadowed_by, Some(machine.files.join("home/.agents/skills/deploy/SKILL.md")));
    assert_eq!(loser.reasons[0].kind, "shadowed");
    let copied = &explain(&machine, "copy").skills[0];
    assert_eq!(copied.copies, [machine.files.join("etc/skills/copy")]);
    let odd = &explain(&machine, "odd").skills[0];
    assert_eq!(odd.parsed, Parsing::Repaired(vec!["unquoted-colon"]));
    assert_eq!(odd.catalogue, InCatalogue::Described);
    let disabled = &explain(&machine, "disabled").skills[0];
    assert!(disabled.reasons[0].text.contains("home/.claude/skills/.disabled.json"));
}

#[test]
fn what_was_not_found_says_where_was_looked() {
    let explanation = explain(&machine(), "nowhere-near");
    let exists = |origin: &str| {
        explanation.searched.iter().find(|one| one.origin.to_string() == origin).map(|one| one.exists)
    };
    assert_eq!(exists("user.claude"), Some(true));
    assert_eq!(exists("user.openpollen"), Some(false));
    assert_eq!(exists("project.metier"), Some(false));
}

#[test]
fn a_skill_over_budget_is_explained() {
    let snapshot = machine().load();
    let catalogue = CatalogueOptions { budget: Tokens(45), ..CatalogueOptions::default() };
    let explanation = snapshot.explain("odd", &catalogue);
    assert_eq!(explanation.skills[0].catalogue, InCatalogue::OverBudget);
    assert!(explanation.advice.iter().any(|advice| advice.contains("budget")));
}

#[test]
fn changes_since_trust_are_explained() {
    let machine = machine();
    crate::trust::trust(&machine, metier_catalog::Ownership::Theirs);
    let machine = machine.with(|files| files.file("home/project/.claude/skills/strange/scripts/x.sh", "x"));
    let snapshot = machine.load();
    let options = snapshot.catalogue_options(None);
    let explanation = snapshot.explain("strange", &options);
    assert_eq!(explanation.verdict, Verdict::Stands(State::Ready));
    assert_eq!(explanation.skills[0].trust_changes, ["code `scripts/x.sh` is new"]);
    assert!(explanation.skills[0].diagnostics.iter().any(|found| found.code.name() == "trust-changed"));
}

#[test]
fn an_explanation_is_json() {
    let json = serde_json::to_value(explain(&machine(), "odd")).unwrap();
    assert_eq!(json["verdict"], "ready");
    assert_eq!(json["skills"][0]["origin"], "user.claude");
    assert_eq!(json["skills"][0]["parsed"]["repaired"][0], "unquoted-colon");
    assert_eq!(json["skills"][0]["diagnostics"][0]["code"], "unquoted-colon");
    assert_eq!(json["skills"][0]["diagnostics"][0]["line"], 3);
}

/// D14 and the rule on explicit references: everything that is wrong at once.
#[test]
fn a_list_of_references_is_resolved_or_refused_as_a_whole() {
    let snapshot = machine().load();
    let ids = snapshot.resolve(["deploy", "user.claude:deploy", "odd"]).unwrap();
    assert_eq!(ids.len(), 3);
    let problems =
        snapshot.resolve(["deploy", "../outside", "broken", "gone", "disabled", "strange"]).unwrap_err();
    let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 5);
    assert_eq!(shown[0], "`../outside`: `../outside` is a path; a skill is referred to by its name");
    assert!(shown[1].contains("mapping"), "{}", shown[1]);
    assert_eq!(shown[2], "`gone`: there is no such skill");
    assert!(shown[3].ends_with("is disabled"), "{}", shown[3]);
    assert!(shown[4].ends_with("is untrusted"), "{}", shown[4]);
}

#[test]
fn unusable_skills_are_found_and_say_so() {
    let snapshot = machine().load();
    for name in ["disabled", "off", "strange"] {
        assert!(matches!(snapshot.find(&name.parse().unwrap()), Lookup::Unusable(..)), "{name}");
    }
}

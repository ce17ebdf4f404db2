//! `metier stats`

use crate::binary::{metier, without_bundled};
use metier_store::{Activated, By, EventKind, Offer, Outcome, SessionId, Started, Store, Usage, Used};
use metier_testkit::Workspace;
use serde_json::{Value, json};

fn store(workspace: &Workspace) -> Store {
    Store::open(&workspace.join("home/.local/share/metier/store/metier.db")).unwrap()
}

fn offered(names: &[&str], abstained: bool) -> EventKind {
    let shortlist =
        names.iter().zip(1..).map(|(name, rank)| Offer { name: (*name).to_owned(), rank, score: 1.0 });
    EventKind::Offered { query: String::new(), shortlist: shortlist.collect(), abstained }
}

fn used(store: &Store, session: SessionId, skill: &str, by: By, outcome: Outcome) {
    let activated = Activated { skill: skill.to_owned(), by, ..Activated::default() };
    store.append(session, EventKind::Activated(activated)).unwrap();
    let used = Used {
        skill: skill.to_owned(),
        origin: "user".to_owned(),
        digest: String::new(),
        tags: Vec::new(),
        by,
        usage: Usage { input: 1_000, output: 34, cached: 5, cache_written: 0 },
        cost_micros: 12_300,
        outcome,
    };
    store.append(session, EventKind::Used(used)).unwrap();
}

/// Three skills, of which two were used: one by the model and by the user, one at the second rank.
fn history() -> Workspace {
    let workspace = without_bundled()
        .skill("home/.config/metier/skills/deploy", "Deploys things.")
        .skill("home/.config/metier/skills/review", "Reviews things.")
        .skill("home/.config/metier/skills/sleepy", "Is offered and sleeps.");
    let store = store(&workspace);
    let project = workspace.join("project").canonicalize().unwrap().display().to_string();
    let begin = |request: &str| {
        let project = Some(project.clone());
        store.begin(Started { request: request.to_owned(), project, ..Started::default() }).unwrap()
    };
    let first = begin("deploy it");
    store.append(first, offered(&["deploy", "sleepy"], false)).unwrap();
    used(&store, first, "deploy", By::Model, Outcome::Done);
    store.append(first, EventKind::Said { text: "/deploy".to_owned(), by: By::User }).unwrap();
    used(&store, first, "deploy", By::User, Outcome::Failed);
    let second = begin("look at it");
    store.append(second, offered(&["sleepy", "review"], true)).unwrap();
    used(&store, second, "review", By::Model, Outcome::Done);
    let third = begin("sing");
    store.append(third, offered(&[], true)).unwrap();
    workspace
}

#[test]
fn each_skill_has_its_line_and_those_nobody_uses_are_named() {
    let workspace = history();
    let shown = metier(&workspace, &["stats"]).stdout;
    let line = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    let deploy = line("deploy");
    let words: Vec<&str> = deploy.split_whitespace().collect();
    assert_eq!(
        words,
        ["deploy", "1", "2", "1", "2,068", "0.0246", "just", "now", "model", "1,", "user", "1"],
        "{shown}"
    );
    assert!(line("review").contains("model 1"), "{shown}");
    assert!(shown.contains("never used (1): sleepy"), "{shown}");

    let json = metier(&workspace, &["stats", "--json"]).json();
    assert_eq!(json["skills"][0]["skill"], "deploy");
    assert_eq!(json["skills"][0]["by"]["model"], 1);
    assert_eq!(json["skills"][0]["by"]["user"], 1);
    assert_eq!((&json["skills"][0]["used"], &json["skills"][0]["succeeded"]), (&json!(2), &json!(1)));
    assert_eq!(json["never_used"], json!(["sleepy"]));

    let one = metier(&workspace, &["stats", "--skill", "review", "--json"]).json();
    assert_eq!(one["skills"].as_array().unwrap().len(), 1);
    assert_eq!(one["never_used"], json!([]));
    // What happened in another project does not count here.
    let elsewhere = Started { project: Some("/elsewhere".to_owned()), ..Started::default() };
    let other = Store::begin(&store(&workspace), elsewhere).unwrap();
    used(&store(&workspace), other, "review", By::User, Outcome::Done);
    assert_eq!(metier(&workspace, &["stats", "--skill", "review", "--json"]).json(), one);
    let all = metier(&workspace, &["stats", "--all", "--skill", "review", "--json"]).json();
    assert_eq!(all["skills"][0]["used"].as_u64(), one["skills"][0]["used"].as_u64().map(|used| used + 1));
    let late = metier(&workspace, &["stats", "--since", "2100-01-01"]).stdout;
    assert!(late.contains("no skill was used") && late.contains("deploy"), "{late}");
}

#[test]
fn routing_says_at_which_rank_skills_were_found_and_which_are_passed_over() {
    let workspace = history();
    let json = metier(&workspace, &["stats", "--routing", "--json"]).json();
    assert_eq!((&json["requests"], &json["abstained"]), (&json!(3), &json!(2)), "{json}");
    assert_eq!(json["ranks"], json!({"1": 1, "2": 1}));
    assert_eq!(json["offered_never_chosen"], json!(["sleepy"]));
    assert_eq!((&json["routing"]["requests"], &json["routing"]["unused"]), (&json!(2), &json!(1)));
    assert_eq!(json["routing"]["hit_at_1"], json!(0.5));
    let shown = metier(&workspace, &["stats", "--routing"]).stdout;
    for piece in [
        "3 requests: a skill was used for 2, none for 1",
        "abstained 2 times",
        "50 %",
        "offered and never chosen (1): sleepy",
    ] {
        assert!(shown.contains(piece), "{piece}\n{shown}");
    }
}

#[test]
fn where_nothing_has_run_nothing_is_made_and_everything_is_unused() {
    let workspace = without_bundled().skill("home/.config/metier/skills/deploy", "Deploys things.");
    let json: Value = metier(&workspace, &["stats", "--json"]).json();
    assert_eq!(json, json!({"skills": [], "never_used": ["deploy"]}));
    assert!(metier(&workspace, &["stats", "--routing"]).stdout.contains("no request was routed yet"));
    assert!(!workspace.join("home/.local/share/metier/store").exists());
}

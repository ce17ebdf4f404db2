//! Tool calls as a model makes them: found skills and refused ones, the gate, activation, search, reading.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_activation::Invoker;
use metier_catalog::{EntryId, Places};
use metier_policy::{Layer, List, Owner, Source};
use metier_runtime::{
    Coverage, Entrance, Outcome, SkillSession, Skills, SkillsBuilder, Surface, Toolset, Visible,
};
use metier_sandbox::{Choice, Helper, Setup, Tier};
use metier_testkit::Workspace;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::helper;

/// A machine with skills of the user's, and of a project that is not trusted. Sessions on it are as a program begins them.
pub(crate) struct TestSkills {
    pub(crate) workspace: Workspace,
    pub(crate) skills: Skills,
}

impl TestSkills {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self::with(workspace, |builder| builder)
    }

    /// The same, with more to say about it.
    pub(crate) fn with(workspace: Workspace, more: impl FnOnce(SkillsBuilder) -> SkillsBuilder) -> Self {
        let workspace = workspace.dir("home/project/.git");
        let at = |path: &str| workspace.join(path);
        let places = Places {
            home: Some(at("home")),
            current: at("home/project"),
            temp: std::env::temp_dir(),
            config: at("home/.config/metier"),
            data: at("home/.local/share/metier"),
            cache: None,
            remote: None,
            git_configs: Vec::new(),
            bundled: None,
            user_skills: at("home/.config/metier/skills"),
            system_skills: at("etc/skills"),
        };
        let mut setup = Setup::new(std::env::temp_dir());
        setup.helper = Helper::Program(helper());
        setup.choice = Choice::Only(Tier::Namespaces);
        let skills = more(Skills::builder().places(places).setup(setup)).open();
        Self { workspace, skills }
    }

    /// Skills of each kind, and a rule against something.
    fn denying(rule: &str) -> Self {
        let layer = Layer::new(Source::new(Owner::User, "test")).list(List::Deny, [rule]);
        Self::with(skills_of_each_kind(), |builder| builder.rules(layer))
    }

    pub(crate) fn session(&self, surface: Surface) -> SkillSession {
        self.skills.session_on(surface)
    }

    /// The session of an agent with a list of its own.
    fn listed(&self, surface: Surface, names: &[&str]) -> SkillSession {
        self.skills.session_with(surface, names.iter().copied()).unwrap()
    }

    fn id(&self, name: &str) -> EntryId {
        let snapshot = self.skills.snapshot();
        let found = snapshot.entries().find(|(_, entry)| entry.name().as_str() == name);
        found.map(|(id, _)| id).unwrap()
    }
}

/// What the model gets.
pub(crate) fn text(session: &SkillSession, tool: &str, input: &Value) -> String {
    session.call(tool, input).text
}

/// A skill of each kind.
fn skills_of_each_kind() -> Workspace {
    let user = "home/.claude/skills";
    Workspace::new()
        .file(format!("{user}/deploy/SKILL.md"), "---\nname: deploy\ndescription: Deploys.\n---\nDo it.\n")
        .file(format!("{user}/deploy/references/a.md"), "# A\n")
        .file(format!("{user}/deploy/scripts/a.sh"), "echo \"<$1>\"; echo e >&2; exit ${2:-0}\n")
        .skill(format!("{user}/review-pr"), "Reviews.")
        .skill(format!("{user}/old"), "Disabled.")
        .file(format!("{user}/.disabled.json"), "[\"old\"]")
        .file(
            format!("{user}/mine/SKILL.md"),
            "---\nname: mine\ndescription: M.\ndisable-model-invocation: true\n---\nMine.\n",
        )
        .file(format!("{user}/mine/references/a.md"), "mine\n")
        .file(format!("{user}/broken/SKILL.md"), "---\nname: !x y\n---\n")
        .file("home/project/.claude/skills/trap/SKILL.md", "---\nname: !obey y\n---\n")
        .skill("home/project/.claude/skills/theirs", "Untrusted.")
}

/// A machine with a skill of each kind.
pub(crate) fn test_skills() -> TestSkills {
    TestSkills::new(skills_of_each_kind())
}

#[test]
fn every_skill_that_may_not_be_had_has_an_answer_of_its_own() {
    let skills = test_skills();
    let session = skills.session(Surface::Canonical);
    let check = |name: &str, expect: &str| {
        for (tool, more) in
            [("skill_use", json!({})), ("skill_read_file", json!({ "file_path": "SKILL.md" }))]
        {
            let mut input = more;
            input["skill_name"] = json!(name);
            let result = session.call(tool, &input);
            assert_eq!(result.text, expect, "{tool}");
            assert_eq!((result.outcome, result.message, result.activated), (Outcome::Refused, None, None));
        }
    };
    check("deplyo", "there is no skill `deplyo`; did you mean `deploy`?");
    check("zzzzzz", "there is no skill `zzzzzz`; there are `deploy`, `review-pr`");
    // The nearest name belongs to a skill that nothing may be told of.
    check("theirz", "there is no skill `theirz`; there are `deploy`, `review-pr`");
    check("old", "the skill `old` is disabled; the user can switch it on: `metier enable old`");
    check(
        "theirs",
        "the skill `theirs` belongs to a project that is not trusted; the user can look at it and then run `metier trust`",
    );
    check(
        "mine",
        "the skill `mine` is started by the user alone; ask for `/mine`, or do the work without it",
    );
    check("../etc", "`../etc` is a path; a skill is referred to by its name; give the name of a skill");
    // The text of an untrusted project's broken file is never quoted.
    check(
        "trap",
        "the skill `trap` belongs to a project that is not trusted; the user can look at it and then run `metier trust`",
    );
    let text = text(&session, "skill_use", &json!({ "skill_name": "broken" }));
    assert!(text.starts_with("the skill `broken` cannot be loaded: "), "{text}");
    assert!(session.active().is_empty());
}

#[test]
fn an_agent_with_a_list_sees_nothing_else() {
    let skills = test_skills();
    let canonical = skills.listed(Surface::Canonical, &["deploy"]);
    let input = json!({ "skill_name": "review-pr" });
    assert_eq!(
        text(&canonical, "skill_use", &input),
        "the skill `review-pr` is not on this agent's list, which names `deploy`"
    );
    assert_eq!(
        text(&skills.listed(Surface::Agentmd, &["deploy"]), "skill_use", &input),
        "Skill 'review-pr' is not enabled for this agent. Available: deploy"
    );
    let adk = skills.listed(Surface::Adk, &["deploy"]);
    assert!(!text(&adk, "list_skills", &json!({})).contains("review-pr"));
    assert_eq!(
        text(&adk, "load_skill", &json!({ "name": "review-pr" })),
        r#"{"error":"load frontmatter for skill \"review-pr\": skill not found: review-pr"}"#
    );
    let input = json!({ "skill_name": "review-pr", "resource_path": "SKILL.md" });
    assert_eq!(
        text(&adk, "load_skill_resource", &input),
        r#"{"error":"load resource 'SKILL.md' from skill 'review-pr': skill not found: review-pr"}"#
    );
    // The state of a skill that is not on the list is not told either.
    assert_eq!(
        text(&canonical, "skill_use", &json!({ "skill_name": "theirs" })),
        "the skill `theirs` is not on this agent's list, which names `deploy`"
    );
    let none = skills.listed(Surface::Agentmd, &[]);
    assert_eq!(none.toolset().definitions().count(), 0);
    assert_eq!(
        text(&none, "skill_use", &json!({ "skill_name": "deploy" })),
        "Skill 'deploy' is not enabled for this agent. Available: none"
    );
    let problems =
        skills.skills.session_with(Surface::Canonical, ["deploy", "missing", "../outside"]).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn an_activation_is_a_confirmation_and_a_message_behind_it() {
    let skills = test_skills();
    for (surface, tool, input) in [
        (Surface::Canonical, "skill_use", json!({ "skill_name": "deploy", "arguments": "x" })),
        (Surface::Agentmd, "skill_use", json!({ "skill_name": "user:deploy" })),
        (Surface::ClaudeCode, "Skill", json!({ "skill": "deploy", "args": ["x", "y"] })),
    ] {
        let session = skills.session(surface);
        let result = session.call(tool, &input);
        assert_eq!(result.text, "Skill 'deploy' activated successfully. Instructions will follow.");
        let message = result.message.unwrap();
        assert_eq!(message.skill, "deploy");
        let digest = session.active().pop().unwrap().digest;
        let start = format!(
            "<skill-context name=\"deploy\" origin=\"user.claude\" digest=\"{digest}\">\n# Skill: deploy\nDo it.\n"
        );
        assert!(message.text.starts_with(&start), "{}", message.text);
        assert!(message.text.ends_with("\n</skill-context>"), "{}", message.text);
        assert_eq!(message.text.matches("skill-context").count(), 2, "{}", message.text);
        assert_eq!(result.activated, Some(skills.id("deploy")));
        assert!(result.decision.is_some_and(|decision| decision.is_allowed()));
    }
    let denied = TestSkills::denying("skill:deploy");
    let session = denied.session(Surface::Canonical);
    let result = session.call("skill_use", &json!({ "skill_name": "deploy" }));
    assert_eq!(result.text, "refused: the deny rule `skill:deploy` in `test` says so");
    assert_eq!((result.outcome, result.message, result.activated), (Outcome::Refused, None, None));
    assert!(session.active().is_empty() && session.scopes().rules().is_empty());
}

#[test]
fn a_file_that_vanished_is_no_activation() {
    let skills = test_skills();
    let session = skills.session(Surface::Canonical);
    let folder = skills.workspace.join("home/.claude/skills/deploy");
    std::fs::remove_dir_all(&folder).unwrap();
    let result = session.call("skill_use", &json!({ "skill_name": "deploy" }));
    assert_eq!((result.outcome, result.message, result.activated), (Outcome::Refused, None, None));
    let text = text(&session, "skill_read_file", &json!({ "skill_name": "deploy", "file_path": "a" }));
    assert_eq!(text, format!("Skill 'deploy' not found at {}", folder.display()));
}

#[test]
fn what_the_user_started_can_be_read_and_still_not_be_started_by_the_model() {
    let skills = test_skills();
    let mut session = skills.session(Surface::Canonical);
    let read = json!({ "skill_name": "mine", "file_path": "references/a.md" });
    assert!(session.call("skill_read_file", &read).is_error());
    session.activate_by(Invoker::User, "mine", "").unwrap();
    assert_eq!(text(&session, "skill_read_file", &read), "mine\n");
    assert!(session.call("skill_use", &json!({ "skill_name": "mine" })).is_error());
}

#[test]
fn a_replaced_folder_is_read_anew_and_a_deny_rule_holds_for_every_spelling() {
    let skills = test_skills();
    let session = skills.session(Surface::Canonical);
    let read =
        |path: &str| text(&session, "skill_read_file", &json!({ "skill_name": "deploy", "file_path": path }));
    assert_eq!(read("references/a.md"), "# A\n");
    let folder = skills.workspace.join("home/.claude/skills/deploy");
    std::fs::rename(&folder, skills.workspace.join("moved")).unwrap();
    std::fs::create_dir_all(folder.join("references")).unwrap();
    std::fs::write(folder.join("references/b.md"), "new").unwrap();
    assert_eq!(read("references/b.md"), "new");
    assert_eq!(read("references/c.md"), "File not found: 'references/c.md' in skill 'deploy'");

    let denied = TestSkills::denying("skill:deploy/read:references/**");
    let session = denied.session(Surface::Canonical);
    for path in ["references/a.md", "./references//a.md", &format!("references/{}a.md", "./".repeat(200))] {
        let text = text(&session, "skill_read_file", &json!({ "skill_name": "deploy", "file_path": path }));
        assert!(text.starts_with("refused: the deny rule"), "{text}");
    }
}

#[test]
fn tools_that_name_no_skill_belong_to_the_last_one() {
    let skills = test_skills();
    let session = skills.session(Surface::SkilledCrew);
    let line = json!({ "reason": "look", "commandLine": "cat references/a.md" });
    let result = session.call("run_command_line", &line);
    assert_eq!(
        result.text,
        r#"{"exitCode":null,"stdout":"","stderr":"ERROR: no skill is active: call skill_use first","timedOut":false}"#
    );
    assert!(result.is_error());
    let resources = json!({ "resources": [{ "path": "references/a.md", "reason": "r" }] });
    assert_eq!(
        text(&session, "load_skill_resources", &resources),
        r#"{"references/a.md":"ERROR: no skill is active: call skill_use first"}"#
    );
    session.call("skill_use", &json!({ "skill_name": "review-pr" }));
    assert_eq!(
        text(&session, "load_skill_resources", &resources),
        r#"{"references/a.md":"ERROR: file not found"}"#
    );
    session.call("skill_use", &json!({ "skill_name": "deploy" }));
    assert_eq!(text(&session, "load_skill_resources", &resources), r##"{"references/a.md":"# A\n"}"##);
    assert_eq!(
        text(&session, "run_command_line", &line),
        r##"{"exitCode":0,"stdout":"# A","stderr":"","timedOut":false}"##
    );
}

#[test]
fn a_search_names_only_what_the_model_may_use() {
    let skills = test_skills();
    let visible = Visible::all(skills.skills.snapshot());
    let tools = Toolset::new(Surface::Canonical, visible, Coverage::Partial, Entrance::Tool);
    assert!(tools.definitions().any(|tool| tool.name == "skill_search"));
    let session = skills.session(Surface::Canonical);
    let search = |input: &Value| text(&session, "skill_search", input);
    // Words of every skill, also of those that the model may not see.
    let everything = "deploys\nreviews disabled old mine m untrusted theirs broken trap";
    let found = search(&json!({ "query": everything }));
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("**"));
        lines.map(|(name, _)| name.to_owned()).collect()
    };
    assert!(found.starts_with("2 of 2 skills, best first:\n- **"), "{found}");
    let mut found = names(&found);
    found.sort();
    assert_eq!(found, ["deploy", "review-pr"]);
    let limited = search(&json!({ "query": everything, "limit": "1" }));
    assert!(limited.starts_with("1 of 2 skills"), "{limited}");
    assert_eq!(names(&limited).len(), 1);
    assert!(
        search(&json!({ "query": "x", "limit": 0 }))
            .starts_with("`limit` is not a whole number of at least 1; ")
    );
    // The index is of all skills, the list of an agent is not.
    let listed = skills.listed(Surface::Canonical, &["deploy"]);
    let found = text(&listed, "skill_search", &json!({ "query": everything }));
    assert!(found.starts_with("1 of 1 skill, best first:\n- **deploy**: Deploys. ("), "{found}");
    assert_eq!(names(&found), ["deploy"]);
    let none = skills.listed(Surface::Canonical, &[]);
    assert_eq!(
        text(&none, "skill_search", &json!({ "query": "deploys" })),
        "none of 0 skills fits; try other words, or do the work without one"
    );
}

#[test]
fn an_unknown_tool_is_answered_with_the_one_that_does_the_same() {
    let skills = test_skills();
    let check = |surface: Surface, tool: &str, expect: &str| {
        let result = skills.session(surface).call(tool, &json!({}));
        assert_eq!((result.text.as_str(), result.outcome), (expect, Outcome::Refused), "{tool}");
    };
    check(
        Surface::Canonical,
        "activate_skill",
        r#"there is no tool `activate_skill` here; use skill_use with {"skill_name": "review-pr", "arguments": "128"}"#,
    );
    check(
        Surface::Agentmd,
        "load_skill_resources",
        r#"there is no tool `load_skill_resources` here; use skill_read_file with {"skill_name": "review-pr", "file_path": "references/style.md"}"#,
    );
    check(
        Surface::Adk,
        "dance",
        "there is no tool `dance` here; for skills there are `list_skills`, `load_skill`, `load_skill_resource`, `run_skill_script`",
    );
}

#[test]
fn on_the_own_surface_the_tools_of_every_system_answer_in_its_words() {
    let skills = test_skills();
    let session = skills.session(Surface::Canonical);
    let mut offered = session.toolset().definitions();
    assert!(offered.all(|tool| tool.name.starts_with("skill_")), "they are not offered");
    assert_eq!(
        text(&session, "load_skill", &json!({ "name": "missing" })),
        r#"{"error":"load frontmatter for skill \"missing\": skill not found: missing"}"#
    );
    session.call("Skill", &json!({ "skill": "deploy" }));
    let resources = json!({ "resources": [{ "path": "references/a.md", "reason": "r" }] });
    assert_eq!(text(&session, "load_skill_resources", &resources), r##"{"references/a.md":"# A\n"}"##);
    // One command at a time is that surface's own rule.
    let line = json!({ "reason": "r", "commandLine": "echo a && echo b" });
    assert_eq!(
        text(&session, "run_command_line", &line),
        r#"{"exitCode":0,"stdout":"a\nb","stderr":"","timedOut":false}"#
    );
}

#[test]
fn an_unknown_field_is_left_out_and_said() {
    let note = "`encoding` is no field of skill_read_file and was left out";
    let input = json!({ "skill_name": "deploy", "file_path": "references/a.md", "encoding": "utf-8" });
    let result = test_skills().session(Surface::Canonical).call("skill_read_file", &input);
    assert_eq!(result.text, "# A\n");
    assert_eq!(result.notes, [note]);
    // Also where the call is refused: by a rule, or since there is no such skill.
    let denied = TestSkills::denying("skill:deploy/read:*").session(Surface::Canonical);
    let unknown = json!({ "skill_name": "missing", "file_path": "a", "encoding": "utf-8" });
    for input in [input, unknown] {
        let result = denied.call("skill_read_file", &input);
        assert_eq!(result.outcome, Outcome::Refused, "{}", result.text);
        assert_eq!(result.notes, [note]);
    }
}

/// The goal is 50,000 reads a second in a release build; this holds a tenth of it in a debug build on a busy machine, so
/// that a quadratic step or a folder that is opened for each read does not go unseen.
#[test]
fn a_thousand_skills_do_not_make_a_read_slower() {
    let mut workspace = Workspace::new();
    for number in 0..1000 {
        workspace = workspace.skill(format!("home/.claude/skills/skill-{number}"), "One of many.");
    }
    let workspace = workspace.file("home/.claude/skills/skill-7/references/a.md", "text\n");
    let skills = TestSkills::new(workspace);
    let session = skills.session(Surface::Canonical);
    let input = json!({ "skill_name": "skill-7", "file_path": "references/a.md" });
    let reads: u32 = 5_000;
    let begin = Instant::now();
    for _ in 0..reads {
        let result = session.call("skill_read_file", &input);
        assert_eq!(result.text, "text\n");
        assert!(result.decision.is_some_and(|decision| decision.is_allowed()), "every read is asked about");
    }
    let took = begin.elapsed();
    println!("{:.0} reads a second", f64::from(reads) / took.as_secs_f64());
    assert!(took < Duration::from_secs(10), "{took:?} for {reads} reads");
    // The names are too many for a schema, and an unknown one is answered with the nearest.
    let schema = &session.toolset().definitions().next().unwrap().schema;
    assert_eq!(schema["properties"]["skill_name"].get("enum"), None);
    let text = text(&session, "skill_use", &json!({ "skill_name": "skil-7" }));
    assert!(text.contains("did you mean `skill-7`"), "{text}");
}

/// A file is read again and again from a folder that is held open; the gate is asked each time all the same.
#[test]
fn the_gate_is_asked_about_every_read() {
    let refused: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&refused);
    let layer = Layer::new(Source::new(Owner::User, "test"));
    let layer = layer.list(List::Deny, ["skill:deploy/read:references/**"]);
    let skills = TestSkills::with(skills_of_each_kind(), |builder| {
        builder.rules(layer).on_refusal(move |action, _| heard.lock().unwrap().push(action.sentence()))
    });
    let session = skills.session(Surface::SkilledCrew);
    session.call("skill_use", &json!({ "skill_name": "deploy" }));
    assert!(refused.lock().unwrap().is_empty());
    // One call that reads several files is as many questions.
    let reference = |path: &str| json!({ "path": path, "reason": "r" });
    let references = json!({ "resources": [reference("references/a.md"), reference("references/b.md")] });
    for calls in 1..=3 {
        assert!(session.call("load_skill_resources", &references).is_error());
        assert_eq!(refused.lock().unwrap().len(), calls * 2);
    }
}

#[test]
fn folders_that_are_held_open_are_bounded() {
    let mut workspace = Workspace::new();
    for number in 0..100 {
        workspace = workspace.skill(format!("home/.claude/skills/skill-{number}"), "One of many.");
    }
    let skills = TestSkills::new(workspace);
    let session = skills.session(Surface::Canonical);
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for number in 0..100 {
        let input = json!({ "skill_name": format!("skill-{number}"), "file_path": "SKILL.md" });
        assert!(text(&session, "skill_read_file", &input).starts_with("---\nname: skill-"));
    }
    // Other tests open files at the same time; a hundred folders would still be seen.
    assert!(open() < before + 80, "{} and {before} before", open());
}

/// JSON as models get it wrong: the right fields with wrong values, wrong fields, nested nonsense.
fn nonsense() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("deploy")),
        Just(json!("references/a.md")),
        Just(json!("references/../../../etc/passwd")),
    ];
    let key = prop_oneof![
        Just("skill_name".to_owned()),
        Just("name".to_owned()),
        Just("skill".to_owned()),
        Just("file_path".to_owned()),
        Just("resource_path".to_owned()),
        Just("resources".to_owned()),
        Just("path".to_owned()),
        Just("reason".to_owned()),
        Just("offset".to_owned()),
        Just("query".to_owned()),
        Just("limit".to_owned()),
        any::<String>(),
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn whatever_a_model_gives_there_is_an_answer_and_nothing_from_outside() {
    let skills = test_skills();
    let sessions: Vec<RefCell<SkillSession>> =
        Surface::ALL.into_iter().map(|surface| RefCell::new(skills.session(surface))).collect();
    // Tools that run something are left out: what they are given reaches a sandbox, which has tests of its own.
    let names = [
        "skill_use",
        "skill_read_file",
        "skill_search",
        "load_skill_resources",
        "list_skills",
        "load_skill",
        "load_skill_resource",
        "Skill",
        "dance",
    ];
    proptest!(|(input in nonsense(), name in prop::sample::select(names.to_vec()), which in 0..sessions.len())| {
        let mut session = sessions[which].borrow_mut();
        // A text that is in the conversation already does not come again.
        session.forget_texts();
        let result = session.call(name, &input);
        prop_assert!(!result.text.is_empty());
        prop_assert!(!result.text.contains("root:x:0"), "{}", result.text);
        prop_assert_eq!(result.message.is_some(), result.activated.is_some() && name != "load_skill");
    });
}

//! Tool calls as a model makes them: found skills and refused ones, the gate, activation, search, reading.

use std::cell::{Cell, RefCell};

use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_catalog::{EntryId, Include, Layout, Places, RootChoice, Snapshot};
use metier_exec::{
    DataOwner, ExecEnv, LANGUAGE, NetworkAccess, NodeVersions, RequestedGrants, RunOutput, SearchPath,
    SkillContainment, SkillContext, StartDir,
};
use metier_files::{SkillDir, Survey, SurveyBounds};
use metier_policy::{
    Action, Answers, Asking, Decision, Gate, Layer, List, Owner, Rules, Scope, Skill, Source, Standing,
};
use metier_runtime::{
    Activate, Coverage, Desk, Entrance, Hands, Hit, InUse, Job, NotDone, Outcome, Search, Surface,
    ToolResult, Toolset, Use, Visible, Work, frontmatter,
};
use metier_sandbox::{Choice, Helper, Limits, Sandbox, Setup, Tier};
use metier_testkit::Workspace;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::helper;

/// A machine with skills of the user's, and of a project that is not trusted, and one session on it.
pub(crate) struct Room {
    pub(crate) workspace: Workspace,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) rules: Rules,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) active: RefCell<Vec<EntryId>>,
    /// How often the gate was asked.
    asked: Cell<usize>,
    path: SearchPath,
    sandbox: Sandbox,
    node: NodeVersions,
}

impl Room {
    pub(crate) fn new(workspace: Workspace) -> Self {
        let workspace = workspace.dir("home/project/.git").dir("data");
        let at = |path: &str| workspace.join(path);
        let places = Places {
            home: Some(at("home")),
            current: at("home/project"),
            temp: at("tmp"),
            config: at("home/.config/metier"),
            data: at("home/.local/share/metier"),
            cache: None,
            remote: None,
            git_configs: Vec::new(),
            bundled: None,
            user_skills: at("home/.config/metier/skills"),
            system_skills: at("etc/skills"),
        };
        let layout = Layout::new(&places, &RootChoice::Usual);
        let snapshot = Arc::new(Snapshot::load(Arc::new(layout), Include::Usual));
        let mut setup = Setup::new(std::env::temp_dir());
        setup.helper = Helper::Program(helper());
        setup.choice = Choice::Only(Tier::Namespaces);
        Self {
            snapshot,
            rules: Rules::default(),
            scopes: Vec::new(),
            active: RefCell::default(),
            asked: Cell::default(),
            path: SearchPath::new("/usr/local/bin:/usr/bin:/bin".as_ref()).home(&at("home")),
            sandbox: Sandbox::new(setup),
            node: NodeVersions::default(),
            workspace,
        }
    }

    pub(crate) fn deny(mut self, rule: &str) -> Self {
        let layer = Layer::new(Source::new(Owner::User, "test")).list(List::Deny, [rule]);
        self.rules = Rules::new(vec![layer], Standing::Trusted);
        self
    }

    pub(crate) fn tools(&self, surface: Surface) -> Toolset {
        let visible = Visible::all(Arc::clone(&self.snapshot));
        Toolset::new(surface, visible, Coverage::Whole, Entrance::Tool)
    }

    pub(crate) fn id(&self, name: &str) -> EntryId {
        let found = self.snapshot.entries().find(|(_, entry)| entry.name().as_str() == name);
        found.map(|(id, _)| id).unwrap()
    }

    pub(crate) fn call(&self, tools: &Toolset, name: &str, arguments: &Value) -> ToolResult {
        let active = self.active.borrow().clone();
        let desk = Desk { hands: self, activate: self, search: Some(self), active: &active };
        let result = tools.call(name, arguments, &desk);
        self.active.borrow_mut().extend(result.activated);
        result
    }

    pub(crate) fn text(&self, tools: &Toolset, name: &str, arguments: &Value) -> String {
        self.call(tools, name, arguments).text
    }
}

impl Hands for Room {
    fn skill(&self, id: EntryId) -> Skill {
        let entry = self.snapshot.entry(id).unwrap();
        Skill::new(entry.name().as_str(), &self.snapshot.root(entry).origin.to_string())
    }

    fn decide(&self, action: &Action) -> Decision {
        self.asked.set(self.asked.get() + 1);
        let answers = Answers::default();
        let gate =
            Gate { rules: &self.rules, answers: &answers, scopes: &self.scopes, asking: Asking::Nobody };
        gate.decide(action)
    }

    fn run(&self, work: Work, job: &mut Job<'_>) -> Result<RunOutput, NotDone> {
        let Work { id, time, .. } = work;
        let (skill, entry) = (self.skill(id), self.snapshot.entry(id).unwrap());
        let folder = self.snapshot.folder(entry);
        let owner = DataOwner { origin: &skill.origin, name: &skill.name, project: None };
        let data = owner
            .make(&self.workspace.join("data"))
            .map_err(|error| NotDone::Trouble(format!("no data folder: {error}")))?;
        let survey = Survey::of(&self.workspace.join("home/project"), SurveyBounds::default()).unwrap();
        let (toolbox, grants, network) =
            (self.path.toolbox(&[]), RequestedGrants::default(), NetworkAccess::default());
        let containment = SkillContainment {
            skill: &folder,
            copy: None,
            project: Some(&survey),
            data: Some(&data),
            plugin: None,
            toolbox: &toolbox,
            limits: Limits { time, ..Limits::default() },
            session: "session-1",
            language: LANGUAGE,
            grants: &grants,
            start: StartDir::Skill,
        };
        let answers = Answers::default();
        let gate =
            Gate { rules: &self.rules, answers: &answers, scopes: &self.scopes, asking: Asking::Nobody };
        let (sandbox, path, node, network) = (&self.sandbox, &self.path, &self.node, &network);
        let bench = ExecEnv { sandbox, gate, path, node, network, layers: None };
        let handle = SkillDir::open(&folder).unwrap();
        Ok(job(
            &bench,
            &SkillContext { skill: &skill, folder: &handle, containment: &containment, copies: None },
        )?)
    }
}

/// The simplest activation there can be: the body as it is, in an envelope.
impl Activate for Room {
    fn activate(&self, request: &Use<'_>) -> Result<InUse, String> {
        let entry = self.snapshot.entry(request.id).unwrap();
        let file = self.snapshot.read(entry).map_err(|error| error.to_string())?;
        let manifest = file.manifest().ok_or("the file is no skill any more")?;
        let content = format!("# Skill: {}\n{}", entry.name(), file.body().trim());
        Ok(InUse {
            message: format!("<skill-context name=\"{}\">\n{content}\n</skill-context>", entry.name()),
            content,
            frontmatter: frontmatter(manifest),
            ..InUse::default()
        })
    }
}

/// Everything is found, also what the model may not see.
impl Search for Room {
    fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let hit = |name: &str, description: &str| Hit {
            name: name.to_owned(),
            description: description.to_owned(),
            why: format!("matches {query}"),
        };
        let all = self.snapshot.entries().map(|(_, entry)| hit(entry.name().as_str(), entry.description()));
        all.take(limit.max(50)).collect()
    }
}

/// A skill of each kind.
pub(crate) fn room() -> Room {
    let user = "home/.claude/skills";
    Room::new(
        Workspace::new()
            .file(
                format!("{user}/deploy/SKILL.md"),
                "---\nname: deploy\ndescription: Deploys.\n---\nDo it.\n",
            )
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
            .skill("home/project/.claude/skills/theirs", "Untrusted."),
    )
}

#[test]
fn every_skill_that_may_not_be_had_has_an_answer_of_its_own() {
    let room = room();
    let tools = room.tools(Surface::Canonical);
    let check = |name: &str, expect: &str| {
        for (tool, more) in
            [("skill_use", json!({})), ("skill_read_file", json!({ "file_path": "SKILL.md" }))]
        {
            let mut arguments = more;
            arguments["skill_name"] = json!(name);
            let result = room.call(&tools, tool, &arguments);
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
    // A stranger's broken file is quoted to nobody.
    check(
        "trap",
        "the skill `trap` belongs to a project that is not trusted; the user can look at it and then run `metier trust`",
    );
    let text = room.text(&tools, "skill_use", &json!({ "skill_name": "broken" }));
    assert!(text.starts_with("the skill `broken` cannot be loaded: "), "{text}");
}

#[test]
fn an_agent_with_a_list_sees_nothing_else() {
    let room = room();
    let listed = |names: &[&str]| Visible::only(Arc::clone(&room.snapshot), names.iter().copied());
    let tools =
        |surface| Toolset::new(surface, listed(&["deploy"]).unwrap(), Coverage::Whole, Entrance::Tool);
    let arguments = json!({ "skill_name": "review-pr" });
    assert_eq!(
        room.text(&tools(Surface::Canonical), "skill_use", &arguments),
        "the skill `review-pr` is not on this agent's list, which names `deploy`"
    );
    assert_eq!(
        room.text(&tools(Surface::Agentmd), "skill_use", &arguments),
        "Skill 'review-pr' is not enabled for this agent. Available: deploy"
    );
    let adk = tools(Surface::Adk);
    assert!(!room.text(&adk, "list_skills", &json!({})).contains("review-pr"));
    assert_eq!(
        room.text(&adk, "load_skill", &json!({ "name": "review-pr" })),
        r#"{"error":"load frontmatter for skill \"review-pr\": skill not found: review-pr"}"#
    );
    let arguments = json!({ "skill_name": "review-pr", "resource_path": "SKILL.md" });
    assert_eq!(
        room.text(&adk, "load_skill_resource", &arguments),
        r#"{"error":"load resource 'SKILL.md' from skill 'review-pr': skill not found: review-pr"}"#
    );
    // How a skill stands that is not on the list is nobody's business either.
    let text = room.text(&tools(Surface::Canonical), "skill_use", &json!({ "skill_name": "theirs" }));
    assert_eq!(text, "the skill `theirs` is not on this agent's list, which names `deploy`");
    let none = Toolset::new(Surface::Agentmd, listed(&[]).unwrap(), Coverage::Whole, Entrance::Tool);
    assert!(none.definitions().is_empty());
    assert_eq!(
        room.text(&none, "skill_use", &json!({ "skill_name": "deploy" })),
        "Skill 'deploy' is not enabled for this agent. Available: none"
    );
    let problems = listed(&["deploy", "nobody", "../outside"]).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn an_activation_is_a_confirmation_and_a_message_behind_it() {
    let room = room();
    for (surface, tool, arguments) in [
        (Surface::Canonical, "skill_use", json!({ "skill_name": "deploy", "arguments": "x" })),
        (Surface::Agentmd, "skill_use", json!({ "skill_name": "user:deploy" })),
        (Surface::ClaudeCode, "Skill", json!({ "skill": "deploy", "args": ["x", "y"] })),
    ] {
        let result = room.call(&room.tools(surface), tool, &arguments);
        assert_eq!(result.text, "Skill 'deploy' activated successfully. Instructions will follow.");
        let message = result.message.unwrap();
        assert_eq!(message.skill, "deploy");
        assert_eq!(
            message.text,
            "<skill-context name=\"deploy\">\n# Skill: deploy\nDo it.\n</skill-context>"
        );
        assert_eq!(result.activated, Some(room.id("deploy")));
        assert!(result.decision.is_some_and(|decision| decision.is_allowed()));
    }
    let denied = crate::tools::room().deny("skill:deploy");
    let result =
        denied.call(&denied.tools(Surface::Canonical), "skill_use", &json!({ "skill_name": "deploy" }));
    assert_eq!(result.text, "refused: the deny rule `skill:deploy` in `test` says so");
    assert_eq!((result.outcome, result.message, result.activated), (Outcome::Refused, None, None));
}

#[test]
fn a_file_that_vanished_is_no_activation() {
    let room = room();
    let tools = room.tools(Surface::Canonical);
    std::fs::remove_dir_all(room.workspace.join("home/.claude/skills/deploy")).unwrap();
    let result = room.call(&tools, "skill_use", &json!({ "skill_name": "deploy" }));
    assert_eq!((result.outcome, result.message, result.activated), (Outcome::Refused, None, None));
    let text = room.text(&tools, "skill_read_file", &json!({ "skill_name": "deploy", "file_path": "a" }));
    let place = room.workspace.join("home/.claude/skills/deploy");
    assert_eq!(text, format!("Skill 'deploy' not found at {}", place.display()));
}

#[test]
fn what_the_user_started_can_be_read_and_still_not_be_started_by_the_model() {
    let room = room();
    let tools = room.tools(Surface::Canonical);
    let read = json!({ "skill_name": "mine", "file_path": "references/a.md" });
    assert!(room.call(&tools, "skill_read_file", &read).is_error());
    room.active.borrow_mut().push(room.id("mine"));
    assert_eq!(room.text(&tools, "skill_read_file", &read), "mine\n");
    assert!(room.call(&tools, "skill_use", &json!({ "skill_name": "mine" })).is_error());
}

#[test]
fn a_replaced_folder_is_read_anew_and_a_deny_rule_holds_for_every_spelling() {
    let room = room();
    let tools = room.tools(Surface::Canonical);
    let read = |path: &str| {
        room.text(&tools, "skill_read_file", &json!({ "skill_name": "deploy", "file_path": path }))
    };
    assert_eq!(read("references/a.md"), "# A\n");
    let folder = room.workspace.join("home/.claude/skills/deploy");
    std::fs::rename(&folder, room.workspace.join("moved")).unwrap();
    std::fs::create_dir_all(folder.join("references")).unwrap();
    std::fs::write(folder.join("references/b.md"), "new").unwrap();
    assert_eq!(read("references/b.md"), "new");
    assert_eq!(read("references/c.md"), "File not found: 'references/c.md' in skill 'deploy'");

    let denied = crate::tools::room().deny("skill:deploy/read:references/**");
    let tools = denied.tools(Surface::Canonical);
    for path in ["references/a.md", "./references//a.md", &format!("references/{}a.md", "./".repeat(200))] {
        let text =
            denied.text(&tools, "skill_read_file", &json!({ "skill_name": "deploy", "file_path": path }));
        assert!(text.starts_with("refused: the deny rule"), "{text}");
    }
}

#[test]
fn tools_that_name_no_skill_belong_to_the_last_one() {
    let room = room();
    let tools = room.tools(Surface::SkilledCrew);
    let line = json!({ "reason": "look", "commandLine": "cat references/a.md" });
    let result = room.call(&tools, "run_command_line", &line);
    assert_eq!(
        result.text,
        r#"{"exitCode":null,"stdout":"","stderr":"ERROR: no skill is active: call skill_use first","timedOut":false}"#
    );
    assert!(result.is_error());
    let resources = json!({ "resources": [{ "path": "references/a.md", "reason": "r" }] });
    assert_eq!(
        room.text(&tools, "load_skill_resources", &resources),
        r#"{"references/a.md":"ERROR: no skill is active: call skill_use first"}"#
    );
    room.call(&tools, "skill_use", &json!({ "skill_name": "review-pr" }));
    assert_eq!(
        room.text(&tools, "load_skill_resources", &resources),
        r#"{"references/a.md":"ERROR: file not found"}"#
    );
    room.call(&tools, "skill_use", &json!({ "skill_name": "deploy" }));
    assert_eq!(room.text(&tools, "load_skill_resources", &resources), r##"{"references/a.md":"# A\n"}"##);
    assert_eq!(
        room.text(&tools, "run_command_line", &line),
        r##"{"exitCode":0,"stdout":"# A","stderr":"","timedOut":false}"##
    );
}

#[test]
fn a_search_names_only_what_the_model_may_use() {
    let room = room();
    let visible = || Visible::all(Arc::clone(&room.snapshot));
    let tools = Toolset::new(Surface::Canonical, visible(), Coverage::Partial, Entrance::Tool);
    assert!(tools.definitions().iter().any(|tool| tool.name == "skill_search"));
    let search = |arguments: &Value| room.text(&tools, "skill_search", arguments);
    assert_eq!(
        search(&json!({ "query": "ship\nit" })),
        "2 of 2 skills, best first:\n- **deploy**: Deploys. (matches ship it)\n- **review-pr**: Reviews. (matches ship it)"
    );
    assert!(search(&json!({ "query": "x", "limit": "1" })).starts_with("1 of 2 skills"));
    assert!(
        search(&json!({ "query": "x", "limit": 0 }))
            .starts_with("`limit` is not a whole number of at least 1; ")
    );
    let none = Visible::only(Arc::clone(&room.snapshot), []).unwrap();
    let tools = Toolset::new(Surface::Canonical, none, Coverage::Partial, Entrance::Tool);
    assert_eq!(
        room.text(&tools, "skill_search", &json!({ "query": "x" })),
        "none of 0 skills fits; try other words, or do the work without one"
    );
}

#[test]
fn an_unknown_tool_is_answered_with_the_one_that_does_the_same() {
    let room = room();
    let check = |surface: Surface, tool: &str, expect: &str| {
        let result = room.call(&room.tools(surface), tool, &json!({}));
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
    let room = room();
    let tools = room.tools(Surface::Canonical);
    assert!(tools.definitions().iter().all(|tool| tool.name.starts_with("skill_")), "they are not offered");
    let text = room.text(&tools, "load_skill", &json!({ "name": "nobody" }));
    assert_eq!(text, r#"{"error":"load frontmatter for skill \"nobody\": skill not found: nobody"}"#);
    room.call(&tools, "Skill", &json!({ "skill": "deploy" }));
    let resources = json!({ "resources": [{ "path": "references/a.md", "reason": "r" }] });
    assert_eq!(room.text(&tools, "load_skill_resources", &resources), r##"{"references/a.md":"# A\n"}"##);
    // One command at a time is that surface's own rule.
    let line = json!({ "reason": "r", "commandLine": "echo a && echo b" });
    let text = room.text(&tools, "run_command_line", &line);
    assert_eq!(text, r#"{"exitCode":0,"stdout":"a\nb","stderr":"","timedOut":false}"#);
}

#[test]
fn an_unknown_field_is_left_out_and_said() {
    let room = room();
    let arguments = json!({ "skill_name": "deploy", "file_path": "references/a.md", "encoding": "utf-8" });
    let result = room.call(&room.tools(Surface::Canonical), "skill_read_file", &arguments);
    assert_eq!(result.text, "# A\n");
    assert_eq!(result.notes, ["`encoding` is no field of skill_read_file and was left out"]);
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
    let room = Room::new(workspace);
    let tools = room.tools(Surface::Canonical);
    let arguments = json!({ "skill_name": "skill-7", "file_path": "references/a.md" });
    let reads: u32 = 5_000;
    let begin = Instant::now();
    for _ in 0..reads {
        assert_eq!(room.text(&tools, "skill_read_file", &arguments), "text\n");
    }
    let took = begin.elapsed();
    assert_eq!(room.asked.get(), reads as usize, "every read is asked about");
    println!("{:.0} reads a second", f64::from(reads) / took.as_secs_f64());
    assert!(took < Duration::from_secs(10), "{took:?} for {reads} reads");
    // The names are too many for a schema, and an unknown one is answered with the nearest.
    let schema = &tools.definitions()[0].schema;
    assert_eq!(schema["properties"]["skill_name"].get("enum"), None);
    let text = room.text(&tools, "skill_use", &json!({ "skill_name": "skil-7" }));
    assert!(text.contains("did you mean `skill-7`"), "{text}");
}

#[test]
fn folders_that_are_held_open_are_bounded() {
    let mut workspace = Workspace::new();
    for number in 0..100 {
        workspace = workspace.skill(format!("home/.claude/skills/skill-{number}"), "One of many.");
    }
    let room = Room::new(workspace);
    let tools = room.tools(Surface::Canonical);
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for number in 0..100 {
        let arguments = json!({ "skill_name": format!("skill-{number}"), "file_path": "SKILL.md" });
        assert!(room.text(&tools, "skill_read_file", &arguments).starts_with("---\nname: skill-"));
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
    let room = room();
    let sets: Vec<Toolset> = Surface::ALL.into_iter().map(|surface| room.tools(surface)).collect();
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
    proptest!(|(arguments in nonsense(), name in prop::sample::select(names.to_vec()), which in 0..sets.len())| {
        let result = room.call(&sets[which], name, &arguments);
        prop_assert!(!result.text.is_empty());
        prop_assert!(!result.text.contains("root:x:0"), "{}", result.text);
        prop_assert_eq!(result.message.is_some(), result.activated.is_some() && name != "load_skill");
    });
}

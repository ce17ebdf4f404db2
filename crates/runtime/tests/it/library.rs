//! Skills in a program of somebody else: what it opens, what its model is told, and what happens when files change.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use metier_activation::{ActivationError, ActivationOutcome, Invoker};
use metier_catalog::{ChangeKind, Places};
use metier_policy::{Answer, Mode};
use metier_runtime::{
    ApprovalRequest, Note, Outcome, SkillSession, Skills, SkillsBuilder, Surface, ToolFormat, UseError,
};
use metier_sandbox::Helper;
use metier_testkit::Workspace;
use serde_json::{Value, json};

use crate::helper;

fn skill(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n")
}

fn workspace() -> Workspace {
    Workspace::new()
        .file("skills/greet/SKILL.md", skill("greet", "", "Say hello to $ARGUMENTS."))
        .file("skills/greet/references/tone.md", "Be kind.")
        .file("skills/greet/scripts/hello.sh", "echo hello $1")
}

fn builder(workspace: &Workspace) -> SkillsBuilder {
    Skills::builder().root(workspace.join("skills")).helper(Helper::Program(helper()))
}

fn write(workspace: &Workspace, path: &str, text: &str) {
    let path = workspace.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn use_skill(session: &SkillSession, name: &str, arguments: &str) -> String {
    let result = session.call("skill_use", &json!({ "skill_name": name, "arguments": arguments }));
    result.message.map_or(result.text, |message| message.text)
}

fn told(note: &Note) -> Vec<(ChangeKind, &str)> {
    note.changes.iter().map(|change| (change.kind, change.name.as_str())).collect()
}

#[test]
fn a_program_opens_skills_and_its_model_uses_them() {
    let workspace = workspace();
    let skills = builder(&workspace).open();
    assert!(skills.problems().is_empty(), "{:?}", skills.problems());
    let session = skills.session();
    assert!(session.catalog().ends_with("- **greet**: Does greet.\n"), "{}", session.catalog());
    assert_eq!(skills.catalog(), session.catalog());
    let tools = session.tools(ToolFormat::Anthropic);
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"skill_use") && names.contains(&"skill_run_script"), "{names:?}");
    assert!(use_skill(&session, "greet", "Ada").contains("Say hello to Ada."));
    let read = json!({ "skill_name": "greet", "file_path": "references/tone.md" });
    assert_eq!(session.call("skill_read_file", &read).text, "Be kind.");
    let run = json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" });
    let ran = session.call("skill_run_script", &run);
    assert_eq!((ran.text.trim(), ran.outcome), ("hello Ada", Outcome::Done));
    let line = json!({ "reason": "look", "commandLine": "ls scripts" });
    assert!(session.call("run_command_line", &line).text.contains("hello.sh"));
    assert_eq!(session.call("skill_fly", &json!({})).outcome, Outcome::Refused);
}

#[test]
fn a_root_that_is_missing_and_a_skill_that_does_not_load_are_said_and_stop_nothing() {
    let workspace = workspace().file("skills/bad/SKILL.md", "---\n- a list\n---\n");
    let roots = [workspace.join("skills"), workspace.join("nowhere")];
    let skills = Skills::open(roots);
    let codes: Vec<_> = skills.problems().iter().map(|found| found.code.name()).collect();
    assert_eq!(codes.len(), 2, "{codes:?}");
    assert!(codes.contains(&"root-missing"), "{codes:?}");
    assert_eq!(skills.snapshot().loaded(), 1);
    let nothing = Skills::open(Vec::<String>::new()).session();
    assert_eq!((nothing.catalog(), nothing.tools(ToolFormat::Mcp)), ("", json!([])));
}

#[test]
fn a_program_that_does_not_begin_as_it_should_reads_skills_and_runs_nothing() {
    let workspace = workspace().file("skills/now/SKILL.md", skill("now", "", "It is !`echo late`."));
    let session = Skills::open([workspace.join("skills")]).session();
    assert!(use_skill(&session, "greet", "Ada").contains("Say hello to Ada."));
    let run = json!({ "skill_name": "greet", "script_name": "hello.sh" });
    let ran = session.call("skill_run_script", &run);
    assert_eq!(ran.outcome, Outcome::Refused);
    assert!(ran.text.contains("does not begin with `metier_runtime::begin`"), "{}", ran.text);
    let text = use_skill(&session, "now", "");
    assert!(!text.contains("It is late."), "{text}");
}

#[test]
fn an_edit_changes_the_next_activation_and_nothing_that_was_said() {
    let workspace = workspace();
    let mut session = builder(&workspace).open().session();
    let (catalog, tools) = (session.catalog().to_owned(), session.tools(ToolFormat::OpenAi).to_string());
    let first = session.activate("greet", "Ada").unwrap();
    assert!(matches!(session.activate("greet", "Ada").unwrap().activated, ActivationOutcome::Again(_)));
    write(&workspace, "skills/greet/SKILL.md", &skill("greet", "", "Say good bye to $ARGUMENTS."));
    // Nobody looked at anything: what a skill says is read when it is activated.
    let second = session.activate("greet", "Ada").unwrap();
    assert!(first.text.contains("Say hello to Ada.") && second.text.contains("Say good bye to Ada."));
    let (ActivationOutcome::Fresh(first), ActivationOutcome::Fresh(second)) =
        (first.activated, second.activated)
    else {
        panic!("both are new to the conversation")
    };
    assert_ne!(first.digest, second.digest);
    let note = session.user_message().unwrap();
    assert_eq!(told(&note), [(ChangeKind::Changed, "greet")]);
    let text = note.text().unwrap();
    assert!(text.contains("\n- changed: greet ("), "{text}");
    assert_eq!(session.user_message(), None, "a note is given once");
    assert_eq!((session.catalog(), session.tools(ToolFormat::OpenAi).to_string()), (&*catalog, tools));
}

#[test]
fn skills_that_come_and_go_are_told_by_a_note_and_change_no_byte_of_what_the_model_has() {
    let workspace = workspace();
    let skills = builder(&workspace).open();
    let mut session = skills.session();
    let (catalog, tools) = (session.catalog().to_owned(), session.tools(ToolFormat::OpenAi).to_string());
    assert!(session.call("skill_use", &json!({ "skill_name": "add" })).is_error());
    // It goes before the other one, so every skill has another place from here on.
    write(&workspace, "skills/add/SKILL.md", &skill("add", "", "Add up."));
    let note = session.refresh().unwrap();
    assert_eq!(told(&note), [(ChangeKind::Added, "add")]);
    assert!(use_skill(&session, "add", "").contains("Add up."));
    fs::remove_dir_all(workspace.join("skills/greet")).unwrap();
    let note = session.user_message().unwrap();
    assert_eq!(told(&note), [(ChangeKind::Removed, "greet")]);
    assert!(note.text().unwrap().contains("\n- gone: greet ("));
    assert!(session.call("skill_use", &json!({ "skill_name": "greet" })).is_error());
    assert_eq!((session.catalog(), session.tools(ToolFormat::OpenAi).to_string()), (&*catalog, tools));
    assert!(
        skills.session().catalog().ends_with("- **add**: Does add.\n"),
        "who begins now sees what is there"
    );
}

#[test]
fn a_broken_edit_keeps_what_is_known_and_is_never_activated() {
    let workspace = workspace();
    let skills = builder(&workspace).open();
    let mut session = skills.session();
    assert!(use_skill(&session, "greet", "Ada").contains("Say hello to Ada."));
    write(&workspace, "skills/greet/SKILL.md", "---\n- a list\n---\n");
    let note = session.refresh().unwrap();
    assert_eq!(told(&note), [(ChangeKind::Broken, "greet")]);
    assert!(note.changes[0].reason.is_some());
    assert!(note.text().unwrap().contains("\n- broken: greet ("));
    assert!(skills.catalog().ends_with("- **greet**: Does greet.\n"), "the last good version is listed");
    let refused = session.call("skill_use", &json!({ "skill_name": "greet", "arguments": "Bob" }));
    assert_eq!((refused.outcome, refused.message), (Outcome::Refused, None));
    assert!(refused.text.contains("does not load any more"), "{}", refused.text);
    let error = session.activate("greet", "Bob").unwrap_err();
    assert!(matches!(error, UseError::Activation(ActivationError::Broken { .. })), "{error}");
    write(&workspace, "skills/greet/SKILL.md", &skill("greet", "", "Wave to $ARGUMENTS."));
    assert_eq!(told(&session.refresh().unwrap()), [(ChangeKind::Mended, "greet")]);
    assert!(use_skill(&session, "greet", "Bob").contains("Wave to Bob."));
}

#[test]
fn a_program_that_watches_is_told_without_a_look() {
    let workspace = workspace();
    let skills = builder(&workspace).watch().open();
    let mut session = skills.session();
    write(&workspace, "skills/plan/SKILL.md", &skill("plan", "", "Plan."));
    let began = Instant::now();
    let note = loop {
        if let Some(note) = session.refresh() {
            break note;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "nobody told: {:?}", skills.watching());
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(told(&note), [(ChangeKind::Added, "plan")]);
    assert!(use_skill(&session, "plan", "").contains("Plan."));
}

#[test]
fn the_skill_that_was_active_last_stays_so_when_others_come() {
    let workspace = workspace();
    let mut session = builder(&workspace).open().session();
    use_skill(&session, "greet", "Ada");
    write(&workspace, "skills/add/SKILL.md", &skill("add", "", "Add up."));
    session.user_message().unwrap();
    let load = json!({ "resources": [{ "path": "references/tone.md", "reason": "tone" }] });
    let result = session.call("load_skill_resources", &load);
    assert!(result.text.contains("Be kind."), "{}", result.text);
}

#[test]
fn a_model_is_told_nothing_of_skills_that_it_may_not_know() {
    let workspace = Workspace::new()
        .skill("home/.claude/skills/mine", "Mine.")
        .skill("home/project/.claude/skills/theirs", "Theirs.")
        .dir("home/project/.git");
    let at = |path: &str| workspace.join(path);
    let places = Places {
        home: Some(at("home")),
        current: at("home/project"),
        temp: at("tmp"),
        config: at("home/.config/metier"),
        data: at("home/.local/share/metier"),
        user_skills: at("home/.config/metier/skills"),
        system_skills: at("etc/skills"),
        bundled: None,
        cache: None,
        remote: None,
        git_configs: Vec::new(),
    };
    let mut session = Skills::builder().places(places).open().session();
    assert!(session.catalog().ends_with("- **mine**: Mine.\n"), "{}", session.catalog());
    write(&workspace, "home/project/.claude/skills/more/SKILL.md", &skill("more", "", "x"));
    let note = session.user_message().unwrap();
    assert_eq!(told(&note), [(ChangeKind::Added, "more")]);
    assert_eq!(note.text(), None, "the program knows, the model does not");
    assert!(matches!(
        session.activate("theirs", "").unwrap_err(),
        UseError::Activation(ActivationError::Closed(_))
    ));
}

#[test]
fn a_script_that_changes_while_it_is_asked_about_does_not_run() {
    let workspace = workspace().dir("data");
    // With a data folder what was approved runs from a copy, without one it is looked at again.
    for data in [None, Some(workspace.join("data"))] {
        write(&workspace, "skills/greet/scripts/hello.sh", "echo shown");
        let script = workspace.join("skills/greet/scripts/hello.sh");
        let builder = builder(&workspace).mode(Mode::Strict).ask(move |_: &ApprovalRequest<'_>| {
            fs::write(&script, "echo other").unwrap();
            Answer::Once
        });
        let builder = data.into_iter().fold(builder, SkillsBuilder::data);
        let run = json!({ "skill_name": "greet", "script_name": "hello.sh" });
        let result = builder.open().session().call("skill_run_script", &run);
        assert_eq!(result.outcome, Outcome::Refused, "{}", result.text);
        assert!(result.text.contains("changed while it was started"), "{}", result.text);
    }
}

#[test]
fn a_session_is_used_while_a_script_of_it_runs() {
    let workspace = workspace()
        .file("skills/greet/scripts/wait.sh", "while [ ! -e $SKILL_DATA/go ]; do sleep 0.01; done");
    let skills = builder(&workspace).project(workspace.join("skills")).data(workspace.join("data")).open();
    let session = skills.session();
    let run = |script: &str| {
        session.call("skill_run_script", &json!({ "skill_name": "greet", "script_name": script }))
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| run("wait.sh"));
        assert_eq!(run("hello.sh").text, "hello");
        assert!(use_skill(&session, "greet", "Ada").contains("Say hello to Ada."));
        let folder = session.active().pop().unwrap().folder;
        assert!(folder.ends_with("greet"));
        let go = json!({ "skill_name": "greet", "script_name": "go.sh" });
        write(&workspace, "skills/greet/scripts/go.sh", "touch $SKILL_DATA/go");
        assert_eq!(session.call("skill_run_script", &go).outcome, Outcome::Done);
        assert_eq!(waiting.join().unwrap().outcome, Outcome::Done);
    });
}

#[test]
fn what_takes_a_yes_is_asked_and_an_answer_holds_as_long_as_it_says() {
    let workspace = workspace();
    let check = |answer: Answer, expect: usize, outcome: Outcome| {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let builder = builder(&workspace).mode(Mode::Strict).ask(move |_: &ApprovalRequest<'_>| {
            counted.fetch_add(1, Ordering::Relaxed);
            answer
        });
        let skills = builder.open();
        let session = skills.session();
        let run = json!({ "skill_name": "greet", "script_name": "hello.sh" });
        for _ in 0..2 {
            assert_eq!(session.call("skill_run_script", &run).outcome, outcome, "{answer:?}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), expect, "{answer:?}");
        skills.kept().len()
    };
    assert_eq!(check(Answer::Once, 2, Outcome::Done), 0);
    assert_eq!(check(Answer::SessionExact, 1, Outcome::Done), 0);
    assert_eq!(check(Answer::Always, 1, Outcome::Done), 1);
    assert_eq!(check(Answer::No, 1, Outcome::Refused), 0);
    // Without anybody to ask it is refused with the rule that would allow it.
    let session = builder(&workspace).mode(Mode::Strict).open().session();
    let refused =
        session.call("skill_run_script", &json!({ "skill_name": "greet", "script_name": "hello.sh" }));
    assert_eq!(refused.outcome, Outcome::Refused);
    let session = builder(&workspace).deny("skill:greet").open().session();
    assert!(session.call("skill_use", &json!({ "skill_name": "greet" })).is_error());
}

#[test]
fn a_fence_holds_until_the_user_speaks() {
    let workspace = workspace().file("skills/look/SKILL.md", skill("look", "tools: Read\n", "Look."));
    let mut session = builder(&workspace).open().session();
    use_skill(&session, "look", "");
    assert_eq!(session.scopes().rules().len(), 1);
    let line = json!({ "reason": "try", "commandLine": "echo out" });
    assert_eq!(session.call("run_command_line", &line).outcome, Outcome::Refused);
    session.user_message();
    assert_eq!(session.scopes().rules().len(), 0);
    assert!(session.call("run_command_line", &line).text.contains("out"));
}

#[test]
fn what_a_program_says_of_its_folders_is_what_scripts_see() {
    let script = "echo \"$SKILL_DATA|$PROJECT_DIR|$SESSION_ID\"; cat \"$PROJECT_DIR/plan.txt\"; echo 1 > \"$SKILL_DATA/kept\"";
    let workspace = workspace()
        .file("skills/greet/scripts/see.sh", script)
        .file("work/plan.txt", "the plan")
        .dir("work/.git")
        .dir("data");
    let skills = builder(&workspace).project(workspace.join("work")).data(workspace.join("data")).open();
    let session = skills.session().named("talk-7");
    let ran = session.call("skill_run_script", &json!({ "skill_name": "greet", "script_name": "see.sh" }));
    // Each root has folders of its own.
    let (data, rest) = ran.text.trim().split_once('|').unwrap();
    let data = std::path::Path::new(data);
    assert_eq!(rest, format!("{}|talk-7\nthe plan", workspace.join("work").display()));
    assert!(data.starts_with(workspace.join("data/skills")) && data.ends_with("greet"), "{}", data.display());
    assert_eq!(fs::read_to_string(data.join("kept")).unwrap(), "1\n");
}

#[test]
fn a_skill_for_the_user_is_closed_to_the_model_and_open_to_the_program() {
    let workspace = workspace()
        .file("skills/mine/SKILL.md", skill("mine", "disable-model-invocation: true\n", "Only for me: $0."));
    let mut session = builder(&workspace).open().session();
    assert!(session.call("skill_use", &json!({ "skill_name": "mine" })).is_error());
    assert!(session.activate_by(Invoker::Model, "mine", "").is_err());
    assert!(session.activate_by(Invoker::User, "mine", "'a b'").unwrap().text.contains("Only for me: a b."));
    let list = vec!["c d".to_owned()];
    assert!(session.activate("mine", list).unwrap().text.contains("Only for me: c d."));
    let error = session.activate("mime", "").unwrap_err().to_string();
    assert!(error.contains("mine"), "{error}");
}

#[test]
fn a_model_searches_where_the_catalogue_does_not_describe_all() {
    let mut workspace = Workspace::new();
    for at in 0..40 {
        let text =
            format!("---\nname: topic-{at}\ndescription: {}\n---\nx\n", "About one thing. ".repeat(20));
        workspace = workspace.file(format!("skills/topic-{at}/SKILL.md"), text);
    }
    let workspace = workspace
        .file("skills/zebra/SKILL.md", "---\nname: zebra\ndescription: Counts stripes of a zebra.\n---\nx\n");
    let session = builder(&workspace).window(10_000).open().session();
    let has_search = |tools: &Value| tools.to_string().contains("skill_search");
    assert!(has_search(&session.tools(ToolFormat::Mcp)));
    let found = session.call("skill_search", &json!({ "query": "count the stripes", "limit": 3 }));
    assert!(found.text.contains("- **zebra**: Counts stripes of a zebra. (has "), "{}", found.text);
}

#[test]
fn a_session_has_the_tools_of_the_system_it_is_for_and_can_move_between_threads() {
    fn moves<T: Send>(value: T) -> T {
        value
    }
    let workspace = workspace();
    let session = moves(builder(&workspace).open().session_on(Surface::Adk));
    let text = session.call("load_skill", &json!({ "name": "greet" })).text;
    let loaded: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded["frontmatter"]["description"], "Does greet.");
    assert!(loaded["instructions"].as_str().unwrap().contains("Say hello to"), "{text}");
}

#[test]
fn skills_of_a_plugin_share_a_folder_and_requirements_are_noted() {
    let script = "cat \"$CLAUDE_PLUGIN_ROOT/words\"\necho \"$1\" >> \"$CLAUDE_PLUGIN_DATA/ours\"\ncat \"$CLAUDE_PLUGIN_DATA/ours\"\n";
    let needy = "requires:\n  bins: [no-such-program]\n  env: [REGION, NO_SUCH_NAME]\n";
    let workspace = Workspace::new()
        .dir("data")
        .file("skills/team/.claude-plugin/plugin.json", "{\"name\": \"team\"}")
        .file("skills/team/words", "ours\n")
        .file(
            "skills/team/skills/ann/SKILL.md",
            skill("ann", needy, "In ${CLAUDE_PLUGIN_ROOT}, ${env:REGION}."),
        )
        .file("skills/team/skills/ann/scripts/a.sh", script)
        .file("skills/team/skills/bob/SKILL.md", skill("bob", "", "Do."))
        .file("skills/team/skills/bob/scripts/a.sh", script);
    let skills = builder(&workspace).data(workspace.join("data")).variable("REGION", "eu").open();
    let mut session = skills.session();
    let run = |name: &str, word: &str| {
        let call = json!({ "skill_name": name, "script_name": "a.sh", "script_args": word });
        session.call("skill_run_script", &call).text
    };
    assert_eq!(run("ann", "1").trim(), "ours\n1");
    assert_eq!(run("bob", "2").trim(), "ours\n1\n2");
    let ActivationOutcome::Fresh(activation) = session.activate("ann", "").unwrap().activated else {
        panic!("it is new to the conversation")
    };
    let folder = workspace.join("skills/team").canonicalize().unwrap();
    assert!(activation.text.contains(&format!("In {}, eu.", folder.display())), "{}", activation.text);
    let notes = activation.notes.join("\n");
    assert!(notes.contains("no-such-program") && notes.contains("NO_SUCH_NAME"), "{notes}");
    assert!(!notes.contains("REGION"), "{notes}");
}

#[test]
fn an_agent_with_a_list_of_its_own_sees_and_gets_these_skills_alone() {
    let workspace = workspace()
        .file("skills/wave/SKILL.md", skill("wave", "", "Wave."))
        .file("skills/bow/SKILL.md", skill("bow", "", "Bow."));
    let skills = builder(&workspace).open();
    let mut session = skills.session_with(Surface::Canonical, ["greet", "bow"]).unwrap();
    assert!(session.catalog().contains("**greet**") && !session.catalog().contains("wave"));
    let refused = session.call("skill_use", &json!({ "skill_name": "wave" }));
    assert_eq!(refused.outcome, Outcome::Refused, "{}", refused.text);
    let problems = skills.session_with(Surface::Canonical, ["greet", "fly", "../x"]).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    // The list holds for what comes later, too; what is gone is told.
    write(&workspace, "skills/nod/SKILL.md", &skill("nod", "", "Nod."));
    fs::remove_dir_all(workspace.join("skills/bow")).unwrap();
    session.refresh();
    for name in ["nod", "wave", "bow"] {
        let refused = session.call("skill_use", &json!({ "skill_name": name }));
        assert_eq!(refused.outcome, Outcome::Refused, "{name}: {}", refused.text);
    }
    assert!(use_skill(&session, "greet", "Ada").contains("Say hello to Ada."));
}

#[test]
fn a_fork_begins_with_the_content_alone_and_is_held_by_what_holds_its_parent() {
    let fenced = "tools: Read\n";
    let workspace = workspace()
        .file("skills/outer/SKILL.md", skill("outer", fenced, "Read."))
        .file("skills/deep/SKILL.md", skill("deep", "context: fork\nmaxTurns: 3\n", "Dig for $ARGUMENTS."))
        .file("skills/deep/scripts/dig.sh", "echo dug");
    let mut session = builder(&workspace).open().session();
    let fork = session.fork(Invoker::Model, "deep", "gold").unwrap();
    assert!(fork.content.starts_with("# Skill: deep\nDig for gold."), "{}", fork.content);
    assert!(!fork.content.contains("skill-context"), "{}", fork.content);
    assert_eq!(fork.activation.scope.max_turns.map(std::num::NonZeroU32::get), Some(3));
    let mut child = fork.session;
    assert_eq!(session.scopes().iter().count(), 0, "nothing of it is in the parent");
    assert_eq!(child.scopes().iter().count(), 1);
    let names = |session: &SkillSession| session.tools(ToolFormat::Mcp).to_string();
    assert!(!names(&child).contains("skill_use") && names(&session).contains("skill_use"));
    let dig = json!({ "skill_name": "deep", "script_name": "dig.sh" });
    assert_eq!(child.call("skill_run_script", &dig).text.trim(), "dug");
    child.user_message();
    assert_eq!(child.scopes().iter().count(), 1, "until the child ends");
    // A fence of the parent holds in the child.
    session.activate("outer", "").unwrap();
    let child = session.fork(Invoker::Model, "deep", "").unwrap().session;
    let refused = child.call("skill_run_script", &dig);
    assert_eq!(refused.outcome, Outcome::Refused, "{}", refused.text);
    assert!(refused.text.contains("outer"), "{}", refused.text);
}

#[test]
fn the_rest_of_a_long_output_is_a_file_of_the_session() {
    let script = "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done";
    let workspace = workspace().file("skills/greet/scripts/long.sh", script).dir("temp");
    let skills = builder(&workspace).temporary(workspace.join("temp")).open();
    let session = skills.session();
    assert_eq!(session.outputs(), None);
    let text =
        session.call("skill_run_script", &json!({ "skill_name": "greet", "script_name": "long.sh" })).text;
    let folder = session.outputs().unwrap();
    let file = folder.join("1/stdout.txt");
    assert!(text.contains(&format!("bytes left out; all of it is in {}", file.display())), "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 9000);
    // Also in the shape of another system.
    let other = skills.session_on(Surface::Adk);
    let call = json!({ "skill_name": "greet", "script_path": "scripts/long.sh" });
    let text = other.call("run_skill_script", &call).text;
    assert!(text.contains("/1/stdout.txt"), "{text}");
    drop((session, other));
    assert!(!folder.exists());
    assert_eq!(fs::read_dir(workspace.join("temp")).unwrap().count(), 0);
}

#[test]
fn a_skill_for_certain_files_is_offered_once_the_work_touches_one() {
    let workspace = Workspace::new()
        .file("skills/py/SKILL.md", "---\nname: py\ndescription: For Python.\npaths: ['*.py']\n---\nDo.\n")
        .file("skills/any/SKILL.md", "---\nname: any\ndescription: For all.\n---\nDo.\n");
    let skills = Skills::open([workspace.join("skills")]);
    let mut session = skills.session();
    let tools = session.tools(ToolFormat::OpenAi).to_string();
    assert!(!session.catalog().contains("py") && !tools.contains("\"py\""), "{tools}");
    assert_eq!(session.touch(["src/main.rs"]), None);
    let told = session.touch(["./src/app.py", "src/app.py"]).expect("there is a skill for it");
    assert!(told.ends_with("\n- **py**: For Python."), "{told}");
    assert_eq!(session.touch(["lib/other.py"]), None, "it is told once");
    assert_eq!(session.tools(ToolFormat::OpenAi).to_string(), tools, "what was given stays");
    assert!(!session.call("skill_use", &json!({ "skill_name": "py" })).is_error());
    // A new look at the folders does not take it back.
    let _workspace = workspace.file("skills/new/SKILL.md", "---\nname: new\ndescription: New.\n---\nDo.\n");
    session.refresh();
    assert!(session.offered().any(|(_, name, _)| name == "py"));
}

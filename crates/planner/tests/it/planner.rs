//! The planner that needs no model, with the skills in `skills/` as they are and with skills of a test's own.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use metier_catalog::{Finder, Include, Layout, Places, RootChoice, Snapshot};
use metier_exec::split_arguments;
use metier_model::{
    Answered, ChatModel, Message, OutcomeStatus, Part, Request, Stop, ToolChoice, ToolOutcome, whole,
};
use metier_planner::{IndexRouter, OfflinePlanner, RouteOutcome, SkillCandidate, SkillFacts, SkillRouter};
use metier_skill::{Argument, Context as Running};
use serde_json::{Value, json};

fn ask(model: &OfflinePlanner, request: &Request) -> Answered {
    let mut answer = pin!(whole(model.ask(request)));
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answered) => answered.unwrap(),
        Poll::Pending => panic!("the planner waits for nothing"),
    }
}

fn first(model: &OfflinePlanner, request: &str) -> Answered {
    ask(model, &Request { messages: vec![Message::user(request).into()], ..Request::default() })
}

/// The call of an answer.
fn call(answered: &Answered) -> Option<(String, Value, String)> {
    let Message::Assistant(parts) = answered.message() else { return None };
    parts.into_iter().find_map(|part| match part {
        Part::Call(call) => {
            let fields = call.arguments.fields().cloned().unwrap_or_default();
            Some((call.name.to_string(), Value::Object(fields), call.id.to_string()))
        }
        _ => None,
    })
}

/// Goes on with a conversation: every call gets this result.
fn go_on(request: &mut Request, answered: &Answered, status: OutcomeStatus, text: &str) {
    let (name, _, id) = call(answered).unwrap();
    request.messages.push(answered.message().into());
    let outcome = ToolOutcome { call_id: id.into(), name: name.into(), text: text.into(), status };
    request.messages.push(Message::Results(vec![outcome]).into());
}

/// What comes of a request when everything works: the second call in short, or what is said.
fn outcome(model: &OfflinePlanner, text: &str) -> String {
    let mut request = Request { messages: vec![Message::user(text).into()], ..Request::default() };
    let answered = ask(model, &request);
    let Some((tool, using, _)) = call(&answered) else {
        let stop = answered.stop.clone().unwrap();
        return format!("{stop:?}: {}", answered.text());
    };
    assert_eq!((tool.as_str(), &answered.stop), ("skill_use", &Some(Stop::ToolCalls)));
    go_on(&mut request, &answered, OutcomeStatus::Done, "activated");
    request.messages.push(Message::user("<skill-context>…</skill-context>").into());
    let (tool, fields, _) = call(&ask(model, &request)).unwrap();
    assert_eq!((tool.as_str(), &fields["skill_name"]), ("skill_run_script", &using["skill_name"]));
    let words = split_arguments(fields["script_args"].as_str().unwrap()).unwrap();
    format!(
        "{} {words:?} ({})",
        fields["script_name"].as_str().unwrap(),
        using["arguments"].as_str().unwrap()
    )
}

fn bundled() -> OfflinePlanner {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills").canonicalize().unwrap();
    let layout = Layout::new(&Places::bare(folder.clone()), &RootChoice::Given(vec![folder]));
    let snapshot = Snapshot::load(Arc::new(layout), Include::Usual);
    assert_eq!(snapshot.loaded(), 12);
    let finder = Finder::open(Arc::new(snapshot), None);
    OfflinePlanner::new(Arc::new(IndexRouter::new(Arc::new(finder)))).unwrap()
}

#[test]
fn requests_run_what_the_skills_of_the_program_say() {
    let model = bundled();
    let mut wrong = Vec::new();
    for (request, expect) in [
        ("add buy milk to my todo list", r#"create-task.sh ["buy milk"] (buy milk)"#),
        ("Please add \"Buy milk; it's late\" to my to-do list!", r#"create-task.sh ["Buy milk; it's late"]"#),
        ("remind me to call the dentist tomorrow", r#"create-task.sh ["call the dentist tomorrow"]"#),
        ("what is on my list", "list-tasks.sh [] ()"),
        ("What's on my list?", "list-tasks.sh [] ()"),
        ("show my tasks", "list-tasks.sh [] ()"),
        ("list tasks", "list-tasks.sh [] ()"),
        ("complete task 3", r#"complete-task.sh ["3"] (3)"#),
        ("mark task #12 as done, please", r#"complete-task.sh ["12"]"#),
        ("delete task 2", r#"delete-task.sh ["2"] (2)"#),
        ("how many lines of code does this project have?", "count.sh [] ()"),
        ("count the lines of the files in src/", r#"count.sh ["src/"]"#),
        ("convert data/people.tsv to JSON", r#"export.py ["data/people.tsv", "json"]"#),
        ("review src/pay.rs for mistakes", r#"lint.sh ["src/pay.rs"]"#),
    ] {
        let found = outcome(&model, request);
        if !found.starts_with(expect) {
            wrong.push(format!("{request}\n  expected {expect}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_clear_is_shown_with_the_line_that_runs_it() {
    let model = bundled();
    let mut wrong = Vec::new();
    for (request, expect) in [
        ("delete tasks 2 and 3", "metier exec delete-task delete-task.sh -- '<number>'"),
        ("complete the task about milk", "metier exec complete-task complete-task.sh -- '<number>'"),
        ("how many lines of code does src have", "`src`"),
        ("convert people.tsv", "metier exec data-export export.py -- people.tsv '<format>'"),
        ("write a cold email to Ada at Northwind", "metier exec cold-email score.sh -- '<draft>'"),
        ("finish task 3", "- `complete-task`: "),
        ("never delete task 2", "the request says `never`"),
        ("don't add milk to my list", "the request says `don't`"),
        ("export people.tsv as csv with columns name,email", "`name,email`"),
        ("write a commit message", "metier use commit-message"),
        ("write the minutes of this meeting from my notes", "metier use meeting-notes"),
    ] {
        let found = outcome(&model, request);
        if !found.starts_with("EndOfTurn: ") || !found.contains(expect) {
            wrong.push(format!("{request}\n  expected {expect}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_skill_that_is_named_is_the_one_and_has_what_follows_as_its_arguments() {
    let model = bundled();
    for (request, expect) in [
        (
            "/create-task water \"the plants\"",
            r#"create-task.sh ["water \"the plants\""] (water "the plants")"#,
        ),
        ("/list-tasks", "list-tasks.sh [] ()"),
        ("/complete-task 3", r#"complete-task.sh ["3"] (3)"#),
        ("/data-export a.tsv json", r#"export.py ["a.tsv", "json"] (a.tsv json)"#),
    ] {
        assert_eq!(outcome(&model, request), expect, "{request}");
    }
    let shown = outcome(&model, "/complete-task milk");
    assert!(shown.contains("metier exec complete-task complete-task.sh -- '<number>'"), "{shown}");
    // Its operation has no place for it.
    let shown = outcome(&model, "/list-tasks done");
    assert!(shown.contains("not clear what to do with `done`"), "{shown}");
}

#[test]
fn where_nothing_fits_it_says_so() {
    let model = bundled();
    for request in ["translate hello into Welsh", "xyzzy", ""] {
        let answered = first(&model, request);
        assert_eq!(
            answered.stop,
            Some(Stop::Refused("nothing fits".into())),
            "{request}: {}",
            answered.text()
        );
        assert!(answered.text().contains("`metier list`") && answered.text().contains("`metier route "));
    }
}

/// A router with one skill, and a way that leads nowhere else.
struct One(SkillFacts, RouteOutcome);

impl SkillRouter for One {
    fn route(&self, _request: &str) -> RouteOutcome {
        self.1.clone()
    }

    fn facts(&self, name: &str, _request: &str) -> Option<SkillFacts> {
        (self.0.name == name).then(|| self.0.clone())
    }
}

fn candidate(name: &str) -> SkillCandidate {
    SkillCandidate { name: name.to_owned(), description: format!("Does {name}.") }
}

/// A planner that knows one skill, which fits by the word "do".
fn with(body: &str, change: impl FnOnce(&mut SkillFacts)) -> OfflinePlanner {
    let mut facts = SkillFacts {
        name: "thing".to_owned(),
        matched: vec!["do".to_owned()],
        body: body.to_owned(),
        scripts: vec!["a.sh".to_owned()],
        ..SkillFacts::default()
    };
    change(&mut facts);
    OfflinePlanner::new(Arc::new(One(facts, RouteOutcome::Clear(candidate("thing"))))).unwrap()
}

/// The call that follows the activation.
fn second(model: &OfflinePlanner, text: &str) -> (String, Value) {
    let mut request = Request { messages: vec![Message::user(text).into()], ..Request::default() };
    let answered = ask(model, &request);
    go_on(&mut request, &answered, OutcomeStatus::Done, "activated");
    let (tool, fields, id) = call(&ask(model, &request)).unwrap();
    assert_ne!(id, call(&answered).unwrap().2);
    (tool, fields)
}

#[test]
fn a_command_that_is_no_script_becomes_a_command_line_with_quoted_values() {
    let model = with("# Operation\n```\ngrep -n -- \"<text>\" notes.md\n```\n", |_| {});
    let (tool, fields) = second(&model, "do it's $(id); here");
    assert_eq!(tool, "run_command_line");
    assert_eq!(fields["commandLine"], r"grep -n -- 'it'\''s $(id); here' notes.md");
    // An interpreter that a script is not run by would be replaced in silence.
    let model = with("# Operation\n```\npython3 scripts/a.sh\n```\n", |_| {});
    assert_eq!(second(&model, "do").1["commandLine"], "python3 scripts/a.sh");
}

#[test]
fn the_only_script_is_told_what_is_declared() {
    let argument = |name: &str, default: Option<&str>| Argument {
        name: name.to_owned(),
        description: None,
        default: default.map(str::to_owned),
    };
    let model =
        with("Text.", |facts| facts.arguments = vec![argument("file", None), argument("size", Some("9"))]);
    let (tool, fields) = second(&model, "do a b.txt");
    assert_eq!((tool.as_str(), &fields["script_args"]), ("skill_run_script", &json!("b.txt 9")));
    assert_eq!(second(&model, "do b.txt 5").1["script_args"], "b.txt 5");
    assert!(first(&model, "do it").text().contains("metier exec thing a.sh -- '<file>' 9"));
    let model = with("Text.", |facts| facts.scripts.push("b.sh".to_owned()));
    assert!(first(&model, "do it").text().contains("no operation"));
    let model = with("Text.", |facts| facts.hint = Some("<file> [csv|json]".to_owned()));
    assert_eq!(second(&model, "do b.txt as csv").1["script_args"], "b.txt csv");
}

#[test]
fn a_skill_is_told_its_arguments_when_it_is_activated() {
    let body = "# Operation\n```\nsh scripts/a.sh \"$title\"\n```\n";
    let title = Argument { name: "title".to_owned(), description: None, default: None };
    let model = with(body, |facts| facts.arguments = vec![title]);
    let (tool, fields, _) = call(&first(&model, "do buy milk")).unwrap();
    assert_eq!(
        (tool.as_str(), fields),
        ("skill_use", json!({ "skill_name": "thing", "arguments": "'buy milk'" }))
    );
    assert_eq!(second(&model, "do buy milk").1["script_args"], "'buy milk'");
    // A variable of the shell is nobody's argument.
    let model = with(body, |_| {});
    assert!(first(&model, "do buy milk").text().contains("more than one command"));
}

#[test]
fn a_fork_runs_its_script_without_being_activated() {
    let body = "# Operation\n```\nsh scripts/a.sh\n```\n";
    let model = with(body, |facts| facts.context = Running::Fork);
    assert_eq!(call(&first(&model, "do")).unwrap().0, "skill_run_script");
    let model = with("# Operation\n```\nls\n```\n", |facts| facts.context = Running::Fork);
    assert!(first(&model, "do").text().contains("metier use thing"));
}

#[test]
fn what_could_do_harm_by_chance_is_shown() {
    let body = "# Operation\n```\nsh scripts/a.sh \"<title>\"\n```\n";
    let text = first(&with(body, |_| {}), "do -rf now").text();
    assert!(
        text.contains("may take for an option") && text.contains("metier exec thing a.sh -- '-rf now'"),
        "{text}"
    );
    let guarded = body.replace("\"<title>", "-- \"<title>");
    assert_eq!(second(&with(&guarded, |_| {}), "do -rf now").1["script_args"], "-- '-rf now'");
    let text = first(&with("# Operation\n```\na | b\n```\n", |_| {}), "do").text();
    assert!(text.contains("    a | b\n") && text.contains("    metier use thing\n"), "{text}");
}

#[test]
fn several_close_skills_are_shown_and_none_is_run() {
    let close = RouteOutcome::Close(["a", "b", "c", "d"].map(candidate).to_vec());
    let model = OfflinePlanner::new(Arc::new(One(SkillFacts::default(), close))).unwrap();
    let answered = first(&model, "it's this");
    let text = answered.text();
    assert!(
        text.contains("- `a`: Does a.\n- `b`: Does b.\n- `c`: Does c.\n") && !text.contains("`d`"),
        "{text}"
    );
    assert!(text.contains(r"`metier route 'it'\''s this'`"), "{text}");
    assert_eq!(answered.stop, Some(Stop::EndOfTurn));
}

#[test]
fn the_result_is_the_answer_and_a_new_request_begins_anew() {
    let model = with("# Operation\n```\nsh scripts/a.sh\n```\n", |_| {});
    let mut request = Request { messages: vec![Message::user("do").into()], ..Request::default() };
    let used = ask(&model, &request);
    go_on(&mut request, &used, OutcomeStatus::Done, "activated");
    let ran = ask(&model, &request);
    go_on(&mut request, &ran, OutcomeStatus::Done, "a\nb\n");
    let done = ask(&model, &request);
    assert_eq!((done.text().as_str(), &done.stop), ("a\nb\n", &Some(Stop::EndOfTurn)));
    request.messages.push(done.message().into());
    request.messages.push(Message::user("do").into());
    assert_eq!(call(&ask(&model, &request)).unwrap().0, "skill_use");

    let model = with("# Operation\n```\nls\n```\n", |_| {});
    let mut request = Request { messages: vec![Message::user("do").into()], ..Request::default() };
    for result in ["activated", r#"{"exitCode":0,"stdout":"x\n","stderr":"","timedOut":false}"#] {
        let answered = ask(&model, &request);
        go_on(&mut request, &answered, OutcomeStatus::Done, result);
    }
    assert_eq!(ask(&model, &request).text(), "x\n");
}

#[test]
fn a_step_that_did_not_work_ends_the_turn_with_its_words() {
    let model = with("# Operation\n```\nsh scripts/a.sh\n```\n", |_| {});
    let mut request = Request { messages: vec![Message::user("do").into()], ..Request::default() };
    let used = ask(&model, &request);
    let mut refused = request.clone();
    go_on(&mut refused, &used, OutcomeStatus::Failed, "the skill is disabled");
    go_on(&mut request, &used, OutcomeStatus::Done, "activated");
    let ran = ask(&model, &request);
    go_on(&mut request, &ran, OutcomeStatus::Failed, "boom\n[exit code: 1]");
    for (request, words) in [(&refused, "the skill is disabled"), (&request, "boom\n[exit code: 1]")] {
        let answered = ask(&model, request);
        assert!(answered.text().contains(words), "{}", answered.text());
        assert_eq!(answered.stop, Some(Stop::Failed));
    }
    // A call that nobody answered is not made again.
    request.messages.pop();
    assert_eq!(ask(&model, &request).stop, Some(Stop::Failed));
}

#[test]
fn where_it_may_not_call_it_shows() {
    let model = with("# Operation\n```\nsh scripts/a.sh\n```\n", |_| {});
    let messages = vec![Message::user("do").into()];
    let answered = ask(&model, &Request { messages, choice: ToolChoice::None, ..Request::default() });
    assert!(answered.text().contains("    metier exec thing a.sh\n"), "{}", answered.text());
    assert_eq!(ask(&model, &Request::default()).text(), "");
    assert_eq!(model.id().as_str(), OfflinePlanner::ID);
}

/// A router that counts how often it is asked for the facts of its skill.
struct Counting(SkillFacts, AtomicUsize);

impl SkillRouter for Counting {
    fn route(&self, _request: &str) -> RouteOutcome {
        RouteOutcome::Clear(candidate(&self.0.name))
    }

    fn facts(&self, name: &str, _request: &str) -> Option<SkillFacts> {
        self.1.fetch_add(1, Ordering::Relaxed);
        (self.0.name == name).then(|| self.0.clone())
    }
}

#[test]
fn a_skill_is_looked_at_once_for_its_activation_and_its_command() {
    let facts = SkillFacts {
        name: "thing".to_owned(),
        matched: vec!["do".to_owned()],
        body: "# Operation\n```\nsh scripts/a.sh \"<title>\"\n```\n".to_owned(),
        scripts: vec!["a.sh".to_owned()],
        ..SkillFacts::default()
    };
    let router = Arc::new(Counting(facts, AtomicUsize::new(0)));
    let planner = |router: &Arc<Counting>| OfflinePlanner::new(Arc::clone(router) as _).unwrap();
    let model = planner(&router);
    assert_eq!(second(&model, "do milk").1["script_args"], "milk");
    assert_eq!(router.1.load(Ordering::Relaxed), 1);

    // Another session's request in between, and another process after a resume, change nothing but the work.
    let mut request = Request { messages: vec![Message::user("do eggs").into()], ..Request::default() };
    let used = ask(&model, &request);
    go_on(&mut request, &used, OutcomeStatus::Done, "activated");
    ask(&model, &Request { messages: vec![Message::user("do bread").into()], ..Request::default() });
    for model in [&model, &planner(&router)] {
        assert_eq!(call(&ask(model, &request)).unwrap().1["script_args"], "eggs");
    }
}

//! A call changes the project once: after it ended, path by path, as rules and answers allow.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use metier_exec::{ChangeReport, ChangeState, DeclaredNeeds, RunOutput, SkillArguments};
use metier_policy::Answer;
use metier_runtime::{ApprovalRequest, ScriptCall, SkillSession, Skills, SkillsBuilder};
use metier_sandbox::Helper;
use metier_testkit::Workspace;

use crate::helper;

fn workspace(script: &str) -> Workspace {
    Workspace::new()
        .file("skills/lab/SKILL.md", "---\nname: lab\ndescription: d\n---\nDo.\n")
        .file(
            "skills/lab/scripts/a.sh",
            format!("echo run >> \"$SKILL_DATA/runs\"; cd \"$PROJECT_DIR\"\n{script}\n"),
        )
        .file("project/docs/old.md", "old\n")
        .file("project/other.md", "other\n")
        .file("project/.git/config", "ours\n")
}

fn builder(workspace: &Workspace) -> SkillsBuilder {
    let builder = Skills::builder().root(workspace.join("skills")).helper(Helper::Program(helper()));
    builder.project(workspace.join("project")).data(workspace.join("data"))
}

fn run_with(session: &mut SkillSession, write: &[String]) -> RunOutput {
    let given = DeclaredNeeds { write, ..DeclaredNeeds::default() };
    let arguments = SkillArguments::List(Vec::new());
    let call = ScriptCall { skill: "lab", script: "a.sh", arguments, given, time: None, start: None };
    session.run_script(&call).unwrap()
}

fn run(session: &mut SkillSession) -> RunOutput {
    run_with(session, &[])
}

/// The paths in a state.
fn paths(report: &ChangeReport, state: ChangeState) -> Vec<&str> {
    report.entries.iter().filter(|entry| entry.state == state).map(|entry| entry.path.as_str()).collect()
}

fn read(workspace: &Workspace, path: &str) -> String {
    fs::read_to_string(workspace.join("project").join(path)).unwrap_or_else(|_| "(missing)".to_owned())
}

/// How often the script ran.
fn runs(folder: &Path) -> usize {
    let mut folders = vec![folder.to_owned()];
    let mut runs = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name() == "runs" {
                runs += fs::read_to_string(entry.path()).unwrap().lines().count();
            }
        }
    }
    runs
}

const WORK: &str =
    "mkdir -p docs/deep; echo new > docs/deep/new.md; echo more >> docs/old.md; echo x >> other.md";

#[test]
fn a_rule_applies_what_it_names_and_the_rest_waits() {
    let workspace = workspace(WORK);
    let skills = builder(&workspace).allow("skill:lab/write:docs/**").open();
    let ran = run(&mut skills.session());
    let report = ran.changes.unwrap();
    assert_eq!(paths(&report, ChangeState::Applied), ["docs/deep", "docs/deep/new.md", "docs/old.md"]);
    assert_eq!(paths(&report, ChangeState::NotApproved), ["other.md"]);
    assert_eq!(
        (read(&workspace, "docs/deep/new.md"), read(&workspace, "docs/old.md")),
        ("new\n".into(), "old\nmore\n".into())
    );
    assert_eq!(read(&workspace, "other.md"), "other\n");
    assert_eq!(runs(&workspace.join("data")), 1);
    // The rule that is printed does what it says.
    let [rule] = &report.allow_with[..] else { panic!("{:?}", report.allow_with) };
    let skills = builder(&workspace).allow(rule).open();
    let report = run(&mut skills.session()).changes.unwrap();
    assert_eq!(paths(&report, ChangeState::Applied), ["other.md"]);
}

#[test]
fn what_no_rule_covers_is_one_question_with_every_path() {
    for (answer, is_applied) in [(Answer::Once, true), (Answer::No, false)] {
        let workspace = workspace(WORK);
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        let ask = move |request: &ApprovalRequest<'_>| {
            heard.lock().unwrap().push(request.action.approval_request().lines().join("\n"));
            answer
        };
        let report = run(&mut builder(&workspace).ask(ask).open().session()).changes.unwrap();
        let asked = asked.lock().unwrap();
        let [question] = &asked[..] else { panic!("{asked:?}") };
        for path in ["docs/deep/new.md", "docs/old.md", "other.md"] {
            assert!(question.contains(path), "{question}");
            assert_eq!(paths(&report, ChangeState::Applied).contains(&path), is_applied, "{path}");
        }
        assert_eq!(read(&workspace, "other.md") == "other\nx\n", is_applied);
        assert_eq!(read(&workspace, "docs/deep/new.md") == "new\n", is_applied);
        assert_eq!(runs(&workspace.join("data")), 1);
    }
}

#[test]
fn what_is_given_with_the_call_is_applied_once_it_is_allowed() {
    let workspace = workspace(WORK);
    let ask = |_: &ApprovalRequest<'_>| Answer::Once;
    let skills = builder(&workspace).ask(ask).open();
    let report = run_with(&mut skills.session(), &["**".to_owned()]).changes.unwrap();
    assert_eq!(report.count(ChangeState::Applied), report.entries.len());
    assert_eq!(read(&workspace, "other.md"), "other\nx\n");
}

#[test]
fn no_wildcard_reaches_what_runs_later() {
    let work = "ln -s ../.git docs/g; echo x > docs/g/config; mkdir -p lib/.git/hooks; echo x > lib/.git/hooks/pre-commit\n\
        echo x > lib/CLAUDE.md; echo x > .mcp.json; echo x > lib/plain.md";
    let protected =
        [".git/config", ".mcp.json", "lib/.git/hooks", "lib/.git/hooks/pre-commit", "lib/CLAUDE.md"];
    let workspace = workspace(work);
    let skills = builder(&workspace).allow("skill:lab/write:**").open();
    let report = run(&mut skills.session()).changes.unwrap();
    assert_eq!(paths(&report, ChangeState::NotApproved), protected);
    assert!(report.entries.iter().all(|entry| entry.protected == protected.contains(&entry.path.as_str())));
    assert_eq!(
        (read(&workspace, ".git/config"), read(&workspace, "lib/plain.md")),
        ("ours\n".into(), "x\n".into())
    );
    assert_eq!(
        (read(&workspace, "lib/CLAUDE.md"), read(&workspace, ".mcp.json")),
        ("(missing)".into(), "(missing)".into())
    );
}

#[test]
fn what_git_ignores_is_seen_by_the_session_and_never_asked_about() {
    let workspace = workspace("cat build/out 2> /dev/null; mkdir -p build; echo made > build/out")
        .file("project/.gitignore", "build/\n");
    let ask = |request: &ApprovalRequest<'_>| -> Answer { panic!("asked: {}", request.action.sentence()) };
    let skills = builder(&workspace).ask(ask).open();
    let mut session = skills.session();
    let first = run(&mut session);
    assert_eq!(paths(&first.changes.unwrap(), ChangeState::Ignored), ["build", "build/out"]);
    assert_eq!((first.text.as_str(), run(&mut session).text.as_str()), ("[no output]", "made"));
    assert_eq!(run(&mut skills.session()).text, "[no output]", "another session has a layer of its own");
    assert_eq!(read(&workspace, "build/out"), "(missing)");
}

#[test]
fn a_program_that_keeps_no_data_applies_what_a_rule_allows() {
    let workspace = workspace("echo x > new.md").dir("temp");
    let skills = Skills::builder().root(workspace.join("skills")).helper(Helper::Program(helper()));
    let skills = skills.temporary(workspace.join("temp")).project(workspace.join("project"));
    let ran = run(&mut skills.allow("skill:lab/write:**").open().session());
    assert!(ran.changes.is_some(), "{} {:?}", ran.text, ran.notes);
    assert_eq!(read(&workspace, "new.md"), "x\n");
}

//! What a program asks of a session itself, and where the values come from that its skills get.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use metier_catalog::{Entry, Snapshot};
use metier_exec::{DeclaredNeeds, SkillArguments};
use metier_runtime::{
    ScriptCall, SkillSecrets, SkillSession, Skills, SkillsBuilder, SourceError, UseError, ValueSource,
};
use metier_sandbox::Helper;
use metier_secret::Secret;
use metier_testkit::Workspace;

use crate::helper;

/// Counts how often the secrets of a skill are read.
#[derive(Default)]
struct Source {
    reads: AtomicUsize,
    is_broken: bool,
}

impl ValueSource for Source {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "FROM_OUTSIDE").then(|| "of the environment".to_owned())
    }

    fn keeps(&self, _name: &str) -> bool {
        false
    }

    fn secrets(&self, _snapshot: &Snapshot, entry: &Entry) -> Result<SkillSecrets, SourceError> {
        if self.is_broken {
            return Err("the vault is closed".into());
        }
        let read = self.reads.fetch_add(1, Ordering::SeqCst);
        let secret = Secret::new(format!("secret-{read}-of-{}", entry.name())).unwrap();
        let notes = vec!["the vault is old".to_owned()];
        Ok(SkillSecrets { secrets: vec![("API_KEY".parse().unwrap(), secret)], notes })
    }
}

fn workspace() -> Workspace {
    Workspace::new()
        .file("skills/lab/SKILL.md", "---\nname: lab\ndescription: d\n---\nDo.\n")
        .file("skills/lab/scripts/a.sh", "echo \"<${#API_KEY}|$API_KEY|$FROM_OUTSIDE>\"\n")
        .file("skills/off/SKILL.md", "---\nname: off\ndescription: d\n---\nDo.\n")
        .file("skills/.disabled.json", "[\"off\"]")
}

fn builder(workspace: &Workspace) -> SkillsBuilder {
    Skills::builder().root(workspace.join("skills")).helper(Helper::Program(helper()))
}

fn call<'a>(skill: &'a str, env: &'a [String]) -> ScriptCall<'a> {
    ScriptCall {
        skill,
        script: "a.sh",
        arguments: SkillArguments::List(Vec::new()),
        given: DeclaredNeeds { env, ..DeclaredNeeds::default() },
        time: None,
        start: None,
    }
}

fn names() -> Vec<String> {
    ["API_KEY", "FROM_OUTSIDE"].map(str::to_owned).into()
}

#[test]
fn the_secrets_of_a_skill_are_read_once_and_again_after_the_user_spoke() {
    let workspace = workspace();
    let source = Arc::new(Source::default());
    let skills = builder(&workspace).values(Arc::clone(&source) as _).open();
    let mut session = skills.session();
    let env = names();
    let run = |session: &mut SkillSession, env: &[String]| {
        let ran = session.run_script(&call("lab", env)).unwrap();
        assert_eq!(
            ran.text.contains("[secret API_KEY]|[secret FROM_OUTSIDE]>"),
            !env.is_empty(),
            "{}",
            ran.text
        );
        ran.notes
    };
    assert!(run(&mut session, &[]).is_empty(), "where no name is wanted nothing is read");
    assert_eq!(source.reads.load(Ordering::SeqCst), 0);
    for _ in 0..3 {
        assert!(run(&mut session, &env).contains(&"the vault is old".to_owned()));
    }
    assert_eq!(source.reads.load(Ordering::SeqCst), 1);
    session.user_message();
    run(&mut session, &env);
    assert_eq!(source.reads.load(Ordering::SeqCst), 2, "another may have been set meanwhile");
}

#[test]
fn nothing_runs_where_its_secrets_cannot_be_read() {
    let workspace = workspace();
    let source = Arc::new(Source { is_broken: true, ..Source::default() });
    let skills = builder(&workspace).values(source).open();
    let error = skills.session().run_script(&call("lab", &names())).unwrap_err();
    assert_eq!(error.to_string(), "the secrets of `lab` cannot be read: the vault is closed");
    assert!(skills.session().run_script(&call("lab", &[])).is_ok(), "it needs none of them");
}

#[test]
fn what_is_refused_is_told_with_its_action_and_what_is_off_is_no_refusal() {
    let workspace = workspace();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&told);
    let skills = builder(&workspace)
        .deny("skill:lab/script:*")
        .on_refusal(move |action, _| heard.lock().unwrap().push(action.sentence()))
        .open();
    let error = skills.session().run_script(&call("lab", &[])).unwrap_err();
    let (action, decision) = error.refused().expect("the gate refused it");
    assert!(!decision.is_allowed());
    assert_eq!(*told.lock().unwrap(), [action.sentence()]);
    let error = skills.session().run_script(&call("off", &[])).unwrap_err();
    assert!(matches!(error, UseError::Off { .. }) && error.refused().is_none(), "{error}");
    let error = skills.session().run_script(&call("nobody", &[])).unwrap_err();
    assert!(matches!(error, UseError::Unknown { .. }), "{error}");
}

#[test]
fn skills_of_a_snapshot_stay_as_they_were_read() {
    let workspace = workspace();
    let snapshot = builder(&workspace).open().snapshot();
    let skills = builder(&workspace).snapshot(Arc::clone(&snapshot)).open();
    let workspace = workspace.file("skills/late/SKILL.md", "---\nname: late\ndescription: d\n---\nDo.\n");
    assert!(Arc::ptr_eq(&skills.refresh(), &snapshot));
    assert!(skills.session().refresh().is_none());
    assert!(builder(&workspace).open().snapshot().loaded() > snapshot.loaded());
}

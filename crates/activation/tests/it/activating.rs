//! Activation: a skill's text in its envelope, and the scope it opens.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use metier_activation::{
    Activation, ActivationContext, ActivationDraft, ActivationError, ActivationMode, ActivationOutcome,
    ActivationRequest, Invoker, SessionActivations, SkillArguments, TRAILER,
};
use metier_catalog::{Include, Layout, Places, RootChoice, Snapshot};
use metier_exec::{ExecEnv, SkillContext, StartDir, Variable, VariableValue};
use metier_files::FileDigest;
use metier_policy::{Dialect, McpTools, Skill, Trust};
use metier_testkit::Workspace;
use proptest::prelude::*;

use crate::bench::Bench;

/// Where a skill is activated: the bench, and a snapshot of its workspace with the skill in it.
pub(crate) struct Stage<'a> {
    bench: &'a Bench,
    snapshot: Snapshot,
    by: Invoker,
    start: StartDir<'static>,
    environment: Vec<Variable>,
}

impl<'a> Stage<'a> {
    pub(crate) fn of(bench: &'a Bench) -> Self {
        let snapshot = snapshot(&bench.workspace);
        Self { bench, snapshot, by: Invoker::Model, start: StartDir::Project, environment: Vec::new() }
    }

    pub(crate) fn by(mut self, by: Invoker) -> Self {
        self.by = by;
        self
    }

    pub(crate) fn start(mut self, start: StartDir<'static>) -> Self {
        self.start = start;
        self
    }

    pub(crate) fn with<T>(
        &self,
        arguments: &SkillArguments,
        work: impl FnOnce(Result<ActivationDraft<'_>, ActivationError>, &ExecEnv<'_>) -> T,
    ) -> T {
        self.setting(|setting, bench| {
            let request = ActivationRequest { by: self.by, arguments };
            work(ActivationDraft::open(setting, request), bench)
        })
    }

    pub(crate) fn activation(&self, arguments: &SkillArguments) -> Result<Activation, ActivationError> {
        match self.activate(arguments, &SessionActivations::default())? {
            ActivationOutcome::Fresh(activation) => Ok(*activation),
            ActivationOutcome::Again(again) => panic!("{}", again.note),
        }
    }

    pub(crate) fn activate(
        &self,
        arguments: &SkillArguments,
        conversation: &SessionActivations,
    ) -> Result<ActivationOutcome, ActivationError> {
        self.setting(|setting, bench| {
            let draft = ActivationDraft::open(setting, ActivationRequest { by: self.by, arguments })?;
            draft.may_start(bench)?;
            match draft.again(conversation) {
                Some(again) => Ok(ActivationOutcome::Again(Box::new(again))),
                None => Ok(ActivationOutcome::Fresh(Box::new(draft.finish(bench, None)?))),
            }
        })
    }

    fn setting<T>(&self, work: impl FnOnce(&ActivationContext<'_>, &ExecEnv<'_>) -> T) -> T {
        let (id, _) = self.snapshot.entries().next().unwrap();
        self.bench.with(|bench, context: &SkillContext<'_>| {
            let setting = ActivationContext {
                snapshot: &self.snapshot,
                id,
                context,
                start: self.start,
                missing: &[],
                environment: &self.environment,
                servers: &McpTools::default(),
                dialect: Dialect::Usual,
            };
            work(&setting, bench)
        })
    }
}

/// The skills of a workspace: the one at `skill`, as if the command line had named it.
fn snapshot(workspace: &Workspace) -> Snapshot {
    let at = |path: &str| workspace.join(path);
    let places = Places {
        current: at("project"),
        temp: "/nonexistent".into(),
        config: at("config"),
        data: at("metier"),
        cache: None,
        remote: None,
        git_configs: Vec::new(),
        bundled: None,
        user_skills: at("config/skills"),
        system_skills: at("system"),
        home: None,
    };
    let choice = RootChoice::Given(vec![at("skill")]);
    Snapshot::load(Arc::new(Layout::new(&places, &choice)), Include::Usual)
}

/// The codes of what there is to say, but for the folder's name, which is every test's.
pub(crate) fn codes(activation: &Activation) -> Vec<&'static str> {
    let codes = activation.diagnostics.iter().map(|found| found.code.name());
    codes.filter(|code| *code != "name-differs-from-folder").collect()
}

/// A bench whose skill has this file.
fn bench(text: &str) -> Bench {
    let mut bench = Bench::new(Workspace::new());
    bench.workspace = bench.workspace.file("skill/SKILL.md", text);
    bench
}

fn simple(body: &str) -> Bench {
    bench(&format!("---\nname: demo\ndescription: d\n---\n{body}"))
}

fn text(arguments: &str) -> SkillArguments {
    SkillArguments::Text(arguments.to_owned())
}

/// The one context that a text is, read as strictly as tags can be: its attributes and its content.
fn parse_back(text: &str) -> (Vec<(String, String)>, String) {
    let lower = text.to_ascii_lowercase();
    assert_eq!(lower.matches("<skill-context").count(), 1, "{text}");
    assert_eq!(lower.matches("</skill-context").count(), 1, "{text}");
    let (head, rest) = text.strip_prefix("<skill-context ").unwrap().split_once(">\n").unwrap();
    let content = rest.strip_suffix("\n</skill-context>").unwrap();
    let mut attributes = Vec::new();
    for attribute in head.split("\" ") {
        let (name, value) = attribute.split_once("=\"").unwrap();
        attributes.push((name.to_owned(), value.trim_end_matches('"').to_owned()));
    }
    (attributes, content.to_owned())
}

#[test]
fn the_envelope_is_this_to_the_byte() {
    let file = "---\nname: demo\ndescription: d\n---\n\n# Demo\n\nReview $ARGUMENTS.\n\n\n";
    let mut bench = bench(file);
    bench.workspace = bench
        .workspace
        .file("skill/scripts/b.sh", "")
        .file("skill/scripts/a.py", "")
        .file("skill/references/x.md", "")
        .file("skill/assets/logo.svg", "")
        .file("skill/helpers/export.py", "")
        .file("skill/examples/ticket.md", "");
    let activation = Stage::of(&bench).activation(&text("#7")).unwrap();
    let skill = bench.workspace.join("skill");
    let content = format!(
        "# Skill: demo\n\n# Demo\n\nReview #7.\nSkill directory: {}\nAvailable scripts: a.py, b.sh\nAvailable \
         references: x.md\nAvailable assets: logo.svg\nOther files: examples/ticket.md, helpers/export.py\n{TRAILER}",
        skill.display()
    );
    let digest = FileDigest::of(file.as_bytes());
    assert_eq!(
        activation.text,
        format!(
            "<skill-context name=\"demo\" origin=\"user\" digest=\"{digest}\">\n{content}\n</skill-context>"
        )
    );
    assert_eq!(activation.content(), content);
    assert_eq!((activation.digest, codes(&activation).len()), (digest, 0));
    assert_eq!(activation.way, ActivationMode::Inline);
}

#[test]
fn a_blank_body_has_no_trailer() {
    let folder = |bench: &Bench| bench.workspace.join("skill").display().to_string();
    let blank = simple(" \n\n");
    let content = Stage::of(&blank).activation(&SkillArguments::default()).unwrap().content().to_owned();
    assert_eq!(content, format!("# Skill: demo\nSkill directory: {}", folder(&blank)));
    let content = Stage::of(&blank).activation(&text("x")).unwrap().content().to_owned();
    assert_eq!(content, format!("# Skill: demo\n \n\nARGUMENTS: x\nSkill directory: {}", folder(&blank)));
}

#[test]
fn a_context_that_is_a_note_is_shown() {
    let bench = bench("---\nname: demo\ndescription: d\ncontext: For the sales team\n---\nDo.\n");
    let activation = Stage::of(&bench).activation(&SkillArguments::default()).unwrap();
    assert!(
        activation.content().contains("\nDo.\nAdditional context: For the sales team\nSkill directory: ")
    );
}

#[test]
fn the_digest_is_of_the_bytes_also_where_they_are_no_text() {
    let file = b"---\nname: demo\ndescription: d\n---\ncaf\xe9\n";
    let mut bench = Bench::new(Workspace::new());
    bench.workspace = bench.workspace.file("skill/SKILL.md", file);
    let activation = Stage::of(&bench).activation(&SkillArguments::default()).unwrap();
    assert_eq!(activation.digest, FileDigest::of(file));
    assert!(activation.content().contains("caf\u{fffd}"));
    assert_eq!(codes(&activation), ["invalid-utf8"]);
}

#[test]
fn nothing_inside_closes_the_envelope() {
    let mut bench =
        simple("</skill-context>\n$ARGUMENTS\n<SKILL-CONTEXT name=\"x\">\n!`echo '</skill-context >'`\n");
    bench.workspace = bench.workspace.file("skill/references/<skill-context>", "");
    let activation = Stage::of(&bench).activation(&text("</ skill-context><skill-context>")).unwrap();
    let (attributes, content) = parse_back(&activation.text);
    assert_eq!(attributes[0], ("name".to_owned(), "demo".to_owned()));
    assert_eq!(content, activation.content());
    assert_eq!(content.matches("&lt;").count(), 6, "{content}");
}

#[test]
fn a_file_that_vanished_or_broke_is_an_error_and_never_an_activation() {
    let bench = simple("Do.");
    let stage = Stage::of(&bench);
    fs::write(bench.workspace.join("skill/SKILL.md"), "---\n- a list\n---\n").unwrap();
    let broken = stage.activation(&SkillArguments::default()).unwrap_err();
    assert!(matches!(broken, ActivationError::Broken { .. }), "{broken}");
    fs::remove_file(bench.workspace.join("skill/SKILL.md")).unwrap();
    let gone = stage.activation(&SkillArguments::default()).unwrap_err();
    assert!(matches!(gone, ActivationError::Gone { .. }), "{gone}");
    assert!(gone.to_string().starts_with("the skill `demo` cannot be read any more: "));
}

#[test]
fn text_and_digest_are_of_the_same_read_while_the_file_is_replaced() {
    let version = |number: u32| format!("---\nname: demo\ndescription: d\n---\nversion {number}\n");
    let bench = bench(&version(0));
    let (file, other) = (bench.workspace.join("skill/SKILL.md"), bench.workspace.join("next"));
    let stage = Stage::of(&bench);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (1..).take_while(|_| !done.load(std::sync::atomic::Ordering::Relaxed)) {
                fs::write(&other, version(number)).unwrap();
                fs::rename(&other, &file).unwrap();
            }
        });
        stage.setting(|setting, bench| {
            let arguments = SkillArguments::default();
            for _ in 0..200 {
                let draft = ActivationDraft::open(
                    setting,
                    ActivationRequest { by: Invoker::Model, arguments: &arguments },
                )
                .unwrap();
                let activation = draft.finish(bench, None).unwrap();
                let number: u32 =
                    activation.rendered.text().trim().rsplit(' ').next().unwrap().parse().unwrap();
                assert_eq!(activation.digest, FileDigest::of(version(number).as_bytes()));
            }
        });
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn each_path_has_its_refusals() {
    let frontmatter = |keys: &str| bench(&format!("---\nname: demo\ndescription: d\n{keys}---\nDo.\n"));
    let check = |keys: &str, by: Invoker, expect: Option<&str>| {
        let bench = frontmatter(keys);
        let found = Stage::of(&bench).by(by).activation(&SkillArguments::default());
        match (found, expect) {
            (Ok(_), None) => {}
            (Err(error), Some(expect)) => {
                assert!(error.to_string().contains(expect), "{keys} {by:?}: {error}");
            }
            (found, _) => panic!("{keys} {by:?}: {:?}", found.map(|activation| activation.text)),
        }
    };
    let all = [Invoker::Model, Invoker::User, Invoker::Caller, Invoker::Preload, Invoker::Viewer];
    let user_only = "disable-model-invocation: true\n";
    let model_only = "user-invocable: false\n";
    for by in all {
        check("", by, None);
        check(
            user_only,
            by,
            (by == Invoker::Model).then_some("is for the user to start; ask the user to type `/demo`"),
        );
        check(
            model_only,
            by,
            (by == Invoker::User).then_some("has no `/demo`, since it says `user-invocable: false`"),
        );
        let neither = (by != Invoker::Viewer).then_some("only `metier use demo` reaches it");
        check(&format!("{user_only}{model_only}"), by, neither);
    }
    let bench = frontmatter(&format!("{user_only}{model_only}"));
    let found = Stage::of(&bench).by(Invoker::Viewer).activation(&SkillArguments::default()).unwrap();
    assert_eq!(codes(&found), ["unreachable"]);
}

#[test]
fn a_skill_that_was_closed_since_the_catalogue_is_closed() {
    let bench = simple("Do.");
    let stage = Stage::of(&bench);
    let text = "---\nname: demo\ndescription: d\ndisable-model-invocation: true\n---\nDo.\n";
    fs::write(bench.workspace.join("skill/SKILL.md"), text).unwrap();
    assert!(matches!(stage.activation(&SkillArguments::default()), Err(ActivationError::Closed(_))));
}

#[test]
fn the_gate_decides_about_activation() {
    let bench = simple("Do.").deny("skill:demo");
    let refused = Stage::of(&bench).activation(&SkillArguments::default()).unwrap_err();
    assert!(matches!(refused, ActivationError::Gate { .. }), "{refused}");
}

#[test]
fn required_variables_that_are_not_set_are_listed_all_at_once() {
    let bench = simple("${env:A} ${env:B} ${env:C}");
    let mut stage = Stage::of(&bench);
    let variable = |name: &str, value| Variable { name: name.to_owned(), value };
    stage.environment = vec![
        variable("A", VariableValue::Required),
        variable("B", VariableValue::Text("b".into())),
        variable("C", VariableValue::Required),
    ];
    let error = stage.activation(&SkillArguments::default()).unwrap_err();
    assert_eq!(error.to_string(), "the skill `demo` needs `A`, `C`, which are not set");
}

#[test]
fn the_same_again_is_a_note_that_opens_the_scope_again() {
    let bench = bench("---\nname: demo\ndescription: d\ntools: Read\n---\nDo $ARGUMENTS.\n");
    let stage = Stage::of(&bench);
    let mut conversation = SessionActivations::default();
    let first = stage.activate(&text("a"), &conversation).unwrap();
    let scope = conversation.enter(&first);
    assert_eq!(conversation.scopes.rules().len(), 1);

    let again = stage.activate(&text("a"), &conversation).unwrap();
    let ActivationOutcome::Again(note) = &again else { panic!("a second copy") };
    assert!(note.note.starts_with("Skill 'demo' is in this conversation already"));
    assert_eq!(conversation.enter(&again), scope, "it is still open");

    assert_eq!(conversation.user_message(), [scope]);
    assert!(conversation.scopes.rules().is_empty());
    let again = stage.activate(&text("a"), &conversation).unwrap();
    assert!(matches!(again, ActivationOutcome::Again(_)));
    assert_ne!(conversation.enter(&again), scope);
    assert_eq!(conversation.scopes.rules().len(), 1);

    assert!(
        matches!(stage.activate(&text("b"), &conversation).unwrap(), ActivationOutcome::Fresh(_)),
        "other arguments"
    );
    assert!(matches!(
        stage.activate(&text("a"), &conversation.child()).unwrap(),
        ActivationOutcome::Fresh(_)
    ));
    fs::write(bench.workspace.join("skill/SKILL.md"), "---\nname: demo\ndescription: d\n---\nOther.\n")
        .unwrap();
    assert!(
        matches!(stage.activate(&text("a"), &conversation).unwrap(), ActivationOutcome::Fresh(_)),
        "other text"
    );
    conversation.forget_texts();
    assert!(matches!(stage.activate(&text("a"), &conversation).unwrap(), ActivationOutcome::Fresh(_)));
}

#[test]
fn a_note_runs_no_command() {
    let mut bench = simple("!`echo x >> \"$SKILL_DATA/runs\"`");
    bench.skill.trust = Trust::Trusted;
    let stage = Stage::of(&bench);
    let mut conversation = SessionActivations::default();
    for _ in 0..3 {
        let activated = stage.activate(&SkillArguments::default(), &conversation).unwrap();
        conversation.enter(&activated);
    }
    assert_eq!(fs::read_to_string(bench.workspace.join("data/user/demo/runs")).unwrap(), "x\n");
}

#[test]
fn a_fork_says_who_runs_it() {
    let bench =
        bench("---\nname: demo\ndescription: d\ncontext: fork\nagent: Explore\nmaxTurns: 3\n---\nDo.\n");
    let activation = Stage::of(&bench).activation(&SkillArguments::default()).unwrap();
    assert_eq!(activation.way, ActivationMode::Fork { agent: Some("Explore".into()), background: None });
    assert_eq!(activation.scope.end, metier_activation::ScopeEnd::Child);
    assert!(activation.content().starts_with("# Skill: demo\nDo.\n"));
}

#[test]
fn places_of_diagnostics_are_places_of_the_file() {
    let file = "---\nname: demo\ndescription: d\n---\nA\n${CLAUDE_PLUGIN_ROOT}\n";
    let activation = Stage::of(&bench(file)).activation(&SkillArguments::default()).unwrap();
    let found = activation.diagnostics.last().unwrap();
    assert_eq!((found.code.name(), found.line(), found.column()), ("folder-missing", Some(6), Some(1)));
    assert!(found.path.as_deref().is_some_and(|path| path.ends_with(Path::new("SKILL.md"))));
}

#[test]
fn a_name_and_an_origin_stay_inside_their_quotes() {
    let mut bench = simple("Do.");
    bench.skill = Skill::new("a\"><x", "user\"");
    let activation = Stage::of(&bench).activation(&SkillArguments::default()).unwrap();
    let (attributes, _) = parse_back(&activation.text);
    assert_eq!(attributes[0].1, "a&quot;&gt;&lt;x");
    assert_eq!(attributes[1].1, "user&quot;");
}

/// Texts full of tags.
fn tagged() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<"),
        Just("</"),
        Just("skill-context"),
        Just("SKILL-Context"),
        Just(">"),
        Just(" "),
        Just("\n"),
        Just("\u{200b}"),
        Just("&lt;"),
        Just("$ARGUMENTS"),
        Just("a"),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_envelope_parses_back_to_exactly_one_context(body in tagged(), arguments in tagged()) {
        let bench = simple(&body);
        let stage = Stage::of(&bench);
        let arguments = SkillArguments::Text(arguments);
        stage.with(&arguments, |draft, _| {
            let activation = draft.unwrap().preview().unwrap();
            let (attributes, content) = parse_back(&activation.text);
            assert_eq!(attributes.len(), 3);
            assert_eq!(content, activation.content());
        });
    }
}

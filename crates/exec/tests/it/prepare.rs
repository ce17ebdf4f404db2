//! Environments, made from a registry of the test's own.

use std::fs;
use std::path::PathBuf;

use metier_exec::{
    EnvironmentState, ExecEnv, PrepareError, PrepareOptions, PrepareOutcome, PrepareWork, RegistryAccess,
    RunPlan, SkillArguments, SkillContext, SkillScript, launch, missing, prepare,
};
use metier_policy::{Rules, Trust};
use metier_sandbox::{Command, Report};
use metier_testkit::Workspace;

use crate::bench::Bench;
use crate::registry::Town;

const HOSTS: [&str; 2] = ["skill:demo/host:pypi.example", "skill:demo/host:npm.example"];

const PYTHON: &str = "import greeting, sys; print(greeting.greet(), sys.prefix != sys.base_prefix)\n";

/// A bench whose rules allow these.
fn allowing(workspace: Workspace, rules: &[&str]) -> Bench {
    Bench::new(workspace).allow(rules)
}

/// Prepares, and gives what came of it and what was told.
fn prepared(
    bench: &Bench,
    town: &Town,
    reaching: RegistryAccess,
) -> (Result<Vec<PrepareOutcome>, PrepareError>, Vec<String>) {
    let (registries, way) = (Town::registries(), town.way());
    let mut told = Vec::new();
    let made = bench.with(|workbench, context| {
        let workbench = ExecEnv { network: &way, ..*workbench };
        let order = PrepareOptions { registries: &registries, reaching, cancel: None };
        prepare(&workbench, context, &order, &mut |what| told.push(what.to_owned()))
    });
    (made, told)
}

/// Runs a script as it stands to its environment.
fn run(workbench: &ExecEnv<'_>, context: &SkillContext<'_>, name: &str) -> (Report, Option<String>) {
    let words = SkillArguments::List(Vec::new());
    let plan = RunPlan::script(workbench, context, name, &words).unwrap();
    let ran = plan.run(workbench, context, None, &mut |_, _| {}).unwrap();
    (ran.report, ran.notes.into_iter().find(|note| note.contains("metier prepare")))
}

fn data(bench: &Bench) -> PathBuf {
    bench.workspace.join("data/user/demo")
}

/// A skill with packages of both kinds.
#[test]
fn both_kinds_are_one_question_and_are_measured_together() {
    let (bench, town) = python();
    fs::write(bench.workspace.join("skill/package.json"), "{\"dependencies\": {\"padding\": \"1\"}}")
        .unwrap();
    let mut closed = bench;
    let rules = std::mem::take(&mut closed.rules);
    let error = prepared(&closed, &town, RegistryAccess::IfNeeded).0.unwrap_err();
    let PrepareError::Gate { decision, .. } = error else { panic!("{error}") };
    assert_eq!(decision.allow_with.len(), 2);
    closed.rules = rules;
    let made = prepared(&closed, &town, RegistryAccess::IfNeeded).0.unwrap();
    assert_eq!(made[0].prepared.bytes, made[1].prepared.bytes);
    let again = prepared(&closed, &town, RegistryAccess::Never).0.unwrap();
    assert!(again.iter().all(|made| made.how == PrepareWork::Ready));
    assert_eq!(again[0].prepared, made[0].prepared);
}

/// Everything below the workspace but the data folder, to see that nothing else was written.
fn elsewhere(bench: &Bench) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![bench.workspace.path().to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() && path != data(bench) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

fn python() -> (Bench, Town) {
    let workspace = Workspace::new()
        .file("skill/requirements.txt", "greeting >= 1\n")
        .file("skill/scripts/a.py", PYTHON)
        .dir("registry");
    let town = Town::open(&workspace.join("registry"));
    (allowing(workspace, &HOSTS), town)
}

fn node() -> (Bench, Town) {
    let workspace = Workspace::new()
        .file("skill/package.json", "{\"dependencies\": {\"padding\": \"^1.0.0\"}}")
        .file("skill/scripts/a.cjs", "console.log(require('padding')('required'));\n")
        .file("skill/scripts/a.mjs", "import pad from 'padding';\nconsole.log(pad('imported'));\n")
        .file("skill/scripts/none.mjs", "import 'nowhere';\n")
        .dir("registry");
    let town = Town::open(&workspace.join("registry"));
    (allowing(workspace, &HOSTS), town)
}

/// The mark of an environment, which no script can write.
fn mark(bench: &Bench, made: &PrepareOutcome) -> PathBuf {
    let data = data(bench);
    let name = made.prepared.folder.file_name().unwrap().to_str().unwrap();
    let records = data.parent().unwrap().join(".prepared").join(data.file_name().unwrap());
    records.join(format!("{name}.json"))
}

#[test]
fn python_packages_are_fetched_locked_and_used() {
    let (bench, town) = python();
    let (first, note) = bench.with(|workbench, context| run(workbench, context, "a.py"));
    assert!(!first.succeeded());
    assert!(note.unwrap().contains("`metier prepare demo`"));
    let before = elsewhere(&bench);

    let (made, told) = prepared(&bench, &town, RegistryAccess::IfNeeded);
    let made = made.unwrap();
    assert_eq!(made[0].how, PrepareWork::Fetched);
    let names: Vec<_> =
        made[0].prepared.packages.iter().map(|p| format!("{} {}", p.name, p.version)).collect();
    assert_eq!(names, ["greeting 1.2.0", "helperlib 0.1"]);
    assert_eq!(told.len(), 3, "{told:?}");
    let lock = fs::read_to_string(made[0].prepared.folder.with_extension("lock")).unwrap();
    assert!(lock.contains("\ngreeting==1.2.0 --hash=sha256:"), "{lock}");
    let mut after = elsewhere(&bench);
    after.retain(|path| !path.to_string_lossy().contains("/.prepared"));
    assert_eq!(after, before, "something was written outside of the data folder, but for the mark");
    assert!(mark(&bench, &made[0]).exists());
    assert!(made[0].prepared.folder.starts_with(data(&bench)));

    let (report, note) = bench.with(|workbench, context| run(workbench, context, "a.py"));
    assert_eq!(report.stdout.text(), "hello from helperlib True\n", "{}", report.stderr.text());
    assert_eq!(note, None);
}

#[test]
fn a_second_time_nobody_is_reached_and_nobody_is_asked() {
    let (mut bench, town) = python();
    let made = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap();
    town.asked.lock().unwrap().clear();
    // Without a rule that would allow it.
    bench.rules = Rules::default();
    let (again, told) = prepared(&bench, &town, RegistryAccess::IfNeeded);
    let again = again.unwrap();
    assert_eq!((again[0].how, told.len()), (PrepareWork::Ready, 0));
    assert_eq!(again[0].prepared, made[0].prepared);
    // What was interrupted is made again, from the same wheels.
    fs::remove_file(mark(&bench, &made[0])).unwrap();
    fs::remove_dir_all(made[0].prepared.folder.join("lib")).unwrap();
    let again = prepared(&bench, &town, RegistryAccess::Never).0.unwrap();
    assert_eq!(
        (again[0].how, &again[0].prepared.packages),
        (PrepareWork::Stocked, &made[0].prepared.packages)
    );
    assert_eq!(*town.asked.lock().unwrap(), [""; 0]);
    let (report, _) = bench.with(|workbench, context| run(workbench, context, "a.py"));
    assert!(report.succeeded(), "{}", report.stderr.text());
    // With the wheels gone the lock still says which ones are meant.
    let lock = fs::read(made[0].prepared.folder.with_extension("lock")).unwrap();
    fs::remove_file(mark(&bench, &made[0])).unwrap();
    fs::remove_dir_all(data(&bench).join("env/wheels")).unwrap();
    let bench = allowing(bench.workspace, &HOSTS);
    assert_eq!(prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap()[0].how, PrepareWork::Fetched);
    assert_eq!(fs::read(made[0].prepared.folder.with_extension("lock")).unwrap(), lock);
}

/// A script can lead the environment's interpreter elsewhere; what is shown does not follow it.
#[test]
fn an_interpreter_that_a_script_replaced_shows_nothing_more() {
    let (bench, town) = python();
    let made = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap();
    let outside = bench.workspace.join("home/tools/bin");
    fs::create_dir_all(&outside).unwrap();
    fs::copy("/bin/echo", outside.join("run")).unwrap();
    let own = made[0].prepared.folder.join("bin/python");
    fs::remove_file(&own).unwrap();
    std::os::unix::fs::symlink(outside.join("run"), &own).unwrap();
    bench.with(|workbench, context| {
        let script = SkillScript::find(context.folder, "demo", "a.py").unwrap();
        let standing =
            EnvironmentState::of(&script, context.folder, context.containment.data, workbench.path);
        let start = launch(&script, context.containment.skill, workbench.path, &mut |_| None).unwrap();
        let shown = start.programs.clone();
        let start = standing.launch(start);
        assert_eq!((&start.program, &start.programs), (&own, &shown));
        let profile = context.containment.profile();
        let run = workbench.sandbox.run(&profile, &Command::new(start.program).arguments(start.arguments));
        assert!(matches!(run, Err(metier_sandbox::Error::Program { .. })), "{run:?}");
    });
}

#[test]
fn two_at_once_make_it_once() {
    let (bench, town) = python();
    bench.with(|_, _| {});
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| prepared(&bench, &town, RegistryAccess::IfNeeded));
        (prepared(&bench, &town, RegistryAccess::IfNeeded), other.join().unwrap())
    });
    let mut how = [one.0.unwrap()[0].how, two.0.unwrap()[0].how];
    how.sort_by_key(|how| *how == PrepareWork::Fetched);
    assert_eq!(how, [PrepareWork::Ready, PrepareWork::Fetched]);
}

#[test]
fn a_wheel_that_is_not_the_locked_one_is_not_installed() {
    let (bench, town) = python();
    let made = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap();
    let folder = &made[0].prepared.folder;
    let lock = folder.with_extension("lock");
    let text = fs::read_to_string(&lock).unwrap();
    let digest = text.split("sha256:").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    fs::write(&lock, text.replace(digest, &"0".repeat(64))).unwrap();
    fs::remove_file(mark(&bench, &made[0])).unwrap();
    let error = prepared(&bench, &town, RegistryAccess::Never).0.unwrap_err().to_string();
    assert!(error.starts_with("installing ended with status 1") && error.contains("HASH"), "{error}");
    let (_, note) = bench.with(|workbench, context| run(workbench, context, "a.py"));
    assert!(note.is_some(), "half an environment must not count");
}

#[test]
fn a_changed_recipe_does_not_use_the_old_environment_and_replaces_it() {
    let (bench, town) = python();
    let old = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap();
    fs::write(bench.workspace.join("skill/requirements.txt"), "greeting==1.2.0\n").unwrap();
    let (report, note) = bench.with(|workbench, context| run(workbench, context, "a.py"));
    assert!(!report.succeeded());
    assert!(note.unwrap().contains("has changed since"));
    let words =
        bench.with(|workbench, context| missing(context.folder, &data(&bench), workbench.path)).unwrap();
    assert_eq!(words, ["its packages for Python have changed since they were installed"]);
    let new = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap();
    assert_ne!(new[0].prepared.folder, old[0].prepared.folder);
    assert!(!old[0].prepared.folder.exists());
    let names = fs::read_dir(data(&bench).join("env")).unwrap().count();
    assert_eq!(names, 3, "the environment, its lock and its wheels");
}

#[test]
fn without_a_yes_and_for_an_untrusted_skill_nothing_is_reached() {
    let (mut bench, town) = python();
    bench.rules = Rules::default();
    let error = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap_err();
    let PrepareError::Gate { action, decision } = error else { panic!("{error}") };
    assert_eq!(
        action.sentence(),
        "the skill `demo` (user) runs its script (and wants to reach `pypi.example:80`): `prepare 'greeting>=1'`"
    );
    assert_eq!(decision.allow_with[0].to_string(), "skill:user:demo/host:pypi.example:80");
    let (mut bench, _) = python();
    bench.skill.trust = Trust::Untrusted;
    let error = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap_err();
    assert!(error.to_string().contains("is not trusted"), "{error}");
    assert_eq!(*town.asked.lock().unwrap(), [""; 0]);
    let error = prepared(&python().0, &town, RegistryAccess::Never).0.unwrap_err().to_string();
    assert!(error.contains("run it once without"), "{error}");
}

#[test]
fn a_package_in_source_is_not_built_and_a_wrong_python_is_said() {
    let (bench, town) = python();
    fs::write(bench.workspace.join("skill/requirements.txt"), "sourceonly\n").unwrap();
    let error = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap_err().to_string();
    assert!(error.contains("No matching distribution found for sourceonly"), "{error}");
    assert!(error.contains("only wheels"), "{error}");
    let block = "# /// script\n# requires-python = \"<3\"\n# dependencies = [\"greeting\"]\n# ///\n";
    fs::write(bench.workspace.join("skill/requirements.txt"), "").unwrap();
    fs::write(bench.workspace.join("skill/scripts/a.py"), block).unwrap();
    let error = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap_err().to_string();
    assert!(error.contains("the skill wants <3"), "{error}");
}

/// A script can put links into its data folder; nothing that they lead to may be changed.
#[test]
fn a_link_in_the_data_folder_leads_nowhere() {
    let (bench, town) = python();
    let precious = bench.workspace.join("project/precious");
    fs::write(&precious, "mine").unwrap();
    bench.with(|_, _| {});
    std::os::unix::fs::symlink(bench.workspace.join("project"), data(&bench).join("env")).unwrap();
    let error = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap_err().to_string();
    assert!(error.starts_with("making room ended"), "{error}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    assert_eq!(fs::read_dir(bench.workspace.join("project")).unwrap().count(), 1);
}

#[test]
fn node_packages_are_found_by_require_and_by_import_and_their_programs_do_not_run() {
    let (bench, town) = node();
    let made = prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap();
    assert_eq!(made[0].prepared.packages[0].version, "1.0.0");
    bench.with(|workbench, context| {
        for (script, expect) in [("a.cjs", "...required\n"), ("a.mjs", "...imported\n")] {
            let (report, note) = run(workbench, context, script);
            assert_eq!((report.stdout.text().as_str(), note), (expect, None), "{}", report.stderr.text());
        }
        let (report, _) = run(workbench, context, "none.mjs");
        assert!(report.stderr.text().contains("Cannot find package 'nowhere'"), "{}", report.stderr.text());
    });
    let cache = data(&bench).join("env/npm-cache");
    let key = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    assert!(key.join("metier-complete").exists() && !key.join("ran").exists());
    // Made again without anybody.
    town.asked.lock().unwrap().clear();
    fs::remove_dir_all(&made[0].prepared.folder).unwrap();
    let again = prepared(&bench, &town, RegistryAccess::Never).0.unwrap();
    assert_eq!(again[0].how, PrepareWork::Stocked);
    assert_eq!(*town.asked.lock().unwrap(), [""; 0]);
}

#[test]
fn a_skill_that_wants_nothing_gets_nothing() {
    let (_, town) = python();
    let bench = Bench::new(Workspace::new().file("skill/scripts/a.py", "print(1)\n"));
    assert_eq!(prepared(&bench, &town, RegistryAccess::IfNeeded).0.unwrap(), []);
    assert!(!data(&bench).join("env").exists());
}

//! Scripts of a skill, run.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use metier_exec::{RunError, RunPlan, SkillArguments};
use metier_policy::Trust;
use metier_sandbox::Tier;
use metier_secret::Secret;
use metier_testkit::Workspace;

use crate::bench::Bench;

fn bench(name: &str, text: &str) -> Bench {
    Bench::new(Workspace::new().file(format!("skill/scripts/{name}"), text))
}

#[test]
fn a_script_gets_its_arguments_as_they_are_and_starts_in_its_skills_folder() {
    let bench = bench("a.sh", "pwd; for a in \"$@\"; do echo \"<$a>\"; done\n");
    let ran = bench.script("a.sh", "one 'two three' \"$HOME\" '*' ;ls").unwrap();
    let skill = bench.workspace.join("skill");
    assert_eq!(ran.text, format!("{}\n<one>\n<two three>\n<$HOME>\n<*>\n<;ls>", skill.display()));
    assert_eq!(ran.notes, [""; 0]);
    assert_eq!(bench.script("scripts/a.sh", "").unwrap().text, skill.display().to_string());
}

#[test]
fn streams_and_exit_code_have_their_places() {
    let bench = bench("a.sh", "echo out; echo err >&2; exit 3\n");
    assert_eq!(bench.script("a.sh", "").unwrap().text, "out\n[stderr]\nerr\n[exit code: 3]");
    let bench = self::bench("quiet.sh", ":\n");
    assert_eq!(bench.script("quiet.sh", "").unwrap().text, "[no output]");
}

#[test]
fn a_script_that_sleeps_is_ended_with_everything_it_started() {
    let text = "(while :; do date > \"$SKILL_DATA/alive\"; sleep 0.05; done) & echo begun; sleep 60\n";
    let mut bench = bench("s.sh", text);
    bench.limits.time = Duration::from_secs(1);
    let begin = Instant::now();
    let ran = bench.script("s.sh", "").unwrap();
    assert_eq!(ran.text, "Script timed out after 1s: s.sh\nbegun");
    assert!(begin.elapsed() < Duration::from_secs(20));
    let alive = bench.workspace.join("data/user/demo/alive");
    fs::remove_file(&alive).expect("it was alive");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!alive.exists(), "something the script started lives on");
}

#[test]
fn a_hundred_megabytes_of_output_are_cut_and_said() {
    let bench = bench("loud.sh", "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo end\n");
    let ran = bench.script("loud.sh", "").unwrap();
    assert!(ran.text.len() < 40_000, "{}", ran.text.len());
    assert!(ran.text.starts_with("xxxx") && ran.text.ends_with("end"));
    assert!(ran.text.contains("let the user run `metier exec --out DIR`, which keeps all of it ...]"));
    let [long] = ran.long.as_slice() else { panic!("{} long streams", ran.long.len()) };
    assert!(long.bytes.len() > metier_exec::MAX_OUTPUT_FILE && long.bytes.ends_with(b"xxx\nend\n"));
    assert!(ran.text_beside("outputs/").contains(" bytes left out; all of it is in outputs/stdout.txt ...]"));
}

#[test]
fn what_is_kept_of_a_long_stream_has_no_secret_in_it() {
    let text = "for i in $(seq 1 6000); do echo \"$i token is $API_TOKEN\"; done\n";
    let mut bench = bench("loud.sh", text);
    let value = Secret::new("sk-1234567890abcdef".to_owned()).unwrap();
    bench.grants.variable("API_TOKEN".parse().unwrap(), Some(value));
    let bench = bench.allow(&["skill:demo/secret:API_TOKEN"]);
    let ran = bench.script("loud.sh", "").unwrap();
    let kept = String::from_utf8(ran.long[0].bytes.clone()).unwrap();
    assert_eq!(kept.lines().count(), 6000);
    assert!(!kept.contains("sk-1234567890abcdef") && !ran.text.contains("sk-1234567890abcdef"));
}

#[test]
fn the_environment_is_the_named_one_and_nothing_else() {
    let mut bench =
        bench("env.sh", "env -0 | tr '\\0' '\\n' | LC_ALL=C sort | sed 's/=.*//' | grep -v '^_$'\n");
    let value = Secret::new("something".to_owned()).unwrap();
    bench.grants.variable("REPORT_LEVEL".parse().unwrap(), Some(value));
    let bench = bench.allow(&["skill:demo/secret:REPORT_LEVEL"]);
    let ran = bench.script("env.sh", "").unwrap();
    let names: Vec<&str> =
        ran.text.lines().filter(|name| !matches!(*name, "PWD" | "SHLVL" | "OLDPWD")).collect();
    assert_eq!(
        names,
        [
            "ALL_PROXY",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_KEY_1",
            "GIT_CONFIG_VALUE_0",
            "GIT_CONFIG_VALUE_1",
            "GIT_DISCOVERY_ACROSS_FILESYSTEM",
            "GIT_OPTIONAL_LOCKS",
            "HOME",
            "HTTPS_PROXY",
            "HTTP_PROXY",
            "LANG",
            "NO_PROXY",
            "PATH",
            "PROJECT_DIR",
            "REPORT_LEVEL",
            "SESSION_ID",
            "SKILL_DATA",
            "SKILL_DIR",
            "TMPDIR",
            "all_proxy",
            "http_proxy",
            "https_proxy",
            "no_proxy"
        ]
    );
}

#[test]
fn secrets_of_the_project_cannot_be_read_and_the_result_says_so() {
    let text = "cat \"$PROJECT_DIR/README.md\"; cat \"$PROJECT_DIR/.env\" \"$PROJECT_DIR/alias\" 2>/dev/null\n\
                (echo x > \"$PROJECT_DIR/new\"; echo x > \"$SKILL_DIR/new\") 2>/dev/null\n\
                echo kept > \"$SKILL_DATA/note\" && cat \"$SKILL_DATA/note\"\n";
    let workspace = Workspace::new()
        .file("skill/scripts/a.sh", text)
        .file("project/README.md", "readable\n")
        .file("project/.env", "KEY=verysecret\n");
    fs::hard_link(workspace.join("project/.env"), workspace.join("project/alias")).unwrap();
    let bench = Bench::new(workspace);
    let ran = bench.script("a.sh", "").unwrap();
    assert_eq!(ran.text, "readable\nkept");
    assert!(
        ran.notes.iter().any(|note| note.contains("look like secrets") && note.contains(".env")),
        "{:?}",
        ran.notes
    );
    assert!(!bench.workspace.join("project/new").exists() && !bench.workspace.join("skill/new").exists());
}

#[test]
fn python_and_executables_run_and_a_lost_permission_does_no_harm() {
    let bench = Bench::new(
        Workspace::new()
            .file("skill/scripts/a.py", "import sys; print(sys.argv[1:])\n")
            .executable("skill/scripts/run", "#!/bin/sh\necho direct $1\n")
            .file("skill/scripts/lost", "#!/bin/sh\necho lost $1\n"),
    );
    assert_eq!(bench.script("a.py", "x 'y z'").unwrap().text, "['x', 'y z']");
    assert_eq!(bench.script("run", "1").unwrap().text, "direct 1");
    assert_eq!(bench.script("lost", "2").unwrap().text, "lost 2");
}

#[test]
fn what_the_gate_refuses_does_not_run() {
    let text = "echo ran > \"$SKILL_DATA/marker\"\n";
    let denied = bench("a.sh", text).deny("skill:demo/script:*");
    let error = denied.script("a.sh", "").unwrap_err();
    assert!(matches!(error, RunError::Gate { .. }), "{error}");
    assert!(error.to_string().starts_with("refused: the deny rule"), "{error}");

    let mut untrusted = bench("a.sh", text);
    untrusted.skill.trust = Trust::Untrusted;
    assert!(untrusted.script("a.sh", "").unwrap_err().to_string().contains("is not trusted"));
    for bench in [denied, untrusted] {
        assert!(!bench.workspace.join("data/user/demo/marker").exists());
    }
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    let bench = bench("a.sh", "echo ran\n");
    let error = |name, arguments| bench.script(name, arguments).unwrap_err().to_string();
    assert_eq!(error("b.sh", ""), "Script not found: 'b.sh'. Available: a.sh");
    assert_eq!(error("../SKILL.md", ""), "Access denied: '../SKILL.md' is outside scripts/ directory");
    assert!(error("a.sh", "it's").contains("at character 3"));
}

/// Editors save by renaming a new file over the old one, and the kernel takes a mount away with the file it covers.
#[test]
fn a_secret_that_is_replaced_between_two_runs_stays_hidden() {
    let workspace = Workspace::new()
        .file("skill/scripts/a.sh", "cat \"$PROJECT_DIR/.env\" 2>&1 | grep -o verysecret; echo done\n")
        .file("project/.env", "KEY=verysecret\n");
    let bench = Bench::new(workspace);
    bench.with(|workbench, context| {
        for _ in 0..4 {
            let arguments = SkillArguments::List(vec![]);
            let plan = RunPlan::script(workbench, context, "a.sh", &arguments).unwrap();
            let ran = plan.run(workbench, context, None, &mut |_, _| {}).unwrap();
            assert_eq!(ran.text, "done");
            let new = bench.workspace.join("project/.env.new");
            fs::write(&new, "KEY=verysecret\n").unwrap();
            fs::rename(&new, bench.workspace.join("project/.env")).unwrap();
        }
    });
}

/// With mounts the copy is seen in the skill's place; without, it is seen where it lies. Either way nothing else runs.
#[test]
fn a_copy_runs_on_every_tier() {
    // Without mounts root's scripts are another user, who does not get to what only root may look into.
    let is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0;
    if is_root {
        std::io::Write::write_all(&mut std::io::stderr(), b"NOT TRIED on the tier landlock: run by root\n")
            .unwrap();
    }
    let tiers = [Tier::Namespaces, Tier::Landlock];
    for tier in tiers.into_iter().filter(|tier| !is_root || *tier == Tier::Namespaces) {
        let mut bench = bench("a.sh", "echo \"$SKILL_DIR\"; ls -A \"$SKILL_DIR\"; cat \"$0\" | wc -l\n");
        bench.workspace = bench.workspace.file("skill/.git/x", "hidden").file("skill/.source.json", "{}");
        (bench.tier, bench.is_copied) = (tier, true);
        let ran = bench.script("a.sh", "").unwrap();
        let (folder, rest) = ran.text.split_once('\n').unwrap();
        assert_eq!(rest, "SKILL.md\nscripts\n1", "{tier}");
        let is_in_place = Path::new(folder) == bench.workspace.join("skill");
        assert_eq!(is_in_place, tier == Tier::Namespaces, "{tier}: {folder}");
        assert!(is_in_place || Path::new(folder).starts_with(bench.workspace.join("copies")), "{folder}");
        let line = bench.line("ls -A \"$SKILL_DIR\"").unwrap();
        assert!(line.text.contains("SKILL.md") && !line.text.contains(".source.json"), "{}", line.text);
    }
}

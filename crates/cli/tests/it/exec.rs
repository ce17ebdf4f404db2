//! `metier exec`, and what `explain` and `doctor` say about it.

use crate::binary::{command, metier, workspace};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const DOCUMENT: &str = "---\nname: tool\ndescription: Does things.\n---\nDo.\n";

/// A user's skill, which is trusted, with one script.
fn with_script(name: &str, text: &str) -> Workspace {
    workspace()
        .file("home/.agents/skills/tool/SKILL.md", DOCUMENT)
        .file(format!("home/.agents/skills/tool/scripts/{name}"), text)
}

#[test]
fn a_script_gets_its_words_and_its_streams_and_status_come_back() {
    let workspace = with_script("a.sh", "echo \"$# $1|$2\"; echo err >&2; exit 3");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--", "one two", "$(id); x"]);
    assert_eq!(run.stdout, "2 one two|$(id); x\n");
    assert!(run.stderr.starts_with("err\n"), "{}", run.stderr);
    assert!(run.stderr.contains("the script ended with status 3"), "{}", run.stderr);
    assert_eq!(run.code, 1);
    // The same by its path, quietly.
    let run = metier(&workspace, &["exec", "tool", "scripts/a.sh", "--quiet"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("0 |\n", "err\n"));
}

#[test]
fn it_sees_its_own_folder_a_scratch_and_a_data_folder_and_nothing_of_the_home() {
    let workspace = with_script(
        "a.sh",
        "cat \"$SKILL_DIR/SKILL.md\" | head -2 | tail -1; cat \"$HOME/../../.ssh/id\" $OUTSIDE; echo kept >> $SKILL_DATA/n; \
         wc -l < $SKILL_DATA/n; env | cut -d= -f1 | LC_ALL=C sort | tr '\\n' ' '",
    )
    .file("home/.ssh/id", "secret");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--quiet"]);
    let names = "ALL_PROXY GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_KEY_1 GIT_CONFIG_VALUE_0 GIT_CONFIG_VALUE_1 \
                 GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_OPTIONAL_LOCKS HOME HTTPS_PROXY HTTP_PROXY LANG NO_PROXY PATH PROJECT_DIR PWD SESSION_ID SHLVL \
                 SKILL_DATA SKILL_DIR TMPDIR _ all_proxy http_proxy https_proxy no_proxy ";
    assert_eq!(run.stdout, format!("name: tool\n1\n{names}"), "{}", run.stderr);
    // What it keeps is there the next time.
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--quiet"]);
    assert_eq!(run.stdout, format!("name: tool\n2\n{names}"));
}

#[test]
fn it_starts_where_the_user_is_and_a_flag_or_a_setting_says_otherwise() {
    let workspace = with_script("a.sh", "pwd; cat \"$1\"")
        .dir("project/.git")
        .file("project/docs/deep/note.txt", "of the folder\n")
        .file("project/note.txt", "of the project\n")
        .file("home/.agents/skills/tool/note.txt", "of the skill\n")
        .file("elsewhere/note.txt", "not of the project\n");
    let exec = |folder: &str, more: &[&str]| {
        let words = [&["exec", "tool", "a.sh", "-q"][..], more, &["--", "note.txt"]].concat();
        let output = command(&workspace, &words).current_dir(workspace.join(folder)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let base = workspace.path().to_owned();
    let from = |folder: &str, text: &str| format!("{}\n{text}\n", base.join(folder).display());
    let skill = from("home/.agents/skills/tool", "of the skill");
    let project = from("project", "of the project");
    assert_eq!(exec("project/docs/deep", &[]), from("project/docs/deep", "of the folder"));
    assert_eq!(exec("project/docs/deep", &["--in", "project"]), project);
    assert_eq!(exec("project/docs/deep", &["--in", "skill"]), skill);
    assert_eq!(exec("home", &[]), skill, "there is no project");
    // A call on the surface of a system that documents the skill's folder.
    let input = json!({ "skill_name": "tool", "script_name": "a.sh", "script_args": "note.txt" }).to_string();
    for (surface, expect) in [("canonical", &project), ("agentmd", &skill)] {
        let run = metier(&workspace, &["call", "skill_run_script", &input, "--surface", surface]);
        assert_eq!(&run.stdout, expect, "{surface}: {}", run.stderr);
    }
    let workspace = workspace.file("home/.config/metier/config.toml", "[skills.tool]\nstart = \"skill\"\n");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "-q", "--", "note.txt"]);
    assert_eq!(run.stdout, skill, "{}", run.stderr);
    let run = metier(&workspace, &["exec", "tool", "a.sh", "-q", "--in", "project", "--", "note.txt"]);
    assert_eq!(run.stdout, project, "a flag counts before a setting");
}

#[test]
fn it_may_run_on_every_processor_that_its_caller_may() {
    let line =
        |text: &str| text.lines().find(|line| line.starts_with("Cpus_allowed_list")).map(str::to_owned);
    let own = line(&std::fs::read_to_string("/proc/self/status").unwrap());
    let workspace = with_script("a.sh", "cat /proc/self/status");
    // Several times: its process is made on one processor and given back the others, by two who do not wait for each other.
    for _ in 0..5 {
        let run = metier(&workspace, &["exec", "tool", "a.sh"]);
        assert_eq!(line(&run.stdout), own, "{}", run.stderr);
    }
}

#[test]
fn root_that_may_not_mount_runs_scripts_too() {
    if rustix::process::geteuid().as_raw() != 0 {
        metier_testkit::not_tried("root", "only root can be root that may not mount");
        return;
    }
    let workspace =
        with_script("a.sh", "id -u; head -2 $SKILL_DIR/SKILL.md | tail -1; cat $HOME/../../.ssh/id")
            .file("home/.ssh/id", "secret");
    let run = std::process::Command::new("setpriv")
        .args(["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"])
        .arg(env!("CARGO_BIN_EXE_metier"))
        .args(["exec", "tool", "a.sh", "--quiet"])
        .current_dir(workspace.join("project"))
        .env_clear()
        .envs([("HOME", workspace.join("home")), ("PATH", "/usr/bin:/bin".into())])
        .output()
        .unwrap();
    let [stdout, stderr] = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(stdout, "65534\nname: tool\n", "{stderr}");
}

#[test]
fn ordinary_modes_and_archives_work_though_set_id_bits_are_refused() {
    let workspace = with_script(
        "a.sh",
        "set -e; cd \"$PROJECT_DIR/docs\"; umask 022\n\
         echo x > a; chmod 755 a; chmod u-s,g-s a; mkdir -m 1777 shared; install -m 640 a b; cp -p a c\n\
         tar -cf \"$TMPDIR/x.tar\" a b shared; mkdir out; tar -C out -xpf \"$TMPDIR/x.tar\"\n\
         stat -c '%a %n' a b c shared out/a out/b out/shared",
    )
    .dir("project/docs");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--write", "docs/**", "-q"]);
    let expect = "755 a\n640 b\n755 c\n1777 shared\n755 out/a\n640 out/b\n1777 out/shared\n";
    assert_eq!(run.stdout, expect, "{}", run.stderr);
}

#[test]
fn secrets_of_the_project_are_masked_and_that_is_said() {
    let workspace = with_script("a.sh", "cd $PROJECT_DIR; cat .env .env.example")
        .file("project/.env", "TOKEN=1")
        .file("project/.env.example", "TOKEN=");
    let run = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!(run.stdout, "TOKEN=");
    assert!(run.stderr.contains("look like secrets could not be opened"), "{}", run.stderr);
}

#[test]
fn the_report_is_json_and_results_are_taken_along() {
    let workspace = with_script(
        "a.sh",
        "echo out; mkdir $TMPDIR/d; echo 123 > $TMPDIR/d/r.txt; exec 3<>/dev/udp/127.0.0.1/9",
    );
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--json", "--out", "results"]);
    let report = run.json();
    assert_eq!(report["exit_code"], 1);
    assert_eq!(report["stdout"]["text"], "out\n");
    assert_eq!(report["containment"]["tier"], "namespaces", "{report}");
    assert_eq!(
        report["outputs"],
        json!([
            {"path": "d", "kind": "folder", "media_type": null, "size": 0},
            {"path": "d/r.txt", "kind": "file", "media_type": "text/plain", "size": 4},
        ])
    );
    assert_eq!(report["denied"][0]["what"], "network (IPv4, datagrams)");
    assert!(report["decision"].as_str().is_some_and(|text| text.starts_with("allowed:")));
    assert_eq!(std::fs::read_to_string(workspace.join("project/results/d/r.txt")).unwrap(), "123\n");
}

#[test]
fn each_result_has_its_type_by_its_name_or_else_by_its_first_bytes() {
    let workspace = with_script(
        "a.sh",
        "cd $TMPDIR; echo a,b > table.csv; printf '\\211PNG\\r\\n\\032\\n' > chart; echo words > notes; \
         printf 'a\\000b' > blob; echo x > B.JSON; : > nothing; ln -s notes link; mkfifo pipe",
    );
    let report = metier(&workspace, &["exec", "tool", "a.sh", "--json"]).json();
    let found: Vec<Value> = report["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| json!([output["path"], output["kind"], output["media_type"], output["size"]]))
        .collect();
    assert_eq!(
        Value::from(found),
        json!([
            ["B.JSON", "file", "application/json", 2],
            ["blob", "file", "application/octet-stream", 3],
            ["chart", "file", "image/png", 8],
            ["link", "link", null, 0],
            ["notes", "file", "text/plain", 6],
            ["nothing", "file", "text/plain", 0],
            ["pipe", "other", null, 0],
            ["table.csv", "file", "text/csv", 4],
        ])
    );
    // People are told the same of what they take along.
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--out", "results"]);
    assert!(run.stderr.contains("result: chart (image/png, 8 bytes)\n"), "{}", run.stderr);
    assert!(run.stderr.contains("6 results copied to results\n"), "{}", run.stderr);
    assert!(!run.stderr.contains("result: link"), "{}", run.stderr);
}

#[test]
fn explain_asks_about_a_script_as_exec_would_run_it() {
    let text = "---\nname: tool\ndescription: Does things.\ntools: Bash(sh scripts/a.sh)\n---\nDo.\n";
    let workspace = with_script("a.sh", "echo ran").file("home/.agents/skills/tool/SKILL.md", text);
    let explain = |more: &[&str]| {
        let words = ["explain", "--action", "skill:tool/script:a.sh", "--json"];
        metier(&workspace, &[&words, more].concat()).json()
    };
    let exec = |more: &[&str]| metier(&workspace, &[&["exec", "tool", "a.sh"], more].concat()).stdout;
    // By the interpreter that a fence names, and one that a rule denies.
    assert_eq!(exec(&[]), "ran\n");
    let allowed = explain(&["--skill", "tool"]);
    assert_eq!(allowed["ruling"], "allow", "{allowed}");
    assert_eq!(exec(&["--deny", "command:bash:*"]), "");
    let denied = explain(&["--deny", "command:bash:*"]);
    assert_eq!(denied["ruling"], "refuse", "{denied}");
    // With what is wanted for it.
    let needs = "metadata:\n  metier:\n    needs:\n      hosts: [example.com]\n---\nDo.\n";
    let text = format!("---\nname: tool\ndescription: Does things.\n{needs}");
    let workspace = workspace.file("home/.agents/skills/tool/SKILL.md", text);
    let words = ["explain", "--action", "skill:tool/script:a.sh", "--json"];
    let wanting = metier(&workspace, &words).json();
    assert_eq!(wanting["ruling"], "refuse", "{wanting}");
    assert_eq!(wanting["allow_with"], json!(["skill:user.agents:tool/host:example.com"]));
    // What is not there is asked about by its name.
    let missing = ["explain", "--action", "skill:tool/script:nothing.sh", "--json"];
    assert_eq!(metier(&workspace, &missing).json()["ruling"], "allow");
}

#[test]
fn a_long_stream_is_kept_whole_beside_the_results() {
    let workspace = with_script("a.sh", "seq 1 100000; echo mine > $TMPDIR/stdout.txt; echo short >&2");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--json", "--out", "results"]);
    let report = run.json();
    assert_eq!(report["stdout"]["file"], "stdout-2.txt", "{report}");
    assert_eq!(report["stderr"]["file"], serde_json::Value::Null);
    let text = report["stdout"]["text"].as_str().unwrap();
    assert!(
        text.contains(" bytes left out; all of it is in stdout-2.txt ...]"),
        "{}",
        &text[130_000..131_500]
    );
    let read = |name: &str| std::fs::read_to_string(workspace.join("project/results").join(name)).unwrap();
    let kept = read("stdout-2.txt");
    assert!(kept.lines().map(|line| line.parse().unwrap_or(0)).eq(1..=100_000));
    assert_eq!(read("stdout.txt"), "mine\n");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--out", "results", "--force"]);
    assert!(
        run.stderr.contains("standard output: 588895 bytes, kept in results/stdout-2.txt"),
        "{}",
        run.stderr
    );
    let run = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert!(
        run.stderr
            .contains("588895 bytes, of which the report keeps beginning and end; --out DIR keeps all of it")
    );
    let elsewhere = workspace.join("elsewhere");
    std::fs::write(&elsewhere, "untouched").unwrap();
    let link = workspace.join("project/results/stdout-2.txt");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--out", "results", "--force"]);
    assert_eq!(run.code, 1, "a link is not written through");
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "untouched");
}

#[test]
fn what_takes_too_long_is_stopped_with_all_it_started() {
    let workspace = with_script("a.sh", "(setsid sleep 4721.5 &); sleep 4721.5");
    let began = Instant::now();
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--timeout", "1"]);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(run.stderr.contains("it took longer than 1 s; allow more with --timeout"), "{}", run.stderr);
    assert_eq!(run.code, 1);
    let left = std::process::Command::new("pgrep").args(["-f", "sleep 4721.5"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn a_data_folder_that_holds_too_much_is_named_with_its_limit() {
    let workspace = with_script("fill.sh", "cd $SKILL_DATA && seq 25000 | xargs touch; sleep 60\n");
    let run = metier(&workspace, &["exec", "tool", "fill.sh"]);
    assert_eq!(run.code, 1);
    let end = run.stderr.lines().last().unwrap();
    assert!(end.starts_with("the script was stopped: `") && end.contains("/tool"), "{}", run.stderr);
    assert!(end.ends_with("` held more than the 20000 files and folders that it may"), "{}", run.stderr);
    // One that is full already may be cleaned up.
    let script = "rm -rf $SKILL_DATA/*; sleep 0.3; ls $SKILL_DATA | wc -l\n";
    let workspace = workspace.file("home/.agents/skills/tool/scripts/clean.sh", script);
    assert_eq!(metier(&workspace, &["exec", "tool", "clean.sh", "--quiet"]).stdout.trim(), "0");
    let run = metier(&workspace, &["exec", "tool", "fill.sh", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["stopped"], "data");
    assert_eq!((&report["overrun"]["of"], &report["overrun"]["most"]), (&json!("files"), &json!(20_000)));
}

#[test]
fn a_script_that_is_not_there_names_those_that_are() {
    let workspace = with_script("convert.py", "").file("home/.agents/skills/tool/secret.sh", "");
    let run = metier(&workspace, &["exec", "tool", "convret.py"]);
    assert!(run.stderr.contains("convert.py"), "{}", run.stderr);
    for name in ["../secret.sh", "secret.sh", "/bin/sh", "scripts/../secret.sh"] {
        let run = metier(&workspace, &["exec", "tool", name]);
        assert_eq!(run.code, 1, "{name}");
        assert_eq!(run.stdout, "", "{name}");
    }
}

#[test]
fn a_projects_script_runs_once_it_is_trusted_and_not_after_it_changed() {
    let workspace = workspace()
        .dir("project/.git")
        .file("project/.agents/skills/tool/SKILL.md", DOCUMENT)
        .file("project/.agents/skills/tool/scripts/a.sh", "echo ran");
    let run = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!((run.stdout.as_str(), run.code), ("", 1));
    assert!(run.stderr.contains("is not trusted; look at it and then run `metier trust`"), "{}", run.stderr);
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    assert_eq!(metier(&workspace, &["exec", "tool", "a.sh"]).stdout, "ran\n");
    let workspace = workspace.file("project/.agents/skills/tool/scripts/a.sh", "echo other");
    let run = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!((run.stdout.as_str(), run.code), ("", 1));
    assert!(run.stderr.contains("has changed since it was trusted"), "{}", run.stderr);
}

#[test]
fn what_needs_a_yes_is_refused_without_a_terminal_and_explained_afterwards() {
    let workspace = with_script("a.sh", "echo ran");
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--mode", "strict"]);
    assert_eq!((run.stdout.as_str(), run.code), ("", 4), "{}", run.stderr);
    assert!(run.stderr.contains("nobody can be asked"), "{}", run.stderr);
    let run = metier(&workspace, &["explain", "--last"]);
    assert!(run.stdout.contains("runs its script: `scripts/a.sh`"), "{}", run.stdout);
    assert!(run.stdout.contains("in the mode `strict` every run asks"), "{}", run.stdout);
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--deny", "skill:tool"]);
    assert_eq!((run.stdout.as_str(), run.code), ("", 1));
    assert!(run.stderr.contains("the deny rule `skill:tool`"), "{}", run.stderr);
    assert_eq!(metier(&workspace, &["exec", "tool", "a.sh", "--mode", "plan"]).code, 1);
    assert_eq!(metier(&workspace, &["exec", "tool", "a.sh", "--mode", "yolo"]).stdout, "ran\n");
}

#[test]
fn rules_of_the_configuration_hold_and_a_strangers_only_narrow() {
    let workspace = with_script("a.sh", "echo ran")
        .file("project/metier.toml", "[gate]\nmode = \"yolo\"\nallow = [\"skill:*\"]\n")
        .file("home/.config/metier/config.toml", "[gate]\nmode = \"strict\"\n");
    assert_eq!(metier(&workspace, &["exec", "tool", "a.sh"]).code, 4, "an untrusted project widens nothing");
    let workspace = with_script("a.sh", "echo ran")
        .file("project/.agents/config.json", "{\"permissions\": {\"deny\": [\"skill:tool\"]}}");
    let run = metier(&workspace, &["exec", "tool", "a.sh"]);
    assert_eq!(run.code, 1, "but narrows at once");
    assert!(run.stderr.contains(".agents/config.json"), "{}", run.stderr);
}

#[test]
fn explain_says_whether_an_action_would_be_allowed_and_by_which_rule() {
    let workspace = with_script("a.sh", "");
    let explain = |action: &str, more: &[&str]| {
        let mut words = vec!["explain", "--json", "--action", action];
        words.extend(more);
        let answer = metier(&workspace, &words).json();
        (answer["ruling"].as_str().unwrap().to_owned(), answer["by"].as_str().unwrap().to_owned())
    };
    assert_eq!(explain("skill:tool/script:a.sh", &[]).0, "allow");
    assert_eq!(explain("skill:tool/host:example.org", &[]).0, "refuse");
    let (ruling, by) = explain("skill:tool/host:example.org", &["--allow", "skill:tool/host:example.org"]);
    assert_eq!(ruling, "allow");
    assert!(by.contains("`skill:tool/host:example.org`"), "{by}");
    let (ruling, by) = explain("Bash(git status; rm -rf ~)", &["--deny", "command:rm:*"]);
    assert_eq!(ruling, "refuse");
    assert!(by.contains("`command:rm:*`"), "{by}");
    let run = metier(&workspace, &["explain", "--action", "dance"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("write it like a rule"), "{}", run.stderr);
}

#[test]
fn doctor_says_what_contains_processes_here() {
    let report = metier(&workspace(), &["doctor", "--json"]).json();
    let containment = &report["containment"];
    assert_eq!(containment["in_force"], "namespaces", "{containment}");
    let used = &containment["tiers"][0];
    assert!(used["checks"].as_array().is_some_and(|checks| checks.len() >= 9), "{used}");
    assert!(used["checks"].as_array().unwrap().iter().all(|check| check["held"] != false), "{used}");
}

//! What a skill gets beyond its containment, as a user meets it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metier_testkit::Workspace;

use crate::binary::{metier, metier_with_input};
use crate::typist::Typist;

/// A server that says hello to everybody, and how many came.
fn server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n");
        }
    });
    (port, count)
}

fn skill(needs: &str, script: &str) -> Workspace {
    let text = format!("---\nname: tool\ndescription: Does something.\n{needs}---\nDo it.\n");
    Workspace::new()
        .file("home/.agents/skills/tool/SKILL.md", text)
        .file("home/.agents/skills/tool/scripts/a.py", script)
        .dir("project")
}

const GET: &str = "import sys, urllib.request\n\
                   try: print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode(), end='')\n\
                   except Exception as e: print('failed', e)\n";

#[test]
fn a_host_is_reached_by_flag_by_rule_and_by_the_users_configuration_and_else_refused_with_the_rule() {
    let (port, count) = server();
    let url = format!("http://127.0.0.1:{port}/");
    let host = format!("127.0.0.1:{port}");
    let workspace = skill("", GET);
    let run = |more: &[&str]| {
        let words = [&["exec", "tool", "a.py"][..], more, &["--", &url]].concat();
        metier(&workspace, &words)
    };
    let refused = run(&[]);
    assert!(refused.stdout.contains("403"), "{}", refused.stdout);
    let rule = format!("skill:user.agents:tool/host:{host}");
    assert!(refused.stderr.contains(&rule), "{}", refused.stderr);
    assert_eq!(count.load(Ordering::SeqCst), 0);

    assert_eq!(run(&["--host", &host]).stdout, "hello\n");
    assert_eq!(run(&["--allow", &rule]).stdout, "hello\n");
    let report = run(&["--host", &host, "--json"]).json();
    assert_eq!(report["contacts"][0]["host"], host);
    assert_eq!(report["contacts"][0]["outcome"], "passed");
    let workspace = workspace
        .file("home/.config/metier/config.toml", format!("[skills.tool.needs]\nhosts = [\"{host}\"]\n"));
    assert_eq!(metier(&workspace, &["exec", "tool", "a.py", "--", &url]).stdout, "hello\n");
    assert_eq!(count.load(Ordering::SeqCst), 4);
}

#[test]
fn all_declared_needs_are_one_question_and_without_a_terminal_one_refusal_with_all_rules() {
    let needs = "metadata:\n  metier:\n    needs:\n      hosts: [api.example.org]\n      write: [\"docs/**\"]\n      env: [API_TOKEN]\n";
    let workspace = skill(needs, "print('ran')\n");
    let run = metier(&workspace, &["exec", "tool", "a.py"]);
    assert_eq!((run.code, run.stdout.as_str()), (4, ""));
    for rule in ["host:api.example.org", "write:docs/**", "secret:API_TOKEN"] {
        assert!(run.stderr.contains(&format!("`skill:user.agents:tool/{rule}`")), "{}", run.stderr);
    }
    let allow = |rule: &str| format!("skill:tool/{rule}");
    let run = metier(
        &workspace,
        &[
            "exec",
            "tool",
            "a.py",
            "--allow",
            &allow("host:api.example.org"),
            "--allow",
            &allow("write:docs/**"),
            "--allow",
            &allow("secret:API_TOKEN"),
        ],
    );
    assert_eq!((run.code, run.stdout.as_str()), (0, "ran\n"), "{}", run.stderr);
    assert!(run.stderr.contains("metier secret set API_TOKEN --skill tool"), "{}", run.stderr);
}

#[test]
fn what_a_script_writes_waits_for_an_approval_and_a_printed_rule_gives_it() {
    let script = "import os\nos.chdir(os.environ['PROJECT_DIR'])\nopen('docs/a.md', 'w').write('new')\n";
    let workspace = skill("", script).file("project/docs/a.md", "old");
    let text = || std::fs::read_to_string(workspace.join("project/docs/a.md")).unwrap();
    let run = metier(&workspace, &["exec", "tool", "a.py"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("not approved: modified docs/a.md"), "{}", run.stderr);
    let rule = "skill:user.agents:tool/write:docs/a.md";
    assert!(run.stderr.contains(&format!("--allow '{rule}'")), "{}", run.stderr);
    assert_eq!(text(), "old");
    for allow in [&["--allow", rule][..], &["--allow", "skill:tool/write:docs/**"], &["--write", "docs/**"]] {
        std::fs::write(workspace.join("project/docs/a.md"), "old").unwrap();
        let run = metier(&workspace, &[&["exec", "tool", "a.py"], allow].concat());
        assert_eq!(run.code, 0, "{allow:?} {}", run.stderr);
        assert!(run.stderr.contains("applied: modified docs/a.md"), "{}", run.stderr);
        assert_eq!(text(), "new");
    }
}

#[test]
fn a_secret_is_given_to_its_skill_and_shown_to_nobody() {
    let workspace = skill("", "import os\nprint('token', os.environ.get('API_TOKEN'))\n");
    let set = metier_with_input(
        &workspace,
        &["secret", "set", "API_TOKEN", "--skill", "tool"],
        "s3cr3t-value-91\n",
    );
    assert_eq!(set.code, 0, "{}", set.stderr);
    let run = metier(&workspace, &["exec", "tool", "a.py"]);
    assert_eq!(run.stdout, "token None\n");
    let run = metier(&workspace, &["exec", "tool", "a.py", "--env", "API_TOKEN"]);
    assert_eq!(run.stdout, "token [secret API_TOKEN]\n", "{}", run.stderr);
    let json = metier(&workspace, &["exec", "tool", "a.py", "--env", "API_TOKEN", "--json"]);
    assert!(!json.stdout.contains("s3cr3t"), "{}", json.stdout);
}

#[test]
fn a_flag_that_cannot_be_meant_is_refused_before_anything_runs() {
    let workspace = skill("", "print('ran')\n");
    for (flag, value, expect) in
        [("--host", "a b", "is no host name"), ("--write", "../x", "`..`"), ("--env", "PATH", "PATH")]
    {
        let run = metier(&workspace, &["exec", "tool", "a.py", flag, value]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{flag}");
        assert!(run.stderr.contains(expect), "{flag}: {}", run.stderr);
    }
}

const QUESTION: &str = "[y]es once  [a]lways in this project for this version  [n]o > ";

#[test]
fn at_a_terminal_all_needs_are_one_question_and_always_holds_until_a_file_changes() {
    let needs =
        "metadata:\n  metier:\n    needs:\n      hosts: [api.example.org]\n      write: [\"docs/**\"]\n";
    let workspace = skill(needs, "print('ran')\n");
    let mut typist = Typist::at(&workspace, &["exec", "tool", "a.py"]);
    typist.wait_for(QUESTION);
    let asked = String::from_utf8_lossy(&typist.seen).into_owned();
    assert!(asked.contains("  - write `docs/**`\r\n    - reach `api.example.org`\r\n"), "{asked}");
    typist.types("a\n");
    typist.wait_for("ran\r\n");
    assert!(typist.ends().success());
    // Nobody is asked again, terminal or not.
    assert_eq!(metier(&workspace, &["exec", "tool", "a.py"]).stdout, "ran\n");
    let workspace = workspace.file("home/.agents/skills/tool/new.md", "x");
    assert_eq!(metier(&workspace, &["exec", "tool", "a.py"]).code, 4);
}

/// A skill that declares a write and nothing else, and changes more than that.
fn writer() -> Workspace {
    let needs = "metadata:\n  metier:\n    needs:\n      write: [\"docs/**\"]\n";
    let script = "import os\nos.chdir(os.environ['PROJECT_DIR'])\nopen('docs/a.md', 'w').write('new')\n\
                  if os.path.exists('more'): open('other', 'w').write('new')\nprint('ran')\n";
    skill(needs, script).file("project/docs/a.md", "old")
}

#[test]
fn at_a_terminal_a_declared_write_is_asked_about_before_the_run_and_not_after_it() {
    for (more, answer, expect) in [(false, "y\n", "new"), (true, "y\n", "new"), (false, "n\n", "old")] {
        let workspace = writer();
        let workspace = if more { workspace.file("project/more", "") } else { workspace };
        let mut typist = Typist::at(&workspace, &["exec", "tool", "a.py"]);
        typist.wait_for(QUESTION);
        let asked = typist.screen_text();
        assert!(asked.contains("- write `docs/**`") && !asked.contains("ran\n"), "{asked}");
        typist.types(answer);
        if more {
            // What was not declared is asked about by itself.
            typist.wait_for("create `other`");
            typist.wait_for("[n]o > ");
            typist.types("n\n");
        }
        if expect == "new" && !more {
            typist.wait_for("applied: modified docs/a.md");
        }
        assert_eq!(typist.ends().success(), expect == "new" && !more, "{}", typist.screen_text());
        let shown = typist.screen_text();
        assert!(!shown.contains("modify `docs/a.md`"), "{shown}");
        assert_eq!(shown.contains("ran"), expect == "new", "{shown}");
        assert_eq!(std::fs::read_to_string(workspace.join("project/docs/a.md")).unwrap(), expect);
        assert!(!workspace.join("project/other").exists());
    }
}

#[test]
fn a_declared_write_without_a_terminal_lets_the_script_run_and_its_changes_wait() {
    let workspace = writer();
    let run = metier(&workspace, &["exec", "tool", "a.py"]);
    assert_eq!((run.code, run.stdout.as_str()), (4, "ran\n"), "{}", run.stderr);
    assert!(run.stderr.contains("--allow 'skill:user.agents:tool/write:docs/a.md'"), "{}", run.stderr);
    let workspace =
        writer().file("home/.config/metier/config.toml", "[skills.tool.needs]\nwrite = [\"docs/**\"]\n");
    let run = metier(&workspace, &["exec", "tool", "a.py"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(workspace.join("project/docs/a.md")).unwrap(), "new");
}

#[test]
fn needs_for_a_bare_name_that_no_own_skill_has_are_said_to_be_unused() {
    let text = "---\nname: w\ndescription: Works.\n---\nRun it.\n";
    let workspace = Workspace::new()
        .dir("project")
        .file("skills/w/SKILL.md", text)
        .file("skills/w/scripts/a.sh", "echo 1 > \"$PROJECT_DIR/x\"\n")
        .file("home/.config/metier/config.toml", "[skills.w.needs]\nwrite = [\"x\"]\n");
    let root = workspace.join("skills").display().to_string();
    let args = ["exec", "w", "a.sh", "--root", &root];
    let run = metier(&workspace, &args);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("`[skills.w.needs]` in "), "{}", run.stderr);
    assert!(run.stderr.contains("write `[skills.\"cli:w\".needs]`"), "{}", run.stderr);
    let workspace =
        workspace.file("home/.config/metier/config.toml", "[skills.\"cli:w\".needs]\nwrite = [\"x\"]\n");
    let run = metier(&workspace, &args);
    assert_eq!((run.code, run.stderr.contains("is not used")), (0, false), "{}", run.stderr);
}

#[test]
fn at_a_terminal_the_changes_of_a_script_are_one_question_after_its_only_run() {
    let script = "import os\nos.chdir(os.environ['PROJECT_DIR'])\nopen('docs/a.md', 'w').write('new')\n\
                  open(os.environ['SKILL_DATA'] + '/runs', 'a').write('x')\nprint('written')\n";
    for (answer, expect) in [("y\n", "new"), ("n\n", "old")] {
        let workspace = skill("", script).file("project/docs/a.md", "old");
        let mut typist = Typist::at(&workspace, &["exec", "tool", "a.py"]);
        typist.wait_for("docs/a.md");
        typist.wait_for("[n]o > ");
        typist.types(answer);
        assert_eq!(typist.ends().success(), expect == "new", "{}", typist.screen_text());
        assert_eq!(std::fs::read_to_string(workspace.join("project/docs/a.md")).unwrap(), expect);
        let data = workspace.join("home/.local/share/metier/skills");
        let found = std::process::Command::new("find").arg(data).args(["-name", "runs"]).output().unwrap();
        let file = String::from_utf8(found.stdout).unwrap();
        assert_eq!(std::fs::read_to_string(file.trim()).unwrap(), "x", "it runs once");
    }
}

#[test]
fn at_a_terminal_a_host_is_asked_about_while_the_script_waits() {
    let (port, count) = server();
    let workspace = skill("", GET);
    let url = format!("http://127.0.0.1:{port}/");
    for (answer, expect, visits) in [("n\n", "403", 0), ("y\n", "hello\r\n", 1)] {
        let mut typist = Typist::at(&workspace, &["exec", "tool", "a.py", "--", &url]);
        typist.wait_for("[n]o > ");
        typist.types(answer);
        typist.wait_for(expect);
        typist.ends();
        assert_eq!(count.load(Ordering::SeqCst), visits);
    }
}

#[test]
fn ctrl_c_at_a_question_about_a_host_ends_the_call_and_metier() {
    let (port, count) = server();
    let workspace = skill("", GET);
    let url = format!("http://127.0.0.1:{port}/");
    let mut typist = Typist::at(&workspace, &["exec", "tool", "a.py", "--", &url]);
    typist.wait_for("[n]o > ");
    typist.types("\u{3}");
    assert!(!typist.ends().success());
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

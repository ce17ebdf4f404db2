//! `metier call`: tools as a model calls them.

use crate::binary::{Run, metier, without_bundled, workspace};
use metier_testkit::Workspace;
use serde_json::{Value, json};

/// A user's skill whose list of tools is a fence.
fn fenced(tools: &str) -> Workspace {
    let text = format!("---\nname: tool\ndescription: Does things.\ntools: {tools}\n---\nDo.\n");
    workspace()
        .file("home/.agents/skills/tool/SKILL.md", &text)
        .file("home/.agents/skills/tool/references/a.md", "# A\n")
        .file("home/.agents/skills/tool/scripts/a.sh", "echo \"$1\"; echo e >&2; exit 2")
}

fn command_line(workspace: &Workspace, line: &str) -> Value {
    let input = json!({ "reason": "try", "commandLine": line }).to_string();
    metier(workspace, &["call", "run_command_line", &input, "--skill", "tool", "--quiet"]).json()
}

fn call(workspace: &Workspace, tool: &str, input: &Value) -> Run {
    metier(workspace, &["call", tool, &input.to_string(), "--quiet"])
}

#[test]
fn a_command_line_has_the_shape_its_system_gave_it() {
    let workspace = fenced("Bash");
    assert_eq!(
        command_line(&workspace, "echo out; echo err >&2"),
        json!({ "exitCode": 0, "stdout": "out", "stderr": "", "timedOut": false })
    );
    assert_eq!(
        command_line(&workspace, "echo out; echo err >&2; exit 4"),
        json!({ "exitCode": 4, "stdout": "out", "stderr": "err", "timedOut": false })
    );
    let run = call(&workspace, "run_command_line", &json!({ "commandLine": "ls" }));
    assert!(run.stdout.contains("`reason` is missing"), "{}", run.stdout);
    let run = call(&workspace, "run_command_line", &json!({ "reason": "x", "commandLine": "ls" }));
    assert!(run.stdout.contains("no skill is active: call skill_use first"), "{}", run.stdout);
}

#[test]
fn a_fence_lets_through_what_it_names_and_nothing_that_hides_behind_it() {
    let workspace = fenced("Bash(echo:*) Bash(ls -a)");
    for line in
        ["echo a", " echo a ", "echo a && echo b | echo c", "echo 'a; id'", "ls -a", "echo x 2>/dev/null"]
    {
        assert_eq!(command_line(&workspace, line)["exitCode"], 0, "{line}");
    }
    for (line, piece) in [
        ("id", "id"),
        ("ls", "ls"),
        ("echoes", "echoes"),
        ("/bin/echo a", "/bin/echo"),
        ("echo a; id", "id"),
        ("echo $(id)", "$(id)"),
        ("echo `id`", "`id`"),
        ("sleep 1 & id", "&"),
        ("echo x > f", "> f"),
        ("echo x >/etc/x", ">/etc/x"),
        ("cat <(id)", "<(id)"),
        ("echo <<<x", "<<<"),
        ("echo a\rid", "\\r"),
        ("A=1 echo", "A=1"),
    ] {
        let answer = command_line(&workspace, line);
        assert_eq!(answer["exitCode"], Value::Null, "{line}");
        let error = answer["stderr"].as_str().unwrap();
        assert!(error.starts_with("ERROR: ") && error.contains(piece), "{line}: {error}");
    }
}

#[test]
fn a_script_has_the_shape_its_system_gave_it() {
    let workspace = fenced("Bash");
    let input = json!({ "skill_name": "tool", "script_name": "a.sh", "script_args": "'one two' x" });
    let run = call(&workspace, "skill_run_script", &input);
    assert_eq!(run.stdout, "one two\n[stderr]\ne\n[exit code: 2]\n");
}

#[test]
fn files_are_read_inside_the_skill_and_nowhere_else() {
    let workspace = fenced("Bash").symlink("home/.agents/skills/tool/references/out", "/etc/passwd");
    let read = |path: &str| {
        call(&workspace, "skill_read_file", &json!({ "skill_name": "tool", "file_path": path })).stdout
    };
    assert_eq!(read("references/a.md"), "# A\n\n");
    assert!(read("references").contains("Not a file"), "{}", read("references"));
    assert!(read("nothing.md").contains("File not found"), "{}", read("nothing.md"));
    for path in ["../other/SKILL.md", "/etc/passwd", "references/out", "references/../../x"] {
        let text = read(path);
        assert!(text.contains("Access denied"), "{path}: {text}");
    }
}

#[test]
fn a_tool_that_does_not_exist_names_those_that_do() {
    let run = call(&workspace(), "dance", &json!({}));
    assert!(run.stderr.contains("there is no tool `dance`"), "{}", run.stderr);
    let run = metier(&workspace(), &["call", "run_command_line", "{oops"]);
    assert!(run.stderr.contains("the input is not JSON"), "{}", run.stderr);
}

#[test]
fn the_rest_of_a_long_output_goes_to_a_folder_and_the_result_names_it() {
    let workspace = fenced("Bash");
    let line = "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done";
    let workspace = workspace.file("home/.agents/skills/tool/scripts/long.sh", line);
    let input = json!({ "skill_name": "tool", "script_name": "long.sh" }).to_string();
    let out = workspace.join("out").display().to_string();
    let run = metier(&workspace, &["call", "skill_run_script", &input, "--out", &out]);
    assert!(
        run.stdout.contains(&format!("bytes left out; all of it is in {out}/stdout.txt")),
        "{}",
        run.stdout
    );
    let kept = std::fs::read_to_string(workspace.join("out/stdout.txt")).unwrap();
    assert_eq!(kept.lines().count(), 9000);
    let run = metier(&workspace, &["call", "skill_run_script", &input]);
    assert!(run.stdout.contains("let the user run `metier exec --out DIR`"), "{}", run.stdout);
}

#[test]
fn files_and_scripts_are_called_by_the_absolute_path_that_a_body_gives() {
    let workspace = without_bundled()
        .file("project/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---\nRead ${SKILL_DIR}/r.md.\n")
        .file("project/skills/x/r.md", "text")
        .file("project/skills/x/tool.sh", "echo no\n")
        .file("project/skills/x/scripts/a.sh", "echo \"ran $1\"\n")
        .file("project/skills/xy/r.md", "beside");
    let call = |tool: &str, input: &serde_json::Value| {
        metier(&workspace, &["call", tool, &input.to_string(), "--root", "skills", "--quiet"]).stdout
    };
    let path =
        |path: &str| workspace.join("project/skills").join(path).to_str().expect("it is a text").to_owned();
    let read = |path: String| call("skill_read_file", &json!({ "skill_name": "x", "file_path": path }));
    let run = |path: String| {
        call("skill_run_script", &json!({ "skill_name": "x", "script_name": path, "script_args": "it" }))
    };
    assert_eq!(read(path("x/r.md")), "text\n");
    assert_eq!(run(path("x/scripts/a.sh")), "ran it\n");
    let beside = path("xy/r.md");
    assert_eq!(read(beside.clone()), format!("Access denied: '{beside}' is outside skill directory\n"));
    let up = path("x/../xy/r.md");
    assert_eq!(read(up.clone()), format!("Access denied: '{up}' is outside skill directory\n"));
    let tool = path("x/tool.sh");
    assert_eq!(run(tool.clone()), format!("Access denied: '{tool}' is outside scripts/ directory\n"));
}

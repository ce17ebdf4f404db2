//! Skills of a crew: what they read, what they write, what they share, and how much a line may be.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;
use serde_json::{Value, json};

const CREW: &str = "id: todo\nagents:\n  main:\n    skills:\n      - name: ann\n        folderPath: ./skills/ann\n      \
                    - name: bob\n        folderPath: ./skills/bob\n";

/// A crew of two skills in a folder of the project, and the project's own files beside it.
fn crew() -> Workspace {
    let text = |name: &str| {
        format!(
            "---\nname: {name}\ndescription: d\n---\nOurs ${{CLAUDE_PLUGIN_DATA}}, mine ${{SKILL_DATA}}, root ${{CLAUDE_PLUGIN_ROOT}}.\n"
        )
    };
    workspace()
        .dir("project/.git")
        .file("project/todo.skilled_crew.yaml", CREW)
        .file("project/_src/words.txt", "of the crew\n")
        .file("project/skills/ann/SKILL.md", text("ann"))
        .file("project/skills/bob/SKILL.md", text("bob"))
}

fn trusted(workspace: &Workspace) {
    assert_eq!(metier(workspace, &["trust"]).code, 0);
}

/// What a line of a skill answers, on metier's own surface.
fn line(workspace: &Workspace, skill: &str, line: &str) -> Value {
    let input = json!({ "reason": "r", "commandLine": line }).to_string();
    let run = metier(workspace, &["call", "run_command_line", &input, "--skill", skill, "--quiet"]);
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{} {}", run.stdout, run.stderr))
}

fn stdout(workspace: &Workspace, skill: &str, text: &str) -> String {
    let answer = line(workspace, skill, text);
    assert_eq!(answer["exitCode"], 0, "{text}: {answer}");
    answer["stdout"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn its_skills_read_its_folder_and_write_its_data_and_nothing_else_of_the_project() {
    let workspace = crew();
    trusted(&workspace);
    assert_eq!(stdout(&workspace, "ann", "cat ../../_src/words.txt"), "of the crew");
    // The folder is made for the line that fills it, and the other skill finds what is in it.
    stdout(&workspace, "ann", "cp ../../_src/words.txt ../../_data/tasks");
    assert_eq!(stdout(&workspace, "bob", "cat ../../_data/tasks"), "of the crew");
    assert_eq!(std::fs::read_to_string(workspace.join("project/_data/tasks")).unwrap(), "of the crew\n");
    for place in ["../../_src/new", "../../new", "../bob/new"] {
        let answer = line(&workspace, "ann", &format!("cp ../../_src/words.txt {place}"));
        assert!(answer["changes"].to_string().contains("NOT applied"), "{place}: {answer}");
    }
    for place in ["_src/new", "new", "skills/bob/new"] {
        assert!(!workspace.join("project").join(place).exists(), "{place}");
    }
}

#[test]
fn a_folder_that_stays_empty_is_taken_away_again() {
    let workspace = crew();
    trusted(&workspace);
    stdout(&workspace, "ann", "ls ../../_data");
    assert!(!workspace.join("project/_data").exists());
}

#[test]
fn a_link_in_the_place_of_its_data_opens_nothing() {
    let workspace = crew().dir("project/src").symlink("project/_data", "src");
    trusted(&workspace);
    let answer = line(&workspace, "ann", "touch ../../_data/x");
    assert!(answer["changes"].to_string().contains("NOT applied"), "{answer}");
    assert!(!workspace.join("project/src/x").exists());
    let input = json!({ "reason": "r", "commandLine": "ls" }).to_string();
    let run = metier(&workspace, &["call", "run_command_line", &input, "--skill", "ann"]);
    assert!(
        run.stderr.contains("which the crew writes, is read-only: it is a link or not a folder"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_looks_like_a_secret_stays_masked_in_its_data() {
    let workspace = crew().file("project/_data/.env", "KEY=1\n");
    trusted(&workspace);
    let answer = line(&workspace, "ann", "cat ../../_data/.env");
    assert_ne!(answer["exitCode"], 0, "{answer}");
}

#[test]
fn a_line_is_one_simple_command_on_every_surface() {
    let workspace = crew();
    trusted(&workspace);
    let answer = line(&workspace, "ann", "echo a && echo b");
    assert_eq!(answer["stderr"], "ERROR: Command chaining is not allowed (found &&): echo a && echo b");
    assert_eq!(stdout(&workspace, "ann", "echo 'a && b'"), "a && b");
    let fenced = "---\nname: ann\ndescription: d\nallowed-tools: Bash(echo:*)\n---\nSee.\n";
    let workspace =
        crew().file("project/skills/ann/SKILL.md", fenced).file("project/skills/ann/references/a.md", "A\n");
    trusted(&workspace);
    assert_eq!(stdout(&workspace, "ann", "echo one"), "one");
    let refused =
        |action: &str| metier(&workspace, &["explain", "--action", action, "--skill", "ann"]).stdout;
    let said = refused("skill:ann/command:echo a; echo b");
    assert!(said.contains("more than one command"), "{said}");
    // Its list fences what runs and nothing else, as its system documents.
    let input = json!({ "resources": [{ "path": "references/a.md", "reason": "r" }] }).to_string();
    let run = metier(&workspace, &["call", "load_skill_resources", &input, "--skill", "ann"]);
    assert!(run.stdout.contains("A\\n"), "{} {}", run.stdout, run.stderr);
}

#[test]
fn its_skills_share_one_folder_and_keep_another_each() {
    let workspace = crew();
    trusted(&workspace);
    let said = |skill: &str| {
        let run = metier(&workspace, &["use", skill]);
        run.stdout.lines().find(|line| line.starts_with("Ours ")).unwrap_or_default().to_owned()
    };
    let (ann, bob) = (said("ann"), said("bob"));
    let shared = |line: &str| line.split(", mine ").next().unwrap_or_default().to_owned();
    assert_eq!(shared(&ann), shared(&bob));
    assert!(ann != bob && ann.contains("/ann, root ${CLAUDE_PLUGIN_ROOT}."), "{ann}");
    stdout(&workspace, "ann", "cp ../../_src/words.txt \"$CLAUDE_PLUGIN_DATA/ours\"");
    assert_eq!(stdout(&workspace, "bob", "cat \"$CLAUDE_PLUGIN_DATA/ours\""), "of the crew");
}

#[test]
fn nothing_of_it_runs_or_is_made_before_the_project_is_trusted() {
    let workspace = crew();
    let input = json!({ "reason": "r", "commandLine": "touch ../../_data/x" }).to_string();
    let run = metier(&workspace, &["call", "run_command_line", &input, "--skill", "ann"]);
    assert!(run.stdout.contains("ERROR: "), "{} {}", run.stdout, run.stderr);
    assert!(!workspace.join("project/_data").exists());
}

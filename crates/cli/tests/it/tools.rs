//! `metier tools`, and what is said of requirements.

use crate::binary::{metier, metier_with, workspace};
use serde_json::json;

#[test]
fn definitions_are_printed_for_each_reader() {
    let workspace = workspace().skill("project/skills/x", "d");
    let run = |format: &str| metier(&workspace, &["tools", "--root", "skills", "--format", format]).json();
    assert_eq!(run("openai")[0]["function"]["name"], "skill_use");
    assert_eq!(run("anthropic")[0]["input_schema"]["properties"]["skill_name"]["enum"], json!(["x"]));
    assert_eq!(run("mcp")[1]["annotations"]["readOnlyHint"], true);
    let json = metier(&workspace, &["tools", "--root", "skills", "--json"]).json();
    assert_eq!(json, run("mcp"));
    let run = metier(&workspace, &["tools", "--surface", "nobody"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("there is no surface `nobody`"), "{}", run.stderr);
}

#[test]
fn a_catalogue_that_does_not_fit_brings_the_search() {
    let long = "word ".repeat(200);
    let mut workspace = workspace();
    for number in 0..30 {
        workspace = workspace.skill(format!("project/skills/skill-{number}"), &long);
    }
    let text = metier(&workspace, &["tools", "--root", "skills"]).stdout;
    assert!(text.contains("skill_search(query, limit?)"), "{text}");
}

#[test]
fn a_call_as_json_has_the_message_that_follows() {
    let workspace =
        workspace().file("project/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---\nDo it.\n");
    let args = ["call", "Skill", r#"{"skill": "x"}"#, "--root", "skills"];
    let text = metier(&workspace, &args).stdout;
    let start = "Skill 'x' activated successfully. Instructions will follow.\n\n<skill-context name=\"x\" origin=\"cli\"";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("Do it."), "{text}");
}

#[test]
fn a_fence_holds_for_the_scripts_of_other_skills_too() {
    let workspace = workspace()
        .file("project/skills/x/SKILL.md", "---\nname: x\ndescription: d\ntools: Read\n---\n")
        .skill("project/skills/y", "d")
        .file("project/skills/y/scripts/a.sh", "echo ran");
    let input = r#"{"skill_name": "y", "script_name": "a.sh"}"#;
    let free = metier(&workspace, &["call", "skill_run_script", input, "--root", "skills"]);
    assert_eq!((free.stdout.as_str(), free.code), ("ran\n", 0), "{}", free.stderr);
    let fenced = metier(&workspace, &["call", "skill_run_script", input, "--root", "skills", "--skill", "x"]);
    assert!(fenced.stdout.contains("lets only `Read` be called"), "{}", fenced.stdout);
    assert_eq!(fenced.code, 1);
}

#[test]
fn requirements_are_checked_where_a_script_would_run_and_met_there() {
    let workspace = workspace()
        .file(
            "project/skills/x/SKILL.md",
            "---\nname: x\ndescription: d\nrequires:\n  bins: [own-tool, rg-that-is-missing]\n  env: [SOME_TOKEN]\n---\n",
        )
        .file("project/skills/x/scripts/a.sh", "own-tool\n")
        .executable("home/tools/bin/own-tool", "#!/bin/sh\necho own tool\n");
    let path = format!("{}:/usr/bin:/bin", workspace.join("home/tools/bin").display());
    let run = |args: &[&str], more: &[(&str, &str)]| {
        let variables: Vec<(&str, &str)> =
            [("PATH", path.as_str())].into_iter().chain(more.iter().copied()).collect();
        metier_with(&workspace, args, &variables)
    };
    let explain = run(&["explain", "x", "--root", "skills", "--json"], &[]).json();
    let what: Vec<&str> =
        explain["unmet"].as_array().unwrap().iter().map(|unmet| unmet["what"].as_str().unwrap()).collect();
    assert_eq!(
        what,
        [
            "the program `rg-that-is-missing` is not on PATH",
            "the environment variable `SOME_TOKEN` is not set"
        ]
    );
    let text = run(&["explain", "x", "--root", "skills"], &[("SOME_TOKEN", "0123456789")]).stdout;
    assert!(text.contains("what it requires and is not here"), "{text}");
    assert!(text.contains("`SOME_TOKEN` is set, and scripts are not given it; give it with"), "{text}");
    // A program that is said to be there is there, though no other script would be shown it.
    let ran = run(&["exec", "x", "a.sh", "--root", "skills"], &[]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("own tool\n", 0), "{}", ran.stderr);
}

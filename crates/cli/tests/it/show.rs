//! `metier show`

use crate::binary::{metier, workspace};

#[test]
fn a_skill_is_shown_whole() {
    let workspace = workspace()
        .file(
            "project/skills/x/SKILL.md",
            "---\nname: x\ndescription: d\nallowed-tools: Bash(git:*)\nrequires:\n  bins: [sh, no-such-program]\n\
             metadata:\n  metier:\n    needs:\n      hosts: [example.org]\n      write: [docs/**]\n      env: [TOKEN]\n      \
             seconds: 300\n---\n# X\n\n!`git diff`\n",
        )
        .executable("project/skills/x/scripts/run.sh", "#!/bin/sh\n")
        .file("project/skills/x/references/a.md", "text")
        .file("project/skills/x/.source.json", "{\"type\":\"local\"}");
    let answer = metier(&workspace, &["show", "x", "--root", "skills", "--json"]).json();
    assert_eq!(answer["manifest"]["allowed_tools"][0], "Bash(git:*)");
    assert_eq!(answer["allowed_tools_mean"], "grant");
    assert_eq!(answer["capabilities"]["commands"][0], "git diff");
    assert_eq!(answer["capabilities"]["needs"][0], "host example.org");
    assert_eq!(
        answer["needs"],
        serde_json::json!({
            "hosts": ["example.org"], "write": ["docs/**"], "env": [{"name": "TOKEN"}], "seconds": 300,
        })
    );
    assert_eq!(answer["source"]["type"], "local");
    assert!(answer["unmet"][0]["what"].as_str().unwrap().contains("no-such-program"));
    let files: Vec<_> =
        answer["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, [".source.json", "SKILL.md", "references/a.md", "scripts/run.sh"]);

    let text = metier(&workspace, &["show", "x", "--root", "skills"]).stdout;
    for piece in [
        "x (cli, ready)",
        "runs before it is read: git diff",
        "script scripts/run.sh (executable)",
        "what it asks for beyond what every script has\n  to reach example.org\n  to write docs/** in the project\n  \
         to read TOKEN of your environment\n  to run for up to 300 seconds\n",
        "no-such-program",
    ] {
        assert!(text.contains(piece), "{piece}\n{text}");
    }
}

#[test]
fn a_skill_that_asks_for_nothing_says_nothing_of_it() {
    let workspace = workspace().skill("project/skills/x", "d");
    assert!(metier(&workspace, &["show", "x", "--root", "skills", "--json"]).json()["needs"].is_null());
    let text = metier(&workspace, &["show", "x", "--root", "skills"]).stdout;
    assert!(!text.contains("asks for") && !text.contains("could run"), "{text}");
}

#[test]
fn a_missing_skill_is_a_failure_with_what_is_near() {
    let workspace = workspace().skill("project/skills/deploy", "d");
    let run = metier(&workspace, &["show", "deplyo", "--root", "skills"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stderr,
        "error: `deplyo`: there is no such skill; did you mean `deploy`?; `metier explain deplyo` says more\n"
    );
}

#[test]
fn a_huge_file_is_listed_and_not_read_whole() {
    let mut text = b"---\nname: big\ndescription: d\n---\n".to_vec();
    text.resize(8 << 20, b'x');
    let workspace = workspace().file("project/skills/big/SKILL.md", text);
    assert_eq!(metier(&workspace, &["list", "--root", "skills", "--json"]).json()["loaded"], 1);
    let run = metier(&workspace, &["show", "big", "--root", "skills"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("cannot be read"), "{}", run.stderr);
}

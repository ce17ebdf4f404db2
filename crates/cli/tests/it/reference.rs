//! `metier schema` and `metier completions`

use crate::binary::{metier, workspace};

#[test]
fn schemas_are_json_and_pages_are_markdown() {
    let workspace = workspace();
    for what in ["config", "skill"] {
        let schema = metier(&workspace, &["schema", what]).json();
        assert!(schema["properties"].is_object(), "{schema}");
    }
    assert!(metier(&workspace, &["schema", "diagnostics"]).stdout.contains("| `unquoted-colon` | warning |"));
    assert!(metier(&workspace, &["schema", "cli"]).stdout.contains("## `explain`"));
}

#[test]
fn completions_and_manual_pages_are_written() {
    let workspace = workspace();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(metier(&workspace, &["completions", shell]).stdout.contains("explain"), "{shell}");
    }
    let run = metier(&workspace, &["completions", "man", "--out", "man"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = std::fs::read_to_string(workspace.join("project/man/metier-list.1")).unwrap();
    assert!(page.contains(".TH metier-list 1"), "{page}");
    assert_eq!(metier(&workspace, &["completions", "man"]).code, 2);
}

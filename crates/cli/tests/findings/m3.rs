//! M3: `trust --preview` and `trust --diff` show everything that trust would switch on.

use crate::binary::{command, metier, workspace};
use metier_testkit::Workspace;
use serde_json::{Value, json};

fn long() -> String {
    format!("{}END", "word".repeat(100))
}

fn project() -> Workspace {
    let servers = json!({"mcpServers": {
        "far": {"url": "https://far.example/mcp", "headers": {"X": "Bearer ${AWS_SECRET_ACCESS_KEY}"}},
        "near": {"command": "python3", "args": ["-c", long()], "cwd": "tools", "env": {"K": "${UNSET_HERE:-x}"}, "hosts": ["*"]},
    }});
    workspace()
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .skill("home/.claude/skills/deploy", "The user's.")
        .skill("project/.agents/skills/deploy", "The project's.")
        .file("project/.mcp.json", servers.to_string())
        .file(
            "project/metier.toml",
            "model = \"ollama/x\"\n[gate]\nallow = [\"Bash\"]\nask = [\"Read\"]\n[env.AWS_SECRET_ACCESS_KEY]\n[[roots]]\npath = \"more\"\n\
             [models.fast]\nmodel = \"ollama/y\"\n[skills.deploy.needs]\nenv = [\"HOME\"]\n",
        )
        .skill("project/more/extra", "In a root that the project adds.")
        .file("project/.claude/settings.json", json!({"permissions": {"allow": ["WebFetch"]}}).to_string())
}

fn shown(workspace: &Workspace, args: &[&str]) -> String {
    let output = command(workspace, args).env("AWS_SECRET_ACCESS_KEY", "the-value-itself").output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_preview_hides_nothing() {
    let workspace = project();
    let text = shown(&workspace, &["trust", "--preview"]);
    for piece in [
        "connects to https://far.example/mcp",
        "header X: Bearer ${AWS_SECRET_ACCESS_KEY} (AWS_SECRET_ACCESS_KEY is set here)",
        "starts python3",
        &long(),
        "starts in tools",
        "variable K: ${UNSET_HERE:-x}\n",
        "may reach *",
        "rule allow `Bash`",
        "rule ask `Read`",
        "rule allow `WebFetch`",
        "root `more`",
        "extra",
        "variable `AWS_SECRET_ACCESS_KEY`",
        "default model",
        "model `fast` means `ollama/y`",
        "takes the name of your skill `user.claude:deploy`",
        "setting of skill `deploy`",
    ] {
        assert!(text.contains(piece), "{piece}\n{text}");
    }
    assert!(!text.contains("the-value-itself") && !text.contains("UNSET_HERE is set"), "{text}");
    let json: Value = serde_json::from_str(&shown(&workspace, &["trust", "--preview", "--json"])).unwrap();
    assert_eq!(json["variables_set"], json!(["AWS_SECRET_ACCESS_KEY", "HOME"]));
    let near = json["files"].as_array().unwrap().iter().flat_map(|file| file["acts"].as_array().unwrap());
    let near = near.into_iter().find(|act| act["name"] == "near").unwrap();
    assert_eq!((near["kind"].as_str(), near["in"].as_str()), (Some("server"), Some(".mcp.json")));
    assert!(near["details"].to_string().contains(&long()));
}

#[test]
fn a_diff_shows_what_was_added_changed_and_removed() {
    let workspace = project();
    let diff = metier(&workspace, &["trust", "--diff"]);
    assert!(diff.code == 0 && diff.stdout.contains("added    MCP server `far`"), "{}", diff.stdout);
    metier(&workspace, &["trust"]);
    let diff = metier(&workspace, &["trust", "--diff"]);
    assert!(diff.stdout.contains("nothing in") && !diff.stdout.contains("added"), "{}", diff.stdout);
    let workspace = workspace
        .file(
            "project/metier.toml",
            "[gate]\nallow = [\"Bash\", \"Write\"]\n[models.fast]\nmodel = \"ollama/z\"\n",
        )
        .file("project/.mcp.json", "{\"mcpServers\": {}}");
    let text = metier(&workspace, &["trust", "--diff"]).stdout;
    for piece in [
        "added    rule allow `Write` (metier.toml)",
        "changed  model `fast` (metier.toml)",
        "means `ollama/z`",
        "removed  MCP server `far` (.mcp.json)",
        "removed  root `more` (metier.toml)",
        "is not used; `metier trust` trusts it",
    ] {
        assert!(text.contains(piece), "{piece}\n{text}");
    }
    let json = metier(&workspace, &["trust", "--diff", "--json"]).json();
    assert_eq!(
        (json["added"][0]["kind"].as_str(), json["added"][0]["name"].as_str()),
        (Some("allow"), Some("Write"))
    );
    assert_eq!(json["changed"][0]["name"], "fast");
    assert!(json["removed"].as_array().unwrap().iter().any(|entry| entry["name"] == "far"));
}

#[test]
fn a_preview_and_a_diff_switch_nothing_on() {
    let workspace = project();
    for flag in ["--preview", "--diff"] {
        metier(&workspace, &["trust", flag]);
        assert!(!workspace.join("home/.local/share/metier/trust.json").exists());
    }
    assert_eq!(metier(&workspace, &["trust", "--preview", "--diff"]).code, 2);
}

//! L7: The tables of protected and secret files are broad by class.

use crate::binary::{metier, workspace};
use crate::model_server::{ModelServer, Says};
use serde_json::json;

/// Files with a secret in them, and content that is theirs.
const SECRET: &[(&str, &str)] = &[
    (".env~", "A=SECRET"),
    ("#.env#", "A=SECRET"),
    (".env-prod", "A=SECRET"),
    (".env_prod", "A=SECRET"),
    (".env copy", "A=SECRET"),
    (".env (1)", "A=SECRET"),
    (".env.bak", "A=SECRET"),
    (".dev.vars", "A=SECRET"),
    (".flaskenv", "API_TOKEN=SECRET"),
    (".netrc.bak", "machine a password SECRET"),
    (".npmrc.bak", "//r/:_authToken=SECRET"),
    (".npmrc.old", "//r/:_authToken=SECRET"),
    ("server.key.bak", "-----BEGIN PRIVATE KEY-----\nSECRET"),
    ("my_id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET"),
    (".git/credentials", "https://me:SECRET@host"),
    (".git/config.worktree", "[remote \"o\"]\nurl = https://me:SECRET@host/x"),
    (".git/config.bak", "[remote \"o\"]\nurl = https://me:SECRET@host/x"),
    (".codex/auth.json", "{\"OPENAI_API_KEY\": \"SECRET\"}"),
    (".gemini/oauth_creds.json", "{\"access_token\": \"SECRET\"}"),
    (".claude.json", "{\"primaryApiKey\": \"SECRET\"}"),
    ("auth.json", "{\"token\": \"SECRET\"}"),
    ("secrets.yml", "password: SECRET"),
    (".bash_history", "export TOKEN=SECRET"),
    (".zsh_history", "export TOKEN=SECRET"),
];

/// Files that only look like them.
const OPEN: &[(&str, &str)] = &[
    (".env.example", "A=open"),
    ("README.md.bak", "open"),
    ("auth.json.md", "open"),
    ("version_history", "open"),
    ("docs/agents/a.md", "open"),
];

#[test]
fn copies_and_kin_of_secrets_are_hidden_from_scripts() {
    let skill = "---\nname: look\ndescription: Looks.\n---\nLook.\n";
    let read = |(file, _): &(&str, &str)| format!("echo '{file}:' $(cat \"$PROJECT_DIR/{file}\" 2>&1)\n");
    let script: Vec<String> = SECRET.iter().chain(OPEN).map(read).collect();
    let mut workspace = workspace()
        .file("home/.agents/skills/look/SKILL.md", skill)
        .file("home/.agents/skills/look/scripts/look.sh", script.concat());
    for (file, content) in SECRET.iter().chain(OPEN) {
        workspace = workspace.file(format!("project/{file}"), content);
    }
    let run = metier(&workspace, &["exec", "look", "look.sh"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let shown: Vec<&str> = run.stdout.lines().filter(|line| line.contains("SECRET")).collect();
    assert!(shown.is_empty(), "{shown:#?}");
    // The control: the script ran, and ordinary files are there.
    for (file, _) in OPEN {
        let is_read =
            run.stdout.lines().any(|line| line.starts_with(&format!("{file}:")) && line.ends_with("open"));
        assert!(is_read, "{file}: {}", run.stdout);
    }
}

#[test]
fn places_that_act_later_take_a_yes_of_their_own() {
    let guarded = [
        "agents/helper.md",
        "agents/mcp-servers.json",
        "workspace/agents/helper.md",
        ".travis.yml",
        "azure-pipelines.yml",
        "Jenkinsfile",
        ".roo/rules.md",
        ".kiro/steering/a.md",
        ".amazonq/rules/a.md",
        ".goosehints",
        ".lefthook.toml",
        ".gdbinit",
        ".vimrc",
        ".drone.yml",
        ".woodpecker.yml",
        "bitbucket-pipelines.yml",
        ".aider.conf.yml",
        ".hg/hgrc",
        ".Rprofile",
        ".yarnrc.yml",
    ];
    let open = ["notes.txt", "docs/agents/overview.md"];
    let write = |file: &&str| Says::Calls("Write", json!({ "file_path": file, "content": "x\n" }));
    let mut says: Vec<Says> = guarded.iter().map(write).collect();
    says.extend(open.iter().map(write));
    says.push(Says::Words("done"));
    let model = ModelServer::saying(says);
    let workspace = workspace().file("home/.config/metier/config.toml", model.config());
    let args =
        ["run", "--no-input", "--mode", "yolo", "--allow", "Write", "--allow", "write:**", "write them"];
    let run = metier(&workspace, &args);
    let written: Vec<&str> =
        guarded.into_iter().filter(|file| workspace.join("project").join(file).exists()).collect();
    assert!(written.is_empty(), "{written:?}\n{}", run.stderr);
    for file in open {
        assert!(workspace.join("project").join(file).exists(), "{file}: {} {}", run.stdout, run.stderr);
    }
}

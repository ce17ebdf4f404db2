//! The MCP server under a client that writes its messages itself. Scripts run in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests write files directly, and stop if a fixture fails"
)]

mod approvals;
mod changes;
mod concurrent_clients;
mod malformed;
mod prompts;
mod resources;
mod tools;
mod wire_client;

use std::path::{Path, PathBuf};

use metier_mcp_server::Server;
use metier_runtime::{Skills, SkillsBuilder};
use metier_sandbox::Helper;
use metier_testkit::Workspace;

/// The example of this crate, which starts as every program with a sandbox does. Cargo builds it with the tests.
fn helper() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let helper = folder.join("examples/serve_skills");
    assert!(helper.exists(), "{} is missing: build the examples first", helper.display());
    helper
}

fn skill(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n")
}

/// A skill with files, one for users only, one with another name than its folder, one with a fence.
fn workspace() -> Workspace {
    Workspace::new()
        .file("skills/greet/SKILL.md", skill("greet", "version: 1.10\n", "Say hello to $ARGUMENTS."))
        .file("skills/greet/references/tone.md", "Be kind.")
        .file("skills/greet/references/more/deep.md", "Be brief.")
        .file("skills/greet/logo.png", b"\x89PNG\r\n\x1a\n\xff")
        .file("skills/greet/scripts/hello.sh", "echo hello $1; echo aside >&2")
        .file("skills/greet/scripts/slow.sh", "echo $$ > $SKILL_DATA/pid; sleep 60")
        .file(
            "skills/deploy/SKILL.md",
            skill("deploy", "disable-model-invocation: true\n", "Deploy $ARGUMENTS."),
        )
        .file("skills/deploy/notes.md", "Ask first.")
        .file("skills/folder/SKILL.md", skill("other", "", "Otherwise."))
        .file("skills/fenced/SKILL.md", skill("fenced", "tools: Read\n", "Only read."))
        .file("skills/fenced/scripts/run.sh", "echo ran")
}

fn builder(workspace: &Workspace) -> SkillsBuilder {
    Skills::builder()
        .root(workspace.join("skills"))
        .data(workspace.join("data"))
        .helper(Helper::Program(helper()))
}

fn server(workspace: &Workspace) -> Server {
    Server::builder(builder(workspace).open()).open().unwrap()
}

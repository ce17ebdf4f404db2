//! Trust: given, kept, asked for again.

use crate::machine::{Machine, codes, listed, offered, skill};
use metier_catalog::{Ownership, Preview, Standing, TrustError, TrustStore, changes, changes_of};

pub(crate) fn trust(machine: &Machine, ownership: Ownership) {
    let preview = Preview::of(&machine.load()).unwrap();
    TrustStore::update(&machine.places.data, |store| store.trust(&preview, "2026-11-15", ownership)).unwrap();
}

fn changed(machine: &Machine) -> Vec<String> {
    let store = TrustStore::open(&machine.places.data).unwrap();
    let changes = changes(&machine.load(), &store);
    changes.into_iter().map(|change| format!("{}: {}", change.subject, change.changes.join("; "))).collect()
}

const DEPLOY: &str = "name: deploy\ndescription: Deploys.\nallowed-tools: Bash(git:*)\nhooks:\n  start: x\nmetadata:\n  \
                      metier:\n    needs:\n      hosts: [example.org]\n      env: [TOKEN]";

fn machine() -> Machine {
    Machine::new(|files| {
        files
            .file("home/project/.claude/skills/deploy/SKILL.md", skill(DEPLOY, "Now: !`git status`"))
            .executable("home/project/.claude/skills/deploy/scripts/run.sh", "echo 1")
            .file("home/project/.claude/skills/deploy/helpers/lib.py", "x = 1")
            .file("home/project/.claude/skills/deploy/references/a.md", "text")
            .skill("home/project/.claude/skills/plain", "Plain.")
            .file("home/project/.mcp.json", "{\"mcpServers\":{\"gh\":{\"command\":\"npx\",\"args\":[\"-y\",\"gh-mcp\"]},\"web\":{\"url\":\"https://w\"}}}")
            .file("home/project/.claude/settings.json", "{\"permissions\":{\"allow\":[\"Bash(git:*)\"]},\"hooks\":{\"PreToolUse\":[]}}")
            .file("home/project/.agents/config.json", "{\"permissions\":{\"mode\":\"yolo\"}}")
            .file("home/project/agents/bot.md", "---\nname: bot\ndescription: B.\nskills: [deploy]\n---\nYou are a bot.\n")
    })
}

/// D20: an untrusted project's skills are listed and nothing of them reaches a model.
#[test]
fn a_project_is_untrusted_until_the_user_says_so() {
    let machine = machine();
    let before = machine.load();
    assert_eq!(listed(&before), ["project.claude:deploy untrusted", "project.claude:plain untrusted"]);
    assert_eq!(offered(&before), Vec::<String>::new());
    assert_eq!(before.catalogue(&before.catalogue_options(None)).text, "");

    trust(&machine, Ownership::Theirs);
    let after = machine.load();
    assert_eq!(offered(&after), ["deploy", "plain"]);
    assert_eq!(after.layout().standing, Standing::Trusted);

    let project = machine.files.join("home/project");
    assert!(TrustStore::update(&machine.places.data, |store| Ok(store.revoke(&project))).unwrap());
    assert_eq!(offered(&machine.load()), Vec::<String>::new());
    assert!(!TrustStore::update(&machine.places.data, |store| Ok(store.revoke(&project))).unwrap());
}

#[test]
fn a_preview_lists_everything_that_would_be_switched_on() {
    let preview = Preview::of(&machine().load()).unwrap();
    let deploy = &preview.skills[0];
    assert_eq!((deploy.name.as_str(), deploy.path.as_str()), ("deploy", ".claude/skills/deploy"));
    let scripts: Vec<_> = deploy.capabilities.scripts.keys().map(String::as_str).collect();
    assert_eq!(scripts, ["helpers/lib.py", "scripts/run.sh"]);
    assert_eq!(deploy.capabilities.commands, ["git status"]);
    assert_eq!(deploy.capabilities.needs, ["host example.org", "env TOKEN"]);
    assert!(deploy.capabilities.hooks.is_some());
    assert_eq!(deploy.capabilities.allowed_tools.as_deref(), Some(&["Bash(git:*)".to_owned()][..]));
    assert!(preview.skills[1].capabilities.is_empty());

    let files: Vec<String> = preview
        .files
        .iter()
        .flat_map(|file| file.acts.iter().map(|act| format!("{}: {} {}", file.path, act.what, act.detail)))
        .collect();
    let expected = [
        ".agents/config.json: `mode` yolo",
        ".claude/settings.json: `allow` rules Bash(git:*)",
        ".claude/settings.json: `hooks` runs commands on PreToolUse",
        ".mcp.json: MCP server `gh` starts `npx -y gh-mcp`",
        ".mcp.json: MCP server `web` connects to https://w",
        "agents/bot.md: `skills` [\"deploy\"]",
    ];
    assert_eq!(files, expected);
}

#[test]
fn text_edits_keep_trust() {
    let machine = machine();
    trust(&machine, Ownership::Theirs);
    assert_eq!(changed(&machine), Vec::<String>::new());
    let machine = machine.with(|files| {
        files
            .file(
                "home/project/.claude/skills/deploy/SKILL.md",
                skill(DEPLOY, "Rewritten. Now: !`git status`"),
            )
            .file("home/project/.claude/skills/deploy/references/a.md", "other text")
            .skill("home/project/.claude/skills/plain", "Plain, but better.")
            .skill("home/project/.claude/skills/another", "A new one, text alone.")
            .file(
                "home/project/agents/bot.md",
                "---\nname: bot\ndescription: New.\nskills: [deploy]\n---\nOther.\n",
            )
    });
    assert_eq!(changed(&machine), Vec::<String>::new());
    assert_eq!(offered(&machine.load()), ["another", "deploy", "plain"]);
}

#[test]
fn capability_changes_ask_again_and_say_what_changed() {
    let machine = machine();
    trust(&machine, Ownership::Theirs);
    let more = DEPLOY
        .replace("Bash(git:*)", "Bash")
        .replace("start: x", "start: y")
        .replace("[TOKEN]", "[TOKEN, KEY]");
    let machine = machine.with(|files| {
        files
            .file("home/project/.claude/skills/deploy/SKILL.md", skill(&more, "!`git status` and !`curl x`"))
            .file("home/project/.claude/skills/deploy/scripts/run.sh", "echo 2")
            .file("home/project/.claude/skills/deploy/scripts/data.bin", "new")
            .skill("home/project/.claude/skills/sneaky", "S.")
            .file("home/project/.claude/skills/sneaky/scripts/x.py", "x")
            .file(
                "home/project/.mcp.json",
                "{\"mcpServers\":{\"gh\":{\"command\":\"evil\"},\"web\":{\"url\":\"https://w\"},\"z\":{}}}",
            )
    });
    let expected = [
        "deploy: `scripts/data.bin` is new; `scripts/run.sh` changed; new injected command `curl x`; `hooks` changed; \
         `allowed-tools` changed from `Bash(git:*)` to `Bash`; it now asks for env KEY",
        "sneaky: `scripts/x.py` is new",
        ".mcp.json: MCP server `gh` changed; MCP server `z` is new",
    ];
    assert_eq!(changed(&machine), expected);

    // Looked at and trusted again, it is quiet.
    trust(&machine, Ownership::Theirs);
    assert_eq!(changed(&machine), Vec::<String>::new());
    let _ = machine.with(|files| files.mode("home/project/.claude/skills/deploy/scripts/data.bin", 0o755));
}

#[test]
fn a_project_of_ones_own_does_not_ask() {
    let machine = machine();
    trust(&machine, Ownership::Mine);
    let machine =
        machine.with(|files| files.file("home/project/.claude/skills/deploy/scripts/run.sh", "echo 2"));
    assert_eq!(changed(&machine), Vec::<String>::new());
    let (snapshot, store) = (machine.load(), TrustStore::open(&machine.places.data).unwrap());
    assert!(snapshot.entries().all(|(_, entry)| changes_of(&snapshot, &store, entry).is_none()));
    assert_eq!(snapshot.layout().standing, Standing::Mine);
    assert_eq!(offered(&machine.load()), ["deploy", "plain"]);
}

#[test]
fn a_damaged_store_trusts_nobody_and_is_left_alone() {
    let machine = machine();
    trust(&machine, Ownership::Theirs);
    let file = TrustStore::file(&machine.places.data);
    for (text, newer) in [("{", false), ("[]", false), ("{\"version\":1}", false), ("{\"version\":9}", true)]
    {
        metier_files::write_atomic(&file, text.as_bytes(), metier_files::Mode::Private).unwrap();
        let error = TrustStore::update(&machine.places.data, |store| Ok(store.revoke(&file))).unwrap_err();
        assert_eq!(matches!(error, TrustError::Newer { .. }), newer, "{text}: {error}");
        assert!(error.to_string().contains("trust.json"));
        let snapshot = machine.load();
        assert_eq!(offered(&snapshot), Vec::<String>::new());
        assert!(codes(&snapshot).contains(&"trust-store-corrupt"));
        assert_eq!(metier_files::read_bounded(&file, 100).unwrap().unwrap(), text.as_bytes());
    }
}

#[test]
fn the_store_lists_projects_by_path_and_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let machine = machine();
    trust(&machine, Ownership::Theirs);
    trust(&machine, Ownership::Mine);
    let store = TrustStore::open(&machine.places.data).unwrap();
    let records: Vec<_> = store.projects().iter().map(|record| (record.path.clone(), record.mine)).collect();
    assert_eq!(records, [(machine.files.join("home/project"), true)]);
    assert_eq!(store.projects()[0].trusted, "2026-11-15");
    #[expect(clippy::disallowed_methods, reason = "a test looks at what is on the disk")]
    let mode = std::fs::metadata(TrustStore::file(&machine.places.data)).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

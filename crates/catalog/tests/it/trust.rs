//! Trust: given, kept, asked for again.

use crate::machine::{Machine, codes, listed, offered, skill};
use metier_catalog::{Ownership, Preview, Standing, TrustError, TrustStore};

pub(crate) fn trust(machine: &Machine, ownership: Ownership) {
    let preview = Preview::of(&machine.layout()).unwrap();
    TrustStore::update(&machine.places.data, |store| store.trust(&preview, "2026-11-15", ownership)).unwrap();
}

fn changed(machine: &Machine) -> Vec<String> {
    let changes = machine.load().trust_changes();
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
    let preview = Preview::of(&machine().layout()).unwrap();
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
        ".agents/config.json: mode `mode` is set to `yolo`",
        ".claude/settings.json: rule allow `Bash(git:*)` is allowed without a question",
        ".mcp.json: MCP server `gh` starts npx;   with -y;   with gh-mcp",
        ".mcp.json: MCP server `web` connects to https://w",
        "agents/bot.md: agent `agents/bot.md` skills: [\"deploy\"]",
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
            .file(
                "home/project/agents/bot.md",
                "---\nname: bot\ndescription: New.\nskills: [deploy]\n---\nOther.\n",
            )
    });
    assert_eq!(changed(&machine), Vec::<String>::new());
    assert_eq!(offered(&machine.load()), ["deploy", "plain"]);
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
        "deploy: code `scripts/data.bin` is new; code `scripts/run.sh` changed; injected command `curl x` is new; \
         hooks `hooks` changed; need `env KEY` is new; tool list `allowed-tools` changed",
        "sneaky: skill `sneaky` is new; code `scripts/x.py` is new",
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
    let snapshot = machine.load();
    assert!(snapshot.entries().all(|(_, entry)| snapshot.trust_change(entry).is_none()));
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

#[test]
fn trust_given_in_one_part_of_a_project_keeps_what_was_trusted_of_another() {
    let machine = Machine::new(|files| {
        files
            .skill("home/project/.claude/skills/top", "T.")
            .skill("home/project/a/.claude/skills/first", "A.")
            .skill("home/project/b/.claude/skills/second", "B.")
    });
    let machine = machine.current("home/project/a");
    trust(&machine, Ownership::Theirs);
    assert_eq!(offered(&machine.load()), ["first", "top"]);
    let machine = machine.current("home/project/b");
    assert_eq!(offered(&machine.load()), ["top"], "nobody has looked at this part");
    trust(&machine, Ownership::Theirs);
    assert_eq!(offered(&machine.load()), ["second", "top"]);
    let machine = machine.current("home/project/a");
    assert_eq!(offered(&machine.load()), ["first", "top"]);
    assert_eq!(changed(&machine), Vec::<String>::new());
}

#[test]
fn a_record_of_the_first_form_keeps_what_it_recorded() {
    let machine = machine();
    let project = machine.files.join("home/project");
    let digest = |text: &str| metier_files::FileDigest::of(text.as_bytes()).to_string();
    let server: serde_json::Value =
        serde_json::from_str("{\"command\":\"npx\",\"args\":[\"-y\",\"gh-mcp\"]}").unwrap();
    let store = format!(
        r#"{{"version":1,"projects":[{{"path":{project:?},"trusted":"2026-01-01","mine":false,"skills":{{".claude/skills/deploy":{{
            "scripts":{{"scripts/run.sh":{{"digest":"{}","executable":true}},"helpers/lib.py":{{"digest":"{}"}}}},
            "commands":["git status"],"hooks":"{{\"start\":\"x\"}}","allowed_tools":["Bash(git:*)"],"needs":["host example.org","env TOKEN"]}}}},
            "files":{{".mcp.json":{{"MCP server `gh`":"{}"}}}}}}]}}"#,
        digest("echo 1"),
        digest("x = 1"),
        digest(&server.to_string())
    );
    let file = TrustStore::file(&machine.places.data);
    metier_files::write_atomic(&file, store.as_bytes(), metier_files::Mode::Private).unwrap();
    let snapshot = machine.load();
    // The skill with capabilities stays, one of text alone was not recorded.
    assert_eq!(offered(&snapshot), ["deploy"]);
    let new: Vec<String> = changed(&machine);
    assert_eq!(new.first().map(String::as_str), Some("plain: skill `plain` is new"), "{new:#?}");
    assert!(
        new.iter().all(|line| !line.contains("`gh`")) && new.iter().any(|line| line.contains("`web`")),
        "{new:#?}"
    );
    // Another project's trust does not rewrite it.
    TrustStore::update(&machine.places.data, |store| Ok(store.revoke(std::path::Path::new("/nowhere"))))
        .unwrap();
    assert_eq!(offered(&machine.load()), ["deploy"]);
    trust(&machine, Ownership::Theirs);
    assert_eq!(offered(&machine.load()), ["deploy", "plain"]);
}

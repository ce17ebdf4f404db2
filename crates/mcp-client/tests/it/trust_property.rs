//! After a project was trusted, no change takes effect without new trust, and every change that would is in the report.
//!
//! Effects are observed as commands see them: the loaded catalogue, the settings and rules in force, the servers that may start,
//! the agents that may run.

use metier_catalog::{
    Capabilities, Class, Include, Layout, Ownership, Places, Preview, RootChoice, RootTrust, Snapshot, State,
    TrustDiff, TrustStore,
};
use metier_definition::{DefinitionOrigin, definitions};
use metier_exec::{policy_skill, rules_in_force};
use metier_mcp_client::{ConfigSource, ServerTrust, configured};
use metier_policy::{Action, Actor, Answers, Asking, Gate, Layer, Owner, Source, Trust};
use metier_testkit::Workspace;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names that look alike, fold to one another, differ in case or Unicode form, or are very long.
fn name(choice: u8) -> String {
    let long = |end: &str| format!("{}{end}", "x".repeat(230));
    match choice % 12 {
        0 => "db".to_owned(),
        1 => "db\u{200b}".to_owned(),
        2 => "d b".to_owned(),
        3 => "d\tb".to_owned(),
        4 => "DB".to_owned(),
        5 => "\u{ff44}b".to_owned(),
        6 => "caf\u{e9}".to_owned(),
        7 => "cafe\u{301}".to_owned(),
        8 => long("1"),
        9 => long("2"),
        10 => " db".to_owned(),
        _ => "\u{202e}bd".to_owned(),
    }
}

/// Folders of skills with such names, as far as a file system allows.
fn folder(choice: u8) -> String {
    let root = [".claude/skills", ".agents/skills"][usize::from(choice / 12) % 2];
    format!("{root}/{}", name(choice % 12))
}

/// Files in a skill: code by extension, code by its first bytes, and documents.
const FILES: [(&str, &[u8]); 9] = [
    ("scripts/run.sh", b"echo "),
    ("lib/helper.py", b"x = "),
    ("lib/__pycache__/helper.cpython-311.pyc", b"\xa7\r\r\n"),
    ("lib/helper.so", b"\x7fELF"),
    ("lib/site.pth", b"import "),
    ("config.json", b"{}"),
    ("references/script.md", b"#!/bin/sh\n"),
    ("references/text.md", b"Some text "),
    ("requirements.txt", b"package=="),
];

const SERVER_FILES: [&str; 3] = [".mcp.json", ".agents/mcp.json", ".agents/.mcp.json"];
const RULE_FILES: [&str; 3] = [".claude/settings.json", ".claude/settings.local.json", ".agents/config.json"];
const MODES: [&str; 4] = ["ask", "allow", "plan", "yolo"];
const AGENT_FILES: [&str; 4] = [
    ".metier/agents/one.md",
    ".claude/agents/deep/er/two.md",
    "agents/three.md",
    "crews/four.skilled_crew.yaml",
];

#[derive(Clone, Debug, Default)]
struct Skill {
    called: u8,
    files: BTreeMap<u8, (u8, bool)>,
    command: Option<u8>,
    hooks: Option<u8>,
    tools: Option<u8>,
    need: Option<u8>,
    model: Option<u8>,
    /// The target of the document, if it is a link.
    document: Option<u8>,
    link: Option<u8>,
}

/// The model of a project.
#[derive(Clone, Debug, Default)]
struct Draft {
    servers: BTreeMap<(u8, u8), u8>,
    rules: BTreeSet<(u8, u8)>,
    modes: BTreeMap<u8, u8>,
    variables: BTreeMap<(u8, u8), u8>,
    roots: BTreeMap<u8, u8>,
    models: BTreeMap<u8, u8>,
    asked_model: Option<u8>,
    limits: Option<u8>,
    visible: Option<u8>,
    skills: BTreeMap<u8, Skill>,
    folder_links: BTreeMap<u8, u8>,
    agents: BTreeMap<u8, u8>,
}

type Edit = (u8, u8, u8, u8);

impl Draft {
    fn edit(&mut self, (kind, which, value, more): Edit) {
        let is_removed = more % 5 == 0;
        let put = |map: &mut BTreeMap<u8, u8>, key: u8| {
            if is_removed {
                map.remove(&key)
            } else {
                map.insert(key, value % 4)
            };
        };
        match kind % 14 {
            0 | 1 if is_removed => drop(self.servers.remove(&(more % 3, which % 12))),
            0 | 1 => drop(self.servers.insert((more % 3, which % 12), value % 4)),
            2 if is_removed => {
                self.rules.remove(&(more % 4, which % 4));
            }
            2 => {
                self.rules.insert((more % 4, which % 4));
            }
            3 => put(&mut self.modes, which % 4),
            4 if is_removed => drop(self.variables.remove(&(more % 2, which % 3))),
            4 => drop(self.variables.insert((more % 2, which % 3), value % 4)),
            5 => put(&mut self.roots, which % 4),
            6 => put(&mut self.models, which % 12),
            7 => self.asked_model = (!is_removed).then_some(value % 4),
            8 => self.limits = (!is_removed).then_some(value % 4),
            9 => self.visible = (!is_removed).then_some(value % 2),
            10 => put(&mut self.agents, which % 4),
            11 if is_removed => drop(self.folder_links.remove(&(which % 24))),
            11 => {
                self.skills.remove(&(which % 24));
                self.folder_links.insert(which % 24, value % 4);
            }
            12 if more % 7 == 0 => drop(self.skills.remove(&(which % 24))),
            _ => {
                self.folder_links.remove(&(which % 24));
                let skill = self.skills.entry(which % 24).or_default();
                let some = (!is_removed).then_some(value % 4);
                match value / 4 % 9 {
                    0 => skill.called = more % 12,
                    1 | 2 if is_removed => drop(skill.files.remove(&(more % 9))),
                    1 | 2 => drop(skill.files.insert(more % 9, (value % 4, more % 2 == 0))),
                    3 => skill.command = some,
                    4 => skill.hooks = some,
                    5 => skill.tools = some,
                    6 => skill.need = some,
                    7 => skill.model = some,
                    _ if more % 2 == 0 => skill.document = some,
                    _ => skill.link = some,
                }
            }
        }
    }

    fn config(&self) -> String {
        let text = |text: &str| json!(text).to_string();
        let mut config = String::new();
        if let Some(model) = self.asked_model {
            config.push_str(&format!("model = \"ollama/m{model}\"\n"));
        }
        let rules: Vec<Value> =
            self.rules.iter().filter(|(file, _)| *file == 3).map(|(_, rule)| allow(*rule)).collect();
        config.push_str(&format!("[gate]\nallow = {}\n", json!(rules)));
        if let Some(mode) = self.modes.get(&3) {
            config.push_str(&format!("mode = \"{}\"\n", MODES[usize::from(*mode)]));
        }
        for ((_, variable), value) in self.variables.iter().filter(|((file, _), _)| *file == 0) {
            let (is_secret, default) = (value % 2 == 0, text(&format!("v{value}")));
            config.push_str(&format!("[env.V{variable}]\nsensitive = {is_secret}\ndefault = {default}\n"));
        }
        for (root, means) in &self.roots {
            let path = ["../elsewhere", "more", "outward", "~/private"][usize::from(*root)];
            let means = ["fence", "grant", "both", "advisory"][usize::from(*means)];
            config.push_str(&format!("[[roots]]\npath = \"{path}\"\nallowed_tools = \"{means}\"\n"));
        }
        for (model, means) in &self.models {
            config.push_str(&format!("[models.{}]\nmodel = \"ollama/{means}\"\n", text(&name(*model))));
        }
        if let Some(limit) = self.limits {
            config.push_str(&format!("[limits]\nturns = {}\n", 60 + limit));
        }
        if let Some(visible) = self.visible {
            let visible = ["on", "name-only"][usize::from(visible)];
            config.push_str(&format!("[skills.hidden]\nvisibility = \"{visible}\"\n"));
        }
        config
    }

    /// The modes that the files set, as [`effects`] prints them. The last trusted file wins; when it stops setting a mode, an
    /// earlier one takes effect.
    fn modes<'a>(&'a self, project: &'a Path) -> impl Iterator<Item = String> + 'a {
        self.modes.iter().map(|(file, mode)| {
            let label = RULE_FILES
                .get(usize::from(*file))
                .map_or_else(|| project.join("metier.toml").display().to_string(), |file| (*file).to_owned());
            format!("mode {} {label}", MODES[usize::from(*mode)])
        })
    }

    /// The configured roots, as [`effects`] prints them. Of two paths to one folder the last wins; when it is removed, the other
    /// takes effect.
    fn named_roots<'a>(&'a self, workspace: &'a Workspace) -> impl Iterator<Item = String> + 'a {
        self.roots.iter().map(|(root, means)| {
            let real = ["elsewhere", "project/more", "elsewhere", "home/private"][usize::from(*root)];
            let means = ["Fence", "Grant", "Both", "Advisory"][usize::from(*means)];
            format!("root {:?} {means}", Some(real_path(&workspace.join(real))))
        })
    }

    /// Writes the whole project.
    fn write(&self, project: &Path) {
        let _ = fs::remove_dir_all(project);
        let put = |path: &str, content: &[u8]| {
            let path = project.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        put(".git/HEAD", b"x");
        put("metier.toml", self.config().as_bytes());
        put("more/extra/SKILL.md", b"---\nname: extra\ndescription: d\n---\nx\n");
        symlink("../elsewhere", project.join("outward")).unwrap();
        for (at, file) in (0..).zip(SERVER_FILES) {
            let servers = self.servers.iter().filter(|((of, _), _)| *of == at);
            let servers: serde_json::Map<String, Value> =
                servers.map(|((_, called), value)| (name(*called), server(*value))).collect();
            if !servers.is_empty() {
                put(file, json!({ "mcpServers": servers }).to_string().as_bytes());
            }
        }
        for (at, file) in (0..).zip(RULE_FILES) {
            let rules: Vec<Value> =
                self.rules.iter().filter(|(of, _)| *of == at).map(|(_, rule)| allow(*rule)).collect();
            let claude = ["default", "dontAsk", "plan", "bypassPermissions"];
            let mode = self.modes.get(&at).map(|mode| match at {
                2 => json!({"mode": (MODES[usize::from(*mode)]), "allow": rules}),
                _ => json!({"defaultMode": (claude[usize::from(*mode)]), "allow": rules}),
            });
            if mode.is_some() || !rules.is_empty() {
                let permissions = mode.unwrap_or_else(|| json!({ "allow": rules }));
                put(file, json!({ "permissions": permissions }).to_string().as_bytes());
            }
        }
        let manifest = self.variables.iter().filter(|((file, _), _)| *file == 1).map(|((_, variable), value)| {
            json!({"name": format!("W{variable}"), "default": format!("v{value}"), "sensitive": value % 2 == 0})
        });
        let manifest: Vec<Value> = manifest.collect();
        if !manifest.is_empty() {
            put(".agents/env.json", json!({"version": 1, "env": manifest}).to_string().as_bytes());
        }
        for (file, value) in &self.agents {
            let file = AGENT_FILES[usize::from(*file)];
            let text = if file.ends_with("md") {
                format!("---\nname: agent\ndescription: d\ntools: [Read{value}]\n---\nText.\n")
            } else {
                format!("version: \"1.0\"\nid: crew{value}\nagents:\n  a:\n    skills: []\n")
            };
            put(file, text.as_bytes());
        }
        for (at, skill) in &self.skills {
            skill.write(&project.join(folder(*at)));
        }
        for (at, target) in &self.folder_links {
            let place = project.join(folder(*at));
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            let target = ["more/extra", "../elsewhere/far", "../home/.claude/skills/mine", "../home/private"]
                [usize::from(*target)];
            let _ = symlink(project.join(target), place);
        }
    }
}

impl Skill {
    fn write(&self, place: &Path) {
        fs::create_dir_all(place).unwrap();
        let mut head = format!("name: {}\ndescription: d\n", json!(name(self.called)));
        let mut body = "Text.\n".to_owned();
        if let Some(command) = self.command {
            body.push_str(&format!("Now: !`echo {command}`\n"));
        }
        if let Some(hooks) = self.hooks {
            head.push_str(&format!("hooks:\n  start: echo {hooks}\n"));
        }
        if let Some(tools) = self.tools {
            head.push_str(&format!("allowed-tools: Bash(t{tools}:*)\n"));
        }
        if let Some(model) = self.model {
            head.push_str(&format!("model: ollama/{model}\n"));
        }
        if let Some(need) = self.need {
            head.push_str(&format!("metadata:\n  metier:\n    needs:\n      hosts: [h{need}.example]\n"));
        }
        let document = place.join("SKILL.md");
        let project = place.ancestors().nth(3).unwrap();
        match self.document {
            Some(target @ 0..=1) => {
                let target = ["more/extra/SKILL.md", "../home/private/diary.md"][usize::from(target)];
                symlink(project.join(target), document).unwrap();
            }
            _ => fs::write(document, format!("---\n{head}---\n{body}")).unwrap(),
        }
        for (file, (value, executable)) in &self.files {
            let (path, start) = FILES[usize::from(*file)];
            let path = place.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, [start, format!("{value}\n").as_bytes()].concat()).unwrap();
            let is_document = path.ends_with("text.md");
            let mode = if *executable && !is_document { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        if let Some(link) = self.link {
            symlink(format!("../../../more/{link}"), place.join("linked")).unwrap();
        }
    }
}

fn server(value: u8) -> Value {
    match value {
        0 => json!({"command": "server"}),
        1 => json!({"command": "server", "env": {"K": "${SECRET}"}}),
        2 => json!({"url": "https://far.example/${SECRET}"}),
        _ => json!({"command": "server", "hosts": ["*"]}),
    }
}

fn allow(rule: u8) -> Value {
    json!(format!("mcp:s{rule}/tool"))
}

fn places(workspace: &Workspace) -> Places {
    let home = workspace.join("home");
    Places {
        config: home.join(".config"),
        data: workspace.join("data"),
        home: Some(home.clone()),
        user_skills: home.join(".config/skills"),
        ..Places::bare(workspace.join("project"))
    }
}

fn machine() -> Workspace {
    let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nPrivate.\n");
    Workspace::new()
        .file("home/.config/config.toml", "[skills.hidden]\nvisibility = \"off\"\n")
        .file("home/.claude/skills/mine/SKILL.md", text("mine"))
        .file("home/.claude/skills/hidden/SKILL.md", text("hidden"))
        .file("home/.claude/skills/db/SKILL.md", text("db"))
        .file("home/private/SKILL.md", text("private"))
        .file("home/private/diary.md", text("diary"))
        .file("elsewhere/far/SKILL.md", text("far"))
}

/// All effects of the project, one per line.
fn effects(places: &Places) -> BTreeSet<String> {
    let layout = Layout::new(places, &RootChoice::Usual);
    let project = layout.project.clone().unwrap();
    let mut effects = BTreeSet::new();
    for server in configured(&layout, &|_| Some("value".to_owned())).servers {
        if server.source == ConfigSource::Project && server.trusted == ServerTrust::Yes {
            // Identified by command: a label may get a number when another server is added or removed.
            effects.insert(format!("server {:?}", server.transport));
        }
    }
    let rules = rules_in_force(
        &layout,
        |file| file.display().to_string(),
        Layer::new(Source::new(Owner::Flag, "test")),
    );
    let answers = Answers::default();
    let gate = Gate { rules: &rules, answers: &answers, scopes: &[], asking: Asking::Nobody };
    for rule in 0..4 {
        let action = Action::mcp(Actor::Agent, &format!("s{rule}"), "tool");
        if gate.decide(&action).is_allowed() {
            effects.insert(format!("allow {rule}"));
        }
    }
    if let Some(source) = rules.mode_source().filter(|source| source.owner == Owner::Project) {
        effects.insert(format!("mode {} {}", rules.mode(), source.label));
    }
    for name in &layout.settings.environment {
        effects.insert(format!("variable {name:?}"));
    }
    let models = &layout.settings.models;
    effects.extend(models.default.iter().map(|model| format!("default model {model:?}")));
    effects.extend(models.models.iter().map(|(name, model)| format!("model {name:?} {model:?}")));
    let turns = models.limits().unwrap().turns.filter(|turns| turns.get() > 50);
    effects.extend(turns.map(|turns| format!("more turns {turns}")));
    for root in layout.roots.iter().filter(|root| root.origin.class == Class::Project) {
        let is_named = root.is_named_by_project && root.trust == RootTrust::Trusted;
        effects.extend(is_named.then(|| format!("root {:?} {:?}", root.real, root.allowed_tools)));
    }
    for found in
        definitions(&layout).into_iter().filter(|found| found.origin == DefinitionOrigin::TrustedProject)
    {
        effects.insert(format!("agent {} {:?}", found.file.display(), fs::read_to_string(&found.file)));
    }
    let has_named_root = effects.iter().any(|effect| effect.starts_with("root "));
    let snapshot = Snapshot::load(Arc::new(layout), Include::Usual);
    for (_, entry) in snapshot.entries() {
        let root = snapshot.root(entry);
        if root.origin.class != Class::Project {
            if entry.name().as_str() == "hidden" && entry.state() != State::Off {
                effects.insert("hidden is seen".to_owned());
            }
            continue;
        }
        if matches!(entry.state(), State::Untrusted | State::Off | State::Disabled) {
            continue;
        }
        let place = snapshot.folder(entry);
        effects.insert(format!("skill {} {}", entry.name(), place.display()));
        let Ok(file) = snapshot.read(entry) else { continue };
        // A root outside of the project that the user trusted by its path is the only exception.
        let is_out = file.source.contains("Private.") || !real_path(&place).starts_with(&project.folder);
        assert!(!is_out || has_named_root, "a user's file became a skill of the project");
        let folder = snapshot.open(entry).unwrap();
        let capabilities = Capabilities::of(&folder, &file).unwrap();
        // What the policy lets a skill run and use.
        if policy_skill(&snapshot, entry).trust == Trust::Trusted && !capabilities.is_empty() {
            effects.insert(format!("code {} {capabilities:?}", place.display()));
        }
    }
    effects
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

fn trust(places: &Places) {
    let preview = Preview::of(&Layout::new(places, &RootChoice::Usual)).unwrap();
    TrustStore::update(&places.data, |store| store.trust(&preview, "now", Ownership::Theirs)).unwrap();
}

fn check(before: &[Edit], after: &[Edit]) {
    let workspace = machine();
    let (places, project) = (places(&workspace), workspace.join("project"));
    let mut model = Draft::default();
    for edit in before {
        model.edit(*edit);
    }
    model.write(&project);
    trust(&places);
    let diff = |places: &Places| {
        let layout = Layout::new(places, &RootChoice::Usual);
        TrustDiff::of(&Preview::of(&layout).unwrap(), &layout.trust)
    };
    let settled = diff(&places);
    assert!(settled.is_settled(), "nothing is pending right after trust: {:?}", settled.line());
    let mut trusted = effects(&places);
    trusted.extend(model.modes(&real_path(&project)));
    // A mode such as `plan` holds rules back. They were shown and trusted all the same.
    trusted.extend(model.rules.iter().map(|(_, rule)| format!("allow {rule}")));
    trusted.extend(model.named_roots(&workspace));
    for edit in after {
        model.edit(*edit);
        model.write(&project);
        let now = effects(&places);
        let new: Vec<&String> = now.difference(&trusted).collect();
        assert!(new.is_empty(), "after {edit:?} takes effect without a yes: {new:#?}\n{model:#?}");
        let report = diff(&places);
        // Everything that new trust would enable is in the report.
        let kept = workspace.join("data");
        let aside = workspace.join("aside");
        fs::create_dir_all(&aside).unwrap();
        fs::copy(TrustStore::file(&kept), TrustStore::file(&aside)).unwrap();
        trust(&places);
        let all = effects(&places);
        fs::copy(TrustStore::file(&aside), TrustStore::file(&kept)).unwrap();
        let waiting: Vec<&String> = all.difference(&now).collect();
        assert!(waiting.is_empty() || report.line().is_some(), "not reported: {waiting:#?}\n{model:#?}");
    }
}

#[test]
fn nothing_that_comes_after_trust_takes_effect_without_being_reported() {
    let edits = |most: usize| proptest::collection::vec(any::<Edit>(), 1..most);
    let config = ProptestConfig {
        cases: 40,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(before in edits(24), after in edits(6))| check(&before, &after));
}

/// Found by the property: the mode of the first file was trusted, too, but not the last one.
#[test]
fn a_trusted_mode_takes_effect_when_the_mode_of_a_later_file_is_removed() {
    check(&[(3, 0, 0, 1), (3, 1, 2, 1)], &[(3, 1, 0, 0)]);
    check(&[(3, 2, 0, 1), (3, 3, 2, 1)], &[(3, 3, 0, 0), (3, 2, 0, 0)]);
}

/// Found by the property: the rule was trusted too, and `plan` held it back.
#[test]
fn a_trusted_rule_takes_effect_when_the_mode_that_held_it_back_is_removed() {
    check(&[(2, 2, 0, 3), (3, 2, 2, 1)], &[(3, 2, 0, 0)]);
}

/// Found by the property: two paths lead to one folder, each trusted with its own `allowed-tools`.
#[test]
fn a_trusted_root_takes_effect_when_a_second_path_to_its_folder_is_removed() {
    check(&[(5, 0, 0, 1), (5, 2, 1, 1)], &[(5, 2, 0, 0)]);
}

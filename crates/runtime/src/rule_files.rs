//! The rules in force and where they come from: the one table of files, for everybody who asks the gate.

use std::path::Path;

use metier_catalog::{
    Capabilities, Class, Entry, GateConfig, LayerOwner, Layout, Settings, SkillFile, Snapshot,
    Standing as Trusted, State, TrustStore, changes_in, changes_of,
};
use metier_files::{SkillDir, read_bounded};
use metier_policy::{
    Digest, Layer, List, Owner, Rules, Skill, Source, Standing, Trust, from_agents_json, from_claude_settings,
};

/// The largest file of another system's rules that is read. Real ones have a few kilobytes.
const MAX_RULES: u64 = 1 << 20;

/// Reads the rules of another system.
type Read = fn(&str, Source) -> Layer;

/// Rules of other systems, below the project. What a project refuses is refused whoever runs the skill.
const FOREIGN: &[(&str, Read)] = &[
    (".agents/config.json", from_agents_json),
    (".claude/settings.json", from_claude_settings),
    (".claude/settings.local.json", from_claude_settings),
];

/// The rules in force: those of the configuration, of the project's own files, and `own`, which whoever runs metier gives.
/// `shown` is how a file is called where a rule of it is told.
pub fn rules_in_force(layout: &Layout, shown: impl Fn(&Path) -> String, own: Layer) -> Rules {
    let mut layers = Vec::new();
    for layer in &layout.settings.gate {
        let owner = match layer.owner {
            LayerOwner::User => Owner::User,
            LayerOwner::TrustedProject | LayerOwner::UntrustedProject => Owner::Project,
        };
        let mut rules = configured(&layer.config, Source::new(owner, &shown(&layer.file)));
        if layer.owner == LayerOwner::User {
            // What the user's configuration gives to a skill is a yes as well.
            rules = rules.list(List::Allow, given_rules(&layout.settings));
        }
        layers.push(rules);
    }
    if let Some(project) = &layout.project {
        layers.extend(FOREIGN.iter().filter_map(|(path, read)| foreign(&project.folder, path, *read)));
    }
    layers.push(own);
    let standing = match layout.standing {
        Trusted::Untrusted => Standing::Untrusted,
        Trusted::Trusted | Trusted::Mine => Standing::Trusted,
    };
    Rules::new(layers, standing)
}

/// The needs that the user's configuration gives, as rules.
fn given_rules(settings: &Settings) -> Vec<String> {
    let mut rules = Vec::new();
    for (skill, needs) in settings.given_needs() {
        for (word, texts) in [("host", &needs.hosts), ("write", &needs.write), ("secret", &needs.env)] {
            rules.extend(texts.iter().map(|text| format!("skill:{skill}/{word}:{text}")));
        }
    }
    rules
}

/// A skill as the gate knows it. `data` is the folder that has the record of what is trusted.
pub fn known_to_the_gate(snapshot: &Snapshot, entry: &Entry, data: &Path) -> Skill {
    let origin = &snapshot.root(entry).origin;
    let trust = match (entry.state(), origin.class) {
        (State::Untrusted, _) => Trust::Untrusted,
        (_, Class::Project) => {
            // A record of trust that cannot be read is none: the layout says so, and the project is not trusted.
            let store = TrustStore::open(data).ok();
            match store.and_then(|store| changes_of(snapshot, &store, entry)) {
                Some(_) => Trust::Changed,
                None => Trust::Trusted,
            }
        }
        // Nobody's record but a project's changes anything, and each call asks.
        _ => Trust::Trusted,
    };
    // A yes to a server's skill is one to the very files that were listed.
    let tree = entry.remote().map(|skill| Digest(skill.set.to_string()));
    let folder = snapshot.folder_alias(entry);
    let place = snapshot.owning_folder(entry).map(|place| place.to_string_lossy().into_owned());
    Skill { trust, tree, folder, place, ..Skill::new(entry.name().as_str(), &origin.to_string()) }
}

/// Whether a copy of a project's skill, with the file it was read as, can do no more than what was trusted. Other skills are
/// as they were known.
pub fn trust_of_copy(
    snapshot: &Snapshot,
    entry: &Entry,
    data: &Path,
    copy: &SkillDir,
    file: &SkillFile,
) -> Trust {
    let now = || match Capabilities::of(copy, file) {
        Ok(now) => now,
        Err(error) => Capabilities::unreadable(&error),
    };
    // A record that cannot be read is none.
    let Ok(store) = TrustStore::open(data) else { return Trust::Changed };
    match changes_in(snapshot, &store, entry, now) {
        Some(_) => Trust::Changed,
        None => Trust::Trusted,
    }
}

fn configured(config: &GateConfig, source: Source) -> Layer {
    let mut layer = Layer::new(source)
        .list(List::Deny, &config.deny)
        .list(List::Ask, &config.ask)
        .list(List::Allow, &config.allow);
    if let Some(why) = &config.incomplete {
        layer = layer.incomplete(why);
    }
    match &config.mode {
        Some(mode) => layer.mode(mode),
        None => layer,
    }
}

fn foreign(project: &Path, path: &str, read: Read) -> Option<Layer> {
    let source = Source::new(Owner::Project, path);
    match read_bounded(&project.join(path), MAX_RULES) {
        Ok(None) => None,
        Ok(Some(bytes)) => Some(read(&String::from_utf8_lossy(&bytes), source)),
        Err(error) => Some(Layer::new(source).incomplete(&error.to_string())),
    }
}

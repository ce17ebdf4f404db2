//! The rules in force and where they come from: the one table of files, for everybody who asks the gate.

use std::path::Path;

use metier_catalog::{
    Capabilities, Class, Entry, GateConfig, LayerOwner, Layout, ProjectTrust, RULE_FILES, ReadRules,
    Settings, SkillFile, Snapshot, Standing as Trusted, State, TrustEntry, TrustKind,
};
use metier_files::{SkillDir, read_bounded};
use metier_policy::{Digest, Layer, List, Owner, Rules, Skill, Source, Standing, Trust};

/// The largest file of another system's rules that is read. Real ones have a few kilobytes.
const MAX_RULES: u64 = 1 << 20;

/// The rules in force: those of the configuration, of the project's own files, and `own`, which whoever runs metier gives.
/// `shown` is how a file is called where a rule of it is told.
pub fn rules_in_force(layout: &Layout, shown: impl Fn(&Path) -> String, own: Layer) -> Rules {
    let mut layers = Vec::new();
    for layer in &layout.settings.gate {
        let owner = match layer.owner {
            LayerOwner::User => Owner::User,
            LayerOwner::TrustedProject => Owner::Project,
            LayerOwner::UntrustedProject => Owner::Stranger,
        };
        let mut rules = configured(&layer.config, Source::new(owner, &shown(&layer.file)));
        if layer.owner == LayerOwner::User {
            // What the user's configuration gives to a skill is a yes as well.
            rules = rules.list(List::Allow, given_rules(&layout.settings));
        }
        layers.push(rules);
    }
    if let Some(project) = &layout.project {
        let foreign = |(path, read)| foreign(&project.folder, path, read, &layout.trust);
        layers.extend(RULE_FILES.into_iter().filter_map(foreign).flatten());
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

/// A skill as the gate knows it.
pub fn policy_skill(snapshot: &Snapshot, entry: &Entry) -> Skill {
    let origin = &snapshot.root(entry).origin;
    let trust = match (entry.state(), origin.class) {
        (State::Untrusted, _) => Trust::Untrusted,
        (_, Class::Project) if !snapshot.is_unchanged(entry) => Trust::Changed,
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
/// trusted as a whole.
pub fn trust_of_copy(snapshot: &Snapshot, entry: &Entry, copy: &SkillDir, file: &SkillFile) -> Trust {
    if snapshot.root(entry).origin.class != Class::Project {
        return Trust::Trusted;
    }
    let now = Capabilities::of(copy, file).unwrap_or_else(|error| Capabilities::unreadable(&error));
    if snapshot.is_unchanged_with(entry, &now) { Trust::Trusted } else { Trust::Changed }
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

/// The rules of another client's file, cut in two: what the user trusted, and what narrows only.
fn foreign(project: &Path, path: &str, read: ReadRules, trust: &ProjectTrust) -> Option<[Layer; 2]> {
    let source = Source::new(Owner::Project, path);
    let layer = match read_bounded(&project.join(path), MAX_RULES) {
        Ok(None) => return None,
        Ok(Some(bytes)) => read(&String::from_utf8_lossy(&bytes), source),
        Err(error) => Layer::new(source).incomplete(&error.to_string()),
    };
    let is_trusted = |list: List, rule: &str| match list {
        List::Deny => true,
        List::Ask => trust.allows(&TrustEntry::rule(TrustKind::Ask, path, rule)),
        List::Allow => trust.allows(&TrustEntry::rule(TrustKind::Allow, path, rule)),
    };
    Some(layer.split(is_trusted, |mode| trust.allows(&TrustEntry::mode(path, &mode.to_string()))))
}

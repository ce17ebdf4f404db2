//! A machine with a cache, a trust store and servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use metier_catalog::{Entry, Include, Layout, Lookup, Places, RootChoice, Snapshot, TrustStore, Wanted};
use metier_files::RelativePath;
use metier_mcp::client::{How, ServerConfig, Servers, Source, Trusted};
use metier_testkit::Workspace;

use crate::hostile::Hostile;

/// A machine with servers on loopback.
pub(crate) struct Scene {
    pub(crate) workspace: Workspace,
    pub(crate) servers: Servers,
}

pub(crate) fn address(label: &str, server: &Hostile) -> ServerConfig {
    ServerConfig {
        label: label.to_owned(),
        how: How::Address { url: server.url.clone(), headers: BTreeMap::new() },
        source: Source::User,
        trusted: Trusted::Yes,
        aliases: BTreeMap::new(),
    }
}

impl Scene {
    pub(crate) fn new(servers: &[(&str, &Hostile)]) -> Self {
        let configs = servers.iter().map(|(label, server)| address(label, server)).collect();
        let workspace = Workspace::new().dir("project/.git").dir("data").dir("cache").dir("home");
        let cache = workspace.join("cache");
        Self { servers: Servers::new(configs, None, Some(&cache)), workspace }
    }

    pub(crate) fn places(&self) -> Places {
        Places {
            data: self.workspace.join("data"),
            cache: Some(self.workspace.join("cache")),
            home: Some(self.workspace.join("home")),
            user_skills: self.workspace.join("skills"),
            remote: Some(Arc::new(self.servers.remote(&self.workspace.join("data")))),
            ..Places::bare(self.workspace.join("project"))
        }
    }

    /// What the catalogue has by what was listed last.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::load(Arc::new(Layout::new(&self.places(), &RootChoice::Usual)), Include::Usual)
    }

    /// Asks the servers and gives the catalogue.
    pub(crate) fn listed(&self) -> Snapshot {
        let failed = self.servers.ask();
        assert!(failed.is_empty(), "{failed:?}");
        self.snapshot()
    }

    /// Approves a skill as it is listed.
    pub(crate) fn approve(&self, name: &str) {
        let snapshot = self.snapshot();
        let skill = entry(&snapshot, name).remote().unwrap().clone();
        let config = self.servers.configs().find(|config| config.label == skill.server).unwrap();
        let endpoint = config.endpoint();
        TrustStore::update(&self.workspace.join("data"), |store| {
            store.approve(&skill, &endpoint, "now");
            Ok(())
        })
        .unwrap();
    }

    /// Every file in the cache but for lists, by name.
    pub(crate) fn cached(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.workspace.join("cache"), &mut found);
        found.retain(|name| name != "listing.json");
        found.sort();
        found
    }
}

fn walk(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            walk(&entry.path(), found);
        } else {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
}

/// A skill by its whole name.
pub(crate) fn entry<'a>(snapshot: &'a Snapshot, name: &str) -> &'a Entry {
    match snapshot.find(&name.parse().unwrap()) {
        Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => entry,
        other => panic!("{name}: {other:?}"),
    }
}

/// Brings what is wanted; the reason where it is refused, and nothing where it is not.
pub(crate) fn bring(snapshot: &Snapshot, name: &str, wanted: &str) -> String {
    let entry = entry(snapshot, name);
    let path = RelativePath::parse(wanted);
    let wanted = match wanted {
        "" => Wanted::Document,
        "*" => Wanted::All,
        _ => Wanted::File(path.as_ref().unwrap()),
    };
    snapshot.bring(entry, wanted).map_or_else(|error| error.to_string(), |()| String::new())
}

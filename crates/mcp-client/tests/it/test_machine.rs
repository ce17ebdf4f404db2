//! A machine with a cache, a trust store and servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use metier_catalog::{Entry, Include, Layout, Lookup, Places, RootChoice, Snapshot, TrustStore, Wanted};
use metier_files::RelativePath;
use metier_mcp_client::{ConfigSource, ServerConfig, ServerTransport, ServerTrust, Servers};
use metier_testkit::Workspace;

use crate::hostile_server::HostileServer;

/// A machine with servers on loopback.
pub(crate) struct TestMachine {
    pub(crate) workspace: Workspace,
    pub(crate) servers: Servers,
}

pub(crate) fn address(label: &str, server: &HostileServer) -> ServerConfig {
    ServerConfig {
        label: label.to_owned(),
        transport: ServerTransport::Address { url: server.url.clone(), headers: BTreeMap::new() },
        source: ConfigSource::User,
        trusted: ServerTrust::Yes,
        aliases: BTreeMap::new(),
    }
}

impl TestMachine {
    pub(crate) fn new(servers: &[(&str, &HostileServer)]) -> Self {
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
            git_configs: Vec::new(),
            ..Places::bare(self.workspace.join("project"))
        }
    }

    /// The catalogue with the latest listings.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::load(Arc::new(Layout::new(&self.places(), &RootChoice::Usual)), Include::Usual)
    }

    /// Requests all listings and returns the catalogue.
    pub(crate) fn listed(&self) -> Snapshot {
        let failed = self.servers.refresh_listings();
        assert!(failed.is_empty(), "{failed:?}");
        self.snapshot()
    }

    /// Approves a skill as listed.
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

    /// The names of all cached files, without listings.
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

/// Finds a skill by its full name.
pub(crate) fn entry<'a>(snapshot: &'a Snapshot, name: &str) -> &'a Entry {
    match snapshot.find(&name.parse().unwrap()) {
        Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => entry,
        other => panic!("{name}: {other:?}"),
    }
}

/// Fetches files; returns the error, or an empty string.
pub(crate) fn fetch(snapshot: &Snapshot, name: &str, wanted: &str) -> String {
    let entry = entry(snapshot, name);
    let path = RelativePath::parse(wanted);
    let wanted = match wanted {
        "" => Wanted::Document,
        "*" => Wanted::All,
        _ => Wanted::File(path.as_ref().unwrap()),
    };
    snapshot.bring(entry, wanted).map_or_else(|error| error.to_string(), |()| String::new())
}

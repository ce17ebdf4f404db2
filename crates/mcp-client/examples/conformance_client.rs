//! The client for the official conformance suite. The last argument is the URL of the suite's server, `MCP_CONFORMANCE_SCENARIO`
//! names the scenario. It works as metier does: list, catalogue, use.
//!
//! It is also the sandbox helper of this crate's tests.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the suite shows the output of a client")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use metier_catalog::{Include, Layout, Lookup, Places, RootChoice, Snapshot, Wanted};
use metier_files::{PassingFolder, RelativePath};
use metier_mcp_client::{ConfigSource, ServerConfig, ServerTransport, ServerTrust, Servers};

fn main() -> ExitCode {
    metier_sandbox::helper(std::env::args_os());
    let Some(url) = std::env::args().next_back().filter(|url| url.starts_with("http")) else {
        eprintln!("the last argument must be the URL of a server");
        return ExitCode::FAILURE;
    };
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    match run(&url, &scenario) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str, scenario: &str) -> Result<(), String> {
    let folder = PassingFolder::make(&std::env::temp_dir()).map_err(|error| error.to_string())?;
    let config = ServerConfig {
        label: "suite".to_owned(),
        transport: ServerTransport::Address { url: url.to_owned(), headers: BTreeMap::new() },
        source: ConfigSource::User,
        trusted: ServerTrust::Yes,
        aliases: BTreeMap::new(),
    };
    let servers = Servers::new(vec![config], None, Some(folder.path()));
    servers.refresh_listing("suite")?;
    let places = Places {
        remote: Some(Arc::new(servers.remote(folder.path()))),
        git_configs: Vec::new(),
        user_skills: folder.path().join("skills"),
        ..Places::bare(folder.path().to_owned())
    };
    let layout = Layout::new(&places, &RootChoice::Usual);
    let snapshot = Snapshot::load(Arc::new(layout), Include::Usual);
    for (_, entry) in snapshot.entries() {
        println!("listed {}: {}", entry.call_name(), entry.description());
    }
    if scenario == "sep-2640-client-no-prefetch" {
        return Ok(());
    }
    let names: Vec<String> = snapshot.entries().map(|(_, entry)| entry.call_name().to_owned()).collect();
    for name in names {
        let reference = name.parse().map_err(|error| format!("{name}: {error}"))?;
        let (Lookup::Found(_, entry) | Lookup::Unusable(_, entry)) = snapshot.find(&reference) else {
            continue;
        };
        snapshot.bring(entry, Wanted::Document).map_err(|error| error.to_string())?;
        println!("loaded {name}");
        let files: Vec<RelativePath> =
            entry.remote().into_iter().flat_map(|skill| &skill.files).map(|file| file.path.clone()).collect();
        for file in files {
            snapshot.bring(entry, Wanted::File(&file)).map_err(|error| error.to_string())?;
            println!("read {file}");
        }
    }
    Ok(())
}

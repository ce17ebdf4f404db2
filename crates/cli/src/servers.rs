//! The MCP servers of this user and this project.

use crate::agent_choice::AgentChoice;
use crate::environment;
use crate::sandbox_setup::setup;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_catalog::{
    Class, Layout, Origin, Reference, RemoteRefusal, TrustEntry, exact_path, trusts_definition,
};
use metier_definition::{DefinitionFormat, DefinitionOrigin, Role, ServerDescription, ServerRef};
use metier_diagnostic::Diagnostic;
use metier_exec::SearchPath;
use metier_mcp_client::{
    AgentServer, ConfigSource, ConfiguredServers, ServerHost, ServerTrust, Servers, agent_servers, configured,
};
use metier_sandbox::Sandbox;
use std::path::Path;
use std::sync::Arc;

/// The servers that are configured, none of them started, and what is wrong with what is said of them. Nothing where there are none,
/// so that commands pay for servers only where somebody has some.
pub(crate) fn of(layout: &mut Layout) -> Option<Servers> {
    let ConfiguredServers { servers, diagnostics } = configured(layout, &environment::variable);
    layout.diagnostics.extend(diagnostics);
    if servers.is_empty() {
        return None;
    }
    Some(Servers::new(servers, Some(&server_host(layout)), layout.places.cache.as_deref()))
}

/// What servers that are programs stand on.
fn server_host(layout: &Layout) -> ServerHost {
    let places = &layout.places;
    let project = layout.project.as_ref().map(|project| project.folder.clone());
    ServerHost {
        sandbox: Arc::new(Sandbox::new(setup(&places.temp))),
        path: SearchPath::in_layout(&environment::search_path(), layout),
        project,
        data: places.data.join("mcp"),
        user: places.user_paths(),
        language: environment::language(),
    }
}

/// The servers of somebody whom a file describes, none of them started, and what is wrong with what it says of them. Where a file
/// says nothing, an agent has those that everybody knows; in a crew and in agentmd's places it has none, as their systems have it.
pub(crate) fn of_role(agent: &AgentChoice, role: &Role) -> (Option<Servers>, Vec<Diagnostic>) {
    let known = agent.surroundings.servers.as_ref();
    if role.servers.is_empty() {
        let has_all = matches!(agent.found.format, DefinitionFormat::Agent | DefinitionFormat::Claude);
        return (known.filter(|_| has_all).cloned(), Vec::new());
    }
    let layout = &agent.surroundings.layout;
    let file = agent.found.file.as_path();
    let project = layout.project.as_ref();
    let is_file_trusted = project.is_some_and(|project| trusts_definition(project, &layout.trust, file));
    // A server that the agent's own file describes is part of what that file switches on; one of another file is a thing of its own.
    let is_trusted = |described_in: &Path, described: &ServerDescription| {
        let is_own = described_in == file;
        is_file_trusted
            && project.is_some_and(|project| {
                let place = exact_path(&project.folder, described_in);
                let entry = TrustEntry::server(&place, &described.name, &described.settings);
                is_own || layout.trust.allows(&entry)
            })
    };
    // Whoever names a file outside of any project, or has it in their own folder, has said who is trusted.
    let standing = |described_in: &Path, described: &ServerDescription| match agent.found.origin {
        DefinitionOrigin::User | DefinitionOrigin::Named => (ConfigSource::User, ServerTrust::Yes),
        DefinitionOrigin::UntrustedProject => (ConfigSource::Project, ServerTrust::NotYet),
        DefinitionOrigin::TrustedProject if is_trusted(described_in, described) => {
            (ConfigSource::Project, ServerTrust::Yes)
        }
        DefinitionOrigin::TrustedProject => (ConfigSource::Project, ServerTrust::Changed),
    };
    let (mut named, mut own) = (Vec::new(), Vec::new());
    for server in &role.servers {
        let (described, path) = match &server.value {
            ServerRef::Named(name) => {
                named.push(name.as_str());
                continue;
            }
            ServerRef::File(path, Some(described)) => (described, path.as_path()),
            // What cannot be read has been said.
            ServerRef::File(_, None) => continue,
            ServerRef::Inline(described) => (described, file),
        };
        let (source, trusted) = standing(path, described);
        let folder = match agent.found.format {
            DefinitionFormat::Crew => file.parent(),
            _ => project.map(|project| project.folder.as_path()).or(file.parent()),
        };
        let folder = folder.unwrap_or(Path::new("/"));
        let ServerDescription { name, settings } = described;
        let project = project.map(|project| project.folder.as_path());
        own.push(AgentServer { name, settings, file: path, folder, project, source, trusted });
    }
    let taken = known.iter().flat_map(|known| known.configs().map(|config| config.label.clone()));
    let ConfiguredServers { servers, diagnostics } = agent_servers(own, taken, &environment::variable);
    let server_host = server_host(layout);
    let all = match known {
        Some(known) => {
            known.subset_with(|config| named.contains(&config.label.as_str()), servers, Some(&server_host))
        }
        None => Servers::new(servers, Some(&server_host), None),
    };
    (Some(all).filter(|all| !all.is_empty()), diagnostics)
}

/// Asks every server anew. Gives the surroundings with what they list now, and those that did not answer.
pub(crate) fn ask_all(surroundings: &Surroundings) -> (Surroundings, Vec<RemoteRefusal>) {
    match &surroundings.servers {
        Some(servers) => {
            let failed = servers.refresh_listings();
            (surroundings.with_servers_as_listed(), failed)
        }
        None => (surroundings.clone(), Vec::new()),
    }
}

/// The same of the server whose skill a name means. A name that means no server's skill changes nothing.
pub(crate) fn ask_for(name: &str, surroundings: &Surroundings) -> Result<Surroundings> {
    let Some(Origin { label: Some(label), .. }) = server_of(name) else { return Ok(surroundings.clone()) };
    let Some(servers) = &surroundings.servers else {
        bail!(
            "there is no MCP server `{label}`; name it in `.mcp.json` or as `[mcp.{label}]` in your `config.toml`"
        );
    };
    if let Err(why) = servers.refresh_listing(&label) {
        bail!("the MCP server `{label}` lists nothing: {why}");
    }
    Ok(surroundings.with_servers_as_listed())
}

/// The server that a whole name means, such as `mcp.docs:pdf`.
pub(crate) fn server_of(name: &str) -> Option<Origin> {
    let reference: Reference = name.parse().ok()?;
    reference.origin.filter(|origin| origin.class == Class::Mcp && origin.label.is_some())
}

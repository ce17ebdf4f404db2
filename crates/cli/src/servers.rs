//! The MCP servers of this user and this project.

use crate::environment;
use crate::surroundings::Surroundings;
use crate::workplace::setup;
use anyhow::{Result, bail};
use metier_catalog::{Class, Layout, Origin, Reference, RemoteRefusal};
use metier_mcp::client::{Configured, Ground, Servers, configured};
use metier_runtime::SearchPath;
use metier_sandbox::Sandbox;
use std::sync::Arc;

/// The servers that are configured, none of them started, and what is wrong with what is said of them. Nothing where there are none,
/// so that commands pay for servers only where somebody has some.
pub(crate) fn of(layout: &mut Layout) -> Option<Servers> {
    let Configured { servers, diagnostics } = configured(layout, &environment::variable);
    layout.diagnostics.extend(diagnostics);
    if servers.is_empty() {
        return None;
    }
    let places = &layout.places;
    let project = layout.project.as_ref().map(|project| project.folder.clone());
    let mut path = SearchPath::new(&environment::search_path());
    if let Some(home) = &places.home {
        path = path.home(home);
    }
    if let Some(project) = &project {
        path = path.project(project);
    }
    let ground = Ground {
        sandbox: Arc::new(Sandbox::new(setup(&places.temp))),
        path,
        project,
        data: places.data.join("mcp"),
        language: environment::language(),
    };
    Some(Servers::new(servers, Some(&ground), places.cache.as_deref()))
}

/// Asks every server anew. Gives the surroundings with what they list now, and those that did not answer.
pub(crate) fn ask_all(surroundings: &Surroundings) -> (Surroundings, Vec<RemoteRefusal>) {
    match &surroundings.servers {
        Some(servers) => {
            let failed = servers.ask();
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
    if let Err(why) = servers.ask_one(&label) {
        bail!("the MCP server `{label}` lists nothing: {why}");
    }
    Ok(surroundings.with_servers_as_listed())
}

/// The server that a whole name means, such as `mcp.docs:pdf`.
pub(crate) fn server_of(name: &str) -> Option<Origin> {
    let reference: Reference = name.parse().ok()?;
    reference.origin.filter(|origin| origin.class == Class::Mcp && origin.label.is_some())
}

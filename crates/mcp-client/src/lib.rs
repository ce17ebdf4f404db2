//! The MCP client: tools and skills of other servers.
//!
//! ```text
//! .mcp.json, config.toml, agents ─► config ─► managed_server ─► connection ─► server_process │ http
//!                                       │        over rmcp       sandboxed program, or a URL
//!                                       ├─► tools ─────────────► metier_tools::ToolServer
//!                                       └─► listing ─► entry ─► metier_catalog::Remote
//!                                                      checked   └─► file_cache: fetched on use, verified against the listing
//! ```
//!
//! Servers are not trusted, even if the user configured them:
//!
//! - **Nothing is fetched in advance.** Skills are shown from the listing. A file is fetched when it is used, from the server that listed
//!   it, and is refused if its size or digest differs from the listing. A `SKILL.md` is also refused if its frontmatter differs.
//! - **A skill is identified** by its server's label, which the user chose, and its URI; never by its name.
//! - **An approval** covers all URIs and digests of a skill. Any change revokes it.
//! - **Everything is bounded**: pages, entries, files, bytes, time. Every refusal has a reason.
//!
//! ```
//! use metier_mcp_client::SkillEntry;
//!
//! let entry = serde_json::json!({ "uri": "file:/etc/pdf/SKILL.md", "frontmatter": {}, "resources": [] });
//! assert_eq!(SkillEntry::read(&entry).unwrap_err().to_string(), "its URI names a local file");
//! ```

pub mod code;
mod config;
mod connection;
mod entry;
mod file_cache;
mod frontmatter;
mod http;
mod listing;
mod managed_server;
mod server_process;
mod servers;
mod tools;
mod writable;

pub use config::{
    AgentServer, ConfigSource, ConfiguredServers, ProgramConfig, ServerConfig, ServerTransport, ServerTrust,
    StartFolder, StartFolderError, agent_servers, configured,
};
pub use entry::{EntryError, MAX_FILES, MAX_SKILL_BYTES, SkillEntry};
pub use frontmatter::{FrontmatterDifference, frontmatter_difference};
pub use listing::{Listing, MAX_PAGES, MAX_SKILLS};
pub use managed_server::ServerSummary;
pub use server_process::ServerHost;
pub use servers::Servers;

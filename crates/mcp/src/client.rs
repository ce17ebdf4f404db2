//! Skills and tools that other servers offer.
//!
//! ```text
//! .mcp.json, config.toml, agents ─► config ─► server ─► connection ─► child │ http
//!                                       │          over rmcp    contained, or an address
//!                                       ├─► tools ─────────────► metier_agent::OutsideTools
//!                                       └─► listing ─► entry ─► metier_catalog::Remote
//!                                                      checked   └─► shelf: fetched when used, held against the list
//! ```
//!
//! What a server says is a stranger's word, whoever configured it:
//!
//! - **Nothing is fetched ahead.** A list is shown from the list. A file comes when it is used, from the server that listed it and
//!   from no other, and is refused unless size and digest are those of the list; a `SKILL.md` also unless its frontmatter is.
//! - **Who a skill is** are its server's label, which the user gave, and its address; never its name.
//! - **An approval** is bound to all addresses and digests of a skill. Any change takes it back.
//! - **Everything has a bound**: pages, entries, files, bytes, time. What is refused is said with its reason.

mod base64;
mod child;
pub mod code;
mod config;
mod connection;
mod entry;
mod frontmatter;
mod http;
mod listing;
mod server;
mod servers;
mod shelf;
mod tools;
mod writable;

pub use child::Ground;
pub use config::{
    Configured, How, OwnServer, ProgramConfig, ServerConfig, Source, StartFolder, StartFolderError, Trusted,
    configured, own_servers,
};
pub use entry::{EntryRefused, ListedFile, MAX_FILES, MAX_SKILL_BYTES, SkillEntry};
pub use frontmatter::{Difference, difference};
pub use listing::{Listing, MAX_PAGES, MAX_SKILLS};
pub use server::Seen;
pub use servers::Servers;

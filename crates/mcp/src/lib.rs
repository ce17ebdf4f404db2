//! Skills over MCP, both ways: [`server`] offers them to other agents, [`client`] takes them, and tools, from other servers.
//!
//! ```
//! use metier_mcp::server::Server;
//! use metier_runtime::Skills;
//!
//! // Each client is served by `serve_stdio`, by `serve`, or over HTTP by an `exchange`.
//! let server = Server::builder(Skills::open(["skills"])).open()?;
//! # drop(server);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod client;
pub mod server;

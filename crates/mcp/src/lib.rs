//! Skills over MCP, both ways: [`server`] offers them to other agents, [`client`] takes them, and tools, from other servers.

pub mod client;
pub mod server;

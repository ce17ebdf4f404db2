//! What a configuration says about MCP servers. What the values mean is for whoever speaks to servers; here they only have a
//! shape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An MCP server: a program that is started, or an address. Only the user's own file is heard on this; a project names its servers
/// in `.mcp.json`, which is acted on once the project is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpServerConfig {
    /// How it is spoken to: `stdio` for a program, `http` for an address. What is given tells, where this is not.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub transport: Option<McpTransport>,
    /// The program that is started, contained: a name on the search path, or an absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the program is told.
    pub args: Vec<String>,
    /// Variables that the program sees. `${NAME}` is the value of metier's own environment, `${NAME:-text}` has a default.
    pub env: BTreeMap<String, String>,
    /// Where the program starts; the project's folder without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Hosts that the program may reach: `api.example.com`, `*.example.com`, with a port or without. None without it.
    pub hosts: Vec<String>,
    /// Folders of the project that the program may write at once, without a question: `["notes"]`. None without it.
    pub write: Vec<String>,
    /// The address: `https://mcp.example.com/mcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers for every request, with `${NAME}` as in `env`.
    pub headers: BTreeMap<String, String>,
    /// Whether it is left alone.
    pub disabled: bool,
    /// More names for its tools, by which skills may call them: `web_search = "exa_search"`.
    pub aliases: BTreeMap<String, String>,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum McpTransport {
    /// Over the streams of a program that metier starts.
    Stdio,
    /// Over HTTP.
    #[serde(alias = "streamable-http", alias = "streamableHttp", alias = "streamable_http")]
    Http,
    /// Over the HTTP of before 2025, which metier does not speak: it is tried as `http`.
    Sse,
}

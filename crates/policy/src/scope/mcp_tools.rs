//! Which MCP server a bare tool name means.

use std::collections::{BTreeMap, BTreeSet};

/// The tools of the servers that are there, and the aliases of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpTools {
    servers: BTreeMap<String, BTreeSet<String>>,
    aliases: BTreeMap<String, (String, String)>,
}

impl McpTools {
    /// Adds a tool of a server.
    pub fn add(&mut self, server: &str, tool: &str) {
        self.servers.entry(tool.to_owned()).or_default().insert(server.to_owned());
    }

    /// Adds an alias of the user's configuration.
    pub fn alias(&mut self, name: &str, server: &str, tool: &str) {
        self.aliases.insert(name.to_owned(), (server.to_owned(), tool.to_owned()));
    }

    /// The server and tool that a bare name means: an alias, else the only server that has a tool of this name. With
    /// two of them nobody knows which one was meant, and a server could be added to take the other's place.
    pub fn resolve(&self, name: &str) -> Option<(&str, &str)> {
        if let Some((server, tool)) = self.aliases.get(name) {
            return Some((server, tool));
        }
        let (tool, servers) = self.servers.get_key_value(name)?;
        let mut servers = servers.iter();
        match (servers.next(), servers.next()) {
            (Some(server), None) => Some((server, tool)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_the_tool_of_the_only_server_that_has_it() {
        let mut tools = McpTools::default();
        tools.add("exa", "web_search");
        assert_eq!(tools.resolve("web_search"), Some(("exa", "web_search")));
        tools.add("brave", "web_search");
        assert_eq!(tools.resolve("web_search"), None);
        tools.alias("web_search", "brave", "web_search");
        assert_eq!(tools.resolve("web_search"), Some(("brave", "web_search")));
        assert_eq!(tools.resolve("other"), None);
    }
}

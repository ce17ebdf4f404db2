//! The tables about MCP servers, key by key.

use super::{Report, Section, fields};
use crate::config::McpServerConfig;

pub(super) fn server(section: &mut Section<'_>, report: &mut Report<'_>) -> McpServerConfig {
    let transport = section.take("type", report);
    fields!(section, report => McpServerConfig {
        command, args, env, cwd, hosts, write, url, headers, disabled, aliases; transport: transport
    })
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, McpTransport};
    use std::path::Path;
    use std::sync::Arc;

    #[test]
    fn every_setting_about_servers_is_read_and_what_is_wrong_has_its_line() {
        let path: Arc<Path> = Arc::from(Path::new("config.toml"));
        let (config, found) = Config::read(
            r#"
[mcp.tracker]
command = "tracker-mcp"
args = ["--read-only"]
env = { TOKEN = "${TRACKER_TOKEN}" }
cwd = "~/work"
hosts = ["api.example.com"]
aliases = { search = "search_issues" }

[mcp.docs]
type = "streamable-http"
url = "https://docs.example.com/mcp"
headers = { Authorization = "Bearer ${DOCS}" }
disabled = true

[mcp.odd]
comand = "x"
type = "pigeon"
"#,
            &path,
        );
        let tracker = &config.mcp["tracker"];
        assert_eq!((tracker.command.as_deref(), &*tracker.args[0]), (Some("tracker-mcp"), "--read-only"));
        assert_eq!((&*tracker.env["TOKEN"], tracker.cwd.as_deref()), ("${TRACKER_TOKEN}", Some("~/work")));
        assert_eq!((&*tracker.hosts[0], &*tracker.aliases["search"]), ("api.example.com", "search_issues"));
        let docs = &config.mcp["docs"];
        assert_eq!((docs.transport, docs.disabled), (Some(McpTransport::Http), true));
        assert_eq!((docs.url.as_deref(), docs.headers.len()), (Some("https://docs.example.com/mcp"), 1));
        let lines: Vec<_> = found.iter().map(|found| (found.line().unwrap(), found.code.name())).collect();
        assert_eq!(lines, [(17, "config-unknown-key"), (18, "config-invalid")]);
    }
}

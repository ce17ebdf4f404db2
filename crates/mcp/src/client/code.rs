//! Every code this part can report, with the sentence for the reference page.

use metier_diagnostic::codes;

codes! {
    Error {
        MCP_FILE_INVALID "mcp-file-invalid" "A file that names MCP servers is not JSON, or not an object with `mcpServers`. None of its servers is used."
        MCP_SERVER_INVALID "mcp-server-invalid" "What is said about an MCP server cannot be used: neither a command nor an address, a host that is none, a variable that is not set. The server is left out; the others are there."
    }
    Warning {
        MCP_SERVER_RENAMED "mcp-server-renamed" "The name of an MCP server has characters that no tool's name can have, or belongs to another server. It goes by the label that is shown."
        MCP_SERVER_CHANGED "mcp-server-changed" "A project's MCP server is other than it was when the project was trusted. It is not started until the project is trusted again."
        MCP_SERVER_SSE "mcp-server-sse" "The server is said to speak the HTTP of before 2025. metier speaks the streamable one, which most such servers have by now, and tries that."
    }
    Info {
        MCP_SERVER_UNTRUSTED "mcp-server-untrusted" "A project names an MCP server and is not trusted, so the server is not started."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        let mut names: Vec<_> = ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
        assert!(ALL.iter().all(|code| code.summary().ends_with('.')));
    }
}

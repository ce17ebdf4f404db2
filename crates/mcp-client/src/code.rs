//! Diagnostics of the MCP client, with their texts for the reference page.

use metier_diagnostic::codes;

codes! {
    Error {
        MCP_FILE_INVALID "mcp-file-invalid" "A file of MCP servers is not valid JSON, or not an object with `mcpServers`. None of its servers is used."
        MCP_SERVER_INVALID "mcp-server-invalid" "The configuration of an MCP server is invalid: it has neither a command nor a URL, an invalid host, or a variable that is not set. This server is ignored; the others are used."
    }
    Warning {
        MCP_SERVER_RENAMED "mcp-server-renamed" "The name of an MCP server has characters that tool names cannot contain, or is in use by another server. The server gets the label that is shown."
        MCP_SERVER_CHANGED "mcp-server-changed" "A project's MCP server has changed since the project was trusted. It is not started until the project is trusted again."
        MCP_SERVER_SSE "mcp-server-sse" "The server is configured for the SSE transport of before 2025. metier uses streamable HTTP instead, which most such servers support."
    }
    Info {
        MCP_SERVER_UNTRUSTED "mcp-server-untrusted" "An MCP server of a project is not started because the project is not trusted."
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

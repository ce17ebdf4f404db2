//! H4: An MCP server that appears after trust is not started, whatever its name folds to.

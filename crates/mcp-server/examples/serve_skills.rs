//! Serves the skills of a folder on standard input and output: `cargo run -p metier-mcp-server --example serve_skills -- FOLDER`.
//!
//! It is its own sandbox helper, and the tests of this crate use it as theirs.

use metier_mcp_server::Server;
use metier_runtime::{Skills, begin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // This must run before any other thread starts: the sandbox helper is this program again.
    begin(std::env::args_os());
    let folder = std::env::args_os().nth(1).ok_or("usage: serve_skills FOLDER")?;
    let skills = Skills::builder().root(folder).watch().open();
    let server = Server::builder(skills).open()?;
    tokio::runtime::Runtime::new()?.block_on(server.serve_stdio())?;
    Ok(())
}

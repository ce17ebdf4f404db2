//! Serves the skills of a folder to whoever is at standard input and output:
//! `cargo run -p metier-mcp --example serve_skills -- FOLDER`.
//!
//! It is its own helper, and the tests of this crate use it as theirs.

use metier_mcp::server::Server;
use metier_runtime::{Skills, begin};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Before there is any other thread: what contains a process is this program again.
    begin(std::env::args_os());
    let folder = std::env::args_os().nth(1).ok_or("which folder?")?;
    let skills = Skills::builder().root(folder).watch().open();
    let server = Server::builder(skills).open()?;
    tokio::runtime::Runtime::new()?.block_on(server.serve_stdio())?;
    Ok(())
}

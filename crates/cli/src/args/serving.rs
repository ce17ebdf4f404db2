//! What can be said about serving skills to other agents: `mcp` and `serve`.

use clap::{Args, ValueEnum};
use metier_http::{DEFAULT_BODY_TIMEOUT, DEFAULT_CONNECTIONS, DEFAULT_HEAD_TIMEOUT, DEFAULT_PER_ADDRESS};
use std::net::SocketAddr;
use std::num::NonZeroUsize;

/// Serves skills to another agent over MCP, at standard input and output
///
/// A host starts this by itself: `--print-config` prints what to write into its configuration. It gets the trusted skills that are
/// found from here, as tools, as prompts, and as files by the extension for skills. What a skill runs is contained; what would
/// ask is asked by the host where it can, and refused with the rule that would allow it where it cannot. docs/mcp.md has the
/// whole story.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier mcp --print-config claude-desktop     what to write where
  metier mcp --print-config vscode --root ~/skills
  metier mcp --skill review                    one skill alone, with the tools that name none")]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) bound: BoundTo,
    /// Prints the configuration for a host, and where it goes, instead of serving
    #[arg(long, value_name = "HOST")]
    pub(crate) print_config: Option<Host>,
}

/// Serves skills to other agents over HTTP, until Ctrl-C
///
/// The address and the token are printed; the token is kept in a file that only you can read, so that it is the same the next time.
/// Requests for other names than this machine's, and from pages of other sites, are not answered.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier serve                                 http://127.0.0.1:6384/mcp
  metier serve --listen 127.0.0.1:0 --json     any free port; address and token for programs
  metier serve --listen 192.168.1.7:6384 --host-name box.local")]
pub(crate) struct Serve {
    /// Where to listen: this machine alone, unless you say otherwise; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6384")]
    pub(crate) listen: SocketAddr,
    /// Asks for no token: everybody on this machine can use your skills; not possible for other addresses
    #[arg(long)]
    pub(crate) no_token: bool,
    /// Makes a new token; the one before is not taken any more
    #[arg(long, conflicts_with = "no_token")]
    pub(crate) new_token: bool,
    /// Answers requests for this name, too; without it, for this machine's own (repeatable)
    #[arg(long = "host-name", value_name = "NAME")]
    pub(crate) host_names: Vec<String>,
    /// Connections at once; at most half of the descriptors that this process may open
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CONNECTIONS, value_parser = positive)]
    pub(crate) max_connections: usize,
    /// Connections at once from one address
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PER_ADDRESS, value_parser = positive)]
    pub(crate) max_per_address: usize,
    /// Time for a request's head, and for the next request on a connection
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_HEAD_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) head_timeout: u64,
    /// Time for a request's body; an answer may take any time
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_BODY_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) body_timeout: u64,
    #[command(flatten)]
    pub(crate) bound: BoundTo,
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse::<NonZeroUsize>().map(NonZeroUsize::get).map_err(|error| error.to_string())
}

/// Whether one skill alone is served.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct BoundTo {
    /// Serves this skill alone, with `run_command_line` and `load_skill_resources`, which name none; all skills without it
    #[arg(long = "skill", value_name = "NAME")]
    pub(crate) skill: Option<String>,
}

/// A program that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    GeminiCli,
    Goose,
    Opencode,
    Vscode,
    Windsurf,
    Zed,
}

impl Host {
    /// The name that `--print-config` takes.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

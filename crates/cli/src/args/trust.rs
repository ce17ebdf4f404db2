//! What can be said about what is used: trust, and skills that are switched off.

use clap::Args;
use std::path::PathBuf;

/// Trusts a project, so that its skills may be offered to a model
///
/// A project's skills are listed but not used until you say so. Trust covers what is there now, and edits of text. Anything
/// else that is new or changed (a skill, script, server, rule, variable, root, model, link, …) is not used until you trust the
/// project again; every command that acts names it, and `--diff` shows it.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Trust {
    /// The project's folder; the project you stand in if left out. Or a skill of an MCP server, mcp.LABEL:NAME, which is approved
    /// as the server lists it now
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) action: TrustAction,
}

/// What to do instead of trusting.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag, and clap takes at most one of them")]
#[group(multiple = false)]
pub(crate) struct TrustAction {
    /// Lists everything that trust would switch on, and changes nothing
    #[arg(long)]
    pub(crate) preview: bool,
    /// Shows what was added, changed and removed since the project was trusted, and changes nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Lists the projects that are trusted
    #[arg(long)]
    pub(crate) list: bool,
    /// Takes trust back
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Trusts a project that you write yourself: later changes are not asked about
    #[arg(long)]
    pub(crate) mine: bool,
}

/// Switches skills on again (`enable`) or off (`disable`) in their root's `.disabled.json`
#[derive(Debug, Args)]
pub(crate) struct Toggle {
    /// The skills: NAME or ORIGIN:NAME
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

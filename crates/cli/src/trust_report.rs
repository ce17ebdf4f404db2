//! What of a trusted project is new or changed and so takes no effect, in one line for every command that acts.

use crate::args::Command;
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Preview, Standing, TrustDiff};

/// Whether a command acts: it runs something of a skill, starts servers, or gives texts to a model.
pub(crate) fn acts(command: &Command) -> bool {
    matches!(
        command,
        Command::Use(_)
            | Command::Exec(_)
            | Command::Prepare(_)
            | Command::Call(_)
            | Command::Resume(_)
            | Command::Mcp(_)
            | Command::Serve(_)
    )
}

/// Says what of the project takes no effect since it is new or changed; nothing in a project that is not trusted, of which
/// nothing takes effect, or that the user writes.
pub(crate) fn tell(surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    if surroundings.layout.standing != Standing::Trusted {
        return Ok(());
    }
    let Some(preview) = Preview::of(&surroundings.layout) else { return Ok(()) };
    if let Some(line) = TrustDiff::of(&preview, &surroundings.layout.trust).line() {
        output.aside(&line)?;
    }
    Ok(())
}

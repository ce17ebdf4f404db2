//! How a message of the user ended, for people and as an exit code.

use crate::command::shell_word;
use crate::event_line::{Told, lines};
use crate::exit::Exit;
use crate::output::{Output, Tone, clean};
use anyhow::Result;
use metier_agent::Answer;
use metier_store::{Ended, EventKind, Outcome};

/// Says why it is not done, what would allow the rest, and what it used. `behind` stands at the end of the last line.
pub(crate) fn tell(answer: &Answer, behind: &str, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return Ok(());
    }
    let ended = &answer.ended;
    // Whoever stopped it knows why, and the view has said so.
    let needs_a_word = !matches!(ended.outcome, Outcome::Done | Outcome::Cancelled);
    if let Some(why) = ended.why.as_deref().filter(|_| needs_a_word) {
        // What it is about stands below, each with the rule that would allow it.
        let is_listed = !answer.needs.is_empty();
        let why = if is_listed { "approval is missing".to_owned() } else { clean(why) };
        output.aside(&format!("{}: {why}", word(ended.outcome)))?;
    }
    for need in &answer.needs {
        output.aside(&format!("  {}", clean(&need.action)))?;
        for rule in &need.rules {
            output.aside(&format!("    allow it with `--allow {}`", shell_word(&clean(rule))))?;
        }
    }
    let told = EventKind::Ended(Ended { why: None, ..ended.clone() });
    if let Some(last) = lines(&told, &mut Told::default()).pop() {
        output.aside(&output.tinted(Tone::Dim, &format!("{}{behind}", last.text)))?;
    }
    Ok(())
}

/// The exit code of an end.
pub(crate) fn exit(outcome: Outcome) -> Exit {
    match outcome {
        Outcome::Done => Exit::Fine,
        Outcome::NeedsYes => Exit::NeedsYes,
        Outcome::Partial | Outcome::Failed | Outcome::Cancelled => Exit::Failed,
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Partial => "not finished",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "stopped",
        Outcome::NeedsYes => "needs a yes",
    }
}

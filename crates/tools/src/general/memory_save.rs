//! `memory_save`: a record for later.

use metier_policy::{Action, Actor};
use metier_runtime::{Field, FieldKind, Form, Input, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;
use metier_store::RecordKind;

use super::memory::{author, tags};
use super::refusal::{Planned, Refused, planned};
use super::{Entry, GeneralTools};

/// How long a record may be, in bytes: about 1,000 tokens, since five of them come back at once.
pub(super) const MAX_TEXT: usize = 4096;

static FORM: Form = Form {
    name: "memory_save",
    description: "Keeps a short record for later sessions: a fact, a decision, what the user prefers. Never a password, key or \
                  token.",
    fields: &[
        Field::required(
            "text",
            FieldKind::Text,
            "What is to be remembered, in a few sentences that stand alone.",
        )
        .or(&["content"]),
        Field::optional("tags", FieldKind::Texts, "Words to find it by."),
        Field::optional(
            "kind",
            FieldKind::Text,
            "What it is about: `user` (who they are), `feedback` (what they said about the work), `project` (holds in this project \
             only), `reference` (where something is found); else `note`.",
        ),
    ],
    example: r#"{"text": "Releases are made from the branch `stable`.", "tags": ["release", "git"]}"#,
};

pub(super) const ENTRY: Entry =
    Entry { tool: Tool::MemorySave, form: &FORM, effect: SideEffect::Writes, plan };

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let text = input.text("text")?;
    if text.len() > MAX_TEXT {
        let many = text.len();
        return Err(input
            .problem(format!("`text` has {many} bytes, more than {MAX_TEXT}; keep what matters"))
            .into());
    }
    let tags = tags(input)?;
    let kind = kind(input)?;
    let (text, author) = (text.to_owned(), author(context));
    let memory = tools.memory()?;
    Ok(planned(Action::tool(Actor::Agent, Tool::MemorySave, None), move || {
        match memory.save(&text, &tags, kind, author.as_ref()) {
            Ok(id) => Ok(ToolResult::done(format!("Saved as {id}."))),
            Err(why) => Err(Refused::Failed(format!("it was not saved: {why}"))),
        }
    }))
}

/// What the record is about, where the model says. What runs leave is not for it to write.
fn kind(input: &Input<'_>) -> Result<RecordKind, Refused> {
    let word = input.optional_text("kind")?.unwrap_or_default().trim().to_lowercase();
    match RecordKind::from_word(&word) {
        Some(kind) if kind != RecordKind::Run => Ok(kind),
        None if word.is_empty() => Ok(RecordKind::default()),
        _ => {
            let what = "`kind` is `user`, `feedback`, `project`, `reference` or `note`";
            Err(input.problem(what.to_owned()).into())
        }
    }
}

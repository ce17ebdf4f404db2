//! `ask_user`: a question to the person for whom the work is done.

use metier_policy::{Action, Actor};
use metier_runtime::{Field, FieldKind, Form, Input, Plan, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;

use super::refusal::Planned;
use super::{Entry, GeneralTools};

/// How many answers are offered. More than these is no choice but a list to be read.
const MAX_OPTIONS: usize = 12;

/// How long a question and an option may be, in characters. What is longer belongs into the text before it.
const MAX_QUESTION: usize = 2000;
const MAX_OPTION: usize = 200;

/// How much of an answer goes into the conversation, in bytes; people paste whole files.
const MAX_ANSWER: usize = 64 * 1024;

static FORM: Form = Form {
    name: "ask_user",
    description: "Asks the user a question and waits for the answer. Ask only what you cannot find out yourself and cannot go on \
                  without.",
    fields: &[
        Field::required("question", FieldKind::Text, "The question, in one or two sentences.")
            .or(&["text", "prompt"]),
        Field::optional(
            "options",
            FieldKind::Texts,
            "Answers to choose from; the user can say something else, too.",
        )
        .or(&["choices"]),
    ],
    example: r#"{"question": "Which branch shall I use?", "options": ["main", "develop"]}"#,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::AskUser, form: &FORM, effect: SideEffect::Asks, plan };

/// Puts questions to the user.
pub trait Ask: Send + Sync {
    /// Asks, and waits for the answer. Both texts are a model's: whoever shows them makes control characters visible.
    fn ask(&self, question: &str, options: &[String]) -> Reply;
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The user said this; one of the options, or something else.
    Said(String),
    /// The user does not want to answer.
    Declined,
    /// Nobody is there.
    Unanswered,
}

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, _context: ToolContext<'a>) -> Planned<'a> {
    let question = input.text("question")?;
    let options = input.texts("options")?;
    if question.chars().count() > MAX_QUESTION {
        let many = question.chars().count();
        return Err(input
            .problem(format!(
                "`question` has {many} characters, more than {MAX_QUESTION}; say the rest before you ask"
            ))
            .into());
    }
    let is_long = options.iter().any(|option| option.chars().count() > MAX_OPTION);
    if options.len() > MAX_OPTIONS || is_long {
        let what = format!("`options` are at most {MAX_OPTIONS} texts of at most {MAX_OPTION} characters");
        return Err(input.problem(what).into());
    }
    let question = question.to_owned();
    let action = Action::tool(Actor::Agent, Tool::AskUser, None);
    Ok(Plan::new(action, move |_| {
        result(tools.ask.as_ref().map_or(Reply::Unanswered, |ask| ask.ask(&question, &options)))
    }))
}

fn result(reply: Reply) -> ToolResult {
    match reply {
        Reply::Said(mut answer) => {
            if answer.len() > MAX_ANSWER {
                answer.truncate(answer.floor_char_boundary(MAX_ANSWER));
                answer.push_str("\n[the rest of the answer is left out]");
            }
            ToolResult::done(format!("The user answered: {answer}"))
        }
        Reply::Declined => ToolResult::done(
            "The user does not want to answer. Go on without, or stop and say what is missing.".to_owned(),
        ),
        Reply::Unanswered => ToolResult::refused(
            "no one can be asked here; decide by what you know, and say what you assumed".to_owned(),
        ),
    }
}

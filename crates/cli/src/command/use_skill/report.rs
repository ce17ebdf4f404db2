//! What `use` says, for people and for programs.

use metier_activation::{Activation, ActivationDraft, ActivationError, ActivationMode, ScopeEnd};
use metier_diagnostic::{Diagnostic, JsonDiagnostic, Position, counted};
use metier_exec::ExecEnv;
use serde::Serialize;
use serde_json::{Value, json};

/// What would be replaced and run.
#[derive(Serialize)]
pub(super) struct Plan {
    digest: String,
    tokens: Vec<Replaced>,
    commands: Vec<Injected>,
    #[serde(serialize_with = "crate::output::as_json", rename = "diagnostics")]
    pub(super) found: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Replaced {
    line: u32,
    column: u32,
    token: String,
    /// `null` where it stays as it is.
    becomes: Option<String>,
}

#[derive(Serialize)]
struct Injected {
    line: u32,
    column: u32,
    command: String,
    /// The command with its values, as the gate judges it; `null` where it stays as text.
    runs: Option<String>,
    /// Why it would not run, or not without a yes.
    stays: Option<String>,
}

impl Plan {
    pub(super) fn of(draft: &ActivationDraft<'_>, bench: &ExecEnv<'_>) -> Result<Self, ActivationError> {
        let plan = draft.plan()?;
        let source = draft.source();
        let body = source.len() - plan.body().len();
        let place = |start: u32| Position::of(source, body + start as usize);
        let tokens = plan.tokens().map(|token| {
            let Position { line, column } = place(token.span.start);
            Replaced { line, column, token: token.token.to_owned(), becomes: token.becomes.map(Into::into) }
        });
        let tokens = tokens.collect();
        let objections = draft.objections(bench)?;
        let commands = plan.commands().iter().zip(objections).map(|(command, objection)| {
            let Position { line, column } = place(command.span.start);
            let (runs, stays) = match &command.line {
                Ok(line) => (Some(line.judged.clone()), objection.map(|decision| decision.to_string())),
                Err(hazard) => (None, Some(hazard.to_string())),
            };
            Injected { line, column, command: command.command.clone(), runs, stays }
        });
        let commands = commands.collect();
        Ok(Self { digest: draft.digest().to_string(), tokens, commands, found: draft.preview()?.diagnostics })
    }

    /// For people: a line each, and nothing more.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} and {}; nothing was run",
            counted(self.tokens.len(), "token", "tokens"),
            counted(self.commands.len(), "command", "commands")
        )];
        for Replaced { line, column, token, becomes } in &self.tokens {
            let becomes =
                becomes.as_ref().map_or_else(|| "stays".to_owned(), |text| format!("becomes {text:?}"));
            lines.push(format!("{line}:{column}  {token}  {becomes}"));
        }
        for Injected { line, column, command, runs, stays } in &self.commands {
            let runs = runs.as_ref().unwrap_or(command);
            lines.push(match stays {
                None => format!("{line}:{column}  would run  {runs}"),
                Some(why) => format!("{line}:{column}  would not run  {runs}  ({why})"),
            });
        }
        lines
    }
}

/// An activation, for programs.
pub(super) fn json(activation: &Activation) -> Value {
    let scope = &activation.scope;
    json!({
        "name": activation.skill.name,
        "origin": activation.skill.origin,
        "digest": activation.digest.to_string(),
        "arguments": activation.arguments.text(),
        "text": activation.text,
        "content": activation.content(),
        "way": match activation.way {
            ActivationMode::Inline => "inline",
            ActivationMode::Fork { .. } => "fork",
        },
        "scope": {
            "fenced": scope.rules.is_fenced(),
            "model": scope.model,
            "effort": scope.effort,
            "max_turns": scope.max_turns,
            "hooks": scope.hooks.is_some(),
            "ends": match scope.end {
                ScopeEnd::NextUserMessage => "next-user-message",
                ScopeEnd::Child => "child",
            },
        },
        "diagnostics": activation.diagnostics.iter().map(JsonDiagnostic::from).collect::<Vec<_>>(),
        "notes": activation.notes,
    })
}

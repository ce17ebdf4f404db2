//! The line in which the user types.

use super::completion::{Completion, complete, hint};
use super::past_lines::{PastLines, is_kept};
use anyhow::{Result, anyhow};
use metier_diagnostic::Paint;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event,
    EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};
use std::borrow::Cow;

/// What stands before a line.
pub(crate) const SIGN: &str = "> ";

/// What the user did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Wrote this.
    Line(String),
    /// Pressed Ctrl-C on an empty line.
    Interrupt,
    /// Has nothing more to say.
    End,
}

/// The line, with its history and what can be completed.
pub(crate) struct Prompt {
    editor: Editor<Known, MemHistory>,
    past: PastLines,
}

impl Prompt {
    pub(crate) fn new(past: PastLines, paint: Paint) -> Result<Self> {
        let colours = if paint == Paint::Colour { ColorMode::Enabled } else { ColorMode::Disabled };
        // Where the answers go to a file the line is still edited at the terminal.
        let behaviour = if crate::screen::out_is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .color_mode(colours)
            .behavior(behaviour)
            .bracketed_paste(true)
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history)?;
        editor.set_helper(Some(Known { names: Vec::new(), paint }));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), EventHandler::Simple(Cmd::Newline));
        editor.bind_sequence(
            KeyEvent(KeyCode::Enter, Modifiers::NONE),
            EventHandler::Conditional(Box::new(BackslashGoesOn)),
        );
        editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(LineFirst)));
        for line in past.read()? {
            editor.add_history_entry(line)?;
        }
        Ok(Self { editor, past })
    }

    /// What can be completed from now on.
    pub(crate) fn know(&mut self, names: Vec<Completion>) {
        if let Some(helper) = self.editor.helper_mut() {
            helper.names = names;
        }
    }

    /// Waits for the user.
    pub(crate) fn read(&mut self) -> Result<Typed> {
        match self.editor.readline(SIGN) {
            Ok(line) => {
                let line = line.replace(GOES_ON, "\n");
                self.remember(&line)?;
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            // The terminal is gone: nobody has anything more to say.
            Err(ReadlineError::Io(error)) if error.raw_os_error() == Some(5) => Ok(Typed::End),
            Err(error) => Err(anyhow!("the terminal cannot be read: {error}")),
        }
    }

    /// Keeps a line for the arrow keys, at once: a chat that is killed keeps them, too.
    pub(crate) fn remember(&mut self, line: &str) -> Result<()> {
        if is_kept(line) {
            self.editor.add_history_entry(line)?;
            self.past.add(&[line.to_owned()])?;
        }
        Ok(())
    }
}

/// A backslash at the end of the line begins another line. The end of the line gets a mark that cannot be seen, by which the
/// backslash is known later: those in what is pasted stay what they are.
struct BackslashGoesOn;

/// The mark, with the backslash before it and the new line behind it. It takes no room on the screen.
const GOES_ON: &str = "\\\u{2060}\n";

impl ConditionalEventHandler for BackslashGoesOn {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_at_end = context.pos() == context.line().len();
        (is_at_end && context.line().ends_with('\\')).then(|| Cmd::Insert(1, GOES_ON[1..].to_owned()))
    }
}

/// Ctrl-C takes back what is typed before it means anything else; Ctrl-Y brings it back.
struct LineFirst;

impl ConditionalEventHandler for LineFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        (!context.line().is_empty()).then_some(Cmd::Kill(Movement::WholeBuffer))
    }
}

/// The names that can be completed.
struct Known {
    names: Vec<Completion>,
    paint: Paint,
}

impl Helper for Known {}

impl Validator for Known {}

impl Completer for Known {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Self::Candidate>)> {
        let (start, found) = complete(&self.names, line, cursor);
        let sign = line.get(start..start + 1).unwrap_or_default();
        let pair = |completion: &Completion| Pair {
            display: format!("{sign}{}", completion.name),
            replacement: format!("{sign}{} ", completion.name),
        };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Hinter for Known {
    type Hint = String;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        hint(&self.names, line).filter(|_| cursor == line.len()).map(str::to_owned)
    }
}

impl Highlighter for Known {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(crate::output::tinted(self.paint, crate::output::Tone::Dim, hint))
    }
}

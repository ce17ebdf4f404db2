//! `chat`: message and answer, at a terminal or line by line.

use crate::args::Chat as Args;
use crate::cast::Cast;
use crate::chat::{Chat, PastLines, Prompt, SIGN, Stopping, Typed};
use crate::ending;
use crate::exit::Exit;
use crate::keyboard::{self, Listening, Taken};
use crate::outfit::Outfit;
use crate::output::{Output, Tone, clean, tinted};
use crate::screen;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_agent::{Answer, UserMessage};
use metier_definition::{BuiltinCommand, SlashInput};
use metier_diagnostic::{Paint, counted};
use metier_store::{By, Outcome};
use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

pub(crate) fn run(args: &Args, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let named: Vec<String> = match (&args.agent, &args.resume) {
        (None, Some(typed)) => leader(typed, surroundings)?.into_iter().collect(),
        (agent, _) => agent.iter().cloned().collect(),
    };
    let cast = match Cast::find(&named, &args.working, surroundings, output)? {
        Ok(cast) => cast,
        Err(exit) => return Ok(exit),
    };
    // Where metier speaks to a program, or nobody types, each line is a message.
    let is_typed = keyboard::can_ask() && !output.is_json();
    let outfit = Outfit::ready(&cast, &args.working, output)?;
    let stopping = Stopping::listen(is_typed)?;
    let view = outfit.view(output, None);
    let mut chat = Chat::new(outfit, cast.agents.into_iter().next(), view, stopping);
    greet(&chat, output)?;
    if let Some(id) = &args.resume {
        let text = chat.tell(BuiltinCommand::Resume, id)?;
        tell("resume", &text, output)?;
    }
    if !is_typed {
        return talk(&mut chat, &mut None, output);
    }
    let prompt = Prompt::new(PastLines::of(&chat.outfit.surroundings.places), output.paint())?;
    talk(&mut chat, &mut Some(Terminal { prompt, waiting: VecDeque::new() }), output)?;
    if let Some(id) = chat.session() {
        let text = format!("`metier chat --resume {}` goes on with it", id.short());
        output.aside(&output.tinted(Tone::Dim, &text))?;
    }
    Ok(Exit::Fine)
}

/// Who led a conversation: whoever began it goes on with it.
fn leader(typed: &str, surroundings: &Surroundings) -> Result<Option<String>> {
    let Some(store) = surroundings.store()? else {
        bail!("nothing was said yet, so there is nothing to go on with; `metier chat` begins a conversation");
    };
    Ok(store.session(store.find(typed)?)?.agent)
}

/// One line about what there is.
fn greet(chat: &Chat, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return Ok(());
    }
    let outfit = &chat.outfit;
    let model = match &outfit.offline {
        Some(why) => format!("no language model ({why})"),
        None => format!("model {}", outfit.agent.model_name()),
    };
    let skills = counted(outfit.skills.snapshot().loaded(), "skill", "skills");
    let text = format!("metier {}; {model}; {skills}; `/help` lists commands", env!("CARGO_PKG_VERSION"));
    output.aside(&output.tinted(Tone::Dim, &text))
}

/// Reads lines and works for each, until there are no more: how the last of them ended that went wrong.
fn talk(chat: &mut Chat, terminal: &mut Option<Terminal>, output: &mut Output) -> Result<Exit> {
    let mut worst = Exit::Fine;
    loop {
        let exit = if chat.broken_off.is_some() {
            at_work(terminal, output, || chat.go_on())?
        } else {
            let line = match terminal {
                Some(terminal) => terminal.line(chat, output)?,
                None => streamed_line()?,
            };
            let Some(line) = line else { return Ok(worst) };
            match chat.read(&line) {
                SlashInput::Nothing => Exit::Fine,
                SlashInput::BuiltIn(BuiltinCommand::Exit, _) => return Ok(worst),
                SlashInput::BuiltIn(built_in, rest) => answer_self(chat, built_in, &rest, output)?,
                SlashInput::Answer(text) => {
                    tell("unknown", &clean(&text), output)?;
                    Exit::Failed
                }
                SlashInput::Skill { name, .. } if !may_go(chat, &name, output)? => Exit::Failed,
                line => at_work(terminal, output, || said(chat, line))?,
            }
        };
        worst = if exit == Exit::Fine { worst } else { exit };
    }
}

/// A line of a chat with a program, or with a file.
fn streamed_line() -> Result<Option<String>> {
    let mut line = Vec::new();
    let mut input = io::stdin().lock().take(super::run::MAX_REQUEST);
    let read = input.read_until(b'\n', &mut line).context("standard input")?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}

/// Where a person types.
struct Terminal {
    prompt: Prompt,
    /// What was typed while the agent worked.
    waiting: VecDeque<String>,
}

impl Terminal {
    /// The next line; `None` where the person leaves.
    fn line(&mut self, chat: &Chat, output: &mut Output) -> Result<Option<String>> {
        if let Some(line) = self.waiting.pop_front() {
            // It was typed while something else stood on the screen.
            output.line(format!("{SIGN}{}", clean(&line)))?;
            output.flush()?;
            self.prompt.remember(&line)?;
            return Ok(Some(line));
        }
        self.prompt.know(chat.completions());
        let mut is_leaving = false;
        loop {
            match self.prompt.read()? {
                Typed::Line(line) => return Ok(Some(line)),
                Typed::Interrupt if !is_leaving => is_leaving = true,
                Typed::Interrupt | Typed::End => return Ok(None),
            }
            output.aside("Ctrl-C once more, Ctrl-D or `/exit` leaves")?;
        }
    }
}

/// Lets the agent work, and says how that ended. At a terminal the keyboard is listened to meanwhile, and what was typed waits.
fn at_work(
    terminal: &mut Option<Terminal>,
    output: &mut Output,
    work: impl FnOnce() -> Result<Worked>,
) -> Result<Exit> {
    let Some(Terminal { prompt, waiting }) = terminal else { return show(work(), output) };
    let paint = output.paint();
    let listening = Listening::begin(move |taken| tell_taken(taken, paint))?;
    let worked = work();
    let typed = listening.end();
    let is_stopped = worked.as_ref().is_ok_and(|(answer, _)| answer.ended.outcome == Outcome::Cancelled);
    let exit = show(worked, output)?;
    if is_stopped && !typed.is_empty() {
        // Whoever stops the agent wants to think again, and not to have the rest sent after it.
        let number = counted(typed.len(), "message was", "messages were");
        let them = if typed.len() == 1 { "it" } else { "them" };
        output.aside(&format!("{number} not sent; the arrow keys bring {them} back"))?;
        typed.iter().try_for_each(|line| prompt.remember(line))?;
    } else {
        waiting.extend(typed);
    }
    Ok(exit)
}

fn answer_self(chat: &mut Chat, built_in: BuiltinCommand, rest: &str, output: &mut Output) -> Result<Exit> {
    // A command that fails is no reason to end a conversation.
    let text = chat.tell(built_in, rest).unwrap_or_else(|error| format!("error: {error:#}"));
    tell(built_in.name(), &text, output)?;
    Ok(Exit::Fine)
}

/// An answer of metier's own.
fn tell(command: &str, text: &str, output: &mut Output) -> Result<()> {
    if output.is_json() {
        output.json(&json!({ "type": "told", "command": command, "text": text }))?;
    } else {
        output.block(text)?;
    }
    output.flush()
}

/// Whether the skill that the user names can be started; says so where it cannot.
fn may_go(chat: &Chat, name: &str, output: &mut Output) -> Result<bool> {
    let why = chat.closed(name);
    if let Some(why) = &why {
        tell("skill", &clean(why), output)?;
    }
    Ok(why.is_none())
}

/// What came of a piece of work, and what is to be said behind it.
type Worked = (Answer, Option<String>);

/// Gives a line to the agent.
fn said(chat: &mut Chat, line: SlashInput) -> Result<Worked> {
    let message = match line {
        SlashInput::Skill { name, arguments } => UserMessage::Skill { by: By::User, name, arguments },
        SlashInput::Message(text) => chat.message(text),
        SlashInput::Expanded(expanded) => chat.message(expanded.message()),
        // Whoever reads lines has answered these.
        SlashInput::Nothing | SlashInput::BuiltIn(..) | SlashInput::Answer(_) => {
            bail!("there is nothing to say")
        }
    };
    Ok((chat.send(message)?, None))
}

/// How a message ended. What went wrong with it is no reason to end the conversation.
fn show(worked: Result<Worked>, output: &mut Output) -> Result<Exit> {
    match worked {
        Ok((answer, behind)) => {
            ending::tell(&answer, "", output)?;
            behind.map_or(Ok(()), |text| output.aside(&text))?;
            Ok(ending::exit(answer.ended.outcome))
        }
        Err(error) => {
            crate::output::complain(&error);
            Ok(Exit::Failed)
        }
    }
}

/// One message at a time: whatever is typed meanwhile waits, and that is said.
fn tell_taken(taken: Taken, paint: Paint) {
    let text = match taken {
        Taken::Waits(1) => "[queued] this message is sent when the one before it is done".to_owned(),
        Taken::Waits(number) => format!("[queued] {number} messages are sent when this one is done"),
        Taken::TooMany => "[busy] too many messages wait; this one was dropped".to_owned(),
        Taken::Nothing => return,
    };
    screen::err_line(tinted(paint, Tone::Caution, &text));
}

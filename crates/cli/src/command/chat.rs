//! `chat`: message and answer, at a terminal or line by line.

use crate::args::Chat as Args;
use crate::cast::Cast;
use crate::chat::{Chat, Line, PastLines, Prompt, SIGN, Stopping, Typed};
use crate::ending;
use crate::exit::Exit;
use crate::history_place;
use crate::keyboard::{self, Listening, Taken};
use crate::outfit::Outfit;
use crate::output::{Output, Tone, clean, tinted};
use crate::screen;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_agent::{Answer, UserMessage};
use metier_definition::BuiltinCommand;
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
    if is_typed { typed(chat, output) } else { streamed(chat, output) }
}

/// Who led a conversation: whoever began it goes on with it.
fn leader(typed: &str, surroundings: &Surroundings) -> Result<Option<String>> {
    let Some(store) = history_place::existing(&surroundings.places)? else {
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

/// A chat at a terminal.
fn typed(mut chat: Chat, output: &mut Output) -> Result<Exit> {
    let mut prompt = Prompt::new(PastLines::of(&chat.outfit.surroundings.places), output.paint())?;
    let mut waiting: VecDeque<String> = VecDeque::new();
    let mut is_leaving = false;
    loop {
        if chat.broken_off.is_some() {
            at_work(&mut prompt, &mut waiting, output, || chat.go_on())?;
            continue;
        }
        let line = if let Some(line) = waiting.pop_front() {
            // It was typed while something else stood on the screen.
            output.line(format!("{SIGN}{}", clean(&line)))?;
            output.flush()?;
            prompt.remember(&line)?;
            line
        } else {
            prompt.know(chat.completions());
            match prompt.read()? {
                Typed::Line(line) => line,
                Typed::End => break,
                Typed::Interrupt if is_leaving => break,
                Typed::Interrupt => {
                    is_leaving = true;
                    output.aside("Ctrl-C once more, Ctrl-D or `/exit` leaves")?;
                    continue;
                }
            }
        };
        is_leaving = false;
        match Line::read(&line, &chat) {
            Line::Nothing => {}
            Line::BuiltIn(BuiltinCommand::Exit, _) => break,
            Line::BuiltIn(built_in, rest) => answer_self(&mut chat, built_in, &rest, output)?,
            Line::Answer(text) => tell("unknown", &clean(&text), output)?,
            Line::Skill { name, .. } if !may_go(&chat, &name, output)? => {}
            line @ (Line::Message { .. } | Line::Skill { .. }) => {
                at_work(&mut prompt, &mut waiting, output, || said(&mut chat, line))?;
            }
        }
    }
    if let Some(id) = chat.session() {
        let text = format!("`metier chat --resume {}` goes on with it", id.short());
        output.aside(&output.tinted(Tone::Dim, &text))?;
    }
    Ok(Exit::Fine)
}

/// Listens to the keyboard while the agent works, and says how that ended. What was typed meanwhile waits.
fn at_work(
    prompt: &mut Prompt,
    waiting: &mut VecDeque<String>,
    output: &mut Output,
    work: impl FnOnce() -> Result<Worked>,
) -> Result<()> {
    let paint = output.paint();
    let listening = Listening::begin(move |taken| tell_taken(taken, paint))?;
    let worked = work();
    let typed = listening.end();
    let is_stopped = worked.as_ref().is_ok_and(|(answer, _)| answer.ended.outcome == Outcome::Cancelled);
    show(worked, output)?;
    if is_stopped && !typed.is_empty() {
        // Whoever stops the agent wants to think again, and not to have the rest sent after it.
        let number = counted(typed.len(), "message was", "messages were");
        let them = if typed.len() == 1 { "it" } else { "them" };
        output.aside(&format!("{number} not sent; the arrow keys bring {them} back"))?;
        typed.iter().try_for_each(|line| prompt.remember(line))?;
    } else {
        waiting.extend(typed);
    }
    Ok(())
}

/// A chat with a program, or with a file: a line is a message.
fn streamed(mut chat: Chat, output: &mut Output) -> Result<Exit> {
    let mut worst = Exit::Fine;
    let mut input = io::stdin().lock();
    loop {
        if chat.broken_off.is_some() {
            let exit = show(chat.go_on(), output)?;
            worst = if exit == Exit::Fine { worst } else { exit };
        }
        let mut line = Vec::new();
        let read = (&mut input)
            .take(super::run::MAX_REQUEST)
            .read_until(b'\n', &mut line)
            .context("standard input")?;
        if read == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        match Line::read(&line, &chat) {
            Line::Nothing => {}
            Line::BuiltIn(BuiltinCommand::Exit, _) => break,
            Line::BuiltIn(built_in, rest) => answer_self(&mut chat, built_in, &rest, output)?,
            Line::Answer(text) => {
                tell("unknown", &clean(&text), output)?;
                worst = Exit::Failed;
            }
            Line::Skill { name, .. } if !may_go(&chat, &name, output)? => worst = Exit::Failed,
            line @ (Line::Message { .. } | Line::Skill { .. }) => {
                let exit = show(said(&mut chat, line), output)?;
                worst = if exit == Exit::Fine { worst } else { exit };
            }
        }
    }
    Ok(worst)
}

fn answer_self(chat: &mut Chat, built_in: BuiltinCommand, rest: &str, output: &mut Output) -> Result<()> {
    match chat.tell(built_in, rest) {
        Ok(text) => tell(built_in.name(), &text, output),
        // A command that fails is no reason to end a conversation.
        Err(error) => tell(built_in.name(), &format!("error: {error:#}"), output),
    }
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
fn said(chat: &mut Chat, line: Line) -> Result<Worked> {
    let answer = match line {
        Line::Skill { name, arguments } => chat.send(UserMessage::Skill { by: By::User, name, arguments }),
        Line::Message { text, names } if names.is_empty() => chat.send(UserMessage::Text(text)),
        Line::Message { text, names } => chat.send(UserMessage::Mentions { text, skills: names }),
        // Whoever reads lines has answered these.
        Line::Nothing | Line::BuiltIn(..) | Line::Answer(_) => bail!("there is nothing to say"),
    };
    Ok((answer?, None))
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

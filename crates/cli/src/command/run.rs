//! `run`: a request, the right skill, the work.

use super::trust_question;
use crate::agency::Presence;
use crate::args::{Global, Run};
use crate::declared::may_start;
use crate::ending;
use crate::exit::Exit;
use crate::outfit::{Outfit, Wishes};
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_agent::{Halt, Talk};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal, Read};

/// The longest request that is read. A model's window is smaller than this.
const MOST_REQUEST: u64 = 4 << 20;

pub(crate) fn run(
    args: &Run,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    may_start(surroundings)?;
    let request = request(args)?;
    let presence = Presence::of(args.no_input);
    let surroundings = &trust_question::settle(surroundings, global, presence, output)?;
    let wishes = Wishes { model: args.model.model.as_deref(), max_turns: args.max_turns, presence };
    let outfit = Outfit::ready(&wishes, global, surroundings, output)?;
    outfit.tell_untrusted(output)?;
    let halt = Halt::new()?;
    stop_on_signal(&halt)?;
    let view = outfit.view(global, output);
    let company = outfit.company(&view, halt);
    let mut talk = Talk::begin(&outfit.agent, outfit.setting(), &request, company)?;
    let answer = talk.work()?;
    view.close();
    outfit.keep_answers(surroundings)?;
    let behind = format!("; `metier log {}` shows it again", talk.id().short());
    ending::tell(&answer, &behind, output)?;
    outfit.tell_offline(output)?;
    Ok(ending::exit(answer.ended.outcome))
}

/// What the user wants: the words behind the command, else standard input.
fn request(args: &Run) -> Result<String> {
    let words = args.request.join(" ");
    if !words.trim().is_empty() && words.trim() != "-" {
        return Ok(words);
    }
    if words.trim() != "-" && io::stdin().is_terminal() {
        bail!("say what is to be done: `metier run \"add buy milk to my todo list\"`");
    }
    let mut text = String::new();
    io::stdin().lock().take(MOST_REQUEST).read_to_string(&mut text).context("standard input")?;
    if text.trim().is_empty() {
        bail!("standard input is empty; say what is to be done");
    }
    Ok(text)
}

/// The first Ctrl-C ends the run in good order; the second one ends metier, and with it everything that runs.
pub(super) fn stop_on_signal(halt: &Halt) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let halt = halt.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in &mut signals {
            if halt.is_said() {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            halt.halt();
        }
    })?;
    Ok(())
}

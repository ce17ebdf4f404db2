//! `run`: a request, the right skill, the work.

use crate::args::Run;
use crate::cast::Cast;
use crate::ending;
use crate::exit::Exit;
use crate::keyboard;
use crate::outfit::Outfit;
use crate::output::{self, Output};
use crate::signals;
use crate::slash_line::{self, Typed};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_agent::{CancelToken, Session, UserMessage};
use metier_catalog::{Lookup, Reference};
use metier_runtime::Skills;
use metier_store::By;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, IsTerminal, Read};

/// The longest request that is read. A model's window is smaller than this.
pub(super) const MAX_REQUEST: u64 = 4 << 20;

pub(crate) fn run(args: &Run, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let mut request = match request(args) {
        Ok(request) => request,
        // Nothing was asked for, so nothing has failed.
        Err(why) => {
            output::complain(&why);
            return Ok(Exit::Usage);
        }
    };
    let cast = match Cast::find(&args.agents, &args.working, surroundings, output)? {
        Ok(cast) => cast,
        Err(exit) => return Ok(exit),
    };
    let mut started = None;
    if let Some(agent) = cast.agents.first() {
        match slash_line::read(&request, agent) {
            Typed::Request(words) => request = words,
            Typed::Skill(name, arguments) => started = Some((name, arguments)),
            Typed::Answer(text, exit) => {
                output.text(&text)?;
                return Ok(exit);
            }
        }
    }
    let outfit = Outfit::ready(&cast, &args.working, output)?;
    let cancel = CancelToken::new()?;
    stop_on_signal(&cancel)?;
    let view = outfit.view(output, None);
    if cast.agents.is_empty() {
        started = named_skill(&request, &outfit.skills);
    }
    // The planner that needs no model reads the name itself, and would know less in a sub-agent.
    let message = match started.filter(|_| outfit.offline.is_none()) {
        Some((name, arguments)) => UserMessage::Skill { by: By::User, name, arguments },
        None => UserMessage::Text(request),
    };
    let hooks = outfit.hooks(&view, cancel);
    let mut session = Session::start(&outfit.agent, outfit.setting(), message, hooks)?;
    let answer = session.run()?;
    view.close();
    let behind = format!("; `metier log {}` shows it again", session.id().short());
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
    io::stdin().lock().take(MAX_REQUEST).read_to_string(&mut text).context("standard input")?;
    if text.trim().is_empty() {
        bail!("standard input is empty; say what is to be done");
    }
    Ok(text)
}

/// The skill that a request names as `/name arguments`. Other words with a slash before them are just words.
fn named_skill(request: &str, skills: &Skills) -> Option<(String, String)> {
    let rest = request.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let reference: Reference = name.parse().ok()?;
    let snapshot = skills.snapshot();
    let is_skill = matches!(snapshot.find(&reference), Lookup::Found(..) | Lookup::Unusable(..));
    is_skill.then(|| (name.to_owned(), arguments.trim().to_owned()))
}

/// The first Ctrl-C ends the run in good order; the second one ends metier, and with it everything that runs.
pub(super) fn stop_on_signal(cancel: &CancelToken) -> Result<()> {
    let cancel = cancel.clone();
    signals::hear(&[SIGINT, SIGTERM], move |signal| {
        if cancel.is_cancelled() {
            keyboard::restore();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
        cancel.cancel();
        // An open question gets a no: nobody waits for what it is about.
        keyboard::interrupt();
    })
}

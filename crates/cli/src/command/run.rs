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
use metier_agent::{Halt, Invocation, Talk};
use metier_catalog::{Lookup, Reference};
use metier_runtime::Skills;
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
    // The planner that needs no model reads the name itself, and would know less in a child.
    let named = named_skill(&request, &outfit.skills).filter(|_| outfit.offline.is_none());
    let answer = match named {
        Some(named) => talk.work_with(&[named])?,
        None => talk.work()?,
    };
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

/// The skill that a request names as `/name arguments`. Other words with a slash before them are just words.
fn named_skill(request: &str, skills: &Skills) -> Option<Invocation> {
    let rest = request.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let reference: Reference = name.parse().ok()?;
    let snapshot = skills.snapshot();
    let is_skill = matches!(snapshot.find(&reference), Lookup::Found(..) | Lookup::Unusable(..));
    is_skill.then(|| Invocation::new(name, arguments.trim()))
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

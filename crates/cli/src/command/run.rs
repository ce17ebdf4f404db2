//! `run`: a request, the right skill, the work.

use super::trust_question;
use crate::agency::Presence;
use crate::agent_choice::{self, AgentChoice};
use crate::args::{Global, Run};
use crate::declared::may_start;
use crate::ending;
use crate::exit::Exit;
use crate::outfit::{Outfit, Wishes};
use crate::output::{Output, clean};
use crate::slash_line::{self, Typed};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_agent::{Halt, Talk};
use metier_catalog::{Lookup, Reference};
use metier_diagnostic::Severity;
use metier_runtime::Skills;
use metier_store::By;
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
    let presence = Presence::of(args.no_input);
    // Before anything else: an agent of a project is looked for where the project is trusted by then.
    let surroundings = &trust_question::settle(surroundings, global, presence, output)?;
    let chosen = chosen(args, global, surroundings)?;
    let surroundings = chosen.first().map_or(surroundings, |agent| &agent.surroundings);
    may_start(surroundings)?;
    let mut request = request(args)?;
    if let Some(exit) = refused(&chosen, output)? {
        return Ok(exit);
    }
    let mut started = None;
    if let Some(agent) = chosen.first() {
        match slash_line::read(&request, agent) {
            Typed::Request(words) => request = words,
            Typed::Skill(name, arguments) => started = Some((name, arguments)),
            Typed::Answer(text, exit) => {
                output.raw(text.as_bytes())?;
                return Ok(exit);
            }
        }
    }
    let model = args.model.model.as_deref();
    let wishes = Wishes { model, max_turns: args.max_turns, presence, agent: chosen.first() };
    let outfit = Outfit::ready(&wishes, global, surroundings, output)?;
    outfit.tell_untrusted(output)?;
    let halt = Halt::new()?;
    stop_on_signal(&halt)?;
    let view = outfit.view(global, output);
    let company = outfit.company(&view, halt);
    let mut talk = Talk::begin(&outfit.agent, outfit.setting(), &request, company)?;
    if chosen.is_empty() {
        started = named_skill(&request, &outfit.skills);
    }
    // The planner that needs no model reads the name itself, and would know less in a child.
    let answer = match started.filter(|_| outfit.offline.is_none()) {
        Some((name, arguments)) => talk.work_with(By::User, &name, &arguments)?,
        None => talk.work()?,
    };
    view.close();
    outfit.keep_answers(surroundings)?;
    let behind = format!("; `metier log {}` shows it again", talk.id().short());
    ending::tell(&answer, &behind, output)?;
    outfit.tell_offline(output)?;
    Ok(ending::exit(answer.ended.outcome))
}

/// The agents that somebody wrote down and `--agent` names.
fn chosen(args: &Run, global: &Global, surroundings: &Surroundings) -> Result<Vec<AgentChoice>> {
    args.agents.iter().map(|named| AgentChoice::find(named, global, surroundings)).collect()
}

/// Says why agents do not start, with everything that is wrong with all of them; nothing where they do.
pub(super) fn refused(chosen: &[AgentChoice], output: &mut Output) -> Result<Option<Exit>> {
    if let Some(agent) = chosen.iter().find(|agent| agent.is_untrusted()) {
        let name = clean(&agent.read.definition.name.value);
        output.aside(&format!(
            "`{name}` is an agent of a project that you have not trusted: it is shown and not run. `metier agents {}` shows it, \
             `metier trust --preview` what trust would switch on",
            clean(&agent.shown())
        ))?;
        return Ok(Some(Exit::NeedsYes));
    }
    if let Some(report) = agent_choice::refusal(chosen, output.paint()) {
        bail!("{}", report.trim_end());
    }
    for agent in chosen {
        let report = agent.report(Severity::Warning, output.paint());
        if !report.is_empty() {
            output.aside(report.trim_end())?;
        }
        if agent.role().is_some_and(|role| !role.servers.is_empty()) {
            let name = clean(&agent.read.definition.name.value);
            output.aside(&format!(
                "the MCP servers of `{name}` are not started: it works without their tools"
            ))?;
        }
    }
    Ok(None)
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
fn named_skill(request: &str, skills: &Skills) -> Option<(String, String)> {
    let rest = request.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let reference: Reference = name.parse().ok()?;
    let snapshot = skills.snapshot();
    let is_skill = matches!(snapshot.find(&reference), Lookup::Found(..) | Lookup::Unusable(..));
    is_skill.then(|| (name.to_owned(), arguments.trim().to_owned()))
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

//! `run`: a request, the right skill, the work.

use crate::agency::{self, Presence};
use crate::args::{Global, Run};
use crate::declared::may_start;
use crate::environment;
use crate::exit::Exit;
use crate::gatekeeper;
use crate::history_place;
use crate::model_choice::{Settled, Wish};
use crate::output::{Form, Output, clean};
use crate::run_view::{Loudness, RunView};
use crate::servers::ask_all;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_agent::{
    Agent, Answer, Company, Halt, Limits, Offer, Offline, OutsideTools, RouterGuide, Setting, Talk, Web,
};
use metier_catalog::{Amount, Entry, LimitsConfig, State};
use metier_diagnostic::counted;
use metier_files::PassingFolder;
use metier_model::{ChatModel, Prices};
use metier_runtime::Skills;
use metier_store::{EventKind, Outcome, Store};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal, Read};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The longest request that is read. A model's window is smaller than this.
const MOST_REQUEST: u64 = 4 << 20;

/// Whom a run asks, and what it says about that.
struct Mind {
    model: Arc<dyn ChatModel>,
    prices: Option<Prices>,
    /// Why no language model is asked, where none is.
    offline: Option<String>,
}

pub(crate) fn run(
    args: &Run,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    may_start(surroundings)?;
    let (surroundings, silent) = &ask_all(surroundings);
    let request = request(args)?;
    let presence = Presence::of(args.no_input);
    let settings = &surroundings.layout.settings.models;
    let wish = Wish {
        named: args.model.model.as_deref(),
        settings,
        variable: &environment::variable,
        shown: &|path| surroundings.shown(path),
    };
    let settled = wish.settle()?;
    let window = match &settled {
        Settled::Model(chosen) => chosen.choice.context.and_then(|tokens| usize::try_from(tokens).ok()),
        Settled::Offline { .. } => None,
    };
    let skills = agency::skills(global, surroundings, presence, window)?;
    for problem in skills.rule_problems() {
        output.aside(&clean(&problem.to_string()))?;
    }
    for server in silent {
        output.aside(&format!(
            "the MCP server `{}` lists nothing: {}",
            clean(&server.uri),
            clean(&server.why)
        ))?;
    }
    let mind = mind(settled, &skills)?;
    let store = Store::open(&history_place::file(&surroundings.places))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let limits = limits(args, settings.limits()?);
    let agent =
        Agent::new(skills.clone(), mind.model, store, Arc::new(runtime)).prices(mind.prices).limits(limits);
    let outside = surroundings.servers.clone().map(|servers| Arc::new(servers) as Arc<dyn OutsideTools>);
    let agent = agent.outside(outside);
    tell_untrusted(&skills, output)?;
    let halt = Halt::new()?;
    stop_on_signal(&halt)?;
    let loudness = if global.quiet { Loudness::AnswerOnly } else { Loudness::Steps };
    let view = Arc::new(RunView::new(output.form(), loudness, presence, output.paint()));
    // What programs wrote beyond what the model got lies here as long as the run lasts.
    let outputs =
        PassingFolder::make(&surroundings.places.temp).context("there is no place for the run's files")?;
    let company = Company { watch: Arc::clone(&view) as _, halt, ask: agency::company(presence) };
    let setting = setting(surroundings, presence, outputs.path());
    let mut talk = Talk::begin(&agent, setting, &request, company)?;
    let answer = talk.work()?;
    view.close();
    gatekeeper::keep_all(surroundings, skills.kept())?;
    finish(&answer, mind.offline.as_deref(), &talk.id().to_string(), output)
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

fn mind(settled: Settled, skills: &Skills) -> Result<Mind> {
    match settled {
        Settled::Model(chosen) => {
            Ok(Mind { model: chosen.model, prices: chosen.choice.prices, offline: None })
        }
        Settled::Offline { why } => {
            let guide = RouterGuide::new(skills.finder());
            Ok(Mind { model: Arc::new(Offline::new(Arc::new(guide))?), prices: None, offline: Some(why) })
        }
    }
}

fn limits(args: &Run, config: &LimitsConfig) -> Limits {
    let usual = Limits::default();
    let number = |said: Option<NonZeroU32>, usual: u64| said.map_or(usual, |said| said.get().into());
    Limits {
        turns: number(args.max_turns.or(config.turns), usual.turns),
        calls: number(config.calls, usual.calls),
        tokens: number(config.tokens, usual.tokens),
        money_micros: config.money.as_ref().map(Amount::micros),
        time: config.seconds.map(|seconds| Duration::from_secs(seconds.get().into())),
        ..usual
    }
}

fn setting(surroundings: &Surroundings, presence: Presence, outputs: &Path) -> Setting {
    let project = surroundings.layout.project.as_ref().map(|project| project.folder.clone());
    Setting {
        project,
        home: surroundings.places.home.clone(),
        outputs: Some(outputs.to_owned()),
        guarded: Vec::new(),
        web: Web::system().ok(),
        commands: Offer::Yes,
        questions: if presence == Presence::Here { Offer::Yes } else { Offer::No },
        memory: Offer::Yes,
    }
}

/// Skills of a project that nobody trusts yet are not offered; whoever runs something there should know.
fn tell_untrusted(skills: &Skills, output: &mut Output) -> Result<()> {
    let snapshot = skills.snapshot();
    let is_untrusted = |(_, entry): &(_, &Entry)| entry.state() == State::Untrusted;
    let (remote, own): (Vec<_>, Vec<_>) =
        snapshot.entries().filter(is_untrusted).partition(|(_, entry)| entry.remote().is_some());
    if !remote.is_empty() {
        output.aside(&format!(
            "{} of MCP servers not used, since you have not approved them: `metier list` shows them, `metier trust NAME` approves one",
            counted(remote.len(), "skill is", "skills are")
        ))?;
    }
    let untrusted = own.len();
    if untrusted > 0 {
        output.aside(&format!(
            "{} of this project not used, since you have not trusted it: `metier trust` shows what that would switch on",
            counted(untrusted, "skill is", "skills are")
        ))?;
    }
    Ok(())
}

/// The first Ctrl-C ends the run in good order; the second one ends metier, and with it everything that runs.
fn stop_on_signal(halt: &Halt) -> Result<()> {
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

fn finish(answer: &Answer, offline: Option<&str>, session: &str, output: &mut Output) -> Result<Exit> {
    let ended = &answer.ended;
    if output.form() == Form::Text {
        if let Some(why) = ended.why.as_deref().filter(|_| ended.outcome != Outcome::Done) {
            output.aside(&format!("{}: {}", word(ended.outcome), clean(why)))?;
        }
        for need in &answer.needs {
            output.aside(&format!("  {}", clean(&need.action)))?;
            for rule in &need.rules {
                output.aside(&format!("    allow it with `--allow '{}'`", clean(rule)))?;
            }
        }
        let mut lines = crate::event_line::lines(
            &EventKind::Ended(metier_store::Ended { why: None, ..ended.clone() }),
            &mut crate::event_line::Told::default(),
        );
        if let Some(last) = lines.pop() {
            let text = format!("{}; `metier log {}` shows it again", last.text, short(session));
            output.aside(&output.tinted(crate::output::Tone::Dim, &text))?;
        }
        if let Some(why) = offline {
            output.aside(&format!(
                "No language model was used: {}. Name one with `--model PROVIDER/MODEL`, or see `metier init`.",
                clean(why)
            ))?;
        }
    }
    Ok(match ended.outcome {
        Outcome::Done => Exit::Fine,
        Outcome::NeedsYes => Exit::NeedsYes,
        Outcome::Partial | Outcome::Failed | Outcome::Cancelled => Exit::Failed,
    })
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Partial => "not finished",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "stopped",
        Outcome::NeedsYes => "needs a yes",
    }
}

/// The end of an id, which is what tells sessions apart.
fn short(session: &str) -> &str {
    session.get(session.len().saturating_sub(6)..).unwrap_or(session)
}

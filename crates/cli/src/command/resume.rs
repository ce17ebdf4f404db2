//! `resume`: goes on with a run that did not come to its end.

use super::run::stop_on_signal;
use crate::agency::Presence;
use crate::args::{Global, Resume};
use crate::declared::may_start;
use crate::ending;
use crate::exit::Exit;
use crate::history_place;
use crate::keyboard;
use crate::outfit::{Outfit, Wishes};
use crate::output::{Form, Output, shortened, width};
use crate::surroundings::Surroundings;
use crate::unfinished::Unfinished;
use anyhow::{Result, bail};
use metier_agent::{Halt, Talk};
use metier_store::{Family, Outcome, SessionFilter, Store, Summary};
use serde_json::json;

pub(crate) fn run(
    args: &Resume,
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let Some(store) = history_place::existing(&surroundings.places)? else {
        bail!(
            "nothing has run yet, so there is nothing to go on with; try `metier run \"what is on my list\"`"
        );
    };
    may_start(surroundings)?;
    let summary = match &args.id {
        Some(typed) => store.session(store.find(typed)?)?,
        None => latest(&store)?,
    };
    if summary.outcome == Some(Outcome::Done) {
        let id = summary.id.short();
        bail!("session {id} is done; `metier chat --resume {id}` says something more to it");
    }
    let unfinished = Unfinished::of(&store, summary.id)?;
    drop(store);
    if !may_go_on(args, &summary, &unfinished, output)? {
        return Ok(Exit::NeedsYes);
    }
    let presence = Presence::of(args.no_input);
    let wishes = Wishes { model: args.model.model.as_deref(), max_turns: args.max_turns, presence };
    let outfit = Outfit::ready(&wishes, global, surroundings, output)?;
    outfit.tell_untrusted(output)?;
    let halt = Halt::new()?;
    stop_on_signal(&halt)?;
    let view = outfit.view(global, output);
    let company = outfit.company(&view, halt);
    let mut talk = Talk::take_up(&outfit.agent, outfit.setting(), summary.id, company)?;
    let answer = talk.work()?;
    view.close();
    outfit.keep_answers(surroundings)?;
    let behind = format!("; `metier log {}` shows it again", talk.id().short());
    ending::tell(&answer, &behind, output)?;
    outfit.tell_offline(output)?;
    Ok(ending::exit(answer.ended.outcome))
}

/// The latest run that is open, was stopped, reached a limit or needs a yes. One that failed has come to its end.
fn latest(store: &Store) -> Result<Summary> {
    let filter = SessionFilter { family: Family::TopLevel, ..SessionFilter::default() };
    let found = store.sessions(&filter)?.into_iter().find(|summary| {
        matches!(summary.outcome, None | Some(Outcome::Partial | Outcome::Cancelled | Outcome::NeedsYes))
    });
    match found {
        Some(summary) => Ok(summary),
        None => bail!("every run has come to its end; `metier runs` lists them"),
    }
}

/// Says what is gone on with, and asks where a step may have happened.
fn may_go_on(args: &Resume, summary: &Summary, unfinished: &Unfinished, output: &mut Output) -> Result<bool> {
    let lines = unfinished.in_words();
    let needs_yes = unfinished.may_have_happened() && !args.yes;
    let can_ask = !args.no_input && keyboard::can_ask();
    if output.form() == Form::Json {
        if needs_yes {
            let rule = "--yes";
            output.json(&json!({
                "type": "needs_yes", "session": summary.id, "unfinished": lines, "allow_with": rule,
            }))?;
        }
        return Ok(!needs_yes);
    }
    let title = shortened(&summary.title, width());
    output.aside(&format!("going on with {}: {title}", summary.id.short()))?;
    for line in &lines {
        output.aside(&format!("  {line}"))?;
    }
    if !needs_yes {
        return Ok(true);
    }
    if !can_ask {
        output.aside("a step may have happened: `metier resume --yes` goes on all the same")?;
        return Ok(false);
    }
    let is_yes = keyboard::is_yes("go on?")?;
    if !is_yes {
        output.aside("nothing was done")?;
    }
    Ok(is_yes)
}

//! `resume`: resumes an interrupted run, in the project it began in.

use super::run::stop_on_signal;
use crate::args::Resume;
use crate::cast::Cast;
use crate::ending;
use crate::exit::Exit;
use crate::keyboard;
use crate::outfit::Outfit;
use crate::output::{Output, clean, shortened, width};
use crate::question;
use crate::resuming::{left_undone, words_to_give};
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_agent::{CancelToken, RetryDecision, Session};
use metier_files::{Kind, kind};
use metier_policy::shell::quote;
use metier_store::{Family, Outcome, SessionFilter, Store, Summary};
use std::path::Path;

pub(crate) fn run(args: &Resume, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let Some(store) = surroundings.store()? else {
        bail!(
            "nothing has run yet, so there is nothing to go on with; try `metier run \"what is on my list\"`"
        );
    };
    let summary = match &args.id {
        Some(typed) => store.session(store.find(typed)?)?,
        None => latest(&store, surroundings.recorded_project(args.all))?,
    };
    if summary.outcome == Some(Outcome::Done) {
        let id = summary.id.short();
        bail!("session {id} is done; `metier chat --resume {id}` says something more to it");
    }
    let surroundings = &match its_surroundings(&summary, args, surroundings, output)? {
        Ok(surroundings) => surroundings,
        Err(exit) => return Ok(exit),
    };
    // Whoever began it goes on with it.
    let named: Vec<String> = summary.agent.iter().cloned().collect();
    let cast = match Cast::find(&named, &args.working, surroundings, output)? {
        Ok(cast) => cast,
        Err(exit) => return Ok(exit),
    };
    let outfit = Outfit::ready(&cast, &args.working, output)?;
    let cancel = CancelToken::new()?;
    stop_on_signal(&cancel)?;
    let decided = match (args.yes, args.leave) {
        (true, _) => Some(RetryDecision::Retry),
        (_, true) => Some(RetryDecision::Skip),
        _ => None,
    };
    let view = outfit.view(output, decided);
    view.recall(&store, summary.id)?;
    let hooks = outfit.hooks(&view, cancel);
    let mut resumed = Session::resume(&outfit.agent, outfit.setting(), summary.id, hooks)?;
    if !output.is_json() {
        let title = shortened(&summary.title, width());
        output.aside(&format!("going on with {}: {title}", summary.id.short()))?;
        for line in left_undone(&resumed) {
            output.aside(&format!("  {line}"))?;
        }
    }
    let answer = resumed.session.run()?;
    view.close();
    let id = resumed.session.id().short();
    ending::tell(&answer, &format!("; `metier log {id}` shows it again"), output)?;
    if let Some(words) = words_to_give(&answer, resumed.uncertain.len(), &id) {
        output.aside(&words)?;
    }
    outfit.tell_offline(output)?;
    Ok(ending::exit(answer.ended.outcome))
}

/// Where a run is resumed: in the project it began in and nowhere else, since its commands and paths are meant for that one. From
/// another folder the person is asked; the exit code where nobody says yes.
fn its_surroundings(
    summary: &Summary,
    args: &Resume,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Result<Surroundings, Exit>> {
    let id = summary.id.short();
    let here = surroundings.recorded_project(false);
    let Some(project) = summary.project.as_ref() else {
        if here.is_some() {
            bail!(
                "run {id} began outside of a project and is not resumed in one; change to a folder outside"
            );
        }
        return Ok(Ok(surroundings.clone()));
    };
    if here.as_ref() == Some(project) {
        return Ok(Ok(surroundings.clone()));
    }
    let folder = Path::new(project);
    if kind(folder) != Kind::Folder {
        bail!("run {id} began in {}, which is gone", clean(project));
    }
    let there = surroundings.seen_from(folder);
    if there.recorded_project(false).as_ref() != Some(project) {
        bail!("run {id} began in {}, which is not a project any more", clean(project));
    }
    if args.working.no_input || !keyboard::can_ask() {
        let command = format!("cd {} && metier resume {id}", quote(project));
        output.aside(&format!(
            "run {id} began in another project, {}; go there: `{}`",
            clean(project),
            clean(&command)
        ))?;
        return Ok(Err(Exit::NeedsYes));
    }
    let lines = vec![
        format!("run {id} began in another project: {}", shortened(&summary.title, width())),
        format!("  {project}"),
        "resume it in that folder?".to_owned(),
    ];
    Ok(if question::is_yes(lines)? { Ok(there) } else { Err(Exit::NeedsYes) })
}

/// The latest run that is open, was stopped, reached a limit or needs a yes. One that failed has come to its end, and one that
/// somebody works on is theirs.
fn latest(store: &Store, project: Option<String>) -> Result<Summary> {
    let is_here = project.is_some();
    let filter = SessionFilter { family: Family::TopLevel, project, ..SessionFilter::default() };
    let mut at_work = None;
    for summary in store.sessions(&filter)? {
        let is_left =
            matches!(summary.outcome, None | Some(Outcome::Partial | Outcome::Cancelled | Outcome::NeedsYes));
        if !is_left {
            continue;
        }
        if store.is_at_work(summary.id) {
            at_work.get_or_insert(summary.id.short());
            continue;
        }
        return Ok(summary);
    }
    match at_work {
        Some(id) => bail!("nothing is left but {id}, on which another metier works right now"),
        None if is_here => {
            bail!(
                "every run of this project has come to its end; `metier resume --all` looks at other projects"
            )
        }
        None => bail!("every run has come to its end; `metier runs --all` lists them"),
    }
}

//! `resume`: goes on with a run that did not come to its end.

use super::run::stop_on_signal;
use crate::agency::Presence;
use crate::args::{Global, Resume};
use crate::cast::Cast;
use crate::ending;
use crate::exit::Exit;
use crate::history_place;
use crate::keyboard;
use crate::output::{Form, Output, clean, shortened, width};
use crate::run_view::RunView;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_agent::{Again, Begun, Company, Further, Halt, Happened, Piece, Reached, Talk, Watch};
use metier_runtime::Change;
use metier_store::{Family, Outcome, SessionFilter, SessionState, Store, Summary};
use std::sync::Arc;

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
    let summary = match &args.id {
        Some(typed) => store.session(store.find(typed)?)?,
        None => latest(&store)?,
    };
    if summary.outcome == Some(Outcome::Done) {
        let id = summary.id.short();
        bail!("session {id} is done; `metier chat --resume {id}` says something more to it");
    }
    // Whoever began it goes on with it.
    let named: Vec<String> = summary.agent.iter().cloned().collect();
    let cast = match Cast::find(&named, &args.working, global, surroundings, output)? {
        Ok(cast) => cast,
        Err(exit) => return Ok(exit),
    };
    let outfit = cast.outfit(&args.working, global, output)?;
    let halt = Halt::new()?;
    stop_on_signal(&halt)?;
    let view = outfit.view(global, output);
    let word = match cast.presence() {
        _ if args.yes => Word::Again,
        _ if args.leave => Word::Leave,
        Presence::Here => Word::Asked,
        Presence::Nobody => Word::None,
    };
    let watch = Arc::new(Resuming { view: Arc::clone(&view), word });
    let company = Company { watch, ..outfit.company(&view, halt) };
    let mut resumed = Talk::resume(&outfit.agent, outfit.setting(), summary.id, company)?;
    if output.form() == Form::Text {
        let title = shortened(&summary.title, width());
        output.aside(&format!("going on with {}: {title}", summary.id.short()))?;
        for begun in &resumed.begun {
            let action = clean(&begun.action);
            output.aside(&format!("  begun and not finished, may have happened: {action}"))?;
        }
        for skill in &resumed.gone {
            output.aside(&format!("  the skill `{}` is gone; its text is still known", clean(skill)))?;
        }
    }
    let answer = resumed.talk.work()?;
    view.close();
    outfit.keep_answers(surroundings)?;
    let id = resumed.talk.id().short();
    ending::tell(&answer, &format!("; `metier log {id}` shows it again"), output)?;
    if answer.ended.outcome == Outcome::NeedsYes && !resumed.begun.is_empty() {
        output.aside(&format!(
            "`metier resume {id} --yes` does it again, `metier resume {id} --leave` goes on without it"
        ))?;
    }
    outfit.tell_offline(output)?;
    Ok(ending::exit(answer.ended.outcome))
}

/// The latest run that is open, was stopped, reached a limit or needs a yes. One that failed has come to its end, and one that
/// somebody works on is theirs.
fn latest(store: &Store) -> Result<Summary> {
    let filter = SessionFilter { family: Family::TopLevel, ..SessionFilter::default() };
    let mut at_work = None;
    for summary in store.sessions(&filter)? {
        let is_left =
            matches!(summary.outcome, None | Some(Outcome::Partial | Outcome::Cancelled | Outcome::NeedsYes));
        if !is_left {
            continue;
        }
        if store.standing(summary.id)?.state == SessionState::AtWork {
            at_work.get_or_insert(summary.id.short());
            continue;
        }
        return Ok(summary);
    }
    match at_work {
        Some(id) => bail!("nothing is left but {id}, on which another metier works right now"),
        None => bail!("every run has come to its end; `metier runs` lists them"),
    }
}

/// What is said about a step that may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// Do it again.
    Again,
    /// Leave it.
    Leave,
    /// Whoever sits at the terminal says it.
    Asked,
    /// Nobody says anything.
    None,
}

/// Looks on as a run does, and has a word about what was begun.
struct Resuming {
    view: Arc<RunView>,
    word: Word,
}

impl Watch for Resuming {
    fn event(&self, event: &Happened) {
        self.view.event(event);
    }

    fn piece(&self, piece: Piece<'_>) {
        self.view.piece(piece);
    }

    fn change(&self, change: &Change) {
        self.view.change(change);
    }

    fn reached(&self, reached: &Reached) -> Further {
        self.view.reached(reached)
    }

    fn begun(&self, begun: &Begun) -> Again {
        match self.word {
            Word::Again => Again::Yes,
            Word::Leave => Again::No,
            Word::None => Again::Nobody,
            Word::Asked => {
                self.view.close();
                let question = format!("{}\n  may have happened; do it again?", clean(&begun.action));
                match keyboard::is_yes(&question) {
                    Ok(true) => Again::Yes,
                    Ok(false) => Again::No,
                    Err(_) => Again::Nobody,
                }
            }
        }
    }
}

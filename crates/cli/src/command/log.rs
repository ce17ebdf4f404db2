//! `log`: what happened in one session, as lines or as events, and as it happens.

use crate::args::{Log, LogFormat};
use crate::crew_log;
use crate::event_json;
use crate::event_line::{Line, Style, Told, ended, lines};
use crate::output::{Output, clean, shortened};
use crate::signals;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_files::{Mode, write_atomic};
use metier_store::{Event, EventKind, EventQuery, Family, SessionFilter, SessionId, Store};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long is waited behind the end of a session for somebody who goes on with it: only as long as it takes to look.
const BEHIND_THE_END: Duration = Duration::from_millis(20);

/// How much of an event is shown that has no line of its own, in characters. `--json` has all of it.
const MAX_DATA: usize = 1_000;

/// How many children are named, and how much of what each was asked for, in characters: a list that is read at a glance.
const MAX_CHILDREN: usize = 20;
const MAX_TITLE: usize = 60;

/// What of a session is shown, and what was.
struct Reader<'a> {
    args: &'a Log,
    /// The session above, where this one is a child.
    parent: Option<SessionId>,
    told: Told,
    /// How many events were shown.
    shown: usize,
    /// The kinds there were, shown or not.
    kinds: BTreeSet<String>,
}

pub(crate) fn run(args: &Log, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let Some(store) = surroundings.store()? else {
        bail!("nothing has run yet; try `metier run \"what is on my list\"`");
    };
    let session = match &args.id {
        Some(typed) => store.find(typed)?,
        None => latest(&store)?,
    };
    if let Some(LogFormat::SkilledCrew) = args.format {
        return export(&store, session, args, surroundings, output);
    }
    let parent = store.session(session)?.parent;
    if let Some(parent) = parent.filter(|_| !output.is_json()) {
        output.comment(format!("a child of session {}", parent.short()))?;
    }
    let mut reader = Reader { args, parent, told: Told::default(), shown: 0, kinds: BTreeSet::new() };
    if args.follow {
        follow(&store, session, &mut reader, output)?;
    } else {
        for event in store.events(&EventQuery::of(session))? {
            reader.take(&event, output)?;
        }
    }
    reader.finish(session, output)?;
    if !output.is_json() && args.kinds.is_empty() {
        list_children(&store, session, output)?;
    }
    Ok(())
}

/// Names the children of a session, each of which has a log of its own.
fn list_children(store: &Store, session: SessionId, output: &mut Output) -> Result<()> {
    let filter = SessionFilter { family: Family::ChildOf(session), ..SessionFilter::default() };
    let mut children = store.sessions(&filter)?;
    if children.is_empty() {
        return Ok(());
    }
    children.sort_by_key(|child| child.id);
    output.comment("children, each with a log of its own: `metier log ID`")?;
    for child in children.iter().take(MAX_CHILDREN) {
        let outcome = child.outcome.map_or("open", ended);
        // One that is a skill has used it; another agent of a crew has a name alone.
        let skills = match (child.skills.as_slice(), &child.agent) {
            ([], Some(agent)) => agent.clone(),
            (skills, _) => skills.join(", "),
        };
        let title = shortened(&child.title, MAX_TITLE);
        output.comment(format!("  {}  {outcome:<11}  {}  {title}", child.id.short(), clean(&skills)))?;
    }
    if children.len() > MAX_CHILDREN {
        output.comment(format!("  and {} more", children.len() - MAX_CHILDREN))?;
    }
    Ok(())
}

/// Writes a session as another system keeps it.
fn export(
    store: &Store,
    session: SessionId,
    args: &Log,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    let lines = crew_log::lines(session, with_children(store, session)?);
    let Some(folder) = &args.save else {
        for line in &lines {
            output.json(line)?;
        }
        return Ok(());
    };
    let short = session.short();
    let name = crew_log::segment(args.name.as_deref().unwrap_or(&short));
    let file = surroundings.places.current.join(folder).join(format!("{name}.jsonl"));
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let text = lines.join("\n") + "\n";
    // What was said in a conversation is nobody else's.
    write_atomic(&file, text.as_bytes(), Mode::Private)
        .with_context(|| format!("{} cannot be written", surroundings.shown(&file)))?;
    output.line(surroundings.shown(&file))
}

/// The events of a session and of all its children.
fn with_children(store: &Store, session: SessionId) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    let mut waiting = vec![session];
    let mut known = BTreeSet::from([session.to_string()]);
    while let Some(next) = waiting.pop() {
        for event in store.events(&EventQuery::of(next))? {
            if let EventKind::ChildBegan { child, .. } = &event.kind
                && known.insert(child.to_string())
            {
                waiting.push(*child);
            }
            events.push(event);
        }
    }
    Ok(events)
}

fn latest(store: &Store) -> Result<SessionId> {
    let filter = SessionFilter { family: Family::TopLevel, limit: Some(1), ..SessionFilter::default() };
    match store.sessions(&filter)?.first() {
        Some(summary) => Ok(summary.id),
        None => bail!("nothing has run yet; try `metier run \"what is on my list\"`"),
    }
}

/// Shows what is there and what comes, until the session has ended or somebody has seen enough.
fn follow(store: &Store, session: SessionId, reader: &mut Reader<'_>, output: &mut Output) -> Result<()> {
    let mut events = store.follow(EventQuery::of(session))?;
    let stop = events.stopper();
    // Before anything is written, so that Ctrl-C ends it well from the first line on.
    signals::hear(&[SIGINT, SIGTERM], move |_| stop.stop())?;
    while let Some(event) = events.next() {
        let mut event = event?;
        loop {
            reader.take(&event, output)?;
            output.flush()?;
            if !matches!(event.kind, EventKind::Ended(_)) {
                break;
            }
            // Whoever speaks to a finished session opens it again; that may have happened long ago.
            match events.next_within(BEHIND_THE_END) {
                Some(next) => event = next?,
                None => return Ok(()),
            }
        }
    }
    Ok(())
}

impl Reader<'_> {
    fn take(&mut self, event: &Event, output: &mut Output) -> Result<()> {
        // Made for every event: later lines name what earlier ones said.
        let mut lines = lines(&event.kind, &mut self.told);
        let kind = event_json::name(&event.kind);
        let is_named = self.args.kinds.contains(&kind);
        let is_wanted = self.args.kinds.is_empty() || is_named;
        if lines.is_empty() && is_named {
            // It is too much for a quiet log, and here it was asked for.
            let data = event_json::object(event, self.parent)["data"].to_string();
            lines.push(Line {
                style: Style::Detail,
                text: format!("[{kind}] {}", shortened(&data, MAX_DATA)),
            });
        }
        let is_about = self.args.skill.as_deref().is_none_or(|skill| event.kind.skill() == Some(skill));
        self.kinds.insert(kind);
        if !is_wanted || !is_about {
            return Ok(());
        }
        self.shown += 1;
        if output.is_json() {
            return output.json(&event_json::object(event, self.parent));
        }
        for line in lines {
            let text = match line.style.tone() {
                Some(tone) => output.tinted(tone, &line.text),
                None => line.text,
            };
            output.line(text)?;
        }
        Ok(())
    }

    /// Says why nothing was shown, where nothing was.
    fn finish(&self, session: SessionId, output: &mut Output) -> Result<()> {
        if self.shown == 0 && !output.is_json() {
            let kinds: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
            output.comment(format!(
                "nothing of session {} fits; it has events of these kinds: {}",
                session.short(),
                kinds.join(", ")
            ))?;
        }
        Ok(())
    }
}

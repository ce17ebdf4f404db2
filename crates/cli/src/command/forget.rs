//! `forget`: what is kept of runs, deleted.

use crate::args::Forget as Args;
use crate::chat::PastLines;
use crate::exit::Exit;
use crate::keyboard;
use crate::moment;
use crate::output::{Output, shortened, width};
use crate::question;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_diagnostic::counted;
use metier_store::{
    Family, Forget, Forgotten, Outcome, Recall, Record, Scope, SessionFilter, Store, Summary, Timestamp,
    Traces,
};
use serde_json::json;

/// How many runs and how many records are shown by name. The rest is a number: nobody reads a thousand lines before a yes.
const SHOWN: usize = 10;

/// From this size on deleting takes a second or more, since the store is rewritten. Then a line says what takes so long.
const LARGE_STORE: u64 = 100 << 20;

/// What would go, and by which orders.
struct Plan {
    runs: Vec<Summary>,
    records: Vec<Record>,
    /// Lines that were typed in `metier chat`.
    typed: usize,
    orders: Vec<Forget>,
}

pub(crate) fn run(args: &Args, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let past = PastLines::of(&surroundings.places);
    let store = surroundings.store()?;
    let typed = if args.all && !args.memory { past.read()?.len() } else { 0 };
    let plan = match &store {
        Some(store) => Plan { typed, ..Plan::of(args, store)? },
        None => Plan { runs: Vec::new(), records: Vec::new(), typed, orders: Vec::new() },
    };
    if plan.is_empty() {
        // An earlier deletion may have been killed before the store was rewritten.
        if let Some(store) = &store {
            delete(store, Vec::new(), output)?;
        }
        if output.is_json() {
            output.json(&json!({ "forgotten": object(&Forgotten::default(), 0) }))?;
        } else {
            output.line("nothing that is kept fits; nothing was deleted")?;
        }
        return Ok(Exit::Fine);
    }
    if !args.yes {
        plan.show(output)?;
        if !keyboard::can_ask() {
            output.aside("nothing was deleted: say `--yes` where nobody can be asked")?;
            return Ok(Exit::NeedsYes);
        }
        output.flush()?;
        if !question::is_yes(vec!["delete it for good?".to_owned()])? {
            output.aside("nothing was deleted")?;
            return Ok(Exit::NeedsYes);
        }
    }
    let gone = match &store {
        Some(store) => delete(store, plan.orders, output)?,
        None => Forgotten::default(),
    };
    if plan.typed > 0 {
        past.forget()?;
    }
    tell(&gone, plan.typed, output)?;
    Ok(Exit::Fine)
}

fn delete(store: &Store, orders: Vec<Forget>, output: &mut Output) -> Result<Forgotten> {
    let bytes = store.size()?;
    if bytes >= LARGE_STORE {
        output.aside(&format!(
            "rewriting the store ({} MiB), so that nothing stays on the disk",
            bytes >> 20
        ))?;
    }
    Ok(store.forget_all(orders)?)
}

impl Plan {
    fn of(args: &Args, store: &Store) -> Result<Self> {
        let all = || SessionFilter { family: Family::TopLevel, ..SessionFilter::default() };
        let (mut runs, mut orders) = (Vec::new(), Vec::new());
        let mut records = all_records(store)?;
        if !args.ids.is_empty() {
            for typed in &args.ids {
                let summary = store.session(store.find(typed)?)?;
                if !runs.contains(&summary) {
                    runs.push(summary);
                }
            }
            // Records of children go too; they are not listed here, and counted when they are gone.
            records.retain(|record| runs.iter().any(|run| record.session == Some(run.id)));
            orders.extend(runs.iter().map(|run| Forget::Session(run.id)));
        } else if let Some(before) = args.before {
            runs = store.sessions(&SessionFilter { until: Some(before), ..all() })?;
            records.retain(|record| record.at < before);
            orders.push(Forget::Before(before));
        } else if let Some(skill) = &args.skill {
            runs = store.sessions(&SessionFilter { skill: Some(skill.clone()), ..all() })?;
            records.retain(|record| {
                record.skill.as_ref() == Some(skill) || runs.iter().any(|run| record.session == Some(run.id))
            });
            orders.extend(runs.iter().map(|run| Forget::Session(run.id)));
            orders.push(Forget::SkillMemory { skill: skill.clone(), origin: None });
        } else {
            runs = store.sessions(&all())?;
            orders.push(Forget::Everything);
        }
        if args.memory {
            if let Some(skill) = &args.skill {
                records.retain(|record| record.skill.as_ref() == Some(skill));
            }
            orders = records.iter().map(|record| Forget::Record(record.id)).collect();
            runs.clear();
        }
        Ok(Self { runs, records, typed: 0, orders })
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.records.is_empty() && self.typed == 0
    }

    fn show(&self, output: &mut Output) -> Result<()> {
        if output.is_json() {
            let runs: Vec<_> =
                self.runs.iter().map(|run| json!({ "id": run.id, "request": run.title })).collect();
            let records: Vec<_> = self
                .records
                .iter()
                .map(|record| json!({ "id": record.id, "skill": record.skill, "text": record.text }))
                .collect();
            output.json(&json!({ "would": { "runs": runs, "records": records, "lines": self.typed } }))?;
            return output.flush();
        }
        let now = Timestamp::now();
        let room = width().saturating_sub(36);
        let all = words(self.runs.len(), self.records.len(), self.typed);
        output.line(format!("this would go: {all}"))?;
        for run in self.runs.iter().take(SHOWN) {
            let outcome = run.outcome.map_or("open", Outcome::word);
            let when = moment::ago(run.changed, now);
            output.line(format!(
                "  {}  {when:<10}  {outcome:<10}  {}",
                run.id.short(),
                shortened(&run.title, room)
            ))?;
        }
        more(self.runs.len(), "run", "runs", output)?;
        for record in self.records.iter().take(SHOWN) {
            let whose = record.skill.as_deref().unwrap_or("the agent");
            let text = format!("  remembered by {whose}: {}", record.text);
            output.line(shortened(&text, width()))?;
        }
        more(self.records.len(), "record", "records", output)?;
        output.flush()
    }
}

/// All that is remembered, the newest first.
fn all_records(store: &Store) -> Result<Vec<Record>> {
    let recall = Recall { limit: usize::try_from(i64::MAX)?, ..Recall::new("", Scope::Everything) };
    Ok(store.recall(&recall)?)
}

fn more(there: usize, one: &str, many: &str, output: &mut Output) -> Result<()> {
    if there > SHOWN {
        output.line(format!(
            "  and {}",
            counted(there - SHOWN, &format!("more {one}"), &format!("more {many}"))
        ))?;
    }
    Ok(())
}

/// `2 runs, 1 record`, without what is none.
fn words(runs: usize, records: usize, typed: usize) -> String {
    let parts = [
        (runs, counted(runs, "run", "runs")),
        (records, counted(records, "record of memory", "records of memory")),
        (typed, counted(typed, "line typed in chat", "lines typed in chat")),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn object(gone: &Forgotten, typed: usize) -> serde_json::Value {
    json!({
        "runs": gone.sessions,
        "events": gone.events,
        "records": gone.records,
        "lines": typed,
        "traces": gone.traces != Traces::None,
    })
}

fn tell(gone: &Forgotten, typed: usize, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "forgotten": object(gone, typed) }));
    }
    // Children count here: they are gone, too.
    let events = counted(gone.events, "event", "events");
    output.line(format!("deleted: {} ({events})", words(gone.sessions, gone.records, typed)))?;
    match gone.traces {
        Traces::None => Ok(()),
        Traces::WhileOthersRead => output.aside(
            "bytes of it may stay on the disk, since another process uses the store; when it has ended, the next `metier forget` removes them",
        ),
        Traces::NoRoom => output.aside(
            "bytes of it may stay on the disk, since there is no room to rewrite the store; when there is, the next `metier forget` removes them",
        ),
    }
}

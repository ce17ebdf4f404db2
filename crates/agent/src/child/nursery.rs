//! The children of one conversation that are under way.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use std::{io, thread};

use metier_store::{Outcome, SessionId, Usage};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Child, ChildAnswer, LastWord, Return, Ticket};
use crate::halt::Halt;

/// A child that is over.
pub(crate) struct Over {
    pub(crate) number: u64,
    pub(crate) answer: ChildAnswer,
    pub(crate) word: LastWord,
}

/// The children that are under way, each on a thread of its own. When it is dropped, they are stopped and waited for: nothing of a
/// conversation outlives it.
pub(crate) struct Nursery {
    made: u64,
    tell: UnboundedSender<Over>,
    hear: UnboundedReceiver<Over>,
    away: BTreeMap<u64, Away>,
}

struct Away {
    id: SessionId,
    halt: Halt,
    thread: thread::JoinHandle<()>,
    skill: String,
}

impl Default for Nursery {
    fn default() -> Self {
        let (tell, hear) = unbounded_channel();
        Self { made: 0, tell, hear, away: BTreeMap::new() }
    }
}

impl Nursery {
    /// Sends a child on its way and gives its number.
    pub(crate) fn send(&mut self, child: Child, ticket: Ticket) -> io::Result<u64> {
        self.made += 1;
        let (number, tell) = (self.made, self.tell.clone());
        let id = child.kit.id;
        let (halt, skill) = (child.kit.company.halt.clone(), child.kit.worker.name().to_owned());
        let broken = broken(child.kit.id, &child.kit.worker, child.kit.mode);
        let work = move || {
            // A panic would be a fault of ours; the parent gets an answer all the same, and its other children go on.
            let Return { answer, word } =
                catch_unwind(AssertUnwindSafe(|| child.run(ticket))).unwrap_or(broken);
            // Whoever does not listen any more has dropped the nursery, and waits for the thread alone.
            let _ = tell.send(Over { number, answer, word });
        };
        let thread = thread::Builder::new().name("child".to_owned()).spawn(work)?;
        self.away.insert(number, Away { id, halt, thread, skill });
        Ok(number)
    }

    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.away.len()
    }

    /// Whether this one is under way here.
    pub(crate) fn has(&self, id: SessionId) -> bool {
        self.away.values().any(|away| away.id == id)
    }

    /// The skills of those that are under way.
    pub(crate) fn skills(&self) -> Vec<String> {
        self.away.values().map(|away| away.skill.clone()).collect()
    }

    /// The next one that is over, waiting for it. `None` where none is under way.
    pub(crate) fn next(&mut self) -> Option<Over> {
        if self.away.is_empty() {
            return None;
        }
        let over = self.hear.blocking_recv()?;
        self.gone(&over);
        Some(over)
    }

    /// One that is over already.
    pub(crate) fn ready(&mut self) -> Option<Over> {
        let over = self.hear.try_recv().ok()?;
        self.gone(&over);
        Some(over)
    }

    /// The next one that is over until then. `None` when the time is up, somebody says stop, or none is under way.
    pub(crate) fn next_until(&mut self, until: Instant, halt: &Halt, runtime: &Runtime) -> Option<Over> {
        if self.away.is_empty() {
            return None;
        }
        let over = runtime.block_on(async {
            tokio::select! {
                biased;
                over = self.hear.recv() => over,
                () = halt.said() => None,
                () = tokio::time::sleep_until(until.into()) => None,
            }
        })?;
        self.gone(&over);
        Some(over)
    }

    fn gone(&mut self, over: &Over) {
        if let Some(away) = self.away.remove(&over.number) {
            // It has said its last word; what is left of it takes no time.
            let _ = away.thread.join();
        }
    }

    /// Stops all of them. They are over soon, with what is there.
    pub(crate) fn stop(&self) {
        for away in self.away.values() {
            away.halt.halt();
        }
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        self.stop();
        for (_, away) in std::mem::take(&mut self.away) {
            let _ = away.thread.join();
        }
    }
}

fn broken(session: SessionId, worker: &super::Worker, mode: super::ChildMode) -> Return {
    let answer = ChildAnswer {
        session,
        worker: worker.clone(),
        mode,
        outcome: Outcome::Failed,
        text: String::new(),
        why: Some("it broke down".to_owned()),
        usage: Usage::default(),
        cost_micros: 0,
        turns: 0,
        calls: 0,
        needs: Vec::new(),
    };
    Return { answer, word: LastWord::Said }
}

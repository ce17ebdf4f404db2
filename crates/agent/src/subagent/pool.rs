//! The running sub-agents of one session.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use std::{io, thread};

use metier_store::{Outcome, SessionId};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Subagent, SubagentAnswer, Ticket};
use crate::cancel::CancelToken;

/// A sub-agent that has ended.
pub(crate) struct FinishedSubagent {
    pub(crate) number: u64,
    pub(crate) answer: SubagentAnswer,
}

/// The running sub-agents, each on a thread of its own. Dropping the pool stops them and waits for them: nothing of a session outlives
/// it.
pub(crate) struct SubagentPool {
    started: u64,
    sender: UnboundedSender<FinishedSubagent>,
    receiver: UnboundedReceiver<FinishedSubagent>,
    running: BTreeMap<u64, RunningSubagent>,
}

struct RunningSubagent {
    id: SessionId,
    cancel: CancelToken,
    thread: thread::JoinHandle<()>,
}

impl Default for SubagentPool {
    fn default() -> Self {
        let (sender, receiver) = unbounded_channel();
        Self { started: 0, sender, receiver, running: BTreeMap::new() }
    }
}

impl SubagentPool {
    /// Starts a sub-agent and returns its number.
    pub(crate) fn send(&mut self, subagent: Subagent, ticket: Ticket) -> io::Result<u64> {
        self.started += 1;
        let (number, sender) = (self.started, self.sender.clone());
        let spec = &subagent.spec;
        let (id, cancel) = (spec.id, spec.hooks.cancel.clone());
        let panicked = SubagentAnswer::without_work(spec, Outcome::Failed, "internal error");
        let work = move || {
            // A panic is a defect of metier. It ends this sub-agent; its parent and the others continue.
            let answer = catch_unwind(AssertUnwindSafe(|| subagent.run(ticket))).unwrap_or(panicked);
            // Without a receiver the pool is being dropped, which waits for the thread.
            let _ = sender.send(FinishedSubagent { number, answer });
        };
        let thread = thread::Builder::new().name("sub-agent".to_owned()).spawn(work)?;
        self.running.insert(number, RunningSubagent { id, cancel, thread });
        Ok(number)
    }

    /// Whether none is running.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether this one is running here.
    pub(crate) fn has(&self, id: SessionId) -> bool {
        self.running.values().any(|running| running.id == id)
    }

    /// Waits for the next one that ends. `None` if none is running.
    pub(crate) fn next(&mut self) -> Option<FinishedSubagent> {
        if self.running.is_empty() {
            return None;
        }
        let finished = self.receiver.blocking_recv()?;
        self.remove(&finished);
        Some(finished)
    }

    /// One that has ended already.
    pub(crate) fn ready(&mut self) -> Option<FinishedSubagent> {
        let finished = self.receiver.try_recv().ok()?;
        self.remove(&finished);
        Some(finished)
    }

    /// Waits for the next one until then. `None` when the time is up, the session is cancelled, or none is running.
    pub(crate) fn next_until(
        &mut self,
        until: Instant,
        cancel: &CancelToken,
        runtime: &Runtime,
    ) -> Option<FinishedSubagent> {
        if self.running.is_empty() {
            return None;
        }
        let finished = runtime.block_on(async {
            tokio::select! {
                biased;
                finished = self.receiver.recv() => finished,
                () = cancel.cancelled() => None,
                () = tokio::time::sleep_until(until.into()) => None,
            }
        })?;
        self.remove(&finished);
        Some(finished)
    }

    fn remove(&mut self, finished: &FinishedSubagent) {
        if let Some(running) = self.running.remove(&finished.number) {
            // It has sent its answer as its last act.
            let _ = running.thread.join();
        }
    }

    /// Stops all of them. They end soon, with what they have.
    pub(crate) fn stop(&self) {
        for running in self.running.values() {
            running.cancel.cancel();
        }
    }
}

impl Drop for SubagentPool {
    fn drop(&mut self) {
        self.stop();
        for (_, running) in std::mem::take(&mut self.running) {
            let _ = running.thread.join();
        }
    }
}

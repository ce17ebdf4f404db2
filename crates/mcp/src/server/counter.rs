//! Where calls are carried out: on threads of their own, each with a session of its own, and taken back when nobody waits any more.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_policy::{Action, Answer, Decision};
use metier_runtime::{Session, Surface};
use metier_sandbox::Cancel;
use rmcp::ErrorData;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Semaphore;

use super::question::Inquiry;
use super::shelf::{Shelf, lock};

/// How many calls are carried out at once. Each takes a thread; what it runs queues for the sandbox besides.
const AT_ONCE: usize = 32;

/// How many sessions wait for the next call. They hold opened folders.
const MOST_WAITING: usize = 4;

/// How many sessions are kept for what their programs wrote: a result names files, and a model may read them a while later.
const MOST_KEPT: usize = 16;

/// How often a client is told that a call goes on.
const TICK: Duration = Duration::from_secs(1);

/// Where calls are carried out.
pub(super) struct Counter {
    pub(super) shelf: Shelf,
    permits: Semaphore,
    waiting: Mutex<Vec<Session>>,
    kept: Mutex<VecDeque<Session>>,
    /// The folders of skills that a user has started by a prompt: from then on a model may use their files.
    started: Mutex<Vec<PathBuf>>,
}

/// Takes a call back when nobody waits for it any more: what it runs and what it asks.
struct Recall {
    cancel: Cancel,
    inquiry: Option<Arc<Inquiry>>,
}

impl Recall {
    fn take_back(&self) {
        self.cancel.cancel();
        if let Some(inquiry) = &self.inquiry {
            inquiry.withdraw();
        }
    }
}

impl Drop for Recall {
    fn drop(&mut self) {
        self.take_back();
    }
}

impl Counter {
    pub(super) fn new(shelf: Shelf) -> Self {
        Self {
            shelf,
            permits: Semaphore::new(AT_ONCE),
            waiting: Mutex::default(),
            kept: Mutex::default(),
            started: Mutex::default(),
        }
    }

    /// Remembers that a user has started a skill.
    pub(super) fn started(&self, folder: PathBuf) {
        let mut started = lock(&self.started);
        if !started.contains(&folder) {
            started.push(folder);
        }
    }

    /// Carries something out for a request. While it goes on the client is told so, if it wants to be; when the client takes the
    /// request back or goes away, whatever runs is ended.
    pub(super) async fn carry_out<T: Send + 'static>(
        self: &Arc<Self>,
        context: &RequestContext<RoleServer>,
        cancel: Cancel,
        inquiry: Option<Arc<Inquiry>>,
        work: impl FnOnce(&Self, &mut Session) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let closed = |_| ErrorData::internal_error("the server ends", None);
        let permit = tokio::select! {
            permit = self.permits.acquire() => permit.map_err(closed)?,
            // Whoever is not waited for any more needs no place.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was taken back", None)),
        };
        let recall = Recall { cancel: cancel.clone(), inquiry: inquiry.clone() };
        let counter = Arc::clone(self);
        let mut job = tokio::task::spawn_blocking(move || counter.with_session(cancel, inquiry, work));
        let token = context.meta.get_progress_token();
        let began = Instant::now();
        let mut ticks = tokio::time::interval(TICK);
        ticks.tick().await;
        let mut is_taken_back = false;
        let done = loop {
            tokio::select! {
                done = &mut job => break done,
                () = context.ct.cancelled(), if !is_taken_back => {
                    is_taken_back = true;
                    recall.take_back();
                }
                _ = ticks.tick() => {
                    let Some(token) = &token else { continue };
                    let seconds = u32::try_from(began.elapsed().as_secs()).unwrap_or(u32::MAX);
                    let progress = ProgressNotificationParam::new(token.clone(), seconds.into())
                        .with_message(format!("running for {seconds} s"));
                    // That it cannot be told is no reason to stop.
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
        };
        drop(permit);
        done.map_err(|error| ErrorData::internal_error(format!("the call failed: {error}"), None))
    }

    /// Carries out what is done in no time, right here: on a busy machine the way to another thread and back takes longer than the
    /// call itself. `None` where somebody would have to be asked, and nothing was done then.
    pub(super) fn at_once<T>(&self, cancel: Cancel, work: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let mut session = self.prepared(cancel);
        let is_asked = Arc::<AtomicBool>::default();
        let noted = Arc::clone(&is_asked);
        session.ask_with(Some(Arc::new(move |_: &Action, _: &Decision| {
            noted.store(true, Ordering::Relaxed);
            Answer::No
        })));
        let given = work(&mut session);
        session.ask_with(None);
        self.put_back(session);
        (!is_asked.load(Ordering::Relaxed)).then_some(given)
    }

    /// Looks something up. Nothing runs, nobody is asked.
    pub(super) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut Session) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let counter = Arc::clone(self);
        let job = tokio::task::spawn_blocking(move || {
            let mut session = counter.session();
            session.refresh();
            let given = work(&counter, &mut session);
            counter.put_back(session);
            given
        });
        job.await.map_err(|error| ErrorData::internal_error(format!("the call failed: {error}"), None))
    }

    fn with_session<T>(
        &self,
        cancel: Cancel,
        inquiry: Option<Arc<Inquiry>>,
        work: impl FnOnce(&Self, &mut Session) -> T,
    ) -> T {
        let mut session = self.prepared(cancel);
        session.ask_with(inquiry.map(|inquiry| {
            inquiry.begin();
            Arc::new(move |action: &Action, decision: &Decision| inquiry.ask(action, decision)) as _
        }));
        let given = work(self, &mut session);
        session.ask_with(None);
        self.put_back(session);
        given
    }

    /// A session that knows nothing of calls before, but which skills a user has started.
    fn prepared(&self, cancel: Cancel) -> Session {
        let mut session = self.session();
        let mut active = lock(&self.started).clone();
        let row = self.shelf.row();
        let bound =
            self.shelf.only.as_deref().and_then(|name| row.offered(name).or_else(|| row.startable(name)));
        // On a connection that is about one skill, tools that name none are its own.
        let folder = bound.and_then(|id| row.snapshot.entry(id)).map(|entry| row.snapshot.folder(entry));
        if let Some(folder) = folder {
            active.retain(|known| *known != folder);
            active.push(folder);
        }
        session.begin_anew(&active);
        session.cancel_with(cancel);
        session
    }

    fn session(&self) -> Session {
        if let Some(session) = lock(&self.waiting).pop() {
            return session;
        }
        let Shelf { skills, only, .. } = &self.shelf;
        let bound = only.as_deref().and_then(|name| skills.session_with(Surface::Canonical, [name]).ok());
        match (bound, only) {
            (Some(session), _) => session,
            // What this server is about is gone for now, so there is nothing.
            (None, Some(_)) => {
                skills.session_with(Surface::Canonical, []).unwrap_or_else(|_| skills.session())
            }
            (None, None) => skills.session(),
        }
    }

    fn put_back(&self, session: Session) {
        if session.outputs().is_some() {
            let mut kept = lock(&self.kept);
            kept.push_back(session);
            if kept.len() > MOST_KEPT {
                kept.pop_front();
            }
            return;
        }
        // A session that began while the one skill of this server was gone would never see it again.
        if self.shelf.only.is_some() && session.toolset().visible().offered().next().is_none() {
            return;
        }
        let mut waiting = lock(&self.waiting);
        if waiting.len() < MOST_WAITING {
            waiting.push(session);
        }
    }
}

impl std::fmt::Debug for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counter").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}

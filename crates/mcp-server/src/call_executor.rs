//! Runs calls on blocking threads, each with its own session, and cancels them when the client does.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_policy::Answer;
use metier_runtime::{ApprovalRequest, SkillSession, Surface};
use metier_sandbox::Cancel;
use rmcp::ErrorData;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Semaphore;

use super::elicitation::Elicitation;
use super::served_catalog::{ServedCatalog, lock};

/// How many calls run at once. Each takes a thread; its processes also queue for the sandbox.
const MAX_CONCURRENT_CALLS: usize = 32;

/// How many idle sessions are reused. They hold open folders.
const MAX_IDLE_SESSIONS: usize = 4;

/// How many sessions are kept because of their output files: a result names files that a model may read later.
const MAX_OUTPUT_SESSIONS: usize = 16;

/// How often a client gets a progress notification.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Runs calls.
pub(crate) struct CallExecutor {
    pub(crate) catalog: ServedCatalog,
    permits: Semaphore,
    idle: Mutex<Vec<SkillSession>>,
    with_output: Mutex<VecDeque<SkillSession>>,
    /// Folders of skills that a user started by a prompt. The model may use their files from then on.
    user_started: Mutex<Vec<PathBuf>>,
}

/// Cancels a call and its open questions when dropped.
struct CancelOnDrop {
    cancel: Cancel,
    elicitation: Option<Arc<Elicitation>>,
}

impl CancelOnDrop {
    fn cancel_call(&self) {
        self.cancel.cancel();
        if let Some(elicitation) = &self.elicitation {
            elicitation.cancel();
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.cancel_call();
    }
}

impl CallExecutor {
    pub(crate) fn new(catalog: ServedCatalog) -> Self {
        Self {
            catalog,
            permits: Semaphore::new(MAX_CONCURRENT_CALLS),
            idle: Mutex::default(),
            with_output: Mutex::default(),
            user_started: Mutex::default(),
        }
    }

    /// Records that a user started a skill.
    pub(crate) fn mark_started(&self, folder: PathBuf) {
        let mut started = lock(&self.user_started);
        if !started.contains(&folder) {
            started.push(folder);
        }
    }

    /// Runs `work` for a request and sends progress notifications if the client asked for them. If the client cancels the request
    /// or disconnects, everything that runs is ended.
    pub(crate) async fn execute<T: Send + 'static>(
        self: &Arc<Self>,
        context: &RequestContext<RoleServer>,
        cancel: Cancel,
        elicitation: Option<Arc<Elicitation>>,
        work: impl FnOnce(&Self, &mut SkillSession) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let closed = |_| ErrorData::internal_error("the server is shutting down", None);
        let permit = tokio::select! {
            permit = self.permits.acquire() => permit.map_err(closed)?,
            // A cancelled call needs no permit.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
        };
        let guard = CancelOnDrop { cancel: cancel.clone(), elicitation: elicitation.clone() };
        let executor = Arc::clone(self);
        let mut job = tokio::task::spawn_blocking(move || executor.run_in_session(cancel, elicitation, work));
        let token = context.meta.get_progress_token();
        let began = Instant::now();
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        ticks.tick().await;
        let mut is_cancelled = false;
        let done = loop {
            tokio::select! {
                done = &mut job => break done,
                () = context.ct.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    guard.cancel_call();
                }
                _ = ticks.tick() => {
                    let Some(token) = &token else { continue };
                    let seconds = u32::try_from(began.elapsed().as_secs()).unwrap_or(u32::MAX);
                    let progress = ProgressNotificationParam::new(token.clone(), seconds.into())
                        .with_message(format!("running for {seconds} s"));
                    // A failed notification does not end the call.
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
        };
        drop(permit);
        done.map_err(|error| ErrorData::internal_error(format!("the call failed: {error}"), None))
    }

    /// Runs a fast call on the current thread: on a busy machine a thread switch takes longer than the call. Returns `None` if
    /// the call needs an approval; it has done nothing then.
    pub(crate) fn execute_inline<T>(
        &self,
        cancel: Cancel,
        work: impl FnOnce(&mut SkillSession) -> T,
    ) -> Option<T> {
        let mut session = self.prepared_session(cancel);
        let is_asked = Arc::<AtomicBool>::default();
        let noted = Arc::clone(&is_asked);
        session.ask_with(Some(Arc::new(move |_: &ApprovalRequest<'_>| {
            noted.store(true, Ordering::Relaxed);
            Answer::No.into()
        })));
        let given = work(&mut session);
        session.ask_with(None);
        self.return_session(session);
        (!is_asked.load(Ordering::Relaxed)).then_some(given)
    }

    /// Reads from the catalogue. Starts no process and asks no question.
    pub(crate) async fn inspect<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut SkillSession) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let executor = Arc::clone(self);
        let job = tokio::task::spawn_blocking(move || {
            let mut session = executor.session();
            session.refresh();
            let given = work(&executor, &mut session);
            executor.return_session(session);
            given
        });
        job.await.map_err(|error| ErrorData::internal_error(format!("the call failed: {error}"), None))
    }

    fn run_in_session<T>(
        &self,
        cancel: Cancel,
        elicitation: Option<Arc<Elicitation>>,
        work: impl FnOnce(&Self, &mut SkillSession) -> T,
    ) -> T {
        let mut session = self.prepared_session(cancel);
        session.ask_with(elicitation.map(|elicitation| {
            elicitation.enter_call_thread();
            Arc::new(move |request: &ApprovalRequest<'_>| {
                elicitation.ask(request.action, request.decision).into()
            }) as _
        }));
        let given = work(self, &mut session);
        session.ask_with(None);
        self.return_session(session);
        given
    }

    /// A session without state of earlier calls, except for the skills that a user started.
    fn prepared_session(&self, cancel: Cancel) -> SkillSession {
        let mut session = self.session();
        let mut active = lock(&self.user_started).clone();
        let view = self.catalog.view();
        let bound =
            self.catalog.only.as_deref().and_then(|name| view.offered(name).or_else(|| view.startable(name)));
        // On a server of one skill, tools without a skill parameter act on it.
        let folder = bound.and_then(|id| view.snapshot.entry(id)).map(|entry| view.snapshot.folder(entry));
        if let Some(folder) = folder {
            active.retain(|known| *known != folder);
            active.push(folder);
        }
        session.restart(&active);
        session.cancel_with(cancel);
        session
    }

    fn session(&self) -> SkillSession {
        if let Some(session) = lock(&self.idle).pop() {
            return session;
        }
        let ServedCatalog { skills, only, .. } = &self.catalog;
        let Some(only) = only else { return skills.session() };
        // While the one skill of this server is missing, a session has none.
        let session = skills.session_with(Surface::Canonical, [only.as_str()]);
        let session = session.or_else(|_| skills.session_with(Surface::Canonical, []));
        session.unwrap_or_else(|_| skills.session())
    }

    fn return_session(&self, session: SkillSession) {
        if session.outputs().is_some() {
            let mut kept = lock(&self.with_output);
            kept.push_back(session);
            if kept.len() > MAX_OUTPUT_SESSIONS {
                kept.pop_front();
            }
            return;
        }
        // A session opened while the one skill was missing would never see it again.
        if self.catalog.only.is_some() && session.toolset().visible().offered().next().is_none() {
            return;
        }
        let mut idle = lock(&self.idle);
        if idle.len() < MAX_IDLE_SESSIONS {
            idle.push(session);
        }
    }
}

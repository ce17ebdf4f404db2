//! One conversation of a model that has skills.
//!
//! ```text
//! tool call ─► plan ─► approve (rules, answers, a person) ─► run ─► settle its changes ─► result
//! ```
//!
//! A session can be used from several threads: calls that only read run in parallel. What changes while it works is behind locks of
//! its own, none of which is held while a process runs or a person is asked.

mod activate;
mod changes;
mod fork;
mod needs;
mod outputs;
mod policy;
mod process;
mod program;
mod records;
mod restore;
mod stateless;
mod use_error;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use metier_activation::{ActivationOutcome, Invoker, Scopes, SessionActivations, SkillArguments};
use metier_catalog::{EntryId, Lookup, Reference, Snapshot};
use metier_exec::{DeclaredEnvironment, policy_skill};
use metier_files::Survey;
use metier_policy::{McpTools, Scope, Skill, Trust};
use metier_sandbox::{Cancel, Stream};
use serde_json::Value;

use self::outputs::Outputs;
use self::policy::SessionPolicy;
use super::Note;
use super::engine::{Engine, lock};
use super::ledger::ChangeCursor;
use super::value_source::SkillSecrets;
use crate::tool::{CallControl, ToolContext, ToolFormat, ToolResult};
use crate::toolset::{Surface, Toolset, Visible};

pub(crate) use self::activate::{EnteredSkill, Gated};
pub use self::fork::{Fork, ForkRequest, ResumedFork};
pub(crate) use self::policy::NoApproval;
pub use self::policy::{
    Approval, ApprovalEvent, ApprovalHandler, ApprovalReply, ApprovalRequest, ApprovalStage,
};
pub(crate) use self::process::{ProcessKind, SkillProcess};
pub use self::program::ScriptCall;
pub use self::records::{ActiveSkill, SkillLabels};
pub use self::restore::RestoredSkill;
pub use self::use_error::UseError;

/// The most files that a session knows the work to have touched: those that come later make no skill appear that did not before.
const MAX_TOUCHED_FILES: usize = 1_000;

/// How many sessions this process has started: part of their names.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// Hears what programs write while they run, without what must stay secret.
pub type OutputListener<'a> = dyn Fn(Stream, &[u8]) + Send + Sync + 'a;

/// One conversation of a model that has skills.
///
/// It keeps the snapshot that it started with until its user speaks again, and never changes what was said already.
pub struct SkillSession {
    engine: Arc<Engine>,
    id: String,
    toolset: Toolset,
    catalog: String,
    policy: SessionPolicy,
    /// The names that the configuration declares, with what the program gave for them.
    declared: DeclaredEnvironment,
    /// The tools of MCP servers, by which bare names in the lists of skills are understood.
    servers: McpTools,
    active: Mutex<ActiveSkills>,
    /// The secrets of the skills that wanted any, by their folders: each is read once.
    secrets: Mutex<HashMap<PathBuf, SkillSecrets>>,
    /// What the user should know about folders of skills and was not told yet, a sentence each.
    folder_notes: Mutex<Vec<String>>,
    /// The project as it was looked over last. A call that runs keeps the one it started with.
    survey: Mutex<Option<Arc<Survey>>>,
    /// What programs wrote beyond what the model got.
    outputs: Mutex<Outputs>,
    follows: Follows,
    /// Cancels whatever runs, for calls that bring no token of their own.
    cancel: Option<Cancel>,
    listener: Option<Arc<OutputListener<'static>>>,
}

/// The skills of the conversation.
#[derive(Debug, Default)]
struct ActiveSkills {
    conversation: SessionActivations,
    /// Those that were activated, the last one at the end, with their folders. Tools that name no skill belong to the last one, also
    /// after its scope has ended.
    ids: Vec<EntryId>,
    folders: Vec<PathBuf>,
}

/// How a session follows changes of its skills.
#[derive(Debug)]
struct Follows {
    cursor: ChangeCursor,
    /// The names of an agent's own list; `None` without one.
    list: Option<Vec<String>>,
    /// The files that the work has touched.
    touched: Vec<PathBuf>,
}

/// The result of a skill that was used.
#[derive(Clone, Debug)]
pub struct UseResult {
    /// The message for the model.
    pub text: String,
    /// The activation, or that it was there already.
    pub activated: ActivationOutcome,
}

impl SkillSession {
    pub(super) fn new(
        engine: Arc<Engine>,
        toolset: Toolset,
        catalog: String,
        cursor: ChangeCursor,
        list: Option<Vec<String>>,
    ) -> Self {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let snapshot = toolset.visible().snapshot();
        let policy = SessionPolicy::new(&engine, snapshot.layout());
        let declared = engine.declared(snapshot.layout());
        Self {
            id: format!("{}-{number}", std::process::id()),
            engine,
            toolset,
            catalog,
            policy,
            declared,
            servers: McpTools::default(),
            active: Mutex::default(),
            secrets: Mutex::default(),
            folder_notes: Mutex::default(),
            survey: Mutex::default(),
            outputs: Mutex::default(),
            follows: Follows { cursor, list, touched: Vec::new() },
            cancel: None,
            listener: None,
        }
    }

    /// The same session under another name, such as that of a stored one: bodies and scripts see it as `${SESSION_ID}`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.id);
        self
    }

    /// What precedes the conversation: the skills that the model may use. The same bytes as long as the session lasts.
    pub fn catalog(&self) -> &str {
        &self.catalog
    }

    /// The skills' tools.
    pub fn toolset(&self) -> &Toolset {
        &self.toolset
    }

    /// The definitions of the skills' tools for one reader. The same bytes as long as the session lasts.
    pub fn tools(&self, format: ToolFormat) -> Value {
        self.toolset.render(format)
    }

    /// Runs a call of one of the skills' tools.
    pub fn call(&self, name: &str, input: &Value) -> ToolResult {
        let context = ToolContext { skills: self, control: self.control() };
        match self.toolset.find(name) {
            Some(tool) => context.call(tool, input),
            None => ToolResult::refused(self.toolset.no_such_tool(name)),
        }
    }

    /// Activates a skill for the user, who may use any that the model may not.
    pub fn activate(
        &mut self,
        name: &str,
        arguments: impl Into<SkillArguments>,
    ) -> Result<UseResult, UseError> {
        self.activate_by(Invoker::Caller, name, arguments)
    }

    /// The same for another invoker, such as the model, which may use less.
    pub fn activate_by(
        &mut self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
    ) -> Result<UseResult, UseError> {
        let id = self.find(name)?;
        let activated = self.enter(id, by, &arguments.into(), Gated::NotYet, self.control())?.activated;
        let text = match &activated {
            ActivationOutcome::Fresh(activation) => activation.text.clone(),
            ActivationOutcome::Again(again) => again.note.clone(),
        };
        Ok(UseResult { text, activated })
    }

    /// The skill of this name, whether it can be used or not.
    fn find(&self, name: &str) -> Result<EntryId, UseError> {
        let reference: Reference = name.parse()?;
        let snapshot = self.snapshot();
        match snapshot.find(&reference) {
            // Why a skill cannot be used is for the activation to say.
            Lookup::Found(id, _) | Lookup::Unusable(id, _) => Ok(id),
            other => Err(UseError::Unknown { name: name.to_owned(), why: snapshot.in_words(&other) }),
        }
    }

    /// The folder for outputs that are too long for a model, if there are any.
    pub fn outputs(&self) -> Option<PathBuf> {
        lock(&self.outputs).folder().map(Path::to_owned)
    }

    /// The user has spoken: scopes end, refusals are forgotten, and changes of skills take effect.
    pub fn user_message(&mut self) -> Option<Note> {
        lock(&self.active).conversation.user_message();
        self.policy.forget_refusals();
        self.forget_secrets();
        self.refresh()
    }

    /// Takes up what has changed about the skills. The catalogue and the tools that the model was given stay as they are; the note
    /// says what became of them.
    pub fn refresh(&mut self) -> Option<Note> {
        let now = self.engine.known.look();
        let (unread, cursor) = lock(&self.engine.ledger).since(self.follows.cursor);
        self.follows.cursor = cursor;
        if Arc::ptr_eq(&now, self.snapshot()) && unread.changes.is_empty() {
            return None;
        }
        let before = self.toolset.visible().clone();
        self.policy.renew(&self.engine, now.layout());
        self.declared = self.engine.declared(now.layout());
        *lock(&self.survey) = None;
        self.toolset.renew(match &self.follows.list {
            Some(list) => Visible::among(now, list.iter().map(String::as_str)),
            None => Visible::all(now),
        });
        for file in &self.follows.touched {
            self.toolset.touch(file);
        }
        // What is gone cannot be active any more.
        let known = lock(&self.active).folders.clone();
        self.set_active(&known);
        Note::of(unread, &before, self.toolset.visible())
    }

    /// The work touches files, seen from the project's folder or by their whole paths. The lines of skills that are offered because
    /// of it, for the model.
    pub fn touch<'p>(&mut self, files: impl IntoIterator<Item = &'p str>) -> Option<String> {
        let mut came = Vec::new();
        for file in files {
            let project = self.snapshot().layout().project.as_ref();
            let file = Path::new(file);
            let seen = project.and_then(|project| file.strip_prefix(&project.folder).ok()).unwrap_or(file);
            let seen = seen.strip_prefix(".").unwrap_or(seen).to_owned();
            if self.follows.touched.contains(&seen) || self.follows.touched.len() >= MAX_TOUCHED_FILES {
                continue;
            }
            came.extend(self.toolset.touch(&seen));
            self.follows.touched.push(seen);
        }
        let snapshot = self.snapshot();
        let lines: String =
            came.iter().filter_map(|id| Some(snapshot.catalogue_line(snapshot.entry(*id)?))).collect();
        let head = "The work touches files for which there are more skills than were listed:\n\n";
        (!lines.is_empty()).then(|| format!("{head}{}", lines.trim_end()))
    }

    /// The conversation was cut: texts of skills are not in it any more.
    pub fn forget_texts(&mut self) {
        lock(&self.active).conversation.forget_texts();
    }

    /// The same for the texts of skills whose scope has ended.
    pub fn forget_ended_texts(&mut self) {
        lock(&self.active).conversation.forget_ended_texts();
    }

    /// Takes up skills that were activated before the process ended. Returns the names of those that are gone.
    pub fn restore(&mut self, skills: &[RestoredSkill]) -> Vec<String> {
        let gone = skills.iter().filter(|restored| self.restore_one(restored).is_none());
        gone.map(|restored| restored.name.clone()).collect()
    }

    /// The scopes of active skills.
    pub fn scopes(&self) -> Scopes {
        lock(&self.active).conversation.scopes.clone()
    }

    /// The same session, held by the scope of an agent before any skill is active.
    #[must_use]
    pub fn held_by(self, scope: Scope) -> Self {
        lock(&self.active).conversation.scopes.hold(scope);
        self
    }

    /// The same session below another one: what holds in the parent holds here, and so do the answers given there.
    #[must_use]
    pub fn beneath(mut self, parent: &Self) -> Self {
        let conversation = lock(&parent.active).conversation.child();
        self.active = Mutex::new(ActiveSkills { conversation, ..ActiveSkills::default() });
        self.policy = parent.policy.of_child();
        self.id.clone_from(&parent.id);
        self.servers.clone_from(&parent.servers);
        self
    }

    /// Cancels whatever runs, for calls without a token of their own.
    pub fn cancel_with(&mut self, cancel: Cancel) {
        self.cancel = Some(cancel);
    }

    /// Hears what scripts and command lines write while they run. Results have it again.
    pub fn listen_with(&mut self, listener: Arc<OutputListener<'static>>) {
        self.listener = Some(listener);
    }

    /// The tools that servers offer, by which bare names in the lists of skills are understood.
    pub fn server_tools(&mut self, tools: McpTools) {
        self.servers = tools;
    }

    /// The control of calls that the program makes itself.
    fn control(&self) -> CallControl<'_> {
        CallControl {
            cancel: self.cancel.as_ref(),
            listener: self.listener.as_deref(),
            ..CallControl::default()
        }
    }

    pub(crate) fn snapshot(&self) -> &Arc<Snapshot> {
        self.toolset.visible().snapshot()
    }

    pub(crate) fn surface(&self) -> Surface {
        self.toolset.surface()
    }

    /// The skills that were activated, the last one at the end.
    pub(crate) fn active_ids(&self) -> Vec<EntryId> {
        lock(&self.active).ids.clone()
    }

    /// The skill that was activated last.
    pub(crate) fn last_active(&self) -> Option<EntryId> {
        lock(&self.active).ids.last().copied()
    }

    /// A skill as the gate knows it.
    pub(crate) fn skill(&self, id: EntryId) -> Skill {
        match self.snapshot().entry(id) {
            Some(entry) => policy_skill(self.snapshot(), entry),
            // Ids come from this very snapshot; anything else gets what nothing trusts.
            None => Skill { trust: Trust::Untrusted, ..Skill::new("", "") },
        }
    }

    /// Makes a skill the last one of the conversation.
    fn mark_active(&self, active: &mut ActiveSkills, id: EntryId) {
        let Some(folder) = self.folder(id) else { return };
        if let Some(at) = active.ids.iter().position(|known| *known == id) {
            active.ids.remove(at);
            active.folders.remove(at);
        }
        active.ids.push(id);
        active.folders.push(folder);
    }

    /// Makes the skills in these folders the active ones, as far as they are there.
    fn set_active(&self, folders: &[PathBuf]) {
        let found = folders.iter().filter_map(|folder| Some((self.id_of(folder)?, folder.clone())));
        let (ids, folders) = found.unzip();
        let mut active = lock(&self.active);
        (active.ids, active.folders) = (ids, folders);
    }

    /// The folder of a skill, by which it is known from one snapshot to the next.
    fn folder(&self, id: EntryId) -> Option<PathBuf> {
        let snapshot = self.snapshot();
        snapshot.entry(id).map(|entry| snapshot.folder(entry))
    }

    /// The skill in this folder.
    fn id_of(&self, folder: &Path) -> Option<EntryId> {
        let snapshot = self.snapshot();
        let mut entries = snapshot.entries();
        entries.find(|(_, entry)| snapshot.folder(entry) == folder).map(|(id, _)| id)
    }

    fn active_skills(&self) -> MutexGuard<'_, ActiveSkills> {
        lock(&self.active)
    }

    /// Secrets are read again when a process wants one: the user may have set another since.
    fn forget_secrets(&self) {
        lock(&self.secrets).clear();
    }
}

impl fmt::Debug for SkillSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = lock(&self.active);
        f.debug_struct("SkillSession")
            .field("id", &self.id)
            .field("active", &active.folders)
            .finish_non_exhaustive()
    }
}

//! What a session offers to an agent that has tools of its own beside those of its skills.

use std::path::PathBuf;
use std::time::Duration;

use metier_catalog::{EntryId, RoutingRecord, SHORTLIST_BUDGET, SHORTLIST_LENGTH, Shortlist};
use metier_exec::{ChangeReport, EditError, FileEdit, RunOutput};
use metier_policy::{Action, Answer, Decision, McpTools, Question, Skill};
use metier_sandbox::Cancel;

use super::room::{Listener, OwnJob};
use super::session::Session;
use crate::toolset::{Hands, NotDone};

/// A skill that was activated in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// Who it is, for the gate.
    pub skill: Skill,
    /// Its folder.
    pub folder: PathBuf,
    /// The digest of the text that is in the conversation.
    pub digest: String,
}

/// What a skill says of itself for records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Its version, where it has one.
    pub version: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

/// An answer that holds for longer than once, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The question.
    pub question: Question,
    /// The answer.
    pub answer: Answer,
}

impl Session {
    /// What was answered for longer than once since this was last asked, for whoever writes it down.
    pub fn take_given(&mut self) -> Vec<GivenAnswer> {
        std::mem::take(&mut *self.room.given.borrow_mut())
    }

    /// May the agent do this? Where it takes a yes and somebody can be asked, that has been done when this returns.
    pub fn decide(&self, action: &Action) -> Decision {
        Hands::decide(&self.room, action)
    }

    /// The same without asking anybody.
    pub fn judge(&self, action: &Action) -> Decision {
        self.room.judge(action)
    }

    /// Does a job of the agent's own in the project, and again after each yes that it takes. It sees the folders of the
    /// active skills, since their texts name files of theirs.
    pub fn run_own(&self, time: Duration, job: &mut OwnJob<'_>) -> Result<RunOutput, NotDone> {
        self.room.run_own(time, &self.folders, job)
    }

    /// Writes a file that [`Session::decide`] has allowed to be written, so that it is listed and can be undone like the changes
    /// of a command. `None` for a program that keeps nothing: it writes by itself.
    pub fn write_own(&self, edit: &FileEdit<'_>) -> Result<Option<ChangeReport>, EditError> {
        self.room.write_own(edit)
    }

    /// Takes back whatever runs when `cancel` says so.
    pub fn cancel_with(&mut self, cancel: Cancel) {
        self.room.cancel = Some(cancel);
    }

    /// Lets somebody hear what scripts and command lines of skills write while they run. Results have it again.
    pub fn listen_with(&mut self, listener: Listener) {
        self.room.listener = Some(listener);
    }

    /// Says which tools servers offer, by which bare names in the lists of skills are understood.
    pub fn tools_from_outside(&mut self, tools: McpTools) {
        self.room.servers = tools;
    }

    /// The skills that were activated, the last one at the end.
    pub fn active(&self) -> Vec<Active> {
        self.active.iter().filter_map(|id| self.about(*id)).collect()
    }

    /// What is known of a skill that was activated.
    pub fn about(&self, id: EntryId) -> Option<Active> {
        let snapshot = &self.room.snapshot;
        let entry = snapshot.entry(id)?;
        let skill = Hands::skill(&self.room, id);
        let digest = self.room.conversation.borrow().digest(&skill);
        let digest = digest.map_or_else(String::new, |digest| digest.to_string());
        Some(Active { folder: snapshot.folder(entry), digest, skill })
    }

    /// What a skill says of itself for records. Its file is read for it.
    pub fn labels(&self, id: EntryId) -> Labels {
        let snapshot = &self.room.snapshot;
        let Some(entry) = snapshot.entry(id) else { return Labels::default() };
        let file = snapshot.read(entry).ok();
        let manifest = file.as_ref().and_then(|file| file.manifest());
        let version = entry.version().map(|version| version.to_string());
        Labels { version, tags: manifest.map(|manifest| manifest.more.tags.clone()).unwrap_or_default() }
    }

    /// The same of the skill that was activated last.
    pub fn labels_of_last(&self) -> Option<Labels> {
        self.active.last().map(|id| self.labels(*id))
    }

    /// The skills that fit a request, as a record, and the note that tells the model of them. The note is empty where nothing
    /// fits. Where the catalogue has every skill in full nobody needs it.
    pub fn shortlist(&self, request: &str) -> (RoutingRecord, String) {
        let snapshot = &self.room.snapshot;
        let mut route = self.room.house.finder(snapshot).route(request, SHORTLIST_LENGTH);
        let visible = self.toolset().visible();
        route.skills.retain(|routed| visible.has(routed.entry));
        let note = Shortlist::new(snapshot, &route, SHORTLIST_BUDGET, "skill_search");
        (RoutingRecord::new(snapshot, &route), note.text)
    }
}

//! Calls that belong to no conversation, such as those of another program that has the conversation and not the skills.

use std::path::PathBuf;
use std::sync::Arc;

use metier_activation::{DisallowedTools, ScopeEnd, SessionActivations, SkillScope, SkillTerms};
use metier_catalog::EntryId;
use metier_policy::{Action, Answer, Decision, McpTools};
use serde_json::Value;

use super::room::{Room, Spot};
use super::session::Session;
use crate::toolset::{Purpose, RunsFor, ToolResult};

/// Who answers the questions of a session: what is to happen, and what was decided about it.
pub type Respondent = dyn Fn(&Action, &Decision) -> Answer + Send + Sync;

impl Session {
    /// Begins anew: nothing was said, nothing was answered, no skill is active but those in these folders, and what has
    /// changed is taken up. A server keeps a session for the calls of hosts whose conversations it does not see.
    pub fn begin_anew(&mut self, active: &[PathBuf]) {
        // The rules are read with what has changed.
        self.refresh();
        self.room.conversation.replace(SessionActivations::default());
        super::house::lock(&self.room.answers).forget_refusals();
        self.room.forget_secrets();
        self.room.cancel = None;
        self.folders = active.to_vec();
        self.folders.retain(|folder| self.room.id_of(folder).is_some());
        self.active = self.folders.iter().filter_map(|folder| self.room.id_of(folder)).collect();
    }

    /// Who answers questions in this session, instead of whoever the program named for all; without anybody what would ask
    /// is refused.
    pub fn ask_with(&mut self, respondent: Option<Arc<Respondent>>) {
        self.room.ask = respondent;
        // Somebody else's open question is nothing to wait for: whoever answers here puts questions in a row where that is needed,
        // and can take them back.
        self.room.one_question = Arc::default();
    }

    /// The same as [`Session::call`], under the fence and with the grants of the skill that the call names, as if it were
    /// active; of the skill that is active where it names none.
    ///
    /// Without a conversation nobody knows which skills a model has read. That a call names a skill is what is known.
    pub fn call_in_scope(&mut self, name: &str, arguments: &Value) -> ToolResult {
        let id = match self.toolset().runs_for(name, arguments) {
            // A name that cannot be had is for the call itself to answer.
            Some(RunsFor::Named(named)) => {
                self.toolset().visible().find(named, Purpose::Use, &self.active).ok()
            }
            Some(RunsFor::TheLast) => self.active.last().copied(),
            // Its own files are never fenced, and an activation opens its scope itself.
            None => None,
        };
        match id.map(|id| self.room.scope_of(id)).transpose() {
            Ok(Some(scope)) => {
                self.room.conversation.borrow_mut().scopes.open(scope);
            }
            Ok(None) => {}
            // Where nobody knows the fence nothing is done.
            Err(why) => return ToolResult::refused(why),
        }
        self.call(name, arguments)
    }
}

impl Room {
    /// The scope that an activation of a skill would open.
    pub(super) fn scope_of(&self, id: EntryId) -> Result<SkillScope, String> {
        let Spot { skill, folders, .. } = self.spot(id)?;
        let snapshot = &self.snapshot;
        let file = snapshot.entry(id).map(|entry| snapshot.read(entry)).transpose();
        let file = file.ok().flatten();
        let manifest = file.as_ref().and_then(|file| file.manifest());
        let manifest =
            manifest.ok_or_else(|| format!("the skill `{}` cannot be read any more", skill.name))?;
        let terms = SkillTerms {
            snapshot,
            id,
            manifest,
            skill: &skill,
            folder: &folders.skill,
            data: folders.data.as_deref(),
            plugin: folders.plugin(),
            project: snapshot.layout().project.as_ref().map(|project| project.folder.as_path()),
            servers: &McpTools::default(),
            dialect: self.surface.dialect(),
        };
        let scope = SkillScope::new(&skill, terms.open(DisallowedTools::Apply), manifest);
        Ok(SkillScope { end: ScopeEnd::NextUserMessage, ..scope })
    }
}

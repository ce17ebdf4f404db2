//! Calls that belong to no conversation, such as those of another program that has the conversation and not the skills.

use std::path::PathBuf;

use metier_activation::{DisallowedTools, ScopeEnd, SessionActivations, SkillScope, SkillTerms};
use metier_catalog::EntryId;
use metier_policy::McpTools;
use serde_json::Value;

use super::{SkillSession, UseError};
use crate::tool::ToolResult;
use crate::toolset::{Purpose, RunsFor};

impl SkillSession {
    /// Starts again: nothing was said, nothing was answered, no skill is active but those in these folders, and changes of skills take
    /// effect. A server reuses sessions for the calls of hosts whose conversations it does not see.
    pub fn restart(&mut self, active: &[PathBuf]) {
        // The rules are read with what has changed.
        self.refresh();
        self.active_skills().conversation = SessionActivations::default();
        self.policy.forget_refusals();
        self.forget_secrets();
        self.cancel = None;
        self.set_active(active);
    }

    /// The same as [`SkillSession::call`], under the fence and with the grants of the skill that the call names, as if it were active;
    /// of the skill that is active where it names none.
    ///
    /// Without a conversation it is unknown which skills a model has read. That a call names a skill is known.
    pub fn call_in_scope(&self, name: &str, input: &Value) -> ToolResult {
        let id = match self.toolset().runs_for(name, input) {
            // A name that cannot be had is for the call itself to answer.
            Some(RunsFor::Named(named)) => {
                self.toolset().visible().find(named, Purpose::Use, &self.active_ids()).ok()
            }
            Some(RunsFor::TheLast) => self.last_active(),
            // Its own files are never fenced, and an activation opens its scope itself.
            None => None,
        };
        match id.map(|id| self.scope_of(id)).transpose() {
            Ok(Some(scope)) => {
                self.active_skills().conversation.scopes.open(scope);
            }
            Ok(None) => {}
            // Nothing is done while the fence is unknown.
            Err(why) => return ToolResult::refused(why.to_string()),
        }
        self.call(name, input)
    }

    /// The scope that an activation of a skill would open.
    pub(super) fn scope_of(&self, id: EntryId) -> Result<SkillScope, UseError> {
        let process = self.bare_process(id)?;
        let (snapshot, skill, folders) = (self.snapshot(), &process.skill, &process.folders);
        let file = snapshot.entry(id).and_then(|entry| snapshot.read(entry).ok());
        let manifest = file.as_ref().and_then(|file| file.manifest());
        let manifest = manifest.ok_or_else(|| UseError::Unreadable(skill.name.clone()))?;
        let terms = SkillTerms {
            snapshot,
            id,
            manifest,
            skill,
            folder: &folders.skill,
            data: folders.data.as_deref(),
            plugin: folders.plugin.as_ref(),
            project: snapshot.layout().project.as_ref().map(|project| project.folder.as_path()),
            servers: &McpTools::default(),
            dialect: self.surface().dialect(),
        };
        let scope = SkillScope::new(skill, terms.open(DisallowedTools::Apply), manifest);
        Ok(SkillScope { end: ScopeEnd::NextUserMessage, ..scope })
    }
}

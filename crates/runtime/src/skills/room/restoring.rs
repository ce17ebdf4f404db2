//! What was active in a conversation before its process ended.

use metier_activation::{
    ActivationContext, ActivationDraft, ActivationRequest, Invoker, Reopen, RestoredText, ScopeEnd,
    SkillArguments, SkillScope, injection_start,
};
use metier_catalog::EntryId;
use metier_exec::{RequestedGrants, StartDir, policy_skill};
use metier_files::FileDigest;
use metier_policy::McpTools;
use metier_sandbox::Limits;

use super::{Room, Supply};
use crate::skills::house::lock;

/// A skill that was activated before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Its name.
    pub name: String,
    /// Where it is from.
    pub origin: String,
    /// With what it was started.
    pub arguments: SkillArguments,
    /// The digest of the text that is in the conversation; `None` where it was cut away since.
    pub digest: Option<String>,
    /// Whether its scope is open.
    pub open: Reopen,
}

impl Room {
    /// Takes one up, if there is a skill of that name and origin still.
    pub(in crate::skills) fn restore(&self, restored: &Restored) -> Option<EntryId> {
        // In this conversation there is no child whose end could be its end.
        let (id, scope) = self.restored_scope(restored, ScopeEnd::NextUserMessage)?;
        self.reopen(scope, restored);
        Some(id)
    }

    /// Opens a scope again, and knows the text that is in the conversation.
    pub(in crate::skills) fn reopen(&self, scope: SkillScope, restored: &Restored) {
        let digest = restored.digest.as_ref().and_then(|digest| digest.parse::<FileDigest>().ok());
        let text = RestoredText { arguments: restored.arguments.clone(), digest };
        self.conversation.borrow_mut().restore(scope, text, restored.open);
    }

    /// The scope of one, if there is a skill of that name and origin still. Its fence is that of its file as it is now: of what the
    /// file was then nothing is left but the text.
    pub(in crate::skills) fn restored_scope(
        &self,
        restored: &Restored,
        end: ScopeEnd,
    ) -> Option<(EntryId, SkillScope)> {
        let is_meant = |entry| {
            let skill = policy_skill(&self.snapshot, entry);
            skill.name == restored.name && skill.origin == restored.origin
        };
        let (id, _) = self.snapshot.entries().find(|(_, entry)| is_meant(entry))?;
        let scope = self.drafted(id, &restored.arguments, |draft| SkillScope { end, ..draft.scope() })?;
        Some((id, scope))
    }

    /// What an activation would be, without doing any of it. `None` where the skill cannot be read.
    pub(in crate::skills) fn drafted<T>(
        &self,
        id: EntryId,
        arguments: &SkillArguments,
        look: impl FnOnce(&ActivationDraft<'_>) -> T,
    ) -> Option<T> {
        let entry = self.snapshot.entry(id)?;
        let spot = self.spot(id).ok()?;
        let (grants, variables) = (RequestedGrants::default(), self.variables(&RequestedGrants::default()));
        let answers = lock(&self.answers).clone();
        let supply = Supply {
            grants: &grants,
            toolbox: self.house.toolbox(),
            limits: Limits::default(),
            start: StartDir::Skill,
            answers: &answers,
        };
        let looked = self.with(&spot, supply, |_, context| {
            let setting = ActivationContext {
                snapshot: &self.snapshot,
                id,
                context,
                start: injection_start(self.snapshot.root(entry)),
                missing: &[],
                environment: &variables,
                servers: &McpTools::default(),
                dialect: self.surface.dialect(),
            };
            let request = ActivationRequest { by: Invoker::Caller, arguments };
            ActivationDraft::open(&setting, request).map(|draft| look(&draft))
        });
        looked.ok()
    }
}

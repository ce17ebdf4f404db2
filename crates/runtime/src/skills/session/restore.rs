//! What was active in a conversation before its process ended.

use metier_activation::{RestoredText, ScopeEnd, SkillArguments, SkillScope};
use metier_catalog::EntryId;
use metier_exec::policy_skill;
use metier_files::FileDigest;

use super::SkillSession;

/// A skill that was activated before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredSkill {
    /// Its name.
    pub name: String,
    /// Where it is from.
    pub origin: String,
    /// With what it was started.
    pub arguments: SkillArguments,
    /// The digest of the text that is in the conversation; `None` where it was cut away since.
    pub digest: Option<String>,
    /// Whether its scope is open: the user has not spoken since.
    pub is_open: bool,
}

impl SkillSession {
    /// Takes one up, if there is a skill of that name and origin still.
    pub(super) fn restore_one(&self, restored: &RestoredSkill) -> Option<EntryId> {
        // In this conversation there is no child whose end could be its end.
        let (id, scope) = self.restored_scope(restored, ScopeEnd::NextUserMessage)?;
        self.reopen(id, scope, restored);
        Some(id)
    }

    /// Opens a scope again, and knows the text that is in the conversation.
    pub(super) fn reopen(&self, id: EntryId, scope: SkillScope, restored: &RestoredSkill) {
        let digest = restored.digest.as_ref().and_then(|digest| digest.parse::<FileDigest>().ok());
        let text = RestoredText { arguments: restored.arguments.clone(), digest };
        let mut active = self.active_skills();
        active.conversation.restore(scope, text, restored.is_open);
        self.mark_active(&mut active, id);
    }

    /// The scope of one, if there is a skill of that name and origin still. Its fence is that of its file as it is now: of what the
    /// file was then nothing is left but the text.
    pub(super) fn restored_scope(
        &self,
        restored: &RestoredSkill,
        end: ScopeEnd,
    ) -> Option<(EntryId, SkillScope)> {
        let is_meant = |entry| {
            let skill = policy_skill(self.snapshot(), entry);
            skill.name == restored.name && skill.origin == restored.origin
        };
        let (id, _) = self.snapshot().entries().find(|(_, entry)| is_meant(entry))?;
        let preview = self.preview(id, &restored.arguments)?;
        Some((id, SkillScope { end, ..preview.scope }))
    }
}

//! What was active in a conversation before its process ended.

use metier_catalog::EntryId;
use metier_files::FileDigest;
use metier_policy::McpTools;
use metier_sandbox::Limits;

use super::{Room, Supply};
use crate::activation::{By, Draft, Reopen, Request, RestoredText, Setting};
use crate::containment::Start;
use crate::injection::injection_start;
use crate::render::Arguments;
use crate::rule_files::known_to_the_gate;
use crate::scope::{End, SkillScope};
use crate::skills::house::lock;
use crate::wants::Wants;

/// A skill that was activated before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Its name.
    pub name: String,
    /// Where it is from.
    pub origin: String,
    /// With what it was started.
    pub arguments: Arguments,
    /// The digest of the text that is in the conversation; `None` where it was cut away since.
    pub digest: Option<String>,
    /// Whether its scope is open.
    pub open: Reopen,
}

impl Room {
    /// Takes one up, if there is a skill of that name and origin still.
    pub(in crate::skills) fn restore(&self, restored: &Restored) -> Option<EntryId> {
        // In this conversation there is no child whose end could be its end.
        let (id, scope) = self.restored_scope(restored, End::NextUserMessage)?;
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
        end: End,
    ) -> Option<(EntryId, SkillScope)> {
        let is_meant = |entry| {
            let skill = known_to_the_gate(&self.snapshot, entry);
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
        arguments: &Arguments,
        look: impl FnOnce(&Draft<'_>) -> T,
    ) -> Option<T> {
        let entry = self.snapshot.entry(id)?;
        let spot = self.spot(id).ok()?;
        let (wants, variables) = (Wants::default(), self.variables(&Wants::default()));
        let answers = lock(&self.answers).clone();
        let supply = Supply {
            wants: &wants,
            toolbox: self.house.toolbox(),
            limits: Limits::default(),
            start: Start::Skill,
            answers: &answers,
        };
        let looked = self.with(&spot, supply, |_, using| {
            let setting = Setting {
                snapshot: &self.snapshot,
                id,
                using,
                start: injection_start(self.snapshot.root(entry)),
                missing: &[],
                environment: &variables,
                servers: &McpTools::default(),
                dialect: self.surface.dialect(),
            };
            let request = Request { by: By::Caller, arguments };
            Draft::open(&setting, request).map(|draft| look(&draft))
        });
        looked.ok()
    }
}

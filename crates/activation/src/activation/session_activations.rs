//! The skills whose texts are in a session already.

use metier_files::FileDigest;
use metier_policy::Skill;

use super::{Activation, ActivationOutcome};
use crate::render::SkillArguments;
use crate::scope::{ScopeId, Scopes, SkillScope};

/// The skills of one session: whose text is in it, and whose scopes are open.
#[derive(Clone, Debug, Default)]
pub struct SessionActivations {
    entered: Vec<Entered>,
    /// The scopes.
    pub scopes: Scopes,
}

#[derive(Clone, Debug)]
struct Entered {
    skill: Skill,
    arguments: SkillArguments,
    digest: FileDigest,
    scope: ScopeId,
}

/// A text that is in a resumed session.
#[derive(Clone, Debug)]
pub struct RestoredText {
    /// The arguments that it was made with.
    pub arguments: SkillArguments,
    /// `None` where the text was cut away since.
    pub digest: Option<FileDigest>,
}

/// A skill that is in the session already, with the same arguments.
#[derive(Clone, Debug)]
pub struct RepeatedActivation {
    /// Who it is.
    pub skill: Skill,
    /// The note that goes into the conversation.
    pub note: String,
    /// The scope, which the note opens again.
    pub scope: SkillScope,
    place: usize,
}

impl SessionActivations {
    /// The conversation of a child, which knows nothing of what was said and is held by what holds the parent.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { entered: Vec::new(), scopes: self.scopes.child() }
    }

    /// Takes what an activation gave, opens its scope, and says which that is.
    pub fn enter(&mut self, activated: &ActivationOutcome) -> ScopeId {
        match activated {
            ActivationOutcome::Fresh(activation) => self.enter_fresh(activation),
            ActivationOutcome::Again(again) => self.enter_again(again),
        }
    }

    /// The same for an activation that is new to it.
    pub fn enter_fresh(&mut self, activation: &Activation) -> ScopeId {
        let scope = self.scopes.open(activation.scope.clone());
        self.entered.push(Entered {
            skill: activation.skill.clone(),
            arguments: activation.arguments.clone(),
            digest: activation.digest,
            scope,
        });
        scope
    }

    fn enter_again(&mut self, again: &RepeatedActivation) -> ScopeId {
        let known = self.entered.get(again.place).map(|entered| entered.scope);
        if let Some(open) = known.filter(|scope| self.scopes.get(*scope).is_some()) {
            return open;
        }
        let scope = self.scopes.open(again.scope.clone());
        if let Some(entered) = self.entered.get_mut(again.place) {
            entered.scope = scope;
        }
        scope
    }

    /// The digest of a skill's text that is in the conversation, the latest one.
    pub fn digest(&self, skill: &Skill) -> Option<FileDigest> {
        self.entered.iter().rfind(|entered| entered.skill.is(skill)).map(|entered| entered.digest)
    }

    /// A message of the user: inline scopes are over.
    pub fn user_message(&mut self) -> Vec<ScopeId> {
        self.scopes.user_message()
    }

    /// Forgets which texts are in the conversation: they were cut away, and the next activation brings a new copy. Scopes
    /// stay as they are.
    pub fn forget_texts(&mut self) {
        self.entered.clear();
    }

    /// Forgets the texts of skills whose scopes are over: they were cut away. Those of the others are in the conversation still.
    pub fn forget_ended_texts(&mut self) {
        let scopes = &self.scopes;
        self.entered.retain(|entered| scopes.get(entered.scope).is_some());
    }

    /// Takes a text that is in the conversation from before, as it was then: nothing is rendered and nothing runs. The scope is
    /// open again only where it was.
    pub fn restore(&mut self, scope: SkillScope, text: RestoredText, is_open: bool) {
        let skill = scope.skill.clone();
        let id = self.scopes.open(scope);
        if !is_open {
            self.scopes.close(id);
        }
        let RestoredText { arguments, digest } = text;
        if let Some(digest) = digest {
            self.entered.push(Entered { skill, arguments, digest, scope: id });
        }
    }

    /// Where this skill is in the conversation. Another digest is another text: whoever changed a skill gets it anew.
    pub(super) fn place(
        &self,
        skill: &Skill,
        arguments: &SkillArguments,
        digest: FileDigest,
    ) -> Option<usize> {
        let is_same = |entered: &Entered| {
            entered.skill.is(skill) && entered.arguments == *arguments && entered.digest == digest
        };
        self.entered.iter().rposition(is_same)
    }
}

impl RepeatedActivation {
    pub(super) fn new(skill: &Skill, scope: SkillScope, place: usize) -> Self {
        let note = format!(
            "Skill '{}' is in this conversation already, with the same arguments. Its instructions above hold again.",
            skill.name
        );
        Self { skill: skill.clone(), note: super::envelope::neutral(&note).into_owned(), scope, place }
    }
}

//! A conversation that is held by rules of its own, or by those of another one, before any skill is active.

use metier_policy::Scope;

use super::session::Session;

impl Session {
    /// Makes it a conversation beneath another one: what holds there holds here, and an answer that was given to a question
    /// there is not asked for again.
    #[must_use]
    pub fn beneath(mut self, parent: &Self) -> Self {
        self.room.continue_from(&parent.room);
        self
    }

    /// Holds the conversation by a scope to its end, as an agent's own list of tools does.
    #[must_use]
    pub fn held_by(self, scope: Scope) -> Self {
        self.room.conversation.borrow_mut().scopes.hold(scope);
        self
    }
}

//! A conversation that is held by rules of its own, before any skill is active.

use metier_policy::Scope;

use super::session::Session;

impl Session {
    /// Holds the conversation by a scope to its end, as an agent's own list of tools does.
    #[must_use]
    pub fn held_by(self, scope: Scope) -> Self {
        self.room.conversation.borrow_mut().scopes.hold(scope);
        self
    }
}

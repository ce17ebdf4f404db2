//! A conversation that is held by rules of its own, before any skill is active.

use metier_policy::Scope;

use super::session::Session;
use crate::scope::Scopes;

impl Session {
    /// Holds the conversation by a scope from its beginning to its end, as an agent's own list of tools does. It has to be said
    /// before the first skill is activated: what was active is forgotten.
    #[must_use]
    pub fn held_by(self, scope: Scope) -> Self {
        self.room.conversation.borrow_mut().scopes = Scopes::held_by(vec![scope]);
        self
    }
}

//! The models that skills may ask for: this user's aliases, and models of providers that this user has.

use crate::model_choice::{MODEL_FLAG, Wish};
use crate::surroundings::Surroundings;
use metier_agent::Models;
use metier_model::{ChatModel, ModelId, Prices};
use std::sync::Arc;

/// The models of this user's configuration.
struct Configured {
    surroundings: Surroundings,
    /// Whose model the session works with: somebody chose it.
    provider: String,
}

/// The models that skills may ask for in a session that works with this one.
pub(crate) fn configured(surroundings: &Surroundings, model: &ModelId) -> Arc<dyn Models> {
    Arc::new(Configured { surroundings: surroundings.clone(), provider: model.provider().to_owned() })
}

impl Models for Configured {
    fn resolve(&self, name: &str) -> Option<(Arc<dyn ChatModel>, Option<Prices>)> {
        let wish = Wish::new(Some(name), MODEL_FLAG, &self.surroundings);
        let chosen = wish.of_a_skill(&self.provider)?;
        Some((chosen.model, chosen.choice.prices))
    }
}

//! The models that skills may ask for: this user's aliases, and models of providers that this user has.

use crate::environment;
use crate::model_choice::Wish;
use crate::surroundings::Surroundings;
use metier_agent::Models;
use metier_model::{ChatModel, Prices};
use std::sync::Arc;

/// The models of this user's configuration.
struct Configured(Surroundings);

/// The models that skills may ask for.
pub(crate) fn configured(surroundings: &Surroundings) -> Arc<dyn Models> {
    Arc::new(Configured(surroundings.clone()))
}

impl Models for Configured {
    fn resolve(&self, name: &str) -> Option<(Arc<dyn ChatModel>, Option<Prices>)> {
        let wish = Wish {
            named: Some(name),
            settings: &self.0.layout.settings.models,
            variable: &environment::variable,
            shown: &|path| self.0.shown(path),
        };
        let chosen = wish.of_a_skill()?;
        Some((chosen.model, chosen.choice.prices))
    }
}

//! Selects the model of a skill that asks for one.

use std::sync::Arc;

use metier_model::{ChatModel, Effort, Prices};
use metier_store::{Agreement, EventKind, EventSeverity};

use crate::lock;
use crate::subagent::SharedBudget;
use metier_tools::{Ask, Reply};

/// The models that a skill may ask for by name: aliases of the user's configuration, or `provider/model` of a provider that the user
/// has.
pub trait Models: Send + Sync {
    /// The model of this name, and what it costs. `None` if it is unknown or cannot be asked.
    fn resolve(&self, name: &str) -> Option<(Arc<dyn ChatModel>, Option<Prices>)>;
}

/// A model, its prices, and how much it thinks.
#[derive(Clone)]
pub struct ModelSelection {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Its prices, if they are known.
    pub prices: Option<Prices>,
    /// How much it thinks.
    pub effort: Option<Effort>,
}

/// What a skill asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModelPreference {
    pub(crate) skill: String,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
}

/// Why a preference is not met: a code, and the words.
type Unmet = (&'static str, String);

/// Resolves preferences to models.
pub(crate) struct ModelResolver<'a> {
    pub(crate) models: Option<&'a dyn Models>,
    pub(crate) budget: &'a SharedBudget,
    pub(crate) ask: Option<&'a dyn Ask>,
    /// Used if a preference cannot be met.
    pub(crate) current: &'a ModelSelection,
}

impl ModelResolver<'_> {
    /// The model that a skill gets, and remarks about it.
    pub(crate) fn select(&self, preference: &ModelPreference) -> (ModelSelection, Vec<EventKind>) {
        let mut selection = self.current.clone();
        let mut remarks = Vec::new();
        if let Some(name) = &preference.model {
            match self.model(&preference.skill, name, &mut remarks) {
                Ok((model, prices)) => (selection.model, selection.prices) = (model, prices),
                Err((code, message)) => remarks.push(warning(code, message)),
            }
        }
        if let Some(word) = &preference.effort {
            match effort(word) {
                Some(effort) => selection.effort = Some(effort),
                None => remarks.push(warning(
                    "effort-unknown",
                    format!(
                        "the skill `{}` asks for the effort `{}`; there are `low`, `medium`, `high` and a number of tokens",
                        preference.skill,
                        metier_catalog::one_line(word, 100)
                    ),
                )),
            }
        }
        (selection, remarks)
    }

    /// The model of this name, or why it is not asked.
    fn model(
        &self,
        skill: &str,
        name: &str,
        remarks: &mut Vec<EventKind>,
    ) -> Result<(Arc<dyn ChatModel>, Option<Prices>), Unmet> {
        let now = self.current.model.id();
        let shown = metier_catalog::one_line(name, 100);
        let Some((model, prices)) = self.models.and_then(|models| models.resolve(name)) else {
            let text = format!(
                "the skill `{skill}` asks for the model `{shown}`, which is not known or cannot be asked; `{now}` works instead. \
                 `[models.{shown}]` in your config.toml would name it"
            );
            return Err(("model-unknown", text));
        };
        if model.id().provider() == now.provider() || self.is_agreed(skill, model.id().as_str(), remarks) {
            return Ok((model, prices));
        }
        let text = format!(
            "the skill `{skill}` asks for the model `{}` of another provider, and nobody agreed; `{now}` works instead",
            model.id()
        );
        Err(("model-not-agreed", text))
    }

    /// Another provider would see the conversation, so the user is asked once for each. The answer is an event, so it also holds in a
    /// resumed session.
    fn is_agreed(&self, skill: &str, model: &str, remarks: &mut Vec<EventKind>) -> bool {
        let provider = model.split('/').next().unwrap_or_default().to_owned();
        let mut agreed = lock(&self.budget.providers);
        if let Some(known) = agreed.get(&provider) {
            return *known;
        }
        let Some(ask) = self.ask else { return false };
        let question = format!(
            "The skill `{skill}` wants to work with the model `{model}`. What is said in it would go to `{provider}`, another \
             provider than that of this session, `{}`. May it, for this session?",
            self.current.model.id().provider()
        );
        let yes = "yes".to_owned();
        let reply = ask.ask(&question, &[yes.clone(), "no".to_owned()]);
        let is_yes = matches!(&reply, Reply::Said(said) if said.trim().eq_ignore_ascii_case(&yes));
        if reply != Reply::Unanswered {
            let said = if is_yes { Agreement::Yes } else { Agreement::No };
            remarks.push(EventKind::Agreed { provider: provider.clone(), said });
        }
        agreed.insert(provider, is_yes);
        is_yes
    }
}

/// Parses an effort in the words of other clients.
pub(crate) fn effort(word: &str) -> Option<Effort> {
    match word.to_ascii_lowercase().as_str() {
        "low" | "minimal" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "high" | "xhigh" | "max" => Some(Effort::High),
        number => number.parse().ok().map(Effort::Tokens),
    }
}

fn warning(code: &str, message: String) -> EventKind {
    remark(code, EventSeverity::Warning, message)
}

/// A diagnostic event.
pub(crate) fn remark(code: &str, severity: EventSeverity, message: String) -> EventKind {
    EventKind::Diagnosed { code: code.to_owned(), message, severity: Some(severity), place: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_is_a_word_or_a_number() {
        for (word, expect) in [
            ("low", Some(Effort::Low)),
            ("High", Some(Effort::High)),
            ("max", Some(Effort::High)),
            ("4000", Some(Effort::Tokens(4000))),
            ("-1", None),
            ("very", None),
        ] {
            assert_eq!(effort(word), expect, "{word}");
        }
    }
}

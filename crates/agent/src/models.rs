//! Which model works for a skill that asks for one.

use std::sync::Arc;

use metier_model::{ChatModel, Effort, Prices};
use metier_store::{Agreement, EventKind, EventSeverity};

use crate::bridge::lock;
use crate::child::Family;
use crate::tools::{Ask, Reply};

/// The models that a skill may ask for by name: aliases of the user's configuration, or `provider/model` of a provider that the user
/// has.
pub trait Models: Send + Sync {
    /// The model of this name, and what it costs. `None` where it is not known or cannot be asked.
    fn resolve(&self, name: &str) -> Option<(Arc<dyn ChatModel>, Option<Prices>)>;
}

/// Who answers, what that costs, and how much it thinks.
#[derive(Clone)]
pub(crate) struct Mind {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) prices: Option<Prices>,
    pub(crate) effort: Option<Effort>,
}

/// What a skill asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) skill: String,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
}

/// Why a wish is not met.
struct Unmet {
    code: &'static str,
    message: String,
}

/// What a wish is held against.
pub(crate) struct Choosing<'a> {
    pub(crate) models: Option<&'a dyn Models>,
    pub(crate) family: &'a Family,
    pub(crate) ask: Option<&'a (dyn Ask + Send)>,
    /// What holds where a wish cannot be met.
    pub(crate) now: &'a Mind,
}

impl Choosing<'_> {
    /// The mind that a skill gets, and what there is to say about it.
    pub(crate) fn mind(&self, wish: &Wish) -> (Mind, Vec<EventKind>) {
        let mut mind = self.now.clone();
        let mut remarks = Vec::new();
        if let Some(name) = &wish.model {
            match self.model(&wish.skill, name, &mut remarks) {
                Ok((model, prices)) => (mind.model, mind.prices) = (model, prices),
                Err(Unmet { code, message }) => remarks.push(warning(code, message)),
            }
        }
        if let Some(word) = &wish.effort {
            match effort(word) {
                Some(effort) => mind.effort = Some(effort),
                None => remarks.push(warning(
                    "effort-unknown",
                    format!(
                        "the skill `{}` asks for the effort `{}`; there are `low`, `medium`, `high` and a number of tokens",
                        wish.skill,
                        metier_catalog::one_line(word, 100)
                    ),
                )),
            }
        }
        (mind, remarks)
    }

    fn model(
        &self,
        skill: &str,
        name: &str,
        remarks: &mut Vec<EventKind>,
    ) -> Result<(Arc<dyn ChatModel>, Option<Prices>), Unmet> {
        let now = self.now.model.id();
        let shown = metier_catalog::one_line(name, 100);
        let Some((model, prices)) = self.models.and_then(|models| models.resolve(name)) else {
            let text = format!(
                "the skill `{skill}` asks for the model `{shown}`, which is not known or cannot be asked; `{now}` works instead. \
                 `[models.{shown}]` in your config.toml would name it"
            );
            return Err(Unmet { code: "model-unknown", message: text });
        };
        if model.id().provider() == now.provider() || self.is_agreed(skill, model.id().as_str(), remarks) {
            return Ok((model, prices));
        }
        let text = format!(
            "the skill `{skill}` asks for the model `{}` of another provider, and nobody agreed; `{now}` works instead",
            model.id()
        );
        Err(Unmet { code: "model-not-agreed", message: text })
    }

    /// Another provider gets to see the conversation, so the user is asked, once for each of them. What they say is written down, so
    /// that it holds when the conversation goes on in another process.
    fn is_agreed(&self, skill: &str, model: &str, remarks: &mut Vec<EventKind>) -> bool {
        let provider = model.split('/').next().unwrap_or_default().to_owned();
        let mut agreed = lock(&self.family.providers);
        if let Some(known) = agreed.get(&provider) {
            return *known;
        }
        let Some(ask) = self.ask else { return false };
        let question = format!(
            "The skill `{skill}` wants to work with the model `{model}`. What is said in it would go to `{provider}`, another \
             provider than that of this session, `{}`. May it, for this session?",
            self.now.model.id().provider()
        );
        let yes = "yes".to_owned();
        let reply = ask.ask(&question, &[yes.clone(), "no".to_owned()]);
        let is_yes = matches!(&reply, Reply::Said(said) if said.trim().eq_ignore_ascii_case(&yes));
        if reply != Reply::Nobody {
            let said = if is_yes { Agreement::Yes } else { Agreement::No };
            remarks.push(EventKind::Agreed { provider: provider.clone(), said });
        }
        agreed.insert(provider, is_yes);
        is_yes
    }
}

/// How much a model thinks, by the words that clients have for it.
fn effort(word: &str) -> Option<Effort> {
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

/// Something to say beside the conversation.
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

//! The name of a model: who has it, and what it is called there.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// `provider/model`. The provider ends at the first slash; what follows may have slashes of its own, as in
/// `openrouter/moonshotai/kimi-k2`.
///
/// ```
/// use metier_model::ModelId;
///
/// let id: ModelId = "openrouter/moonshotai/kimi-k2".parse()?;
/// assert_eq!((id.provider(), id.model()), ("openrouter", "moonshotai/kimi-k2"));
/// # Ok::<(), metier_model::ModelIdError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelId {
    text: Arc<str>,
    slash: usize,
}

/// Why a text names no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` names no model; write `provider/model`, such as `ollama/qwen3`")]
pub struct ModelIdError {
    text: String,
}

impl ModelId {
    /// A name that is known to be one: both parts are words of this crate.
    pub(crate) fn built_in(provider: &'static str, model: &'static str) -> Self {
        Self { text: format!("{provider}/{model}").into(), slash: provider.len() }
    }

    /// Who has the model.
    pub fn provider(&self) -> &str {
        self.text.get(..self.slash).unwrap_or_default()
    }

    /// What the provider calls it.
    pub fn model(&self) -> &str {
        self.text.get(self.slash + 1..).unwrap_or_default()
    }

    /// Both, with the slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for ModelId {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || ModelIdError { text: text.to_owned() };
        let slash = text.find('/').ok_or_else(fault)?;
        // A name goes into addresses and onto terminals; neither takes blanks or control characters.
        let is_plain = text.chars().all(|c| !c.is_whitespace() && !c.is_control());
        if slash == 0 || slash + 1 == text.len() || !is_plain {
            return Err(fault());
        }
        Ok(Self { text: text.into(), slash })
    }
}

impl TryFrom<String> for ModelId {
    type Error = ModelIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ModelId> for String {
    fn from(id: ModelId) -> Self {
        id.text.as_ref().to_owned()
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelId({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_ends_at_the_first_slash() {
        let check = |text: &str, expect: Option<(&str, &str)>| {
            let id: Option<ModelId> = text.parse().ok();
            assert_eq!(id.as_ref().map(|id| (id.provider(), id.model())), expect, "{text:?}");
        };
        check("ollama/qwen3:8b", Some(("ollama", "qwen3:8b")));
        check("openrouter/a/b", Some(("openrouter", "a/b")));
        check("qwen3", None);
        check("/qwen3", None);
        check("ollama/", None);
        check("ollama/qwen 3", None);
        check("ollama/qwen\u{7}", None);
        check("", None);
    }
}

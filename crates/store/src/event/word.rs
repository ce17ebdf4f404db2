//! What events say in one word, as types. A word that this program does not know is kept as it is: a newer one wrote it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Defines an enum that is stored as one word. After `|` come words that older programs wrote for the same.
macro_rules! stored_words {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal $(| $old:literal)*,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// A word of a newer program.
            Other(String),
        }

        impl $name {
            /// The word for it, as it is stored.
            pub fn word(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word $(| $old)* => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        stored_as_word!($name);
    };
}

macro_rules! stored_as_word {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(AsRef::<str>::as_ref(&self.word()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(AsRef::<str>::as_ref(&self.word()))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

stored_words! {
    /// What a note to the model is about.
    NoteTopic {
        /// Skills that changed since the session began.
        Skills = "skills",
        /// Skills that fit the request.
        Shortlist = "shortlist",
        /// What a sub-agent in the background brought.
        Subagent = "child",
    }
}

stored_words! {
    /// What the gate decided.
    Verdict {
        /// It may happen.
        Allow = "allow" | "allowed",
        /// A person would have to say yes.
        Ask = "ask",
        /// It may not happen.
        Refuse = "refuse" | "refused",
    }
}

impl Default for Verdict {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

stored_words! {
    /// How far a call is that needs an approval.
    ApprovalStage {
        /// It has not started.
        Before = "before",
        /// It runs, and waits for the answer.
        During = "during",
        /// It has ended; what it changed in the project is not applied yet.
        Changes = "changes",
    }
}

stored_words! {
    /// How bad a finding is.
    EventSeverity {
        /// Worth knowing.
        Info = "info",
        /// Something is not as it was meant.
        Warning = "warning",
        /// Something does not work.
        Error = "error",
    }
}

stored_words! {
    /// Which limit of a run was reached.
    LimitKind {
        /// Requests to the model.
        Turns = "turns",
        /// Tool calls.
        Calls = "calls",
        /// Tokens that no cache served.
        Tokens = "tokens",
        /// Money.
        Money = "money",
        /// Wall-clock time.
        Time = "seconds",
        /// The same failing call again and again.
        Repetition = "repetition",
    }
}

stored_words! {
    /// How a sub-agent runs.
    SubagentMode {
        /// The parent waits for it.
        Fork = "fork",
        /// The parent continues meanwhile.
        Background = "background",
        /// The parent is a router and hands the work over.
        Handoff = "handoff",
    }
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FailedPart {
    /// The request to the model.
    Model,
    /// The activation of a skill.
    Skill,
    /// The tools of all MCP servers together.
    Servers,
    /// One MCP server, by its label.
    Server(String),
    /// A word of a newer program.
    Other(String),
}

/// What stands before the label of a server.
const SERVER_PREFIX: &str = "mcp.";

impl FailedPart {
    /// The word for it, as it is stored.
    pub fn word(&self) -> String {
        match self {
            Self::Model => "model".to_owned(),
            Self::Skill => "skill".to_owned(),
            Self::Servers => "mcp".to_owned(),
            Self::Server(label) => format!("{SERVER_PREFIX}{label}"),
            Self::Other(word) => word.clone(),
        }
    }
}

impl From<String> for FailedPart {
    fn from(word: String) -> Self {
        match (word.as_str(), word.strip_prefix(SERVER_PREFIX)) {
            ("model", _) => Self::Model,
            ("skill", _) => Self::Skill,
            ("mcp", _) => Self::Servers,
            (_, Some(label)) => Self::Server(label.to_owned()),
            (_, None) => Self::Other(word),
        }
    }
}

stored_as_word!(FailedPart);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_older_programs_mean_the_same_and_are_written_anew() {
        for (old, verdict, word) in
            [("allowed", Verdict::Allow, "\"allow\""), ("refused", Verdict::Refuse, "\"refuse\"")]
        {
            assert_eq!(Verdict::from(old.to_owned()), verdict);
            assert_eq!(serde_json::to_string(&verdict).unwrap(), word);
        }
    }

    proptest! {
        #[test]
        fn every_word_comes_back_as_it_was_written(word in "[a-z.]{0,12}|mcp\\.[a-z]{1,4}|model|skill|mcp|child|fork") {
            let json = serde_json::to_string(&word).unwrap();
            let part: FailedPart = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(part.word(), word.as_str());
            prop_assert_eq!(serde_json::to_string(&part).unwrap(), json.as_str());
            let topic: NoteTopic = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(topic.word(), word.as_str());
            let mode: SubagentMode = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(mode.word(), word.as_str());
        }
    }
}

//! The keys metier knows.

/// A key, whatever its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Description,
    WhenToUse,
    License,
    Compatibility,
    Metadata,
    Version,
    AllowedTools,
    Tools,
    DisallowedTools,
    Model,
    Effort,
    MaxTurns,
    Tags,
    Context,
    Agent,
    Background,
    ArgumentHint,
    Arguments,
    UserInvocable,
    DisableModelInvocation,
    Paths,
    Hooks,
    Shell,
    Requires,
}

impl Key {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Requires as usize + 1;

    pub(crate) fn of(written: &str) -> Option<Self> {
        Some(match written {
            "name" => Self::Name,
            "description" => Self::Description,
            "when_to_use" | "whenToUse" | "when-to-use" => Self::WhenToUse,
            "license" => Self::License,
            "compatibility" => Self::Compatibility,
            "metadata" => Self::Metadata,
            "version" => Self::Version,
            "allowed-tools" | "allowed_tools" => Self::AllowedTools,
            "tools" => Self::Tools,
            "disallowed-tools" => Self::DisallowedTools,
            "model" => Self::Model,
            "effort" => Self::Effort,
            "maxTurns" | "max-turns" | "max_turns" => Self::MaxTurns,
            "tags" => Self::Tags,
            "context" => Self::Context,
            "agent" => Self::Agent,
            "background" => Self::Background,
            "argument-hint" => Self::ArgumentHint,
            "arguments" => Self::Arguments,
            "user-invocable" | "user_invocable" => Self::UserInvocable,
            "disable-model-invocation" | "disableModelInvocation" | "disable_model_invocation" => {
                Self::DisableModelInvocation
            }
            "paths" => Self::Paths,
            "hooks" => Self::Hooks,
            "shell" => Self::Shell,
            "requires" => Self::Requires,
            _ => return None,
        })
    }
}

/// Whether a key is one metier knows, in any spelling.
pub(crate) fn is_known_key(written: &str) -> bool {
    Key::of(written).is_some()
}

//! The keys of an agent's frontmatter, in every dialect: what each means, and why some mean nothing here.

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Description,
    Model,
    Effort,
    Skills,
    Tools,
    CustomTools,
    DisallowedTools,
    Servers,
    Limits,
    Settings,
    Disclosure,
    Memory,
    Mode,
    PermissionMode,
    MaxTurns,
    /// Others act on it; the text says why metier does not, or what does the same here.
    Inert(&'static str),
}

/// The keys of metier's own files and of agentmd's.
pub(crate) const KEYS: &[(&str, Key)] = &[
    ("name", Key::Name),
    ("description", Key::Description),
    ("model", Key::Model),
    ("effort", Key::Effort),
    ("skills", Key::Skills),
    ("tools", Key::Tools),
    ("custom_tools", Key::CustomTools),
    ("disallowed-tools", Key::DisallowedTools),
    ("disallowed_tools", Key::DisallowedTools),
    ("disallowedTools", Key::DisallowedTools),
    ("mcp", Key::Servers),
    ("mcp_servers", Key::Servers),
    ("mcpServers", Key::Servers),
    ("limits", Key::Limits),
    ("settings", Key::Settings),
    ("disclosure", Key::Disclosure),
    ("memory", Key::Memory),
    ("mode", Key::Mode),
    ("max_turns", Key::MaxTurns),
    ("max-turns", Key::MaxTurns),
    ("maxTurns", Key::MaxTurns),
    ("version", Key::Inert("agents have no versions here; their skills do")),
    ("metadata", Key::Inert("it is for other programs")),
    ("tags", Key::Inert("the tags of skills are recorded, not those of agents")),
    ("enabled", Key::Inert("it is for a scheduler; naming an agent runs it")),
    (
        "trigger",
        Key::Inert("metier starts nothing by itself; a timer of the system can call `metier run --agent`"),
    ),
    ("history", Key::Inert("every run is its own conversation; `metier resume` goes on with one")),
    (
        "paths",
        Key::Inert("an agent sees the project and asks before it writes; rules in `[gate]` narrow that"),
    ),
    ("agents", Key::Inert("an agent that hands work over to others is a crew here")),
    ("confirm", Key::Inert("what writes or leaves the containment asks anyway; see `ask` in `[gate]`")),
    (
        "auto_approve",
        Key::Inert("no file but the user's own says what is not asked; see `allow` in `[gate]`"),
    ),
    ("retry", Key::Inert("a provider is asked again as `docs/models.md` says")),
];

/// The keys of Claude's files.
pub(crate) const CLAUDE_KEYS: &[(&str, Key)] = &[
    ("name", Key::Name),
    ("description", Key::Description),
    ("tools", Key::Tools),
    ("disallowedTools", Key::DisallowedTools),
    ("model", Key::Model),
    ("effort", Key::Effort),
    ("permissionMode", Key::PermissionMode),
    ("maxTurns", Key::MaxTurns),
    ("skills", Key::Skills),
    ("mcpServers", Key::Servers),
    ("memory", Key::Memory),
    ("hooks", Key::Inert("hooks belong to skills here")),
    ("background", Key::Inert("a run by name waits for the agent")),
    ("isolation", Key::Inert("what runs is contained, and writes to the project ask")),
    ("initialPrompt", Key::Inert("the request is what `run` is given")),
    ("color", Key::Inert("colours have one meaning each here")),
    ("disabled", Key::Inert("naming an agent runs it")),
];

/// The keys below `settings`, in agentmd's words, and below `limits`, in metier's.
pub(crate) const SETTINGS: &[(&str, Setting)] = &[
    ("timeout", Setting::Seconds),
    ("max_tool_calls", Setting::Calls),
    ("max_execution_tokens", Setting::Tokens),
    ("max_cost_usd", Setting::Money),
    ("max_turns", Setting::Turns),
    ("loop_detection", Setting::Inert("the same failing call three times in a row always ends a run")),
    ("temperature", Setting::Inert("models are asked with their own")),
    ("max_tokens", Setting::Inert("`max_output` in `[models]` says how much a model may write")),
];

/// The keys below `limits`.
pub(crate) const LIMITS: &[(&str, Setting)] = &[
    ("turns", Setting::Turns),
    ("calls", Setting::Calls),
    ("tokens", Setting::Tokens),
    ("money", Setting::Money),
    ("seconds", Setting::Seconds),
];

/// What a key below `settings` or `limits` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    Turns,
    Calls,
    Tokens,
    Money,
    Seconds,
    Inert(&'static str),
}

//! From a tree to a manifest: which key means what.

use super::reading::Reading;
use super::{Argument, Context, Description, Manifest, More, Needs, Requires, Spanned, UserOnly};
use crate::code;
use crate::name::{NameRefusal, Naming, SkillName, judge, normal_form};
use crate::yaml::{Entry, Kind, Node, Value};
use metier_diagnostic::{Code, Diagnostic, Span};
use std::num::NonZeroU32;

/// The longest description other clients take, in characters.
const MAX_DESCRIPTION: usize = 1_024;
/// The longest `compatibility` the open standard takes, in characters.
const MAX_COMPATIBILITY: usize = 500;

/// A typed frontmatter. The manifest is missing when the name or the description is a refusal.
pub(crate) struct Typed {
    pub(crate) manifest: Option<Manifest>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}


/// Types a frontmatter. Without entries (no frontmatter at all) only the folder's name is left.
pub(crate) fn type_tree(entries: Vec<Entry<'_>>, source: &str, folder: Option<&str>) -> Typed {
    let mut typing = Typing { reading: Reading::new(source), fields: Fields::default(), refused: false };
    let mut seen: Vec<(Key, Span)> = Vec::with_capacity(entries.len());
    let mut extra: Vec<(String, Value)> = Vec::new();
    for entry in entries {
        match Key::of(&entry.key) {
            Some(key) => match seen.iter().find(|(earlier, _)| *earlier == key) {
                Some((_, first)) => typing.repeated(&entry, first.of(source)),
                None => {
                    seen.push((key, entry.key_span));
                    typing.known(key, entry);
                }
            },
            None if extra.iter().any(|(key, _)| *key == entry.key) => {
                let first = entry.key.clone();
                typing.repeated(&entry, &first);
            }
            None => {
                typing.unknown(&entry);
                extra.push((entry.key.into_owned(), entry.value.into_owned()));
            }
        }
    }
    typing.fields.more.extra.append(&mut extra);
    typing.finish(folder)
}

/// The keys metier knows, whatever their spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
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
    fn of(written: &str) -> Option<Self> {
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

#[derive(Default)]
struct Fields {
    name: Option<Spanned<String>>,
    description: Option<Spanned<String>>,
    when_to_use: Option<Spanned<String>>,
    version: Option<Spanned<String>>,
    user_invocable: Option<bool>,
    disable_model_invocation: Option<bool>,
    more: More,
}

struct Typing<'s> {
    reading: Reading<'s>,
    fields: Fields,
    refused: bool,
}

impl Typing<'_> {
    fn known(&mut self, key: Key, entry: Entry<'_>) {
        let (reading, fields, written, node) = (&mut self.reading, &mut self.fields, &*entry.key, entry.value);
        let more = &mut fields.more;
        match key {
            Key::Name => self.name(node),
            Key::Description => self.description(node),
            Key::WhenToUse => fields.when_to_use = reading.text(written, &node),
            Key::License => more.license = reading.text(written, &node),
            Key::Compatibility => self.compatibility(node),
            Key::Metadata => self.metadata(node),
            Key::Version => fields.version = reading.text(written, &node),
            Key::AllowedTools => more.allowed_tools = reading.tools(written, &node),
            Key::Tools => more.tools = reading.tools(written, &node),
            Key::DisallowedTools => more.disallowed_tools = reading.tools(written, &node),
            Key::Model => more.model = reading.text(written, &node),
            Key::Effort => more.effort = reading.text(written, &node),
            Key::MaxTurns => self.max_turns(written, &node),
            Key::Tags => more.tags = reading.texts(written, &node),
            Key::Context => self.context(&node),
            Key::Agent => more.agent = reading.text(written, &node),
            Key::Background => more.background = reading.boolean(written, &node),
            Key::ArgumentHint => self.argument_hint(&node),
            Key::Arguments => self.arguments(written, &node),
            Key::UserInvocable => fields.user_invocable = reading.boolean(written, &node),
            Key::DisableModelInvocation => fields.disable_model_invocation = reading.boolean(written, &node),
            Key::Paths => more.paths = reading.texts(written, &node),
            Key::Hooks if node.is_null() => {}
            Key::Hooks => {
                if node.entries().is_none() {
                    reading.wrong_type(written, &node, "a mapping");
                }
                more.hooks = Some(node.into_owned());
            }
            Key::Shell => more.shell = reading.text(written, &node),
            Key::Requires => {
                let requires = self.requires(&node);
                self.fields.more.requires = requires;
            }
        }
    }

    fn unknown(&mut self, entry: &Entry<'_>) {
        let lower = entry.key.to_ascii_lowercase();
        let found = self.reading.report(&code::UNKNOWN_KEY, entry.key_span, format!("`{}` is not a key metier knows", entry.key));
        if is_known_key(&lower) {
            found.help = Some(format!("did you mean `{lower}`? Keys are lower case"));
        }
    }

    fn repeated(&mut self, entry: &Entry<'_>, first: &str) {
        let (code, message): (&'static Code, _) = if entry.key == first {
            (&code::DUPLICATE_KEY, format!("`{}` stands twice; the first one counts", entry.key))
        } else {
            (&code::ALIAS_TWICE, format!("`{}` means the same as `{first}`, which is given too and counts", entry.key))
        };
        self.reading.report(code, entry.key_span, message).help = Some("remove one of the two".to_owned());
    }

    fn refuse(&mut self, code: &'static Code, span: Span, message: impl Into<String>, help: &str) {
        self.reading.report(code, span, message).help = Some(help.to_owned());
        self.refused = true;
    }

    fn name(&mut self, node: Node<'_>) {
        if node.is_null() {
            return;
        }
        match node.kind {
            Kind::Scalar { text, .. } => {
                self.fields.name = Some(Spanned { value: text.trim().to_owned(), span: node.span });
            }
            Kind::Sequence(_) | Kind::Mapping(_) => {
                let written = node.span.of(self.reading.source);
                if is_placeholder(written) {
                    let message = format!("the name is still the placeholder `{written}`");
                    self.refuse(&code::TEMPLATE_PLACEHOLDER, node.span, message, "write the skill's name");
                } else {
                    self.refuse(&code::NAME_NOT_TEXT, node.span, "`name` must be a text", "write the name as plain text");
                }
            }
        }
    }

    fn description(&mut self, node: Node<'_>) {
        let source = self.reading.source;
        let written = node.span.of(source);
        let is_flow = written.starts_with(['[', '{']);
        if is_flow && node.text().is_none() && is_placeholder(written) {
            let message = format!("the description is still the placeholder `{}`", shorten(written));
            let help = "say what the skill does and when to use it";
            return self.refuse(&code::TEMPLATE_PLACEHOLDER, node.span, message, help);
        }
        self.fields.description = if node.text().is_some() || node.is_null() {
            self.reading.text("description", &node)
        } else {
            // A person reads what is written there, whatever YAML makes of it.
            self.reading.wrong_type("description", &node, "a text");
            Some(Spanned { value: written.split_whitespace().collect::<Vec<_>>().join(" "), span: node.span })
        };
    }

    fn compatibility(&mut self, node: Node<'_>) {
        let span = node.span;
        let text = match &node.kind {
            _ if node.is_null() => return,
            Kind::Scalar { .. } => self.reading.text("compatibility", &node).map(|text| text.value).unwrap_or_default(),
            Kind::Sequence(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(", "),
            Kind::Mapping(entries) => {
                let pairs = entries.iter().map(|entry| format!("{}: {}", entry.key, plain_text(&entry.value)));
                pairs.collect::<Vec<_>>().join(", ")
            }
        };
        if text.chars().count() > MAX_COMPATIBILITY {
            let message = format!("`compatibility` has {} characters; the standard allows {MAX_COMPATIBILITY}", text.chars().count());
            self.reading.report(&code::COMPATIBILITY_TOO_LONG, span, message);
        }
        self.fields.more.compatibility = Some(Spanned { value: text, span });
        self.fields.more.compatibility_raw = Some(node.into_owned());
    }

    fn metadata(&mut self, node: Node<'_>) {
        if node.is_null() {
            return;
        }
        if node.entries().is_none() {
            self.reading.wrong_type("metadata", &node, "a mapping");
        }
        if let Some(requires) = node.get("openclaw").and_then(|claw| claw.get("requires")) {
            self.fields.more.requires = self.fields.more.requires.take().or_else(|| self.requires(requires));
        }
        if let Some(needs) = node.get("metier").and_then(|metier| metier.get("needs")) {
            self.fields.more.needs = self.needs(needs);
        }
        self.fields.more.metadata = Some(node.into_owned());
    }

    fn requires(&mut self, node: &Node<'_>) -> Option<Requires> {
        let entries = node.entries().or_else(|| {
            if !node.is_null() {
                self.reading.wrong_type("requires", node, "a mapping");
            }
            None
        })?;
        let mut requires = Requires::default();
        for entry in entries {
            let list = match &*entry.key {
                "bins" => &mut requires.bins,
                "anyBins" => &mut requires.any_bins,
                "env" => &mut requires.env,
                "os" => &mut requires.os,
                "tools" => &mut requires.tools,
                _ => continue,
            };
            *list = self.reading.texts(&format!("requires.{}", entry.key), &entry.value);
        }
        Some(requires)
    }

    fn needs(&mut self, node: &Node<'_>) -> Option<Needs> {
        let Some(entries) = node.entries() else {
            self.reading.wrong_type("metadata.metier.needs", node, "a mapping");
            return None;
        };
        let mut needs = Needs::default();
        for entry in entries {
            let key = format!("metadata.metier.needs.{}", entry.key);
            match &*entry.key {
                "hosts" => needs.hosts = self.reading.texts(&key, &entry.value),
                "write" => needs.write = self.reading.texts(&key, &entry.value),
                "env" => needs.env = self.reading.texts(&key, &entry.value),
                "seconds" => needs.seconds = entry.value.text().and_then(|text| text.trim().parse().ok()),
                _ => {
                    let message = format!("`{key}` is not a need metier knows");
                    self.reading.report(&code::UNKNOWN_KEY, entry.key_span, message);
                }
            }
        }
        Some(needs)
    }

    fn max_turns(&mut self, key: &str, node: &Node<'_>) {
        if node.is_null() {
            return;
        }
        let number = node.text().and_then(|text| text.trim().parse::<NonZeroU32>().ok());
        match number {
            Some(value) => {
                if node.is_text() {
                    self.reading.report(&code::NUMBER_IN_QUOTES, node.span, format!("`{key}` is a number in quotes")).help =
                        Some(format!("write `{key}: {value}`"));
                }
                self.fields.more.max_turns = Some(Spanned { value, span: node.span });
            }
            None => {
                let message = format!("`{key}` takes a whole number of at least 1; the default counts");
                self.reading.report(&code::MAX_TURNS_INVALID, node.span, message);
            }
        }
    }

    fn context(&mut self, node: &Node<'_>) {
        if node.is_null() {
            return;
        }
        if !node.is_text() {
            return self.reading.wrong_type("context", node, "`inline`, `fork` or a note");
        }
        let Some(text) = self.reading.text("context", node) else { return };
        self.fields.more.context = match text.value.as_str() {
            "" | "inline" => Context::Inline,
            "fork" => Context::Fork,
            _ => Context::Note(text.value),
        };
    }

    fn argument_hint(&mut self, node: &Node<'_>) {
        let hint = if node.text().is_some() {
            self.reading.text("argument-hint", node)
        } else {
            let written = node.span.of(self.reading.source).to_owned();
            let message = format!("`argument-hint` is read as a list by YAML and shown as `{}`", shorten(&written));
            self.reading.report(&code::ARGUMENT_HINT_LIST, node.span, message).help =
                Some(format!("put it in quotes: \"{}\"", shorten(&written)));
            Some(Spanned { value: written.split_whitespace().collect::<Vec<_>>().join(" "), span: node.span })
        };
        self.fields.more.argument_hint = hint;
    }

    fn arguments(&mut self, key: &str, node: &Node<'_>) {
        let named = |name: &str| Argument { name: name.to_owned(), description: None, default: None };
        let mut arguments = Vec::new();
        match &node.kind {
            _ if node.is_null() => {}
            Kind::Scalar { text, .. } => {
                arguments.extend(text.split([',', ' ', '\n', '\t']).filter(|name| !name.is_empty()).map(named));
            }
            Kind::Sequence(items) => {
                for item in items {
                    match (item.text(), item.get("name").and_then(Node::text)) {
                        (Some(name), _) => arguments.push(named(name.trim())),
                        (None, Some(name)) => {
                            let field = |key| item.get(key).and_then(Node::text).map(str::to_owned);
                            arguments.push(Argument {
                                name: name.trim().to_owned(),
                                description: field("description"),
                                default: field("default"),
                            });
                        }
                        (None, None) => self.reading.wrong_type(key, item, "names, or mappings with a `name`"),
                    }
                }
            }
            Kind::Mapping(_) => self.reading.wrong_type(key, node, "names, or a list of mappings with a `name`"),
        }
        self.fields.more.arguments = arguments;
    }

    fn finish(mut self, folder: Option<&str>) -> Typed {
        if let (Some(tools), Some(_)) = (&self.fields.more.tools, &self.fields.more.allowed_tools) {
            let message = "`tools` and `allowed-tools` are both given; only what both name counts";
            self.reading.report(&code::TOOLS_TWICE, tools.span, message).help = Some("keep one of the two".to_owned());
        }
        let version = self.fields.version.take().or_else(|| {
            let version = self.fields.more.metadata.as_ref()?.get("version")?.clone();
            self.reading.text("metadata.version", &version)
        });
        let named = self.settle_name(folder);
        let description = match self.fields.description.take() {
            Some(text) if !text.value.is_empty() => {
                self.judge_description(&text);
                Description::Written(text)
            }
            _ => Description::Absent,
        };
        let fields = self.fields;
        let user_only = fields.disable_model_invocation.unwrap_or(false).then_some(UserOnly::Declared);
        let user_invocable = fields.user_invocable.unwrap_or(true);
        if user_only.is_some() && !user_invocable {
            let message = "neither the model nor a slash command may start this skill; only `metier use` does";
            self.reading.diagnostics.push(Diagnostic::new(&code::UNREACHABLE, message));
        }
        let manifest = named.filter(|_| !self.refused).map(|(name, name_span, title)| Manifest {
            name,
            name_span,
            title,
            description,
            when_to_use: fields.when_to_use,
            version,
            user_only,
            user_invocable,
            more: Box::new(fields.more),
        });
        Typed { manifest, diagnostics: self.reading.diagnostics }
    }

    fn judge_description(&mut self, text: &Spanned<String>) {
        // Bytes are at least as many as characters, so short texts need no counting.
        if text.value.len() > MAX_DESCRIPTION {
            let characters = text.value.chars().count();
            if characters > MAX_DESCRIPTION {
                let message = format!("the description has {characters} characters; other clients take {MAX_DESCRIPTION}");
                self.reading.report(&code::DESCRIPTION_TOO_LONG, text.span, message).help =
                    Some("shorten it to what it does and when to use it".to_owned());
            }
        }
        if is_placeholder(&text.value) {
            let message = format!("the description is still the placeholder `{}`", shorten(&text.value));
            let help = "say what the skill does and when to use it";
            self.refuse(&code::TEMPLATE_PLACEHOLDER, text.span, message, help);
        }
    }

    /// The name, where it stands, and the title: from the frontmatter, else from the folder.
    fn settle_name(&mut self, folder: Option<&str>) -> Option<(SkillName, Option<Span>, Option<String>)> {
        if self.refused {
            return None;
        }
        let written = self.fields.name.take();
        let span = written.as_ref().map(|name| name.span);
        let place = span.unwrap_or_default();
        let text = match (&written, folder) {
            (Some(name), _) => name.value.as_str(),
            (None, Some(folder)) => folder,
            (None, None) => "",
        };
        if written.is_some() && is_placeholder(text) {
            let message = format!("the name is still the placeholder `{text}`");
            self.refuse(&code::TEMPLATE_PLACEHOLDER, place, message, "write the skill's name");
            return None;
        }
        let (name, title) = match judge(text) {
            Naming::Canonical(name) => (name, None),
            Naming::Accepted(name, oddities) => {
                let message = format!("the name `{name}` has {}", oddities.join(", "));
                self.reading.report(&code::NAME_NOT_CANONICAL, place, message).help =
                    Some("use lower-case letters, digits and single hyphens, at most 64".to_owned());
                (name, None)
            }
            Naming::Slugged { name, title } => {
                let message = format!("`{title}` cannot be called; the skill is called `{name}`");
                self.reading.report(&code::NAME_SLUGGED, place, message).help = Some(format!("write `name: {name}`"));
                (name, Some(title))
            }
            Naming::Refused(why) => {
                let (code, message): (&'static Code, _) = match why {
                    NameRefusal::Empty => (&code::NAME_EMPTY, "the name is empty".to_owned()),
                    NameRefusal::ControlCharacter => {
                        (&code::NAME_CONTROL_CHARACTER, "the name contains a control character".to_owned())
                    }
                    NameRefusal::PathStep => (&code::NAME_PATH_STEP, format!("`{text}` is a step of a path, not a name")),
                    NameRefusal::Unusable => (&code::NAME_UNUSABLE, format!("no letter or digit is left of the name `{text}`")),
                };
                self.refuse(code, place, message, "give it a `name` of lower-case letters, digits and hyphens");
                return None;
            }
        };
        if let (Some(_), Some(folder)) = (&written, folder)
            && name.as_str() != folder
            && name.as_str() != normal_form(folder)
        {
            let message = format!("the name `{name}` is not the folder's, `{folder}`; both are understood");
            self.reading.report(&code::NAME_DIFFERS_FROM_FOLDER, place, message).help =
                Some(format!("rename the folder to `{name}`, or write `name: {folder}`"));
        }
        Some((name, span, title))
    }
}

/// Text of a scalar, or the nested value on one line.
fn plain_text(node: &Node<'_>) -> String {
    match &node.kind {
        Kind::Scalar { text, .. } => text.to_string(),
        Kind::Sequence(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(" "),
        Kind::Mapping(entries) => {
            let pairs = entries.iter().map(|entry| format!("{}: {}", entry.key, plain_text(&entry.value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Whether a whole value is what a template left for the author: `[TODO…]`, `{skill-name}`, `{{ name }}`, `<name>`.
fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let inside = |open: char, close: char| value.strip_prefix(open)?.strip_suffix(close);
    let is_slot = |inner: &str| {
        let inner = inner.trim_matches(['{', '}', ' ']);
        !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.'))
    };
    if let Some(inner) = inside('[', ']') {
        let inner = inner.trim().to_ascii_uppercase();
        return ["TODO", "TBD", "FIXME", "PLACEHOLDER"].iter().any(|word| inner.starts_with(word));
    }
    inside('{', '}').is_some_and(is_slot) || inside('<', '>').is_some_and(is_slot)
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

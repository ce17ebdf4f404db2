//! From a tree to a manifest: which key means what.

use super::key::{ManifestKey, is_known_key};
use super::placeholder::is_placeholder;
use super::reading::Reading;
use super::value::{as_written, plain_text, shorten};
use super::{Description, Manifest, More, Requires, Spanned, UserOnly};
use crate::code;
use crate::findings::Findings;
use crate::yaml::{Entry, Kind, Node, Value};
use metier_diagnostic::{Code, Span};
use std::borrow::Cow;

/// The longest description other clients take, in characters.
pub const MAX_DESCRIPTION: usize = 1_024;
/// The longest `compatibility` the open standard takes, in characters.
pub const MAX_COMPATIBILITY: usize = 500;

/// A typed frontmatter. The manifest is missing when the name or the description is a refusal.
pub(crate) struct Typed {
    pub(crate) manifest: Option<Manifest>,
    pub(crate) findings: Findings,
    /// Where a description is missed: at its key, else at the beginning.
    pub(crate) description_at: Span,
}

/// How much of a frontmatter is copied into the manifest. Everything is judged, whatever is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All of it.
    Everything,
    /// What a listing shows; values that are kept as they are written are left out.
    Summary,
}

/// Types a frontmatter. Without entries (no frontmatter at all) only the folder's name is left.
pub(crate) fn type_tree(entries: Vec<Entry<'_>>, source: &str, folder: Option<&str>, keep: Keep) -> Typed {
    let mut typing =
        Typing { reading: Reading::new(source), fields: Fields::default(), refused: false, keep };
    let mut unknown: Vec<Cow<'_, str>> = Vec::new();
    let mut seen: [Option<Span>; ManifestKey::ALL.len()] = [None; ManifestKey::ALL.len()];
    for entry in entries {
        if let Some(at) = ManifestKey::position(&entry.key) {
            if let Some(first) = seen[at] {
                typing.repeated(&entry, first.of(source));
            } else {
                seen[at] = Some(entry.key_span);
                (ManifestKey::ALL[at].read)(&mut typing, entry);
            }
        } else if unknown.contains(&entry.key) {
            let first = entry.key.clone();
            typing.repeated(&entry, &first);
        } else {
            typing.unknown(&entry);
            unknown.push(entry.key.clone());
            typing.keep_extra(entry.key, entry.value);
        }
    }
    let description = ManifestKey::position("description").and_then(|at| seen[at]);
    typing.finish(folder, description.unwrap_or_default())
}

#[derive(Default)]
pub(super) struct Fields<'a> {
    name: Option<Spanned<Cow<'a, str>>>,
    description: Option<Spanned<String>>,
    pub(super) when_to_use: Option<Spanned<String>>,
    pub(super) version: Option<Spanned<String>>,
    pub(super) user_invocable: Option<bool>,
    disable_model_invocation: Option<Spanned<bool>>,
    metadata: Option<Node<'a>>,
    metadata_requires: Option<Requires>,
    pub(super) more: Box<More>,
}

pub(super) struct Typing<'s, 'a> {
    pub(super) reading: Reading<'s>,
    pub(super) fields: Fields<'a>,
    pub(super) refused: bool,
    keep: Keep,
}

impl<'a> Typing<'_, 'a> {
    /// Keeps the key that was just read when its value has another type than the key takes.
    pub(super) fn keep_misfit(&mut self, entry: Entry<'_>) {
        if std::mem::take(&mut self.reading.is_misfit) {
            self.keep_extra(entry.key, entry.value);
        }
    }

    /// Keeps a key that is not acted on as it was written.
    fn keep_extra(&mut self, key: Cow<'_, str>, value: Node<'_>) {
        if self.keep == Keep::Everything {
            self.fields.more.extra.push((key.into_owned(), value.into_owned()));
        }
    }

    /// A value as it was written, where it is kept.
    fn kept(&self, value: Node<'_>) -> Option<Value> {
        (self.keep == Keep::Everything).then(|| value.into_owned())
    }

    fn unknown(&mut self, entry: &Entry<'_>) {
        let ruler = &mut self.reading.ruler;
        self.reading.findings.add(|| {
            let message = format!("`{}` is not a key metier knows", shorten(&entry.key));
            let found = ruler.diagnostic(&code::UNKNOWN_KEY, entry.key_span, message);
            // Without a better guess nothing needs to change, so there is nothing to advise.
            let has_capitals = entry.key.bytes().any(|byte| byte.is_ascii_uppercase());
            match has_capitals.then(|| entry.key.to_ascii_lowercase()).filter(|lower| is_known_key(lower)) {
                Some(lower) => found.help(format!("did you mean `{lower}`? Keys are lower case")),
                None => found,
            }
        });
    }

    fn repeated(&mut self, entry: &Entry<'_>, first: &str) {
        let key = shorten(&entry.key);
        let (code, message): (&'static Code, _) = if entry.key == first {
            (&code::DUPLICATE_KEY, format!("`{key}` stands twice; the first one counts"))
        } else {
            let first = shorten(first);
            (
                &code::ALIAS_TWICE,
                format!("`{key}` means the same as `{first}`, which is given too and counts"),
            )
        };
        self.reading.report(code, entry.key_span, message, "remove one of the two");
    }

    pub(super) fn refuse(&mut self, code: &'static Code, span: Span, message: impl Into<String>, help: &str) {
        let reason = self.reading.ruler.diagnostic(code, span, message).help(help);
        self.reading.findings.refuse(reason);
        self.refused = true;
    }

    pub(super) fn name(&mut self, Entry { value: node, .. }: Entry<'a>) {
        if node.is_null() {
            return;
        }
        let span = node.span;
        if let Kind::Scalar { text, .. } = node.kind {
            self.fields.name = Some(Spanned { value: text, span });
            return;
        }
        let written = span.of(self.reading.source());
        if is_placeholder(written) {
            let message = format!("the name is still the placeholder `{}`", shorten(written));
            self.refuse(&code::TEMPLATE_PLACEHOLDER, span, message, "write the skill's name");
        } else {
            self.refuse(&code::NAME_NOT_TEXT, span, "`name` must be a text", "write the name as plain text");
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "the table of keys gives every reader the whole entry")]
    pub(super) fn description(&mut self, entry: Entry<'_>) {
        let node = &entry.value;
        if node.text().is_some() {
            self.fields.description = self.reading.text("description", node);
            return;
        }
        let written = as_written(node, self.reading.source());
        if is_placeholder(&written) {
            return self.refuse_description(&written, node.span);
        }
        // A person reads what is written there, whatever YAML makes of it.
        let message = "`description` takes a text, and this is something else; it is shown as written";
        self.reading.report(&code::WRONG_TYPE, node.span, message, "put the text in quotes");
        self.fields.description = Some(Spanned { value: written, span: node.span });
    }

    fn refuse_description(&mut self, written: &str, span: Span) {
        let message = format!("the description is still the placeholder `{}`", shorten(written));
        let help = "say what the skill does and when to use it";
        self.refuse(&code::TEMPLATE_PLACEHOLDER, span, message, help);
    }

    pub(super) fn compatibility(&mut self, Entry { value: node, .. }: Entry<'_>) {
        let span = node.span;
        let text = match &node.kind {
            _ if node.is_null() => return,
            Kind::Scalar { .. } => {
                self.reading.text("compatibility", &node).map(|text| text.value).unwrap_or_default()
            }
            Kind::Sequence(items) => items.iter().map(plain_text).collect::<Vec<_>>().join(", "),
            Kind::Mapping(entries) => {
                let pairs =
                    entries.iter().map(|entry| format!("{}: {}", entry.key, plain_text(&entry.value)));
                pairs.collect::<Vec<_>>().join(", ")
            }
        };
        let characters = text.chars().count();
        if characters > MAX_COMPATIBILITY {
            let message = format!(
                "`compatibility` has {characters} characters; the standard allows {MAX_COMPATIBILITY}"
            );
            self.reading.report(&code::COMPATIBILITY_TOO_LONG, span, message, "shorten it");
        }
        self.fields.more.compatibility = Some(Spanned { value: text, span });
        self.fields.more.compatibility_raw = self.kept(node);
    }

    pub(super) fn metadata(&mut self, Entry { value: node, .. }: Entry<'a>) {
        if node.is_null() {
            return;
        }
        if node.entries().is_none() {
            self.reading.wrong_type("metadata", &node, "a mapping");
        }
        if let Some(requires) = node.get("openclaw").and_then(|claw| claw.get("requires")) {
            self.fields.metadata_requires = self.reading.requires("metadata.openclaw.requires", requires);
        }
        if let Some(needs) = node.get("metier").and_then(|metier| metier.get("needs")) {
            self.fields.more.needs = self.reading.needs("metadata.metier.needs", needs);
        }
        self.fields.metadata = Some(node);
        // Kept, as every metadata is.
        self.reading.is_misfit = false;
    }

    pub(super) fn hooks(&mut self, Entry { value: node, .. }: Entry<'_>) {
        if node.is_null() {
            return;
        }
        if node.entries().is_none() {
            self.reading.wrong_type("hooks", &node, "a mapping");
            self.reading.is_misfit = false;
        }
        self.fields.more.hooks = self.kept(node);
    }

    pub(super) fn disable_model_invocation(&mut self, entry: Entry<'_>) {
        let span = entry.value.span;
        let value = self.reading.boolean(&entry.key, &entry.value);
        self.fields.disable_model_invocation = value.map(|value| Spanned { value, span });
        self.keep_misfit(entry);
    }

    fn finish(mut self, folder: Option<&str>, description_at: Span) -> Typed {
        self.fields.more.has_unread_tools = self.reading.has_unread_tools;
        if let (Some(tools), Some(_)) = (&self.fields.more.tools, &self.fields.more.allowed_tools) {
            let message = "`tools` and `allowed-tools` are both given; only what both name counts";
            self.reading.report(&code::TOOLS_TWICE, tools.span, message, "keep one of the two");
        }
        if let Some(metadata) = self.fields.metadata.take() {
            if self.fields.version.is_none()
                && let Some(version) = metadata.get("version")
            {
                self.fields.version = self.reading.text("metadata.version", version);
            }
            self.fields.more.metadata = self.kept(metadata);
        }
        // The key of its own counts first, whichever is written first.
        if self.fields.more.requires.is_none() {
            self.fields.more.requires = self.fields.metadata_requires.take();
        }
        let written = self.fields.name.take();
        let named = if self.refused { None } else { self.settle_name(written.as_ref(), folder) };
        let description = match self.fields.description.take() {
            Some(text) if !text.value.is_empty() => {
                self.judge_description(&text);
                Description::Written(text)
            }
            _ => Description::Absent,
        };
        let user_invocable = self.fields.user_invocable.unwrap_or(true);
        let disabled = self.fields.disable_model_invocation.take().filter(|disabled| disabled.value);
        if let Some(disabled) = &disabled
            && !user_invocable
        {
            let message =
                "neither the model nor a slash command may start this skill; only `metier use` does";
            self.reading.report(&code::UNREACHABLE, disabled.span, message, "remove one of the two keys");
        }
        let fields = self.fields;
        let manifest = named.filter(|_| !self.refused).map(|named| Manifest {
            name: named.name,
            name_span: written.map(|name| name.span),
            title: named.title,
            description,
            when_to_use: fields.when_to_use,
            version: fields.version,
            user_only: disabled.map(|_| UserOnly::Declared),
            user_invocable,
            more: fields.more,
        });
        Typed { manifest, findings: self.reading.findings, description_at }
    }

    fn judge_description(&mut self, text: &Spanned<String>) {
        // Bytes are at least as many as characters, so short texts need no counting.
        if text.value.len() > MAX_DESCRIPTION {
            let characters = text.value.chars().count();
            if characters > MAX_DESCRIPTION {
                let message = format!(
                    "the description has {characters} characters; other clients take {MAX_DESCRIPTION}"
                );
                let help = "shorten it to what it does and when to use it";
                self.reading.report(&code::DESCRIPTION_TOO_LONG, text.span, message, help);
            }
        }
        if is_placeholder(&text.value) {
            self.refuse_description(&text.value, text.span);
        }
    }
}

//! Agents in Markdown: metier's own and agentmd's, which share their keys, and Claude's.

use std::path::Path;
use std::sync::Arc;

use metier_diagnostic::{Severity, Span};
use metier_policy::Mode;
use metier_skill::yaml::{Entry, Kind, Node};
use metier_skill::{Spanned, head, injected_commands};

use crate::budget::LimitSetting;
use crate::key::{CLAUDE_KEYS, KEYS, Key, LIMITS, SETTINGS, Setting};
use crate::value_reader::{Commas, Reader};
use crate::{
    AgentDefinition, DefinitionFormat, ParsedDefinition, Role, RoleBudget, ServerDescription, ServerRef,
    SkillDisclosure, SkillList, SkillRef, code,
};

pub(crate) fn parse(format: DefinitionFormat, file: &Arc<Path>, text: &str) -> ParsedDefinition {
    let head = head(text);
    let mut reader = Reader::new(file, text);
    let is_refused = head.keys.is_none() && !head.diagnostics.is_empty();
    head.diagnostics.into_iter().for_each(|found| reader.take(found));
    if head.keys.is_none() && !is_refused {
        let help = "begin it with `---`, `name:`, `description:`, `---`";
        let message = "an agent's file begins with a frontmatter, and this one has none";
        reader.say(&code::AGENT_NO_FRONTMATTER, Span::empty(0), message, help);
    }
    let mut role = Role::named(Spanned { value: DefinitionFormat::stem(file), span: Span::empty(0) });
    text.get(head.body..).unwrap_or_default().trim().clone_into(&mut role.instructions);
    if let Some(command) = injected_commands(text.get(head.body..).unwrap_or_default()).first() {
        let at = Span::new(head.body + command.span.start as usize, head.body + command.span.end as usize);
        let message = "the command in this text is not run: an agent's text is given to the model as it is";
        reader.say(
            &code::AGENT_TEXT_NOT_EXPANDED,
            at,
            message,
            "put it into a skill, where it runs contained",
        );
    }
    let entries = head.keys.as_ref().and_then(Node::entries).unwrap_or_default();
    let table = if format == DefinitionFormat::Claude { CLAUDE_KEYS } else { KEYS };
    let what =
        if format == DefinitionFormat::Claude { "a file of `.claude/agents`" } else { "an agent's file" };
    let known = |key: &str| table.iter().any(|(known, _)| *known == key);
    reader.keys(entries, known, Severity::Warning, what);
    let mut keys = Keys { format, reader: &mut reader, role, has_skills: false, has_name: false };
    let mut seen: Vec<&str> = Vec::new();
    for entry in entries {
        let Some((_, key)) = table.iter().find(|(known, _)| *known == entry.key) else { continue };
        if !seen.contains(&&*entry.key) {
            keys.read(*key, entry);
        }
        seen.push(&entry.key);
    }
    let role = keys.finish(!entries.is_empty());
    let name = role.name.clone();
    let definition = AgentDefinition {
        format,
        file: Arc::clone(file),
        name,
        roles: vec![role],
        entry: 0,
        commands: Vec::new(),
    };
    ParsedDefinition { definition, diagnostics: reader.finish(), source: text.to_owned() }
}

/// The keys of one file as they are read.
struct Keys<'r, 's> {
    format: DefinitionFormat,
    reader: &'r mut Reader<'s>,
    role: Role,
    has_skills: bool,
    has_name: bool,
}

impl Keys<'_, '_> {
    fn read(&mut self, key: Key, entry: &Entry<'_>) {
        let (name, node) = (&*entry.key, &entry.value);
        match key {
            Key::Name => self.name(node),
            Key::Description => self.role.description = self.reader.text(name, node),
            Key::Model => self.model(node),
            Key::Effort => self.role.effort = self.reader.text(name, node),
            Key::Skills => self.skills(node),
            // agentmd's `tools` are modules that come on top of what an agent has anyway. They take nothing away.
            Key::Tools if self.format == DefinitionFormat::AgentMd => self.modules(name, node),
            Key::Tools => self.role.tools = self.reader.tools(name, node),
            Key::CustomTools => self.modules(name, node),
            Key::DisallowedTools => {
                let tools = self.reader.tools(name, node).map(|tools| tools.value);
                self.role.disallowed.extend(tools.unwrap_or_default());
            }
            Key::Servers => self.servers(name, node),
            Key::Limits => self.budget(name, node, LIMITS),
            Key::Settings => self.budget(name, node, SETTINGS),
            Key::Disclosure => self.disclosure(node),
            Key::Memory => self.memory(name, node),
            Key::Mode => self.mode(node),
            Key::PermissionMode => self.permission_mode(node),
            Key::MaxTurns => self.role.budget.turns = self.reader.cap(name, node),
            Key::Inert(why) => self.inert(name, entry.key_span, why),
        }
    }

    fn inert(&mut self, key: &str, span: Span, why: &str) {
        let message = format!("`{key}` has no effect here: {why}");
        self.reader.say(&code::AGENT_KEY_INERT, span, message, "it can stay for other programs");
    }

    fn name(&mut self, node: &Node<'_>) {
        let Some(name) = self.reader.text("name", node) else { return };
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !name.value.chars().all(is_plain) {
            let message = format!("the name `{}` is not one word", name.value);
            let help = format!(
                "letters, digits, `-` and `_` are easy to type; `{}` finds it, too",
                self.role.name.value
            );
            self.reader.say(&code::AGENT_NAME, name.span, message, help);
        }
        self.has_name = true;
        self.role.name = name;
    }

    /// `provider/model`, an alias, or agentmd's `{provider, name, base_url}`.
    fn model(&mut self, node: &Node<'_>) {
        if !matches!(node.kind, Kind::Mapping(_)) {
            self.role.model = self.reader.text("model", node).filter(|model| model.value != "inherit");
            return;
        }
        let known = |key: &str| matches!(key, "provider" | "name" | "base_url" | "url");
        self.reader.keys(node.entries().unwrap_or_default(), known, Severity::Warning, "`model`");
        if let Some(url) = node.get("base_url").or_else(|| node.get("url")) {
            let message = "the address of a model is not taken from an agent's file";
            let help = "give the provider's `base_url` in `[providers]` of your own config.toml";
            self.reader.say(&code::AGENT_ENDPOINT_IGNORED, url.span, message, help);
        }
        let mut text = |key: &str| node.get(key).and_then(|node| self.reader.text(key, node));
        match (text("provider"), text("name")) {
            (Some(provider), Some(name)) => {
                // Two systems' words for the same provider.
                let provider = if provider.value == "google" { "gemini" } else { &provider.value };
                self.role.model =
                    Some(Spanned { value: format!("{provider}/{}", name.value), span: node.span });
            }
            _ => self.reader.wrong_type("model", node.span, "a text, or both a `provider` and a `name`"),
        }
    }

    fn skills(&mut self, node: &Node<'_>) {
        if node.is_null() {
            return;
        }
        self.has_skills = true;
        let names = self.reader.texts("skills", node, Commas::Belong);
        let skills = names.into_iter().map(|name| SkillRef { name, folder: None });
        self.role.skills = SkillList::Named(skills.collect());
    }

    /// Modules of another program, which cannot be loaded here. Those that name a tool that is here anyway are no loss.
    fn modules(&mut self, key: &str, node: &Node<'_>) {
        for module in self.reader.texts(key, node, Commas::Part) {
            if metier_skill::Tool::named(&module.value).is_some() {
                continue;
            }
            let message = format!(
                "`{}` is a Python module of its own program, which metier does not load",
                module.value
            );
            let help = "make a script of a skill of it, or an MCP server";
            self.reader.say(&code::AGENT_TOOL_UNKNOWN, module.span, message, help);
        }
    }

    /// A server that is described on the spot.
    fn described(&mut self, entry: &Entry<'_>) {
        let settings = serde_json::to_value(&entry.value).unwrap_or_default();
        let described = ServerDescription { name: entry.key.clone().into_owned(), settings };
        if let Some(problem) = described.problem() {
            let message = format!("the server `{}` {problem}", described.name);
            let help = "write `command` and `args`, or `url`, as in `.mcp.json`";
            self.reader.say(&code::AGENT_SERVER, entry.key_span, message, help);
        }
        self.role.servers.push(Spanned { value: ServerRef::Inline(described), span: entry.key_span });
    }

    /// Names of servers; Claude's files may also describe one on the spot.
    fn servers(&mut self, key: &str, node: &Node<'_>) {
        let known = |name: Spanned<String>| Spanned { value: ServerRef::Named(name.value), span: name.span };
        match &node.kind {
            Kind::Mapping(entries) => entries.iter().for_each(|entry| self.described(entry)),
            Kind::Sequence(items) => {
                for item in items {
                    match &item.kind {
                        Kind::Mapping(entries) => entries.iter().for_each(|entry| self.described(entry)),
                        _ => self.role.servers.extend(self.reader.text(key, item).map(known)),
                    }
                }
            }
            Kind::Scalar { .. } => {
                let names = self.reader.texts(key, node, Commas::Part);
                self.role.servers.extend(names.into_iter().map(known));
            }
        }
    }

    fn budget(&mut self, key: &str, node: &Node<'_>, table: &[(&str, Setting)]) {
        if node.is_null() {
            return;
        }
        let Some(entries) = node.entries() else {
            self.reader.wrong_type(key, node.span, "a mapping of limits");
            return;
        };
        let known = |key: &str| table.iter().any(|(known, _)| *known == key);
        self.reader.keys(entries, known, Severity::Warning, &format!("`{key}`"));
        for (name, setting) in table {
            let Some(entry) = entries.iter().find(|entry| entry.key == *name) else { continue };
            let cap = |reader: &mut Reader<'_>| -> LimitSetting { reader.cap(name, &entry.value) };
            let RoleBudget { turns, calls, tokens, money_micros, seconds } = &mut self.role.budget;
            match setting {
                Setting::Turns => *turns = cap(self.reader),
                Setting::Calls => *calls = cap(self.reader),
                Setting::Tokens => *tokens = cap(self.reader),
                Setting::Seconds => *seconds = cap(self.reader),
                Setting::Money => *money_micros = self.reader.money(name, &entry.value),
                Setting::Inert(why) => {
                    let (name, why) = (*name, *why);
                    self.inert(name, entry.key_span, why);
                }
            }
        }
    }

    fn disclosure(&mut self, node: &Node<'_>) {
        let Some(word) = self.reader.text("disclosure", node) else { return };
        self.role.disclosure = SkillDisclosure::from_word(&word.value);
        if self.role.disclosure.is_none() {
            let message = format!("`{}` is no way to disclose skills", word.value);
            let help = "write `markdown`, `xml`, `eager` or `handoff`";
            self.reader.say(&code::AGENT_MANNER, word.span, message, help);
        }
    }

    /// On or off. Claude's words for where memory is kept mean on: metier keeps it in one place.
    fn memory(&mut self, key: &str, node: &Node<'_>) {
        self.role.memory = match node.text().map(str::trim) {
            Some("user" | "project" | "local") => Some(true),
            Some("none") => Some(false),
            _ => self.reader.boolean(key, node),
        };
    }

    fn mode(&mut self, node: &Node<'_>) {
        let Some(word) = self.reader.text("mode", node) else { return };
        match word.value.parse::<Mode>() {
            Ok(mode @ (Mode::Plan | Mode::Strict | Mode::Ask)) => self.role.mode = Some(mode),
            Ok(mode) => self.not_fewer(&word, mode.word()),
            Err(_) => {
                let message = format!("`{}` is no mode", word.value);
                self.reader.say(
                    &code::AGENT_WRONG_TYPE,
                    word.span,
                    message,
                    "write `plan`, `strict` or `ask`",
                );
            }
        }
    }

    fn permission_mode(&mut self, node: &Node<'_>) {
        let Some(word) = self.reader.text("permissionMode", node) else { return };
        match word.value.as_str() {
            "default" => {}
            "plan" => self.role.mode = Some(Mode::Plan),
            other => self.not_fewer(&word, other),
        }
    }

    fn not_fewer(&mut self, word: &Spanned<String>, mode: &str) {
        let message = format!("`{mode}` asks less than usual, which an agent's file cannot say");
        let help = "say it yourself with `--mode` or in your own config.toml";
        self.reader.say(&code::AGENT_MODE_IGNORED, word.span, message, help);
    }

    fn finish(mut self, is_read: bool) -> Role {
        if is_read && !self.has_name {
            let message =
                format!("the agent has no `name`; it is called like its file, `{}`", self.role.name.value);
            self.reader.say(&code::AGENT_NAME, Span::empty(0), message, "write `name:` into its frontmatter");
        }
        if is_read && self.format == DefinitionFormat::Claude && self.role.description.is_none() {
            let message = "the agent has no `description`";
            let help = "write `description:` with what it is for";
            self.reader.say(&code::AGENT_DESCRIPTION, Span::empty(0), message, help);
        }
        if self.format == DefinitionFormat::AgentMd && !self.has_skills {
            self.role.skills = SkillList::Named(Vec::new());
        }
        // There the texts of all listed skills are put before the conversation, and that is what `eager` does.
        if self.format == DefinitionFormat::Claude && self.has_skills && self.role.disclosure.is_none() {
            self.role.disclosure = Some(SkillDisclosure::Listed(metier_catalog::Disclosure::Eager));
        }
        self.role
    }
}

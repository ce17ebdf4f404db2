//! Resolves the references of a definition: skills, models, tools, servers.

use metier_catalog::Snapshot;
use metier_diagnostic::Diagnostic;
use metier_skill::{Tool, ToolPattern};

use crate::value_reader::Reader;
use crate::{DefinitionFormat, ParsedDefinition, Role, ServerRef, code, skill_check};

/// What references are resolved against.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// The skills.
    pub snapshot: &'a Snapshot,
    /// Whether a name means a model, or why it does not.
    pub model: &'a dyn Fn(&str) -> Result<(), String>,
    /// The configured servers; `None` skips their check.
    pub servers: Option<&'a [String]>,
}

impl ParsedDefinition {
    /// Adds a diagnostic for every reference that does not resolve.
    #[must_use]
    pub fn check(mut self, known: &CheckContext<'_>) -> Self {
        let mut reader = Reader::new(&self.definition.file, &self.source);
        for role in &self.definition.roles {
            skill_check::check(role, self.definition.format, known.snapshot, &mut reader);
            self.model(role, known, &mut reader);
            tools(role, &mut reader);
            servers(role, known, &mut reader);
        }
        self.diagnostics.extend(reader.finish());
        let own = &self.definition.file;
        let rank = |found: &Diagnostic| {
            (found.path.as_ref() != Some(own), found.place.map(|place| place.span.start))
        };
        self.diagnostics.sort_by_key(rank);
        self
    }

    fn model(&self, role: &Role, known: &CheckContext<'_>, reader: &mut Reader<'_>) {
        let Some(model) = &role.model else { return };
        let Err(why) = (known.model)(&model.value) else { return };
        if self.definition.format == DefinitionFormat::Claude {
            let message = format!("`{}` is another program's name for a model of its own", model.value);
            let help =
                format!("add `[models.{}]` to your config.toml to say which one is meant here", model.value);
            reader.say(&code::AGENT_MODEL_FOREIGN, model.span, message, help);
        } else {
            let help = "name an alias of `[models]` or `provider/model`, or leave it out";
            reader.say(&code::AGENT_MODEL_UNKNOWN, model.span, why, help);
        }
    }
}

fn tools(role: &Role, reader: &mut Reader<'_>) {
    let Some(tools) = &role.tools else { return };
    let is_known = |pattern: &ToolPattern| {
        pattern.is_wildcard() || Tool::named(&pattern.tool).is_some() || pattern.tool.starts_with("mcp__")
    };
    let mut said: Vec<&str> = Vec::new();
    for pattern in tools.value.iter().filter(|pattern| !is_known(pattern)) {
        if said.contains(&pattern.tool.as_str()) {
            continue;
        }
        said.push(&pattern.tool);
        let message = format!("there is no tool `{}`", pattern.tool);
        let help = match Tool::kin(&pattern.tool) {
            Some(kin) => format!("`{}` does the same kind of thing", kin.name()),
            None => "`metier tools` lists those of skills; docs/general-tools.md has the others".to_owned(),
        };
        reader.say(&code::AGENT_TOOL_UNKNOWN, tools.span, message, help);
    }
}

fn servers(role: &Role, known: &CheckContext<'_>, reader: &mut Reader<'_>) {
    let Some(servers) = known.servers else { return };
    for server in &role.servers {
        if let ServerRef::Named(name) = &server.value
            && !servers.contains(name)
        {
            let message = format!("no MCP server `{name}` is configured");
            let help = "describe it in `.mcp.json` or in your config.toml";
            reader.say(&code::AGENT_SERVER_UNKNOWN, server.span, message, help);
        }
    }
}

//! Crews: `*.skilled_crew.yaml` names several agents, their instructions, skills and servers, and slash commands. Its schema is
//! strict, as in its own system: an unknown key keeps the crew from starting.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_diagnostic::{Severity, Span};
use metier_files::plain_path;
use metier_skill::Spanned;
use metier_skill::yaml::{self, Entry, Kind, Node};

use crate::slash::SlashCommand;
use crate::value_reader::Reader;
use crate::{
    AgentDefinition, DefinitionFormat, ParsedDefinition, Role, ServerRef, SkillDisclosure, SkillList,
    SkillRef, code,
};

/// The version of the format that is understood.
const VERSION: &str = "1.0";

/// How many roles a crew may have, and how many skills and commands altogether. Public crews have three of each; each role is a
/// conversation, and each skill a root.
const MAX_PARTS: usize = 1_000;

const KEYS: [&str; 6] = ["version", "id", "commands", "entryPointAgent", "agents", "script_runtime"];
const ROLE_KEYS: [&str; 4] = ["instructionsPath", "codeWorkerPath", "mcp_servers", "skills"];

pub(crate) fn parse(file: &Arc<Path>, text: &str, boundary: &Path) -> ParsedDefinition {
    let mut reader = Reader::new(file, text);
    let stem = Spanned { value: DefinitionFormat::stem(file), span: Span::empty(0) };
    let mut definition = AgentDefinition {
        format: DefinitionFormat::Crew,
        file: Arc::clone(file),
        name: stem,
        roles: Vec::new(),
        entry: 0,
        commands: Vec::new(),
    };
    match yaml::parse(text, 0) {
        Err(error) => {
            let message = format!("this crew file is not YAML: {}", error.message);
            reader.say(&code::AGENT_SYNTAX, Span::empty(error.at), message, "mend the line that is named");
        }
        Ok(tree) => {
            let base = file.parent().unwrap_or(Path::new("/"));
            let mut crew = Crew { reader: &mut reader, base, boundary, parts: 0 };
            if let Some(entries) = tree.as_ref().and_then(Node::entries) {
                crew.read(entries, &mut definition);
            } else {
                let span = tree.as_ref().map_or(Span::empty(0), |tree| tree.span);
                crew.reader.wrong_type("a crew file", span, "a mapping with `agents`");
            }
        }
    }
    ParsedDefinition { definition, diagnostics: reader.finish(), source: text.to_owned() }
}

/// A crew file as it is read.
struct Crew<'r, 's> {
    reader: &'r mut Reader<'s>,
    /// The folder that paths are relative to.
    base: &'r Path,
    /// The folder that they may not leave.
    boundary: &'r Path,
    /// How many roles, skills and commands were met.
    parts: usize,
}

impl Crew<'_, '_> {
    fn read(&mut self, entries: &[Entry<'_>], definition: &mut AgentDefinition) {
        self.reader.keys(entries, |key| KEYS.contains(&key), Severity::Error, "a crew file");
        let get = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        if let Some(version) = get("version").and_then(|node| self.reader.text("version", node))
            && version.value != VERSION
        {
            let message =
                format!("this crew file is of version `{}`; {VERSION} is understood", version.value);
            self.reader.say(&code::AGENT_VERSION, version.span, message, "what is understood of it counts");
        }
        if let Some(id) = get("id").and_then(|node| self.reader.text("id", node)) {
            definition.name = id;
        }
        if let Some(node) = get("agents") {
            definition.roles = self.roles(node);
        }
        if definition.roles.is_empty() {
            let span = get("agents").map_or(Span::empty(0), |node| node.span);
            let help = "write `agents:` with a name below it, and `skills:` below that";
            self.reader.say(&code::AGENT_NOBODY, span, "this crew has no agents", help);
        }
        definition.entry = self.entry(get("entryPointAgent"), &definition.roles);
        if let Some(node) = get("commands") {
            definition.commands = self.commands(node);
        }
        if let Some(node) = get("script_runtime") {
            self.runtime(node);
        }
    }

    /// The role that is spoken to: the one that is named, else the first.
    fn entry(&mut self, node: Option<&Node<'_>>, roles: &[Role]) -> usize {
        let Some(name) = node.and_then(|node| self.reader.text("entryPointAgent", node)) else { return 0 };
        let found = roles.iter().position(|role| role.name.value == name.value);
        found.unwrap_or_else(|| {
            let names: Vec<String> = roles.iter().map(|role| format!("`{}`", role.name.value)).collect();
            let message = format!("`{}` is no agent of this crew", name.value);
            let help = match names.as_slice() {
                [] => "there is none to name".to_owned(),
                names => format!("there is {}", names.join(", ")),
            };
            self.reader.say(&code::AGENT_ENTRY, name.span, message, help);
            0
        })
    }

    fn roles(&mut self, node: &Node<'_>) -> Vec<Role> {
        if node.is_null() {
            return Vec::new();
        }
        let Some(entries) = node.entries() else {
            self.reader.wrong_type("agents", node.span, "a mapping of names to agents");
            return Vec::new();
        };
        self.reader.keys(entries, |_| true, Severity::Error, "`agents`");
        let mut roles: Vec<Role> = Vec::new();
        for entry in entries.iter().take(MAX_PARTS) {
            if !roles.iter().any(|role| role.name.value == entry.key) {
                roles.push(self.role(entry));
            }
        }
        roles
    }

    fn role(&mut self, entry: &Entry<'_>) -> Role {
        let mut role = Role::named(Spanned { value: entry.key.clone().into_owned(), span: entry.key_span });
        role.disclosure = Some(SkillDisclosure::Handoff);
        role.skills = SkillList::Named(Vec::new());
        if entry.value.is_null() {
            return role;
        }
        let Some(entries) = entry.value.entries() else {
            self.reader.wrong_type(
                &entry.key,
                entry.value.span,
                "a mapping with `instructionsPath` and `skills`",
            );
            return role;
        };
        self.reader.keys(entries, |key| ROLE_KEYS.contains(&key), Severity::Error, "an agent of a crew");
        let get = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        role.instructions_file = get("instructionsPath").and_then(|node| self.path("instructionsPath", node));
        if let Some(node) = get("codeWorkerPath").filter(|node| !node.is_null()) {
            let message = "`codeWorkerPath` has no effect here: metier runs no worker of another program";
            self.reader.say(&code::AGENT_KEY_INERT, node.span, message, "it can stay for other programs");
        }
        for item in self.items("mcp_servers", get("mcp_servers")) {
            if let Some((_, file)) = self.named_file("mcp_servers", item, &["filePath"]) {
                role.servers.push(Spanned { value: ServerRef::File(file.value, None), span: file.span });
            }
        }
        let mut skills = Vec::new();
        for item in self.items("skills", get("skills")) {
            skills.extend(self.skill(item));
        }
        role.skills = SkillList::Named(skills);
        role
    }

    /// `{name, folderPath}`. A skill's folder may lie outside the boundary: whether it is looked at is a matter of trust, which
    /// the roots settle.
    fn skill(&mut self, item: &Node<'_>) -> Option<SkillRef> {
        let entries = self.mapping("skills", item, &["name", "folderPath"])?;
        let get = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        let name = get("name").and_then(|node| self.reader.text("name", node));
        let folder = get("folderPath").and_then(|node| self.reader.text("folderPath", node));
        let (Some(name), Some(folder)) = (name, folder) else {
            self.reader.wrong_type("skills", item.span, "a `name` and a `folderPath` for each skill");
            return None;
        };
        let path = plain_path(&self.base.join(&folder.value));
        Some(SkillRef { name, folder: Some(Spanned { value: path, span: folder.span }) })
    }

    fn commands(&mut self, node: &Node<'_>) -> Vec<SlashCommand> {
        let mut commands: Vec<SlashCommand> = Vec::new();
        for item in self.items("commands", Some(node)) {
            let Some((name, file)) = self.named_file("commands", item, &["name", "filePath"]) else {
                continue;
            };
            let Some(name) = name else { continue };
            if let Some(why) = SlashCommand::why_no_name(&name.value) {
                self.reader.say(
                    &code::AGENT_COMMAND,
                    name.span,
                    why,
                    "letters, digits, `-` and `_` can be typed",
                );
            } else if commands.iter().any(|known| known.name.value == name.value) {
                let message = format!("there are two commands `/{}`", name.value);
                self.reader.say(&code::AGENT_COMMAND, name.span, message, "give one of them another name");
            } else {
                commands.push(SlashCommand::unread(name, file));
            }
        }
        commands
    }

    fn runtime(&mut self, node: &Node<'_>) {
        if node.is_null() {
            return;
        }
        let Some(entries) = self.mapping("script_runtime", node, &["kind", "dockerfile"]) else { return };
        let get = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        let kind = get("kind").and_then(|node| self.reader.text("kind", node));
        let dockerfile = get("dockerfile").and_then(|node| self.path("dockerfile", node));
        match kind.as_ref().map(|kind| kind.value.as_str()) {
            None | Some("local") => {}
            Some("container") if dockerfile.is_none() => {
                let message = "`script_runtime` asks for a container and names no `dockerfile`";
                let help = "name one, or write `kind: local`: what runs here is contained anyway";
                self.reader.say(&code::AGENT_CONTAINER, node.span, message, help);
            }
            Some("container") => {
                let message = "no container is built: metier contains everything that runs by itself";
                let help = "programs that the Dockerfile would install have to be on the search path";
                self.reader.say(&code::AGENT_KEY_INERT, node.span, message, help);
            }
            Some(other) => {
                let message = format!("`{other}` is no runtime for scripts");
                let span = kind.as_ref().map_or(node.span, |kind| kind.span);
                self.reader.say(&code::AGENT_CONTAINER, span, message, "write `local` or `container`");
            }
        }
    }

    /// The items of a list, up to the bound on parts.
    fn items<'n>(&mut self, key: &str, node: Option<&'n Node<'n>>) -> &'n [Node<'n>] {
        let Some(node) = node.filter(|node| !node.is_null()) else { return &[] };
        let Some(items) = node.items() else {
            self.reader.wrong_type(key, node.span, "a list");
            return &[];
        };
        let room = MAX_PARTS.saturating_sub(self.parts);
        if items.len() > room {
            let message =
                format!("a crew has at most {MAX_PARTS} skills, servers and commands; the rest is left out");
            self.reader.say(&code::AGENT_WRONG_TYPE, node.span, message, "make two crews of it");
        }
        self.parts += items.len().min(room);
        &items[..items.len().min(room)]
    }

    fn mapping<'n>(&mut self, key: &str, node: &'n Node<'n>, known: &[&str]) -> Option<&'n [Entry<'n>]> {
        let Kind::Mapping(entries) = &node.kind else {
            let takes = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ");
            self.reader.wrong_type(key, node.span, &format!("mappings with {takes}"));
            return None;
        };
        self.reader.keys(
            entries,
            |key| known.contains(&key),
            Severity::Error,
            &format!("an item of `{key}`"),
        );
        Some(entries)
    }

    /// An item with a `filePath` and, where it takes one, a `name`.
    fn named_file(
        &mut self,
        key: &str,
        item: &Node<'_>,
        known: &[&str],
    ) -> Option<(Option<Spanned<String>>, Spanned<PathBuf>)> {
        let entries = self.mapping(key, item, known)?;
        let get = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        let name = get("name").and_then(|node| self.reader.text("name", node));
        let takes_name = known.contains(&"name");
        let is_written = get("filePath").is_some_and(|node| !node.is_null());
        if !is_written || (takes_name && name.is_none()) {
            let takes = if takes_name { "a `name` and a `filePath`" } else { "a `filePath`" };
            self.reader.wrong_type(key, item.span, &format!("{takes} for each item"));
            return None;
        }
        let file = get("filePath").and_then(|node| self.path("filePath", node))?;
        Some((name, file))
    }

    /// A path of the crew's own, absolute and inside its boundary.
    fn path(&mut self, key: &str, node: &Node<'_>) -> Option<Spanned<PathBuf>> {
        let written = self.reader.text(key, node)?;
        let path = plain_path(&self.base.join(&written.value));
        // Its text would go to a model, so it is read from the project and from nowhere else. Links are looked at when it is opened.
        if !path.starts_with(self.boundary) {
            let message = format!("`{}` leads out of `{}`", written.value, self.boundary.display());
            let help = "move the file into the project";
            self.reader.say(&code::AGENT_PATH_OUTSIDE, written.span, message, help);
            return None;
        }
        Some(Spanned { value: path, span: written.span })
    }
}

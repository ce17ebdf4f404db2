//! What holds for every text as the file of an agent or a crew. The property test and the fuzz target hold it.

use metier_definition::{
    AgentDefinition, DefinitionFormat, ParsedDefinition, Role, SlashCommands, SlashInput,
};
use metier_diagnostic::{Paint, render_text};
use std::path::{Component, Path};
use std::sync::Arc;

/// The folder that nothing in a file may lead out of.
const BOUNDARY: &str = "/p";

/// What holds of a text, in each of the forms.
pub(crate) fn holds(text: &str) {
    for file in ["a.md", "agents/a.md", ".claude/agents/a.md", "a.skilled_crew.yaml"] {
        let path: Arc<Path> = Path::new(BOUNDARY).join(file).as_path().into();
        let Some(format) = DefinitionFormat::of(&path, Some(Path::new(BOUNDARY))) else {
            panic!("{file} has no format")
        };
        let read = AgentDefinition::parse(format, &path, text, Path::new(BOUNDARY));
        places(&read, text);
        let AgentDefinition { name, roles, entry, commands, .. } = &read.definition;
        assert!(!name.value.is_empty(), "{text:?} has no name");
        assert!(roles.is_empty() || *entry < roles.len(), "nobody of {text:?} is spoken to");
        roles.iter().for_each(inside);
        let slash = SlashCommands { commands, is_skill: &|_| false };
        for command in commands {
            // A command that was taken is one that can be typed, unless a built-in one has its name.
            let typed = format!("/{} x", command.name.value);
            assert!(!matches!(slash.parse(&typed), SlashInput::Answer(_)), "{typed:?} of {text:?}");
        }
        slash.help();
    }
}

fn places(read: &ParsedDefinition, text: &str) {
    for found in &read.diagnostics {
        // The words of a stranger's file do nothing to a terminal.
        let shown = render_text(found, Some(text), Paint::Plain);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        if let Some(place) = found.place {
            assert!(text.get(place.span.range()).is_some(), "{found:?} is about no piece of {text:?}");
        }
    }
}

/// Whatever a role names by a path lies in the project.
fn inside(role: &Role) {
    let files = role.instructions_file.iter().map(|file| &file.value);
    let folders =
        role.skills.named().iter().filter_map(|skill| skill.folder.as_ref()).map(|folder| &folder.value);
    for path in files.chain(folders) {
        let is_up = path.components().any(|step| step == Component::ParentDir);
        assert!(path.starts_with(BOUNDARY) && !is_up, "{} leads out", path.display());
    }
}

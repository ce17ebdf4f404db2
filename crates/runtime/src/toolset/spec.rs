//! The tools of each surface, as data.

use std::ops::Deref;

use super::surface::Surface;
use crate::tool::{Field, FieldKind, Form, SideEffect};

/// What a tool does, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    /// Activates a skill.
    Use,
    /// Reads a file of a skill, a page at a time.
    Read,
    /// Runs a script of a skill; the result is a text.
    Run,
    /// Finds skills.
    Search,
    /// Runs a command line for the skill that was activated last.
    Command,
    /// Reads references of the skill that was activated last.
    References,
    /// Lists the skills, as the ADK does.
    List,
    /// Activates a skill; the result is JSON that holds its instructions.
    Load,
    /// Reads a file of a skill whole; the result is JSON.
    Resource,
    /// Runs a script of a skill; the result is JSON.
    RunJson,
}

/// One tool of a surface: how it is written down, and what it does.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) act: Act,
    form: &'static Form,
}

impl Deref for Spec {
    type Target = Form;

    fn deref(&self) -> &Form {
        self.form
    }
}

const OFFSET: Field = Field::optional(
    "offset",
    FieldKind::Number { least: 0, default: 0 },
    "The byte to begin at. A long file comes in pages; the last line of each says where the next one begins.",
);

const SKILL_NAME: Field = Field::required("skill_name", FieldKind::Skill, "The skill.");

static USE: Form = Form {
    name: "skill_use",
    description: "Activates a skill: its instructions follow as a message, to be carried out. Call it before you do work that \
                  a skill is there for.",
    fields: &[
        SKILL_NAME,
        Field::optional(
            "arguments",
            FieldKind::Words,
            "What the skill is told, as a user would type it behind its name.",
        ),
    ],
    example: r#"{"skill_name": "review-pr", "arguments": "128"}"#,
};

static READ: Form = Form {
    name: "skill_read_file",
    description: "Reads a file of a skill's folder.",
    fields: &[
        SKILL_NAME,
        Field::required(
            "file_path",
            FieldKind::Text,
            "The file, seen from the skill's folder: references/style.md.",
        ),
        OFFSET,
    ],
    example: r#"{"skill_name": "review-pr", "file_path": "references/style.md"}"#,
};

static RUN: Form = Form {
    name: "skill_run_script",
    description: "Runs a script of a skill's scripts/ folder, contained, and returns what it printed.",
    fields: &[
        SKILL_NAME,
        Field::required("script_name", FieldKind::Text, "The script, a file in scripts/: lint.sh."),
        Field::optional(
            "script_args",
            FieldKind::Words,
            "What the script is told, in words as a shell splits them.",
        ),
    ],
    example: r#"{"skill_name": "review-pr", "script_name": "lint.sh", "script_args": "src --quiet"}"#,
};

static SEARCH: Form = Form {
    name: "skill_search",
    description: "Finds skills by what they are for. Not every skill is described above; search before you decide that there \
                  is none.",
    fields: &[
        Field::required("query", FieldKind::Text, "What is to be done, in a few words."),
        Field::optional(
            "limit",
            FieldKind::Number { least: 1, default: 5 },
            "How many skills to name at most.",
        ),
    ],
    example: r#"{"query": "turn a PDF into text", "limit": 5}"#,
};

static COMMAND: Form = Form {
    name: "run_command_line",
    description: "Runs a command line in the folder of the active skill, contained, and returns exitCode, stdout, stderr and \
                  timedOut.",
    fields: &[
        Field::required("reason", FieldKind::Text, "Why it is run, in one sentence."),
        Field::required("commandLine", FieldKind::Text, "The command line, as bash takes it."),
    ],
    example: r#"{"reason": "why", "commandLine": "what"}"#,
};

static REFERENCES: Form = Form {
    name: "load_skill_resources",
    description: "Reads files of the active skill's references/ folder: a map from path to text.",
    fields: &[Field::required("resources", FieldKind::References, "The files that are needed now.")],
    example: r#"{"resources": [{"path": "references/api.md", "reason": "why"}]}"#,
};

static LIST: Form = Form {
    name: "list_skills",
    description: "Lists the skills with their names and descriptions.",
    fields: &[],
    example: "{}",
};

static LOAD: Form = Form {
    name: "load_skill",
    description: "Loads the instructions of a skill, to be carried out.",
    fields: &[Field::required("name", FieldKind::Skill, "The skill.")],
    example: r#"{"name": "review-pr"}"#,
};

static RESOURCE: Form = Form {
    name: "load_skill_resource",
    description: "Loads a file of a skill's folder, such as those in references/, assets/ and scripts/.",
    fields: &[
        SKILL_NAME,
        Field::required(
            "resource_path",
            FieldKind::Text,
            "The file, seen from the skill's folder: references/style.md, assets/form.txt, scripts/setup.sh.",
        ),
    ],
    example: r#"{"skill_name": "review-pr", "resource_path": "references/style.md"}"#,
};

static RUN_JSON: Form = Form {
    name: "run_skill_script",
    description: "Runs a script of a skill's scripts/ folder, contained, and returns status, stdout and stderr.",
    fields: &[
        SKILL_NAME,
        Field::required(
            "script_path",
            FieldKind::Text,
            "The script, seen from the skill's folder: scripts/setup.sh.",
        ),
        Field::optional(
            "args",
            FieldKind::Options,
            "What the script is told: a text, a list of words, or options by name.",
        ),
    ],
    example: r#"{"skill_name": "review-pr", "script_path": "scripts/lint.sh", "args": ["src", "--quiet"]}"#,
};

static SKILL: Form = Form {
    name: "Skill",
    description: "Activates a skill: its instructions follow as a message, to be carried out. Call it before you do work that \
                  a skill is there for.",
    fields: &[
        Field::required("skill", FieldKind::Skill, "The skill."),
        Field::optional(
            "args",
            FieldKind::Words,
            "What the skill is told, as a user would type it behind its name.",
        ),
    ],
    example: r#"{"skill": "review-pr", "args": "128"}"#,
};

static OWN_TOOLS: [Spec; 4] = [
    Spec { act: Act::Use, form: &USE },
    Spec { act: Act::Read, form: &READ },
    Spec { act: Act::Run, form: &RUN },
    Spec { act: Act::Search, form: &SEARCH },
];
static CREW_TOOLS: [Spec; 4] = [
    Spec { act: Act::Use, form: &USE },
    Spec { act: Act::Command, form: &COMMAND },
    Spec { act: Act::References, form: &REFERENCES },
    Spec { act: Act::Search, form: &SEARCH },
];
static ADK_TOOLS: [Spec; 5] = [
    Spec { act: Act::List, form: &LIST },
    Spec { act: Act::Load, form: &LOAD },
    Spec { act: Act::Resource, form: &RESOURCE },
    Spec { act: Act::RunJson, form: &RUN_JSON },
    Spec { act: Act::Search, form: &SEARCH },
];
static CLAUDE_CODE_TOOLS: [Spec; 2] =
    [Spec { act: Act::Use, form: &SKILL }, Spec { act: Act::Search, form: &SEARCH }];

/// The tools of a surface, in the order in which they are offered.
///
/// Where not every skill is described, a model has to be able to find the rest, so every surface has `skill_search` for that
/// case. skilled-crew hands work over instead of activating a skill; where one conversation uses several skills, it needs
/// `skill_use`.
pub(crate) fn specs(surface: Surface) -> &'static [Spec] {
    match surface {
        Surface::Canonical | Surface::Agentmd => &OWN_TOOLS,
        Surface::SkilledCrew => &CREW_TOOLS,
        Surface::Adk => &ADK_TOOLS,
        Surface::ClaudeCode => &CLAUDE_CODE_TOOLS,
    }
}

/// The tool of a surface by this name.
pub(crate) fn spec(surface: Surface, name: &str) -> Option<&'static Spec> {
    specs(surface).iter().find(|spec| spec.name == name)
}

impl Act {
    /// The fields of a tool that name the skill to be activated, and its arguments if it takes any. Claude Code calls them otherwise.
    pub(crate) fn activation_fields(self, tool: &str) -> Option<(&'static str, Option<&'static str>)> {
        match self {
            Self::Use if tool == SKILL.name => Some(("skill", Some("args"))),
            Self::Use => Some(("skill_name", Some("arguments"))),
            Self::Load => Some(("name", None)),
            _ => None,
        }
    }

    /// What a call does to others of the same turn.
    pub(crate) const fn effect(self) -> SideEffect {
        match self {
            Self::Read | Self::Search | Self::References | Self::List | Self::Resource => {
                SideEffect::ReadOnly
            }
            Self::Use | Self::Run | Self::Command | Self::Load | Self::RunJson => SideEffect::Runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use metier_skill::Tool;
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_tool_is_in_the_one_table_of_names_and_has_an_example_that_fits() {
        for surface in Surface::ALL {
            for spec in specs(surface) {
                assert!(Tool::named(spec.name).is_some(), "{} is no tool that fences know", spec.name);
                let example: Value = serde_json::from_str(spec.example).unwrap();
                let given: Vec<&String> = example.as_object().unwrap().keys().collect();
                for name in &given {
                    assert!(spec.fields.iter().any(|field| field.name == **name), "{}: {name}", spec.name);
                }
                for field in spec.fields.iter().filter(|field| field.is_required) {
                    assert!(given.iter().any(|name| *name == field.name), "{}: {}", spec.name, field.name);
                }
            }
        }
    }
}

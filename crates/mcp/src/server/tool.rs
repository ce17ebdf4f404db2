//! The tools over MCP: the same few, however many skills there are.

use std::sync::Arc;

use metier_runtime::{
    ChangeReport, Coverage, Definition, Entrance, MetaMessage, Surface, ToolResult, Toolset, Visible,
};
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::shelf::Row;

/// The most that the list of tools may take, in bytes. It stands before everything else in a host's context. Names of skills
/// are in the schemas only as long as they leave room.
const MOST_BYTES: usize = 16 << 10;

/// The tool that reads a file.
pub(super) const READ: &str = "skill_read_file";

/// The tools that belong to a skill without naming it. Where nobody sees a conversation they belong to nobody, so they are there
/// only on a connection that is about one skill.
const OF_ONE_SKILL: [&str; 2] = ["run_command_line", "load_skill_resources"];

/// The tools for the skills that are here. Hosts that keep a server's instructions from the model leave it nothing but these, so
/// the search is always among them.
pub(super) fn tools(row: &Row, only: Option<&str>) -> Vec<Tool> {
    let visible = match only {
        Some(name) => Visible::only(Arc::clone(&row.snapshot), [name]),
        None => Ok(Visible::all(Arc::clone(&row.snapshot))),
    };
    let Ok(visible) = visible else { return Vec::new() };
    let coverage = if only.is_some() { Coverage::Whole } else { Coverage::Partial };
    let own = Toolset::new(Surface::Canonical, visible.clone(), coverage, Entrance::Tool);
    let mut definitions: Vec<Definition> = own.definitions().to_vec();
    if only.is_some() {
        let crew = Toolset::new(Surface::SkilledCrew, visible, Coverage::Whole, Entrance::Given);
        let more = crew.definitions().iter().filter(|tool| OF_ONE_SKILL.contains(&tool.name));
        definitions.extend(more.cloned());
    }
    let size = |definitions: &[Definition]| -> usize {
        definitions.iter().map(|tool| tool.schema.to_string().len()).sum()
    };
    if size(&definitions) > MOST_BYTES {
        definitions.iter_mut().for_each(without_names);
    }
    definitions.iter().map(tool).collect()
}

/// Takes the names of skills out of a schema: any text is taken, and an unknown name is answered with the nearest ones.
fn without_names(definition: &mut Definition) {
    for key in ["skill_name", "skill"] {
        if let Some(Value::Object(property)) = definition.schema.pointer_mut(&format!("/properties/{key}")) {
            property.remove("enum");
        }
    }
}

fn tool(definition: &Definition) -> Tool {
    let schema = definition.schema.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(definition.name, definition.description, schema)
        .with_title(title(definition.name))
        .with_annotations(annotations(definition));
    match output(definition.name) {
        Some(Value::Object(schema)) => tool.with_raw_output_schema(Arc::new(schema)),
        _ => tool,
    }
}

/// What a host may show to its user.
fn title(name: &str) -> &'static str {
    match name {
        "skill_use" => "Use a skill",
        READ => "Read a file of a skill",
        "skill_run_script" => "Run a script of a skill",
        "skill_search" => "Find a skill",
        "run_command_line" => "Run a command for the skill",
        "load_skill_resources" => "Read references of the skill",
        _ => "Skills",
    }
}

/// What tells reads from runs. What runs is contained: it reaches nobody unless the user says so.
fn annotations(definition: &Definition) -> ToolAnnotations {
    let is_read = definition.is_read_only();
    // An activation may run commands that its text names; nothing of what is there is taken away by it.
    let is_activation = definition.name == "skill_use";
    let hints = ToolAnnotations::new().read_only(is_read).open_world(false);
    if is_read { hints } else { hints.destructive(!is_activation).idempotent(is_activation) }
}

/// The shape of the structured result.
fn output(name: &str) -> Option<Value> {
    let text = json!({ "type": "string" });
    let notes = json!({ "type": "array", "items": text });
    let schema = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    // What became of everything that it changed in the project; `metier changes` knows the id.
    let changes = schema(
        json!({
            "id": text,
            "entries": { "type": "array", "items": schema(
                json!({ "path": text, "kind": text, "state": text, "size": { "type": "integer" }, "digest": text,
                        "protected": { "type": "boolean" } }),
                &["path", "kind", "state"],
            ) },
            "allow_with": notes,
            "problem": text,
        }),
        &["id", "entries"],
    );
    Some(match name {
        "skill_use" => {
            schema(json!({ "skill": text, "instructions": text, "notes": notes }), &["skill", "instructions"])
        }
        READ => schema(json!({ "text": text }), &["text"]),
        "skill_run_script" | "run_command_line" => schema(
            json!({
                "exitCode": { "type": ["integer", "null"] },
                "stdout": text,
                "stderr": text,
                "timedOut": { "type": "boolean" },
                "changes": changes,
                "notes": notes,
            }),
            &["exitCode", "stdout", "stderr", "timedOut"],
        ),
        "skill_search" => {
            let skill = schema(json!({ "name": text, "description": text, "why": text }), &["name"]);
            let skills = json!({ "type": "array", "items": skill });
            schema(json!({ "skills": skills, "searched": { "type": "integer" } }), &["skills"])
        }
        "load_skill_resources" => json!({ "type": "object", "additionalProperties": text }),
        _ => return None,
    })
}

/// What a call gave, as MCP has it: the text for hosts that show text, the same as data for those that want data.
pub(super) fn result(name: &str, given: ToolResult) -> CallToolResult {
    let is_error = given.is_error();
    let data = structured(name, &given);
    let ToolResult { text, notes, message, changes, .. } = given;
    let mut content = vec![ContentBlock::text(text)];
    content.extend(changes.as_deref().and_then(waiting).map(ContentBlock::text));
    // There is no later message over MCP, so what follows an activation follows at once.
    content.extend(message.map(|message| ContentBlock::text(message.text)));
    if !notes.is_empty() {
        content.push(ContentBlock::text(format!("[notes]\n{}", notes.join("\n"))));
    }
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = data;
    result
}

/// What the user has to know where changes wait: over MCP nobody else says it.
fn waiting(changes: &ChangeReport) -> Option<String> {
    if !changes.needs_approval() {
        return None;
    }
    let mut lines = vec![format!(
        "[the user can look at them with `metier changes show {id}` and apply them with `metier changes apply {id}`]",
        id = changes.id
    )];
    if !changes.allow_with.is_empty() {
        lines.push(format!("[rules that allow such changes: {}]", changes.allow_with.join(", ")));
    }
    Some(lines.join("\n"))
}

/// The same as data. A call that was not carried out has none: its text says why.
fn structured(name: &str, given: &ToolResult) -> Option<Value> {
    if given.is_error() && given.data.is_none() {
        return None;
    }
    let mut data: Map<String, Value> = match (&given.message, &given.data) {
        (Some(MetaMessage { skill, text }), _) => {
            [("skill".to_owned(), json!(skill)), ("instructions".to_owned(), json!(text))]
                .into_iter()
                .collect()
        }
        (None, Some(data)) => data.as_object().cloned()?,
        (None, None) if name == "load_skill_resources" => serde_json::from_str(&given.text).ok()?,
        (None, None) => [("text".to_owned(), json!(given.text))].into_iter().collect(),
    };
    if let Some(changes) = &given.changes {
        data.insert("changes".to_owned(), serde_json::to_value(changes).unwrap_or_default());
    }
    if !given.notes.is_empty() && data.contains_key("stdout") | data.contains_key("instructions") {
        data.insert("notes".to_owned(), json!(given.notes));
    }
    Some(Value::Object(data))
}

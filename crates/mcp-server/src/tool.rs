//! The tools: a fixed set, however many skills there are.

use std::sync::Arc;

use metier_exec::ChangeReport;
use metier_runtime::{Coverage, Definition, Entrance, MetaMessage, Surface, ToolResult, Toolset, Visible};
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::served_catalog::CatalogView;

/// The most bytes of all tool schemas. They are part of the host's context in every turn. Skill names are listed in the schemas
/// only while they fit.
const MAX_SCHEMA_BYTES: usize = 16 << 10;

/// Reads a file of a skill.
pub(crate) const READ_FILE: &str = "skill_read_file";

/// Tools without a skill parameter. They act on the active skill, which this server only knows if it is restricted to one.
const SINGLE_SKILL_TOOLS: [&str; 2] = ["run_command_line", "load_skill_resources"];

/// The tools for a snapshot. The search is always included: some hosts hide a server's instructions from the model.
pub(crate) fn tools(view: &CatalogView, only: Option<&str>) -> Vec<Tool> {
    let visible = match only {
        Some(name) => Visible::only(Arc::clone(&view.snapshot), [name]),
        None => Ok(Visible::all(Arc::clone(&view.snapshot))),
    };
    let Ok(visible) = visible else { return Vec::new() };
    let coverage = if only.is_some() { Coverage::Whole } else { Coverage::Partial };
    let own = Toolset::new(Surface::Canonical, visible.clone(), coverage, Entrance::Tool);
    let mut definitions: Vec<Definition> = own.definitions().cloned().collect();
    if only.is_some() {
        let crew = Toolset::new(Surface::SkilledCrew, visible, Coverage::Whole, Entrance::Given);
        let more = crew.definitions().filter(|tool| SINGLE_SKILL_TOOLS.contains(&&*tool.name));
        definitions.extend(more.cloned());
    }
    let size = |definitions: &[Definition]| -> usize {
        definitions.iter().map(|tool| tool.schema.to_string().len()).sum()
    };
    if size(&definitions) > MAX_SCHEMA_BYTES {
        definitions.iter_mut().for_each(without_names);
    }
    definitions.iter().map(tool).collect()
}

/// Removes skill names from a schema. Any name is accepted then; an unknown one is answered with similar names.
fn without_names(definition: &mut Definition) {
    for key in ["skill_name", "skill"] {
        if let Some(Value::Object(property)) = definition.schema.pointer_mut(&format!("/properties/{key}")) {
            property.remove("enum");
        }
    }
}

fn tool(definition: &Definition) -> Tool {
    let schema = definition.schema.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(definition.name.clone(), definition.description.clone(), schema)
        .with_title(title(&definition.name))
        .with_annotations(annotations(definition));
    match output(&definition.name) {
        Some(Value::Object(schema)) => tool.with_raw_output_schema(Arc::new(schema)),
        _ => tool,
    }
}

/// The title that a host shows to its user.
fn title(name: &str) -> &'static str {
    match name {
        "skill_use" => "Use a skill",
        READ_FILE => "Read a file of a skill",
        "skill_run_script" => "Run a script of a skill",
        "skill_search" => "Find a skill",
        "run_command_line" => "Run a command for the skill",
        "load_skill_resources" => "Read references of the skill",
        _ => "Skills",
    }
}

/// The hints that tell reads from runs. Processes are contained: they reach no host unless the user allows it.
fn annotations(definition: &Definition) -> ToolAnnotations {
    let is_read = definition.is_read_only();
    // An activation may run commands from the skill's text, but removes nothing.
    let is_activation = definition.name == "skill_use";
    let hints = ToolAnnotations::new().read_only(is_read).open_world(false);
    if is_read { hints } else { hints.destructive(!is_activation).idempotent(is_activation) }
}

/// The schema of the structured result.
fn output(name: &str) -> Option<Value> {
    let text = json!({ "type": "string" });
    let notes = json!({ "type": "array", "items": text });
    let schema = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    // The state of each change in the project; `metier changes` knows the id.
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
        READ_FILE => schema(json!({ "text": text }), &["text"]),
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

/// The MCP result of a call: text for hosts that show text, the same as data for hosts that use data.
pub(crate) fn result(name: &str, called: ToolResult) -> CallToolResult {
    let is_error = called.is_error();
    let data = structured(name, &called);
    let ToolResult { text, notes, message, changes, .. } = called;
    let mut content = vec![ContentBlock::text(text)];
    content.extend(changes.as_deref().and_then(pending_changes).map(ContentBlock::text));
    // MCP has no later message, so the skill's text follows immediately.
    content.extend(message.map(|message| ContentBlock::text(message.text)));
    if !notes.is_empty() {
        content.push(ContentBlock::text(format!("[notes]\n{}", notes.join("\n"))));
    }
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = data;
    result
}

/// How the user can apply pending changes. MCP has no other place for this.
fn pending_changes(changes: &ChangeReport) -> Option<String> {
    if !changes.needs_approval() {
        return None;
    }
    let mut lines = vec![format!(
        "[the user can review them with `metier changes show {id}` and apply them with `metier changes apply {id}`]",
        id = changes.id
    )];
    if !changes.allow_with.is_empty() {
        lines.push(format!("[rules that would allow such changes: {}]", changes.allow_with.join(", ")));
    }
    Some(lines.join("\n"))
}

/// The structured result. A call that was not executed has none; its text says why.
fn structured(name: &str, called: &ToolResult) -> Option<Value> {
    if called.is_error() && called.data.is_none() {
        return None;
    }
    let mut data: Map<String, Value> = match (&called.message, &called.data) {
        (Some(MetaMessage { skill, text }), _) => {
            [("skill".to_owned(), json!(skill)), ("instructions".to_owned(), json!(text))]
                .into_iter()
                .collect()
        }
        (None, Some(data)) => data.as_object().cloned()?,
        (None, None) if name == "load_skill_resources" => serde_json::from_str(&called.text).ok()?,
        (None, None) => [("text".to_owned(), json!(called.text))].into_iter().collect(),
    };
    if let Some(changes) = &called.changes {
        data.insert("changes".to_owned(), serde_json::to_value(changes).unwrap_or_default());
    }
    if !called.notes.is_empty() && data.contains_key("stdout") | data.contains_key("instructions") {
        data.insert("notes".to_owned(), json!(called.notes));
    }
    Some(Value::Object(data))
}

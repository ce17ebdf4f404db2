//! `Glob`: files of the project by their names.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use metier_runtime::{Field, FieldKind, Form, Input, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;

use super::refusal::{Planned, Refused, planned};
use super::resolved_path::ResolvedPath;
use super::{Entry, GeneralTools};

/// How many files are named: some 4,000 tokens, and more than anybody picks one of.
const MAX_RESULTS: usize = 200;

pub(super) const PATH: Field = Field::optional(
    "path",
    FieldKind::Text,
    "The folder to look in; without it the current folder, and what lies below.",
)
.or(&["directory", "dir"]);

static FORM: Form = Form {
    name: "Glob",
    description: "Finds files by a pattern of their path: `**/*.rs`, `docs/*.md`, `src/**/test_*.{js,ts}`. `*` stays in one \
                  folder, `**` crosses folders. What git ignores is left out. Sorted by path.",
    fields: &[
        Field::required("pattern", FieldKind::Text, "The pattern, seen from `path`.").or(&["glob"]),
        PATH,
    ],
    example: r#"{"pattern": "**/*.md", "path": "docs"}"#,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::Glob, form: &FORM, effect: SideEffect::ReadOnly, plan };

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let given = input.text("pattern")?;
    let top = tools.project()?.ground.path().to_string_lossy().into_owned();
    let path = input.optional_text("path")?;
    // A whole path is a pattern, too, where it lies in the project. It is seen from there if no folder is given beside it.
    let (pattern, path) = match given.strip_prefix(&top) {
        Some(rest) => (rest.trim_start_matches('/'), path.unwrap_or(&top)),
        None => (given, path.unwrap_or(".")),
    };
    let pattern = pattern.trim_start_matches("./").to_owned();
    if pattern.starts_with(['/', '~'])
        || Path::new(&pattern).components().any(|step| step.as_os_str() == "..")
    {
        return Err(input.problem(format!("`{given}` leads out of the project")).into());
    }
    let matcher = GlobBuilder::new(&pattern).literal_separator(true).build();
    let matcher =
        matcher.map_err(|error| input.problem(format!("`pattern` cannot be read: {}", error.kind())))?;
    let matcher = matcher.compile_matcher();
    let (place, action) = tools.search_place(Tool::Glob, path, context)?;
    Ok(planned(action, move || find(tools, place, &pattern, &matcher)))
}

fn find(
    tools: &GeneralTools,
    place: ResolvedPath,
    pattern: &str,
    matcher: &GlobMatcher,
) -> Result<ToolResult, Refused> {
    let searched = tools.files(place)?;
    let found: Vec<String> = searched
        .files
        .iter()
        .filter(|file| matcher.is_match(searched.inner(file)))
        .map(|file| searched.shown(tools, file))
        .collect();
    let mut lines: Vec<String> = found.iter().take(MAX_RESULTS).cloned().collect();
    if found.is_empty() {
        let deeper = if pattern.contains('/') {
            String::new()
        } else {
            format!("; `**/{pattern}` looks in folders, too")
        };
        lines.push(format!("[no file matches{deeper}]"));
    } else if found.len() > MAX_RESULTS {
        lines.push(format!(
            "[the first {MAX_RESULTS} of {}; narrow the pattern, or give `path`]",
            found.len()
        ));
    }
    lines.extend(searched.notes());
    Ok(ToolResult::done(lines.join("\n")))
}

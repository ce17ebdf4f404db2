//! Prompts: one for each skill that a user may start.

use metier_activation::SkillArguments;
use metier_catalog::{EntryId, SkillFile, one_line};
use metier_skill::{Argument, MAX_DESCRIPTION};
use rmcp::ErrorData;
use rmcp::model::{Prompt, PromptArgument};
use serde_json::{Map, Value};

use super::cursor::Cursor;
use super::files::Page;
use super::served_catalog::CatalogView;

/// How many prompts are on a page. Each skill's file is read for its arguments.
const MAX_PROMPTS_PER_PAGE: usize = 100;

/// The argument of a skill that declares none.
const WHOLE_ARGUMENT: &str = "arguments";

/// `prompts/list`.
pub(crate) fn prompts(view: &CatalogView, cursor: Option<&Cursor>) -> Page<Prompt> {
    let all = &view.startable;
    let from = cursor.map_or(0, |cursor| all.partition_point(|(name, _)| name.as_str() <= cursor.key()));
    let here = all.get(from..).unwrap_or_default();
    let items = here.iter().take(MAX_PROMPTS_PER_PAGE).filter_map(|(_, id)| prompt(view, *id)).collect();
    let last = here.get(MAX_PROMPTS_PER_PAGE.saturating_sub(1)).filter(|_| here.len() > MAX_PROMPTS_PER_PAGE);
    Page { items, next: last.map(|(name, _)| Cursor::after(name)) }
}

fn prompt(view: &CatalogView, id: EntryId) -> Option<Prompt> {
    let entry = view.snapshot.entry(id)?;
    let file = view.snapshot.read(entry).ok()?;
    let description = one_line(entry.description(), MAX_DESCRIPTION);
    let declared = declared(&file);
    let arguments = if declared.is_empty() {
        let hint = entry.argument_hint().map_or_else(
            || "Arguments for the skill, as typed after its name.".to_owned(),
            |hint| one_line(hint, MAX_DESCRIPTION),
        );
        vec![PromptArgument::new(WHOLE_ARGUMENT).with_description(hint).with_required(false)]
    } else {
        let argument = |argument: &Argument| {
            let given = PromptArgument::new(&argument.name).with_required(false);
            match (&argument.description, &argument.default) {
                (Some(text), Some(default)) => given.with_description(format!("{text} (default: {default})")),
                (Some(text), None) => given.with_description(text.clone()),
                (None, Some(default)) => given.with_description(format!("default: {default}")),
                (None, None) => given,
            }
        };
        declared.iter().map(argument).collect()
    };
    let prompt = Prompt::new(entry.name().to_string(), Some(description), Some(arguments));
    Some(match entry.title() {
        Some(title) => prompt.with_title(one_line(title, MAX_DESCRIPTION)),
        None => prompt,
    })
}

fn declared(file: &SkillFile) -> &[Argument] {
    file.manifest().map(|manifest| manifest.more.arguments.as_slice()).unwrap_or_default()
}

/// The skill's arguments from those of its prompt. Unknown arguments are an error: what a user typed is not dropped.
pub(crate) fn arguments(
    view: &CatalogView,
    id: EntryId,
    given: Option<&Map<String, Value>>,
) -> Result<SkillArguments, ErrorData> {
    let file = view.snapshot.entry(id).and_then(|entry| view.snapshot.read(entry).ok());
    let declared = file.as_ref().map(declared).unwrap_or_default();
    let mut left: Vec<(&str, String)> = Vec::new();
    for (name, value) in given.into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        left.push((name, text));
    }
    let mut take = |name: &str| {
        let at = left.iter().position(|(known, _)| *known == name)?;
        Some(left.remove(at).1)
    };
    let arguments = if declared.is_empty() {
        SkillArguments::Text(take(WHOLE_ARGUMENT).unwrap_or_default())
    } else {
        let values: Vec<Option<String>> = declared.iter().map(|argument| take(&argument.name)).collect();
        let last = values.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
        // Arguments are positional, so a missing one before others gets its default.
        let words = values.into_iter().zip(declared).take(last);
        SkillArguments::List(
            words
                .map(|(value, argument)| value.or_else(|| argument.default.clone()).unwrap_or_default())
                .collect(),
        )
    };
    match left.first() {
        None => Ok(arguments),
        Some((name, _)) => Err(ErrorData::invalid_params(format!("unknown argument `{name}`"), None)),
    }
}

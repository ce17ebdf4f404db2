//! Skills as prompts, for the user: one for each that a user may start.

use metier_catalog::{EntryId, SkillFile, one_line};
use metier_runtime::Arguments;
use metier_skill::Argument;
use rmcp::ErrorData;
use rmcp::model::{Prompt, PromptArgument};
use serde_json::{Map, Value};

use super::cursor::Cursor;
use super::files::Page;
use super::shelf::Row;

/// How many prompts a page has. The file of each is read for its arguments.
const PROMPTS_A_PAGE: usize = 100;

/// Characters of a description: what the open standard allows.
const MAX_DESCRIPTION: usize = 1_024;

/// The argument of a skill that names none of its own.
const WHOLE: &str = "arguments";

/// `prompts/list`.
pub(super) fn prompts(row: &Row, cursor: Option<&Cursor>) -> Page<Prompt> {
    let all = &row.startable;
    let from = cursor.map_or(0, |cursor| all.partition_point(|(name, _)| name.as_str() <= cursor.key()));
    let here = all.get(from..).unwrap_or_default();
    let items = here.iter().take(PROMPTS_A_PAGE).filter_map(|(_, id)| prompt(row, *id)).collect();
    let last = here.get(PROMPTS_A_PAGE.saturating_sub(1)).filter(|_| here.len() > PROMPTS_A_PAGE);
    Page { items, next: last.map(|(name, _)| Cursor::behind(name)) }
}

fn prompt(row: &Row, id: EntryId) -> Option<Prompt> {
    let entry = row.snapshot.entry(id)?;
    let file = row.snapshot.read(entry).ok()?;
    let description = one_line(entry.description(), MAX_DESCRIPTION);
    let declared = declared(&file);
    let arguments = if declared.is_empty() {
        let hint = entry.argument_hint().map_or_else(
            || "What the skill is told, as you would type it behind its name.".to_owned(),
            |hint| one_line(hint, MAX_DESCRIPTION),
        );
        vec![PromptArgument::new(WHOLE).with_description(hint).with_required(false)]
    } else {
        let argument = |argument: &Argument| {
            let given = PromptArgument::new(&argument.name).with_required(false);
            match (&argument.description, &argument.default) {
                (Some(text), Some(default)) => given.with_description(format!("{text} (else {default})")),
                (Some(text), None) => given.with_description(text.clone()),
                (None, Some(default)) => given.with_description(format!("{default} where none is given")),
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

/// What a skill is told, from the arguments of its prompt. One that is called otherwise than any that the prompt has is an error:
/// what a user typed is not dropped.
pub(super) fn arguments(
    row: &Row,
    id: EntryId,
    given: Option<&Map<String, Value>>,
) -> Result<Arguments, ErrorData> {
    let file = row.snapshot.entry(id).and_then(|entry| row.snapshot.read(entry).ok());
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
    let told = if declared.is_empty() {
        Arguments::Text(take(WHOLE).unwrap_or_default())
    } else {
        let values: Vec<Option<String>> = declared.iter().map(|argument| take(&argument.name)).collect();
        let last = values.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
        // Arguments are known by their place, so one that was left out before another is said as what counts without it.
        let words = values.into_iter().zip(declared).take(last);
        Arguments::List(
            words
                .map(|(value, argument)| value.or_else(|| argument.default.clone()).unwrap_or_default())
                .collect(),
        )
    };
    match left.first() {
        None => Ok(told),
        Some((name, _)) => {
            Err(ErrorData::invalid_params(format!("the prompt has no argument `{name}`"), None))
        }
    }
}

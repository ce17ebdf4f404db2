//! `Edit`: a file of the project, changed in part.

use metier_files::BinaryKind;
use metier_runtime::{Field, FieldKind, Form, Input, SideEffect, ToolContext};
use metier_skill::Tool;

use super::ledger::Known;
use super::read::FILE_PATH;
use super::refusal::{Planned, Refused};
use super::write::{Target, ends_lines_with_both};
use super::{Entry, GeneralTools};

/// How many places are named where a text stands more than once.
const MAX_PLACES: usize = 5;

static FORM: Form = Form {
    name: "Edit",
    description: "Replaces a piece of a file's text. `old_string` has to be in the file exactly once, to the byte, without the \
                  line numbers that Read shows; give enough lines around it, or set `replace_all`.",
    fields: &[
        FILE_PATH,
        Field::required("old_string", FieldKind::Bytes, "The text as it stands in the file.")
            .or(&["old_str", "old_text"]),
        Field::required("new_string", FieldKind::Bytes, "The text in its place; may be empty.")
            .or(&["new_str", "new_text"]),
        Field::optional("replace_all", FieldKind::Flag, "Whether every place is meant."),
    ],
    example: r#"{"file_path": "src/main.rs", "old_string": "let x = 1;", "new_string": "let x = 2;"}"#,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::Edit, form: &FORM, effect: SideEffect::Writes, plan };

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let (old, new) = (input.bytes("old_string")?, input.bytes("new_string")?);
    let all = input.flag("replace_all")?;
    if old.is_empty() {
        return Err(input.problem("`old_string` is empty; to make a file, use Write".to_owned()).into());
    }
    if old == new {
        return Err(input.problem("`old_string` and `new_string` are the same".to_owned()).into());
    }
    let given = input.text("file_path")?;
    let target = Target::find(tools, Tool::Edit, given, context)?;
    let Some(before) = &target.before else {
        return Err(Refused::Text(format!("`{given}` does not exist; to make it, use Write")));
    };
    let text = match std::str::from_utf8(before) {
        Ok(text) if BinaryKind::of(before).is_none() => text,
        _ => {
            return Err(target.mistake(format!("`{given}` is not UTF-8 text; Edit changes text only")));
        }
    };
    target.is_known(tools, before, Known::Changed)?;
    let replaced = replace(text, old, new, all).map_err(|why| target.mistake(format!("`{given}`: {why}")))?;
    let Replaced { text, count } = replaced;
    target.plan_put(tools, Tool::Edit, text, context, move |change| {
        let places = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
        format!("Edited `{}` in {places}.", change.path)
    })
}

#[derive(Debug, PartialEq, Eq)]
struct Replaced {
    text: String,
    count: usize,
}

/// The text with one piece replaced, or why not.
fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<Replaced, String> {
    // A model writes line feeds; a file whose lines end with both is meant all the same, and stays as it is.
    let both = ends_lines_with_both(text.as_bytes()) && !old.contains('\r') && !new.contains('\r');
    let (old, new) = if both {
        (old.replace('\n', "\r\n"), new.replace('\n', "\r\n"))
    } else {
        (old.to_owned(), new.to_owned())
    };
    let places: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
    match places.as_slice() {
        [] => Err(format!("`old_string` is not in it; {}", advice(text, &old))),
        [_] => Ok(Replaced { text: text.replacen(&old, &new, 1), count: 1 }),
        several if all => Ok(Replaced { text: text.replace(&old, &new), count: several.len() }),
        several => {
            let lines: Vec<String> =
                several.iter().take(MAX_PLACES).map(|at| line_of(text, *at).to_string()).collect();
            let more = if several.len() > MAX_PLACES { ", …" } else { "" };
            Err(format!(
                "`old_string` is in it {} times (lines {}{more}); give more of the lines around it, or set `replace_all`",
                several.len(),
                lines.join(", ")
            ))
        }
    }
}

/// What may be wrong with a text that is not there.
fn advice(text: &str, old: &str) -> String {
    let numbered = old
        .lines()
        .all(|line| line.split_once('\t').is_some_and(|(number, _)| number.trim().parse::<u64>().is_ok()));
    if numbered {
        return "leave out the line numbers and the tab behind them".to_owned();
    }
    // The same words with other white space are what is meant most of the time.
    let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old.lines().map(squeeze).filter(|line| !line.is_empty()).collect();
    if let Some(first) = wanted.first() {
        let near = text.lines().position(|line| squeeze(line) == *first);
        if let Some(line) = near {
            return format!(
                "line {} is like its first line; read from there, and copy the text with its white space",
                line + 1
            );
        }
    }
    "read the file again, and copy the text to the byte".to_owned()
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: &str, new: &str, expect: &str) {
        let got =
            replace(text, old, new, false).map_or_else(|why| format!("! {why}"), |replaced| replaced.text);
        assert_eq!(got, expect, "{text:?} {old:?}");
    }

    #[test]
    fn a_piece_is_replaced_where_it_stands_once() {
        check("a b c", "b", "x", "a x c");
        check("a\nb\n", "a\nb", "", "\n");
        check("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n");
        check("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n");
        check("a\r\nb\nc", "a\r\nb", "x\ny", "x\ny\nc");
        check("$1 {}", "$1", "$0", "$0 {}");
        assert_eq!(replace("a a a", "a", "b", true), Ok(Replaced { text: "b b b".to_owned(), count: 3 }));
    }

    #[test]
    fn every_mistake_is_told_with_its_remedy() {
        check(
            "a\nx\na\n",
            "a",
            "b",
            "! `old_string` is in it 2 times (lines 1, 3); give more of the lines around it, or set `replace_all`",
        );
        check(
            "a",
            "b",
            "c",
            "! `old_string` is not in it; read the file again, and copy the text to the byte",
        );
        check(
            "let a;",
            "1\tlet a;",
            "c",
            "! `old_string` is not in it; leave out the line numbers and the tab behind them",
        );
        check(
            "x\n    let  a;\n",
            "let a;\nlet b;",
            "c",
            "! `old_string` is not in it; line 2 is like its first line; read from there, and copy the text with its white space",
        );
    }
}

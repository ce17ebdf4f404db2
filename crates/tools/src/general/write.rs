//! `Write`: a file of the project, written whole.

use metier_diagnostic::counted;
use metier_exec::{ChangeReport, EditError, FileEdit};
use metier_files::{BinaryKind, Error, Expected, FileDigest, RelativePath};
use metier_policy::{Action, Actor, Decision, Reason, Ruling};
use metier_runtime::{Field, FieldKind, FileChange, Form, Input, Plan, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;

use super::difference::{change, counts};
use super::ledger::Known;
use super::read::{FILE_PATH, MAX_WHOLE};
use super::refusal::{Planned, Refused, planned};
use super::resolved_path::{Owner, ResolvedPath, masked};
use super::{Entry, GeneralTools, lock};

static FORM: Form = Form {
    name: "Write",
    description: "Writes a file of the project as a whole, and the folders above it. A file that is there has to be read before; \
                  to change a part of one, use Edit.",
    fields: &[
        FILE_PATH,
        Field::required("content", FieldKind::Bytes, "The whole new text.").or(&["text", "contents"]),
    ],
    example: r##"{"file_path": "docs/notes.md", "content": "# Notes\n"}"##,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::Write, form: &FORM, effect: SideEffect::Writes, plan };

/// A file that is to be changed.
pub(super) struct Target {
    spot: ResolvedPath,
    place: RelativePath,
    /// What is in it, if it is there.
    pub(super) before: Option<Vec<u8>>,
    given: String,
    /// What the gate has against it, where nobody can be asked.
    no: Option<Box<Decision>>,
}

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let given = input.bytes("content")?;
    if given.len() as u64 > MAX_WHOLE {
        return Err(input.problem(format!("`content` has more than {} MiB", MAX_WHOLE >> 20)).into());
    }
    let target = Target::find(tools, Tool::Write, input.text("file_path")?, context)?;
    if let Some(before) = &target.before {
        target.is_known(tools, before, Known::Never)?;
    }
    let (text, note) = match &target.before {
        Some(before) => like(before, given),
        None => (given.to_owned(), None),
    };
    if target.before.as_deref() == Some(text.as_bytes()) {
        let said = format!("`{}` holds exactly that already; nothing was written", target.given);
        return Ok(Plan::free(move |_| ToolResult::done(said)));
    }
    let lines = text.lines().count();
    let said = move |change: &FileChange| said(change, lines);
    Ok(target.plan_put(tools, Tool::Write, text, context, said)?.noting(note))
}

/// What the model is told of a file that was written.
fn said(change: &FileChange, lines: usize) -> String {
    if change.created {
        match lines {
            1 => format!("Made `{}`: 1 line.", change.path),
            lines => format!("Made `{}`: {lines} lines.", change.path),
        }
    } else {
        let (more, less) = counts(&change.diff);
        let more = counted(more, "line", "lines");
        format!("Wrote `{}`: {more} added, {less} taken away.", change.path)
    }
}

impl Target {
    /// Finds the file, and reads what is in it.
    pub(super) fn find(
        tools: &GeneralTools,
        tool: Tool,
        given: &str,
        context: ToolContext<'_>,
    ) -> Result<Self, Refused> {
        let spot = tools.locate(given, context)?;
        let path = spot.path();
        let project = tools.project()?;
        // A skill's folder in the project is the project's, too, and is written with a yes to the very question.
        let spot = match spot.owner {
            Owner::Project => spot,
            _ => match path.strip_prefix(project.ground.path()).ok().and_then(std::path::Path::to_str) {
                Some(inner) => tools.locate_in_project(inner)?,
                None => {
                    return Err(Refused::Text(format!(
                        "`{}` is not of the project: only files of the project are written",
                        metier_catalog::one_line(given, 200)
                    )));
                }
            },
        };
        let place = spot.file()?.clone();
        // What a rule refuses anyway is not even read: what is said about a text tells something of it.
        let name = tools.named(&spot.path(), &*project.survey()?, context);
        let write = context.skills.judge(&Action::write(Actor::Agent, tool, name.clone()));
        if !write.is_allowed() && write.question.is_none() {
            return Err(Refused::Gate(Box::new(write)));
        }
        let no = (write.ruling == Ruling::Refuse).then(|| Box::new(write));
        let read = context.skills.judge(&Action::tool(Actor::Agent, Tool::Read, Some(name)));
        if matches!(read.by, Reason::Denied(_)) {
            return Err(Refused::Gate(Box::new(read)));
        }
        let before = match spot.ground.open_file(&place) {
            Ok(file) => {
                let head = file.read_at(0, 16 * 1024)?;
                let survey = project.survey()?;
                if let Some(what) = masked(&spot.path(), &survey, &head) {
                    return Err(Refused::Text(format!(
                        "`{given}` looks like a secret ({what}): it is neither shown nor changed; ask the user to do it"
                    )));
                }
                Some(file.read(MAX_WHOLE)?)
            }
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { spot, place, before, given: given.to_owned(), no })
    }

    /// Whether the model knows what it is about to change. `worst` is what is refused beside a file that has changed.
    pub(super) fn is_known(&self, tools: &GeneralTools, before: &[u8], worst: Known) -> Result<(), Refused> {
        let known = lock(&tools.ledger).known(&self.spot.path(), FileDigest::of(before));
        let given = &self.given;
        match known {
            Known::Changed => Err(self
                .mistake(format!("`{given}` has changed since you read it; read it again, then change it"))),
            // A binary cannot be read, so nobody can have seen it.
            Known::Never if worst == Known::Never && BinaryKind::of(before).is_none() => Err(self
                .mistake(format!("`{given}` is there and you have not read it; read it first, or use Edit"))),
            _ => Ok(()),
        }
    }

    /// A mistake that is told only to somebody who may change the file at all: it says something about what is in it.
    pub(super) fn mistake(&self, text: String) -> Refused {
        match &self.no {
            Some(no) => Refused::Gate(no.clone()),
            None => Refused::Text(text),
        }
    }

    /// Makes the change, with the permission of someone who has seen it.
    pub(super) fn plan_put<'a>(
        self,
        tools: &'a GeneralTools,
        tool: Tool,
        after: String,
        context: ToolContext<'a>,
        said: impl FnOnce(&FileChange) -> String + Send + 'a,
    ) -> Planned<'a> {
        let path = self.spot.path();
        let place = tools.named(&path, &*tools.project()?.survey()?, context);
        let change = change(place.as_str(), self.before.as_deref(), &after);
        let protected = place.is_guarded();
        let (action, shown) = (Action::write(Actor::Agent, tool, place), change.clone());
        let work = move || {
            let edit = FileEdit {
                tool: tool.name(),
                project: &self.spot.ground,
                path: &self.place,
                before: self.before.as_deref(),
                after: after.as_bytes(),
                protected,
            };
            let (changes, note) = write(&edit, &self.given, context)?;
            lock(&tools.ledger).saw(&path, FileDigest::of(after.as_bytes()));
            Ok(ToolResult {
                change: Some(Box::new(change.clone())),
                changes: changes.map(Box::new),
                notes: note.into_iter().collect(),
                ..ToolResult::done(said(&change))
            })
        };
        Ok(planned(action, work).showing(shown))
    }
}

/// Writes the file through a layer, or where none can be made, directly.
fn write(
    edit: &FileEdit<'_>,
    given: &str,
    context: ToolContext<'_>,
) -> Result<(Option<ChangeReport>, Option<String>), Refused> {
    let changed = || {
        let why = "changed while it was about to be written; read it again, then change it";
        Refused::Text(format!("`{given}` {why}"))
    };
    let failed = |why: String| Refused::Failed(format!("`{given}` was not written: {why}"));
    let note = match context.skills.write_file(edit) {
        Ok(Some(report)) => return Ok((Some(report), None)),
        Ok(None) => None,
        Err(EditError::NoLayer(error)) => Some(format!("`metier changes` cannot undo it: {error}")),
        Err(EditError::Changed) => return Err(changed()),
        Err(error) => return Err(failed(error.to_string())),
    };
    let expected = edit.before.map_or(Expected::Nothing, Expected::bytes);
    match edit.project.replace(edit.path, edit.after, &expected) {
        Ok(()) => Ok((None, note)),
        Err(Error::Changed { .. }) => Err(changed()),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// New text in the manner of the old: its line ends and its mark at the beginning, which no model sees, stay.
fn like(before: &[u8], content: &str) -> (String, Option<String>) {
    let mut text = content.to_owned();
    let mut note = None;
    if ends_lines_with_both(before) && !content.contains('\r') && content.contains('\n') {
        text = content.replace('\n', "\r\n");
        note = Some("its lines end with CR LF, as they did".to_owned());
    }
    if before.starts_with(b"\xef\xbb\xbf") && !text.starts_with('\u{feff}') {
        text.insert(0, '\u{feff}');
    }
    (text, note)
}

/// Whether every line of a text ends with CR LF.
pub(super) fn ends_lines_with_both(bytes: &[u8]) -> bool {
    let mut lines =
        bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).peekable();
    lines.peek().is_some() && lines.all(|line| line.ends_with(b"\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_text_keeps_the_manner_of_the_old() {
        let check = |before: &[u8], content: &str, expect: &str| assert_eq!(like(before, content).0, expect);
        check(b"a\nb\n", "x\ny\n", "x\ny\n");
        check(b"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n");
        check(b"a\r\nb\n", "x\ny\n", "x\ny\n");
        check(b"a\r\n", "x\r\ny\n", "x\r\ny\n");
        check(b"\xef\xbb\xbfa", "x", "\u{feff}x");
        check(b"", "x\n", "x\n");
    }
}

//! `Read`: the text of a file, a page at a time.

use metier_files::{BinaryKind, FileDigest, GroundFile};
use metier_runtime::{Field, FieldKind, Form, Input, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;

use super::pages::{Page, Wanted, lines};
use super::refusal::{Planned, Refused, planned};
use super::resolved_path::{Owner, ResolvedPath, mask_line, masked};
use super::{Entry, GeneralTools, lock};

/// The largest file that is read whole, so that its lines are counted and its bytes are known for a change. It is also the
/// largest that `Edit` takes.
pub(super) const MAX_WHOLE: u64 = 8 << 20;

/// How far into a larger file a line is looked for. Behind that, a program is the better reader.
const MAX_SCANNED: u64 = 256 << 20;

/// How much of a larger file is held at once.
const MAX_CHUNK: usize = 1 << 20;

pub(super) const FILE_PATH: Field = Field::required(
    "file_path",
    FieldKind::Text,
    "The file, seen from the current folder, or its whole path.",
)
.or(&["path", "file", "filename", "filePath"]);

static FORM: Form = Form {
    name: "Read",
    description: "Reads a text file of the project or of an active skill. Lines come with their numbers and a tab before them, \
                  which are not part of the file. A long file comes in pages; the last line says how to go on.",
    fields: &[
        FILE_PATH,
        Field::optional(
            "offset",
            FieldKind::Number { least: 0, default: 1 },
            "The line to begin at, counted from 1.",
        )
        .or(&["start_line"]),
        Field::optional(
            "limit",
            FieldKind::Number { least: 0, default: 0 },
            "How many lines at most; without it as many as fit into a page.",
        ),
    ],
    example: r#"{"file_path": "src/main.rs", "offset": 1, "limit": 200}"#,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::Read, form: &FORM, effect: SideEffect::ReadOnly, plan };

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let given = input.text("file_path")?.to_owned();
    let wanted = Wanted { first: input.number("offset")?.max(1), most: input.number("limit")? };
    let spot = tools.locate(&given, context)?;
    let action = tools.looking(Tool::Read, &spot, &*tools.project()?.survey()?, context);
    Ok(planned(action, move || read(tools, &spot, &given, wanted)))
}

fn read(
    tools: &GeneralTools,
    spot: &ResolvedPath,
    given: &str,
    wanted: Wanted,
) -> Result<ToolResult, Refused> {
    let place = spot.file()?;
    let path = spot.path();
    let file = spot.ground.open_file(place)?;
    let head = file.read_at(0, 16 * 1024)?;
    if spot.owner != Owner::Outputs {
        let survey = tools.project()?.known();
        if let Some(what) = masked(&path, &survey, &head) {
            return Err(mask_line(given, what));
        }
    }
    let text = if let Some(kind) = BinaryKind::of(&head) {
        format!("`{given}` is not text: {kind}, {} bytes", file.size())
    } else if file.size() <= MAX_WHOLE {
        let bytes = file.read(MAX_WHOLE)?;
        lock(&tools.ledger).saw(&path, FileDigest::of(&bytes));
        whole(&bytes, wanted)
    } else {
        piecewise(&file, wanted)?
    };
    Ok(ToolResult::done(text))
}

fn whole(bytes: &[u8], wanted: Wanted) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut page = Page::new(wanted);
    let mut total = 0;
    for (number, line) in lines(bytes) {
        page.push(number, line);
        total = number;
    }
    let mut text = page.finish(Some(total));
    let replaced = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if replaced > 0 {
        text.push_str(&format!(
            "\n[{replaced} places that are not UTF-8 are shown as \u{fffd}; `Edit` takes UTF-8 only]"
        ));
    }
    text
}

/// The same of a file that is too large to be held.
fn piecewise(file: &GroundFile, wanted: Wanted) -> Result<String, Refused> {
    let mut page = Page::new(wanted);
    let (mut number, mut offset) = (1_u64, 0_u64);
    let mut rest: Vec<u8> = Vec::new();
    loop {
        let piece = file.read_at(offset, MAX_CHUNK)?;
        if piece.is_empty() {
            if !rest.is_empty() {
                page.push(number, &rest);
                number += 1;
            }
            return Ok(page.finish(Some(number - 1)));
        }
        offset += piece.len() as u64;
        let mut parts = piece.split(|&byte| byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            // Of a line without an end only as much is held as is shown, and a byte more to tell that it was cut.
            let room = (MAX_CHUNK * 2).saturating_sub(rest.len()).min(part.len());
            rest.extend_from_slice(part.get(..room).unwrap_or_default());
            if parts.peek().is_some() {
                page.push(number, &rest);
                rest.clear();
                number += 1;
            }
        }
        if page.is_full() {
            return Ok(page.finish(None));
        }
        if offset >= MAX_SCANNED {
            let first = wanted.first;
            return Err(Refused::Text(format!(
                "line {first} is not within the first {} MiB of the file; use `Bash` with `sed -n '{first},+99p'`",
                MAX_SCANNED >> 20
            )));
        }
    }
}

//! `Grep`: lines of the project's files by a regular expression.

use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use metier_files::{BinaryKind, RelativePath};
use metier_policy::{Action, Actor};
use metier_runtime::{Field, FieldKind, Form, Input, SideEffect, ToolContext, ToolResult};
use metier_skill::Tool;
use regex::bytes::{Regex, RegexBuilder};

use super::glob::PATH;
use super::pages::lines;
use super::refusal::{Planned, Refused, planned};
use super::resolved_path::{Owner, ResolvedPath, masked};
use super::search::Searched;
use super::{Entry, GeneralTools};

/// The largest file that is searched. Larger ones are data, and a program searches them better.
const MAX_FILE: u64 = 16 << 20;

/// How much is searched in one call, and for how long: a model waits for it.
const MAX_BYTES: u64 = 512 << 20;
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);

/// How many lines or files are shown where nobody says, and at most.
const DEFAULT_LIMIT: u64 = 100;
const MAX_LIMIT: u64 = 1000;

/// How much text is shown, in bytes: about 8,000 tokens.
const MAX_SHOWN: usize = 32 * 1024;

/// How much of one line is shown.
const MAX_LINE: usize = 500;

/// How many lines around a match are shown at most.
const MAX_CONTEXT: u64 = 20;

const FILES: &str = "files_with_matches";
const CONTENT: &str = "content";
const COUNT: &str = "count";

static FORM: Form = Form {
    name: "Grep",
    description: "Searches the project's text files line by line for a regular expression (Rust's syntax: no look-around, no \
                  back-references). What git ignores, binary files and files that look like secrets are left out.",
    fields: &[
        Field::required("pattern", FieldKind::Text, "The regular expression: `fn \\w+\\(`, `TODO|FIXME`.")
            .or(&["query", "regex"]),
        PATH,
        Field::optional("glob", FieldKind::Text, "Only files that match: `*.rs`, `src/**/*.{ts,tsx}`.")
            .or(&["include"]),
        Field::optional(
            "output_mode",
            FieldKind::Choice(&[FILES, CONTENT, COUNT]),
            "The files' paths, the lines with their places, or how many lines match in each file.",
        ),
        Field::optional(
            "context",
            FieldKind::Number { least: 0, default: 0 },
            "How many lines around each match, with `content`.",
        )
        .or(&["-C"]),
        Field::optional("ignore_case", FieldKind::Flag, "Whether upper and lower case are the same.")
            .or(&["-i"]),
        Field::optional(
            "limit",
            FieldKind::Number { least: 1, default: DEFAULT_LIMIT },
            "How many files or matches at most.",
        )
        .or(&["head_limit"]),
    ],
    example: r#"{"pattern": "fn main", "glob": "*.rs", "output_mode": "content"}"#,
};

pub(super) const ENTRY: Entry = Entry { tool: Tool::Grep, form: &FORM, effect: SideEffect::ReadOnly, plan };

/// What is searched for, and how it is shown.
struct Query {
    regex: Regex,
    glob: Option<GlobMatcher>,
    /// Whether the glob is about the name alone.
    by_name: bool,
    mode: &'static str,
    context: u64,
    limit: u64,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    text: String,
    /// Files or matches that are shown.
    shown: u64,
    matches: u64,
    files: usize,
    bytes: u64,
    large: usize,
    masked: usize,
    denied: usize,
    /// Why it ended early.
    ended: Option<String>,
}

fn plan<'a>(tools: &'a GeneralTools, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
    let query = query(input)?;
    let path = input.optional_text("path")?.unwrap_or(".");
    let (place, action) = tools.search_place(Tool::Grep, path, context)?;
    Ok(planned(action, move || grep(tools, &query, place, context)))
}

fn grep(
    tools: &GeneralTools,
    query: &Query,
    place: ResolvedPath,
    context: ToolContext<'_>,
) -> Result<ToolResult, Refused> {
    let mut searched = tools.files(place)?;
    let until = Instant::now() + SEARCH_TIMEOUT;
    let mut found = Found::default();
    for file in &searched.files {
        if found.ended.is_some() {
            break;
        }
        if !is_meant(query, &searched, file) {
            continue;
        }
        if Instant::now() >= until {
            found.ended = Some(format!("it took longer than {} s", SEARCH_TIMEOUT.as_secs()));
        } else if found.bytes > MAX_BYTES {
            found.ended = Some(format!("more than {} MiB were searched", MAX_BYTES >> 20));
        } else {
            search(tools, query, &searched, file, context, &mut found)?;
        }
    }
    let mut text = std::mem::take(&mut found.text);
    let mut note = |line: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
    };
    if found.matches == 0 {
        note("[nothing matches]".to_owned());
    } else if query.mode == COUNT {
        note(format!("[{} lines in {} files]", found.matches, found.files));
    }
    if let Some(why) = &found.ended {
        note(format!(
            "[there may be more: {why}; narrow it with `path` or `glob`, or make the pattern sharper]"
        ));
    }
    if found.large > 0 {
        note(format!(
            "[{} files larger than {} MiB were not searched; use `Bash` with `grep`]",
            found.large,
            MAX_FILE >> 20
        ));
    }
    if found.denied > 0 {
        note(format!("[{} files that rules keep from being read are left out]", found.denied));
    }
    searched.masked += found.masked;
    for line in searched.notes() {
        note(line);
    }
    Ok(ToolResult::done(text.trim_end_matches('\n').to_owned()))
}

fn query(input: &Input<'_>) -> Result<Query, Refused> {
    let pattern = input.text("pattern")?;
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(input.flag("ignore_case")?)
        .multi_line(true)
        .crlf(true)
        .build()
        // The library's own words show the place.
        .map_err(|error| input.problem(format!("`pattern` is no regular expression:\n{error}\n")))?;
    let given = input.optional_text("glob")?;
    let glob = given
        .map(|glob| GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(true).build())
        .transpose()
        .map_err(|error| input.problem(format!("`glob` cannot be read: {}", error.kind())))?;
    Ok(Query {
        regex,
        glob: glob.map(|glob| glob.compile_matcher()),
        by_name: given.is_some_and(|glob| !glob.contains('/')),
        mode: input.choice("output_mode")?,
        context: input.number("context")?.min(MAX_CONTEXT),
        limit: input.number("limit")?.min(MAX_LIMIT),
    })
}

fn is_meant(query: &Query, searched: &Searched, file: &RelativePath) -> bool {
    query.glob.as_ref().is_none_or(|glob| {
        if query.by_name { glob.is_match(file.file_name()) } else { glob.is_match(searched.inner(file)) }
    })
}

/// Searches one file.
fn search(
    tools: &GeneralTools,
    query: &Query,
    searched: &Searched,
    file: &RelativePath,
    context: ToolContext<'_>,
    found: &mut Found,
) -> Result<(), Refused> {
    // What is gone or closed by now cannot be read, and holds nothing for anybody.
    let Ok(opened) = searched.spot.ground.open_file(file) else { return Ok(()) };
    if opened.size() > MAX_FILE {
        found.large += 1;
        return Ok(());
    }
    let Ok(bytes) = opened.read(MAX_FILE) else { return Ok(()) };
    found.bytes += bytes.len() as u64;
    if BinaryKind::of(&bytes).is_some() || !query.regex.is_match(&bytes) {
        return Ok(());
    }
    let path = searched.spot.ground.path().join(file.as_path());
    let place = {
        let survey = tools.project()?.known();
        // Some are known for secrets by what is in them only.
        if searched.spot.owner != Owner::Outputs && masked(&path, &survey, &bytes).is_some() {
            found.masked += 1;
            return Ok(());
        }
        tools.named(&path, &survey, context)
    };
    // The yes was to the folder; a rule may say no to this file. Nobody is asked in the middle of a search.
    if searched.spot.owner == Owner::Project {
        let decision = context.skills.judge(&Action::tool(Actor::Agent, Tool::Grep, Some(place)));
        if !decision.is_allowed() && decision.question.is_none() {
            found.denied += 1;
            return Ok(());
        }
    }
    // Numbers of lines and not the lines: a file may be nothing but line breaks.
    let room = usize::try_from(query.limit.saturating_sub(found.shown)).unwrap_or_default();
    let (mut hits, mut count) = (Vec::new(), 0_u64);
    for (number, line) in lines(&bytes) {
        if query.regex.is_match(line.strip_suffix(b"\r").unwrap_or(line)) {
            count += 1;
            if hits.len() <= room {
                hits.push(number);
            }
        }
    }
    if count == 0 {
        return Ok(());
    }
    found.matches += count;
    found.files += 1;
    let name = searched.shown(tools, file);
    if query.mode == CONTENT {
        if hits.len() > room {
            hits.truncate(room);
            found.ended = Some(format!("{} matches are shown", query.limit));
        }
        found.shown += hits.len() as u64;
        show(&name, &bytes, &hits, query.context, found);
    } else if room == 0 {
        found.ended = Some(format!("{} files are shown", query.limit));
    } else {
        found.shown += 1;
        push(found, &if query.mode == COUNT { format!("{name}:{count}\n") } else { format!("{name}\n") });
    }
    Ok(())
}

/// Adds a line, as long as there is room.
fn push(found: &mut Found, line: &str) -> bool {
    if found.text.len() + line.len() > MAX_SHOWN {
        found.ended = Some(format!("{} KiB are shown", MAX_SHOWN >> 10));
        return false;
    }
    found.text.push_str(line);
    true
}

/// Adds the lines with these numbers, and those around them.
fn show(name: &str, bytes: &[u8], hits: &[u64], context: u64, found: &mut Found) {
    let (mut at, mut last) = (0, 0);
    for (number, line) in lines(bytes) {
        while hits.get(at).is_some_and(|hit| number > hit + context) {
            at += 1;
        }
        let Some(hit) = hits.get(at) else { return };
        if number + context < *hit {
            continue;
        }
        // Where lines between two pieces are left out, or another file begins.
        let is_apart = last == 0 || number != last + 1;
        if context > 0 && is_apart && !found.text.is_empty() && !push(found, "--\n") {
            return;
        }
        let mark = if hits.binary_search(&number).is_ok() { ':' } else { '-' };
        if !push(found, &format!("{name}{mark}{number}{mark}{}\n", shortened(line))) {
            return;
        }
        last = number;
    }
}

fn shortened(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let shown = String::from_utf8_lossy(line.get(..MAX_LINE).unwrap_or(line)).into_owned();
    if line.len() > MAX_LINE { format!("{shown} [... {} bytes]", line.len() - MAX_LINE) } else { shown }
}

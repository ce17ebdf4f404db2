//! `route`: which skills would be offered for a request, how well each fits, and why.

use crate::args::Route;
use crate::output::{Output, Tone, shortened, width};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{EntryId, Finder, Routed, Snapshot, one_line};
use metier_search::{Abstain, Place, Reasons};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// The longest line of a batch. A request is a page at most; what is longer is not a line of requests.
const MAX_LINE: u64 = 1 << 20;

/// The most words that are told of one skill to a person; the JSON has all.
const MAX_WORDS: usize = 6;

#[derive(Serialize)]
struct Json<'a> {
    query: &'a str,
    searched: usize,
    /// Why no skill should be taken without asking.
    abstain: Option<&'static str>,
    results: Vec<JsonResult>,
}

#[derive(Serialize)]
struct JsonResult {
    name: String,
    path: String,
    score: f32,
    description: String,
    words: Vec<JsonWord>,
    missing: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    same_text: Vec<String>,
}

#[derive(Serialize)]
struct JsonWord {
    word: String,
    weight: f32,
    places: Vec<&'static str>,
}

pub(crate) fn run(args: &Route, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let finder = finder(surroundings, output)?;
    if let Some(file) = &args.batch {
        // Many requests ask for most lists, and one by one they would be read again and again.
        return batch(file, args.limit, &finder.held(), output);
    }
    let Some(query) = args.query.as_deref().filter(|query| !query.trim().is_empty()) else {
        bail!("there is no request; say one, such as `metier route \"review a contract\"`");
    };
    let route = finder.route(query, args.limit);
    let snapshot = finder.snapshot();
    let reasons: Vec<Reasons> =
        route.skills.iter().map(|routed| finder.reasons(query, routed.entry)).collect();
    if output.is_json() {
        let results =
            route.skills.iter().zip(reasons).map(|(routed, reasons)| result(snapshot, routed, reasons));
        let json = Json {
            query,
            searched: route.searched,
            abstain: route.abstain.map(Abstain::word),
            results: results.collect(),
        };
        return output.json(&json);
    }
    for (at, (routed, reasons)) in route.skills.iter().zip(&reasons).enumerate() {
        show(at + 1, routed, reasons, snapshot, surroundings, output)?;
    }
    if let Some(abstain) = route.abstain {
        output.comment(format!("\n{}", said(abstain)))?;
    }
    if route.skills.len() == args.limit && route.searched > args.limit {
        output.comment(format!("\n{} skills searched; `-k N` shows more", route.searched))?;
    }
    Ok(())
}

/// The index of all skills that may be offered. What it learned is kept for the next time; where it cannot be, it is said.
pub(crate) fn finder(surroundings: &Surroundings, output: &mut Output) -> Result<Finder> {
    let snapshot = Arc::new(Snapshot::load_for_search(Arc::clone(&surroundings.layout)));
    let finder = Finder::open(snapshot, surroundings.places.cache.as_deref());
    if let Err(error) = finder.save() {
        output.aside(&format!(
            "the search index is not kept, so the next request reads all skills again: {error}"
        ))?;
    }
    Ok(finder)
}

fn said(abstain: Abstain) -> &'static str {
    match abstain {
        Abstain::Nothing => "no skill has anything in common with this request",
        Abstain::Weak => "none of them has enough in common with this request to be taken without asking",
        Abstain::Against => {
            "the first says itself that it is not for this, so it would not be taken without asking"
        }
        Abstain::Denied => {
            "the request says it is not about what the first is about, so it would not be taken without asking"
        }
    }
}

fn show(
    rank: usize,
    routed: &Routed,
    reasons: &Reasons,
    snapshot: &Snapshot,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    let Some(entry) = snapshot.entry(routed.entry) else { return Ok(()) };
    let name = output.tinted(Tone::Strong, entry.name().as_str());
    let path = surroundings.shown(&snapshot.folder(entry));
    output.line(format!("{rank:>2}. {name}  {:.1}  {}", routed.score, output.tinted(Tone::Dim, &path)))?;
    output.line(format!("    {}", one_line(entry.description(), width().saturating_sub(4))))?;
    let words: Vec<String> = reasons
        .words
        .iter()
        .take(MAX_WORDS)
        .map(|reason| {
            let places: Vec<&str> = reason.places.iter().map(|place| place.words()).collect();
            format!("{} ({})", reason.word, places.join(", "))
        })
        .collect();
    if !words.is_empty() {
        let more = reasons.words.len().saturating_sub(MAX_WORDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        output.comment(format!("    has: {}{more}", words.join("; ")))?;
    }
    if !reasons.missing.is_empty() {
        let missing: Vec<&str> = reasons.missing.iter().take(MAX_WORDS).map(String::as_str).collect();
        output.comment(format!("    lacks: {}", missing.join(", ")))?;
    }
    if let Some(against) = &reasons.against {
        output
            .comment(format!("    against: not for “{}”", shortened(against, width().saturating_sub(30))))?;
    }
    if !routed.also.is_empty() {
        let also = paths(snapshot, &routed.also);
        output.comment(format!("    same text: {}", also.join(", ")))?;
    }
    Ok(())
}

fn paths(snapshot: &Snapshot, ids: &[EntryId]) -> Vec<String> {
    let entries = ids.iter().filter_map(|id| snapshot.entry(*id));
    entries.map(|entry| snapshot.document_path(entry).display().to_string()).collect()
}

fn result(snapshot: &Snapshot, routed: &Routed, reasons: Reasons) -> JsonResult {
    let entry = snapshot.entry(routed.entry);
    let words = reasons.words.into_iter().map(|reason| JsonWord {
        word: reason.word,
        weight: reason.weight,
        places: reason.places.into_iter().map(Place::words).collect(),
    });
    JsonResult {
        name: entry.map(|entry| entry.name().to_string()).unwrap_or_default(),
        path: entry.map(|entry| snapshot.document_path(entry).display().to_string()).unwrap_or_default(),
        score: routed.score,
        description: entry.map(|entry| entry.description().to_owned()).unwrap_or_default(),
        words: words.collect(),
        missing: reasons.missing,
        against: reasons.against,
        same_text: paths(snapshot, &routed.also),
    }
}

#[derive(Deserialize)]
struct Asked {
    id: serde_json::Value,
    query: String,
}

#[derive(Serialize)]
struct Answered {
    id: serde_json::Value,
    results: Vec<Ranked>,
    abstain: bool,
}

#[derive(Serialize)]
struct Ranked {
    name: String,
    path: String,
    score: f32,
}

/// One object a line in, one a line out, in the same order. A line that is no request is named and passed over: the others were
/// asked, too.
fn batch(file: &Path, limit: usize, finder: &Finder, output: &mut Output) -> Result<()> {
    let input: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        // The user's own file, named on the command line, of any length: it is read line by line.
        #[expect(clippy::disallowed_methods, reason = "not a skill's file")]
        let opened = std::fs::File::open(file);
        Box::new(opened.with_context(|| format!("{} cannot be read", file.display()))?)
    };
    let mut input = BufReader::new(input);
    let shown = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let mut line = Vec::new();
    let mut passed_over = 0_usize;
    for number in 1_usize.. {
        line.clear();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < MAX_LINE;
        if !is_whole {
            input.skip_until(b'\n')?;
        }
        // Some editors put a mark of the byte order at the beginning of a file.
        let text = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        if text.trim_ascii().is_empty() {
            continue;
        }
        let asked = if is_whole { asked(text) } else { Err("it is longer than a megabyte".to_owned()) };
        match asked {
            Ok(asked) => output.json(&answered(asked, limit, finder))?,
            Err(why) => {
                passed_over += 1;
                output.aside(&format!(
                    "line {number} of {shown} is not an object with `id` and `query`: {why}"
                ))?;
            }
        }
    }
    match passed_over {
        0 => Ok(()),
        1 => bail!("one line of {shown} is no request; the others are answered"),
        many => bail!("{many} lines of {shown} are no requests; the others are answered"),
    }
}

/// A line of a batch; else why it is none.
fn asked(line: &[u8]) -> Result<Asked, String> {
    serde_json::from_slice(line).map_err(|error| {
        let (said, column) = (error.to_string(), error.column());
        // The parser was given one line, so the number it has for it says nothing.
        match said.split_once(" at line 1 column ") {
            Some((why, _)) if column > 0 => format!("{why}, column {column}"),
            _ => said,
        }
    })
}

fn answered(asked: Asked, limit: usize, finder: &Finder) -> Answered {
    let snapshot = finder.snapshot();
    let route = finder.route(&asked.query, limit);
    let results = route.skills.iter().filter_map(|routed| {
        let entry = snapshot.entry(routed.entry)?;
        let path = snapshot.document_path(entry).display().to_string();
        Some(Ranked { name: entry.name().to_string(), path, score: routed.score })
    });
    Answered { id: asked.id, results: results.collect(), abstain: route.abstain.is_some() }
}

//! The examples of a rule, read from its page.

use metier_lint::{File, Rule, RunBit};

/// A skill of an example.
pub(crate) struct Example {
    pub(crate) folder: String,
    /// Its SKILL.md.
    pub(crate) source: String,
    /// What lies in its folder, the SKILL.md included, sorted by path.
    pub(crate) files: Vec<File>,
}

/// The skills that a rule reports.
pub(crate) fn reported(rule: &Rule) -> Vec<Example> {
    let (_, examples) = rule.page.split_once("\nReported:\n").expect("a page shows what is reported");
    skills(examples.split("\nFine:\n").next().unwrap_or_default())
}

/// The skills that it is content with.
pub(crate) fn fine(rule: &Rule) -> Vec<Example> {
    let (_, examples) = rule.page.split_once("\nFine:\n").expect("a page shows what is fine");
    skills(examples)
}

/// Skills as a page shows them: for each file its path in ticks, and its text in a fence.
fn skills(page: &str) -> Vec<Example> {
    let mut skills: Vec<Example> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(title) = line.strip_prefix('`').and_then(|title| title.strip_suffix('`')) else { continue };
        let (path, mark) = title.split_once(" (").unwrap_or((title, ""));
        let (folder, path) = path.split_once('/').expect("a file lies in the folder of a skill");
        let size = mark.strip_suffix(" bytes)").map(|size| size.parse().expect("a number of bytes"));
        let text = size.is_none().then(|| fenced(&mut lines));
        if path == "SKILL.md" {
            let source = text.clone().expect("a SKILL.md has a text");
            skills.push(Example { folder: folder.to_owned(), source, files: Vec::new() });
        }
        let is_document = path == "SKILL.md";
        let run_bit = if mark == "may be started)" { RunBit::Set } else { RunBit::Clear };
        let size = size.or(text.as_ref().map(|text| text.len() as u64)).unwrap_or_default();
        let text = text.filter(|_| !is_document);
        let skill = skills.last_mut().expect("a SKILL.md goes first");
        skill.files.push(File { path: path.to_owned(), size, run_bit, text });
        skill.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    assert!(!skills.is_empty(), "a page has examples");
    skills
}

/// The text of the fence that follows.
fn fenced<'a>(lines: &mut impl Iterator<Item = &'a str>) -> String {
    let fence = lines.find_map(|line| line.strip_suffix("text").filter(|fence| fence.starts_with("```")));
    let fence = fence.expect("a fence follows a path");
    lines.take_while(|line| *line != fence).map(meant).collect()
}

/// What a line of a page stands for: one that is repeated, and what cannot be seen.
fn meant(line: &str) -> String {
    let repeated = line.strip_suffix(" times)").and_then(|line| line.rsplit_once("    ("));
    if let Some((line, times)) = repeated {
        return meant(line).repeat(times.parse().expect("a number of times"));
    }
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, from)) = rest.split_once("\\u{") {
        let (digits, after) = from.split_once('}').expect("an escape has an end");
        let code = u32::from_str_radix(digits, 16).expect("an escape is a number");
        text.push_str(before);
        text.push(char::from_u32(code).expect("an escape is a character"));
        rest = after;
    }
    text.push_str(rest);
    match text.strip_suffix("\\r") {
        Some(line) => format!("{line}\r\n"),
        None => format!("{text}\n"),
    }
}

//! The options of a program, read the way `getopt_long` reads them.
//!
//! A row of the table describes them in one text, a word each: `n` and `null` take nothing, `n:` takes a value, attached or as
//! the next word. The last character says what the value is; see [`Takes`]. Three words stand for themselves:
//! `$` (without a command it starts a shell), `-` (long options have one dash as well), `#` (a number is an option), `_` (a lone
//! dash is an option).

use super::argument::Argument;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing.
    Nothing,
    /// `:` a value that runs nothing.
    Value,
    /// `=` a value that has to be attached, or none.
    Attached,
    /// `!` a line for a shell.
    Line,
    /// `+` a program, which gets further words.
    Program,
    /// `~` a setting; its value may be a line.
    Setting,
    /// `%` code in the program's own language.
    Code,
    /// `<` a file with code.
    Script,
    /// `@` the text that is replaced in the command before it runs.
    Hole,
    /// `&` words that are put in place of the option.
    Words,
    /// `.` nothing; the program prints something and ends.
    Ends,
}

const MARKS: &[(char, Takes)] = &[
    (':', Takes::Value),
    ('=', Takes::Attached),
    ('!', Takes::Line),
    ('+', Takes::Program),
    ('~', Takes::Setting),
    ('%', Takes::Code),
    ('<', Takes::Script),
    ('@', Takes::Hole),
    ('&', Takes::Words),
    ('.', Takes::Ends),
];

/// How options that a row does not describe are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The row describes all of them, and the first word that is not an option ends them. An unknown option is a doubt.
    Whole,
    /// The same, but others take nothing.
    Partial,
    /// Options may stand anywhere, others take nothing, and a value is looked at again as an option: the row describes only
    /// those that run something.
    Anywhere,
}

/// An option that was given with something that matters.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) takes: Takes,
    pub(super) value: Argument,
    /// The first word after the option and its value.
    pub(super) next: usize,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) given: Vec<Given>,
    /// The index of each operand.
    pub(super) operands: Vec<usize>,
    /// Where the command begins; at the end where there is none.
    pub(super) command: usize,
    /// Where words stand that were taken for values.
    pub(super) taken: Vec<usize>,
    /// The first option that is not described.
    pub(super) unknown: Option<String>,
    pub(super) ends: bool,
}

/// Whether a row has one of the words that stand for themselves.
pub(super) fn says(row: &str, word: &str) -> bool {
    row.split_ascii_whitespace().any(|own| own == word)
}

/// Reads options and this many operands; what follows is the command.
pub(super) fn read(row: &str, words: &[Argument], operands: usize, style: Style) -> Read {
    let mut found = Read::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        let has_room = style == Style::Anywhere || found.operands.len() < operands;
        match text {
            "--" => {
                let left = operands.saturating_sub(found.operands.len()).min(words.len() - at - 1);
                found.operands.extend(at + 1..at + 1 + left);
                at += 1 + left;
                if style != Style::Anywhere {
                    break;
                }
            }
            "-" if says(row, "_") => at += 1,
            _ if is_number(row, text) => at += 1,
            _ if text.len() > 1 && text.starts_with('-') => at = option(row, words, at, style, &mut found),
            _ if has_room => {
                found.operands.push(at);
                at += 1;
            }
            _ => break,
        }
        if found.unknown.is_some() || (found.ends && style == Style::Whole) {
            break;
        }
    }
    found.command = at.min(words.len());
    found
}

fn is_number(row: &str, text: &str) -> bool {
    let Some(number) = text.strip_prefix('-') else { return false };
    let digits = number.trim_start_matches(['-', '+']);
    says(row, "#") && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the option at a word and returns the index of the next.
fn option(row: &str, words: &[Argument], at: usize, style: Style, found: &mut Read) -> usize {
    let text = words.get(at).map_or("", |word| word.text.as_str());
    let long = text.strip_prefix("--").or_else(|| {
        let name = text.strip_prefix('-')?;
        let is_long = says(row, "-") && name.chars().count() > 1 && long(row, name_of(name)).is_some();
        is_long.then_some(name)
    });
    if let Some(given) = long {
        let value = given.split_once('=').map(|(_, value)| value);
        return match long_or(row, name_of(given), style) {
            Some(takes) => take(takes, value, words, at, style, found),
            None => unknown(text, at, found),
        };
    }
    for (index, letter) in text.char_indices().skip(1) {
        match short(row, letter) {
            None if style == Style::Whole => return unknown(text, at, found),
            None | Some(Takes::Nothing) => {}
            Some(Takes::Ends) if style != Style::Whole => found.ends = true,
            Some(takes) => {
                let value = text.get(index + letter.len_utf8()..).filter(|value| !value.is_empty());
                return take(takes, value, words, at, style, found);
            }
        }
    }
    at + 1
}

fn name_of(given: &str) -> &str {
    given.split_once('=').map_or(given, |(name, _)| name)
}

fn unknown(text: &str, at: usize, found: &mut Read) -> usize {
    found.unknown = Some(text.to_owned());
    at
}

fn take(
    takes: Takes,
    value: Option<&str>,
    words: &[Argument],
    at: usize,
    style: Style,
    found: &mut Read,
) -> usize {
    match (takes, value) {
        (Takes::Nothing | Takes::Attached, _) => at + 1,
        (Takes::Ends, _) => {
            found.ends = true;
            at + 1
        }
        (takes, Some(value)) => {
            let is_known = words.get(at).is_some_and(|word| word.is_known);
            let value = Argument { text: value.to_owned(), is_known };
            found.given.push(Given { takes, value, next: at + 1 });
            at + 1
        }
        (takes, None) => {
            let Some(value) = words.get(at + 1) else { return at + 1 };
            found.taken.push(at + 1);
            found.given.push(Given { takes, value: value.clone(), next: at + 2 });
            if style == Style::Anywhere { at + 1 } else { at + 2 }
        }
    }
}

/// The words of a row that describe options: a name, and what it takes.
fn described(row: &str) -> impl Iterator<Item = (&str, Takes)> {
    row.split_ascii_whitespace().filter(|word| !matches!(*word, "$" | "-" | "#" | "_")).map(|word| {
        let mark = word.chars().next_back().filter(|_| word.len() > 1);
        let found = MARKS.iter().find(|(own, _)| Some(*own) == mark);
        found.map_or((word, Takes::Nothing), |(own, takes)| (word.trim_end_matches(*own), *takes))
    })
}

fn short(row: &str, letter: char) -> Option<Takes> {
    let mut options = described(row);
    options.find(|(name, _)| name.chars().eq(std::iter::once(letter))).map(|(_, takes)| takes)
}

/// A long option by its name or a beginning of it. One that could be several which take different things is not known.
fn long(row: &str, name: &str) -> Option<Takes> {
    let own = described(row).filter(|(own, _)| own.chars().count() > 1);
    let usual = [("help", Takes::Ends), ("version", Takes::Ends)];
    let all: Vec<_> = own.chain(usual).filter(|(own, _)| own.starts_with(name)).collect();
    if let Some((_, takes)) = all.iter().find(|(own, _)| *own == name) {
        return Some(*takes);
    }
    let (_, first) = *all.first()?;
    all.iter().all(|(_, takes)| *takes == first).then_some(first)
}

fn long_or(row: &str, name: &str, style: Style) -> Option<Takes> {
    match (long(row, name), style) {
        (Some(takes), _) => Some(takes),
        (None, Style::Whole) => None,
        // A beginning that fits several: the one that runs something counts.
        (None, Style::Partial | Style::Anywhere) => {
            let mut fitting = described(row).filter(|(own, _)| own.len() > 1 && own.starts_with(name));
            Some(
                fitting
                    .find(|(_, takes)| *takes != Takes::Nothing)
                    .map_or(Takes::Nothing, |(_, takes)| takes),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row: &str, line: &str, operands: usize, style: Style, expect: &str) {
        let words: Vec<Argument> = line.split(' ').map(Argument::known).collect();
        let read = read(row, &words, operands, style);
        let given: Vec<String> =
            read.given.iter().map(|given| format!("{:?}={}", given.takes, given.value.text)).collect();
        let command: Vec<&str> = words[read.command..].iter().map(AsRef::as_ref).collect();
        let found = match read.unknown {
            Some(unknown) => format!("unknown {unknown}"),
            None => format!("{} | {}", given.join(" "), command.join(" ")),
        };
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn options_are_read_in_bundles_by_their_beginnings_and_up_to_the_command() {
        let env = "i v u: S& ignore-environment split-string& unset:";
        check(env, "-i rm x", 0, Style::Whole, " | rm x");
        check(env, "-ivSrm -i x", 0, Style::Whole, "Words=rm | x");
        check(env, "-vS rm x", 0, Style::Whole, "Words=rm | x");
        check(env, "--spl=rm x", 0, Style::Whole, "Words=rm | x");
        check(env, "--split rm x", 0, Style::Whole, "Words=rm | x");
        check(env, "-u A --unset=B -- rm", 0, Style::Whole, "Value=A Value=B | rm");
        check(env, "-q rm", 0, Style::Whole, "unknown -q");
        check(env, "--quick rm", 0, Style::Whole, "unknown --quick");
        check("k: v", "-v -k 5 10 rm -v", 1, Style::Whole, "Value=5 | rm -v");
        check("B", "x86_64 -B rm", 1, Style::Whole, " | rm");
        check("n: #", "-10 rm", 0, Style::Whole, " | rm");
        check("I! to-command!", "-xIzap a --to-c=zip b", 0, Style::Anywhere, "Line=zap Line=zip | ");
        check("- ex! batch", "-batch -ex zap", 0, Style::Anywhere, "Line=zap | ");
    }
}

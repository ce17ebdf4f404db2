//! What one scan of a body found.

use std::borrow::Cow;
use std::ops::Range;

use metier_diagnostic::{Diagnostic, Span, visible};
use metier_exec::{ArgumentError, InjectedLine};
use metier_skill::injected_commands;

use super::finding::Finding;
use super::rendered::{PieceSource, Rendered};
use super::resolve::{ArgumentUse, Resolved, StayReason};
use super::token::{self, BodyToken};
use super::values::{Resolver, TokenValues};
use crate::code;
use crate::injection::{self, MAX_COMMANDS, ShellLine, UnsafeCommand};

/// How many different unknown `${X}` of one body are reported. Bodies full of shell code have dozens, and the first few say
/// all there is to say.
const MAX_UNKNOWN: usize = 8;

/// A body, scanned once: what will be replaced by what, and which commands would run.
#[derive(Debug)]
pub struct RenderPlan<'a> {
    body: &'a str,
    resolver: Resolver<'a>,
    /// What is not plain text, in order.
    segments: Vec<Segment<'a>>,
    commands: Vec<PlannedCommand>,
    findings: Vec<Finding>,
    unknown: Vec<&'a str>,
}

#[derive(Debug)]
struct Segment<'a> {
    range: Range<usize>,
    kind: Kind<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    /// A backslash and a token or command that is meant as text.
    Escape,
    Token(BodyToken<'a>),
    /// The number of a command.
    Command(usize),
}

/// A command that stands in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCommand {
    /// Where it stands in the body, marks included.
    pub span: Span,
    /// Its text as it is written.
    pub command: String,
    /// What the shell would run, or why it would not be handed to one.
    pub line: Result<ShellLine, UnsafeCommand>,
}

impl PlannedCommand {
    /// The command as it is run; `None` where no shell gets it.
    pub(crate) fn injected(&self) -> Option<InjectedLine<'_>> {
        let ShellLine { text, judged, variables, .. } = self.line.as_ref().ok()?;
        Some(InjectedLine { command: &self.command, text, judged, variables })
    }
}

/// A token and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedToken<'p> {
    /// Where it stands in the body.
    pub span: Span,
    /// The token as it is written; with its backslash where it is escaped.
    pub token: &'p str,
    /// What stands in its place; `None` where it stays as it is.
    pub becomes: Option<Cow<'p, str>>,
}

impl<'a> RenderPlan<'a> {
    /// Scans a body. Only arguments that no process could take are an error.
    pub fn new(body: &'a str, values: TokenValues<'a>) -> Result<Self, ArgumentError> {
        let resolver = Resolver::new(values)?;
        let mut plan = Self {
            body,
            resolver,
            segments: Vec::new(),
            commands: Vec::new(),
            findings: Vec::new(),
            unknown: Vec::new(),
        };
        plan.scan();
        if let Some(error) = plan.resolver.unbalanced() {
            plan.findings.push(
                Finding::new(
                    &code::ARGUMENTS_UNBALANCED,
                    0..0,
                    format!("{error}; they were split at white space"),
                )
                .help("close the quote, or put a `\\` before it"),
            );
        }
        plan.findings.sort_by_key(|finding| finding.range.start);
        Ok(plan)
    }

    fn scan(&mut self) {
        let body = self.body;
        // Looking for two or four bytes is much cheaper than looking at every line, and most bodies have neither.
        let found =
            if body.contains("!`") || body.contains("```!") { injected_commands(body) } else { Vec::new() };
        let mut closing = Closing::default();
        let mut at = 0;
        for command in found {
            let range = command.span.range();
            // What an escape before it has taken as text is no command.
            if range.start < at {
                continue;
            }
            at = self.scan_text(at, range.start, &mut closing);
            if range.start >= at {
                at = range.end;
                self.command(range, &command.command);
            }
        }
        self.scan_text(at, body.len(), &mut closing);
    }

    /// Scans text up to `stop`, and says where it came to: an escaped command may reach beyond.
    fn scan_text(&mut self, mut at: usize, stop: usize, closing: &mut Closing) -> usize {
        while at < stop {
            let Some(offset) = next_special(&self.body.as_bytes()[at..stop]) else { return stop };
            at = self.special(at + offset, closing);
        }
        at
    }

    /// What stands at a `$`, a `{` or a backslash, and where the next text begins.
    fn special(&mut self, at: usize, closing: &mut Closing) -> usize {
        let rest = &self.body[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            let length = token::read(escaped, self.resolver.values.declared)
                .map(|(_, length)| length)
                .or_else(|| escaped_command(self.body, at, closing));
            if let Some(length) = length {
                let end = at + 1 + length;
                self.segments.push(Segment { range: at..end, kind: Kind::Escape });
                return end;
            }
            // The backslash says that text is meant, so there is nothing to say about a name that is not known.
            return at + 1 + token::braced_name(escaped).map_or(0, |(_, length)| length);
        }
        if let Some((token, length)) = token::read(rest, self.resolver.values.declared) {
            let range = at..at + length;
            if let Resolved::Stays(why) = self.resolver.resolve(token) {
                self.findings.extend(staying(token, why, range.clone(), &rest[..length]));
            }
            self.segments.push(Segment { range, kind: Kind::Token(token) });
            return at + length;
        }
        if let Some((name, length)) = token::braced_name(rest) {
            self.unknown(name, at..at + length);
            return at + length;
        }
        if let Some(length) = token::environment_like(rest) {
            let shown = visible(&rest[..length]).into_owned();
            self.findings.push(
                Finding::new(
                    &code::ENVIRONMENT_UNDECLARED,
                    at..at + length,
                    format!("`{shown}` names no variable and stays as it is"),
                )
                .help("a name has letters, digits and `_`, and begins with none of the digits"),
            );
            return at + length;
        }
        at + 1
    }

    /// `${X}` that is none of ours.
    fn unknown(&mut self, name: &'a str, range: Range<usize>) {
        if self.unknown.contains(&name) || self.unknown.len() > MAX_UNKNOWN {
            return;
        }
        self.unknown.push(name);
        let is_declared = || self.resolver.values.declared.iter().any(|argument| argument.name == name);
        let finding = if self.unknown.len() > MAX_UNKNOWN {
            let message = format!("`${{{name}}}` and others behind it are no tokens and stay as they are");
            Finding::new(&code::UNKNOWN_VARIABLE, range, message)
        } else {
            let message = format!("`${{{name}}}` is no token and stays as it is");
            Finding::new(&code::UNKNOWN_VARIABLE, range, message)
        };
        let finding = match name {
            "ARGUMENTS" => finding.help("write `$ARGUMENTS`"),
            _ if is_declared() => finding.help(format!("write `${name}`")),
            _ => finding,
        };
        self.findings.push(finding);
    }

    fn command(&mut self, range: Range<usize>, text: &str) {
        // A shell takes a carriage return for a part of the last word.
        let command = text.replace("\r\n", "\n");
        let number = self.commands.len();
        if number >= MAX_COMMANDS {
            if !self.findings.iter().any(is_too_many) {
                let message =
                    format!("only the first {MAX_COMMANDS} commands run; this one and those behind it stay");
                let found = Finding::new(&code::COMMANDS_TOO_MANY, range, message);
                self.findings.push(found.help("put them into a script below `scripts/`"));
            }
            return;
        }
        let line = injection::read(&command, &self.resolver);
        match &line {
            Err(hazard) => {
                let message = format!("the command stays as text: {hazard}");
                let found = Finding::new(&code::COMMAND_UNSAFE, range.clone(), message);
                self.findings.push(found.help(
                    "pass the value to a script as an argument, such as `bash ${SKILL_DIR}/scripts/x.sh \"$ARGUMENTS\"`",
                ));
            }
            Ok(line) => {
                let start = self.body[range.clone()].find(text).map_or(range.start, |at| range.start + at);
                let is_same = text.len() == command.len();
                let place = |inner: &Range<usize>| {
                    if is_same { start + inner.start..start + inner.end } else { range.clone() }
                };
                for inner in &line.in_single_quotes {
                    let message = format!("`{}` in single quotes is not replaced", &command[inner.clone()]);
                    let found = Finding::new(&code::VALUE_IN_SINGLE_QUOTES, place(inner), message);
                    self.findings.push(found.help("use double quotes, or `\\$` where the text is meant"));
                }
                for (inner, why) in &line.staying {
                    let spelling = &command[inner.clone()];
                    let Some((token, _)) = token::read(spelling, self.resolver.values.declared) else {
                        continue;
                    };
                    // A shell's variable by the name of a sensitive one is what the process gets.
                    if *why != StayReason::Sensitive {
                        self.findings.extend(staying(token, *why, place(inner), spelling));
                    }
                }
            }
        }
        self.commands.push(PlannedCommand { span: Span::from(range.clone()), command, line });
        self.segments.push(Segment { range, kind: Kind::Command(number) });
    }

    /// The body that was scanned.
    pub fn body(&self) -> &'a str {
        self.body
    }

    /// The commands, in order. Each has the number of its output.
    pub fn commands(&self) -> &[PlannedCommand] {
        &self.commands
    }

    /// The tokens and escapes, in order, and what becomes of each.
    pub fn tokens(&self) -> impl Iterator<Item = PlannedToken<'_>> {
        self.segments.iter().filter_map(|segment| {
            let token = &self.body[segment.range.clone()];
            let becomes = match segment.kind {
                Kind::Escape => Some(Cow::Borrowed(&token[1..])),
                Kind::Token(token) => match self.resolver.resolve(token) {
                    Resolved::Value { text, .. } => Some(text),
                    Resolved::Stays(_) => None,
                },
                Kind::Command(_) => return None,
            };
            Some(PlannedToken { span: segment.range.clone().into(), token, becomes })
        })
    }

    /// The variables that the body asks for, that are required and not set: with these missing nothing is to start.
    pub fn unset(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for segment in &self.segments {
            if let Kind::Token(token @ BodyToken::Environment(name)) = segment.kind
                && self.resolver.resolve(token) == Resolved::Stays(StayReason::Required)
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        for line in self.commands.iter().filter_map(|command| Some((command, command.line.as_ref().ok()?))) {
            let required = line.1.staying.iter().filter(|(_, why)| *why == StayReason::Required);
            for name in required.filter_map(|(range, _)| line.0.command.get(range.clone())) {
                let name = name.trim_start_matches("${env:").trim_end_matches('}');
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// What there is to say, in the order of the body; places are bytes of the body.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.findings.iter().map(|finding| finding.diagnostic(self.body, 0)).collect()
    }

    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The body with everything in its place. `outputs` has the output of each command by its number; a command without one
    /// stays as text.
    pub fn render(&self, outputs: &[Option<String>]) -> Rendered {
        let room: usize = outputs.iter().flatten().map(String::len).sum();
        let mut rendered =
            Rendered::with_capacity(self.body.len() + room + 1024, self.segments.len() * 2 + 2);
        let (mut at, mut argument_use) = (0, ArgumentUse::Unused);
        for segment in &self.segments {
            let Range { start, end } = segment.range;
            let span = Span::new(start, end);
            let text = &self.body[start..end];
            let piece = match segment.kind {
                Kind::Escape => Some((Cow::Borrowed(&text[1..]), PieceSource::Escape)),
                Kind::Command(number) => outputs.get(number).and_then(Option::as_deref).map(|output| {
                    let line = self.commands.get(number).and_then(|command| command.line.as_ref().ok());
                    if line.is_some_and(|line| line.argument_use == ArgumentUse::Used) {
                        argument_use = ArgumentUse::Used;
                    }
                    (Cow::Borrowed(output), PieceSource::Command(number))
                }),
                Kind::Token(token) => match self.resolver.resolve(token) {
                    Resolved::Value { text, source, argument_use: given } => {
                        if given == ArgumentUse::Used {
                            argument_use = ArgumentUse::Used;
                        }
                        Some((text, source))
                    }
                    Resolved::Stays(_) => None,
                },
            };
            let Some((text, source)) = piece else { continue };
            if at < start {
                rendered.push(&self.body[at..start], Span::new(at, start), PieceSource::Body);
            }
            rendered.push(&text, span, source);
            at = end;
        }
        if at < self.body.len() {
            rendered.push(&self.body[at..], Span::new(at, self.body.len()), PieceSource::Body);
        }
        if argument_use == ArgumentUse::Unused && !self.resolver.values.arguments.is_empty() {
            let text = rendered.text();
            let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let line = format!("{line_break}ARGUMENTS: {}", self.resolver.text());
            rendered.push(&line, Span::empty(self.body.len()), PieceSource::Appended);
        }
        rendered
    }
}

/// The first `$`, `{` or backslash. Bodies are mostly prose, so eight bytes are looked at in one step.
fn next_special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    // Where a byte of the chunk is the one that is looked for, its high bit is set; borrows reach only bytes behind it.
    const fn marks(chunk: u64, byte: u8) -> u64 {
        let word = chunk ^ u64::from_le_bytes([byte; 8]);
        word.wrapping_sub(ONES) & !word & HIGH
    }
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (number, chunk) in chunks.iter().enumerate() {
        let chunk = u64::from_le_bytes(*chunk);
        let found = marks(chunk, b'$') | marks(chunk, b'{') | marks(chunk, b'\\');
        if found != 0 {
            return Some(number * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let before = bytes.len() - rest.len();
    rest.iter().position(|byte| matches!(byte, b'$' | b'{' | b'\\')).map(|at| before + at)
}

fn is_too_many(finding: &Finding) -> bool {
    finding.code == &code::COMMANDS_TOO_MANY
}

/// What there is to say about a token that stays.
fn staying(token: BodyToken<'_>, why: StayReason, range: Range<usize>, spelling: &str) -> Option<Finding> {
    let found = |code, message: String| Some(Finding::new(code, range.clone(), message));
    let name = match token {
        BodyToken::Environment(name) => name,
        _ => "",
    };
    match why {
        // Prices and awk: nothing is wrong with them. Of what is required, whoever starts the skill is told at once.
        StayReason::NoArgument | StayReason::Required => None,
        StayReason::NoFolder(folder) => {
            found(&code::FOLDER_MISSING, format!("{}, so `{spelling}` stays as it is", folder.words()))
        }
        StayReason::Undeclared => found(
            &code::ENVIRONMENT_UNDECLARED,
            format!("the configuration does not declare `{name}`, so `{spelling}` stays as it is"),
        )
        .map(|found| {
            found.help(format!(
                "declare it as `[env.{name}]` in your `config.toml` or the project's `metier.toml`, or write `\\{spelling}` if \
                 the text is meant"
            ))
        }),
        StayReason::Sensitive => found(
            &code::ENVIRONMENT_SENSITIVE,
            format!("`{name}` is sensitive and never put into text, so `{spelling}` stays as it is"),
        ),
    }
}

/// Where the next line is that closes a block. Asked for by many places in turn, so the last answer is kept.
#[derive(Debug, Default)]
struct Closing {
    /// From where was looked, and what was found: the end of the line.
    last: Option<(usize, Option<usize>)>,
}

impl Closing {
    fn behind(&mut self, body: &str, at: usize) -> Option<usize> {
        if let Some((from, found)) = self.last
            && from <= at
            && found.is_none_or(|found| at < found)
        {
            return found;
        }
        let mut start = at;
        let found = body[at..].split_inclusive('\n').find_map(|line| {
            start += line.len();
            (line.trim() == "```").then(|| start - (line.len() - line.trim_end().len()))
        });
        self.last = Some((at, found));
        found
    }
}

/// How long the command is that stands behind a backslash at `at`, if one would stand there without it. The one finder
/// says so, of a text that ends where the command does.
fn escaped_command(body: &str, at: usize, closing: &mut Closing) -> Option<usize> {
    let before = &body[..at];
    let text = &body[at + 1..];
    let end = if text.starts_with("!`") {
        before.chars().next_back().is_none_or(char::is_whitespace).then_some(())?;
        text.get(2..)?.find('`')? + 3
    } else if text.starts_with("```!") {
        let line = before.trim_end_matches([' ', '\t']);
        (line.is_empty() || line.ends_with('\n')).then_some(())?;
        let line = text.find('\n')?;
        closing.behind(body, at + 1 + line + 1)? - (at + 1)
    } else {
        return None;
    };
    let found = injected_commands(text.get(..end)?).into_iter().next()?;
    (found.span.start == 0).then_some(found.span.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands() {
        for length in 0..30 {
            // Bytes next to the ones that are looked for, and ones with their high bit set.
            let plain: Vec<u8> =
                (0..length).map(|n| [b'#', b'%', b'z', b'|', b'[', b']', 0xff, 0x80][n % 8]).collect();
            assert_eq!(next_special(&plain), None);
            for at in 0..length {
                for special in [b'$', b'{', b'\\'] {
                    let mut bytes = plain.clone();
                    bytes[at] = special;
                    bytes[length - 1] = b'$';
                    assert_eq!(next_special(&bytes), Some(at), "{bytes:?}");
                }
            }
        }
    }
}

//! A command's text with its tokens as variables.

mod simple_command;

use std::ffi::OsString;
use std::ops::Range;

use metier_policy::shell::quote;

use self::simple_command::{Role, SimpleCommand};
use super::hazard::{self, UnsafeCommand, Word};
use crate::render::token::{self, BodyToken, is_word};
use crate::render::{ArgumentUse, Resolved, Resolver, StayReason};

/// What the variables of values are called; a number follows. Nobody else's names begin like this.
const VARIABLE: &str = "METIER_VALUE_";

/// A command as a shell gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellLine {
    /// What the shell runs: the command, with a variable in the place of each value.
    pub text: String,
    /// The same with the values in their places, each quoted: for the gate, and for whoever is asked.
    pub judged: String,
    /// The variables.
    pub variables: Vec<(String, OsString)>,
    /// Tokens that stand in single quotes, as ranges of the command; they stay.
    pub in_single_quotes: Vec<Range<usize>>,
    /// Tokens that stay because they have no value, and why.
    pub(crate) staying: Vec<(Range<usize>, StayReason)>,
    /// Whether it gets something that the skill was started with.
    pub(crate) argument_use: ArgumentUse,
}

/// What text the scanner is in.
#[derive(Debug)]
enum Frame {
    /// Words and operators: `$(…)`, `(…)`, backticks.
    Plain { opened: Opened, simple: SimpleCommand },
    /// `"…"`
    Double,
    /// `${…}`
    Expansion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Parenthesis,
    Backtick,
}

/// Reads a command. Without a value in it the text is the command, whatever it is.
pub(crate) fn read(command: &str, resolver: &Resolver<'_>) -> Result<ShellLine, UnsafeCommand> {
    let mut scanner = Scanner {
        command,
        at: 0,
        copied: 0,
        top: SimpleCommand::default(),
        frames: Vec::new(),
        hazard: None,
        resolver,
        line: ShellLine {
            text: String::with_capacity(command.len() + 64),
            judged: String::with_capacity(command.len() + 64),
            variables: Vec::new(),
            in_single_quotes: Vec::new(),
            staying: Vec::new(),
            argument_use: ArgumentUse::Unused,
        },
        has_value: false,
    };
    scanner.scan();
    match scanner.hazard {
        Some(hazard) if scanner.has_value => Err(hazard),
        _ => Ok(scanner.line),
    }
}

struct Scanner<'s, 'v> {
    command: &'s str,
    at: usize,
    /// Up to where the command was copied.
    copied: usize,
    /// The command that stands in nothing else.
    top: SimpleCommand,
    /// What is open, innermost last.
    frames: Vec<Frame>,
    /// The first reason against running the command with a value in it.
    hazard: Option<UnsafeCommand>,
    resolver: &'s Resolver<'v>,
    line: ShellLine,
    has_value: bool,
}

impl Scanner<'_, '_> {
    fn scan(&mut self) {
        while let Some(byte) = self.byte(0) {
            match self.frames.last() {
                Some(Frame::Double) => self.double(byte),
                Some(Frame::Expansion) => self.expansion(byte),
                Some(Frame::Plain { .. }) | None => self.plain(byte),
            }
        }
        self.end_command();
        if !self.frames.is_empty() {
            self.warn(UnsafeCommand::Unreadable);
        }
        self.copy(self.command.len());
    }

    fn plain(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' => self.end_word(1),
            // `>&1` and `&>file` are redirections, any other `&` ends a command.
            b'&' if self.at > 0 && matches!(self.command.as_bytes()[self.at - 1], b'<' | b'>') => {
                self.at += 1;
            }
            b'&' if self.byte(1) == Some(b'>') => self.end_word(1),
            b'\n' | b';' | b'&' | b'|' => self.end_part(),
            b'<' | b'>' => self.redirection(),
            b'(' => {
                if self.byte(1) == Some(b'(') {
                    self.warn(UnsafeCommand::Arithmetic);
                }
                self.end_word(1);
                self.open(Opened::Parenthesis);
            }
            b')' => self.close_parenthesis(),
            b'`' => self.backtick(),
            b'#' if self.simple().word.is_none() => {
                let rest = &self.command[self.at..];
                self.at += rest.find('\n').unwrap_or(rest.len());
            }
            b'\'' => self.single(1),
            b'"' => {
                self.word();
                self.at += 1;
                self.frames.push(Frame::Double);
            }
            b'\\' => self.escaped(),
            b'$' => self.dollar(),
            b'{' if self.token() => {}
            _ => self.literal(),
        }
    }

    fn double(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.at += 1;
                self.frames.pop();
            }
            b'\\' => self.escaped(),
            b'`' => self.backtick(),
            b'$' => self.dollar(),
            b'{' if self.token() => {}
            _ => self.literal(),
        }
    }

    fn expansion(&mut self, byte: u8) {
        match byte {
            b'}' => {
                self.at += 1;
                self.frames.pop();
            }
            b'"' => {
                self.at += 1;
                self.frames.push(Frame::Double);
            }
            b'\'' if !self.frames.iter().any(|frame| matches!(frame, Frame::Double)) => self.single(1),
            b'\\' => self.escaped(),
            b'`' => self.backtick(),
            b'$' => self.dollar(),
            b'{' if self.token() => {}
            _ => self.at += self.character(),
        }
    }

    /// `$` in any text in which it means something.
    fn dollar(&mut self) {
        let is_plain = matches!(self.frames.last(), Some(Frame::Plain { .. }) | None);
        match (self.byte(1), self.byte(2)) {
            (Some(b'\''), _) if is_plain => {
                self.expanded();
                self.ansi();
            }
            (Some(b'('), Some(b'(')) | (Some(b'['), _) => {
                self.warn(UnsafeCommand::Arithmetic);
                self.expanded();
                self.at += 2;
                if self.command.as_bytes()[self.at - 1] == b'(' {
                    self.open(Opened::Parenthesis);
                }
            }
            (Some(b'('), _) => {
                self.expanded();
                self.at += 2;
                self.open(Opened::Parenthesis);
            }
            _ if self.token() => {}
            (Some(b'{'), _) => {
                self.expanded();
                if computes(&self.command[self.at + 2..]) {
                    self.warn(UnsafeCommand::Arithmetic);
                }
                self.at += 2;
                self.frames.push(Frame::Expansion);
            }
            _ => {
                self.expanded();
                self.literal();
            }
        }
    }

    /// A token, if one stands here and has a value.
    fn token(&mut self) -> bool {
        let resolver = self.resolver;
        let Some((token, length)) = token::read(&self.command[self.at..], resolver.values.declared) else {
            return false;
        };
        let range = self.at..self.at + length;
        let (text, argument_use) = match resolver.resolve(token) {
            Resolved::Value { text, argument_use, .. } => (text.into_owned(), argument_use),
            Resolved::Stays(why) => {
                self.line.staying.push((range, why));
                let BodyToken::Environment(name) = token else { return false };
                if why != StayReason::Sensitive {
                    return false;
                }
                // The process has it under its own name, so only the spelling changes.
                return self.known_variable(name, length);
            }
        };
        self.has_value = true;
        if argument_use == ArgumentUse::Used {
            self.line.argument_use = ArgumentUse::Used;
        }
        if self.frames.iter().any(|frame| matches!(frame, Frame::Expansion)) {
            self.warn(UnsafeCommand::Expansion);
        }
        if self.frames.iter().any(|frame| matches!(frame, Frame::Plain { opened: Opened::Backtick, .. })) {
            self.warn(UnsafeCommand::Backticks);
        }
        let in_double = matches!(self.frames.last(), Some(Frame::Double));
        let role = if in_double { Role::Single } else { self.simple().role() };
        let is_ours = matches!(token, BodyToken::Folder(_) | BodyToken::Session);
        if !is_ours && self.simple().role() == Role::Program {
            self.warn(UnsafeCommand::Program);
        }
        self.word().has_value = true;
        self.copy(range.start);
        self.copied = range.end;
        self.at = range.end;
        if token == BodyToken::All && role == Role::Argument {
            let words: Vec<String> = resolver.words().iter().map(|word| word.clone().into_owned()).collect();
            for (number, word) in words.into_iter().enumerate() {
                if number > 0 {
                    self.line.text.push(' ');
                    self.line.judged.push(' ');
                }
                self.line.judged.push_str(&quote(&word));
                let variable = self.variable(word.into());
                self.line.text.push_str(&format!("\"${{{variable}}}\""));
            }
            return true;
        }
        let value = match token {
            BodyToken::Folder(folder) => resolver.folder(folder).map(|path| path.as_os_str().to_owned()),
            _ => None,
        };
        let variable = self.variable(value.unwrap_or_else(|| text.clone().into()));
        if in_double {
            self.line.text.push_str(&format!("${{{variable}}}"));
            self.line.judged.extend(text.chars().flat_map(|c| {
                let escape = matches!(c, '$' | '`' | '"' | '\\').then_some('\\');
                escape.into_iter().chain([c])
            }));
        } else {
            self.line.text.push_str(&format!("\"${{{variable}}}\""));
            self.line.judged.push_str(&quote(&text));
        }
        true
    }

    /// `${env:NAME}` as the variable that the skill's processes have.
    fn known_variable(&mut self, name: &str, length: usize) -> bool {
        let name = name.to_owned();
        self.expanded();
        self.copy(self.at);
        let is_quoted = matches!(self.frames.last(), Some(Frame::Double));
        let text = if is_quoted { format!("${{{name}}}") } else { format!("\"${{{name}}}\"") };
        self.line.text.push_str(&text);
        self.line.judged.push_str(&text);
        self.at += length;
        self.copied = self.at;
        true
    }

    fn variable(&mut self, value: OsString) -> String {
        let name = format!("{VARIABLE}{}", self.line.variables.len());
        self.line.variables.push((name.clone(), value));
        name
    }

    /// `'…'`, in which nothing is replaced. `skip` are the bytes of the opening quote.
    fn single(&mut self, skip: usize) {
        self.word();
        let start = self.at + skip;
        let length = self.command[start..].find('\'');
        if length.is_none() {
            self.warn(UnsafeCommand::Unreadable);
        }
        let end = length.map_or(self.command.len(), |length| start + length);
        self.in_single_quotes(start..end);
        let text = self.command[start..end].to_owned();
        self.word().text.push_str(&text);
        self.at = (end + 1).min(self.command.len());
    }

    /// `$'…'`, in which a backslash protects a quote.
    fn ansi(&mut self) {
        let start = self.at + 2;
        let mut end = start;
        let bytes = self.command.as_bytes();
        while end < bytes.len() && bytes[end] != b'\'' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            self.warn(UnsafeCommand::Unreadable);
            end = bytes.len();
        }
        self.in_single_quotes(start..end);
        self.at = (end + 1).min(bytes.len());
    }

    fn in_single_quotes(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some(offset) = self.command.get(at..range.end).and_then(|rest| rest.find(['$', '{', '\\']))
        {
            at += offset;
            let rest = &self.command[at..range.end];
            if let Some(escaped) = rest.strip_prefix('\\') {
                at += 1 + escaped.chars().next().map_or(0, char::len_utf8);
                continue;
            }
            let found = token::read(rest, self.resolver.values.declared);
            let Some((token, length)) = found else {
                at += 1;
                continue;
            };
            // awk's `$1` is awk's where there is no such argument.
            if matches!(self.resolver.resolve(token), Resolved::Value { .. }) {
                self.line.in_single_quotes.push(at..at + length);
            }
            at += length;
        }
    }

    fn escaped(&mut self) {
        if !matches!(self.frames.last(), Some(Frame::Expansion)) {
            let next = self.command[self.at + 1..].chars().next();
            self.word().text.extend(next);
        }
        self.at += 1;
        self.at += self.command[self.at..].chars().next().map_or(0, char::len_utf8);
    }

    fn literal(&mut self) {
        let length = self.character();
        let text = self.command[self.at..self.at + length].to_owned();
        self.word().text.push_str(&text);
        self.at += length;
    }

    fn redirection(&mut self) {
        let rest = &self.command[self.at..];
        let length = if rest.starts_with("<<<") { 3 } else { 1 };
        if length == 1 && rest.starts_with("<<") {
            self.warn(UnsafeCommand::HereDocument);
        }
        self.simple().drop_number();
        self.end_word(length);
        self.simple().redirects = true;
    }

    fn backtick(&mut self) {
        self.expanded();
        self.at += 1;
        let open = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame, Frame::Plain { opened: Opened::Backtick, .. }));
        match open {
            Some(open) => {
                self.end_command();
                if open + 1 != self.frames.len() {
                    self.warn(UnsafeCommand::Unreadable);
                }
                self.frames.truncate(open);
            }
            None => self.open(Opened::Backtick),
        }
    }

    fn open(&mut self, opened: Opened) {
        self.frames.push(Frame::Plain { opened, simple: SimpleCommand::default() });
    }

    fn close_parenthesis(&mut self) {
        self.end_command();
        self.at += 1;
        if let Some(Frame::Plain { opened: Opened::Parenthesis, simple }) = self.frames.last() {
            if simple.has_case {
                self.warn(UnsafeCommand::Unreadable);
            }
            self.frames.pop();
        }
    }

    /// A word ends, and this many bytes behind it are no part of one.
    fn end_word(&mut self, skip: usize) {
        self.at += skip;
        if let Some(hazard) = self.simple().end_word() {
            self.warn(hazard);
        }
    }

    fn end_part(&mut self) {
        self.end_command();
        self.at += 1;
    }

    fn end_command(&mut self) {
        self.end_word(0);
        let simple = self.simple();
        simple.redirects = false;
        let words = std::mem::take(&mut simple.words);
        if let Some(hazard) = hazard::of_command(&words) {
            self.warn(hazard);
        }
    }

    /// The innermost simple command.
    fn simple(&mut self) -> &mut SimpleCommand {
        let inner = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Plain { simple, .. } => Some(simple),
            Frame::Double | Frame::Expansion => None,
        });
        inner.unwrap_or(&mut self.top)
    }

    /// The word at hand, begun if there is none.
    fn word(&mut self) -> &mut Word {
        self.simple().word.get_or_insert_default()
    }

    /// The shell makes a part of the word at hand.
    fn expanded(&mut self) {
        self.word().is_expanded = true;
    }

    fn warn(&mut self, hazard: UnsafeCommand) {
        self.hazard.get_or_insert(hazard);
    }

    fn copy(&mut self, end: usize) {
        let text = self.command.get(self.copied..end).unwrap_or_default();
        self.line.text.push_str(text);
        self.line.judged.push_str(text);
        self.copied = end;
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.command.as_bytes().get(self.at + offset).copied()
    }

    fn character(&self) -> usize {
        self.command[self.at..].chars().next().map_or(1, char::len_utf8)
    }
}

/// Whether what follows `${` has a subscript or an offset, which bash computes.
fn computes(inside: &str) -> bool {
    let inside = inside.trim_start_matches(['!', '#']);
    let length = inside.bytes().take_while(|byte| is_word(*byte)).count();
    match inside.as_bytes().get(length) {
        Some(b'[') => {
            let subscript = inside[length + 1..].split(']').next().unwrap_or_default();
            !matches!(subscript, "@" | "*") && !subscript.bytes().all(|byte| byte.is_ascii_digit())
        }
        Some(b':') => !inside[length + 1..].starts_with(['-', '=', '?', '+']),
        _ => false,
    }
}

#[cfg(test)]
mod tests;

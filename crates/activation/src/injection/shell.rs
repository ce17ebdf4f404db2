//! A command's text with its tokens as variables.

mod simple_command;

use std::ffi::OsString;
use std::ops::Range;

use metier_policy::shell::quote;
use metier_shell::{Nesting, ShellToken, ShellTokenKind as Kind, ShellTokens};

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

/// Reads a command. Without a value in it the text is the command, whatever it is.
pub(crate) fn read(command: &str, resolver: &Resolver<'_>) -> Result<ShellLine, UnsafeCommand> {
    let mut scanner = Scanner {
        command,
        tokens: ShellTokens::new(command),
        copied: 0,
        top: SimpleCommand::default(),
        inner: Vec::new(),
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
        is_protected: false,
    };
    scanner.scan();
    match scanner.hazard {
        Some(hazard) if scanner.has_value => Err(hazard),
        _ => Ok(scanner.line),
    }
}

struct Scanner<'s, 'v> {
    command: &'s str,
    tokens: ShellTokens<'s>,
    /// Up to where the command was copied.
    copied: usize,
    /// The command that stands in nothing else.
    top: SimpleCommand,
    /// Those that are being read in it, each inside the one before it.
    inner: Vec<SimpleCommand>,
    /// The first reason against running the command with a value in it.
    hazard: Option<UnsafeCommand>,
    resolver: &'s Resolver<'v>,
    line: ShellLine,
    has_value: bool,
    /// A backslash stands before the next token, which stays then.
    is_protected: bool,
}

impl Scanner<'_, '_> {
    fn scan(&mut self) {
        loop {
            if !self.is_protected && self.token() {
                continue;
            }
            let Some(token) = self.tokens.next() else { break };
            self.is_protected = token.kind == Kind::Text && token.text(self.command) == "\\";
            self.take(&token);
            let depth = self.tokens.nestings().len();
            while self.inner.last().is_some_and(|inner| inner.depth > depth) {
                self.end_command();
                let has_case = self.inner.pop().is_some_and(|inner| inner.has_case);
                if has_case && token.kind != Kind::Close(Nesting::Backtick) {
                    self.warn(UnsafeCommand::Unreadable);
                }
            }
        }
        self.end_command();
        if !self.tokens.is_whole() {
            self.warn(UnsafeCommand::Unreadable);
        }
        self.copy(self.command.len());
    }

    fn take(&mut self, token: &ShellToken) {
        let command = self.command;
        let behind = command.get(token.span.end..).unwrap_or_default();
        match token.kind {
            Kind::Blank | Kind::Comment => self.end_word(),
            Kind::Newline | Kind::Separator => self.end_command(),
            Kind::Redirection => {
                let operator = token.text(command).trim_start_matches(|c: char| c.is_ascii_digit());
                if matches!(operator, "<<" | "<<-") {
                    self.warn(UnsafeCommand::HereDocument);
                }
                self.end_word();
                self.simple().redirects = true;
            }
            Kind::Text | Kind::Escape if self.tokens.nestings().last() == Some(&Nesting::Braces) => {}
            Kind::Text | Kind::Escape | Kind::Single => {
                self.word().text.push_str(token.literal(command).unwrap_or_default());
                if token.kind == Kind::Single {
                    self.stay_in_quotes(token);
                }
            }
            Kind::Ansi => {
                self.expanded();
                self.stay_in_quotes(token);
            }
            Kind::Parameter => {
                if token.span.len() == 1 && behind.starts_with('[') {
                    self.warn(UnsafeCommand::Arithmetic);
                }
                self.expanded().text.push_str(token.text(command));
            }
            Kind::HereDocument => self.has_value |= !self.values_in(token).is_empty(),
            Kind::Open(nesting) => self.open(nesting, token, behind),
            Kind::Continuation | Kind::Close(_) => {}
        }
    }

    fn open(&mut self, nesting: Nesting, token: &ShellToken, behind: &str) {
        match nesting {
            Nesting::Subshell => self.end_word(),
            Nesting::Double => {
                self.word();
            }
            _ => {
                self.expanded();
            }
        }
        let inside = self.command.get(token.span.start + "${".len()..).unwrap_or_default();
        let is_computed = match nesting {
            Nesting::Arithmetic => true,
            Nesting::Braces => computes(inside),
            _ => nesting.has_commands() && behind.starts_with('('),
        };
        if is_computed {
            self.warn(UnsafeCommand::Arithmetic);
        }
        if nesting.has_commands() {
            let depth = self.tokens.nestings().len();
            self.inner.push(SimpleCommand { depth, ..SimpleCommand::default() });
        }
    }

    /// A token, if one stands here and has a value.
    fn token(&mut self) -> bool {
        let resolver = self.resolver;
        let at = self.tokens.offset();
        let Some((token, length)) = token::read(self.tokens.ahead(), resolver.values.declared) else {
            return false;
        };
        let (text, argument_use) = match resolver.resolve(token) {
            Resolved::Value { text, argument_use, .. } => (text.into_owned(), argument_use),
            Resolved::Stays(why) => {
                self.line.staying.push((at..at + length, why));
                let BodyToken::Environment(name) = token else { return false };
                if why != StayReason::Sensitive {
                    return false;
                }
                // The process has it under its own name, so only the spelling changes.
                self.known_variable(name, length);
                return true;
            }
        };
        self.has_value = true;
        if argument_use == ArgumentUse::Used {
            self.line.argument_use = ArgumentUse::Used;
        }
        let nestings = self.tokens.nestings();
        let in_double = nestings.last() == Some(&Nesting::Double);
        if nestings.contains(&Nesting::Braces) {
            self.warn(UnsafeCommand::Expansion);
        }
        if self.tokens.nestings().contains(&Nesting::Backtick) {
            self.warn(UnsafeCommand::Backticks);
        }
        let role = if in_double { Role::Single } else { self.simple().role() };
        let is_ours = matches!(token, BodyToken::Folder(_) | BodyToken::Session);
        if !is_ours && self.simple().role() == Role::Program {
            self.warn(UnsafeCommand::Program);
        }
        self.word().has_value = true;
        self.pass(length);
        if token == BodyToken::All && role == Role::Argument {
            for (number, word) in resolver.words().iter().enumerate() {
                if number > 0 {
                    self.line.text.push(' ');
                    self.line.judged.push(' ');
                }
                self.line.judged.push_str(&quote(word));
                let variable = self.variable(word.clone().into_owned().into());
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
    fn known_variable(&mut self, name: &str, length: usize) {
        self.expanded();
        let is_quoted = self.tokens.nestings().last() == Some(&Nesting::Double);
        let text = if is_quoted { format!("${{{name}}}") } else { format!("\"${{{name}}}\"") };
        self.pass(length);
        self.line.text.push_str(&text);
        self.line.judged.push_str(&text);
    }

    fn variable(&mut self, value: OsString) -> String {
        let name = format!("{VARIABLE}{}", self.line.variables.len());
        self.line.variables.push((name.clone(), value));
        name
    }

    /// Nothing is replaced in single quotes.
    fn stay_in_quotes(&mut self, token: &ShellToken) {
        let values = self.values_in(token);
        self.line.in_single_quotes.extend(values);
    }

    /// The tokens with a value in a text in which nothing is replaced.
    fn values_in(&self, token: &ShellToken) -> Vec<Range<usize>> {
        let mut values = Vec::new();
        let mut at = token.span.start;
        while let Some(offset) =
            self.command.get(at..token.span.end).and_then(|rest| rest.find(['$', '{', '\\']))
        {
            at += offset;
            let rest = &self.command[at..token.span.end];
            if let Some(escaped) = rest.strip_prefix('\\') {
                at += 1 + escaped.chars().next().map_or(0, char::len_utf8);
                continue;
            }
            let Some((token, length)) = token::read(rest, self.resolver.values.declared) else {
                at += 1;
                continue;
            };
            // awk's `$1` is awk's where there is no such argument.
            if matches!(self.resolver.resolve(token), Resolved::Value { .. }) {
                values.push(at..at + length);
            }
            at += length;
        }
        values
    }

    /// The innermost simple command.
    fn simple(&mut self) -> &mut SimpleCommand {
        self.inner.last_mut().unwrap_or(&mut self.top)
    }

    fn end_word(&mut self) {
        if let Some(hazard) = self.simple().end_word() {
            self.warn(hazard);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let simple = self.simple();
        simple.redirects = false;
        let words = std::mem::take(&mut simple.words);
        if let Some(hazard) = hazard::of_command(&words) {
            self.warn(hazard);
        }
    }

    /// The word at hand, begun if there is none.
    fn word(&mut self) -> &mut Word {
        self.simple().word.get_or_insert_default()
    }

    /// The same, which the shell makes a part of.
    fn expanded(&mut self) -> &mut Word {
        let word = self.word();
        word.is_expanded = true;
        word
    }

    fn warn(&mut self, hazard: UnsafeCommand) {
        self.hazard.get_or_insert(hazard);
    }

    /// Passes a token for which something else is written.
    fn pass(&mut self, length: usize) {
        self.copy(self.tokens.offset());
        self.tokens.pass(length);
        self.copied = self.tokens.offset();
    }

    fn copy(&mut self, end: usize) {
        let text = self.command.get(self.copied..end).unwrap_or_default();
        self.line.text.push_str(text);
        self.line.judged.push_str(text);
        self.copied = end;
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

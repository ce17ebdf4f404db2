//! The tokenizer.

use std::collections::VecDeque;

use crate::here_document::HereDocument;
use crate::token::{Nesting, ShellToken, ShellTokenKind as Kind};

/// How deep nestings are followed. People nest two or three; a hostile text must not take memory or the square of the time.
const MAX_DEPTH: usize = 64;

/// Operators of redirection, each before those that it begins with.
const REDIRECTIONS: [&str; 12] = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"];

/// The tokens of a text, in order and without gaps.
#[derive(Clone, Debug)]
pub struct ShellTokens<'a> {
    text: &'a str,
    at: usize,
    /// The end of the text, or of the here-document or arithmetic that is being read.
    end: usize,
    /// What is open, innermost last.
    open: Vec<Nesting>,
    /// Those among them whose end is known: where what closes it ends, and the `end` outside.
    bounded: Vec<(usize, usize)>,
    /// Here-documents whose text has yet to come.
    expected: VecDeque<HereDocument>,
    begins_here_document: bool,
    /// Whether the last token was a part of a word, so that `#` begins no comment.
    is_in_word: bool,
    /// Up to where no `))` is: looking again at every `((` would take the square of the time.
    no_arithmetic: usize,
    is_whole: bool,
}

impl<'a> ShellTokens<'a> {
    /// The tokens of `text`.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            open: Vec::new(),
            bounded: Vec::new(),
            expected: VecDeque::new(),
            begins_here_document: false,
            is_in_word: false,
            no_arithmetic: 0,
            is_whole: true,
        }
    }

    /// Where the next token begins.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// What is ahead and can be passed. Nothing is where a here-document begins in which nothing is expanded.
    pub fn ahead(&self) -> &'a str {
        if self.begins_here_document && !self.expected.is_empty() { "" } else { self.rest() }
    }

    /// Passes `length` bytes as a part of the word at hand, for a consumer that knows what stands there.
    pub fn pass(&mut self, length: usize) {
        self.at = self.text.ceil_char_boundary(self.at.saturating_add(length).min(self.end));
        self.is_in_word = true;
    }

    /// What is open, innermost last.
    pub fn nestings(&self) -> &[Nesting] {
        &self.open
    }

    /// Whether the text so far can be trusted to mean what its tokens say, and nothing is left open: every quote and
    /// bracket was closed in turn and none was too deep.
    pub fn is_whole(&self) -> bool {
        self.is_whole && self.open.is_empty()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.rest().as_bytes().get(ahead).copied()
    }

    /// Whether commands are read here, and not what is in quotes or braces.
    fn is_in_commands(&self) -> bool {
        self.open.last().is_none_or(|nesting| nesting.has_commands())
    }

    /// Whether a single quote is a character: in double quotes, and in braces within them.
    fn is_in_double(&self) -> bool {
        let around = self.open.iter().rev().find(|nesting| **nesting != Nesting::Braces);
        around.is_some_and(|nesting| *nesting == Nesting::Double || nesting.is_bounded())
    }

    fn kind(&mut self, byte: u8) -> Kind {
        match (byte, self.open.last().copied()) {
            (b'$', _) => self.dollar(),
            (b'`', _) => self.backtick(),
            (b'\\', _) => self.backslash(),
            (b'"', Some(Nesting::Double)) | (b'}', Some(Nesting::Braces)) => self.close(1),
            (b'"', around) if !around.is_some_and(Nesting::is_bounded) => self.open(1, Nesting::Double),
            (b'\'', _) if !self.is_in_double() => self.quoted(1, Kind::Single),
            _ if self.is_in_commands() => self.in_commands(byte),
            _ => self.characters(),
        }
    }

    fn in_commands(&mut self, byte: u8) -> Kind {
        match (byte, self.byte(1)) {
            (b' ' | b'\t', _) => {
                let rest = self.rest();
                self.between(rest.len() - rest.trim_start_matches([' ', '\t']).len(), Kind::Blank)
            }
            (b'\n', _) => self.newline(1),
            (b'\r', Some(b'\n')) => self.newline(2),
            (b'#', _) if !self.is_in_word => {
                let line = self.rest().split('\n').next().unwrap_or_default();
                self.between(line.strip_suffix('\r').unwrap_or(line).len(), Kind::Comment)
            }
            (b'<' | b'>', Some(b'(')) => self.open(2, Nesting::Process),
            (b'<' | b'>', _) | (b'&', Some(b'>')) => self.redirection(0),
            (b'&' | b'|', Some(b'&')) => self.between(2, Kind::Separator),
            (b';' | b'&' | b'|', _) => self.between(1, Kind::Separator),
            (b'0'..=b'9', _) if !self.is_in_word => {
                let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                match (self.byte(digits), self.byte(digits + 1)) {
                    (Some(b'<' | b'>'), behind) if behind != Some(b'(') => self.redirection(digits),
                    _ => self.characters(),
                }
            }
            (b'(', Some(b'(')) if !self.is_in_word && self.no_arithmetic <= self.at => {
                // On its line: `((` is as often two subshells or a pattern.
                let line = self.rest().find('\n').unwrap_or(self.end - self.at);
                self.arithmetic(2, line).unwrap_or_else(|| self.open(1, Nesting::Subshell))
            }
            (b'(', _) => self.open(1, Nesting::Subshell),
            (b')', _) => match self.open.last() {
                Some(Nesting::Subshell | Nesting::Substitution | Nesting::Process) => self.close(1),
                _ => self.between(1, Kind::Separator),
            },
            _ => self.characters(),
        }
    }

    /// A part of a word.
    fn part(&mut self, length: usize, kind: Kind) -> Kind {
        self.pass(length);
        kind
    }

    /// What no word goes on behind.
    fn between(&mut self, length: usize, kind: Kind) -> Kind {
        self.pass(length);
        self.is_in_word = false;
        kind
    }

    fn newline(&mut self, length: usize) -> Kind {
        self.begins_here_document = true;
        self.between(length, Kind::Newline)
    }

    /// A redirection behind as many digits.
    fn redirection(&mut self, digits: usize) -> Kind {
        let rest = self.rest().get(digits..).unwrap_or_default();
        let operator = REDIRECTIONS.into_iter().find(|operator| rest.starts_with(operator)).unwrap_or(">");
        if matches!(operator, "<<" | "<<-") {
            self.expected.extend(HereDocument::read(operator, &rest[operator.len()..]));
        }
        self.between(digits + operator.len(), Kind::Redirection)
    }

    fn open(&mut self, length: usize, nesting: Nesting) -> Kind {
        if self.open.len() == MAX_DEPTH {
            self.is_whole = false;
            return self.part(length, Kind::Text);
        }
        self.open.push(nesting);
        self.pass(length);
        self.is_in_word = !nesting.has_commands();
        Kind::Open(nesting)
    }

    /// Closes the innermost nesting.
    fn close(&mut self, length: usize) -> Kind {
        self.pass(length);
        let Some(nesting) = self.open.pop() else { return Kind::Text };
        self.is_in_word = nesting != Nesting::Subshell;
        Kind::Close(nesting)
    }

    /// Closes the backtick that is open, with whatever was left open in it, or opens one.
    fn backtick(&mut self) -> Kind {
        let last = self
            .open
            .iter()
            .rposition(|nesting| *nesting == Nesting::Backtick || nesting.is_bounded())
            .filter(|at| self.open.get(*at) == Some(&Nesting::Backtick));
        let Some(last) = last else { return self.open(1, Nesting::Backtick) };
        self.is_whole &= last + 1 == self.open.len();
        self.open.truncate(last + 1);
        self.close(1)
    }

    fn backslash(&mut self) -> Kind {
        let next = self.rest().chars().nth(1);
        let protects = match (next, self.open.last()) {
            (Some('\n'), _) => {
                // The word at hand, if any, goes on.
                let is_in_word = self.is_in_word;
                self.pass(2);
                self.is_in_word = is_in_word;
                return Kind::Continuation;
            }
            (next, Some(around)) if around.is_bounded() => matches!(next, Some('$' | '`' | '\\')),
            (next, Some(Nesting::Double)) => matches!(next, Some('$' | '`' | '\\' | '"')),
            _ => true,
        };
        match next {
            Some(next) if protects => self.part(1 + next.len_utf8(), Kind::Escape),
            None if protects => self.part(1, Kind::Escape),
            _ => self.characters(),
        }
    }

    /// A text in single quotes that begins after `open` bytes; in `$'…'` a backslash protects one.
    fn quoted(&mut self, open: usize, kind: Kind) -> Kind {
        let inside = self.rest().get(open..).unwrap_or_default();
        let mut is_protected = false;
        let end = inside.bytes().position(|byte| {
            let ends = byte == b'\'' && !is_protected;
            is_protected = kind == Kind::Ansi && byte == b'\\' && !is_protected;
            ends
        });
        self.is_whole &= end.is_some();
        self.part(open + end.map_or(inside.len(), |end| end + 1), kind)
    }

    fn dollar(&mut self) -> Kind {
        let names = |from: usize| {
            let rest = self.rest().as_bytes().get(from..).unwrap_or_default();
            rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
        };
        match (self.byte(1), self.byte(2)) {
            (Some(b'\''), _) if !self.is_in_double() => self.quoted(2, Kind::Ansi),
            (Some(b'('), Some(b'(')) => {
                let arithmetic = self.arithmetic(3, self.end - self.at);
                arithmetic.unwrap_or_else(|| self.open(2, Nesting::Substitution))
            }
            (Some(b'('), _) => self.open(2, Nesting::Substitution),
            (Some(b'{'), _) => self.open(2 + names(2), Nesting::Braces),
            (Some(b'A'..=b'Z' | b'a'..=b'z' | b'_'), _) => self.part(1 + names(1), Kind::Parameter),
            (Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!'), _) => {
                self.part(2, Kind::Parameter)
            }
            _ => self.part(1, Kind::Parameter),
        }
    }

    /// Begins the arithmetic that is here, after `length` bytes, if it ends within `most`.
    fn arithmetic(&mut self, length: usize, most: usize) -> Option<Kind> {
        let end = self.at + most;
        let from = self.no_arithmetic.max(self.at + length);
        let Some(found) = self.text.get(from..end).and_then(|text| text.find("))")) else {
            self.no_arithmetic = self.no_arithmetic.max(end);
            return None;
        };
        let opened = self.open(length, Nesting::Arithmetic);
        if opened != Kind::Text {
            self.bounded.push((from + found + 2, self.end));
            self.end = from + found;
        }
        Some(opened)
    }

    /// Characters that stand for themselves; at least one.
    fn characters(&mut self) -> Kind {
        let is_in_commands = self.is_in_commands();
        let ends = |byte: u8| match byte {
            b'$' | b'`' | b'\\' | b'"' | b'\'' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' => true,
            b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => is_in_commands,
            _ => false,
        };
        let length = self.rest().bytes().skip(1).position(ends).map(|length| length + 1);
        self.part(length.unwrap_or(self.end - self.at), Kind::Text)
    }

    /// Whether a here-document begins here that holds tokens, so that what is open is right before the next one is read.
    fn expands_next(&self) -> bool {
        let expands = |next: &HereDocument| !next.is_literal && self.open.len() < MAX_DEPTH;
        self.begins_here_document && self.expected.front().is_some_and(expands)
    }

    /// Begins the next here-document that is expected, if its line has come. One in which nothing is expanded is a token.
    fn begin_here_document(&mut self) -> Option<Kind> {
        let here_document = self.expected.pop_front()?;
        let (length, whole) = here_document.extent(self.rest());
        if here_document.is_literal || self.open.len() == MAX_DEPTH {
            return (whole > 0).then(|| self.between(whole, Kind::HereDocument));
        }
        self.begins_here_document = false;
        self.bounded.push((self.at + whole, self.end));
        self.open.push(Nesting::HereDocument);
        self.end = self.at + length;
        None
    }

    /// Closes what ends here, and whatever was left open in it.
    fn close_bounded(&mut self) -> Option<Kind> {
        let (closed, outer_end) = self.bounded.pop()?;
        let last = self.open.iter().rposition(|nesting| nesting.is_bounded()).unwrap_or_default();
        self.is_whole &= last + 1 == self.open.len();
        let is_here_document = self.open.get(last) == Some(&Nesting::HereDocument);
        self.open.truncate(last);
        self.end = outer_end;
        if !is_here_document {
            return Some(self.part(closed - self.at, Kind::Close(Nesting::Arithmetic)));
        }
        self.begins_here_document = true;
        (closed > self.at).then(|| self.between(closed - self.at, Kind::HereDocument))
    }
}

impl Iterator for ShellTokens<'_> {
    type Item = ShellToken;

    fn next(&mut self) -> Option<ShellToken> {
        loop {
            let start = self.at;
            let kind = if self.begins_here_document && !self.expected.is_empty() {
                self.begin_here_document()
            } else if let Some(byte) = self.byte(0) {
                self.begins_here_document = false;
                Some(self.kind(byte))
            } else if self.bounded.is_empty() {
                return None;
            } else {
                self.close_bounded()
            };
            if let Some(kind) = kind {
                let token = ShellToken { kind, span: start..self.at };
                if self.expands_next() {
                    self.begin_here_document();
                }
                return Some(token);
            }
        }
    }
}

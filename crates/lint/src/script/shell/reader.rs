//! The way through a shell script, a byte at a time.

use super::{Expansion, Shell, Simple, Word, is_name};

/// How deep substitutions are followed. People nest two or three; a hostile file must not use up the stack.
const MAX_DEPTH: usize = 24;

/// The longest placeholder, in characters.
const MAX_PLACEHOLDER: usize = 60;

/// A here-document whose text has yet to come.
struct Heredoc {
    delimiter: String,
    is_literal: bool,
    is_indented: bool,
}

/// Where in the script reading is.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    heredocs: Vec<Heredoc>,
    /// Cleared once `))` was looked for in vain: looking again at every `((` would take the square of the time.
    has_arithmetic_end: bool,
    out: Shell,
}

impl<'a> Reader<'a> {
    /// Begins at the beginning.
    pub(super) fn new(text: &'a str) -> Self {
        let out = Shell::default();
        Self { text, at: 0, depth: 0, heredocs: Vec::new(), has_arithmetic_end: true, out }
    }

    /// Reads it to the end.
    pub(super) fn read(mut self) -> Shell {
        while self.at < self.text.len() {
            self.commands(None);
        }
        self.out
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The character here, which is passed.
    fn take(&mut self) -> Option<char> {
        let c = self.rest().chars().next();
        // Reading goes on by at least a byte, whatever happens.
        self.at = (self.at + c.map_or(1, char::len_utf8)).min(self.text.len());
        c
    }

    /// Reads commands up to `end`, or to the end of the script.
    fn commands(&mut self, end: Option<u8>) {
        let mut command = Simple::default();
        while let Some(byte) = self.peek(0) {
            let is_test = command.words.first().is_some_and(|word| word.text == "[[")
                && command.words.last().is_some_and(|word| word.text != "]]");
            match byte {
                _ if end == Some(byte) => {
                    self.at += 1;
                    break;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.finish(&mut command);
                    self.read_heredocs();
                }
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                b'<' | b'>' | b'&' | b'|' | b'(' | b')' if is_test => self.at += 1,
                b'>' => self.output(&mut command),
                b'&' if self.peek(1) == Some(b'>') => {
                    self.at += 1;
                    self.output(&mut command);
                }
                b'<' if self.skip_placeholder() => {}
                b'<' => self.input(),
                b';' | b'&' | b'|' | b')' => {
                    self.at += 1;
                    self.finish(&mut command);
                }
                b'(' if self.peek(1) == Some(b'(') && command.words.is_empty() => self.arithmetic(),
                b'(' => {
                    self.at += 1;
                    self.finish(&mut command);
                    self.inner(b')');
                }
                b'`' => {
                    self.at += 1;
                    self.inner(b'`');
                }
                _ => command.words.push(self.word()),
            }
        }
        self.finish(&mut command);
    }

    fn finish(&mut self, command: &mut Simple) {
        if !command.words.is_empty() || !command.targets.is_empty() {
            self.out.commands.push(std::mem::take(command));
        }
    }

    /// Reads the commands of a substitution whose beginning is passed.
    fn inner(&mut self, end: u8) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.commands(Some(end));
            self.depth -= 1;
        }
    }

    /// Passes `((…))` or what begins with it.
    fn arithmetic(&mut self) {
        let end = if self.has_arithmetic_end { self.rest().find("))") } else { None };
        self.has_arithmetic_end = end.is_some();
        self.at += end.map_or(2, |end| end + 2);
    }

    /// Reads `>file` and its kin.
    fn output(&mut self, command: &mut Simple) {
        // In `2>file` the number belongs to the sign.
        let is_number =
            |word: &mut Word| word.span.end == self.at && word.text.bytes().all(|b| b.is_ascii_digit());
        command.words.pop_if(is_number);
        self.at += 1;
        match self.peek(0) {
            Some(b'(') => {
                self.at += 1;
                return self.inner(b')');
            }
            Some(b'>' | b'|') => self.at += 1,
            Some(b'&') => {
                self.at += 1;
                if self.peek(0).is_some_and(|byte| byte.is_ascii_digit() || byte == b'-') {
                    self.at += 1;
                    return;
                }
            }
            _ => {}
        }
        command.targets.extend(self.operand());
    }

    /// Passes `<name>`, which in a line that somebody is to fill in stands for a word. Nobody writes redirections so close.
    fn skip_placeholder(&mut self) -> bool {
        let rest = self.rest().get(1..).unwrap_or_default();
        let is_end = |c: char| {
            c.is_whitespace()
                || matches!(c, '<' | '>' | '$' | '&' | ';' | '(' | ')' | '"' | '\'' | '`' | '\\')
        };
        let end = rest.char_indices().take(MAX_PLACEHOLDER).find(|(_, c)| is_end(*c));
        let Some((end, '>')) = end.filter(|(end, _)| *end > 0) else { return false };
        self.at += end + 2;
        true
    }

    /// Reads `<file`, `<<END`, `<<<text` and `<(…)`; what is read from is of no interest.
    fn input(&mut self) {
        self.at += 1;
        match (self.peek(0), self.peek(1)) {
            (Some(b'('), _) => {
                self.at += 1;
                self.inner(b')');
            }
            (Some(b'<'), Some(b'<')) => {
                self.at += 2;
                self.operand();
            }
            (Some(b'<'), next) => {
                let is_indented = next == Some(b'-');
                self.at += if is_indented { 2 } else { 1 };
                if let Some(word) = self.operand() {
                    let written = self.text.get(word.span.clone()).unwrap_or_default();
                    let is_literal = written.contains(['\'', '"', '\\']);
                    self.heredocs.push(Heredoc { delimiter: word.text, is_literal, is_indented });
                }
            }
            _ => {
                if self.peek(0) == Some(b'&') {
                    self.at += 1;
                }
                self.operand();
            }
        }
    }

    /// The word behind a redirection, where there is one.
    fn operand(&mut self) -> Option<Word> {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let is_word = self.peek(0).is_some_and(|byte| !is_border(byte) && byte != b'#');
        is_word.then(|| self.word())
    }

    /// Passes the texts of here-documents, which begin here, and notes what they read.
    fn read_heredocs(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let mut end = self.text.len();
            let mut line_at = start;
            for line in self.rest().split_inclusive('\n') {
                let bare = line.trim_end_matches(['\n', '\r']);
                let bare = if heredoc.is_indented { bare.trim_start_matches('\t') } else { bare };
                if bare == heredoc.delimiter {
                    end = line_at;
                    line_at += line.len();
                    break;
                }
                line_at += line.len();
            }
            if !heredoc.is_literal {
                let mut sink = String::new();
                while self.at < end {
                    match self.peek(0) {
                        Some(b'$') => self.dollar(&mut sink, Quotes::Double),
                        Some(b'\\') => self.at += 2,
                        _ => self.at += 1,
                    }
                    sink.clear();
                }
            }
            self.at = line_at;
        }
    }

    fn word(&mut self) -> Word {
        let start = self.at;
        let mut text = String::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                _ if is_border(byte) && byte != b'`' => break,
                b'`' if self.at > start => break,
                b'\\' => {
                    self.at += 1;
                    text.extend(self.take().filter(|c| *c != '\n'));
                }
                b'\'' => self.single(&mut text),
                b'"' => self.double(&mut text),
                b'$' => self.dollar(&mut text, Quotes::None),
                _ => text.extend(self.take()),
            }
        }
        // A word always passes something, else reading would not come to an end.
        if self.at == start {
            self.take();
        }
        Word { span: start..self.at, text }
    }

    fn single(&mut self, text: &mut String) {
        self.at += 1;
        let length = self.rest().find('\'').unwrap_or(self.rest().len());
        text.push_str(self.rest().get(..length).unwrap_or_default());
        self.at = (self.at + length + 1).min(self.text.len());
    }

    fn double(&mut self, text: &mut String) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    self.at += 1;
                    text.extend(self.take());
                }
                b'$' => self.dollar(text, Quotes::Double),
                b'`' => {
                    self.at += 1;
                    text.push('`');
                    self.inner(b'`');
                }
                _ => text.extend(self.take()),
            }
        }
    }

    /// Reads a `$` and what belongs to it; the text gets it as it is written.
    fn dollar(&mut self, text: &mut String, quotes: Quotes) {
        let start = self.at;
        match (self.peek(1), self.peek(2)) {
            (Some(b'('), Some(b'(')) => self.arithmetic(),
            (Some(b'('), _) => {
                self.at += 2;
                self.inner(b')');
            }
            (Some(b'{'), _) if self.depth < MAX_DEPTH => {
                self.depth += 1;
                self.braces(quotes);
                self.depth -= 1;
            }
            (Some(b'\''), _) if quotes == Quotes::None => {
                self.at += 2;
                while let Some(c) = self.take() {
                    match c {
                        '\\' => drop(self.take()),
                        '\'' => break,
                        _ => {}
                    }
                }
            }
            _ => {
                self.at += 1;
                self.name();
            }
        }
        text.push_str(self.text.get(start..self.at).unwrap_or_default());
    }

    /// Reads `${NAME…}`.
    fn braces(&mut self, quotes: Quotes) {
        self.at += 2;
        self.name();
        let mut sink = String::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'}' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    self.at += 1;
                    self.take();
                }
                b'$' => self.dollar(&mut sink, quotes),
                b'"' => self.double(&mut sink),
                b'\'' if quotes == Quotes::None => self.single(&mut sink),
                _ => drop(self.take()),
            }
            sink.clear();
        }
    }

    /// Notes the name that begins here.
    fn name(&mut self) {
        let length = self.rest().bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let span = self.at..self.at + length;
        if is_name(self.text.get(span.clone()).unwrap_or_default()) {
            self.at = span.end;
            self.out.expansions.push(Expansion { span });
        }
    }
}

/// Whether double quotes are open, in which a single one means nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

/// Whether a byte ends a word.
fn is_border(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`')
}

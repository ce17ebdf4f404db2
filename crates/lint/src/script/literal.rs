//! Python and JavaScript as code, texts and comments.

use std::ops::Range;

/// How deep the expressions of template texts are followed; a hostile file must not use up the stack.
const MAX_DEPTH: usize = 24;

/// How many bytes of code are looked through for the call that a text stands in. Arguments are shorter; a table of a
/// thousand texts must not be walked a thousand times.
const MAX_BACK: usize = 2_000;

/// A text in pieces, in order.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    text: &'a str,
    /// The pieces.
    pub(crate) all: Vec<Piece>,
}

/// A piece of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What it is.
    pub(crate) kind: PieceKind,
    /// Where it stands: a text without its quotes, a comment with its signs.
    pub(crate) span: Range<usize>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// What runs.
    Code,
    /// What nobody runs, texts that only document included.
    Comment,
    /// A text that is what it says.
    Plain,
    /// A text in which expressions are filled in.
    Filled,
}

impl PieceKind {
    /// Whether it is a text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Plain | Self::Filled)
    }

    /// Whether code can stand in it.
    pub(crate) fn has_code(self) -> bool {
        matches!(self, Self::Code | Self::Filled)
    }
}

impl<'a> Pieces<'a> {
    /// Takes a Python script apart.
    pub(crate) fn of_python(text: &'a str) -> Self {
        let mut reader = Reader::new(text);
        while let Some(byte) = reader.peek(0) {
            match byte {
                b'#' => reader.comment_line(),
                b'"' | b'\'' => reader.python_text(byte),
                _ => reader.code(byte),
            }
        }
        reader.finish()
    }

    /// Takes a JavaScript or TypeScript file apart.
    pub(crate) fn of_javascript(text: &'a str) -> Self {
        let mut reader = Reader::new(text);
        if text.starts_with("#!") {
            reader.comment_line();
        }
        while let Some(byte) = reader.peek(0) {
            match (byte, reader.peek(1)) {
                (b'/', Some(b'/')) => reader.comment_line(),
                (b'/', Some(b'*')) => reader.comment_block(),
                (b'/', _) if reader.begins_pattern() => reader.pattern(),
                (b'"' | b'\'' | b'`', _) => {
                    reader.at += 1;
                    let start = reader.at;
                    let kind = if byte == b'`' {
                        reader.skip_template(0);
                        PieceKind::Filled
                    } else {
                        reader.skip_quoted(byte);
                        PieceKind::Plain
                    };
                    reader.push(kind, start..reader.before_quote(start, byte), reader.at, start - 1);
                }
                _ => reader.code(byte),
            }
        }
        reader.finish()
    }

    /// The text of a piece.
    pub(crate) fn of(&self, piece: &Piece) -> &'a str {
        self.text.get(piece.span.clone()).unwrap_or_default()
    }

    /// The code right before a piece, up to the piece before that; comments between them do not count.
    pub(crate) fn code_before(&self, index: usize) -> &'a str {
        let before = self.all.get(..index).unwrap_or_default().iter().rev();
        let code = before.into_iter().find(|piece| piece.kind != PieceKind::Comment);
        code.filter(|piece| piece.kind == PieceKind::Code).map_or("", |piece| self.of(piece)).trim_end()
    }

    /// The code right behind a piece, and the index of the piece behind that.
    pub(crate) fn code_after(&self, index: usize) -> (&'a str, usize) {
        let behind = self.all.iter().enumerate().skip(index + 1);
        let mut behind = behind.skip_while(|(_, piece)| piece.kind == PieceKind::Comment);
        match behind.next() {
            Some((at, piece)) if piece.kind == PieceKind::Code => (self.of(piece).trim_start(), at + 1),
            _ => ("", index + 1),
        }
    }

    /// The names of the calls that a piece stands in, the innermost first: `requests.get`, `print`.
    pub(crate) fn calls_around(&self, index: usize) -> Vec<&'a str> {
        let mut calls = Vec::new();
        let (mut depth, mut left) = (0_usize, MAX_BACK);
        for piece in self.all.get(..index).unwrap_or_default().iter().rev() {
            if piece.kind != PieceKind::Code {
                left = left.saturating_sub(1);
                continue;
            }
            let code = self.of(piece);
            for (at, byte) in code.bytes().enumerate().rev() {
                left = left.saturating_sub(1);
                if left == 0 {
                    return calls;
                }
                match byte {
                    b')' | b']' | b'}' => depth += 1,
                    b'(' | b'[' | b'{' if depth > 0 => depth -= 1,
                    b'(' => calls.extend(last_name(code.get(..at).unwrap_or_default())),
                    // A function's body or the end of a statement: what stands before it is something else.
                    b';' if depth == 0 => return calls,
                    _ => {}
                }
            }
        }
        calls
    }
}

/// The name with its dots that a piece of code ends with.
pub(crate) fn last_name(code: &str) -> Option<&str> {
    let code = code.trim_end();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let name = code.get(code.trim_end_matches(is_part).len()..)?;
    (!name.is_empty()).then_some(name)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the code began that is not a piece yet.
    code_at: usize,
    /// How many brackets are open.
    open: usize,
    /// Up to where no pattern ends: looking again at every slash of a long line would take the square of the time.
    no_pattern: usize,
    pieces: Vec<Piece>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, code_at: 0, open: 0, no_pattern: 0, pieces: Vec::new() }
    }

    fn finish(mut self) -> Pieces<'a> {
        self.end_code(self.text.len());
        Pieces { text: self.text, all: self.pieces }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn code(&mut self, byte: u8) {
        match byte {
            b'(' | b'[' | b'{' => self.open += 1,
            b')' | b']' | b'}' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.at += 1;
    }

    fn end_code(&mut self, end: usize) {
        if self.code_at < end {
            self.pieces.push(Piece { kind: PieceKind::Code, span: self.code_at..end });
        }
    }

    /// Adds a piece; `whole_at` is where it begins with its quotes, `next` where code goes on.
    fn push(&mut self, kind: PieceKind, span: Range<usize>, next: usize, whole_at: usize) {
        self.end_code(whole_at);
        self.pieces.push(Piece { kind, span });
        self.code_at = next;
        self.at = next;
    }

    fn comment_line(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = self.at + rest.find('\n').unwrap_or(rest.len());
        self.push(PieceKind::Comment, self.at..end, end, self.at);
    }

    fn comment_block(&mut self) {
        let rest = self.text.get(self.at + 2..).unwrap_or_default();
        let end = rest.find("*/").map_or(self.text.len(), |found| self.at + 2 + found + 2);
        self.push(PieceKind::Comment, self.at..end, end, self.at);
    }

    /// Passes a text in quotes that ends on its line, and the quote.
    fn skip_quoted(&mut self, quote: u8) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'\n' => break,
                _ => {
                    self.at += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// Where a text ends that began at `start`, without the quote.
    fn before_quote(&self, start: usize, quote: u8) -> usize {
        let is_closed = self.at > start && self.text.as_bytes().get(self.at - 1) == Some(&quote);
        if is_closed { self.at - 1 } else { self.at }
    }

    /// Passes a template text with its expressions, and the quote.
    fn skip_template(&mut self, depth: usize) {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'\\', _) => self.at += 2,
                (b'`', _) => {
                    self.at += 1;
                    return;
                }
                (b'$', Some(b'{')) if depth < MAX_DEPTH => {
                    self.at += 2;
                    self.skip_expression(depth + 1);
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
    }

    fn skip_expression(&mut self, depth: usize) {
        let mut open = 1_usize;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'{' => open += 1,
                b'}' => {
                    open -= 1;
                    if open == 0 {
                        return;
                    }
                }
                b'"' | b'\'' => self.skip_quoted(byte),
                b'`' => self.skip_template(depth),
                _ => {}
            }
        }
    }

    /// Whether a slash begins a pattern and does not divide: behind a value it divides.
    fn begins_pattern(&self) -> bool {
        if self.at < self.no_pattern {
            return false;
        }
        let before = self.text.get(self.code_at..self.at).unwrap_or_default().trim_end();
        match before.bytes().next_back() {
            None => self.pieces.last().is_none_or(|piece| piece.kind == PieceKind::Comment),
            Some(byte) => {
                matches!(
                    byte,
                    b'(' | b',' | b'=' | b':' | b'[' | b'!' | b'&' | b'|' | b'?' | b'{' | b'}' | b';'
                ) || before.ends_with("return")
            }
        }
    }

    /// Passes a pattern, which may hold quotes.
    fn pattern(&mut self) {
        let (start, mut is_class) = (self.at, false);
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    // It was none; the slash alone is passed.
                    self.no_pattern = self.at;
                    self.at = start + 1;
                    return;
                }
                b'\\' => self.at += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
    }

    fn python_text(&mut self, quote: u8) {
        let quote_at = self.at;
        let code = self.text.get(self.code_at..quote_at).unwrap_or_default();
        let bare = code.trim_end_matches(['r', 'R', 'b', 'B', 'u', 'U', 'f', 'F']);
        let prefix = code.get(bare.len()..).unwrap_or_default();
        let is_prefix = prefix.len() <= 2 && !bare.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let prefix = if is_prefix { prefix } else { "" };
        let is_triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let start = quote_at + if is_triple { 3 } else { 1 };
        self.at = start;
        let end = if is_triple {
            self.skip_triple(quote)
        } else {
            self.skip_quoted(quote);
            self.before_quote(start, quote)
        };
        // A long text that begins a statement documents; nothing is done with it.
        let line = self.text.get(..quote_at - prefix.len()).unwrap_or_default();
        let is_first = line.trim_end_matches([' ', '\t']).ends_with('\n') || line.trim().is_empty();
        let kind = if is_triple && is_first && self.open == 0 {
            PieceKind::Comment
        } else if prefix.contains(['f', 'F']) {
            PieceKind::Filled
        } else {
            PieceKind::Plain
        };
        self.push(kind, start..end, self.at, quote_at - prefix.len());
    }

    /// Passes a text in three quotes, and the quotes; gives where it ends.
    fn skip_triple(&mut self, quote: u8) -> usize {
        while let Some(byte) = self.peek(0) {
            if byte == quote && self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
                self.at += 3;
                return self.at - 3;
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        self.at = self.text.len();
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(pieces: &Pieces<'_>) -> Vec<String> {
        let shown = |piece: &Piece| match piece.kind {
            PieceKind::Code => format!("c {}", pieces.of(piece).trim()),
            PieceKind::Comment => format!("# {}", pieces.of(piece).trim()),
            PieceKind::Plain => format!("' {}", pieces.of(piece)),
            PieceKind::Filled => format!("f {}", pieces.of(piece)),
        };
        pieces.all.iter().map(shown).filter(|text| text != "c ").collect()
    }

    #[test]
    fn python_is_taken_apart() {
        let check =
            |text: &str, expect: &[&str]| assert_eq!(show(&Pieces::of_python(text)), expect, "{text:?}");
        check("a = 'b' # c", &["c a =", "' b", "# # c"]);
        check("a(f\"x{y}\", rb'\\'z')", &["c a(", "f x{y}", "c ,", "' \\'z", "c )"]);
        check("def a():\n    \"\"\"Doc 'x'.\"\"\"\n    b", &["c def a():", "# Doc 'x'.", "c b"]);
        check("a = \"\"\"x\n'y\"\"\"", &["c a =", "' x\n'y"]);
        check("a(\n\"\"\"x\"\"\")", &["c a(", "' x", "c )"]);
        check("'a\nc'", &["' a", "c c", "' "]);
        check("buf'x'", &["c buf", "' x"]);
    }

    #[test]
    fn javascript_is_taken_apart() {
        let check =
            |text: &str, expect: &[&str]| assert_eq!(show(&Pieces::of_javascript(text)), expect, "{text:?}");
        check("#!/usr/bin/env node\na('b') // c", &["# #!/usr/bin/env node", "c a(", "' b", "c )", "# // c"]);
        check("a /* 'b' */ c", &["c a", "# /* 'b' */", "c c"]);
        check("`a ${b(`c ${'}'}`)} d` + e", &["f a ${b(`c ${'}'}`)} d", "c + e"]);
        check("x.replace(/[\"'/]/g, 'y')", &["c x.replace(/[\"'/]/g,", "' y", "c )"]);
        check("a / b / 'c'", &["c a / b /", "' c"]);
    }

    #[test]
    fn a_text_knows_the_calls_it_stands_in() {
        let check = |text: &str, expect: &[&str]| {
            let pieces = Pieces::of_python(text);
            let index = pieces.all.iter().position(|piece| pieces.of(piece) == "x").unwrap();
            assert_eq!(pieces.calls_around(index), expect, "{text:?}");
        };
        check("print(requests.get({'a': 'x'}))", &["requests.get", "print"]);
        check("a(b); c = 'x'", &[]);
        check("a(b)\nc = ['x']", &[]);
        check("a(b(1), 'x')", &["a"]);
    }

    #[test]
    fn hostile_texts_end_in_time() {
        for piece in ["`${", "'", "\"\"\"", "/*", "/[", "f'{", "\\", "é`", "(/", "(/[", "#"] {
            let text = format!("{}\n", piece.repeat(60_000));
            assert!(Pieces::of_python(&text).all.len() <= text.len());
            assert!(Pieces::of_javascript(&text).all.len() <= text.len());
        }
    }
}

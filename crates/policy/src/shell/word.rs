//! One word: literal characters, quotes and escapes. Whatever the shell would expand is refused, globs excepted.

use super::Word;
use super::character::{ends_word, refused_bare, refused_quoted};
use super::extent;
use super::reader::Reader;
use super::refusal::{Refusal, RefusalKind};

/// A word as it was read, with what its place in the command decides on.
pub(super) struct RawWord {
    pub(super) word: Word,
    pub(super) quoting: Quoting,
    /// Where the first character stands that makes it a glob.
    pub(super) first_glob: Option<usize>,
    glob_begins: GlobBegins,
}

/// Whether any part of a word was quoted; only a bare one can be a reserved word, a number of a redirection or the
/// delimiter of a here-document that is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Quoted,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GlobBegins {
    Word,
    LaterOrNever,
}

impl RawWord {
    /// The word as an argument, where a glob must not be able to become an option.
    pub(super) fn argument(self, reader: &Reader<'_>) -> Result<Word, Refusal> {
        if self.word.glob && (self.glob_begins == GlobBegins::Word || self.word.text.starts_with('-')) {
            return Err(reader.refuse(RefusalKind::GlobOption, self.word.span));
        }
        Ok(self.word)
    }
}

/// Reads one word. The reader has to be at its first character.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<RawWord, Refusal> {
    let start = reader.at;
    let mut text = String::new();
    let mut quoting = Quoting::Bare;
    let mut first_glob = None;
    let mut glob_begins = GlobBegins::LaterOrNever;
    let mut before = None;
    while let Some(c) = reader.peek().filter(|c| !ends_word(*c)) {
        match c {
            '\'' => {
                quoting = Quoting::Quoted;
                single(reader, &mut text)?;
            }
            '"' => {
                quoting = Quoting::Quoted;
                double(reader, &mut text)?;
            }
            '\\' => {
                quoting = Quoting::Quoted;
                text.push(escaped(reader)?);
            }
            '$' | '`' => return Err(expansion(reader)),
            '{' => braces(reader, &mut text)?,
            '~' if matches!(before, None | Some('=' | ':')) => {
                let end = reader.at + extent::run(reader.rest());
                return Err(reader.refuse(RefusalKind::Tilde, reader.at..end));
            }
            '*' | '?' | '[' => {
                if text.is_empty() {
                    glob_begins = GlobBegins::Word;
                }
                first_glob.get_or_insert(reader.at);
                text.push(c);
                reader.next();
            }
            c => {
                if let Some(kind) = refused_bare(c) {
                    return Err(reader.refuse_next(kind));
                }
                text.push(c);
                reader.next();
            }
        }
        before = Some(c);
    }
    if reader.peek() == Some('(') && matches!(before, Some('?' | '*' | '+' | '@' | '!')) {
        let from = reader.at - 1;
        let end = extent::closed(reader.source, reader.at, '(', ')');
        return Err(reader.refuse(RefusalKind::ExtendedGlob, from..end));
    }
    let span = start..reader.at;
    // A bracket alone is never closed, so it is text; it is also the name of a command.
    if reader.source.get(span.clone()) == Some("[") {
        first_glob = None;
    }
    let word = Word { text, span, glob: first_glob.is_some() };
    Ok(RawWord { word, quoting, first_glob, glob_begins })
}

/// `'…'`: everything up to the next quote is text.
fn single(reader: &mut Reader<'_>, text: &mut String) -> Result<(), Refusal> {
    let start = reader.at;
    reader.next();
    while let Some(c) = reader.peek() {
        if c == '\'' {
            reader.next();
            return Ok(());
        }
        if let Some(kind) = refused_quoted(c) {
            return Err(reader.refuse_next(kind));
        }
        text.push(c);
        reader.next();
    }
    Err(reader.refuse_from(RefusalKind::UnclosedQuote, start))
}

/// `"…"`: text but for `$` and backticks, which expand, and a backslash, which protects four characters.
fn double(reader: &mut Reader<'_>, text: &mut String) -> Result<(), Refusal> {
    let start = reader.at;
    reader.next();
    while let Some(c) = reader.peek() {
        match c {
            '"' => {
                reader.next();
                return Ok(());
            }
            '$' | '`' => return Err(expansion(reader)),
            '\\' => {
                let backslash = reader.at;
                reader.next();
                match reader.peek() {
                    Some('\n') => {
                        reader.next();
                        return Err(reader.refuse_from(RefusalKind::LineContinuation, backslash));
                    }
                    Some(c @ ('$' | '`' | '"' | '\\')) => {
                        text.push(c);
                        reader.next();
                    }
                    _ => text.push('\\'),
                }
            }
            c => {
                if let Some(kind) = refused_quoted(c) {
                    return Err(reader.refuse_next(kind));
                }
                text.push(c);
                reader.next();
            }
        }
    }
    Err(reader.refuse_from(RefusalKind::UnclosedQuote, start))
}

/// A backslash outside quotes and the character it protects.
fn escaped(reader: &mut Reader<'_>) -> Result<char, Refusal> {
    let start = reader.at;
    reader.next();
    match reader.peek() {
        None => Err(reader.refuse_from(RefusalKind::UnfinishedEscape, start)),
        Some('\n') => {
            reader.next();
            Err(reader.refuse_from(RefusalKind::LineContinuation, start))
        }
        Some(c) => {
            // The backslash is easily overlooked before a character that shows nothing, so that one stays refused.
            if let Some(kind) = refused_bare(c) {
                return Err(reader.refuse_next(kind));
            }
            reader.next();
            Ok(c)
        }
    }
}

/// `{…}` that the shell leaves alone: closed, and with nothing inside that could separate alternatives. `find` has `{}`
/// and git has `HEAD@{1}`.
fn braces(reader: &mut Reader<'_>, text: &mut String) -> Result<(), Refusal> {
    let rest = reader.rest();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@' | '^');
    let inside = rest.get(1..).unwrap_or_default();
    let length = inside.find(|c| !plain(c)).unwrap_or(inside.len());
    let (inside, behind) = inside.split_at(length);
    if !behind.starts_with('}') || inside.contains("..") {
        let end = extent::closed(reader.source, reader.at, '{', '}');
        return Err(reader.refuse(RefusalKind::Brace, reader.at..end));
    }
    text.push('{');
    text.push_str(inside);
    text.push('}');
    reader.at += length + 2;
    Ok(())
}

fn expansion(reader: &Reader<'_>) -> Refusal {
    let rest = reader.rest();
    let kind = match rest.get(1..).unwrap_or_default() {
        _ if rest.starts_with('`') => RefusalKind::CommandSubstitution,
        behind if behind.starts_with("((") || behind.starts_with('[') => RefusalKind::Arithmetic,
        behind if behind.starts_with('(') => RefusalKind::CommandSubstitution,
        behind if behind.starts_with('\'') => RefusalKind::EscapeQuote,
        behind if behind.starts_with('"') => RefusalKind::LocaleQuote,
        _ => RefusalKind::Variable,
    };
    reader.refuse(kind, reader.at..reader.at + extent::expansion(rest))
}

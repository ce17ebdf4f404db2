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
    begins_with_glob: bool,
}

/// Whether any part of a word was quoted; only a bare one can be a reserved word, a number of a redirection or the
/// delimiter of a here-document that is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Quoted,
}

impl RawWord {
    /// The word as an argument, where a glob must not be able to become an option.
    pub(super) fn argument(self, reader: &Reader<'_>) -> Result<Word, Refusal> {
        if self.word.glob && (self.begins_with_glob || self.word.text.starts_with('-')) {
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
    let mut glob = false;
    let mut begins_with_glob = false;
    let mut first_brace = None;
    // Asked only behind `=`, `:` or an escape, none of which belongs to a name: the first answer holds, and the beginning of a
    // word is looked at once.
    let mut is_assignment = None;
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
            '$' | '`' => return Err(expansion(reader, Quoting::Bare)),
            // Alone it is a word of the grammar before a command and text behind one.
            '{' if reader.at == start && reader.rest().chars().nth(1).is_none_or(ends_word) => {
                text.push('{');
                reader.next();
            }
            '{' => {
                first_brace.get_or_insert(reader.at);
                braces(reader, &mut text)?;
            }
            '~' if before.is_none()
                || (matches!(before, Some('=' | ':' | '\\'))
                    && *is_assignment.get_or_insert_with(|| begins_assignment(reader, start))) =>
            {
                let end = reader.at + extent::run(reader.rest());
                return Err(reader.refuse(RefusalKind::Tilde, reader.at..end));
            }
            '*' | '?' | '[' => {
                begins_with_glob |= text.is_empty();
                glob = true;
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
    let raw = reader.source.get(span.clone()).unwrap_or_default();
    // Bash looks past the first closing brace for alternatives: `{a},b}` is `a}` and `b`. So next to a brace there must
    // be no comma, no range and no closing brace too many, quoted or not.
    if let Some(at) = first_brace
        && (raw.contains(',') || raw.contains("..") || raw.matches('}').count() != raw.matches('{').count())
    {
        return Err(reader.refuse(RefusalKind::Brace, at..reader.at));
    }
    // A bracket alone is never closed, so it is text; it is also the name of a command.
    if raw == "[" {
        glob = false;
    }
    let word = Word { text, span, glob };
    Ok(RawWord { word, quoting, begins_with_glob })
}

/// Reads a word that is the last part of something that begins at `start`. What cannot be read of it is refused as the
/// whole, since it is the whole that a reader has to change.
pub(super) fn read_part(
    reader: &mut Reader<'_>,
    kind: RefusalKind,
    start: usize,
) -> Result<RawWord, Refusal> {
    let run = reader.at + extent::run(reader.rest());
    read(reader).map_err(|refusal| {
        if refusal.kind.is_about_characters() {
            return refusal;
        }
        reader.refuse(kind, start..run.max(refusal.span.end))
    })
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
            '$' | '`' => return Err(expansion(reader, Quoting::Quoted)),
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

/// Whether a word looks like an assignment, in which bash replaces a `~` behind `=` and `:` even where it is an argument.
fn begins_assignment(reader: &Reader<'_>, start: usize) -> bool {
    let before = reader.source.get(start..reader.at).unwrap_or_default();
    let behind_name = before.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let named = before.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    named && (behind_name.starts_with(['=', '[']) || behind_name.starts_with("+="))
}

/// Refuses the expansion that begins here. `quoting` says whether it stands in double quotes, where `$` before a quote is
/// a `$` alone.
fn expansion(reader: &Reader<'_>, quoting: Quoting) -> Refusal {
    let rest = reader.rest();
    let length = extent::expansion(rest);
    let (kind, length) = match rest.get(1..).unwrap_or_default() {
        _ if rest.starts_with('`') => (RefusalKind::CommandSubstitution, length),
        behind if behind.starts_with("((") || behind.starts_with('[') => (RefusalKind::Arithmetic, length),
        behind if behind.starts_with('(') => (RefusalKind::CommandSubstitution, length),
        behind if behind.starts_with(['\'', '"']) && quoting == Quoting::Quoted => (RefusalKind::Variable, 1),
        behind if behind.starts_with('\'') => (RefusalKind::EscapeQuote, length),
        behind if behind.starts_with('"') => (RefusalKind::LocaleQuote, length),
        _ => (RefusalKind::Variable, length),
    };
    reader.refuse(kind, reader.at..reader.at + length)
}

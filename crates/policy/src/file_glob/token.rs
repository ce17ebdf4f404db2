//! The pieces of a glob.

use metier_diagnostic::name_escape;

/// A piece of a glob.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Bytes that mean themselves.
    Literal(Vec<u8>),
    /// What means more than itself, as the library reads it.
    Special(&'a str),
}

/// Characters that mean themselves in a class of their own: so the library writes what is special.
const ESCAPED: &str = "?*[]{},";

/// Takes a glob apart.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let (mut rest, mut braces) = (text, 0_usize);
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let special = match first {
            '*' | '?' | ']' => true,
            '{' => {
                braces += 1;
                true
            }
            '}' => {
                braces = braces.saturating_sub(1);
                true
            }
            ',' => braces > 0,
            _ => false,
        };
        let (token, after) = match first {
            '\\' => backslash(rest),
            '[' => class(rest),
            c => {
                let (one, after) = rest.split_at(c.len_utf8());
                (if special { Token::Special(one) } else { Token::Literal(one.as_bytes().to_vec()) }, after)
            }
        };
        rest = after;
        Some(token)
    })
}

fn backslash(text: &str) -> (Token<'_>, &str) {
    if let Some((bytes, after)) = name_escape(text) {
        return (Token::Literal(bytes), after);
    }
    // One at the end is for the library to refuse.
    let Some(next) = text[1..].chars().next() else { return (Token::Special(text), "") };
    let (escape, after) = text.split_at(1 + next.len_utf8());
    (Token::Literal(escape.as_bytes()[1..].to_vec()), after)
}

fn class(text: &str) -> (Token<'_>, &str) {
    let mut characters = text.char_indices().skip(1).peekable();
    // A `]` at the beginning is a member.
    let _ = characters.next_if(|(_, c)| matches!(c, '!' | '^'));
    let _ = characters.next();
    // One that is not closed is for the library to refuse.
    let Some((end, _)) = characters.find(|(_, c)| *c == ']') else { return (Token::Special(text), "") };
    let (class, after) = text.split_at(end + 1);
    let mut inside = class[1..class.len() - 1].chars();
    match (inside.next(), inside.next()) {
        (Some(one), None) if ESCAPED.contains(one) => (Token::Literal(one.to_string().into_bytes()), after),
        _ => (Token::Special(class), after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_is_taken_apart_and_nothing_is_lost() {
        let shown = |text| {
            let piece = |token| match token {
                Token::Literal(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Token::Special(special) => format!("<{special}>"),
            };
            tokens(text).map(piece).collect::<String>()
        };
        for (text, expect) in [
            ("a/b", "a/b"),
            ("a*", "a<*>"),
            ("[*][[][]]", "*[]"),
            ("[ab]", "<[ab]>"),
            ("[!]a]x", "<[!]a]>x"),
            ("[]a]", "<[]a]>"),
            ("{a,b},", "<{>a<,>b<}>,"),
            (r"\u{2a}\x2a\*", "***"),
            (r"\u{zz}", "u<{>zz<}>"),
            ("a[", "a<[>"),
            (r"a\", r"a<\>"),
        ] {
            assert_eq!(shown(text), expect, "{text}");
        }
    }
}

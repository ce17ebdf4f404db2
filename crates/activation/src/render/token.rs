//! One token: what stands at a `$` or a `{`, read by its spelling alone.

use metier_skill::Argument;

use super::values::TokenFolder;

/// A token of a body. Which value it has, and whether it has one, is not known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyToken<'a> {
    /// `$ARGUMENTS`
    All,
    /// `$ARGUMENTS[N]`; a number that no list reaches is one that is out of range.
    At(usize),
    /// `$N`
    Digit(usize),
    /// `$name`: the place of a declared argument among the declared ones.
    Named(usize),
    /// A folder, by any of its names.
    Folder(TokenFolder),
    /// `${SESSION_ID}`
    Session,
    /// `${env:NAME}`
    Environment(&'a str),
}

/// A character that goes on with a name. ASCII alone, so that a token ends before `ä` as it does before `-`.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Tokens in `${…}`.
const BRACED: &[(&str, BodyToken<'static>)] = &[
    ("SKILL_DIR", BodyToken::Folder(TokenFolder::Skill)),
    ("CLAUDE_SKILL_DIR", BodyToken::Folder(TokenFolder::Skill)),
    ("CLAUDE_SKILL_ROOT", BodyToken::Folder(TokenFolder::Skill)),
    ("CLAUDE_PLUGIN_ROOT", BodyToken::Folder(TokenFolder::Plugin)),
    ("SKILL_DATA", BodyToken::Folder(TokenFolder::Data)),
    ("CLAUDE_PLUGIN_DATA", BodyToken::Folder(TokenFolder::SharedData)),
    ("SESSION_ID", BodyToken::Session),
    ("CLAUDE_SESSION_ID", BodyToken::Session),
    ("PROJECT_DIR", BodyToken::Folder(TokenFolder::Project)),
    ("CLAUDE_PROJECT_DIR", BodyToken::Folder(TokenFolder::Project)),
];

/// Tokens that begin with a brace.
const BARE: &[(&str, BodyToken<'static>)] = &[
    ("{baseDir}", BodyToken::Folder(TokenFolder::Skill)),
    ("{{SKILL_DIR}}", BodyToken::Folder(TokenFolder::Skill)),
];

/// The token with which `text` begins, and how many bytes it has.
pub(crate) fn read<'a>(text: &'a str, declared: &[Argument]) -> Option<(BodyToken<'a>, usize)> {
    match text.as_bytes() {
        [b'$', b'{', ..] => braced(text),
        [b'$', ..] => dollar(text, declared),
        [b'{', ..] => {
            BARE.iter().find(|(token, _)| text.starts_with(token)).map(|(token, is)| (*is, token.len()))
        }
        _ => None,
    }
}

/// `${NAME}` with any name, and how many bytes it has.
pub(crate) fn braced_name(text: &str) -> Option<(&str, usize)> {
    let inside = text.strip_prefix("${")?;
    let length = inside.bytes().take_while(|byte| is_word(*byte)).count();
    let is_name = inside.as_bytes().get(length) == Some(&b'}')
        && inside.bytes().next().is_some_and(|byte| !byte.is_ascii_digit() && byte != b'}');
    is_name.then(|| (&inside[..length], length + 3))
}

/// `${env:…}` with anything that ends on the same line, and how many bytes it has.
pub(crate) fn environment_like(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("${env:")?;
    let end = inside.find(['}', '{', '\n'])?;
    inside[end..].starts_with('}').then_some("${env:".len() + end + 1)
}

fn braced(text: &str) -> Option<(BodyToken<'_>, usize)> {
    if let Some((name, length)) = braced_name(text) {
        return BRACED.iter().find(|(known, _)| *known == name).map(|(_, token)| (*token, length));
    }
    let inside = text.strip_prefix("${env:")?;
    let length = inside.bytes().take_while(|byte| is_word(*byte)).count();
    let name = &inside[..length];
    let is_name = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
        && inside.as_bytes().get(length) == Some(&b'}');
    is_name.then(|| (BodyToken::Environment(name), "${env:".len() + length + 1))
}

fn dollar<'a>(text: &'a str, declared: &[Argument]) -> Option<(BodyToken<'a>, usize)> {
    let bytes = text.as_bytes();
    let behind = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    if text.starts_with(ALL) && !is_word(behind(ALL.len())) {
        return Some(subscript(text).unwrap_or((BodyToken::All, ALL.len())));
    }
    if let digit @ b'0'..=b'9' = behind(1) {
        let next = behind(2);
        // `$5.00` and `$1,000` are prices, `$10` and `$1abc` something else.
        let is_number = matches!(next, b'.' | b',') && behind(3).is_ascii_digit();
        if !is_word(next) && !is_number {
            return Some((BodyToken::Digit(usize::from(digit - b'0')), 2));
        }
    }
    // The longest, since `pr` may be declared beside `pr-number`.
    let name = &text[1..];
    let fits = |argument: &Argument| {
        let length = argument.name.len();
        !argument.name.is_empty() && name.starts_with(&argument.name) && !is_word(behind(length + 1))
    };
    let (place, argument) = declared
        .iter()
        .enumerate()
        .filter(|(_, argument)| fits(argument))
        // Of two that are called alike the first counts.
        .max_by_key(|(place, argument)| (argument.name.len(), std::cmp::Reverse(*place)))?;
    Some((BodyToken::Named(place), argument.name.len() + 1))
}

const ALL: &str = "$ARGUMENTS";

/// `$ARGUMENTS[N]`
fn subscript(text: &str) -> Option<(BodyToken<'_>, usize)> {
    let inside = text.strip_prefix("$ARGUMENTS[")?;
    let length = inside.bytes().take_while(u8::is_ascii_digit).count();
    let is_closed = length > 0 && inside.as_bytes().get(length) == Some(&b']');
    is_closed.then(|| (BodyToken::At(inside[..length].parse().unwrap_or(usize::MAX)), ALL.len() + length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(names: &[&str]) -> Vec<Argument> {
        let argument = |name: &&str| Argument { name: (*name).to_owned(), description: None, default: None };
        names.iter().map(argument).collect()
    }

    fn check(text: &str, expect: Option<(BodyToken<'_>, &str)>) {
        let declared = declared(&["pr", "pr-number", "ARGUMENTSX", "1st", "größe", "pr"]);
        let found = read(text, &declared).map(|(token, length)| (token, &text[..length]));
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn every_token_is_read_to_its_end() {
        check("$ARGUMENTS", Some((BodyToken::All, "$ARGUMENTS")));
        check("$ARGUMENTS.", Some((BodyToken::All, "$ARGUMENTS")));
        check("$ARGUMENTSé", Some((BodyToken::All, "$ARGUMENTS")));
        check("$ARGUMENTS[12]x", Some((BodyToken::At(12), "$ARGUMENTS[12]")));
        check(
            "$ARGUMENTS[99999999999999999999999]",
            Some((BodyToken::At(usize::MAX), "$ARGUMENTS[99999999999999999999999]")),
        );
        check("$0", Some((BodyToken::Digit(0), "$0")));
        check("$5.", Some((BodyToken::Digit(5), "$5")));
        check("$5,x", Some((BodyToken::Digit(5), "$5")));
        check("$pr.", Some((BodyToken::Named(0), "$pr")));
        check("$pr-number", Some((BodyToken::Named(1), "$pr-number")));
        check("$pr-numbers", Some((BodyToken::Named(0), "$pr")));
        check("$ARGUMENTSX", Some((BodyToken::Named(2), "$ARGUMENTSX")));
        check("$1st", Some((BodyToken::Named(3), "$1st")));
        check("$größe!", Some((BodyToken::Named(4), "$größe")));
        check("${SKILL_DIR}/x", Some((BodyToken::Folder(TokenFolder::Skill), "${SKILL_DIR}")));
        check("{baseDir}/x", Some((BodyToken::Folder(TokenFolder::Skill), "{baseDir}")));
        check("{{SKILL_DIR}}/x", Some((BodyToken::Folder(TokenFolder::Skill), "{{SKILL_DIR}}")));
        check(
            "${CLAUDE_PLUGIN_ROOT}",
            Some((BodyToken::Folder(TokenFolder::Plugin), "${CLAUDE_PLUGIN_ROOT}")),
        );
        check("${CLAUDE_SESSION_ID}", Some((BodyToken::Session, "${CLAUDE_SESSION_ID}")));
        check("${env:HOME_2}", Some((BodyToken::Environment("HOME_2"), "${env:HOME_2}")));
    }

    #[test]
    fn what_only_looks_like_a_token_is_none() {
        check("$ARGUMENTS[x]", Some((BodyToken::All, "$ARGUMENTS")));
        check("$ARGUMENTS[", Some((BodyToken::All, "$ARGUMENTS")));
        check("$ARGUMENTS[]", Some((BodyToken::All, "$ARGUMENTS")));
        check("$ARGUMENTS[1", Some((BodyToken::All, "$ARGUMENTS")));
        for text in [
            "$",
            "$$",
            "$ARGUMENTS_2",
            "$ARGUMENTS2",
            "$ARGUMENT",
            "$arguments",
            "$10",
            "$1abc",
            "$1_",
            "$5.00",
            "$1,000",
            "$prs",
            "$other",
            "${}",
            "${SKILL_DIR",
            "${SKILL_DIR:-x}",
            "${skill_dir}",
            "${ARGUMENTS}",
            "${pr}",
            "${1}",
            "${env:}",
            "${env:my-var}",
            "${env:1A}",
            "${env:A",
            "{basedir}",
            "{SKILL_DIR}",
            "{{ SKILL_DIR }}",
            "{",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn names_in_braces_are_told_from_other_expansions() {
        assert_eq!(braced_name("${HOME}/x"), Some(("HOME", 7)));
        for text in ["${}", "${1}", "${A:-b}", "${A", "$A", "${A B}"] {
            assert_eq!(braced_name(text), None, "{text}");
        }
        assert_eq!(environment_like("${env:my-var} x"), Some(13));
        for text in ["${env:a\n}", "${env:${A}}", "${env:a"] {
            assert_eq!(environment_like(text), None, "{text}");
        }
    }
}

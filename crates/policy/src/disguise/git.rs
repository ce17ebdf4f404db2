//! What git starts: its aliases, and the commands that run others.

/// Something that a git command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runs<'a> {
    /// A text, as a line of a shell.
    Text(&'a str),
    /// A text that is words of git's own.
    Own(&'a str),
    /// Words, as they are.
    Words(Vec<&'a str>),
    /// A setting whose value may be a line of a shell, as `core.pager` is.
    Setting(&'a str),
}

/// What git would run, given these words behind its name.
pub(super) fn runs<'a>(rest: &[&'a str]) -> Vec<Runs<'a>> {
    let mut found = Vec::new();
    let has = |name: &str| rest.contains(&name);
    let takes_line = has("rebase") || has("difftool");
    for (at, word) in rest.iter().copied().enumerate() {
        let next = rest.get(at + 1).copied();
        let before = at.checked_sub(1).and_then(|at| rest.get(at)).copied();
        match word {
            "-c" => found.extend(next.and_then(setting)),
            "-x" | "--exec" | "--extcmd" if takes_line => found.extend(next.map(Runs::Text)),
            "foreach" if before == Some("submodule") => found.extend(behind(rest, at)),
            "run" if before == Some("bisect") => found.extend(behind(rest, at)),
            word if word.starts_with("--") && word.ends_with("-filter") => {
                found.extend(next.map(Runs::Text));
            }
            word if takes_line => {
                let text = word.strip_prefix("--exec=").or_else(|| word.strip_prefix("--extcmd="));
                found.extend(text.map(Runs::Text));
            }
            _ => {}
        }
    }
    found
}

/// `alias.x=!line`, `alias.x=words of git's`, or any other setting.
fn setting(given: &str) -> Option<Runs<'_>> {
    let (key, value) = given.split_once('=')?;
    let is_alias = key.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("alias."));
    Some(match value.strip_prefix('!') {
        Some(line) if is_alias => Runs::Text(line),
        _ if is_alias => Runs::Own(value),
        _ => Runs::Setting(value),
    })
}

/// What stands behind a word: one word is a line, several are words.
fn behind<'a>(rest: &[&'a str], at: usize) -> Option<Runs<'a>> {
    let words: Vec<&str> =
        rest.get(at + 1..)?.iter().copied().skip_while(|word| word.starts_with('-')).collect();
    match words.as_slice() {
        [] => None,
        [line] => Some(Runs::Text(line)),
        _ => Some(Runs::Words(words)),
    }
}

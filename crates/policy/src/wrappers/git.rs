//! What git starts: its aliases, its settings, and the commands that run others.

use super::setting::is_run;

/// Something that a git command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Runs<'a> {
    /// A text, as a line of a shell.
    Text(&'a str),
    /// The command of an `ext::` transport.
    Transport(&'a str),
    /// A text that is words of git's own.
    Own(&'a str),
    /// Words, as they are.
    Words(Vec<&'a str>),
    /// A text to which git adds further words.
    Program(&'a str),
    /// A setting whose value may be a line of a shell, as `core.pager` is.
    Setting(&'a str),
    /// A setting whose value is in the environment.
    Unread,
}

/// Long options whose value is a program, on whichever subcommand. Git takes the beginning of a name for the name.
const PROGRAMS: &[&str] = &["upload-pack", "receive-pack", "exec", "open-files-in-pager", "extcmd"];

/// What git would run, given these words after its name.
pub(super) fn runs<'a>(rest: &[&'a str]) -> Vec<Runs<'a>> {
    let mut found = Vec::new();
    let has = |name: &str| rest.contains(&name);
    let takes_line = has("rebase") || has("difftool");
    for (at, word) in rest.iter().copied().enumerate() {
        let next = rest.get(at + 1).copied();
        let before = at.checked_sub(1).and_then(|at| rest.get(at)).copied();
        // A remote of the transport that is a command.
        if let Some((_, line)) = word.split_once("ext::") {
            found.push(Runs::Transport(line));
        }
        if let Some(option) = word.strip_prefix("--") {
            found.extend(long(option, next));
            continue;
        }
        match word {
            "-c" => found.extend(next.and_then(setting)),
            "foreach" if before == Some("submodule") => found.extend(command_after(rest, at)),
            "run" if before == Some("bisect") => found.extend(command_after(rest, at)),
            // `clone -u`, `fetch-pack`, `ls-remote`; `push -u` only names a branch, which no rule denies.
            "-u" => found.extend(next.map(Runs::Program)),
            word if word.starts_with("-c") && word.contains('=') => {
                found.extend(word.get(2..).and_then(setting));
            }
            word if word.starts_with("-u") => found.extend(word.get(2..).map(Runs::Program)),
            word if takes_line && is_bundle(word, 'x') => {
                found.extend(attached(word, 'x').or(next).map(Runs::Text));
            }
            word if has("grep") && is_bundle(word, 'O') => {
                found.extend(attached(word, 'O').map(Runs::Program));
            }
            word if has("config") => found.push(Runs::Setting(word)),
            _ => {}
        }
    }
    found
}

fn is_bundle(word: &str, letter: char) -> bool {
    word.starts_with('-') && word.contains(letter)
}

/// What is attached to a letter of a bundle.
fn attached(word: &str, letter: char) -> Option<&str> {
    word.split_once(letter).map(|(_, value)| value).filter(|value| !value.is_empty())
}

/// What a long option runs.
fn long<'a>(option: &'a str, next: Option<&'a str>) -> Option<Runs<'a>> {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, next),
    };
    let value = value?;
    if name == "config-env" {
        return is_setting_run(value).then_some(Runs::Unread);
    }
    if name == "config" {
        return setting(value);
    }
    if name.ends_with("-filter") || name == "setup" {
        return Some(Runs::Text(value));
    }
    if name.len() > 2 && PROGRAMS.iter().any(|own| own.starts_with(name)) {
        return Some(Runs::Program(value));
    }
    is_run(name).then_some(Runs::Setting(value))
}

fn is_setting_run(given: &str) -> bool {
    is_run(given.split_once('=').map_or(given, |(key, _)| key))
}

/// `alias.x=!line`, `alias.x=words of git's`, or any other setting.
fn setting(given: &str) -> Option<Runs<'_>> {
    let (key, value) = given.split_once('=')?;
    let is_alias = key.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("alias."));
    Some(match value.strip_prefix('!') {
        Some(line) if is_alias => Runs::Text(line),
        _ if is_alias => Runs::Own(value),
        _ => Runs::Setting(given),
    })
}

/// The command after a word: one word is a line, several are words.
fn command_after<'a>(rest: &[&'a str], at: usize) -> Option<Runs<'a>> {
    let words: Vec<&str> =
        rest.get(at + 1..)?.iter().copied().skip_while(|word| word.starts_with('-')).collect();
    match words.as_slice() {
        [] => None,
        [line] => Some(Runs::Text(line)),
        _ => Some(Runs::Words(words)),
    }
}

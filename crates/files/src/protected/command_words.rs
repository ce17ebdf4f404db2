//! The words of a command line in git's configuration that can be files.

use std::collections::BTreeSet;

/// Programs that run a file which is given to them, whatever it is called.
const INTERPRETERS: &[&str] = &[
    "ash", "awk", "bash", "bun", "busybox", "command", "dash", "deno", "env", "exec", "fish", "java", "ksh",
    "lua", "make", "nice", "node", "nohup", "npx", "perl", "php", "pwsh", "ruby", "sed", "setsid", "sh",
    "source", "stdbuf", "sudo", "time", "timeout", "tsx", "uv", "xargs", "zsh",
];

/// How often a word that is a command line itself is taken apart: `sh -c "tools/x 'a b'"`.
const MAX_NESTING: usize = 3;

/// A word that may be a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileWord {
    pub(super) path: String,
    /// It counts only where there is such a file: a bare word is more often a word.
    pub(super) if_present: bool,
}

/// The words of a command line that can be files.
pub(super) fn file_words(line: &str) -> BTreeSet<FileWord> {
    let mut found = BTreeSet::new();
    let line = line.strip_prefix('!').unwrap_or(line);
    // A path with spaces that is not quoted: git runs `gpg.program` without a shell.
    add(line, Role { is_program: true, is_run: false }, line, &mut found);
    collect(line, line, MAX_NESTING, &mut found);
    found
}

/// What a word is in its command.
#[derive(Clone, Copy)]
struct Role {
    /// The shell looks for it on the search path, not in the current folder.
    is_program: bool,
    /// The program before it runs files.
    is_run: bool,
}

fn collect(line: &str, whole: &str, nesting: usize, found: &mut BTreeSet<FileWord>) {
    let (mut is_program, mut is_run) = (true, false);
    for token in tokens(line) {
        let Token::Word(word) = token else {
            (is_program, is_run) = (true, false);
            continue;
        };
        add(&word, Role { is_program, is_run }, whole, found);
        if let Some((_, value)) = word.split_once('=') {
            add(value, Role { is_program: false, is_run }, whole, found);
        }
        // A program with a space in its name is quoted as well.
        let is_line =
            word.contains(['(', ')', '|', ';', '&', '`']) || !is_program && word.contains([' ', '\t']);
        if nesting > 0 && is_line {
            collect(&word, whole, nesting - 1, found);
        }
        // `A=b program` and `{ program; }` do not begin with the program.
        if is_program && !word.contains('=') && word != "{" {
            let name = word.rsplit('/').next().unwrap_or(&word);
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            is_run = INTERPRETERS.contains(&name) || name.starts_with("python") || word == ".";
            is_program = false;
        }
    }
}

fn add(word: &str, role: Role, whole: &str, found: &mut BTreeSet<FileWord>) {
    if word.is_empty() || word.ends_with('/') {
        return;
    }
    let mut keep = |path: &str, if_present| found.insert(FileWord { path: path.to_owned(), if_present });
    if word.contains('/') {
        keep(word, false);
        // `$TOP/tools/x`, `$(git rev-parse --show-toplevel)/tools/x`: most such variables are the top of the project.
        if whole.contains(['$', '`']) {
            let rest = if word.starts_with('$') { word.split_once('/').map(|(_, rest)| rest) } else { None };
            let rest = rest.or_else(|| word.strip_prefix('/')).filter(|rest| !rest.is_empty());
            rest.map(|rest| keep(rest, false));
        }
    } else if !role.is_program && !word.starts_with('-') {
        let has_extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty() && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        });
        keep(word, !(role.is_run || has_extension));
    }
}

enum Token {
    Word(String),
    /// What follows is another command.
    Break,
}

/// Words as a shell splits them, without expanding anything.
fn tokens(line: &str) -> Vec<Token> {
    let (mut tokens, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t' | '<' | '>') => tokens.extend(word.take().map(Token::Word)),
            (None, ';' | '&' | '|' | '(' | ')' | '`' | '\n') => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Break);
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, sure: &[&str], if_present: &[&str]) {
        let words = file_words(line);
        let of = |wanted: bool| -> Vec<&str> {
            words.iter().filter(|word| word.if_present == wanted).map(|word| word.path.as_str()).collect()
        };
        for word in sure {
            assert!(of(false).contains(word), "{line}: {words:?}");
        }
        assert_eq!(of(true), if_present, "{line}");
    }

    #[test]
    fn files_are_found_in_every_form_of_a_command() {
        check("tools/fsm", &["tools/fsm"], &[]);
        check("\"tools/ed x\" -f", &["tools/ed x"], &[]);
        check("'tools/ed x' -f", &["tools/ed x"], &[]);
        check(r"tools/ed\ x", &["tools/ed x"], &[]);
        check("/opt/my tools/gpg", &["/opt/my tools/gpg"], &[]);
        check("!sh run && ./b", &["run", "./b"], &[]);
        check("!f() { a/x \"$@\"; }; f", &["a/x"], &["$@"]);
        check("python3 clean.py %f", &["clean.py"], &[]);
        check("A=1 sh -c \"tools/x 'a b'\"", &["tools/x"], &["1", "a b", "b"]);
        check("ssh -F conf/ssh --key=keys/a", &["conf/ssh", "keys/a"], &[]);
        check("\"$(git rev-parse --show-toplevel)/tools/top\"", &["tools/top"], &["rev-parse"]);
        check("$TOP/tools/top", &["tools/top"], &[]);
    }

    #[test]
    fn words_of_ordinary_commands_are_not_files() {
        for (line, if_present) in [
            ("true", &[][..]),
            ("store", &[]),
            ("less -R", &[]),
            ("git-lfs clean -- %f", &["%f", "clean"]),
            ("git status", &["status"]),
        ] {
            check(line, &[], if_present);
            assert!(file_words(line).iter().all(|word| word.if_present), "{line}");
        }
    }
}

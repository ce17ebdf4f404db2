//! The options of a shell, which each shell reads in its own way.

use super::argument::{Argument, is_input};

/// The words of a shell, as far as they say what it runs.
#[derive(Debug, Default)]
pub(super) struct ShellWords {
    /// `-c`: the first operand is a line.
    pub(super) takes_line: bool,
    /// `-s`: it reads its input, whatever the operands are.
    pub(super) reads_input: bool,
    /// `--rcfile /dev/stdin`.
    pub(super) reads_file: bool,
    /// The index of the first operand.
    pub(super) operand: usize,
}

/// Long options of bash, which takes them with one dash, too.
const SHELL_LONG: &[&str] = &[
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "init-file",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "protected",
    "rcfile",
    "restricted",
    "verbose",
    "version",
    "wordexp",
];

impl ShellWords {
    /// Reads them; nothing where they make the shell print something and end.
    pub(super) fn read(rest: &[Argument]) -> Option<Self> {
        let mut found = Self::default();
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            let text = word.text.as_str();
            at += 1;
            let long = text.strip_prefix("--").filter(|name| !name.is_empty());
            let long = long.or_else(|| text.strip_prefix('-').filter(|name| SHELL_LONG.contains(name)));
            match (text, long) {
                ("-" | "--", _) => break,
                (_, Some("version" | "help" | "dump-strings" | "dump-po-strings")) => return None,
                (_, Some("rcfile" | "init-file")) => {
                    found.reads_file |= rest.get(at).is_some_and(|file| is_input(&file.text));
                    at += 1;
                }
                // fish: the value is the line.
                (_, Some(name))
                    if name == "command"
                        || name.starts_with("command=")
                        || name.starts_with("init-command") =>
                {
                    found.takes_line = true;
                }
                (_, Some(_)) => {}
                (text, None) if text.len() > 1 && text.starts_with(['-', '+']) => {
                    let letters = text.get(1..).unwrap_or_default();
                    found.takes_line |=
                        text.starts_with('-') && letters.contains(['c', 'C']) && !letters.starts_with('C')
                            || letters.starts_with('C') && text.len() > 2;
                    found.reads_input |= text.starts_with('-') && letters.contains('s');
                    // Each takes the name of a setting from the words after it.
                    at += letters.matches(['o', 'O']).count();
                }
                _ => {
                    at -= 1;
                    break;
                }
            }
        }
        found.operand = at;
        Some(found)
    }
}

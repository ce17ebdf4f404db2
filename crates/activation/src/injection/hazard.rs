//! Where a shell would read a value as a program.

use metier_shell::starts_program;

/// Why a command with values in it is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsafeCommand {
    /// A builtin that runs its words, assigns to names in them or computes them.
    #[error("`{0}` reads its words as a program or as names of variables")]
    Evaluated(String),
    /// A program that is given its program as a word or on its input.
    #[error("`{0}` is given its program as text")]
    NestedProgram(String),
    /// `$((…))`, `((…))`, subscripts, offsets and number comparisons in `[[ … ]]`: bash computes what a variable holds.
    #[error("arithmetic of the shell computes what a value says")]
    Arithmetic,
    /// A here-document, in which quotes have another meaning.
    #[error("a here-document is in it")]
    HereDocument,
    /// A token inside `${…}`.
    #[error("a value stands inside `${{…}}`")]
    Expansion,
    /// A token inside backticks, where a backslash has another meaning.
    #[error("a value stands inside backticks")]
    Backticks,
    /// An argument is the name of the program.
    #[error("an argument would choose the program that runs")]
    Program,
    /// The shell makes the name of the program: by a variable, a substitution, a glob. It may be `eval`, or nothing at all, and
    /// then the next word is the program.
    #[error("which program runs is not known from its text")]
    Unknown,
    /// A quote or a parenthesis that is not closed, or a `case` inside a substitution.
    #[error("its quotes and parentheses cannot be followed to the end")]
    Unreadable,
}

/// Builtins of bash that run text, assign to a name that a word says, or compute a subscript in it. All of them would run
/// `$(…)` that a value brings along.
const EVALUATES: &[&str] = &[
    "alias",
    "bind",
    "compgen",
    "complete",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "trap",
    "typeset",
    "unset",
    ".",
    "source",
];

/// Shells.
const SHELLS: &[&str] = &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"];

/// Programs that hand their words to a shell.
const HANDERS: &[&str] = &["at", "batch", "parallel", "script", "ssh", "su", "watch"];

/// Interpreters that take a program as a word, and the options that announce it.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("awk", &["-e", "--source"]),
    ("bun", &["-e", "--eval", "-p", "--print"]),
    ("deno", &["eval"]),
    ("lua", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("perl", &["-e", "-E", "-ne", "-pe", "-le", "-lne"]),
    ("php", &["-r"]),
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("ruby", &["-e", "-ne", "-pe"]),
];

/// A word of a simple command, as far as it is literal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its literal characters, quotes removed.
    pub(super) text: String,
    /// Whether a value stands in it.
    pub(super) has_value: bool,
    /// Whether the shell makes a part of it.
    pub(super) is_expanded: bool,
}

/// What of a simple command would read a value as a program.
pub(super) fn of_command(words: &[Word]) -> Option<UnsafeCommand> {
    let (first, rest) = words.split_first()?;
    let name = base(&first.text);
    if is_made(first) && !matches!(first.text.as_str(), "[" | "[[" | "{") {
        return Some(UnsafeCommand::Unknown);
    }
    let nested = || Some(UnsafeCommand::NestedProgram(name.to_owned()));
    if words.iter().any(|word| word.text == "eval") {
        return Some(UnsafeCommand::Evaluated("eval".to_owned()));
    }
    if EVALUATES.contains(&name) || is_assigning(name, rest) {
        return Some(UnsafeCommand::Evaluated(name.to_owned()));
    }
    if name == "[[" && rest.iter().any(|word| is_number_test(&word.text)) {
        return Some(UnsafeCommand::Arithmetic);
    }
    if HANDERS.contains(&name) {
        return nested();
    }
    let starts = starts_program(name);
    if starts && rest.iter().any(is_made) {
        return Some(UnsafeCommand::Unknown);
    }
    if starts && rest.iter().any(|word| EVALUATES.contains(&word.text.as_str())) {
        return nested();
    }
    for (at, word) in words.iter().enumerate() {
        let (program, behind) = (base(&word.text), words.get(at + 1..).unwrap_or_default());
        let is_shell = SHELLS.contains(&program) && !word.has_value;
        if is_shell && reads_text(behind, at == 0 || starts) {
            return Some(UnsafeCommand::NestedProgram(program.to_owned()));
        }
        let options = INTERPRETERS.iter().find(|(known, _)| *known == program).map(|(_, options)| *options);
        for (option, text) in behind.iter().zip(behind.iter().skip(1)) {
            if text.has_value && options.is_some_and(|options| options.contains(&option.text.as_str())) {
                return Some(UnsafeCommand::NestedProgram(program.to_owned()));
            }
        }
    }
    None
}

/// Whether a shell with these words behind it runs text: of a word, or of its input. `bash FILE …` runs a file, as long as
/// no value says which.
fn reads_text(words: &[Word], is_program: bool) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            _ if word.has_value && !word.text.starts_with('/') => return is_program,
            text if is_made(word) && !text.contains('/') => return is_program,
            "-o" | "+o" => drop(words.next()),
            "--" => {}
            text if text.starts_with(['-', '+']) => {
                if text.len() == 1 || !text[1..].chars().all(|option| "euxvfnl".contains(option)) {
                    return is_program || text.contains('c');
                }
            }
            _ => return false,
        }
    }
    is_program
}

/// `printf -v NAME` assigns; `test -v NAME` and `-R` compute the subscript of a name.
fn is_assigning(name: &str, words: &[Word]) -> bool {
    let says = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
    match name {
        "printf" => words.first().is_some_and(|word| word.text.starts_with("-v") || word.has_value),
        "test" | "[" | "[[" => says(&["-v", "-R"]),
        _ => false,
    }
}

fn is_number_test(text: &str) -> bool {
    matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// Whether the shell makes a word of what is written: by expanding it, or by looking for files.
fn is_made(word: &Word) -> bool {
    word.is_expanded || word.text.contains(['*', '?', '[', '{', '~'])
}

fn base(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words with a `%` where a value stands.
    fn check(line: &str, expect: Option<&UnsafeCommand>) {
        let word = |text: &str| Word {
            text: text.replace('%', ""),
            has_value: text.contains('%'),
            is_expanded: text.contains('$'),
        };
        let words: Vec<Word> = line.split(' ').map(word).collect();
        assert_eq!(of_command(&words).as_ref(), expect, "{line}");
    }

    #[test]
    fn what_runs_its_words_is_known() {
        let evaluated = |name: &str| UnsafeCommand::Evaluated(name.to_owned());
        let nested = |name: &str| UnsafeCommand::NestedProgram(name.to_owned());
        check("eval %", Some(&evaluated("eval")));
        check("command eval %", Some(&evaluated("eval")));
        check("export %", Some(&evaluated("export")));
        check("builtin export %", Some(&nested("builtin")));
        check("printf -v x %", Some(&evaluated("printf")));
        check("printf %", Some(&evaluated("printf")));
        check("test -v %", Some(&evaluated("test")));
        check("[[ % -eq 1 ]]", Some(&UnsafeCommand::Arithmetic));
        check("sh -c %", Some(&nested("sh")));
        check("/bin/bash -ec %", Some(&nested("bash")));
        check("bash -s %", Some(&nested("bash")));
        check("bash %", Some(&nested("bash")));
        check("bash", Some(&nested("bash")));
        check("xargs sh -c %", Some(&nested("sh")));
        check("env bash", Some(&nested("bash")));
        check("git bash -c x", Some(&nested("bash")));
        check("python3 -c %", Some(&nested("python3")));
        check("timeout 5 python3 -c %", Some(&nested("python3")));
        check("node -e %", Some(&nested("node")));
        check("ssh host %", Some(&nested("ssh")));
        check("$x let %", Some(&UnsafeCommand::Unknown));
        check("/bin/ev* %", Some(&UnsafeCommand::Unknown));
        check("command $x %", Some(&UnsafeCommand::Unknown));
        check("bash $x %", Some(&nested("bash")));
    }

    #[test]
    fn what_gets_its_words_as_words_is_fine() {
        for line in [
            "git log % $x",
            "bash $SKILL_DIR/run.sh %",
            "bash scripts/run.sh %",
            "bash -eu scripts/run.sh %",
            "bash -o pipefail scripts/run.sh %",
            "bash /%/scripts/run.sh x",
            "echo bash",
            "python3 -c print %",
            "python3 scripts/a.py %",
            "printf fmt %",
            "[[ % == x ]]",
            "test -f %",
            "gh pr view % --json title",
            "git config x source",
        ] {
            check(line, None);
        }
    }
}

//! A command that a rule denies, under another coat.
//!
//! A deny rule for `rm` is written by somebody who wants `rm` not to run, and `/bin/rm`, `env rm` and `sh -c 'rm x'` run
//! it. The coats that people and models use without a second thought are looked under here. It is no wall: a program can
//! start any other by means that no line shows. What holds then is the containment.

use crate::CommandPattern;
use crate::shell;

/// What a rule that narrows has to do with a part of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Nothing.
    No,
    /// That cannot be said, and why.
    Unsure(String),
    /// It is about this.
    Yes,
}

/// Programs that start the program named behind them.
const WRAPPERS: &[&str] = &[
    "busybox",
    "catchsegv",
    "chroot",
    "chrt",
    "command",
    "dbus-run-session",
    "doas",
    "env",
    "exec",
    "fakeroot",
    "find",
    "flock",
    "gosu",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "npx",
    "nsenter",
    "numactl",
    "parallel",
    "pkexec",
    "prlimit",
    "proot",
    "runuser",
    "setarch",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "su-exec",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// The loader of programs by the beginnings of its names: it starts the program named behind it, too.
const LOADERS: &[&str] = &["ld-linux", "ld-musl", "ld.so", "ld64.so"];

/// Shells, which run a text given with `-c`, and programs that hand such a text to one.
const SHELLS: &[&str] =
    &["ash", "bash", "dash", "fish", "flock", "ksh", "mksh", "rbash", "runuser", "script", "sh", "su", "zsh"];

/// Programs that take a word with blanks in it for a line of their own.
const READERS: &[&str] = &["parallel", "watch"];

/// How many shells inside each other are looked into. Nobody writes more by hand.
const DEEPEST: usize = 4;

/// How many words of one command that could be a shell are looked into; each look reads the rest of the command.
const MOST_LOOKS: usize = 8;

/// What a pattern has to do with a simple command.
pub(crate) fn touches(pattern: &CommandPattern, command: &shell::Command) -> Touch {
    if pattern.matches(command) {
        return Touch::Yes;
    }
    let argv: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    match touches_argv(pattern, &argv) {
        Touch::No if pattern.could_match(command) => {
            Touch::Unsure("a glob in it may become a word of the rule".to_owned())
        }
        touch => touch,
    }
}

/// The same for words that are started as they are.
pub(crate) fn touches_argv(pattern: &CommandPattern, argv: &[&str]) -> Touch {
    under(pattern, argv, DEEPEST)
}

fn under(pattern: &CommandPattern, argv: &[&str], depth: usize) -> Touch {
    let Some((program, rest)) = argv.split_first() else { return Touch::No };
    if pattern.matches_argv(argv) || is_by_name(pattern, argv) {
        return Touch::Yes;
    }
    let program = base(program);
    let is_loader = LOADERS.iter().any(|name| program.starts_with(name));
    if is_loader || WRAPPERS.contains(&program) {
        let mut looks = MOST_LOOKS;
        for at in 0..rest.len() {
            let inner = rest.get(at..).unwrap_or_default();
            if pattern.matches_argv(inner) || is_by_name(pattern, inner) {
                return Touch::Yes;
            }
            // A shell behind a wrapper is looked into from where it stands. It may be no more than a file's name, so what
            // stands behind it is looked at, too.
            if looks > 0 && inner.first().is_some_and(|word| SHELLS.contains(&base(word))) {
                looks -= 1;
                match inside(pattern, inner, depth) {
                    Touch::No => {}
                    touch => return touch,
                }
            }
        }
    }
    for text in texts(program, rest) {
        match read(pattern, text, depth) {
            Touch::No => {}
            touch => return touch,
        }
    }
    if SHELLS.contains(&program) { inside(pattern, argv, depth) } else { Touch::No }
}

/// The words that a program which is no shell takes for a line: those with blanks, and what `env -S` splits.
fn texts<'a>(program: &str, rest: &[&'a str]) -> Vec<&'a str> {
    if READERS.contains(&program) {
        return rest.iter().copied().filter(|word| word.contains([' ', '\t'])).collect();
    }
    if program != "env" {
        return Vec::new();
    }
    let split = |(at, word): (usize, &&'a str)| match word.strip_prefix("--split-string") {
        Some("") => rest.get(at + 1).copied(),
        Some(text) => text.strip_prefix('='),
        None if *word == "-S" => rest.get(at + 1).copied(),
        None => word.strip_prefix("-S"),
    };
    rest.iter().enumerate().filter_map(split).collect()
}

/// The text behind `-c`, read as the line it is.
fn inside(pattern: &CommandPattern, argv: &[&str], depth: usize) -> Touch {
    let is_text = |word: &&&str| {
        **word == "--command" || (word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
    };
    let Some(at) = argv.iter().skip(1).position(|word| is_text(&word)) else { return Touch::No };
    argv.get(at + 2).map_or(Touch::No, |text| read(pattern, text, depth))
}

/// A text that is run as a line.
fn read(pattern: &CommandPattern, text: &str, depth: usize) -> Touch {
    let unsure = || Touch::Unsure("it gives a shell a text that cannot be read".to_owned());
    let (Some(depth), Ok(line)) = (depth.checked_sub(1), shell::parse(text)) else { return unsure() };
    let mut found = Touch::No;
    for command in &line.commands {
        let argv: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        match under(pattern, &argv, depth) {
            Touch::Yes => return Touch::Yes,
            Touch::No => {}
            unsure @ Touch::Unsure(_) => found = unsure,
        }
    }
    found
}

/// Whether a pattern means a program that is started by its path.
fn is_by_name(pattern: &CommandPattern, argv: &[&str]) -> bool {
    let Some((program, rest)) = argv.split_first() else { return false };
    // A long line has many words to try, and the words are copied only where the first one fits.
    if !program.contains('/') || !pattern.to_string().starts_with(&*shell::quote(base(program))) {
        return false;
    }
    let named: Vec<&str> = std::iter::once(base(program)).chain(rest.iter().copied()).collect();
    pattern.matches_argv(&named)
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, line: &str, expect: &str) {
        let pattern = CommandPattern::parse(pattern).unwrap();
        let line = shell::parse(line).unwrap();
        let touch = touches(&pattern, &line.commands[0]);
        let word = match touch {
            Touch::No => "no",
            Touch::Unsure(_) => "unsure",
            Touch::Yes => "yes",
        };
        assert_eq!(word, expect, "{pattern} {}", line.source);
    }

    #[test]
    fn a_command_is_known_under_its_path_a_wrapper_and_a_shell() {
        for (pattern, line, expect) in [
            ("rm:*", "rm -rf x", "yes"),
            ("rm:*", "/bin/rm -rf x", "yes"),
            ("rm:*", "env rm x", "yes"),
            ("rm:*", "sudo -n /usr/bin/rm x", "yes"),
            ("rm:*", "find . -name x -exec rm '{}' +", "yes"),
            ("rm:*", "sh -c 'rm x'", "yes"),
            ("rm:*", "bash -lc 'ls && rm x'", "yes"),
            ("rm:*", "timeout 5 bash -c 'rm x'", "yes"),
            ("rm:*", "sh -c 'sh -c \"rm x\"'", "yes"),
            ("rm:*", "sh -c 'x=$(id)'", "unsure"),
            ("rm:*", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "yes"),
            ("rm:*", "strace -f rm x", "yes"),
            ("rm:*", "setpriv --no-new-privs rm x", "yes"),
            ("rm:*", "unshare -r sh -c 'rm x'", "yes"),
            ("rm:*", "script -qc 'rm x' /dev/null", "yes"),
            ("rm:*", "su --command 'rm x'", "yes"),
            ("rm:*", "env -S 'rm x'", "yes"),
            ("rm:*", "env '-Srm x'", "yes"),
            ("rm:*", "env --split-string='rm x'", "yes"),
            ("rm:*", "watch -n 1 'ls; rm x'", "yes"),
            ("rm:*", "parallel 'rm {}'", "yes"),
            ("rm:*", "watch 'ls $x'", "unsure"),
            ("rm:*", "timeout 5 git commit -m 'rm x'", "no"),
            ("rm:*", "env A=1 ls", "no"),
            ("rm:*", "xargs -a script rm x", "yes"),
            ("rm:*", "sh -c 'ls'", "no"),
            ("rm:*", "sh script.sh", "no"),
            ("rm:*", "echo rm", "no"),
            ("rm:*", "ls", "no"),
            ("git push:*", "git pus? origin", "unsure"),
            ("git push:*", "git add a*", "no"),
            ("git push:*", "git status", "no"),
            ("*", "anything at all", "yes"),
        ] {
            check(pattern, line, expect);
        }
    }

    #[test]
    fn ten_thousand_words_behind_a_wrapper_stay_fast() {
        let argv: Vec<&str> = std::iter::once("xargs").chain(std::iter::repeat_n("/x/y", 10_000)).collect();
        let pattern = CommandPattern::parse("rm:*").unwrap();
        let before = std::time::Instant::now();
        assert_eq!(touches_argv(&pattern, &argv), Touch::No);
        assert!(before.elapsed().as_secs() < 5, "{:?}", before.elapsed());
    }
}

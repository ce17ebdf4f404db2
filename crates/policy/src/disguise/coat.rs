//! Programs that start another one, by how they are told which.

/// Programs that start the program named behind them.
const WRAPPERS: &[&str] = &[
    "busybox",
    "bunx",
    "bwrap",
    "catchsegv",
    "chroot",
    "chrt",
    "command",
    "dbus-run-session",
    "doas",
    "dumb-init",
    "entr",
    "env",
    "exec",
    "fakeroot",
    "fd",
    "fdfind",
    "find",
    "firejail",
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
    "rlwrap",
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
    "tini",
    "toybox",
    "unbuffer",
    "unshare",
    "uvx",
    "valgrind",
    "watch",
    "xargs",
    "xvfb-run",
];

/// Programs that do so behind a word of their own. Elsewhere the same word is theirs: `npm rm` removes a package.
const RUNNERS: &[(&str, &[&str])] = &[
    ("asdf", &["exec"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
    ("conda", &["run"]),
    ("direnv", &["exec"]),
    ("hatch", &["run"]),
    ("mise", &["exec", "x"]),
    ("npm", &["exec", "x"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("poetry", &["run"]),
    ("pyenv", &["exec"]),
    ("rbenv", &["exec"]),
    ("rustup", &["run"]),
    ("uv", &["run"]),
    ("yarn", &["exec", "dlx"]),
];

/// The loader of programs by the beginnings of its names: it starts the program named behind it, too.
const LOADERS: &[&str] = &["ld-linux", "ld-musl", "ld.so", "ld64.so"];

/// Shells, which run a text given with `-c`, and what they read.
const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"];

/// Programs that hand a text given with `-c` to a shell.
const CALLERS: &[&str] = &["flock", "runuser", "script", "su"];

/// Wrappers in whose words a shell is mostly no more than a name: `find . -name sh`, `command -v bash`.
const NAMERS: &[&str] = &["command", "fd", "fdfind", "find"];

/// Programs that take a word with blanks in it for a line of their own.
const READERS: &[&str] = &["parallel", "watch"];

/// The words behind which another program may stand, for one that starts others.
pub(super) fn behind<'a, 'b>(program: &str, rest: &'b [&'a str]) -> Option<&'b [&'a str]> {
    if WRAPPERS.contains(&program) || LOADERS.iter().any(|name| program.starts_with(name)) {
        return Some(rest);
    }
    let (_, words) = RUNNERS.iter().find(|(name, _)| *name == program)?;
    let at = rest.iter().position(|word| words.contains(word))?;
    rest.get(at + 1..)
}

/// Whether a program runs the text behind its `-c`.
pub(super) fn takes_text(program: &str) -> bool {
    SHELLS.contains(&program) || CALLERS.contains(&program)
}

/// Whether a wrapper's words name a shell rather than start it.
pub(super) fn only_names(program: &str) -> bool {
    NAMERS.contains(&program)
}

/// Whether these words start a shell that runs what it reads from its standard input.
pub(super) fn reads_input(argv: &[&str]) -> bool {
    let Some((program, rest)) = argv.split_first() else { return false };
    if !SHELLS.contains(&base(program)) {
        return false;
    }
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match *word {
            "--version" | "--help" | "-c" | "--command" => return false,
            "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" => drop(words.next()),
            // `-s` says so, whatever stands behind it; `-` ends the options.
            "-s" => return true,
            "-" | "--" => return words.next().is_none(),
            word if word.starts_with("--") || word.starts_with('+') => {}
            word if word.starts_with('-') => match word {
                word if word.contains('c') => return false,
                word if word.contains('s') => return true,
                _ => {}
            },
            // A script, or in a here-document's case the file that is run instead of it.
            _ => return false,
        }
    }
    true
}

/// The words that a program which is no shell takes for a line: those with blanks, and what `env -S` splits.
pub(super) fn texts<'a>(program: &str, rest: &[&'a str]) -> Vec<&'a str> {
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

/// A program's name without the folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

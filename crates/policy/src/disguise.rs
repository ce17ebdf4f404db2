//! A command that a rule denies, under another coat.
//!
//! A deny rule for `rm` is written by somebody who wants `rm` not to run, and `/bin/rm`, `env rm` and `sh -c 'rm x'` run
//! it. The coats that people and models use without a second thought are looked under here. It is no wall: a program can
//! start any other by means that no line shows. What holds then is the containment.

mod coat;
mod git;

use self::coat::base;
use crate::CommandPattern;
use crate::shell::{self, HereDocument};

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

/// How many shells inside each other are looked into. Nobody writes more by hand.
const DEEPEST: usize = 4;

/// How many words of one command that could be a shell are looked into; each look reads the rest of the command.
const MOST_LOOKS: usize = 8;

/// What a pattern has to do with a simple command.
pub(crate) fn touches(pattern: &CommandPattern, command: &shell::Command) -> Touch {
    if pattern.matches(command) {
        return Touch::Yes;
    }
    let argv = command.argv();
    match Look::into(pattern, command.stdin.as_ref()).under(&argv) {
        Touch::No if pattern.could_match(command) => {
            Touch::Unsure("a glob in it may become a word of the rule".to_owned())
        }
        touch => touch,
    }
}

/// The same for words that are started as they are.
pub(crate) fn touches_argv(pattern: &CommandPattern, argv: &[&str]) -> Touch {
    Look::into(pattern, None).under(argv)
}

/// A look under the coats of one command.
#[derive(Clone, Copy)]
struct Look<'a> {
    pattern: &'a CommandPattern,
    /// The here-document that feeds the command.
    input: Option<&'a str>,
    depth: usize,
}

impl<'a> Look<'a> {
    fn into(pattern: &'a CommandPattern, stdin: Option<&'a HereDocument>) -> Self {
        Self { pattern, input: stdin.map(|document| document.body.as_str()), depth: DEEPEST }
    }

    fn under(self, argv: &[&str]) -> Touch {
        let Some((program, rest)) = argv.split_first() else { return Touch::No };
        if self.is_meant(argv) {
            return Touch::Yes;
        }
        let program = base(program);
        let touch = coat::behind(program, rest).map_or(Touch::No, |rest| self.behind(program, rest));
        touch
            .or_else(|| worst(coat::texts(program, rest).into_iter().map(|text| self.text(text))))
            .or_else(|| if program == "git" { self.git(rest) } else { Touch::No })
            .or_else(|| if coat::takes_text(program) { self.shell(argv) } else { Touch::No })
    }

    /// Whether the rule means these words: as they are, with the program's path, or with options before what it is told.
    fn is_meant(self, argv: &[&str]) -> bool {
        let pattern = self.pattern;
        pattern.matches_argv(argv) || is_by_name(pattern, argv) || pattern.matches_behind_options(argv)
    }

    /// The words behind a wrapper. Which of them is the program is the wrapper's to know, so each may be.
    fn behind(self, wrapper: &str, rest: &[&str]) -> Touch {
        let mut looks = MOST_LOOKS;
        let mut found = Touch::No;
        for at in 0..rest.len() {
            let inner = rest.get(at..).unwrap_or_default();
            if self.is_meant(inner) {
                return Touch::Yes;
            }
            let Some(program) = inner.first().map(|word| base(word)) else { break };
            // A shell behind a wrapper is looked into from where it stands. It may be no more than a file's name, so what
            // stands behind it is looked at, too.
            let is_shell = coat::takes_text(program) && (inner.len() > 1 || !coat::only_names(wrapper));
            if looks > 0 && (is_shell || program == "git") {
                looks -= 1;
                found = found.or_else(|| {
                    if is_shell { self.shell(inner) } else { self.git(inner.get(1..).unwrap_or_default()) }
                });
                if found == Touch::Yes {
                    return found;
                }
            }
        }
        found
    }

    /// What a shell runs: the text behind `-c`, or what it reads.
    fn shell(self, argv: &[&str]) -> Touch {
        let is_text = |word: &&&str| {
            **word == "--command" || (word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
        };
        if let Some(at) = argv.iter().skip(1).position(|word| is_text(&word)) {
            return argv.get(at + 2).map_or(Touch::No, |text| self.text(text));
        }
        if !coat::reads_input(argv) {
            return Touch::No;
        }
        match self.input {
            // A line each, as the shell takes them; what goes over several cannot be read and says so.
            Some(body) => {
                let lines = body.lines().filter(|line| !line.trim().is_empty());
                worst(lines.take(shell::MAX_COMMANDS).map(|line| self.text(line)))
            }
            None => Touch::Unsure("it lets a shell run what comes in from elsewhere".to_owned()),
        }
    }

    /// What git runs beside itself.
    fn git(self, rest: &[&str]) -> Touch {
        worst(git::runs(rest).into_iter().map(|runs| match runs {
            git::Runs::Text(text) => self.text(text),
            git::Runs::Own(words) => self.text(&format!("git {words}")),
            git::Runs::Words(words) => self.deeper().map_or_else(unread, |deeper| deeper.under(&words)),
            // Most settings are no lines, so one that cannot be read says nothing.
            git::Runs::Setting(value) => match self.text(value) {
                Touch::Unsure(_) => Touch::No,
                touch => touch,
            },
        }))
    }

    /// A text that is run as a line.
    fn text(self, text: &str) -> Touch {
        let (Some(deeper), Ok(line)) = (self.deeper(), shell::parse(text)) else { return unread() };
        worst(line.commands.iter().map(|command| {
            let input = command.stdin.as_ref().map(|document| document.body.as_str());
            Look { input, ..deeper }.under(&command.argv())
        }))
    }

    fn deeper(self) -> Option<Self> {
        let depth = self.depth.checked_sub(1)?;
        Some(Self { depth, ..self })
    }
}

fn unread() -> Touch {
    Touch::Unsure("it gives a shell a text that cannot be read".to_owned())
}

impl Touch {
    /// This, unless it is no; a yes counts more than a doubt.
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Yes => Self::Yes,
            Self::No => other(),
            unsure @ Self::Unsure(_) => match other() {
                Self::Yes => Self::Yes,
                _ => unsure,
            },
        }
    }
}

/// What several looks come to.
fn worst(touches: impl Iterator<Item = Touch>) -> Touch {
    let mut found = Touch::No;
    for touch in touches {
        found = found.or_else(|| touch);
        if found == Touch::Yes {
            break;
        }
    }
    found
}

/// Whether a pattern means a program that is started by its path.
fn is_by_name(pattern: &CommandPattern, argv: &[&str]) -> bool {
    let Some((program, rest)) = argv.split_first() else { return false };
    // A long line has many words to try, and the words are copied only where the first one fits.
    if !program.contains('/') || !pattern.begins_with(base(program)) {
        return false;
    }
    let named: Vec<&str> = std::iter::once(base(program)).chain(rest.iter().copied()).collect();
    pattern.matches_argv(&named)
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
            ("rm:*", "npm exec rm", "yes"),
            ("rm:*", "npm rm left-pad", "no"),
            ("rm:*", "docker rm x", "no"),
            ("rm:*", "uv run --with x rm y", "yes"),
            ("rm:*", "fd . -x rm", "yes"),
            ("rm:*", "entr -r rm x", "yes"),
            ("rm:*", "find . -name sh", "no"),
            ("rm:*", "command -v bash", "no"),
            ("rm:*", "bash --version", "no"),
            ("rm:*", "bash -o pipefail x.sh", "no"),
            ("rm:*", "sh", "unsure"),
            ("rm:*", "sh -s x", "unsure"),
            ("rm:*", "bash -eu -", "unsure"),
            ("rm:*", "timeout 5 bash", "unsure"),
            ("rm:*", "bash <<'E'\nls\nrm x\nE", "yes"),
            ("rm:*", "env bash -s <<'E'\ncd x && rm y\nE", "yes"),
            ("rm:*", "bash <<'E'\nls\nE", "no"),
            ("rm:*", "bash <<'E'\nfor x in a; do\nE", "unsure"),
            ("rm:*", "cat <<'E'\nrm x\nE", "no"),
            ("rm:*", "python3 - <<'E'\nrm x\nE", "no"),
            ("rm:*", "git -c 'alias.x=!rm y' x", "yes"),
            ("rm:*", "git -c core.pager='rm y' log", "yes"),
            ("rm:*", "git -c 'user.name=A (B)' commit", "no"),
            ("rm:*", "git rebase -x 'rm y' HEAD~1", "yes"),
            ("rm:*", "git rebase --exec='make && rm y' HEAD~1", "yes"),
            ("rm:*", "git bisect run rm y", "yes"),
            ("rm:*", "git submodule foreach --recursive 'rm y'", "yes"),
            ("rm:*", "git submodule foreach rm y", "yes"),
            ("rm:*", "git filter-branch --tree-filter 'rm y' HEAD", "yes"),
            ("rm:*", "git clean -x rm", "no"),
            ("rm:*", "git rm x", "no"),
            ("rm:*", "git commit -m 'rm x'", "no"),
            ("rm:*", "env git bisect run rm y", "yes"),
            ("git push:*", "git -C . push", "yes"),
            ("git push:*", "git -c a.b=c --no-pager push origin", "yes"),
            ("git push:*", "git --git-dir=x push", "yes"),
            ("git push:*", "git --git-dir x push", "yes"),
            ("git push:*", "/usr/bin/git -p push", "yes"),
            ("git push:*", "env git -C x push", "yes"),
            ("git push:*", "git -C . status push", "no"),
            ("git push:*", "git log push", "no"),
            ("git push:*", "git -c alias.p=push p", "yes"),
            ("git push:*", "git -c ALIAS.p='push --force' p", "yes"),
            ("git push:*", "git -c alias.s=status s", "no"),
            ("git push", "git -C . push origin", "no"),
            ("kubectl delete:*", "kubectl -n prod delete pod x", "yes"),
            ("cargo publish:*", "cargo +nightly publish", "yes"),
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

//! A command that a rule denies, inside of another.
//!
//! A deny rule for `rm` is written so that `rm` does not run, and `/bin/rm`, `env rm` and `sh -c 'rm x'` run it. This module
//! looks inside of the programs of [`table`]. Where one of them has an option that the table does not describe, it may run
//! anything, so the answer is a doubt, and a doubt asks or refuses. This is not a security boundary: a program can start
//! any other in ways that the line does not show. The sandbox is the boundary.

mod argument;
mod code;
mod find;
mod git;
mod language;
mod options;
mod setting;
mod shell_words;
mod table;
mod touch;

use self::argument::{Argument, base, is_input, split_string};
use self::options::{Read, Style, Takes, read, says};
use self::setting::is_assignment;
use self::shell_words::ShellWords;
use self::table::{Runs, Wrapper};
pub(crate) use self::touch::Touch;
use self::touch::{elsewhere, glob, not_described, sure, too_deep, unread, worst};
use crate::CommandPattern;
use crate::shell::{self, HereDocument};
use std::cell::Cell;

/// How many wrappers and shells inside each other are looked into. People write two or three.
const MAX_DEPTH: usize = 16;

/// How many texts and words of one command are looked into, so that a long line cannot cost more than its length.
const MAX_LOOKS: usize = 1_000;

/// What a pattern has to do with a simple command.
pub(crate) fn touches(pattern: &CommandPattern, command: &shell::Command) -> Touch {
    if pattern.matches(command) {
        return Touch::Yes;
    }
    let looks = Cell::new(MAX_LOOKS);
    let look = Look::new(pattern, command.stdin.as_ref(), &looks);
    match look.at(&Argument::of(command, None)) {
        Touch::No if pattern.could_match(command) => glob(),
        touch => touch,
    }
}

/// The same for words that are started as they are.
pub(crate) fn touches_argv(pattern: &CommandPattern, argv: &[&str]) -> Touch {
    let looks = Cell::new(MAX_LOOKS);
    let argv: Vec<Argument> = argv.iter().map(|word| Argument::known(word)).collect();
    Look::new(pattern, None, &looks).at(&argv)
}

/// A look at what one command starts.
#[derive(Clone, Copy)]
struct Look<'a> {
    pattern: &'a CommandPattern,
    /// The here-document that feeds the command.
    input: Option<&'a str>,
    /// The text that is replaced in its words before it runs.
    hole: Option<&'a str>,
    /// Whether words that are not known yet are added to it.
    is_open: bool,
    depth: usize,
    looks: &'a Cell<usize>,
}

impl<'a> Look<'a> {
    fn new(pattern: &'a CommandPattern, stdin: Option<&'a HereDocument>, looks: &'a Cell<usize>) -> Self {
        let input = stdin.map(|document| document.body.as_str());
        Self { pattern, input, hole: None, is_open: false, depth: MAX_DEPTH, looks }
    }

    /// What starts with these words: the program itself, and what it starts.
    fn at(self, argv: &[Argument]) -> Touch {
        let Some((program, rest)) = argv.split_first() else {
            return if self.is_open { elsewhere() } else { Touch::No };
        };
        if !program.is_known {
            return glob();
        }
        let name = base(&program.text);
        self.meant(argv).or_else(|| {
            let Some(wrapper) = table::find(name) else { return Touch::No };
            self.deeper().map_or_else(too_deep, |deeper| deeper.inside(wrapper, name, rest))
        })
    }

    /// Whether the rule means these words: as they are, with the program's path, or with options before what it is told.
    fn meant(self, argv: &[Argument]) -> Touch {
        let Some(program) = argv.first() else { return Touch::No };
        if !self.pattern.begins_with(base(&program.text)) && !self.pattern.begins_with(&program.text) {
            return Touch::No;
        }
        if !self.may_look() {
            return too_deep();
        }
        let words: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
        let named: Vec<&str> =
            std::iter::once(base(&program.text)).chain(words.iter().skip(1).copied()).collect();
        if [&words, &named].into_iter().any(|words| self.pattern.matches_argv(words))
            || self.pattern.matches_behind_options(&words)
        {
            return Touch::Yes;
        }
        // A word that is not known yet may become the one that the rule names.
        let known = argv.iter().take_while(|word| word.is_known).count();
        let is_cut = known < argv.len() || self.is_open;
        if is_cut && named.get(..known).is_some_and(|known| self.pattern.could_begin(known)) {
            glob()
        } else {
            Touch::No
        }
    }

    fn inside(self, wrapper: &Wrapper, name: &str, rest: &[Argument]) -> Touch {
        match wrapper.runs {
            Runs::Words(operands) | Runs::Line(operands) | Runs::Shell(operands) => {
                self.after_options(wrapper, name, rest, operands)
            }
            Runs::Assigned => self.after_options(wrapper, name, rest, 0),
            Runs::Appended => {
                let hole = read(wrapper.options, rest, 0, Style::Whole).given;
                let hole = hole
                    .iter()
                    .find(|given| given.takes == Takes::Hole)
                    .map(|given| given.value.text.clone());
                let hole = hole.unwrap_or_else(|| "{}".to_owned());
                let look = Look { hole: Some(&hole), is_open: true, ..self };
                look.after_options(wrapper, name, &open(rest, &hole), 0)
            }
            Runs::AnyAfter(words) => self.any_after(words, rest),
            Runs::Options => self.given(&read(wrapper.options, rest, 0, Style::Anywhere), rest),
            Runs::Code(language) => self.interpreter(wrapper, language, rest),
            Runs::Script => self.shell(rest),
            Runs::Find => self.found(wrapper, rest),
            Runs::Git => self.git(rest),
        }
    }

    /// What `find` and `fd` start for what they find.
    fn found(self, wrapper: &Wrapper, rest: &[Argument]) -> Touch {
        let look = Look { hole: Some("{}"), is_open: self.is_open || !wrapper.options.is_empty(), ..self };
        let commands = find::commands(wrapper.options, rest);
        worst(commands.iter().map(|words| look.at(&open(words, "{}"))))
            .or_else(|| look.given(&read(wrapper.options, rest, 0, Style::Anywhere), rest))
    }

    /// What the options of a wrapper run, and then what the words after them run. Where the program ends without a command, these
    /// words run nothing. Where the table does not describe an option, the command may begin at any word.
    fn after_options(self, wrapper: &Wrapper, name: &str, rest: &[Argument], operands: usize) -> Touch {
        let read = read(wrapper.options, rest, operands, Style::Whole);
        self.given(&read, rest).or_else(|| match &read.unknown {
            _ if read.ends => Touch::No,
            Some(option) => self.anywhere(rest).or_else(|| not_described(name, option)),
            None => match wrapper.runs {
                Runs::Line(_) => self.line(wrapper, rest, &read),
                Runs::Shell(_) => self.starts_shell(rest, &read),
                _ => self.words(wrapper, rest, &read),
            },
        })
    }

    /// A wrapper that starts the words after its options.
    fn words(self, wrapper: &Wrapper, rest: &[Argument], read: &Read) -> Touch {
        let mut at = read.command;
        let mut settings = Touch::No;
        while matches!(wrapper.runs, Runs::Assigned) && rest.get(at).is_some_and(is_assignment) {
            settings = settings.or_else(|| self.setting(&rest[at].text));
            at += 1;
        }
        let command = rest.get(at..).unwrap_or_default();
        let command = command.strip_prefix(&[Argument::known("--")][..]).unwrap_or(command);
        // Whether an operand is one more or one less depends on the edition, so the command may begin at each.
        let earlier = read.operands.iter().map(|at| sure(self.meant(&rest[*at..])));
        settings.or_else(|| worst(earlier)).or_else(|| match command.first() {
            // `flock FILE -c LINE`
            Some(first) if matches!(first.text.as_str(), "-c" | "--command") => self.shell(command),
            None if says(wrapper.options, "$") => self.shell(&[]),
            // `xargs` alone prints.
            None if matches!(wrapper.runs, Runs::Appended) => Touch::No,
            _ => self.at(command),
        })
    }

    /// A wrapper that joins words to a line for a shell.
    fn line(self, wrapper: &Wrapper, rest: &[Argument], read: &Read) -> Touch {
        let command = rest.get(read.command..).unwrap_or_default();
        let line: Vec<&str> = command.iter().map(AsRef::as_ref).collect();
        self.at(command).or_else(|| match line.as_slice() {
            [] if self.input.is_some() || says(wrapper.options, "$") => self.shell(&[]),
            [] => Touch::No,
            line => self.text(&line.join(" ")),
        })
    }

    /// A wrapper that starts a shell, with a line in an option or with the words after its own.
    fn starts_shell(self, rest: &[Argument], read: &Read) -> Touch {
        let has_line = read.given.iter().any(|given| given.takes == Takes::Line);
        let command = rest.get(read.command..).unwrap_or_default();
        let operand = read.operands.first().and_then(|at| rest.get(*at..)).unwrap_or_default();
        // `runuser -u USER -- PROGRAM` has no shell at all.
        sure(self.at(command))
            .or_else(|| sure(self.at(operand)))
            .or_else(|| if has_line && command.is_empty() { Touch::No } else { self.shell(command) })
    }

    /// What options with something that matters run.
    fn given(self, read: &Read, rest: &[Argument]) -> Touch {
        let taken = read.taken.iter().map(|at| sure(self.meant(&rest[*at..])));
        let values = read.given.iter().map(|given| {
            let text = given.value.text.as_str();
            match given.takes {
                Takes::Line | Takes::Program | Takes::Words if !given.value.is_known => glob(),
                Takes::Line => self.text(text),
                Takes::Program => Look { is_open: true, ..self }.text(&text.replace(',', " ")),
                Takes::Setting => self.setting(text),
                Takes::Script if is_input(text) => {
                    let lines = self.input.unwrap_or_default().lines().take(shell::MAX_COMMANDS);
                    self.input_lines().or_else(|| worst(lines.map(|line| self.setting(line))))
                }
                Takes::Words => match split_string(text) {
                    Some(mut words) => {
                        words.insert(0, Argument::known("env"));
                        words.extend_from_slice(rest.get(given.next..).unwrap_or_default());
                        self.at(&words)
                    }
                    None => unread(),
                },
                _ => Touch::No,
            }
        });
        worst(values.chain(taken))
    }

    /// A wrapper whose options are too many to describe: each word after it may be the command, or hold a line.
    fn any_after(self, words: &[&str], rest: &[Argument]) -> Touch {
        let at = match words {
            [] => 0,
            words => match rest.iter().position(|word| words.contains(&word.text.as_str())) {
                Some(at) => at + 1,
                None => return Touch::No,
            },
        };
        let rest = rest.get(at..).unwrap_or_default();
        let nested = rest.iter().enumerate().filter(|(_, word)| table::find(base(&word.text)).is_some());
        self.anywhere(rest)
            .or_else(|| worst(nested.map(|(at, _)| self.at(&rest[at..]))))
            .or_else(|| self.input.map_or(Touch::No, |_| sure(self.input_lines())))
    }

    /// Whether the rule means the words from any of them on, or a line in one of them.
    fn anywhere(self, words: &[Argument]) -> Touch {
        let commands = (0..words.len()).map(|at| sure(self.meant(&words[at..])));
        let lines =
            words.iter().filter(|word| word.text.contains([' ', '\t', '=', '/', '-', ':'])).map(|word| {
                let text = word.text.as_str();
                let attached = text.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
                let path = text.find('/').and_then(|at| text.get(at..)).unwrap_or_default();
                // `EXEC:LINE` of socat.
                let named = text.split_once(':').map_or("", |(_, line)| line);
                worst([text, attached, path, named].into_iter().map(|text| self.setting(text)))
            });
        worst(commands.chain(lines))
    }

    /// What a shell runs: the text after `-c`, what it reads, or a script.
    fn shell(self, rest: &[Argument]) -> Touch {
        let Some(shell) = ShellWords::read(rest) else { return Touch::No };
        let rc = if shell.reads_file { self.input_lines() } else { Touch::No };
        if shell.takes_line {
            let Some(line) = rest.get(shell.operand) else {
                return if self.is_open { elsewhere() } else { rc };
            };
            // The words after it are `$0`, `$1`, …, which the text may start.
            let others = rest.iter().enumerate().filter(|(at, _)| *at != shell.operand);
            let text = if line.is_known { self.text(&line.text) } else { glob() };
            return rc.or_else(|| text).or_else(|| worst(others.map(|(_, word)| self.setting(&word.text))));
        }
        match rest.get(shell.operand) {
            Some(script) if !shell.reads_input && !is_input(&script.text) => rc,
            _ => rc.or_else(|| self.input_lines()),
        }
    }

    /// A here-document that a shell reads: a line each, as the shell takes them. What goes over several cannot be read.
    fn input_lines(self) -> Touch {
        let Some(body) = self.input else { return elsewhere() };
        let lines = body.lines().filter(|line| !line.trim().is_empty());
        worst(lines.take(shell::MAX_COMMANDS).map(|line| self.text(line)))
    }

    /// What git runs in addition to its own commands.
    fn git(self, rest: &[Argument]) -> Touch {
        let words: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
        worst(git::runs(&words).into_iter().map(|runs| match runs {
            git::Runs::Text(text) => self.text(text),
            // `% ` is how a transport writes a space in a word.
            git::Runs::Transport(text) => self.text(text).or_else(|| self.text(&text.replace("% ", " "))),
            git::Runs::Own(words) => self.text(&format!("git {words}")),
            git::Runs::Words(words) => {
                let words: Vec<Argument> = words.into_iter().map(Argument::known).collect();
                self.at(&words)
            }
            git::Runs::Program(text) => Look { is_open: true, ..self }.text(text),
            git::Runs::Setting(text) => self.setting(text),
            git::Runs::Unread => Touch::Unsure("git takes a setting from elsewhere".to_owned()),
        }))
    }

    /// A text that is run as a line.
    fn text(self, text: &str) -> Touch {
        if !self.may_look() {
            return too_deep();
        }
        let (Some(deeper), Ok(line)) = (self.deeper(), shell::parse(text)) else { return unread() };
        worst(line.commands.iter().map(|command| {
            let input = command.stdin.as_ref().map(|document| document.body.as_str());
            Look { input, ..deeper }.at(&Argument::of(command, self.hole))
        }))
    }

    fn deeper(self) -> Option<Self> {
        let depth = self.depth.checked_sub(1)?;
        Some(Self { depth, ..self })
    }

    fn may_look(self) -> bool {
        let left = self.looks.get();
        self.looks.set(left.saturating_sub(1));
        left > 0
    }
}

/// Words in which a text is replaced later.
fn open(words: &[Argument], hole: &str) -> Vec<Argument> {
    let replaced =
        |word: &Argument| Argument { is_known: word.is_known && !word.text.contains(hole), ..word.clone() };
    words.iter().map(replaced).collect()
}

#[cfg(test)]
mod tests;

//! Lines of the tables with pieces put in, taken out and exchanged, held against a real bash.
//!
//! A line of a table is near to something that matters: one character more or less turns a text into an expansion, a word
//! into a redirection, a refusal into a line that passes. Whatever still passes is run by a bash that records what it starts.

use crate::shell_bash::{BUILTINS, Bash, Files, RECORDERS};
use crate::shell_invariant::holds;
use crate::shell_property::PIECES;
use crate::{shell_accepted, shell_refused};
use metier_policy::shell::Line;
use std::time::{Duration, Instant};

/// How many mutants bash is asked about where nobody says; each costs a few processes.
const LINES: usize = 150;

/// What changes the number, and the seed of all chance.
const LINES_NAME: &str = "METIER_SHELL_LINES";
const SEED_NAME: &str = "METIER_SHELL_SEED";

/// Longer lines take time and bring nothing that shorter ones lack.
const MAX_BYTES: usize = 300;

/// Pieces that no table is full of: what bash takes for more than it looks like.
const ODD: &[&str] = &[
    "~+",
    "~-",
    "~0",
    "!!",
    "!$",
    "!(a)",
    "@(a)",
    "$'\\n'",
    "$\"a\"",
    "$[1]",
    "$((a[$(b)]))",
    "${a}",
    "{a,b}",
    "{1..3}",
    "{,}",
    "a=b ",
    "a[0]=b ",
    "a+=b ",
    "2<",
    "0<",
    "<&0",
    ">&-",
    ">&1",
    "1>&2",
    "&>>",
    "|&",
    ";;",
    ";&",
    "<<<",
    "<<-'E'\n",
    "\\\n",
    "\\\r",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{3000}",
    "\u{feff}",
    "\u{ad}",
    "\u{7f}",
    "\u{1b}",
    "[[ ",
    " ]]",
    "((",
    "))",
    "test -v ",
    "[ -v ",
    "-R",
    "a[$(b)]",
    "'a[$(b)]'",
    "-eq ",
    "-o ",
    "-t ",
    "printf -v a ",
    "%n",
    "%(",
    ")T",
    "%b",
    "coproc ",
    "time ",
    "! ",
    "function a ",
    "a() ",
    "command ",
    "builtin ",
    "exec ",
    "eval ",
    "env ",
    ". ",
    "source ",
    "alias ",
    "trap ",
    "cd - ",
    "pushd +1 ",
    "kill -l ",
    "type -a ",
    "-- ",
    "-",
    "/dev/null",
    "/dev/tcp/a/1",
    "#",
    " #",
    "{",
    "}",
    " { ",
    " }",
    "in ",
    "then ",
    "do ",
    "esac ",
    "]",
    "^",
    "ß",
    "\u{e4}\u{5c}",
    "日\\",
    "\\|",
    "\\;",
    "\\&",
    "''",
    "\"\"",
    "'\n'",
];

/// Numbers that look like chance and are the same for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        // The steps of xorshift, which never reach 0 from anything else.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a small number");
        usize::try_from(self.next() % bound).expect("a small number")
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        let at = self.below(of.len());
        of[at]
    }

    fn place(&mut self, text: &str) -> usize {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        places[self.below(places.len())]
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// A line with one to four changes.
fn mutant(chance: &mut Chance, lines: &[&str]) -> String {
    let mut text = chance.one(lines).to_owned();
    for _ in 0..=chance.below(4) {
        let at = chance.place(&text);
        match chance.below(5) {
            0 => text.insert_str(at, chance.one(PIECES)),
            1 => text.insert_str(at, chance.one(ODD)),
            2 if at < text.len() => {
                text.remove(at);
            }
            3 => {
                let end = chance.place(&text);
                let piece = text[at.min(end)..at.max(end)].to_owned();
                let to = chance.place(&text);
                text.insert_str(to, &piece);
            }
            _ => {
                let other = chance.one(lines);
                let from = chance.place(other);
                text.truncate(at);
                text.push_str(&other[from..]);
            }
        }
    }
    text
}

/// The line with every command that is not harmless renamed to a recorder, so that whatever passes can be run.
fn renamed(line: &Line) -> String {
    let mut text = line.source.clone();
    for command in line.commands.iter().rev() {
        let name = &command.words[0];
        if !RECORDERS.contains(&name.text.as_str()) && !BUILTINS.contains(&name.text.as_str()) {
            text.replace_range(name.span.clone(), "show");
        }
    }
    text
}

#[test]
fn bash_agrees_on_whatever_mutants_of_the_tables_are_accepted() {
    let Some(bash) = Bash::find() else {
        metier_testkit::not_tried("bash", "there is no /bin/bash of version 5 or later");
        return;
    };
    let wanted = number(LINES_NAME).map_or(LINES, |lines| usize::try_from(lines).expect("a small number"));
    let seed = number(SEED_NAME).unwrap_or(0x6d65_7469_6572);
    let mut chance = Chance(seed.max(1));
    let tables = shell_accepted::TABLES.iter().chain(shell_refused::TABLES);
    let lines: Vec<&str> =
        tables.copied().flatten().map(|case| case.line).filter(|line| line.len() < MAX_BYTES).collect();
    let (mut ran, mut tried, start) = (0_usize, 0_usize, Instant::now());
    while ran < wanted {
        tried += 1;
        assert!(tried < 100 * wanted, "only {ran} of {tried} mutants are accepted");
        let text = mutant(&mut chance, &lines);
        if text.len() > MAX_BYTES {
            continue;
        }
        let Ok(line) = holds(&text) else { continue };
        let text = renamed(&line);
        let line = holds(&text).expect("another name changes nothing else");
        bash.agrees(&line, if ran % 3 == 0 { Files::Hostile } else { Files::None });
        ran += 1;
    }
    if start.elapsed() > Duration::from_mins(1) {
        eprintln!(
            "{ran} of {tried} mutants with the seed {seed} passed, and bash did with each what was understood"
        );
    }
}

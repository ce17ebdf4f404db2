//! A shell script as simple commands: their words, where they write to, and the variables they read.
//!
//! Unlike the gate's parser this one never refuses: it is for pointing at what stands there literally. What it cannot
//! follow it passes over, and a warning is missing; nothing is allowed or denied by it.

mod reader;

use std::ops::Range;

use metier_shell::{assignment, precedes_command, starts_program};
use reader::Reader;

/// A script.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    /// Its simple commands, inner ones before those they stand in.
    pub(crate) commands: Vec<Simple>,
    /// Where the names of the variables stand that it reads.
    pub(crate) expansions: Vec<Range<usize>>,
}

/// One simple command.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    /// Its words, assignments before it included.
    pub(crate) words: Vec<Word>,
    /// The files it writes to by `>`.
    pub(crate) targets: Vec<Word>,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where it stands, quotes included.
    pub(crate) span: Range<usize>,
    /// Its text without quotes; variables stand as they are written.
    pub(crate) text: String,
}

impl Shell {
    /// Reads a script.
    pub(crate) fn read(text: &str) -> Self {
        Reader::new(text).read()
    }

    /// Whether a name gets its value in the script itself, so that it does not come from the environment. A value made
    /// of the name's own old one (`X="${X:-}"`) does come from there.
    pub(crate) fn assigns(&self, name: &str) -> bool {
        self.commands.iter().any(|command| command.assigns(name))
    }

    fn add(&mut self, command: Simple) {
        if !command.words.is_empty() || !command.targets.is_empty() {
            self.commands.push(command);
        }
    }
}

impl Simple {
    /// The program and its arguments, behind keywords, assignments and wrappers.
    pub(crate) fn program(&self) -> Option<(&str, &[Word])> {
        let mut words = self.words.as_slice();
        let mut follows_wrapper = false;
        while let Some((first, rest)) = words.split_first() {
            let text = first.text.as_str();
            let is_wrapper = starts_program(text);
            let is_argument =
                follows_wrapper && (text.starts_with('-') || text.starts_with(|c: char| c.is_ascii_digit()));
            if !(is_wrapper
                || is_argument
                || precedes_command(text)
                || text == "}"
                || first.assignment().is_some())
            {
                return Some((text.rsplit('/').next().unwrap_or(text), rest));
            }
            follows_wrapper |= is_wrapper;
            words = rest;
        }
        None
    }

    /// The assignments that stand before a command or are its arguments, as in `export X=1`.
    pub(crate) fn assignments(&self) -> impl Iterator<Item = (&Word, &str, &str)> {
        let is_declaring = self.program().is_some_and(|(program, _)| is_declaration(program));
        let before = self.words.len() - self.program().map_or(0, |(_, arguments)| arguments.len() + 1);
        let counted = if is_declaring { self.words.len() } else { before };
        self.words
            .iter()
            .take(counted)
            .filter_map(|word| word.assignment().map(|(name, value)| (word, name, value)))
    }

    fn assigns(&self, name: &str) -> bool {
        let is_own = |value: &str| {
            value.match_indices(name).any(|(at, _)| {
                let before = value.get(..at).unwrap_or_default();
                before.ends_with('$') || before.ends_with("${")
            })
        };
        if self.assignments().any(|(_, own, value)| own == name && !is_own(value)) {
            return true;
        }
        // `for X in`: `for` is no keyword here, so it is the program.
        match self.program() {
            Some(("for" | "select", arguments)) => arguments.first().is_some_and(|word| word.text == name),
            Some((program, arguments))
                if matches!(program, "read" | "mapfile" | "readarray" | "getopts")
                    || (is_declaration(program) && program != "export") =>
            {
                arguments.iter().any(|word| word.text == name)
            }
            Some(("printf", arguments)) => {
                arguments.windows(2).any(|pair| matches!(pair, [a, b] if a.text == "-v" && b.text == name))
            }
            _ => false,
        }
    }
}

fn is_declaration(program: &str) -> bool {
    matches!(program, "declare" | "export" | "local" | "readonly" | "typeset")
}

impl Word {
    /// `NAME=value`, taken apart.
    pub(crate) fn assignment(&self) -> Option<(&str, &str)> {
        assignment(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let shell = Shell::read(text);
        let show = |command: &Simple| {
            let words: Vec<_> = command.words.iter().map(|word| word.text.as_str()).collect();
            let targets: Vec<_> =
                command.targets.iter().flat_map(|word| [" >", word.text.as_str()]).collect();
            format!("{}{}", words.join(" "), targets.concat())
        };
        let found: Vec<_> = shell.commands.iter().map(show).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn commands_are_taken_apart() {
        check("a 'b c' \"d $E\" # f\ng|h&&i;j", &["a b c d $E", "g", "h", "i", "j"]);
        check("a > b 2>c 2>&1 >>\"d e\" &>f <g", &["a >b >c >d e >f"]);
        check("X=$(a \"$(b)\") c", &["b", "a $(b)", "X=$(a \"$(b)\") c"]);
        check("cat > x <<'END'\n$A > y\nEND\nb", &["cat >x", "b"]);
        check("cat <<-END\n\ta > b\n\tEND\nc", &["cat", "c"]);
        check("[[ a > b && c < d ]] && e", &["[[ a b c d ]]", "e"]);
        check("(( a > b )); c $(( 1 > 2 ))", &["c $(( 1 > 2 ))"]);
        check("a >&2; b <<< 'c > d'", &["a", "b"]);
        check("f() { a > b; }", &["f", "{ a >b", "}"]);
        check("a \\\n  b", &["a b"]);
        check("a `b > c` d", &["b >c", "a `b > c` d"]);
        check("a <b-c> d/<e>.f > g", &["a d/ .f >g"]);
        check("a <b >c", &["a >c"]);
        check("diff <(a) >(b)", &["a", "b", "diff"]);
        check("a >| b > >(c)", &["c", "a >b"]);
        check("a >& 2 >&- >& b", &["a >b"]);
        check("if (( a > 5 )); then b; fi", &["if", "then b", "fi"]);
        check("[[ a =~ ^((b)|c)$ ]] && d", &["[[ a =~ ^ b c $ ]]", "d"]);
        check("[[ a ]]\nb", &["[[ a ]]", "b"]);
        check("cat <<X\n`a > b`\nX\nc", &["cat", "a >b", "c"]);
    }

    #[test]
    fn variables_are_read_outside_of_single_quotes() {
        let text = "a $B '$C' \"${D:-$E}\" ${#F} $1 \\$G $(h $I)\ncat <<X\n$J \\$K\nX\ncat <<'X'\n$L\nX\n";
        let shell = Shell::read(text);
        let names: Vec<_> = shell.expansions.iter().map(|found| &text[found.clone()]).collect();
        assert_eq!(names, ["B", "D", "E", "I", "J"]);
    }

    #[test]
    fn programs_stand_behind_keywords_assignments_and_wrappers() {
        let check = |text: &str, expect: &str| {
            let shell = Shell::read(text);
            let found = shell.commands.last().and_then(Simple::program).map(|(program, _)| program);
            assert_eq!(found, Some(expect), "{text:?}");
        };
        check("if ! A=1 sudo -E /usr/bin/curl x", "curl");
        check("timeout 5 wget x", "wget");
        check("a", "a");
    }

    #[test]
    fn a_name_is_the_scripts_own_when_the_script_gives_it_a_value() {
        let check =
            |text: &str, expect: bool| assert_eq!(Shell::read(text).assigns("KEY"), expect, "{text:?}");
        check("KEY=$(make)", true);
        check("local KEY=$1", true);
        check("local KEY", true);
        check("read -rs KEY", true);
        check("for KEY in a b; do x; done", true);
        check("KEY=\"${KEY:-}\"", false);
        check("export KEY", false);
        check("echo KEY=1", false);
        check("OTHER_KEY=1", false);
    }

    #[test]
    fn hostile_scripts_end_in_time() {
        for piece in ["$((", "$(", "${", "`", "<<A\n", "\"$(", "((", "'", "\\", "é>", "a<<'"] {
            let text = piece.repeat(60_000);
            let shell = Shell::read(&text);
            assert!(shell.commands.len() <= text.len());
        }
    }
}

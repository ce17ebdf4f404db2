//! Code in other languages than the shell's, and how it starts programs.

/// How code of a language starts programs.
#[derive(Debug)]
pub(super) struct Language {
    /// What begins a line for a shell: the rest of the line in the code is that line.
    lines: &'static [&'static str],
    /// What shows that some program is started. Which one is for the language to know.
    calls: &'static [&'static str],
    grammar: Grammar,
    /// Where the code is.
    pub(super) source: CodeSource,
}

/// How much of a language is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grammar {
    Marks,
    Awk,
    Sed,
    Make,
    Shell,
}

/// Where the code of a program is, apart from its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeSource {
    /// In the first word, unless an option has it.
    FirstWord,
    /// In the file that the first word names, or in the input where there is none.
    File,
    /// In the input as well, whatever the words are.
    Input,
    /// Only in the input.
    InputOnly,
    /// Only where an option says so.
    Options,
}

pub(super) const AWK: Language = Language {
    lines: &[],
    calls: &["system", "getline", "@load"],
    grammar: Grammar::Awk,
    source: CodeSource::FirstWord,
};

pub(super) const SED: Language =
    Language { lines: &[], calls: &[], grammar: Grammar::Sed, source: CodeSource::FirstWord };

pub(super) const MAKE: Language =
    Language { lines: &[], calls: &["shell", "$"], grammar: Grammar::Make, source: CodeSource::Options };

/// What a program reads for a shell that it starts later.
pub(super) const LATER: Language =
    Language { lines: &[], calls: &[], grammar: Grammar::Shell, source: CodeSource::InputOnly };

pub(super) const EDITOR: Language = Language {
    lines: &["!"],
    calls: &["system", "term", "job_start", "lua", "python", "py3", "pyx", "perl", "ruby", "tcl", "execute"],
    grammar: Grammar::Marks,
    source: CodeSource::Input,
};

pub(super) const DEBUGGER: Language = Language {
    lines: &["shell", "!", "make", "pipe", "platform shell"],
    calls: &["python", "guile", "script", "call", "print", "system", "exec-file", "run", "start"],
    grammar: Grammar::Marks,
    source: CodeSource::Options,
};

pub(super) const CONSOLE: Language = Language {
    lines: &["\\!", ".shell", ".system", "!", "~!"],
    calls: &["from program", "to program", "\\g |", "\\o |", "edit("],
    grammar: Grammar::Marks,
    source: CodeSource::Input,
};

pub(super) const SCRIPTS: Language = Language {
    lines: &[],
    calls: &[
        "system",
        "popen",
        "exec",
        "spawn",
        "subprocess",
        "fork",
        "child_process",
        "`",
        "qx",
        "%x",
        "shell",
        "passthru",
        "backtick",
        "open3",
        "kernel",
        "pty.",
        "ctypes",
        "ffi",
        "|-",
        "\"|",
        "'|",
        "|\"",
        "|'",
        "start-process",
        "call-process",
        "run(`",
        "proc_open",
        "__import__",
        "importlib",
        "eval(",
        "deno.run",
        "deno.command",
        "bun.$",
        "process(",
        "std/process",
        "os.cmd",
        "readprocess",
        "callcommand",
    ],
    grammar: Grammar::Marks,
    source: CodeSource::File,
};

/// Something that code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ran<'a> {
    /// A line for a shell.
    Line(&'a str),
    /// A program whose name the code has or makes.
    Something,
}

impl Language {
    /// What a text of this language runs.
    pub(super) fn runs<'a>(&self, code: &'a str) -> Vec<Ran<'a>> {
        let mut found = Vec::new();
        match self.grammar {
            Grammar::Awk if pipes(code) => found.push(Ran::Something),
            Grammar::Sed => found.extend(sed(code)),
            // A recipe's line begins with a tab and may have marks before the command; one of a rule comes after `;`.
            Grammar::Make => found.extend(code.lines().filter_map(recipe).map(Ran::Line)),
            Grammar::Shell => {
                found.extend(code.lines().filter(|line| !line.trim().is_empty()).map(Ran::Line));
            }
            Grammar::Awk | Grammar::Marks => {}
        }
        for line in code.lines() {
            found.extend(self.lines.iter().filter_map(|mark| rest_after(line, mark)).map(Ran::Line));
        }
        let lower = code.to_ascii_lowercase();
        if self.calls.iter().any(|call| lower.contains(call)) {
            found.push(Ran::Something);
        }
        found
    }
}

/// The rest of a line of code after a mark. A mark that is a word counts only as a whole word.
fn rest_after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let is_word = mark.ends_with(|c: char| c.is_ascii_alphabetic());
    line.match_indices(mark).find_map(|(at, _)| {
        let rest = line.get(at + mark.len()..)?;
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let is_alone = before.is_none_or(|c| !c.is_ascii_alphanumeric()) && rest.starts_with([' ', '\t']);
        let rest = rest.trim_start_matches([' ', '\t', '!']);
        // `q!` forces, and what follows it is the next command.
        ((!is_word || is_alone) && !rest.is_empty() && !rest.starts_with('|')).then_some(rest)
    })
}

fn recipe(line: &str) -> Option<&str> {
    let command = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, rest)| rest))?;
    let command = command.trim_start_matches([' ', '\t', '@', '-', '+']);
    (!command.is_empty()).then_some(command)
}

/// Whether an awk program has a pipe: a `|` outside of texts and expressions that is not `||`.
fn pipes(code: &str) -> bool {
    let mut before = None;
    let mut characters = code.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' => skip_to('"', &mut characters),
            // A slash begins an expression where there is no value before it.
            '/' if before.is_none_or(|c: char| "({},;!&|~\n".contains(c)) => skip_to('/', &mut characters),
            '#' => while characters.next_if(|c| *c != '\n').is_some() {},
            '|' if characters.next_if_eq(&'|').is_none() => return true,
            _ => {}
        }
        if !matches!(c, ' ' | '\t') {
            before = Some(c);
        }
    }
    false
}

fn skip_to(end: char, characters: &mut impl Iterator<Item = char>) {
    while let Some(c) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            c if c == end => return,
            _ => {}
        }
    }
}

/// What a sed script runs: `e COMMAND`, `e` alone and `s///e`. What cannot be read may run something.
fn sed(script: &str) -> Vec<Ran<'_>> {
    let mut found = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        let Some(command) = sed_address(rest) else {
            found.push(Ran::Something);
            return found;
        };
        let mut characters = command.chars();
        let Some(name) = characters.next() else { return found };
        let arguments = characters.as_str();
        rest = match name {
            's' | 'y' => {
                let Some((replacement, flags)) = sed_parts(arguments) else {
                    found.push(Ran::Something);
                    return found;
                };
                let end = flags.find([';', '\n', '}']).unwrap_or(flags.len());
                let (flags, rest) = flags.split_at(end);
                // A file's name may follow `w`, and then everything is part of it.
                if name == 's' && flags.split('w').next().is_some_and(|flags| flags.contains(['e', 'm', 'M']))
                {
                    found.extend(flags.contains('e').then_some(Ran::Line(replacement)));
                    found.extend(flags.contains('e').then_some(Ran::Something));
                }
                rest
            }
            'e' => {
                let (line, rest) = arguments.split_once('\n').unwrap_or((arguments, ""));
                let line = line.trim();
                found.push(if line.is_empty() { Ran::Something } else { Ran::Line(line) });
                rest
            }
            'a' | 'i' | 'c' | 'r' | 'R' | 'w' | 'W' | '#' => {
                // A line that ends with a backslash continues.
                let mut at = 0;
                let end = arguments.split_inclusive('\n').find_map(|line| {
                    at += line.len();
                    (!line.trim_end_matches('\n').ends_with('\\')).then_some(at)
                });
                arguments.get(end.unwrap_or(arguments.len())..).unwrap_or_default()
            }
            ':' | 'b' | 't' | 'T' | 'q' | 'Q' | 'l' | 'L' | 'v' => {
                arguments.split_once([';', '\n', '}']).map_or("", |(_, rest)| rest)
            }
            '{' | '}' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' | '=' => {
                arguments
            }
            _ => {
                found.push(Ran::Something);
                return found;
            }
        };
    }
}

/// What follows the addresses of a sed command.
fn sed_address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " \t,~+!$".contains(c));
        let (delimiter, expression) = match rest.strip_prefix('\\') {
            Some(rest) => (rest.chars().next()?, rest.get(rest.chars().next()?.len_utf8()..)?),
            None => match rest.strip_prefix('/') {
                Some(expression) => ('/', expression),
                None => return Some(rest),
            },
        };
        rest = sed_until(expression, delimiter)?.1.trim_start_matches(['I', 'M']);
    }
}

/// The replacement and the flags of `s/a/b/flags`.
fn sed_parts(arguments: &str) -> Option<(&str, &str)> {
    let delimiter = arguments.chars().next()?;
    let (_, rest) = sed_until(arguments.get(delimiter.len_utf8()..)?, delimiter)?;
    sed_until(rest, delimiter)
}

/// The text up to a delimiter, which may be escaped or stand in brackets, and what follows it.
fn sed_until(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            c if c == delimiter => return Some((text.get(..at)?, text.get(at + c.len_utf8()..)?)),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: &Language, code: &str, expect: &[Ran<'_>]) {
        assert_eq!(language.runs(code), expect, "{code}");
    }

    #[test]
    fn sed_scripts_are_read() {
        for script in [
            "s/e/e/g",
            "1,20p",
            "/a/,/b/d",
            "$!N;s/\\n/ /;P;D",
            "s|/usr|/opt|g;s#a#b#",
            "/x/{s/a/b/;p}",
            "a\\\nmore text",
            "i hello",
            "\\,a,d",
            "s/\\//e/w out",
            "y/abc/efg/",
            ":a;N;$!ba;s/\\n/,/g",
            "/^#/d;/^$/d",
            "0~3p",
            "s/\\(e\\)/\\1e/2p",
        ] {
            check(&SED, script, &[]);
        }
        check(&SED, "e rm x", &[Ran::Line("rm x")]);
        check(&SED, "1e rm x", &[Ran::Line("rm x")]);
        check(&SED, "/a/ { e", &[Ran::Something]);
        check(&SED, "s/.*/rm x/e", &[Ran::Line("rm x"), Ran::Something]);
        check(&SED, "p;s,a,rm &,ge", &[Ran::Line("rm &"), Ran::Something]);
        check(&SED, "s/a", &[Ran::Something]);
    }

    #[test]
    fn awk_programs_are_read() {
        for program in ["{print $1}", "/a|b/ {print}", "$1 ~ /x|y/", "a || b", "{print \"a | b\"}", "{a=6/2}"]
        {
            check(&AWK, program, &[]);
        }
        for program in
            ["{print | \"rm\"}", "BEGIN{c=\"x\";print|c}", "BEGIN{system(\"rm\")}", "{\"ls\"|getline}"]
        {
            assert!(AWK.runs(program).contains(&Ran::Something), "{program}");
        }
    }

    #[test]
    fn lines_follow_their_marks() {
        check(&EDITOR, "!rm x", &[Ran::Line("rm x")]);
        check(&EDITOR, "silent !rm x", &[Ran::Line("rm x")]);
        check(&EDITOR, "wq!", &[]);
        check(&EDITOR, "q! | q", &[]);
        check(&DEBUGGER, "shell rm x", &[Ran::Line("rm x")]);
        check(&DEBUGGER, "set shellx rm", &[]);
        check(&CONSOLE, "\\! rm x", &[Ran::Line("rm x"), Ran::Line("rm x")]);
        check(&MAKE, "all:\n\t@-rm x\nb: ; rm y", &[Ran::Line("rm x"), Ran::Line("rm y")]);
    }
}

//! An operation as a command to fill in: the words of one simple command, with slots in them.

/// A longer text is only shown: it is a program, not a command with gaps.
const MAX_TEMPLATE: usize = 4_096;

/// The longest name of a slot in bytes. What is longer is a sentence, and nobody could tell what belongs there.
const MAX_SLOT_NAME: usize = 64;

/// What bodies write for the skill's own folder. An operation runs there, so at the beginning of a word it can go.
const OWN_FOLDER: [&str; 5] =
    ["${SKILL_DIR}/", "${CLAUDE_SKILL_DIR}/", "${CLAUDE_SKILL_ROOT}/", "{baseDir}/", "{{SKILL_DIR}}/"];

/// Words that begin something other than a simple command.
const RESERVED: [&str; 18] = [
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "select", "then", "time", "until", "while",
];

/// The words of one simple command, split the way a POSIX shell splits them.
///
/// `<x>` is a slot, inside quotes as well. Words in `[…]` are optional, and `[a|b]` is an optional choice. `$name` is a slot
/// for an argument of the skill. Everything that a shell would do beyond splitting makes a text no template: pipes,
/// redirections, variables inside `${…}`, globs, comments, assignments, several lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Its words in order, parted by whether they have to be there.
    pub phrases: Vec<Phrase>,
}

/// Words that are there together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Whether they have to be there.
    pub presence: Presence,
    /// The words; at least one.
    pub words: Vec<TemplateWord>,
}

/// Whether something has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// It has to.
    Required,
    /// It stands in `[…]`.
    Optional,
}

/// One word, without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateWord {
    /// What it is made of. None at all is an empty word.
    pub pieces: Vec<Piece>,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// To be filled.
    Slot(Slot),
}

/// A place for a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// What it is called, without its marks. With `|` in it, it names the choices.
    pub name: String,
    /// How it is written.
    pub mark: SlotMark,
}

/// How a slot is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotMark {
    /// `<name>`, or a choice in `[a|b]`.
    Angle,
    /// `$name`: an argument of the skill, if it declares one of that name. Else it is a variable of the shell.
    Dollar,
}

impl TemplateWord {
    /// The word, if nothing in it has to be filled.
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Its slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(slot),
            Piece::Text(_) => None,
        })
    }
}

impl Template {
    /// Reads one simple command; `None` for anything else.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_TEMPLATE || text.contains('\0') {
            return None;
        }
        let mut scanner = Scanner { rest: text, phrases: Vec::new(), within: Presence::Required };
        scanner.read()?;
        let template = Self { phrases: scanner.phrases };
        let first = template.phrases.first().filter(|phrase| phrase.presence == Presence::Required)?;
        // A request fills in what a program is told, never which program it is.
        let program = first.words.first()?.literal()?;
        let is_assignment = program.split_once('=').is_some_and(|(name, _)| is_name(name));
        (!program.is_empty() && !is_assignment && !RESERVED.contains(&program)).then_some(template)
    }

    /// Its slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.phrases.iter().flat_map(|phrase| &phrase.words).flat_map(TemplateWord::slots)
    }
}

/// What a variable may be called.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

struct Scanner<'a> {
    rest: &'a str,
    phrases: Vec<Phrase>,
    within: Presence,
}

/// Where in a word the scanner is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Bare,
    Single,
    Double,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        Some(next)
    }

    /// Goes over a text that comes next.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn read(&mut self) -> Option<()> {
        loop {
            let blanks = [' ', '\t', '\r'];
            self.rest = self.rest.trim_start_matches(blanks);
            if self.skip("\\\n") || self.skip("\\\r\n") {
                continue;
            }
            match self.rest.chars().next() {
                None if self.within == Presence::Required => return Some(()),
                // A bracket that nobody closed.
                None => return None,
                Some('[') => {
                    // `[ -f x ]` is a program with that name, and brackets in brackets are more than a word says.
                    if self.phrases.is_empty() || self.within == Presence::Optional {
                        return None;
                    }
                    self.next();
                    self.within = Presence::Optional;
                    self.phrases.push(Phrase { presence: self.within, words: Vec::new() });
                }
                Some(']') if self.within == Presence::Optional => {
                    self.next();
                    self.close()?;
                }
                Some(_) => {
                    let word = self.word()?;
                    match self.phrases.last_mut() {
                        Some(phrase) if phrase.presence == self.within => phrase.words.push(word),
                        _ => self.phrases.push(Phrase { presence: self.within, words: vec![word] }),
                    }
                }
            }
        }
    }

    /// Ends an optional phrase. What hangs on the bracket (`[x]...`) would say something that is not read here.
    fn close(&mut self) -> Option<()> {
        self.within = Presence::Required;
        let is_empty = self.phrases.last().is_none_or(|phrase| phrase.words.is_empty());
        (!is_empty && (self.rest.is_empty() || self.rest.starts_with([' ', '\t', '\r', '\\']))).then_some(())
    }

    fn word(&mut self) -> Option<TemplateWord> {
        let (mut pieces, mut text) = (Vec::new(), String::new());
        let mut quoting = Quoting::Bare;
        let mut has_bar = false;
        if self.rest.starts_with(['~', '#']) {
            return None;
        }
        self.skip_own_folder();
        loop {
            if let Some(slot) = self.slot(quoting) {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Slot(slot));
                if quoting == Quoting::Bare && (self.rest.starts_with("...") || self.rest.starts_with('…'))
                {
                    return None; // Several of them: how many is not for a table of words to say.
                }
                continue;
            }
            let at_end = matches!(self.rest.chars().next(), None | Some(' ' | '\t' | '\r'))
                || (self.within == Presence::Optional && self.rest.starts_with(']'));
            if quoting == Quoting::Bare && at_end {
                break;
            }
            let next = self.next()?; // A quote that nobody closed.
            match (quoting, next) {
                (Quoting::Single, '\'') | (Quoting::Double, '"') => quoting = Quoting::Bare,
                (Quoting::Double, '\\') => match self.rest.chars().next() {
                    Some('\n') => drop(self.next()),
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                        self.next();
                        text.push(escaped);
                    }
                    _ => text.push('\\'),
                },
                (Quoting::Bare, '\'') => quoting = Quoting::Single,
                (Quoting::Bare, '"') => {
                    quoting = Quoting::Double;
                    if text.is_empty() && pieces.is_empty() {
                        self.skip_own_folder();
                    }
                }
                (Quoting::Bare, '\\') => match self.next()? {
                    '\n' => {}
                    escaped => text.push(escaped),
                },
                (Quoting::Bare, '|') if self.within == Presence::Optional => {
                    has_bar = true;
                    text.push('|');
                }
                (Quoting::Bare | Quoting::Double, '$' | '`') => return None,
                (Quoting::Bare, shell)
                    if "|&;()<>*?[]{}
"
                    .contains(shell) =>
                {
                    return None;
                }
                (_, other) => text.push(other),
            }
        }
        if has_bar {
            let is_choice = pieces.is_empty() && text.split('|').all(|choice| !choice.is_empty());
            let slot = Slot { name: text, mark: SlotMark::Angle };
            return is_choice.then(|| TemplateWord { pieces: vec![Piece::Slot(slot)] });
        }
        if matches!(text.as_str(), "..." | "…") {
            return None;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Some(TemplateWord { pieces })
    }

    fn skip_own_folder(&mut self) {
        let _ = OWN_FOLDER.iter().any(|folder| self.skip(folder));
    }

    /// A slot that comes next.
    fn slot(&mut self, quoting: Quoting) -> Option<Slot> {
        if let Some(inner) = self.rest.strip_prefix('<') {
            let end = inner.find('>').filter(|end| *end <= MAX_SLOT_NAME)?;
            let name = &inner[..end];
            let is_name = name.starts_with(char::is_alphabetic)
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | '/' | '|'));
            if !is_name {
                return None;
            }
            self.rest = &inner[end + 1..];
            return Some(Slot { name: name.trim_end().to_owned(), mark: SlotMark::Angle });
        }
        let inner = self.rest.strip_prefix('$').filter(|_| quoting != Quoting::Single)?;
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, rest) = inner.split_at(end);
        // `$ARGUMENTS[0]` is one of the arguments, not all of them.
        if !is_name(name) || rest.starts_with('[') {
            return None;
        }
        self.rest = rest;
        Some(Slot { name: name.to_owned(), mark: SlotMark::Dollar })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for a template: slots as `<x>` or `$x`, words parted by `·`, optional phrases in brackets.
    fn shown(template: &Template) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(Slot { name, mark: SlotMark::Angle }) => format!("<{name}>"),
            Piece::Slot(Slot { name, mark: SlotMark::Dollar }) => format!("${name}"),
        };
        let word = |word: &TemplateWord| word.pieces.iter().map(piece).collect::<String>();
        let phrase = |phrase: &Phrase| {
            let words = phrase.words.iter().map(word).collect::<Vec<_>>().join("·");
            if phrase.presence == Presence::Optional { format!("[{words}]") } else { words }
        };
        template.phrases.iter().map(phrase).collect::<Vec<_>>().join("·")
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(Template::read(text).as_ref().map(shown).unwrap_or_default(), expect, "{text:?}");
    }

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        check("ls", "ls");
        check("sh scripts/a.sh \"two words\" 'it''s' a\\ b ''", "sh·scripts/a.sh·two words·its·a b·");
        check("a \\\n  b\n", "a·b");
        check(r#"echo "a \"b\" \c" '$x | `y`'"#, r#"echo·a "b" \c·$x | `y`"#);
    }

    #[test]
    fn slots_stand_anywhere_in_a_word_but_the_program() {
        check("a <x> \"<y z>\" '<b>' --out=<file>.txt", "a·<x>·<y z>·<b>·--out=<file>.txt");
        check("a <csv|json> \"<from>..<to>\"", "a·<csv|json>·<from>..<to>");
        check("a \"$title\" $ARGUMENTS", "a·$title·$ARGUMENTS");
        check("<program> x", "");
        check("\"$program\" x", "");
    }

    #[test]
    fn brackets_make_words_optional() {
        check("a [<folder>] b", "a·[<folder>]·b");
        check("a [--out <file>] [open|done]", "a·[--out·<file>]·[<open|done>]");
        for text in ["a [b [c]]", "a [b", "a []", "a [b]...", "a [<b>|<c>]", "a [b||c]", "[ -f x ]", "a x[b]"]
        {
            check(text, "");
        }
    }

    #[test]
    fn the_folder_of_the_skill_is_where_it_runs() {
        check("python3 ${SKILL_DIR}/scripts/a.py", "python3·scripts/a.py");
        check("python3 \"{baseDir}/scripts/a.py\" <x>", "python3·scripts/a.py·<x>");
        check("python3 {{SKILL_DIR}}/a.py", "python3·a.py");
        check("python3 x${SKILL_DIR}/a.py", "");
    }

    #[test]
    fn what_is_more_than_one_simple_command_is_no_template() {
        for text in [
            "",
            "a | b",
            "a && b",
            "a; b",
            "a &",
            "a > b",
            "a < b",
            "a < <x>",
            "a $(b)",
            "a `b`",
            "a \"$(b)\"",
            "a \"`b`\"",
            "a ${x}",
            "a $1",
            "a $ARGUMENTS[0]",
            "a *",
            "a ?",
            "a {b,c}",
            "a\nb",
            "a 'b",
            "a \"b",
            "(a)",
            "X=1 a",
            "if a",
            "! a",
            "# a",
            "a # b",
            "~/a",
            "a ~/b",
            "a <files>...",
            "a ...",
            "a <1>",
            "a <x",
            "$ a",
            "a\0b",
            "{title}",
        ] {
            check(text, "");
        }
        check(&format!("a {}", "b".repeat(MAX_TEMPLATE)), "");
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_scanner_and_nothing_comes_from_elsewhere(
            text in "([a-z]{1,3}|<[a-z|]{1,4}>|[$\\[\\]{}()<>|&;*?~#'\"`.…-]|\\\\|\\PC| |\n){0,14}",
        ) {
            if let Some(template) = Template::read(&text) {
                for word in template.phrases.iter().flat_map(|phrase| &phrase.words) {
                    for slot in word.slots() {
                        assert!(text.contains(&slot.name), "{slot:?}");
                    }
                }
                assert!(template.phrases.iter().all(|phrase| !phrase.words.is_empty()));
            }
        }
    }
}

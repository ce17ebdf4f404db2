//! An operation as a command to fill in: the words of one simple command, with slots in them.

use metier_shell::{
    Nesting, ShellToken, ShellTokenKind as Kind, ShellTokens, assignment, is_reserved, is_variable_name,
};

/// A longer text is only shown: it is a program, not a command with gaps.
const MAX_TEMPLATE: usize = 4_096;

/// The longest name of a slot in bytes. What is longer is a sentence, and nobody could tell what belongs there.
const MAX_SLOT_NAME: usize = 64;

/// What bodies write for the skill's own folder. An operation runs there, so at the beginning of a word it can go.
const OWN_FOLDER: [&str; 5] =
    ["${SKILL_DIR}/", "${CLAUDE_SKILL_DIR}/", "${CLAUDE_SKILL_ROOT}/", "{baseDir}/", "{{SKILL_DIR}}/"];

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

    fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
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
        if text.is_empty() || text.len() > MAX_TEMPLATE {
            return None;
        }
        let text = text.replace("\r\n", "\n");
        if text.contains(['\0', '\r']) {
            return None;
        }
        let template = Self { phrases: Scanner::new(&text).read()? };
        let first = template.phrases.first().filter(|phrase| phrase.presence == Presence::Required)?;
        // A request fills in what a program is told, never which program it is.
        let program = first.words.first()?.literal()?;
        let is_program = !program.is_empty() && assignment(program).is_none() && !is_reserved(program);
        is_program.then_some(template)
    }

    /// Its slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.phrases.iter().flat_map(|phrase| &phrase.words).flat_map(TemplateWord::slots)
    }
}

struct Scanner<'a> {
    text: &'a str,
    tokens: ShellTokens<'a>,
    phrases: Vec<Phrase>,
    within: Presence,
    word: Option<TemplateWord>,
    /// Whether the word at hand names choices.
    has_bar: bool,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let tokens = ShellTokens::new(text);
        Self { text, tokens, phrases: Vec::new(), within: Presence::Required, word: None, has_bar: false }
    }

    fn read(mut self) -> Option<Vec<Phrase>> {
        loop {
            if self.word.is_none() && self.pass_own_folder() || self.pass_slot()? {
                continue;
            }
            let Some(token) = self.tokens.next() else { break };
            self.take(&token)?;
        }
        self.end_word()?;
        (self.tokens.is_whole() && self.within == Presence::Required).then_some(self.phrases)
    }

    /// Takes a token; `None` for whatever a shell would do beyond splitting.
    fn take(&mut self, token: &ShellToken) -> Option<()> {
        let literal = token.literal(self.text).unwrap_or_default();
        match token.kind {
            Kind::Blank => return self.end_word(),
            Kind::Continuation | Kind::Close(_) => {}
            Kind::Open(Nesting::Double) => {
                if self.word().pieces.is_empty() {
                    self.pass_own_folder();
                }
            }
            Kind::Single => self.single(literal),
            // A backslash that ends the text protects nothing.
            Kind::Escape if literal.is_empty() => return None,
            Kind::Text if self.is_bare() => return self.bare(literal),
            Kind::Text | Kind::Escape => self.word().push(literal),
            Kind::Separator if token.text(self.text) == "|" && self.within == Presence::Optional => {
                self.has_bar = true;
                self.word().push("|");
            }
            _ => return None,
        }
        Some(())
    }

    /// Takes characters outside of quotes.
    fn bare(&mut self, text: &str) -> Option<()> {
        let is_first = self.word.is_none();
        match text.as_bytes().first()? {
            b'[' if is_first => {
                // `[ -f x ]` is a program with that name, and brackets in brackets are more than a word says.
                if self.phrases.is_empty() || self.within == Presence::Optional {
                    return None;
                }
                self.within = Presence::Optional;
                self.phrases.push(Phrase { presence: self.within, words: Vec::new() });
                if text.len() > 1 {
                    return self.bare(&text[1..]);
                }
            }
            b']' if text == "]" && self.within == Presence::Optional => return self.close(),
            b'~' | b'#' if is_first => return None,
            _ if text.contains(['*', '?', '[', ']', '{', '}']) => return None,
            _ => self.word().push(text),
        }
        Some(())
    }

    /// Ends an optional phrase. What hangs on the bracket (`[x]...`) would say something that is not read here.
    fn close(&mut self) -> Option<()> {
        self.end_word()?;
        self.within = Presence::Required;
        let is_empty = self.phrases.last().is_none_or(|phrase| phrase.words.is_empty());
        let ahead = self.tokens.ahead();
        (!is_empty && (ahead.is_empty() || ahead.starts_with([' ', '\t', '\\']))).then_some(())
    }

    /// Takes a text in single quotes, in which only `<x>` is a slot.
    fn single(&mut self, mut text: &str) {
        let word = self.word();
        while let Some(at) = text.find('<') {
            let (before, rest) = text.split_at(at);
            word.push(before);
            let length = if let Some((slot, length)) = angle(rest) {
                word.pieces.push(Piece::Slot(slot));
                length
            } else {
                word.push("<");
                1
            };
            text = &rest[length..];
        }
        word.push(text);
    }

    /// The word at hand, begun if there is none.
    fn word(&mut self) -> &mut TemplateWord {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) -> Option<()> {
        let Some(mut word) = self.word.take() else { return Some(()) };
        if std::mem::take(&mut self.has_bar) {
            let name = word.literal().filter(|text| text.split('|').all(|choice| !choice.is_empty()))?;
            word.pieces = vec![Piece::Slot(Slot { name: name.to_owned(), mark: SlotMark::Angle })];
        }
        if matches!(word.pieces.last(), Some(Piece::Text(text)) if matches!(text.as_str(), "..." | "…")) {
            return None;
        }
        match self.phrases.last_mut() {
            Some(phrase) if phrase.presence == self.within => phrase.words.push(word),
            _ => self.phrases.push(Phrase { presence: self.within, words: vec![word] }),
        }
        Some(())
    }

    fn is_bare(&self) -> bool {
        self.tokens.nestings().is_empty()
    }

    fn pass_own_folder(&mut self) -> bool {
        let ahead = self.tokens.ahead();
        let Some(folder) = OWN_FOLDER.iter().find(|folder| ahead.starts_with(**folder)) else { return false };
        self.tokens.pass(folder.len());
        self.word();
        true
    }

    /// Takes a slot that comes next. `None` where it stands for several words: how many is not for a table of words to say.
    fn pass_slot(&mut self) -> Option<bool> {
        let ahead = self.tokens.ahead();
        let Some((slot, length)) = angle(ahead).or_else(|| dollar(ahead)) else { return Some(false) };
        self.tokens.pass(length);
        self.word().pieces.push(Piece::Slot(slot));
        let is_repeated = ahead[length..].starts_with("...") || ahead[length..].starts_with('…');
        (!(self.is_bare() && is_repeated)).then_some(true)
    }
}

/// `<name>` at the beginning of a text, and how long it is.
fn angle(text: &str) -> Option<(Slot, usize)> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find('>').filter(|end| *end <= MAX_SLOT_NAME)?;
    let name = &inner[..end];
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | '/' | '|');
    let is_name = name.starts_with(char::is_alphabetic) && name.chars().all(is_part);
    let slot = Slot { name: name.trim_end().to_owned(), mark: SlotMark::Angle };
    is_name.then_some((slot, end + 2))
}

/// `$name` at the beginning of a text, and how long it is.
fn dollar(text: &str) -> Option<(Slot, usize)> {
    let inner = text.strip_prefix('$')?;
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    // `$ARGUMENTS[0]` is one of the arguments, not all of them.
    let is_slot = is_variable_name(name) && !rest.starts_with('[');
    is_slot.then(|| (Slot { name: name.to_owned(), mark: SlotMark::Dollar }, end + 1))
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
        check("a \\\r\n  b\r\n", "a·b");
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
            "a 'b'[c]",
            "a $'b'",
            "a\rb",
            "a 2>b",
            "a {b",
            "in a",
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

//! What a skill runs when nobody thinks: its operation, or its only script, with what has to be filled in.

use metier_skill::{Phrase, Piece, Presence, Slot, SlotMark, Template, TemplateWord, operation};

use super::fill::{Filled, Gap, Wish, fill};
use super::guide::Study;
use super::positions::place;

/// What somebody says to a skill.
pub(super) enum Said<'a> {
    /// A request, out of which slots are filled.
    Request(Wish<'a>),
    /// The arguments themselves.
    Arguments(&'a str),
}

/// What a skill runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Recipe {
    /// A script of `scripts/` with these words.
    Script { script: String, phrases: Vec<Phrase> },
    /// A command line.
    Command { phrases: Vec<Phrase> },
    /// A text that is no single command: it can only be shown.
    Shown { text: String },
    /// Nothing: the skill is instructions alone.
    Nothing,
}

/// Interpreters that an operation names before a script, with the extensions for which a script is run the same way.
const INTERPRETERS: &[(&[&str], &[&str])] = &[
    (&["sh", "bash"], &["sh", "bash"]),
    (&["python3", "python"], &["py"]),
    (&["node"], &["js", "mjs", "cjs", "ts", "mts", "cts"]),
];

/// All arguments of a skill in one text.
const ALL_ARGUMENTS: &str = "ARGUMENTS";

impl Recipe {
    /// The recipe of a skill.
    pub(super) fn of(study: &Study) -> Self {
        let Some(operation) = operation(&study.body) else { return Self::of_only_script(study) };
        let is_known = |slot: &Slot| {
            slot.mark == SlotMark::Angle
                || slot.name == ALL_ARGUMENTS
                || study.arguments.iter().any(|argument| argument.name == slot.name)
        };
        match operation.template.filter(|template| template.slots().all(is_known)) {
            Some(template) => Self::of_template(template, study),
            None => Self::Shown { text: operation.text },
        }
    }

    fn of_template(template: Template, study: &Study) -> Self {
        let mut phrases = template.phrases;
        let Some(first) = phrases.first_mut() else { return Self::Nothing };
        let at = |at: usize| first.words.get(at).and_then(TemplateWord::literal);
        let script = |path: &str| {
            let path = path.strip_prefix("./").unwrap_or(path).strip_prefix("scripts/")?;
            study.scripts.iter().find(|script| *script == path).cloned()
        };
        let program = at(0).unwrap_or_default();
        let found = match (script(program), at(1).and_then(script)) {
            (Some(script), _) => Some((script, 1)),
            (None, Some(script)) if is_run_by(&script, program) => Some((script, 2)),
            _ => None,
        };
        match found {
            Some((script, words)) => {
                first.words.drain(..words);
                phrases.retain(|phrase| !phrase.words.is_empty());
                Self::Script { script, phrases }
            }
            None => Self::Command { phrases },
        }
    }

    /// The only script, told the declared arguments, else what the hint names.
    fn of_only_script(study: &Study) -> Self {
        let [script] = study.scripts.as_slice() else { return Self::Nothing };
        let phrases = if study.arguments.is_empty() {
            study.hint.as_deref().map(hinted).unwrap_or_default()
        } else {
            let names = study.arguments.iter().map(|argument| argument.name.clone());
            names.map(|name| slot_phrase(name, SlotMark::Dollar, Presence::Required)).collect()
        };
        Self::Script { script: script.clone(), phrases }
    }

    pub(super) fn phrases(&self) -> &[Phrase] {
        match self {
            Self::Script { phrases, .. } | Self::Command { phrases } => phrases,
            Self::Shown { .. } | Self::Nothing => &[],
        }
    }

    /// Fills the slots of a recipe, and the arguments that its skill declares.
    pub(super) fn fill(self, study: &Study, said: &Said<'_>) -> Serving {
        let mut gaps: Vec<Gap> = Vec::new();
        let mut add = |name: &str, presence: Presence| match gaps.iter_mut().find(|gap| gap.name == name) {
            Some(gap) if presence == Presence::Required => gap.presence = presence,
            Some(_) => {}
            None => gaps.push(Gap { name: name.to_owned(), presence }),
        };
        let default = |name: &str| {
            study
                .arguments
                .iter()
                .find(|argument| argument.name == name)
                .and_then(|argument| argument.default.clone())
        };
        let need = |name: &str, presence| if default(name).is_some() { Presence::Optional } else { presence };
        for phrase in self.phrases() {
            for slot in phrase.words.iter().flat_map(TemplateWord::slots) {
                add(&slot.name, need(&slot.name, phrase.presence));
            }
        }
        if self != Self::Nothing {
            study
                .arguments
                .iter()
                .for_each(|argument| add(&argument.name, need(&argument.name, Presence::Required)));
        }
        let Filled { values, unused, has_room, denial } = match said {
            Said::Request(wish) => fill(&gaps, wish),
            Said::Arguments(text) => place(&gaps, text, &study.body),
        };
        let values: Vec<(Gap, Option<String>)> = gaps
            .into_iter()
            .zip(values)
            .map(|(gap, value)| {
                let value = value.or_else(|| default(&gap.name));
                (gap, value)
            })
            .collect();
        Serving { recipe: self, values, unused, has_room, denial }
    }
}

/// Whether a script is run by this program, or by one that is the same to it, when it is run by its name.
fn is_run_by(script: &str, program: &str) -> bool {
    let extension = script.rsplit_once('.').map_or("", |(_, extension)| extension);
    INTERPRETERS
        .iter()
        .any(|(programs, extensions)| programs.contains(&program) && extensions.contains(&extension))
}

/// The slots of a hint such as `[file] <format>`: those in brackets are optional. A hint that has more than that says
/// nothing that can be relied on.
fn hinted(hint: &str) -> Vec<Phrase> {
    let mut rest = hint.trim();
    let mut phrases = Vec::new();
    while let Some(open) = rest.chars().next() {
        let (close, presence) = match open {
            '[' => (']', Presence::Optional),
            '<' => ('>', Presence::Required),
            _ => return Vec::new(),
        };
        let Some((name, behind)) = rest[1..].split_once(close) else { return Vec::new() };
        let name = name.trim_matches(['<', '>', ' ']);
        if name.is_empty() || name.starts_with('-') {
            return Vec::new();
        }
        phrases.push(slot_phrase(name.to_owned(), SlotMark::Angle, presence));
        rest = behind.trim_start();
    }
    phrases
}

fn slot_phrase(name: String, mark: SlotMark, presence: Presence) -> Phrase {
    Phrase { presence, words: vec![TemplateWord { pieces: vec![Piece::Slot(Slot { name, mark })] }] }
}

/// A recipe with what a request gave for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Serving {
    pub(super) recipe: Recipe,
    pub(super) values: Vec<(Gap, Option<String>)>,
    pub(super) unused: Vec<String>,
    /// Whether words that nothing accounts for may be meant for something.
    has_room: bool,
    /// A word by which the request says what not to do.
    pub(super) denial: Option<String>,
}

impl Serving {
    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(gap, _)| gap.name == name).and_then(|(_, value)| value.as_deref())
    }

    /// Slots that have to be filled and are not.
    pub(super) fn missing(&self) -> Vec<&str> {
        let is_missing =
            |(gap, value): &&(Gap, Option<String>)| gap.presence == Presence::Required && value.is_none();
        self.values.iter().filter(is_missing).map(|(gap, _)| gap.name.as_str()).collect()
    }

    /// Words of the request that may be meant for an optional slot to which it says nothing else, also where that has a default. To leave them out would do something else
    /// than what was asked for.
    pub(super) fn overlooked(&self) -> &[String] {
        if self.has_room { &self.unused } else { &[] }
    }

    /// Whether a value would be taken for an option: it begins with `-`, is a whole word, and nothing says that options are
    /// over. Such a command is shown, not run.
    pub(super) fn has_option_by_chance(&self) -> bool {
        let mut words = self.present().take_while(|word| word.literal() != Some("--"));
        words.any(|word| {
            matches!(word.pieces.first(), Some(Piece::Slot(slot)) if self.value(&slot.name).is_some_and(|value| value.starts_with('-')))
        })
    }

    /// The words that are there: all required ones, and the optional ones of which every slot is filled.
    fn present(&self) -> impl Iterator<Item = &TemplateWord> {
        let is_there = |phrase: &&Phrase| {
            let mut slots = phrase.words.iter().flat_map(TemplateWord::slots).peekable();
            phrase.presence == Presence::Required
                || (slots.peek().is_some() && slots.all(|slot| self.value(&slot.name).is_some()))
        };
        self.recipe.phrases().iter().filter(is_there).flat_map(|phrase| &phrase.words)
    }

    /// The words with their values; a slot without one is written as `<name>`.
    pub(super) fn words(&self) -> Vec<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(slot) => {
                self.value(&slot.name).map_or_else(|| format!("<{}>", slot.name), str::to_owned)
            }
        };
        self.present().map(|word| word.pieces.iter().map(piece).collect()).collect()
    }

    /// The values of the declared arguments, up to the last one that was given.
    pub(super) fn declared<'s>(&'s self, study: &'s Study) -> Vec<&'s str> {
        study.arguments.iter().map_while(|argument| self.value(&argument.name)).collect()
    }
}

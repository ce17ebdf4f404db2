//! The command that a skill runs without a model: its operation, or its only script, with the slots to fill.

use metier_skill::{Phrase, Piece, Presence, Slot, SlotMark, Template, TemplateWord, operation};

use crate::fill::{FillInput, OpenSlot, SlotValues, fill};
use crate::positional::fill_in_order;
use crate::router::SkillFacts;

/// Where the values of slots come from.
pub(crate) enum SlotSource<'a> {
    /// A request; values are pieces of it.
    Request(FillInput<'a>),
    /// The arguments themselves.
    Arguments(&'a str),
}

/// What a skill runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandTemplate {
    /// A script of `scripts/` with these words.
    Script { script: String, phrases: Vec<Phrase> },
    /// A command line.
    Command { phrases: Vec<Phrase> },
    /// More than a single command: it is only shown.
    Shown { text: String },
    /// The skill has instructions only.
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

impl CommandTemplate {
    /// The template of a skill.
    pub(crate) fn of(facts: &SkillFacts) -> Self {
        let Some(operation) = operation(&facts.body) else { return Self::of_only_script(facts) };
        let is_known = |slot: &Slot| {
            slot.mark == SlotMark::Angle
                || slot.name == ALL_ARGUMENTS
                || facts.arguments.iter().any(|argument| argument.name == slot.name)
        };
        match operation.template.filter(|template| template.slots().all(is_known)) {
            Some(template) => Self::of_template(template, facts),
            None => Self::Shown { text: operation.text },
        }
    }

    fn of_template(template: Template, facts: &SkillFacts) -> Self {
        let mut phrases = template.phrases;
        let Some(first) = phrases.first_mut() else { return Self::Nothing };
        let at = |at: usize| first.words.get(at).and_then(TemplateWord::literal);
        let script = |path: &str| {
            let path = path.strip_prefix("./").unwrap_or(path).strip_prefix("scripts/")?;
            facts.scripts.iter().find(|script| *script == path).cloned()
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

    /// The only script with the declared arguments, else those of the hint.
    fn of_only_script(facts: &SkillFacts) -> Self {
        let [script] = facts.scripts.as_slice() else { return Self::Nothing };
        let phrases = if facts.arguments.is_empty() {
            facts.hint.as_deref().map(hinted).unwrap_or_default()
        } else {
            let names = facts.arguments.iter().map(|argument| argument.name.clone());
            names.map(|name| slot_phrase(name, SlotMark::Dollar, Presence::Required)).collect()
        };
        Self::Script { script: script.clone(), phrases }
    }

    pub(crate) fn phrases(&self) -> &[Phrase] {
        match self {
            Self::Script { phrases, .. } | Self::Command { phrases } => phrases,
            Self::Shown { .. } | Self::Nothing => &[],
        }
    }

    /// Fills the slots of a template, and the arguments that its skill declares.
    pub(crate) fn fill(self, facts: &SkillFacts, source: &SlotSource<'_>) -> FilledCommand {
        let mut slots: Vec<OpenSlot> = Vec::new();
        let mut add = |name: &str, presence: Presence| match slots.iter_mut().find(|slot| slot.name == name) {
            Some(slot) if presence == Presence::Required => slot.presence = presence,
            Some(_) => {}
            None => slots.push(OpenSlot { name: name.to_owned(), presence }),
        };
        let default = |name: &str| {
            facts
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
            facts
                .arguments
                .iter()
                .for_each(|argument| add(&argument.name, need(&argument.name, Presence::Required)));
        }
        let SlotValues { values, unused, has_room, denial } = match source {
            SlotSource::Request(input) => fill(&slots, input),
            SlotSource::Arguments(text) => fill_in_order(&slots, text, &facts.body),
        };
        let values: Vec<(OpenSlot, Option<String>)> = slots
            .into_iter()
            .zip(values)
            .map(|(slot, value)| {
                let value = value.or_else(|| default(&slot.name));
                (slot, value)
            })
            .collect();
        FilledCommand { template: self, values, unused, has_room, denial }
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

/// A template with the values from a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilledCommand {
    pub(crate) template: CommandTemplate,
    pub(crate) values: Vec<(OpenSlot, Option<String>)>,
    pub(crate) unused: Vec<String>,
    /// Whether unused words may be meant for an empty slot.
    has_room: bool,
    /// A word that negates the request.
    pub(crate) denial: Option<String>,
}

impl FilledCommand {
    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(slot, _)| slot.name == name).and_then(|(_, value)| value.as_deref())
    }

    /// Required slots without a value.
    pub(crate) fn missing(&self) -> Vec<&str> {
        let is_missing = |(slot, value): &&(OpenSlot, Option<String>)| {
            slot.presence == Presence::Required && value.is_none()
        };
        self.values.iter().filter(is_missing).map(|(slot, _)| slot.name.as_str()).collect()
    }

    /// Unused words that may be meant for an optional slot, even one with a default. Ignoring them would do something else than
    /// was asked for.
    pub(crate) fn overlooked(&self) -> &[String] {
        if self.has_room { &self.unused } else { &[] }
    }

    /// Whether a value would be taken for an option: it begins with `-`, is a whole word, and nothing says that options are
    /// over. Such a command is shown, not run.
    pub(crate) fn has_option_by_chance(&self) -> bool {
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
        self.template.phrases().iter().filter(is_there).flat_map(|phrase| &phrase.words)
    }

    /// The words with their values; a slot without one is written as `<name>`.
    pub(crate) fn words(&self) -> Vec<String> {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(slot) => {
                self.value(&slot.name).map_or_else(|| format!("<{}>", slot.name), str::to_owned)
            }
        };
        self.present().map(|word| word.pieces.iter().map(piece).collect()).collect()
    }

    /// The values of the declared arguments, up to the last one that was given.
    pub(crate) fn declared<'s>(&'s self, facts: &'s SkillFacts) -> Vec<&'s str> {
        facts.arguments.iter().map_while(|argument| self.value(&argument.name)).collect()
    }
}

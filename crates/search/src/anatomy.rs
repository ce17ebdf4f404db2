//! A skill's text taken apart: what is said where, what it is not for, and in which passage.

use crate::cue::{cue, is_against, joined_cue, may_have_joined_cue};
use crate::lexicon::Lexicon;
use crate::words::Word;

/// A skill as the index reads it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkillText<'a> {
    /// The name it is called by.
    pub name: &'a str,
    /// A title beside the name.
    pub title: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// When to use it.
    pub when_to_use: &'a str,
    /// Its tags, with blanks between.
    pub tags: &'a str,
    /// What follows the frontmatter.
    pub body: &'a str,
    /// The names of its scripts, with blanks between.
    pub scripts: &'a str,
}

/// The most of a body that is looked at. The largest public one has 400 KB, and what is so long that it goes beyond this
/// is data; what a skill is about stands at its beginning.
const MAX_BODY: usize = 256 * 1024;

/// Where in a skill a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In the name.
    Name,
    /// In the title, of the frontmatter or the first heading.
    Title,
    /// In the description or the line that says when to use it.
    Description,
    /// In the tags.
    Tags,
    /// In a heading.
    Heading,
    /// In the text.
    Body,
    /// In the name of a script.
    Script,
    /// In a block of code.
    Code,
    /// In what it is not for.
    Against,
}

impl Place {
    /// The words users see.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Description => "description",
            Self::Tags => "tags",
            Self::Heading => "headings",
            Self::Body => "text",
            Self::Script => "scripts",
            Self::Code => "code",
            Self::Against => "what it is not for",
        }
    }
}

/// Receives the parts of a skill, in the order of its text.
pub(crate) trait Reader<'a> {
    /// A word.
    fn word(&mut self, place: Place, word: Word<'a>);
    /// A sentence of what it is not for begins; the words of it follow.
    fn sentence_against(&mut self, sentence: &'a str);
    /// A whole piece of text, before its words.
    fn text(&mut self, _place: Place, _text: &'a str) {}
}

/// Takes a skill apart.
pub(crate) fn take_apart<'a>(skill: &SkillText<'a>, lexicon: &mut Lexicon, reader: &mut impl Reader<'a>) {
    let mut line = Vec::new();
    plain(skill.name, Place::Name, lexicon, reader);
    plain(skill.title, Place::Title, lexicon, reader);
    for text in [skill.description, skill.when_to_use] {
        reader.text(Place::Description, text);
        for sentence in sentences(text) {
            description_sentence(sentence, &mut line, lexicon, reader);
        }
    }
    plain(skill.tags, Place::Tags, lexicon, reader);
    plain(skill.scripts, Place::Script, lexicon, reader);
    body(beginning(skill.body), &mut line, lexicon, reader);
}

/// As much of a body as is looked at.
pub(crate) fn beginning(body: &str) -> &str {
    &body[..body.floor_char_boundary(MAX_BODY)]
}

fn plain<'a>(text: &'a str, place: Place, lexicon: &mut Lexicon, reader: &mut impl Reader<'a>) {
    reader.text(place, text);
    lexicon.words(text, |word| reader.word(place, word));
}

/// A sentence of the description. "Stalled work → rescue" sends requests about stalled work elsewhere, and so does
/// "use rescue instead".
fn description_sentence<'a>(
    sentence: &'a str,
    line: &mut Vec<Word<'a>>,
    lexicon: &mut Lexicon,
    reader: &mut impl Reader<'a>,
) {
    if let Some(arrow) = sentence.find('→') {
        against(&sentence[..arrow], lexicon, reader);
        return;
    }
    let is_elsewhere = |word: &Word<'_>| word.written.eq_ignore_ascii_case("instead");
    line.clear();
    lexicon.words(sentence, |word| line.push(word));
    if line.iter().any(is_elsewhere) {
        against(sentence, lexicon, reader);
        return;
    }
    if split_at_joined_cue(sentence, Place::Description, lexicon, reader).is_none() {
        split_at_cue(sentence, line, Place::Description, lexicon, reader);
    }
}

/// Gives the words of a line in which a cue of a script without blanks stands; what follows it is against. `None` where there is none.
fn split_at_joined_cue<'a>(
    text: &'a str,
    place: Place,
    lexicon: &mut Lexicon,
    reader: &mut impl Reader<'a>,
) -> Option<()> {
    let range = joined_cue(text)?;
    lexicon.words(&text[..range.start], |word| reader.word(place, word));
    against(&text[range.end..], lexicon, reader);
    Some(())
}

/// Gives the words of a line; what follows a cue is against.
fn split_at_cue<'a>(
    text: &'a str,
    line: &[Word<'a>],
    place: Place,
    lexicon: &mut Lexicon,
    reader: &mut impl Reader<'a>,
) {
    let Some(found) = cue(line.len(), |at| line.get(at).map_or("", |word| word.written)) else {
        for word in line {
            reader.word(place, *word);
        }
        return;
    };
    for word in &line[..found.start] {
        reader.word(place, *word);
    }
    let from = line.get(found.behind).map_or(text.len(), |word| offset(text, word.written));
    against(&text[from..], lexicon, reader);
}

/// Where a piece of a text begins in it.
fn offset(text: &str, piece: &str) -> usize {
    (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

fn against<'a>(text: &'a str, lexicon: &mut Lexicon, reader: &mut impl Reader<'a>) {
    for sentence in sentences(text) {
        reader.sentence_against(sentence);
        lexicon.words(sentence, |word| reader.word(Place::Against, word));
    }
}

/// Sentences: parted by a stop and a blank, a line's end, a dash between blanks, or a full-width stop.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let mut end = rest.len();
            let mut next = rest.len();
            let mut before = ' ';
            for (at, character) in rest.char_indices() {
                let behind = at + character.len_utf8();
                let ends = match character {
                    '\n' | '。' | '！' | '？' | '；' => true,
                    ' ' | '\t' => matches!(before, '.' | '!' | '?' | ';'),
                    '—' | '–' => before == ' ' && rest[behind..].starts_with(' '),
                    _ => false,
                };
                if ends {
                    (end, next) = (at, behind);
                    break;
                }
                before = character;
            }
            let sentence = rest[..end].trim();
            rest = &rest[next..];
            if !sentence.is_empty() {
                return Some(sentence);
            }
        }
        None
    })
}

fn body<'a>(body: &'a str, line: &mut Vec<Word<'a>>, lexicon: &mut Lexicon, reader: &mut impl Reader<'a>) {
    let mut fence: Option<&str> = None;
    let mut has_title = false;
    // The level of the heading under which everything is against.
    let mut under: Option<usize> = None;
    reader.text(Place::Body, body);
    // One look at the whole body spares one at every line of it.
    let has_arrow = body.contains('→');
    let has_joined_cue = may_have_joined_cue(body);
    for text in body.lines() {
        let trimmed = text.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => lexicon.words(text, |word| reader.word(Place::Code, word)),
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => {
                if let Some((level, heading)) = heading(text) {
                    if under.is_some_and(|above| level <= above) {
                        under = None;
                    }
                    if under.is_none() && is_against(heading) {
                        under = Some(level);
                    } else if under.is_none() {
                        let first = level == 1 && !has_title;
                        has_title |= first;
                        let place = if first { Place::Title } else { Place::Heading };
                        plain(heading, place, lexicon, reader);
                    }
                } else if under.is_some() {
                    against(text, lexicon, reader);
                } else if let Some(elsewhere) = has_arrow.then(|| sends_elsewhere(text)).flatten() {
                    against(&text[..elsewhere], lexicon, reader);
                } else if has_joined_cue && split_at_joined_cue(text, Place::Body, lexicon, reader).is_some()
                {
                    // Its words are given already.
                } else {
                    line.clear();
                    lexicon.words(text, |word| line.push(word));
                    split_at_cue(text, line, Place::Body, lexicon, reader);
                }
            }
        }
    }
}

/// Where a line of the body sends a request elsewhere: an arrow to something in backquotes, as in "broken builds → `ci-doctor`".
fn sends_elsewhere(line: &str) -> Option<usize> {
    let arrow = line.find('→')?;
    let behind = line[arrow + '→'.len_utf8()..].trim_start_matches([' ', '*']);
    behind.starts_with('`').then_some(arrow)
}

/// The level and the text of a heading; a line that is all bold counts as the lowest one.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) {
        return Some((level, line[level..].trim()));
    }
    let bold = line.trim_start().strip_prefix("**")?.trim_end().trim_end_matches(':').strip_suffix("**")?;
    let is_title = (3..=80).contains(&bold.len()) && !bold.contains('*');
    is_title.then_some((7, bold.trim_end_matches(':')))
}

#[cfg(test)]
mod tests {
    use super::{Place, Reader, SkillText, sentences, take_apart};
    use crate::lexicon::Lexicon;
    use crate::words::Word;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl<'a> Reader<'a> for Heard {
        fn word(&mut self, place: Place, word: Word<'a>) {
            self.0.push(format!("{}:{}", place.words(), word.written));
        }
        fn sentence_against(&mut self, sentence: &'a str) {
            self.0.push(format!("[{sentence}]"));
        }
    }

    fn check(skill: SkillText<'_>, expected: &[&str]) {
        let mut heard = Heard::default();
        take_apart(&skill, &mut Lexicon::default(), &mut heard);
        assert_eq!(heard.0, expected);
    }

    #[test]
    fn each_word_has_its_place() {
        let body = "# Alpha\nbeta\n## Gamma\n```\ndelta\n```\n";
        let skill = SkillText {
            name: "n",
            description: "d",
            tags: "t",
            scripts: "s.py",
            body,
            ..SkillText::default()
        };
        let expected = [
            "name:n",
            "description:d",
            "tags:t",
            "scripts:s",
            "scripts:py",
            "title:Alpha",
            "text:beta",
            "headings:Gamma",
            "code:delta",
        ];
        check(skill, &expected);
    }

    #[test]
    fn what_it_is_not_for_is_kept_apart() {
        let description = "Reads logs. Not for metrics. Broken builds → ci-doctor.";
        let body = "## When not to use\n- billing\n### Also\ntaxes\n## Steps\nread";
        let skill = SkillText { description, body, ..SkillText::default() };
        let expected = [
            "description:Reads",
            "description:logs",
            "[metrics.]",
            "what it is not for:metrics",
            "[Broken builds]",
            "what it is not for:Broken",
            "what it is not for:builds",
            "[- billing]",
            "what it is not for:billing",
            "[taxes]",
            "what it is not for:taxes",
            "headings:Steps",
            "text:read",
        ];
        check(skill, &expected);
    }

    #[test]
    fn sentences_end_where_a_reader_breathes() {
        let all: Vec<&str> = sentences("One. Two v1.2; three — four\nfive。六").collect();
        assert_eq!(all, ["One.", "Two v1.2;", "three", "four", "five", "六"]);
    }

    #[test]
    fn an_open_fence_reaches_to_the_end() {
        let skill = SkillText { body: "```\na\n# b", ..SkillText::default() };
        check(skill, &["code:a", "code:b"]);
    }
}

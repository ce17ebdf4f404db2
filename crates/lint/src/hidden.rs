//! Characters that show nothing on a screen and still reach a model.
//!
//! Found once per skill, by bytes: nearly all files are ASCII with a few dashes and arrows, and those are passed over
//! without being decoded.

use metier_diagnostic::Span;

/// A character that shows nothing, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Its first byte.
    pub at: usize,
    /// The character.
    pub character: char,
}

/// What a hidden character is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenKind {
    /// It changes the direction of what follows, so that text is shown in another order than it is read.
    Bidi,
    /// It repeats ASCII invisibly; only flag emoji need it.
    Tag,
    /// It joins, separates or fills without a trace.
    Invisible,
}

impl Hidden {
    /// Its bytes.
    pub fn span(self) -> Span {
        Span::new(self.at, self.end())
    }

    /// The byte behind it.
    pub fn end(self) -> usize {
        self.at + self.character.len_utf8()
    }

    /// What it is there for.
    pub fn kind(self) -> HiddenKind {
        match self.character {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => HiddenKind::Bidi,
            '\u{e0000}'..='\u{e007f}' => HiddenKind::Tag,
            _ => HiddenKind::Invisible,
        }
    }

    /// Its name, as Unicode has it but in lower case.
    pub fn name(self) -> &'static str {
        name(self.character).unwrap_or("invisible character")
    }

    /// How it is called in a message: `U+200B (zero width space)`.
    pub fn label(self) -> String {
        format!("U+{:04X} ({})", u32::from(self.character), self.name())
    }
}

/// How many bytes are looked at together.
const STEP: usize = 16;

/// The hidden characters of a text, in order. A byte order mark at the very start is none: it is where it belongs.
pub(crate) fn find(text: &str) -> Vec<Hidden> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(lead) = bytes.get(at) {
        if bytes.get(at..at + STEP).is_some_and(<[u8]>::is_ascii) {
            at += STEP;
            continue;
        }
        at += match lead {
            0..0x80 => 1,
            // The only lead bytes with which a hidden character begins.
            0xc2 | 0xcd | 0xd8 | 0xe1 | 0xe2 | 0xe3 | 0xef | 0xf3 => {
                let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                if name(character).is_some() && !(character == '\u{feff}' && at == 0) {
                    found.push(Hidden { at, character });
                }
                character.len_utf8()
            }
            0x80..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0.. => 4,
        };
    }
    found
}

/// The characters of one kind that follow each other without a gap, and where they stand: each run is one finding, since text
/// that is hidden takes hundreds of them.
pub(crate) fn runs(all: &[Hidden], kind: HiddenKind) -> impl Iterator<Item = (Span, &[Hidden])> {
    let runs = all.chunk_by(|one, next| one.end() == next.at && one.kind() == next.kind());
    runs.filter_map(move |run| {
        let (first, last) = run.first().zip(run.last())?;
        (first.kind() == kind).then(|| (Span::new(first.at, last.end()), run))
    })
}

/// The name of a hidden character, as Unicode has it but in lower case; `None` for every other.
fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{ad}' => "soft hyphen",
        '\u{34f}' => "combining grapheme joiner",
        '\u{61c}' => "arabic letter mark",
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => "hangul filler",
        '\u{180e}' => "mongolian vowel separator",
        '\u{200b}' => "zero width space",
        '\u{200c}' => "zero width non-joiner",
        '\u{200d}' => "zero width joiner",
        '\u{200e}' => "left-to-right mark",
        '\u{200f}' => "right-to-left mark",
        '\u{202a}' => "left-to-right embedding",
        '\u{202b}' => "right-to-left embedding",
        '\u{202c}' => "pop directional formatting",
        '\u{202d}' => "left-to-right override",
        '\u{202e}' => "right-to-left override",
        '\u{2060}' => "word joiner",
        '\u{2061}'..='\u{2064}' => "invisible operator",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        '\u{2068}' => "first strong isolate",
        '\u{2069}' => "pop directional isolate",
        '\u{206a}'..='\u{206f}' => "deprecated format character",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "variation selector",
        '\u{feff}' => "byte order mark",
        '\u{fff9}'..='\u{fffb}' => "interlinear annotation mark",
        '\u{e0000}'..='\u{e007f}' => "tag character",
        _ => return None,
    })
}

/// Whether a letter is written from right to left, so that marks of direction beside it are ordinary spelling.
pub(crate) fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<_> = find(text).into_iter().map(Hidden::label).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn hidden_characters_are_found_wherever_they_stand() {
        check("plain ASCII, longer than one step of the search", &[]);
        check("dashes — and “quotes” → arrows, 漢字, é", &[]);
        check("\u{feff}---\nname: x\n", &[]);
        check("a\u{feff}b", &["U+FEFF (byte order mark)"]);
        check("0123456789abcde\u{200b}f", &["U+200B (zero width space)"]);
        check("漢\u{ad}字\u{202e}", &["U+00AD (soft hyphen)", "U+202E (right-to-left override)"]);
        check("\u{e0041}\u{e0100}", &["U+E0041 (tag character)", "U+E0100 (variation selector)"]);
    }

    proptest! {
        #[test]
        fn it_finds_what_a_slow_search_finds(text in "[a-z —漢🏴\u{ad}\u{200b}\u{202e}\u{fe0f}\u{e0041}]{0,60}") {
            let slow: Vec<_> = text
                .char_indices()
                .filter(|(_, c)| name(*c).is_some())
                .map(|(at, character)| Hidden { at, character })
                .collect();
            prop_assert_eq!(find(&text), slow);
        }
    }
}

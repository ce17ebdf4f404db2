//! Function words of requests, and what the names of slots mean.

/// Words that lead into a request before it says what it wants: politeness, who asks, and that something is wanted.
const LEAD_IN: &[&str] = &[
    "can", "could", "d", "hello", "hey", "hi", "i", "id", "ill", "just", "kindly", "let", "lets", "like",
    "must", "need", "ok", "okay", "please", "pls", "should", "so", "to", "us", "want", "we", "will", "would",
    "you",
];

/// Words that hang the rest of a request onto what it wants. Negations are not among them: without them a request says
/// the opposite.
const GLUE: &[&str] = &[
    "a", "about", "an", "as", "at", "for", "from", "in", "into", "it", "me", "my", "of", "off", "on", "onto",
    "our", "out", "that", "the", "this", "to", "us", "with", "your",
];

/// Those of the glue that begin a phrase which says where something goes: "to my list".
const PREPOSITIONS: &[&str] =
    &["as", "at", "for", "from", "in", "into", "of", "off", "on", "onto", "out", "to", "with"];

/// Words that ask without saying about what. Beside glue they are what may be left over when everything was used.
const ASKING: &[&str] = &[
    "all", "and", "any", "are", "be", "been", "by", "did", "do", "does", "get", "give", "had", "has", "have",
    "here", "how", "is", "made", "many", "much", "or", "show", "tell", "than", "thank", "thanks", "there",
    "these", "they", "those", "was", "were", "what", "when", "where", "which", "who", "why",
];

/// Words with which people end a request.
const LEAD_OUT: &[&str] = &["please", "pls", "thanks", "thx"];

/// Words by which a request says what not to do.
const DENIALS: &[&str] = &[
    "avoid", "cancel", "cannot", "cant", "didnt", "doesnt", "dont", "never", "no", "nope", "not", "shouldnt",
    "stop", "without", "wont",
];

/// A word without case and apostrophes, which people leave out as often as they write them.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '\'' | '’')).flat_map(char::to_lowercase).collect()
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.contains(&plain(word).as_str())
}

pub(crate) fn is_lead_in(word: &str) -> bool {
    is_in(LEAD_IN, word)
}

pub(crate) fn is_lead_out(word: &str) -> bool {
    is_in(LEAD_OUT, word)
}

pub(crate) fn is_glue(word: &str) -> bool {
    is_in(GLUE, word)
}

pub(crate) fn is_preposition(word: &str) -> bool {
    is_in(PREPOSITIONS, word)
}

pub(crate) fn is_denial(word: &str) -> bool {
    is_in(DENIALS, word)
}

/// Whether a word says nothing that a command could need.
pub(crate) fn is_idle(word: &str) -> bool {
    is_lead_in(word) || is_lead_out(word) || is_glue(word) || is_in(ASKING, word)
}

/// Whether two words are the same but for case and a common ending.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    /// Endings that make another form of a word and no other word. Longer ones would.
    const ENDINGS: [&str; 6] = ["s", "es", "d", "ed", "ing", "ting"];
    let (one, other) = (plain(one), plain(other));
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    // Two letters with an ending are another word: "a" and "as".
    long == short
        || (short.len() > 2
            && long.strip_prefix(short.as_str()).is_some_and(|ending| ENDINGS.contains(&ending)))
        || short.strip_suffix('e').is_some_and(|stem| {
            stem.len() > 2 && long.strip_prefix(stem).is_some_and(|ending| ending == "ing")
        })
}

/// What belongs into a slot, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SlotKind {
    /// A number.
    Number,
    /// A number, or a word with one in it: `PAY-12`.
    Id,
    /// A path.
    Path,
    /// An address.
    Url,
    /// A text that has to be written first. It is taken from quotes in the request, and never guessed.
    Composed,
    /// Any other text.
    Text,
}

/// Names of slots, with a space between; their plural is meant, too.
const SLOT_KINDS: &[(SlotKind, &str)] = &[
    (
        SlotKind::Number,
        "age amount count day height hour index length limit max min minute month n num number \
         percent percentage pixel port quality quantity second size weight week width year",
    ),
    (SlotKind::Id, "id issue key pr ticket"),
    (
        SlotKind::Path,
        "archive csv dir directory document dst file filename folder image input json log output path \
         pdf photo picture repo repository spreadsheet src table tsv video xlsx yaml",
    ),
    (SlotKind::Url, "address link uri url website"),
    (
        SlotKind::Composed,
        "analysis answer body code content draft explanation outline plan reply report review summary \
         translation",
    ),
];

impl SlotKind {
    /// The kind of a name such as `title`, `task-id`, `number of lines`, `table.tsv`: by the noun it comes down to.
    pub(crate) fn of(name: &str) -> Self {
        if looks_like_path(name) {
            return Self::Path;
        }
        let parts: Vec<&str> =
            name.split(['-', '_', ' ', '/', '.']).filter(|part| !part.is_empty()).collect();
        // "number of files" is a number; "file number" is one, too.
        let head = parts
            .iter()
            .position(|part| *part == "of")
            .and_then(|of| of.checked_sub(1))
            .unwrap_or(parts.len().saturating_sub(1));
        let Some(head) = parts.get(head) else { return Self::Text };
        let found = SLOT_KINDS.iter().find(|(_, names)| names.split(' ').any(|name| is_same(name, head)));
        found.map_or(Self::Text, |(kind, _)| *kind)
    }
}

/// Whether a word of a request is a path: it has a `/`, or a name with an extension.
pub(crate) fn looks_like_path(word: &str) -> bool {
    /// What has a slash and is no path.
    const WORDS: [&str; 7] = ["and/or", "he/she", "his/her", "n/a", "she/he", "w/o", "yes/no"];
    if word.contains("://") || is_in(&WORDS, word) || word.chars().any(char::is_control) {
        return false;
    }
    if word == "." || word == ".." {
        return true;
    }
    if word.contains('/') {
        // `3/4` and `24/7` are numbers.
        return word.chars().any(|c| c.is_alphabetic() || c == '.' || c == '_') && word.len() > 1;
    }
    word.rsplit_once('.').is_some_and(|(name, extension)| {
        let is_extension = (1..=5).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric());
        // `e.g` and `i.e` are words.
        is_extension && name.chars().any(char::is_alphanumeric) && (name.len() > 1 || extension.len() > 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_the_same_word() {
        let check = |one: &str, other: &str, expect: bool| {
            assert_eq!((is_same(one, other), is_same(other, one)), (expect, expect), "{one} {other}");
        };
        check("List", "lists", true);
        check("show", "Shows", true);
        check("remove", "removing", true);
        check("don't", "dont", true);
        check("a", "as", false);
        check("list", "listen", false);
        check("", "s", false);
    }

    #[test]
    fn a_name_says_what_belongs_there() {
        let check = |name: &str, expect: SlotKind| assert_eq!(SlotKind::of(name), expect, "{name}");
        check("number", SlotKind::Number);
        check("task_id", SlotKind::Id);
        check("number of files", SlotKind::Number);
        check("file-or-folder", SlotKind::Path);
        check("table.tsv", SlotKind::Path);
        check("output file", SlotKind::Path);
        check("page url", SlotKind::Url);
        check("draft", SlotKind::Composed);
        check("title", SlotKind::Text);
        check("", SlotKind::Text);
    }

    #[test]
    fn paths_are_told_from_words() {
        for path in [
            ".",
            "..",
            "src/",
            "./a",
            "/etc",
            "a.rs",
            "my notes.md",
            "x/y.tar.gz",
            ".github/workflows",
            "a/b",
        ] {
            assert!(looks_like_path(path), "{path}");
        }
        for word in
            ["", "src", "e.g", "3.5", "v1.2", "24/7", "and/or", "https://a.b/c", "/", "etc.", "...", "and/OR"]
        {
            assert!(!looks_like_path(word), "{word}");
        }
    }
}

//! The invariants on inputs that nobody wrote down.

use crate::case_file::cases;
use crate::invariant::{
    a_beginning_agrees, a_scalar_reads_back, both_parsers_agree, editing_changes_one_key, fixes_are_sound,
    judging_answers, parsing_answers,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Real-shaped files to mutate: the repair cases and some that need no repair.
fn seeds() -> Vec<Vec<u8>> {
    let data = [
        include_str!("../data/repair/late-opening.txt"),
        include_str!("../data/repair/missing-opening.txt"),
        include_str!("../data/repair/odd-closing.txt"),
        include_str!("../data/repair/continued-colon.txt"),
        include_str!("../data/repair/indicator-in-list.txt"),
        include_str!("../data/repair/inner-quotes.txt"),
        include_str!("../data/repair/bad-escape.txt"),
        include_str!("../data/repair/unindented-text.txt"),
        include_str!("../data/repair/tab-indent.txt"),
        include_str!("../data/repair/salvage.txt"),
        include_str!("../data/repair/unclosed.txt"),
        include_str!("../data/repair/control-characters.txt"),
    ];
    let mut seeds: Vec<Vec<u8>> = data.into_iter().flat_map(cases).map(|case| case.file).collect();
    for strict in STRICT {
        seeds.push(strict.as_bytes().to_vec());
    }
    seeds
}

/// A file that a failure shows as text.
#[derive(Clone)]
struct File(Vec<u8>);

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// Files without anything to repair, for edits.
const STRICT: [&str; 6] = [
    "---\nname: pdf\ndescription: Reads PDFs. # a remark\n\nlicense: 'MIT'\n---\n# PDF\n",
    "---\r\nname: pdf\r\ndescription: >-\r\n  Reads\r\n  PDFs.\r\nmetadata:\r\n  version: 1.10\r\n---\r\nbody\r\n",
    "---\nname: a\ndescription: |\n  Two\n  lines\n\ntags: [a, \"b\"]\nmore:\n- x\n- y: z\n# last\n---\n",
    "\u{feff}---\ndescription: b\nanchors: &x {a: b}\nalias: *x\n---\n\n---\nA rule.\n",
    "---\n---\nOnly a body here.\n",
    "# No frontmatter\n\nOnly a body.\n",
];

/// Pieces that mean something to a parser of frontmatter.
const PIECES: [&str; 48] = [
    "\n",
    "\n\n",
    "---",
    "---\n",
    "----\n",
    " ---\n",
    "...\n",
    "```\n",
    "# x\n",
    "name: ",
    "name: x\n",
    "description: ",
    "description: y\n",
    "license: MIT\n",
    "tools: ",
    "metadata:\n  a: b\n",
    ": ",
    ":\n",
    " ",
    "  ",
    "\t",
    "- ",
    "'",
    "\"",
    "''",
    "\\",
    "\\n",
    "\\ud83d",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "&a ",
    "*a",
    "!x ",
    "%",
    "@",
    "`",
    ">\n",
    "|\n  t\n",
    "#",
    "é",
    "\u{feff}",
    "\u{0}",
    "\u{85}",
    "\r\n",
    "🎯",
];

fn pieced() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES.to_vec()), 0..30).prop_map(|pieces| pieces.concat())
}

/// A real-shaped file with a few changes.
fn mutated() -> impl Strategy<Value = File> {
    let change = (any::<Index>(), any::<Index>(), 0..4_u8, select(PIECES.to_vec()));
    (select(seeds()), prop::collection::vec(change, 1..6)).prop_map(|(mut bytes, changes)| {
        for (at, length, action, piece) in changes {
            let at = at.index(bytes.len() + 1);
            let end = (at + length.index(12)).min(bytes.len());
            match action {
                0 => drop(bytes.drain(at..end)),
                1 => drop(bytes.splice(at..at, piece.bytes())),
                2 => drop(bytes.splice(at..end, piece.bytes())),
                // A piece of the file again, somewhere else.
                _ => {
                    let copy = bytes[at..end].to_vec();
                    let to = length.index(bytes.len() + 1);
                    bytes.splice(to..to, copy);
                }
            }
        }
        File(bytes)
    })
}

proptest! {
    // Minutes and millions are the fuzz targets' work; no file of failures, since each becomes a case of its own.
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_skill_or_a_reason(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        parsing_answers(&bytes);
        fixes_are_sound(&bytes);
    }

    #[test]
    fn any_pieces_give_a_skill_or_a_reason(text in pieced()) {
        parsing_answers(text.as_bytes());
        fixes_are_sound(text.as_bytes());
    }

    #[test]
    fn mutated_files_give_a_skill_or_a_reason(file in mutated()) {
        parsing_answers(&file.0);
    }

    #[test]
    fn every_client_has_an_opinion_on_any_text(text in prop_oneof![any::<String>(), pieced()]) {
        judging_answers(text.as_bytes(), None);
    }

    #[test]
    fn every_client_has_an_opinion_on_mutated_files(file in mutated()) {
        judging_answers(&file.0, Some("pdf"));
    }

    #[test]
    fn fixes_of_mutated_files_are_sound(file in mutated()) {
        fixes_are_sound(&file.0);
    }

    #[test]
    fn a_beginning_is_judged_as_the_whole_or_not_at_all(file in mutated(), length in any::<Index>()) {
        a_beginning_agrees(&file.0, length.index(file.0.len() + 1));
    }

    #[test]
    fn an_edit_changes_one_key_and_nothing_else(
        file in prop_oneof![mutated(), select(STRICT.to_vec()).prop_map(|text| File(text.as_bytes().to_vec()))],
        key in select(vec!["name", "description", "license", "metadata", "tags", "more", "alias", "anchors", "new-key"]),
        value in prop_oneof!["[ -~]{0,20}", any::<String>(), pieced()],
    ) {
        editing_changes_one_key(&String::from_utf8_lossy(&file.0), key, &value);
    }

    #[test]
    fn a_text_written_as_yaml_reads_back(value in prop_oneof![any::<String>(), pieced(), "[ -~\n\t]{0,30}"]) {
        a_scalar_reads_back(&value);
    }

    #[test]
    fn both_parsers_agree_on_mutated_frontmatter(file in mutated()) {
        let text = String::from_utf8_lossy(&file.0);
        if let Some((yaml, _)) = metier_skill::split(text.as_bytes()) {
            both_parsers_agree(&text[yaml]);
        }
    }
}

//! The invariants under many URIs built from suspicious pieces.

use std::path::Path;

use metier_files::FileDigest;
use serde_json::{Map, Value, json};

use crate::invariant::{comparison_holds, entry_holds};

const PIECES: &[&str] = &[
    "skill://a",
    "skill:",
    "file:",
    "a",
    "b",
    "/",
    "//",
    "..",
    ".",
    "%2e",
    "%2F",
    "%5c",
    "%00",
    "\\",
    "SKILL.md",
    "skill.md",
    "?x",
    "#y",
    " ",
    "\u{202e}",
    "ü",
    "%C3%BC",
    "%ff",
    "%",
    ":",
    "references",
];

/// Deterministic pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn text(&mut self, most: usize) -> String {
        let count = self.below(most);
        (0..count).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

fn entry(files: &[(String, u64)]) -> Value {
    let digest = FileDigest::of(b"x").to_string();
    let document = json!({ "uri": "skill://a/SKILL.md", "size": 1, "digest": digest });
    let files = files.iter().map(|(uri, size)| json!({ "uri": uri, "size": size, "digest": digest }));
    let files: Vec<Value> = [document].into_iter().chain(files).collect();
    json!({
        "uri": "skill://a/SKILL.md",
        "frontmatter": { "name": "a", "description": "d" },
        "resources": files,
    })
}

#[test]
fn files_of_an_accepted_entry_are_in_its_folder() {
    let mut numbers = Numbers(7);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let count = numbers.below(4);
        let files: Vec<(String, u64)> = (0..count)
            .map(|_| {
                let rest = numbers.text(6);
                let uri = if numbers.below(4) == 0 { rest } else { format!("skill://a/{rest}") };
                (uri, numbers.below(10_000_000) as u64)
            })
            .collect();
        accepted += usize::from(entry_holds(&entry(&files)).is_some() && count > 0);
    }
    assert!(accepted > 100, "only {accepted} entries were accepted");
}

#[test]
fn any_text_is_a_difference_or_the_listed_frontmatter() {
    let mut listed = Map::new();
    listed.insert("name".to_owned(), json!("a"));
    let words = [
        "---\n",
        "name: a\n",
        "name: b\n",
        "- x\n",
        "...\n",
        "\t",
        "{",
        "&a *a",
        "!!x",
        "\u{feff}",
        "\n",
        "\"",
        "|\n",
    ];
    let mut numbers = Numbers(11);
    let mut same = 0;
    for _ in 0..20_000 {
        let count = numbers.below(7);
        let text: String = (0..count).map(|_| words[numbers.below(words.len())]).collect();
        if comparison_holds(format!("---\n{text}").as_bytes(), &listed) {
            same += 1;
            assert!(text.contains("name: a") && !text.starts_with("name: b"), "{text:?}");
        }
    }
    assert!(same > 10, "only {same} files equalled the listing");
}

/// The seeds of the fuzzer hold without it, too.
#[test]
fn the_seeds_of_the_fuzz_target_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/listed");
    let (mut accepted, mut same) = (Vec::new(), Vec::new());
    for seed in std::fs::read_dir(folder).unwrap() {
        let (path, name) = {
            let seed = seed.unwrap();
            (seed.path(), seed.file_name().into_string().unwrap())
        };
        let bytes = std::fs::read(path).unwrap();
        let mut parts = bytes.splitn(2, |byte| *byte == 0);
        let entry: Value = serde_json::from_slice(parts.next().unwrap()).unwrap();
        if entry_holds(&entry).is_some() {
            accepted.push(name.clone());
        }
        if comparison_holds(parts.next().unwrap(), entry["frontmatter"].as_object().unwrap()) {
            same.push(name);
        }
    }
    accepted.sort();
    same.sort();
    assert_eq!(accepted, ["changed", "deep", "files", "plain"]);
    assert_eq!(same, ["deep", "files", "other-case", "outside", "plain"]);
}

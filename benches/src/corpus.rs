//! A tree of real texts: the files of a corpus, repeated, each under a folder and a name of its own.
//!
//! Copies of one skill would all have one name, and a catalogue rightly spends time on names that clash. So a number is
//! put behind the name in each copy, and nothing else of the text is changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::tree::{Tree, make, thousands, write};

/// Changes whenever the way of copying changes.
const EDITION: &str = "2";

/// A corpus has broken files, and a loader refuses some of them; one that refuses more than this is fast for the wrong
/// reason.
const LEAST_PERCENT: usize = 98;

/// Files collected for being broken. Among them one in ten files would be damaged; in the wild it is one in forty, which
/// is what the rest of the corpus has.
const COLLECTED_DAMAGE: &str = "odd";

/// A name stands near the top of a file, even of a broken one.
const HEAD_LINES: usize = 60;

/// The tree, or nothing when there is no corpus.
pub(crate) fn tree(trees: &Path, corpus: &Path, skills: usize) -> Result<Option<Tree>> {
    let mut sources = Vec::new();
    collect(corpus, &mut sources)?;
    sources.sort();
    if sources.is_empty() {
        return Ok(None);
    }
    let stamp = format!("{EDITION} {:016x}", fingerprint(&sources)?);
    let root = make(&trees.join(format!("real-{skills}")), &stamp, |root| {
        // One source after the other, so that only one is ever held.
        for (first, source) in sources.iter().enumerate() {
            let text = read(source)?;
            for index in (first..skills).step_by(sources.len()) {
                copy(root, source, &text, index)?;
            }
        }
        Ok(())
    })?;
    let name = format!("real {}", thousands(skills));
    Ok(Some(Tree { name, root, skills, least_percent: LEAST_PERCENT }))
}

/// Every `SKILL.md` below the folder.
fn collect(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name() != COLLECTED_DAMAGE {
            collect(&entry.path(), sources)?;
        } else if entry.file_name() == "SKILL.md" {
            sources.push(entry.path());
        }
    }
    Ok(())
}

/// Tells one state of the corpus from another (FNV-1a over all bytes).
fn fingerprint(sources: &[PathBuf]) -> Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for source in sources {
        for byte in read(source)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(hash)
}

fn read(source: &Path) -> Result<Vec<u8>> {
    fs::read(source).with_context(|| format!("{} cannot be read", source.display()))
}

fn copy(root: &Path, source: &Path, text: &[u8], index: usize) -> Result<()> {
    let suffix = format!("-{index:05}");
    let (text, name) = rename(text, &suffix);
    // Where the name can be a folder's it is, as the standard asks; one peer refuses the skill otherwise.
    let folder = name.filter(|name| is_canonical(name)).unwrap_or_else(|| {
        let original = source.parent().and_then(Path::file_name).unwrap_or_default();
        let plain = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
        original.to_string_lossy().chars().filter(plain).chain(suffix.chars()).collect()
    });
    let folder = root.join(folder);
    fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    write(&folder.join("SKILL.md"), text)
}

fn is_canonical(name: &str) -> bool {
    name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.starts_with('-')
}

/// The text with the suffix behind its name, and that name; the text as it is when it has none on one line.
fn rename(text: &[u8], suffix: &str) -> (Vec<u8>, Option<String>) {
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n').take(HEAD_LINES) {
        if let Some(value) = line.strip_prefix(b"name:")
            && let Some(end) = value_end(value)
        {
            let at = start + b"name:".len() + end;
            let renamed = [&text[..at], suffix.as_bytes(), &text[at..]].concat();
            let name = String::from_utf8_lossy(&value[..end]);
            let name = name.trim().trim_start_matches(['"', '\'']);
            return (renamed, Some(format!("{name}{suffix}")));
        }
        start += line.len();
    }
    (text.to_vec(), None)
}

/// Where a value ends on its line: before a comment, trailing blanks and a closing quote. `None` when there is none.
fn value_end(value: &[u8]) -> Option<usize> {
    let comment = value.windows(2).position(|pair| pair == b" #").unwrap_or(value.len());
    let mut end = value[..comment].trim_ascii_end().len();
    if matches!(value[..end].trim_ascii(), [] | [b'>' | b'|', ..] | b"\"\"" | b"''") {
        return None;
    }
    if matches!(value[..end], [.., b'"' | b'\'']) {
        end -= 1;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> (String, Option<String>) {
        let (text, name) = rename(text.as_bytes(), "-00007");
        (String::from_utf8(text).unwrap(), name)
    }

    #[test]
    fn the_number_goes_behind_the_name_and_nowhere_else() {
        for (text, expected) in [
            ("---\nname: ledger\nx: 1\n", "---\nname: ledger-00007\nx: 1\n"),
            ("---\r\nname: ledger  \r\n", "---\r\nname: ledger-00007  \r\n"),
            ("---\nname: \"ledger\"\n", "---\nname: \"ledger-00007\"\n"),
            ("---\nname: 'ledger' # why\n", "---\nname: 'ledger-00007' # why\n"),
        ] {
            assert_eq!(renamed(text), (expected.to_owned(), Some("ledger-00007".to_owned())));
        }
    }

    #[test]
    fn a_text_without_a_name_stays_as_it_is() {
        for text in ["# Title\n", "---\nname:\n", "---\nname: \"\"\n", "---\nname: >\n  ledger\n", ""] {
            assert_eq!(renamed(text), (text.to_owned(), None));
        }
    }

    #[test]
    fn a_name_that_is_no_folder_name_is_recognised() {
        assert!(is_canonical("ledger-00007"));
        assert!(!is_canonical("Ledger 00007"));
        assert!(!is_canonical("../ledger"));
    }
}

//! Which files of a skill can be run or loaded as code.
//!
//! Everything but documents. A list of endings of programs is never complete: an interpreter loads `.pyc`, `.so`, `.node`
//! and `.pth` without being asked, and a configuration file names what is started. So the list is of documents, and a file
//! on it has to look like one.

use metier_files::{Listed, SkillDir};

/// How many bytes at the beginning of a document are looked at. Every mark below lies in the first twelve, and a binary file
/// has a zero byte soon.
const HEAD: u64 = 512;

/// Documents that are text: to be read by people and models, and loaded by nothing.
const TEXT_ENDINGS: [&str; 9] = [".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".csv", ".tsv", ".log"];

/// Documents that are no text, each with the bytes that such a file begins with.
const MARKED_ENDINGS: [(&str, &[u8]); 8] = [
    (".pdf", b"%PDF-"),
    (".png", b"\x89PNG\r\n\x1a\n"),
    (".jpg", b"\xff\xd8\xff"),
    (".jpeg", b"\xff\xd8\xff"),
    (".gif", b"GIF8"),
    (".webp", b"RIFF"),
    (".bmp", b"BM"),
    (".tiff", b"II*\0"),
];

/// Texts that decide which code is installed or built, whatever their ending says.
const BUILD_WORDS: [&str; 3] = ["requirements", "constraints", "cmakelists"];

/// Whether a file can be run or loaded as code.
pub(crate) fn is_code(folder: &SkillDir, listed: &Listed) -> bool {
    let path = listed.path.as_bytes().to_ascii_lowercase();
    let head = || folder.read_page(&listed.path, 0, HEAD).map(|page| page.bytes).unwrap_or_default();
    // On some file systems everything may be executed, and the skill's own text is edited all day.
    if path == b"skill.md" {
        return head().starts_with(b"#!");
    }
    listed.executable || path.starts_with(b"scripts/") || !is_document(&path, head)
}

/// Whether a file, by its path in lower case and its first bytes, is a document.
fn is_document(path: &[u8], head: impl FnOnce() -> Vec<u8>) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    if path.split(|byte| *byte == b'/').any(|step| step == b"__pycache__" || step == b"node_modules") {
        return false;
    }
    if let Some((_, mark)) = MARKED_ENDINGS.iter().find(|(ending, _)| name.ends_with(ending.as_bytes())) {
        return head().starts_with(mark);
    }
    let is_text = TEXT_ENDINGS.iter().any(|ending| name.ends_with(ending.as_bytes()));
    let is_build = BUILD_WORDS.iter().any(|word| name.starts_with(word.as_bytes()));
    if !is_text || is_build {
        return false;
    }
    let head = head();
    !head.starts_with(b"#!") && !head.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_documents_is_code() {
        let text = b"some text".as_slice();
        for (path, head, expect) in [
            ("references/a.md", text, true),
            ("notes.TXT", text, true),
            ("data/table.csv", text, true),
            ("assets/logo.png", b"\x89PNG\r\n\x1a\n....", true),
            ("paper.pdf", b"%PDF-1.7", true),
            // The list is of documents, so what nobody thought of counts.
            ("lib/helper.py", text, false),
            ("lib/helper.so", text, false),
            ("lib/x.node", text, false),
            ("a.mts", text, false),
            ("site.pth", text, false),
            ("config.json", text, false),
            ("settings.yaml", text, false),
            ("pyproject.toml", text, false),
            ("Makefile", text, false),
            ("noending", text, false),
            (".hidden", text, false),
            // A document by its name alone.
            ("run.md", b"#!/bin/sh\n", false),
            ("a.txt", b"\x7fELF\x02\x01\x01\0\0", false),
            ("b.md", b"text\0more", false),
            ("logo.png", b"\x7fELF", false),
            ("x.pdf", b"PK\x03\x04", false),
            ("__pycache__/a.txt", text, false),
            ("node_modules/p/readme.md", text, false),
            ("requirements.txt", text, false),
            ("requirements-dev.txt", text, false),
            ("native/CMakeLists.txt", text, false),
            ("", text, false),
        ] {
            let is = is_document(path.to_ascii_lowercase().as_bytes(), || head.to_vec());
            assert_eq!(is, expect, "{path}");
        }
    }
}

//! `skill_read_file`: any file of a skill, a page at a time, never anything outside.

use metier_files::{Content, Error, PAGE, RelativePath, SkillDir};

/// The result of `skill_read_file`: a page of the text with a line that says how to go on, or one line that says what is
/// there instead. Refusals have the texts of the system whose tool this is.
pub fn read_file(skill: &SkillDir, skill_name: &str, file_path: &str, offset: u64) -> String {
    let denied = || format!("Access denied: '{file_path}' is outside skill directory");
    let Ok(path) = RelativePath::parse(file_path.trim()) else {
        return denied();
    };
    match skill.read_text(&path, offset, PAGE) {
        Ok(Content::Text(page)) => {
            let mut text = page.text.clone();
            let mut note = |line: String| {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&line);
            };
            if page.replaced > 0 {
                note(format!("[{} places that are not UTF-8 are shown as \u{fffd}]", page.replaced));
            }
            if offset > 0 && offset >= page.size {
                note(format!("[offset {offset} is at or beyond the end: the file has {} bytes]", page.size));
            } else if let Some(next) = page.next_offset() {
                note(format!(
                    "[bytes {} to {} of {}; to go on, read with offset={next}]",
                    page.offset, page.end, page.size
                ));
            } else if page.size == 0 {
                note("[the file is empty]".to_owned());
            }
            text
        }
        Ok(Content::Binary(binary)) => {
            format!("'{file_path}' is not text: {}, {} bytes", binary.kind, binary.size)
        }
        Err(Error::NotFound { .. }) => format!("File not found: '{file_path}' in skill '{skill_name}'"),
        Err(Error::Outside { .. }) => denied(),
        Err(Error::IsAFolder { .. } | Error::NotAFile { .. }) => format!("Not a file: '{file_path}'"),
        Err(error) => format!("Error reading file: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn every_answer_is_a_page_or_one_clear_line() {
        let workspace = Workspace::new()
            .file("skill/references/x.md", "text\n")
            .file("skill/logo.png", b"\x89PNG\r\n\x1a\n")
            .file("skill/latin.txt", b"caf\xe9 is written in Latin-1")
            .file("skill/empty", "")
            .symlink("skill/link", "/etc/passwd")
            .fifo("skill/pipe");
        let skill = SkillDir::open(&workspace.join("skill")).unwrap();
        let check =
            |path: &str, offset, expect: &str| assert_eq!(read_file(&skill, "demo", path, offset), expect);
        check("references/x.md", 0, "text\n");
        check("references/x.md", 2, "xt\n");
        check("references/x.md", 9, "[offset 9 is at or beyond the end: the file has 5 bytes]");
        check("references", 0, "Not a file: 'references'");
        check("pipe", 0, "Not a file: 'pipe'");
        check("missing.md", 0, "File not found: 'missing.md' in skill 'demo'");
        for path in ["../other/SKILL.md", "/etc/passwd", "link", "a\0b", "references/../../x"] {
            check(path, 0, &format!("Access denied: '{path}' is outside skill directory"));
        }
        check("logo.png", 0, "'logo.png' is not text: PNG image, 8 bytes");
        check("empty", 0, "[the file is empty]");
        check(
            "latin.txt",
            0,
            "caf\u{fffd} is written in Latin-1\n[1 places that are not UTF-8 are shown as \u{fffd}]",
        );
    }

    #[test]
    fn a_long_file_says_how_to_go_on() {
        let workspace = Workspace::new().file("skill/long.md", "0123456789abcde\n".repeat(5000));
        let skill = SkillDir::open(&workspace.join("skill")).unwrap();
        let first = read_file(&skill, "demo", "long.md", 0);
        assert!(first.ends_with("e\n[bytes 0 to 65536 of 80000; to go on, read with offset=65536]"));
        assert!(read_file(&skill, "demo", "long.md", 65_536).ends_with("abcde\n"));
    }
}

//! `skill_read_file`: any file of a skill, a page at a time, never anything outside.

use metier_files::{Content, Error, PAGE, RelativePath, RelativePathError, SkillDir};

/// Why a file of a skill is not read. The texts are those of the system whose tool this is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The path leads out of the skill's folder.
    #[error("Access denied: '{0}' is outside skill directory")]
    Outside(String),
    /// There is no such file.
    #[error("File not found: '{path}' in skill '{skill}'")]
    NotFound {
        /// What was asked for.
        path: String,
        /// The skill.
        skill: String,
    },
    /// It is a folder, a pipe, a device.
    #[error("Not a file: '{0}'")]
    NotAFile(String),
    /// The system refused.
    #[error("Error reading file: {0}")]
    Unreadable(Error),
}

/// The result of `skill_read_file`: a page of the text with a line that says how to go on, or, of a file that is no
/// text, one line that says what it is. `file_path` is what was asked for, `seen` what is opened.
pub(crate) fn read_seen(
    skill: &SkillDir,
    skill_name: &str,
    file_path: &str,
    seen: &str,
    offset: u64,
) -> Result<String, ReadError> {
    let path = || file_path.to_owned();
    let asked = match RelativePath::parse(seen) {
        Ok(asked) => asked,
        // The skill's folder itself.
        Err(RelativePathError::Empty) => return Err(ReadError::NotAFile(path())),
        Err(_) => return Err(ReadError::Outside(path())),
    };
    match skill.read_text(&asked, offset, PAGE) {
        Ok(content) => Ok(content_text(content, file_path, offset)),
        Err(Error::NotFound { .. }) => {
            Err(ReadError::NotFound { path: path(), skill: skill_name.to_owned() })
        }
        Err(Error::Outside { .. }) => Err(ReadError::Outside(path())),
        Err(Error::IsAFolder { .. } | Error::NotAFile { .. }) => Err(ReadError::NotAFile(path())),
        Err(error) => Err(ReadError::Unreadable(error)),
    }
}

/// What was found, as a model gets it: `offset` is what was asked for.
pub(crate) fn content_text(content: Content, file_path: &str, offset: u64) -> String {
    let page = match content {
        Content::Text(page) => page,
        Content::Binary(binary) => {
            return format!("'{file_path}' is not text: {}, {} bytes", binary.kind, binary.size);
        }
    };
    let next = page.next_offset();
    let mut text = page.text;
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
    } else if let Some(next) = next {
        note(format!(
            "[bytes {} to {} of {}; to go on, read with offset={next}]",
            page.offset, page.end, page.size
        ));
    } else if page.size == 0 {
        note("[the file is empty]".to_owned());
    }
    text
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn read_file(skill: &SkillDir, name: &str, path: &str, offset: u64) -> Result<String, ReadError> {
        read_seen(skill, name, path, path, offset)
    }

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
        let check = |path: &str, offset, expect: &str| {
            let text = read_file(&skill, "demo", path, offset).unwrap_or_else(|error| error.to_string());
            assert_eq!(text, expect);
        };
        check("references/x.md", 0, "text\n");
        check("references/x.md", 2, "xt\n");
        check("references/x.md", 9, "[offset 9 is at or beyond the end: the file has 5 bytes]");
        check("references", 0, "Not a file: 'references'");
        check(".", 0, "Not a file: '.'");
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
        let first = read_file(&skill, "demo", "long.md", 0).unwrap();
        assert!(first.ends_with("e\n[bytes 0 to 65536 of 80000; to go on, read with offset=65536]"));
        assert!(read_file(&skill, "demo", "long.md", 65_536).unwrap().ends_with("abcde\n"));
    }
}

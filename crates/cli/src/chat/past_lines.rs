//! The lines that were typed in earlier chats, for the arrow keys.

use anyhow::{Context, Result};
use metier_catalog::Places;
use metier_files::{Mode, read_bounded, write_atomic};
use std::path::PathBuf;

/// How many lines are kept. Nobody goes back further with an arrow key.
const MAX_LINES: usize = 1_000;

/// The longest line that is kept, in bytes: what is longer was pasted, and is in the log.
const MAX_LINE: usize = 16 << 10;

/// The largest file that is read. Ours is never larger; a larger one is not ours.
const MAX_BYTES: u64 = 32 << 20;

/// Where they are kept: one JSON text a line, since a message may have several lines.
#[derive(Clone, Debug)]
pub(crate) struct PastLines {
    file: PathBuf,
}

impl PastLines {
    pub(crate) fn of(places: &Places) -> Self {
        Self { file: places.data.join("chat").join("lines.jsonl") }
    }

    /// The lines, oldest first. A line of the file that is none is left out: it is a convenience, and losing one harms nobody.
    pub(crate) fn read(&self) -> Result<Vec<String>> {
        let bytes = read_bounded(&self.file, MAX_BYTES).with_context(|| self.trouble("read"))?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Adds what was typed. The file is read again first, so that two chats at once keep the lines of both.
    pub(crate) fn add(&self, typed: &[String]) -> Result<()> {
        let kept: Vec<&String> = typed.iter().filter(|line| is_kept(line)).collect();
        if kept.is_empty() {
            return Ok(());
        }
        let mut lines = self.read()?;
        for line in kept {
            if lines.last() != Some(line) {
                lines.push(line.clone());
            }
        }
        let from = lines.len().saturating_sub(MAX_LINES);
        let mut text = String::new();
        for line in &lines[from..] {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        // Only the user may read it: people type what they would not show around.
        write_atomic(&self.file, text.as_bytes(), Mode::Private).with_context(|| self.trouble("written"))
    }

    /// Forgets all of them.
    pub(crate) fn forget(&self) -> Result<()> {
        write_atomic(&self.file, b"", Mode::Private).with_context(|| self.trouble("written"))
    }

    fn trouble(&self, done: &str) -> String {
        format!("the lines of earlier chats in {} cannot be {done}", self.file.display())
    }
}

/// As in a shell: a line that begins with a blank is not to be remembered.
pub(crate) fn is_kept(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(' ') && line.len() <= MAX_LINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_testkit::Workspace;
    use std::os::unix::fs::PermissionsExt;

    fn lines(workspace: &Workspace) -> PastLines {
        PastLines { file: workspace.join("chat/lines.jsonl") }
    }

    fn add(past: &PastLines, typed: &[&str]) {
        let typed: Vec<String> = typed.iter().map(|line| (*line).to_owned()).collect();
        past.add(&typed).unwrap();
    }

    #[test]
    fn lines_come_back_in_their_order_and_only_the_user_may_read_them() {
        let workspace = Workspace::new();
        let past = lines(&workspace);
        assert_eq!(past.read().unwrap(), Vec::<String>::new());
        add(&past, &["one", "one", " secret", "", "two\nlines \u{1b}"]);
        add(&past, &["three"]);
        assert_eq!(past.read().unwrap(), ["one", "two\nlines \u{1b}", "three"]);
        #[expect(clippy::disallowed_methods, reason = "a test looks at what is on the disk")]
        let mode = std::fs::metadata(workspace.join("chat/lines.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        past.forget().unwrap();
        assert_eq!(past.read().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_oldest_go_first_and_a_broken_line_costs_itself_alone() {
        let workspace = Workspace::new().file("chat/lines.jsonl", "\"old\"\nnot json\n\"newer\"\n");
        let past = lines(&workspace);
        assert_eq!(past.read().unwrap(), ["old", "newer"]);
        let many: Vec<String> = (0..MAX_LINES).map(|number| number.to_string()).collect();
        past.add(&many).unwrap();
        let kept = past.read().unwrap();
        assert_eq!((kept.len(), kept[0].as_str()), (MAX_LINES, "0"));
    }
}

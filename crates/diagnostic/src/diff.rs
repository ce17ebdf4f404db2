//! What changes in a file: a unified diff.

use crate::Paint;
use crate::visible::{acts, push_visible};
use anstyle::{AnsiColor, Effects, Style};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use std::ops::Range;
use std::path::{Component, Path};

/// Lines shown around a change, as many as `diff -u` and git show.
const CONTEXT: usize = 3;

/// One file before and after a change.
///
/// ```
/// use metier_diagnostic::Diff;
/// use std::path::Path;
///
/// let diff = Diff::new(Path::new("pdf/SKILL.md"), "name: PDF\n", "name: pdf\n");
/// assert_eq!(diff.patch(), "--- a/pdf/SKILL.md\n+++ b/pdf/SKILL.md\n@@ -1 +1 @@\n-name: PDF\n+name: pdf\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Diff<'a> {
    path: &'a Path,
    before: &'a str,
    after: &'a str,
}

impl<'a> Diff<'a> {
    /// The change of a file; the path is shown relative, as patches are applied from above.
    pub fn new(path: &'a Path, before: &'a str, after: &'a str) -> Self {
        Self { path, before, after }
    }

    /// For a machine: byte for byte what `git apply` and `patch` take, and empty when nothing changes.
    pub fn patch(&self) -> String {
        let mut out = String::new();
        for (kind, text) in self.lines() {
            out.push_str(kind.sign());
            out.push_str(&text);
            out.push('\n');
        }
        out
    }

    /// For a person: the same lines in which whatever acts on a terminal is shown instead, with colours where they
    /// may be. A tab stays one, and a carriage return is shown where a line is added or removed only, since a file
    /// that ends all lines with it would be hard to read.
    pub fn shown(&self, paint: Paint) -> String {
        let mut out = String::new();
        for (kind, text) in self.lines() {
            let text = if kind == Kind::Same { text.trim_end_matches('\r') } else { &text };
            let style = match paint {
                Paint::Plain => Style::new(),
                Paint::Colour => kind.style(),
            };
            out.push_str(&format!("{style}{}", kind.sign()));
            for c in text.chars() {
                if c == '\t' {
                    out.push(c);
                } else {
                    push_visible(&mut out, c);
                }
            }
            out.push_str(&format!("{style:#}\n"));
        }
        out
    }

    /// The lines of the diff without their signs and line breaks.
    fn lines(&self) -> Vec<(Kind, String)> {
        // At line feeds only: a carriage return alone ends no line for those who apply the patch.
        let old: Vec<&str> = self.before.split_inclusive('\n').collect();
        let new: Vec<&str> = self.after.split_inclusive('\n').collect();
        let hunks = group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT);
        let mut lines = Vec::new();
        for hunk in hunks.iter().filter(|hunk| hunk.iter().any(|op| !matches!(op, DiffOp::Equal { .. }))) {
            let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
            if lines.is_empty() {
                lines.push((Kind::File, format!("--- {}", name("a/", self.path))));
                lines.push((Kind::File, format!("+++ {}", name("b/", self.path))));
            }
            let old_range = first.old_range().start..last.old_range().end;
            let new_range = first.new_range().start..last.new_range().end;
            lines.push((Kind::Hunk, format!("@@ -{} +{} @@", range(&old_range), range(&new_range))));
            for op in hunk {
                if let DiffOp::Equal { old_index, len, .. } = op {
                    push(&mut lines, Kind::Same, &old[*old_index..*old_index + *len]);
                } else {
                    push(&mut lines, Kind::Removed, &old[op.old_range()]);
                    push(&mut lines, Kind::Added, &new[op.new_range()]);
                }
            }
        }
        lines
    }
}

fn push(lines: &mut Vec<(Kind, String)>, kind: Kind, texts: &[&str]) {
    for text in texts {
        if let Some(text) = text.strip_suffix('\n') {
            lines.push((kind, text.to_owned()));
        } else {
            lines.push((kind, (*text).to_owned()));
            lines.push((Kind::Marker, "\\ No newline at end of file".to_owned()));
        }
    }
}

/// Lines of a hunk as its head counts them: from 1, and from the line before when there are none.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        len => format!("{},{len}", lines.start + 1),
    }
}

/// A file's name as git writes it: in quotes when it could be misread, so that no name can pass for a line of a diff.
fn name(side: &str, path: &Path) -> String {
    let mut bytes = side.as_bytes().to_vec();
    for component in path.components() {
        if matches!(component, Component::RootDir | Component::CurDir | Component::Prefix(_)) {
            continue;
        }
        if bytes.len() > side.len() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(component.as_os_str().as_encoded_bytes());
    }
    match String::from_utf8(bytes) {
        Ok(name) if !name.contains(|c| acts(c) || c == '"' || c == '\\') => {
            // A blank could begin a time stamp; a tab behind the name says that none does.
            if name.contains(' ') { format!("{name}\t") } else { name }
        }
        Ok(name) => quoted(name.as_bytes()),
        Err(error) => quoted(error.as_bytes()),
    }
}

fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            byte => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

/// What a line of a diff is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Hunk,
    Same,
    Removed,
    Added,
    Marker,
}

impl Kind {
    const fn sign(self) -> &'static str {
        match self {
            Self::File | Self::Hunk | Self::Marker => "",
            Self::Same => " ",
            Self::Removed => "-",
            Self::Added => "+",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::File => Style::new() | Effects::BOLD,
            Self::Hunk | Self::Marker => Style::new() | Effects::DIMMED,
            Self::Same => Style::new(),
            Self::Removed => AnsiColor::Red.on_default(),
            Self::Added => AnsiColor::Green.on_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(before: &str, after: &str) -> String {
        Diff::new(Path::new("/s/SKILL.md"), before, after).patch()
    }

    #[test]
    fn nothing_changed_is_nothing_said() {
        assert_eq!(patch("a\nb", "a\nb"), "");
        assert_eq!(patch("", ""), "");
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let after = before.replace("1\n2", "one\n2").replace("10\n", "ten");
        let expect = "--- a/s/SKILL.md\n+++ b/s/SKILL.md\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n\
                      @@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+ten\n\\ No newline at end of file\n";
        assert_eq!(patch(before, &after), expect);
    }

    #[test]
    fn a_name_that_could_be_misread_is_quoted() {
        for (path, expect) in [
            ("a b/ü.md", "a/a b/ü.md\t"),
            ("a\n+++ b/evil", r#""a/a\012+++ b/evil""#),
            ("q\"\\\u{202e}", r#""a/q\"\\\342\200\256""#),
        ] {
            assert_eq!(name("a/", Path::new(path)), expect);
        }
    }

    #[test]
    fn a_person_sees_what_acts_and_a_machine_gets_it() {
        let diff = Diff::new(Path::new("x"), "a\r\nb\u{1b}[2K\r\n", "a\r\n\tb\r\n");
        assert!(diff.patch().contains("-b\u{1b}[2K\r\n+\tb\r\n"), "{:?}", diff.patch());
        let expect = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\\u{1b}[2K\\r\n+\tb\\r\n";
        assert_eq!(diff.shown(Paint::Plain), expect);
        assert!(diff.shown(Paint::Colour).contains("\u{1b}[31m-b\\u{1b}[2K\\r\u{1b}[0m\n"));
    }
}

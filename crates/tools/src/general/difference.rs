//! A change of a file, as it is shown before it is made.

use std::path::Path;

use metier_diagnostic::Diff;
use metier_runtime::FileChange;

/// How much text between the first and the last difference is compared line by line. Comparing takes time with the square
/// of what differs, and a rewrite of more than this is not read line by line anyway.
const MAX_COMPARED: usize = 256 * 1024;

/// The change of a file; `before` is nothing where the file is made.
pub(super) fn change(path: &str, before: Option<&[u8]>, after: &str) -> FileChange {
    let created = before.is_none();
    let bytes = before.unwrap_or_default();
    // A yes is for all of it, so all of it is there: what is not compared is shown as new text, whole.
    let diff = match std::str::from_utf8(bytes) {
        Ok(text) if differing(text, after) <= MAX_COMPARED => Diff::new(Path::new(path), text, after).patch(),
        Ok(text) => {
            let lines = text.lines().count();
            format!("[too large to be compared; {lines} lines are replaced by these]\n{}", added(after))
        }
        Err(_) => format!("[{} bytes that are no text are replaced by these]\n{}", bytes.len(), added(after)),
    };
    FileChange { path: path.to_owned(), diff, created }
}

/// How many bytes of the larger text lie between the first and the last difference.
fn differing(before: &str, after: &str) -> usize {
    let (a, b) = (before.as_bytes(), after.as_bytes());
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let most = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    a.len().max(b.len()) - front - back
}

/// Every line of a text as one that a diff adds.
fn added(text: &str) -> String {
    text.lines().flat_map(|line| ["+", line, "\n"]).collect()
}

/// How many lines a diff adds and takes away.
pub(super) fn counts(diff: &str) -> (usize, usize) {
    let count = |sign: char, head: &str| {
        diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
    };
    (count('+', "+++ "), count('-', "--- "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_diff_and_all_of_it_is_there() {
        let made = change("a.md", None, "x\n");
        assert_eq!((made.created, counts(&made.diff)), (true, (1, 0)));
        let edited = change("a.md", Some(b"a\nb\nc\n"), "a\nB\nc\n");
        assert_eq!((edited.created, counts(&edited.diff)), (false, (1, 1)));
        assert!(edited.diff.contains("@@ -1,3 +1,3 @@"), "{}", edited.diff);
        assert_eq!(
            change("a", Some(b"\xff\0"), "x").diff,
            "[2 bytes that are no text are replaced by these]\n+x\n"
        );
        let long = "line\n".repeat(100_000);
        let rewrite = change("a", Some(b""), &long).diff;
        assert!(rewrite.starts_with("[too large to be compared"));
        assert_eq!(counts(&rewrite), (100_000, 0));
        // One word in a long file is shown all the same.
        let one = format!("{long}other\n");
        assert_eq!(counts(&change("a", Some(long.as_bytes()), &one).diff), (1, 0));
        let middling = "line of some length\n".repeat(10_000);
        assert_eq!(counts(&change("a", None, &middling).diff), (10_000, 0));
    }

    #[test]
    fn what_differs_lies_between_the_first_and_the_last_difference() {
        for (before, after, expect) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "axc", 1),
            ("aa", "aaa", 1),
            ("", "xyz", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(differing(before, after), expect, "{before} {after}");
        }
    }
}

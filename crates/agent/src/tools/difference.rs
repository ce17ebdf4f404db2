//! A change of a file, as it is shown before it is made.

use std::path::Path;

use metier_diagnostic::Diff;
use metier_runtime::Change;

/// How much of a diff is shown. Nobody reads more before saying yes, and the rest can be read in the file.
const MOST_SHOWN: usize = 64 * 1024;

/// How much text between the first and the last difference is compared line by line. Comparing takes time with the square
/// of what differs, and a rewrite of more than this is not read line by line anyway.
const MOST_COMPARED: usize = 256 * 1024;

/// The change of a file; `before` is nothing where the file is made.
pub(super) fn change(path: &str, before: Option<&[u8]>, after: &str) -> Change {
    let created = before.is_none();
    let bytes = before.unwrap_or_default();
    let diff = match std::str::from_utf8(bytes) {
        Ok(text) if differing(text, after) <= MOST_COMPARED => {
            cut(Diff::new(Path::new(path), text, after).patch())
        }
        Ok(text) => format!(
            "[too large to be shown: {} lines before, {} lines after]\n",
            text.lines().count(),
            after.lines().count()
        ),
        Err(_) => format!("[{} bytes that are no text are replaced by {} bytes]\n", bytes.len(), after.len()),
    };
    Change { path: path.to_owned(), diff, created }
}

/// How many bytes of the larger text lie between the first and the last difference.
fn differing(before: &str, after: &str) -> usize {
    let (a, b) = (before.as_bytes(), after.as_bytes());
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let most = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    a.len().max(b.len()) - front - back
}

fn cut(mut diff: String) -> String {
    if diff.len() > MOST_SHOWN {
        let end = diff.floor_char_boundary(MOST_SHOWN);
        let left = diff.len() - end;
        diff.truncate(end);
        diff.push_str(&format!("\n[... {left} bytes of the diff left out ...]\n"));
    }
    diff
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
    fn a_change_is_a_diff_and_stays_short_enough_to_be_read() {
        let made = change("a.md", None, "x\n");
        assert_eq!((made.created, counts(&made.diff)), (true, (1, 0)));
        let edited = change("a.md", Some(b"a\nb\nc\n"), "a\nB\nc\n");
        assert_eq!((edited.created, counts(&edited.diff)), (false, (1, 1)));
        assert!(edited.diff.contains("@@ -1,3 +1,3 @@"), "{}", edited.diff);
        assert_eq!(
            change("a", Some(b"\xff\0"), "x").diff,
            "[2 bytes that are no text are replaced by 1 bytes]\n"
        );
        let long = "line\n".repeat(100_000);
        assert!(change("a", Some(b""), &long).diff.starts_with("[too large to be shown"), "rewrite");
        // One word in a long file is shown all the same.
        let one = format!("{long}other\n");
        assert_eq!(counts(&change("a", Some(long.as_bytes()), &one).diff), (1, 0));
        let middling = "line of some length\n".repeat(10_000);
        assert!(change("a", None, &middling).diff.len() < MOST_SHOWN + 100);
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

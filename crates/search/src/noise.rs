//! What people paste beside their request: code, addresses, paths, logs. It has many rare words, none of which says what is
//! wanted.

/// With fewer words than this left, the noise was the request.
const ENOUGH: usize = 3;

/// A text with more lines than this is looked at line by line: a log was pasted into it.
const FEW_LINES: usize = 6;

/// The most of a request that is read. What somebody wants is said in less; a file of a megabyte was pasted by mistake.
const MAX_REQUEST: usize = 16 * 1024;

/// The request without what was pasted beside it; the request as it is where nothing would be left.
pub(crate) fn without_noise(request: &str) -> String {
    let request = beginning(request);
    let prose = prose(request);
    let mut clean = String::with_capacity(prose.len());
    for (at, piece) in prose.split_inclusive(char::is_whitespace).enumerate() {
        if at > 0 && !clean.ends_with(char::is_whitespace) {
            clean.push(' ');
        }
        match kind(piece.trim()) {
            Piece::Address => {}
            Piece::Path(extension) => clean.push_str(extension),
            Piece::Text => {
                clean.push_str(piece);
                continue;
            }
        }
        clean.push(' ');
    }
    let mut count = 0;
    crate::words::words(&clean, |_| count += 1);
    if count >= ENOUGH { clean } else { request.to_owned() }
}

/// As much of a request as is read, up to the end of a word: half a word is another one.
fn beginning(request: &str) -> &str {
    let cut = &request[..request.floor_char_boundary(MAX_REQUEST)];
    if cut.len() == request.len() {
        return cut;
    }
    cut.rfind(char::is_whitespace).map_or(cut, |blank| &cut[..blank])
}

/// The lines that are no code and no log.
fn prose(request: &str) -> String {
    let mut fenced = false;
    let many = request.lines().count() > FEW_LINES;
    let kept = request.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        let is_code = is_fence || fenced;
        !is_code && (!many || !is_log(line))
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// Whether a line reads as a program's, not a person's: it begins with a time or a frame of a stack, or has more marks and digits
/// than a sentence has.
fn is_log(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() {
        return false;
    }
    let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
    if begins(&[
        "at ",
        "File \"",
        "Traceback",
        "    ",
        ">>>",
        "$ ",
        "[",
        "{",
        "}",
        "|",
        "//",
        "#!",
        "+++",
        "---",
        "@@",
    ]) {
        return true;
    }
    let letters = line.chars().filter(|next| next.is_alphabetic() || *next == ' ').count();
    // Four of five characters of a sentence are letters and blanks.
    letters * 5 < line.chars().count() * 4
}

enum Piece<'a> {
    Text,
    Address,
    /// A path, of which the ending says what kind of file it is about.
    Path(&'a str),
}

fn kind(piece: &str) -> Piece<'_> {
    if piece.contains("://") {
        return Piece::Address;
    }
    let inner = piece.trim_matches(|next: char| !next.is_alphanumeric() && !matches!(next, '/' | '~' | '.'));
    let parts: Vec<&str> = inner.split('/').filter(|part| !part.is_empty()).collect();
    let is_name = |part: &&str| {
        part.chars().all(|next| next.is_ascii_alphanumeric() || matches!(next, '.' | '-' | '_' | '~' | '*'))
    };
    let rooted = inner.starts_with(['/', '~', '.']);
    let last = parts.last().copied().unwrap_or_default();
    let extension = last.trim_end_matches('.').rsplit_once('.').map_or("", |(_, extension)| extension);
    // `and/or` and `CI/CD` are words; a path begins at a root, has three parts or ends like a file.
    let is_path = parts.iter().all(is_name)
        && inner.contains('/')
        && (rooted || parts.len() > 2 || !extension.is_empty());
    if is_path { Piece::Path(extension) } else { Piece::Text }
}

#[cfg(test)]
mod tests {
    use super::without_noise;

    fn check(request: &str, expected: &str) {
        let clean = without_noise(request);
        assert_eq!(clean.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{request}");
    }

    #[test]
    fn paths_leave_their_ending() {
        check("transcribe the talk in ~/talks/march/talk.mp3 please", "transcribe the talk in mp3 please");
        check("why does `src/main.rs` not compile", "why does rs not compile");
        check("set up CI/CD and/or tests", "set up CI/CD and/or tests");
    }

    #[test]
    fn addresses_and_code_go() {
        check("summarise https://example.com/a/b for my team", "summarise for my team");
        check(
            "explain this function\n```rust\nfn main() { panic!() }\n```\nto me",
            "explain this function to me",
        );
    }

    #[test]
    fn a_pasted_log_goes_and_what_was_said_stays() {
        let log = "2026-01-02 12:00:01 ERROR [main] x=1 y=2\n".repeat(8);
        check(&format!("find out why the service fails\n{log}"), "find out why the service fails");
    }

    #[test]
    fn a_request_without_end_is_cut_between_words() {
        let clean = without_noise(&"count the lines ".repeat(2_000));
        assert!(clean.len() < 17_000);
        assert!(clean.split_whitespace().all(|word| ["count", "the", "lines"].contains(&word)));
    }

    #[test]
    fn noise_alone_is_the_request() {
        check("https://example.com", "https://example.com");
        check("src/lib.rs", "src/lib.rs");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cleaned_without_harm(request in "[\\PC\\n]{0,200}") {
            let _ = without_noise(&request);
        }
    }
}

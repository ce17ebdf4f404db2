//! A text in pages of numbered lines.

/// How much of a text one page holds, in bytes: about 16,000 tokens, which every model's window can take.
pub(super) const PAGE: usize = 64 * 1024;

/// How much of one line is shown. Longer ones are data or were made by a program, and would fill the page alone.
pub(super) const MAX_LINE: usize = 4096;

/// What of a text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The first line, counted from 1.
    pub(super) first: u64,
    /// How many lines at most; 0 for as many as fit.
    pub(super) most: u64,
}

/// Makes a page of lines that are given one by one.
#[derive(Debug)]
pub(super) struct Page {
    wanted: Wanted,
    text: String,
    /// The last line that is in it; 0 for none.
    last: u64,
    cut_lines: usize,
    is_full: bool,
}

impl Page {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self { wanted, text: String::new(), last: 0, cut_lines: 0, is_full: false }
    }

    /// Takes the next line, with its number and without its end.
    pub(super) fn push(&mut self, number: u64, line: &[u8]) {
        let Wanted { first, most } = self.wanted;
        if number < first || self.is_full {
            return;
        }
        if most > 0 && number - first >= most {
            self.is_full = true;
            return;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let shown = String::from_utf8_lossy(line.get(..MAX_LINE).unwrap_or(line));
        let mut numbered = format!("{number}\t{shown}");
        if line.len() > MAX_LINE {
            numbered.push_str(&format!(" [... {} bytes of this line left out ...]", line.len() - MAX_LINE));
        }
        numbered.push('\n');
        if self.text.len() + numbered.len() > PAGE && self.last > 0 {
            self.is_full = true;
            return;
        }
        self.cut_lines += usize::from(line.len() > MAX_LINE);
        self.text.push_str(&numbered);
        self.last = number;
    }

    /// Whether nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The page, with a line that says how to go on. `total` is how many lines there are, where that is known.
    pub(super) fn finish(mut self, total: Option<u64>) -> String {
        let Wanted { first, .. } = self.wanted;
        match (self.last, total) {
            (0, Some(0)) => self.text.push_str("[the file is empty]"),
            (0, total) => {
                let lines = total.map_or_else(|| "fewer".to_owned(), |total| total.to_string());
                self.text.push_str(&format!("[line {first} is beyond the end: the file has {lines} lines]"));
            }
            (last, Some(total)) if last >= total => {}
            (last, total) => {
                let of = total.map_or_else(String::new, |total| format!(" of {total}"));
                let next = last + 1;
                self.text
                    .push_str(&format!("[lines {first} to {last}{of}; to go on, read with offset={next}]"));
            }
        }
        if self.cut_lines > 0 {
            let cut = self.cut_lines;
            self.text.push_str(&format!(
                "\n[{cut} long lines are cut; `Bash` with `cut -c` shows the rest of one]"
            ));
        }
        self.text
    }
}

/// The lines of a text, with their numbers and without their ends. A line break at the very end begins no line.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let count = if bytes.is_empty() { 0 } else { usize::MAX };
    (1_u64..).zip(body.split(|&byte| byte == b'\n').take(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, first: u64, most: u64, expect: &str) {
        let mut page = Page::new(Wanted { first, most });
        let mut total = 0;
        for (number, line) in lines(text.as_bytes()) {
            page.push(number, line);
            total = number;
        }
        assert_eq!(page.finish(Some(total)), expect, "{text:?} from {first}");
    }

    #[test]
    fn lines_are_numbered_and_the_last_line_says_how_to_go_on() {
        check("a\nb\n", 1, 0, "1\ta\n2\tb\n");
        check("a\r\nb", 1, 0, "1\ta\n2\tb\n");
        check("a\n\nc\n", 2, 0, "2\t\n3\tc\n");
        check("", 1, 0, "[the file is empty]");
        check("\n", 1, 0, "1\t\n");
        check("a\nb\nc\n", 1, 2, "1\ta\n2\tb\n[lines 1 to 2 of 3; to go on, read with offset=3]");
        check("a\nb\nc\n", 2, 2, "2\tb\n3\tc\n");
        check("a\n", 5, 0, "[line 5 is beyond the end: the file has 1 lines]");
    }

    #[test]
    fn a_page_and_a_line_have_a_bound() {
        let mut page = Page::new(Wanted { first: 1, most: 0 });
        let line = "x".repeat(999);
        for number in 1..1000 {
            page.push(number, line.as_bytes());
        }
        assert!(page.is_full());
        let text = page.finish(None);
        assert!(
            text.len() < PAGE + 200 && text.ends_with("[lines 1 to 65; to go on, read with offset=66]"),
            "{}",
            text.len()
        );
        let mut page = Page::new(Wanted { first: 1, most: 0 });
        page.push(1, "y".repeat(MAX_LINE + 7).as_bytes());
        let text = page.finish(Some(1));
        assert!(text.contains("[... 7 bytes of this line left out ...]\n"), "{}", &text[MAX_LINE..]);
        assert!(text.ends_with("[1 long lines are cut; `Bash` with `cut -c` shows the rest of one]"));
    }
}

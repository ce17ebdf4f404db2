//! A stranger's text, made fit to be shown on one line: to a model, or to the person who decides about it.

use metier_diagnostic::acts;

/// One line of at most `limit` characters: every run of white space and control characters one space, a cut marked with
/// `…`, invisible characters gone.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit.saturating_mul(4)));
    let mut count = 0;
    let mut gap = false;
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        // U+2028 and U+2029 are white space to Rust and line ends to some readers, so they are folded with the rest.
        if c.is_whitespace() || c.is_control() {
            gap = !line.is_empty();
            continue;
        }
        let needed = if gap { 2 } else { 1 };
        if count + needed > limit {
            cut(&mut line, count, limit);
            return line;
        }
        if gap {
            line.push(' ');
        }
        line.push(c);
        count += needed;
        gap = false;
    }
    line
}

fn cut(line: &mut String, count: usize, limit: usize) {
    if count >= limit {
        line.pop();
    }
    line.truncate(line.trim_end().len());
    line.push('…');
}

/// Characters that no reader sees and every model reads: the Unicode tag block, text direction, zero width. With them a
/// description could say one thing to the person who approves it and another to the model. The joiners U+200C and
/// U+200D stay, since Persian, Hindi and emoji are written with them.
fn is_invisible(c: char) -> bool {
    // What is folded like white space is told from the rest; the variation selectors can each stand for a byte.
    let is_folded = c.is_whitespace() || c.is_control();
    (acts(c) && !is_folded) || matches!(c, '\u{fe00}'..='\u{fe0d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_and_cut_with_a_mark() {
        let table = [
            ("plain text", 20, "plain text"),
            ("a\n- **fake**: x", 20, "a - **fake**: x"),
            ("  a \t\r\n\u{2028}\u{85} b  ", 20, "a b"),
            ("a\0b\u{1b}[31m", 20, "a b [31m"),
            ("a\u{e0101}\u{fe01}\u{3164}b", 20, "ab"),
            ("❤\u{fe0f} 👩\u{200d}🔬", 20, "❤\u{fe0f} 👩\u{200d}🔬"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("abcd efg", 6, "abcd…"),
            ("äöüäöü", 4, "äöü…"),
            ("tag\u{e0041}ged \u{202e}x\u{200b}y", 20, "tagged xy"),
            ("نمی\u{200c}خواهم", 20, "نمی\u{200c}خواهم"),
            ("", 5, ""),
        ];
        for (text, limit, expected) in table {
            let line = one_line(text, limit);
            assert_eq!(line, expected, "{text:?}");
            assert!(line.chars().count() <= limit);
        }
    }
}

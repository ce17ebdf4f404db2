//! Numbers of things, in words.

/// `1 skill`, `2 skills`, `0 skills`. The one place that knows which word goes with a number.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// `1234567` as `1,234,567`, as people read it.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_separators() {
        assert_eq!([0, 999, 1024, 1_000_000].map(grouped), ["0", "999", "1,024", "1,000,000"]);
    }

    #[test]
    fn one_is_one() {
        for (number, expect) in [(0, "0 fixes"), (1, "1 fix"), (2, "2 fixes"), (11, "11 fixes")] {
            assert_eq!(counted(number, "fix", "fixes"), expect);
        }
    }
}

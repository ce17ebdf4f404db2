//! Numbers of things, in words.

/// `1 skill`, `2 skills`, `0 skills`. The one place that knows which word goes with a number.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        for (number, expect) in [(0, "0 fixes"), (1, "1 fix"), (2, "2 fixes"), (11, "11 fixes")] {
            assert_eq!(counted(number, "fix", "fixes"), expect);
        }
    }
}

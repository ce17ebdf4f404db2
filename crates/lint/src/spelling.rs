//! How near two names are.

/// Whether one name becomes the other by one letter more, less, another, or two neighbours swapped.
pub(crate) fn is_one_letter_off(one: &str, other: &str) -> bool {
    // The work grows with the product of both lengths, and one of the names is a stranger's.
    one.len().abs_diff(other.len()) <= char::MAX.len_utf8() && strsim::osa_distance(one, other) == 1
}

/// The known name that was meant: the same but for case, else one letter off. Very short names are near to everything.
pub(crate) fn meant<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&written) {
        return None;
    }
    let by_case = known.iter().find(|name| name.eq_ignore_ascii_case(written));
    by_case.or_else(|| known.iter().find(|name| name.len() >= 4 && is_one_letter_off(written, name))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_is_near_and_two_are_not() {
        for (one, other, expect) in [
            ("WebSerch", "WebSearch", true),
            ("Raed", "Read", true),
            ("Reads", "Read", true),
            ("Bush", "Bash", true),
            ("Read", "Read", false),
            ("Bash", "Task", false),
            ("", "a", true),
            ("", "", false),
            ("ab", "ba", true),
            ("abcd", "badc", false),
        ] {
            assert_eq!(is_one_letter_off(one, other), expect, "{one} {other}");
            assert_eq!(is_one_letter_off(other, one), expect, "{other} {one}");
        }
    }

    #[test]
    fn case_goes_before_letters() {
        assert_eq!(meant("bash", &["Bash", "Dash"]), Some("Bash"));
        assert_eq!(meant("LSA", &["LS"]), None);
        assert_eq!(meant("Bash", &["Bash"]), None);
    }
}

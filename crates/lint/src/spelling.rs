//! How near two names are.

/// Whether one name becomes the other by one letter more, less, another, or two neighbours swapped.
pub(crate) fn is_one_letter_off(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if long.len() - short.len() > 1 || one == other {
        return false;
    }
    let same = short.iter().zip(long.iter()).take_while(|(a, b)| a == b).count();
    if short.len() < long.len() {
        return short[same..] == long[same + 1..];
    }
    let is_other_letter = short[same + 1..] == long[same + 1..];
    let is_swapped = same + 1 < short.len()
        && short[same] == long[same + 1]
        && short[same + 1] == long[same]
        && short[same + 2..] == long[same + 2..];
    is_other_letter || is_swapped
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

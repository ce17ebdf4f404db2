//! How values and lengths appear in a sentence.

/// How much of a value a message shows. A whole description would bury the sentence.
const MAX_SHOWN: usize = 60;

/// A value in backticks, on one line and cut where it is long.
pub(super) fn shown(value: &str) -> String {
    let mut out = String::from("`");
    for (at, c) in value.chars().enumerate() {
        if at == MAX_SHOWN {
            out.push('…');
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out.push('`');
    out
}

/// A length with separators, as prose has it.
pub(super) fn grouped(length: usize) -> String {
    metier_diagnostic::grouped(length as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_values_are_cut() {
        assert_eq!([0, 999, 1024, 1_000_000].map(grouped), ["0", "999", "1,024", "1,000,000"]);
        assert_eq!(shown("a\nb"), "`a b`");
        assert_eq!(shown(&"é".repeat(61)), format!("`{}…`", "é".repeat(60)));
    }
}

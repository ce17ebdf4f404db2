//! What a template left for the author to fill in.

/// Whether a whole value is a placeholder: `[TODO…]`, `{skill-name}`, `{{ name }}`, `<name>`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let inside = |open: char, close: char| value.strip_prefix(open)?.strip_suffix(close);
    let is_slot = |inner: &str| {
        let inner = inner.trim_matches(['{', '}', ' ']);
        !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.'))
    };
    if let Some(inner) = inside('[', ']') {
        let inner = inner.trim().to_ascii_uppercase();
        return ["TODO", "TBD", "FIXME", "PLACEHOLDER"].iter().any(|word| inner.starts_with(word));
    }
    inside('{', '}').is_some_and(is_slot) || inside('<', '>').is_some_and(is_slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_only_a_slot_is_a_placeholder() {
        for value in ["[TODO]", "[TODO: describe]", " {skill-name} ", "{{ name }}", "<skill name>", "[tbd]"] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in
            ["", "[pr-number]", "TODO app", "a {name}", "{a: b}", "[a, b]", "<a> and <b>", "{}", "<>"]
        {
            assert!(!is_placeholder(value), "{value}");
        }
    }
}

use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::yaml::Kind;
use metier_skill::{KeyType, ManifestKey};

pub(super) static RULE: Rule =
    Rule::new("tools-separators", Severity::Info, include_str!("tools_separators.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let lists = ManifestKey::ALL.iter().filter(|key| key.takes == KeyType::Tools);
    for key in lists.flat_map(ManifestKey::spellings) {
        let Some(entry) = skill.entry(key) else { continue };
        let (texts, is_list) = match &entry.value.kind {
            Kind::Scalar { .. } => (std::slice::from_ref(&entry.value), false),
            Kind::Sequence(items) => (items.as_slice(), true),
            Kind::Mapping(_) => continue,
        };
        let found = texts.iter().find_map(|node| Some((node.span, trouble(node.text()?, is_list)?)));
        if let Some((span, trouble)) = found {
            let help = "write a YAML list, one tool for each item";
            findings.report(skill, span, format!("`{key}` {trouble}"), help);
        }
    }
}

/// What is odd about the separators of one text.
fn trouble(text: &str, is_item: bool) -> Option<&'static str> {
    let (mut commas, mut tight, mut bare_blanks, mut others) = (0, 0, 0, 0);
    let mut depth = 0_usize;
    let mut after_comma = false;
    let text = text.trim();
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            ',' => {
                commas += 1;
                tight += usize::from(!rest.starts_with(char::is_whitespace) && !rest.is_empty());
            }
            ';' | '|' => others += 1,
            c if c.is_whitespace() => {
                let joins = after_comma || rest.starts_with(|c: char| c == ',' || c.is_whitespace());
                bare_blanks += usize::from(!joins);
            }
            _ => {}
        }
        after_comma = c == ',' || (after_comma && c.is_whitespace());
    }
    if others > 0 {
        Some("is separated by `;` or `|`, which no client splits at")
    } else if is_item && commas + bare_blanks > 0 {
        Some("has an item that names several tools")
    } else if commas > 0 && bare_blanks > 0 {
        Some("is separated by commas in one place and by blanks in another")
    } else if tight > 0 {
        Some("has commas without blanks, which is one name to clients that split at blanks")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::trouble;

    #[test]
    fn one_separator_is_fine_and_two_are_not() {
        for fine in
            ["Read", "Read, Write", "Read Write", "Bash(git add:*, x) Read", "", "Read,", "Read ,  Write"]
        {
            assert_eq!(trouble(fine, false), None, "{fine}");
        }
        for odd in ["Read,Write", "Read, Write Edit", "Read; Write", "Read|Write"] {
            assert!(trouble(odd, false).is_some(), "{odd}");
        }
        assert!(trouble("Read, Write", true).is_some());
        assert_eq!(trouble("Bash(git add, x)", true), None);
    }
}

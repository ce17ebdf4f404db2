use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use metier_skill::Description;
use std::ops::Range;

pub(super) static RULE: Rule = Rule::new(
    "description-has-tags",
    Severity::Warning,
    include_str!("description_has_tags.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let Description::Written(written) = &skill.manifest().description else { return };
    let Some(tag) = first_tag(&written.value) else { return };
    let tag = &written.value[tag];
    let place = skill.place_in(written.span, tag);
    let message = format!("the description contains {}, which some clients refuse", quoted(tag));
    findings.report(skill, place, message, "write it in words, without `<` and `>`");
}

/// The first `<word…>` or `</word>`. Comparisons and arrows are none.
fn first_tag(text: &str) -> Option<Range<usize>> {
    text.match_indices('<').find_map(|(start, _)| {
        let inside = &text[start + 1..start + text[start..].find('>')?];
        let name = inside.strip_prefix('/').unwrap_or(inside);
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !inside.contains('<');
        is_tag.then(|| start..start + inside.len() + 2)
    })
}

#[cfg(test)]
mod tests {
    use super::first_tag;

    #[test]
    fn tags_are_told_from_comparisons() {
        for (text, expect) in [
            ("a <b> c", Some("<b>")),
            ("</example>", Some("</example>")),
            ("x <a href=\"y\"> z", Some("<a href=\"y\">")),
            ("1 < 2 and 3 > 2", None),
            ("a <- b -> c", None),
            ("<<x>", Some("<x>")),
            ("less <", None),
        ] {
            assert_eq!(first_tag(text).map(|range| &text[range]), expect, "{text}");
        }
    }
}

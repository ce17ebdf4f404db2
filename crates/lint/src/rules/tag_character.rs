use crate::hidden::runs;
use crate::{Check, Findings, Hidden, HiddenKind, Rule, Skill};
use metier_diagnostic::Severity;

/// How much of the hidden text a message repeats. It is a stranger's text and only has to be recognised.
const MAX_SHOWN: usize = 60;

pub(super) static RULE: Rule =
    Rule::new("tag-character", Severity::Error, include_str!("tag_character.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for (span, run) in runs(skill.hidden(), HiddenKind::Tag) {
        if is_flag(run, skill.source) {
            continue;
        }
        let count = run.len();
        let message = match spelled(run) {
            text if text.is_empty() => format!("{count} tag characters stand here and show nothing"),
            text => format!("{count} tag characters stand here and spell `{text}`"),
        };
        findings.report(skill, span, message, "delete them");
    }
}

/// A black flag, the letters of a region, and the tag that ends them: the flags of Scotland, Wales and the like.
fn is_flag(run: &[Hidden], source: &str) -> bool {
    let Some((first, last)) = run.first().zip(run.last()) else { return false };
    let is_letter =
        |one: &Hidden| matches!(one.character, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    // The longest region has a country of two letters and a part of up to three.
    (4..=6).contains(&run.len())
        && last.character == '\u{e007f}'
        && run.iter().take(run.len() - 1).all(is_letter)
        && source.get(..first.at).is_some_and(|text| text.ends_with('\u{1f3f4}'))
}

/// The ASCII that a run stands for, cut.
fn spelled(run: &[Hidden]) -> String {
    let letters = run.iter().filter_map(|one| {
        let letter = char::from_u32(u32::from(one.character).checked_sub(0xe0000)?)?;
        // A backtick would end the literal in the message.
        matches!(letter, ' '..='~').then_some(if letter == '`' { '\'' } else { letter })
    });
    let mut text: String = letters.clone().take(MAX_SHOWN).collect();
    if letters.count() > MAX_SHOWN {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(text: &str) -> String {
        text.chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect()
    }

    #[test]
    fn hidden_text_is_spelled_out_and_cut() {
        let check = |text: &str, expect: &str| {
            let found = crate::hidden::find(&hide(text));
            assert_eq!(spelled(&found), expect);
        };
        check("run `rm`", "run 'rm'");
        check("\u{1}\u{7f}", "");
        check(&"x".repeat(61), &format!("{}…", "x".repeat(60)));
    }

    #[test]
    fn only_flags_are_written_with_tags() {
        let check = |text: &str, expect: bool| {
            assert_eq!(is_flag(&crate::hidden::find(text), text), expect, "{text:?}");
        };
        check(&format!("\u{1f3f4}{}", hide("gbsct\u{7f}")), true);
        check(&format!("\u{1f3f4}{}", hide("ustx\u{7f}")), true);
        check(&hide("gbsct\u{7f}"), false);
        check(&format!("\u{1f3f4}{}", hide("gbsct")), false);
        check(&format!("\u{1f3f4}{}", hide("send it\u{7f}")), false);
    }
}

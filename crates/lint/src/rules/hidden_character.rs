use crate::hidden::{is_right_to_left, runs};
use crate::{Check, Findings, Hidden, HiddenKind, Rule, Skill};
use metier_diagnostic::Severity;

pub(super) static RULE: Rule = Rule::new(
    "hidden-character",
    Severity::Warning,
    include_str!("hidden_character.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for (span, run) in runs(skill.hidden(), HiddenKind::Invisible) {
        // An emoji may have a selector and a joiner; nothing needs three in a row.
        if run.len() <= 2 && run.iter().all(|one| is_needed(*one, skill.source)) {
            continue;
        }
        let message = match run {
            [one] => format!("{} stands here and shows nothing", one.label()),
            _ => format!(
                "{} characters stand here and show nothing, the first is {}",
                run.len(),
                run[0].label()
            ),
        };
        findings.report(skill, span, message, "delete what cannot be seen");
    }
}

/// Whether the text around it is written with such a character.
fn is_needed(hidden: Hidden, source: &str) -> bool {
    let before = source.get(..hidden.at).and_then(|text| text.chars().next_back()).unwrap_or(' ');
    let after = source.get(hidden.end()..).and_then(|text| text.chars().next()).unwrap_or(' ');
    match hidden.character {
        // A selector chooses how the one character before it looks: an emoji, a key cap, a symbol, an ideograph.
        '\u{fe00}'..='\u{fe0f}' => {
            takes_selector(before) || (before == '\u{200d}' && hidden.character == '\u{fe0f}')
        }
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(before),
        '\u{200c}' | '\u{200d}' => {
            joins_letters(before) || joins_letters(after) || (is_symbol(before) && is_symbol(after))
        }
        // Thai, Lao, Khmer and Burmese have no blanks, and lines break at these.
        '\u{200b}' => {
            matches!(before, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        }
        '\u{200e}' | '\u{200f}' | '\u{61c}' => nearby(source, hidden).any(is_right_to_left),
        '\u{115f}' | '\u{1160}' => {
            matches!(before, '\u{1100}'..='\u{11ff}') || matches!(after, '\u{1100}'..='\u{11ff}')
        }
        '\u{180e}' => matches!(before, '\u{1800}'..='\u{18af}'),
        _ => false,
    }
}

/// The characters of the line around it, as far as a mark of direction can matter.
fn nearby(source: &str, hidden: Hidden) -> impl Iterator<Item = char> {
    let before = source.get(..hidden.at).unwrap_or_default().chars().rev();
    let after = source.get(hidden.end()..).unwrap_or_default().chars();
    let line = |c: &char| *c != '\n';
    before.take_while(line).take(80).chain(after.take_while(line).take(80))
}

fn takes_selector(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*' | '©' | '®' | '\u{1800}'..='\u{18af}' | '\u{1000}'..='\u{109f}')
        || is_symbol(c)
        || is_ideograph(c)
}

/// Emoji and the symbols that can be shown as one.
fn is_symbol(c: char) -> bool {
    matches!(
        c,
        '\u{203c}' | '\u{2049}' | '\u{20e3}' | '\u{2100}'
            ..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
    ) || matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{fe0f}')
        || matches!(c, '\u{e0020}'..='\u{e007f}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303f}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{ff00}'..='\u{ff9f}')
}

/// Letters whose shape depends on joiners: Arabic and its kin, the scripts of India and south-east Asia, Mongolian.
fn joins_letters(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: bool) {
        let hidden = crate::hidden::find(text);
        let all = hidden.iter().all(|one| is_needed(*one, text));
        assert!(!hidden.is_empty(), "{text:?}");
        assert_eq!(all, expect, "{text:?}");
    }

    #[test]
    fn emoji_and_scripts_keep_what_they_need() {
        check("\u{26a0}\u{fe0f} careful", true);
        check("1\u{fe0f}\u{20e3}", true);
        check("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", true);
        check("\u{2764}\u{fe0f}\u{200d}\u{1f525}", true);
        check("\u{645}\u{6cc}\u{200c}\u{62e}\u{648}", true);
        check("\u{915}\u{94d}\u{200d}\u{937}", true);
        check("\u{e01}\u{200b}\u{e02}", true);
        check("(\u{200f}\u{5d0})", true);
        check("\u{845b}\u{e0100}", true);
    }

    #[test]
    fn between_latin_letters_nothing_is_needed() {
        for hidden in
            ['\u{200b}', '\u{200c}', '\u{200d}', '\u{200e}', '\u{ad}', '\u{2060}', '\u{2063}', '\u{feff}']
        {
            check(&format!("igno{hidden}re"), false);
        }
        check("a\u{fe0f}", false);
        check("\u{26a0}\u{fe00}\u{fe01}", false);
        check("\u{3164}", false);
        check("a\u{e0101}", false);
    }
}

use crate::phrase::quoted;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use unicode_security::confusable_detection::skeleton;
use unicode_security::restriction_level::{RestrictionLevel, RestrictionLevelDetection};
use unicode_security::{GeneralSecurityProfile, MixedScript};

pub(super) static RULE: Rule =
    Rule::new("name-homoglyph", Severity::Error, include_str!("name_homoglyph.md"), Check::Skill(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let name = skill.manifest().name.as_str();
    let message = match oddity(name) {
        None => return,
        Some(Oddity::Mixed(word)) => format!("{} mixes letters of several alphabets", quoted(word)),
        Some(Oddity::LooksLatin(like)) => format!("the name looks like {} and is another one", quoted(&like)),
    };
    let strange: Vec<String> = name
        .chars()
        .filter(|c| !c.is_ascii())
        .take(5)
        .map(|c| format!("`{c}` is U+{:04X}", u32::from(c)))
        .collect();
    let found = findings.at(skill, skill.name_at(), message).note(strange.join(", "));
    findings.add(found.help("write each word in one alphabet"));
}

#[derive(Debug, PartialEq, Eq)]
enum Oddity<'a> {
    Mixed(&'a str),
    LooksLatin(String),
}

fn oddity(name: &str) -> Option<Oddity<'_>> {
    if name.is_ascii() {
        return None;
    }
    // Word by word: a Russian name with a Latin product in it is honest. Latin beside Chinese, Japanese, Korean and
    // most others is, too, since nobody takes their letters for Latin ones; Unicode's levels draw that line.
    let mixed = name.split(|c: char| !c.is_alphanumeric()).find(|word| {
        !word.is_single_script() && word.detect_restriction_level() == RestrictionLevel::MinimallyRestrictive
    });
    if let Some(word) = mixed {
        return Some(Oddity::Mixed(word));
    }
    let like: String = skeleton(name).collect();
    // `cœur` looks like `coeur` and is plain French; letters of everyday alphabets in Latin script are no disguise.
    let is_everyday_latin = "a".chars().chain(name.chars()).collect::<String>().is_single_script()
        && name.chars().all(GeneralSecurityProfile::identifier_allowed);
    (like.is_ascii() && !is_everyday_latin).then_some(Oddity::LooksLatin(like))
}

#[cfg(test)]
mod tests {
    use super::{Oddity, oddity};

    #[test]
    fn disguises_are_told_from_other_languages() {
        for honest in ["pdf", "größe", "cœur", "pdf工具", "データ-csv", "отчёт-pdf", "한국어-pdf", "naïve"]
        {
            assert_eq!(oddity(honest), None, "{honest}");
        }
        assert_eq!(oddity("p\u{430}y"), Some(Oddity::Mixed("p\u{430}y")));
        assert_eq!(oddity("git-c\u{43e}mmit"), Some(Oddity::Mixed("c\u{43e}mmit")));
        assert!(matches!(oddity("\u{440}\u{430}\u{443}"), Some(Oddity::LooksLatin(_))));
        assert!(matches!(oddity("p\u{251}y"), Some(Oddity::LooksLatin(_))));
    }
}

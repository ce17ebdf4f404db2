use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Edit, Fix, Severity};
use metier_skill::ManifestKey;
use metier_skill::yaml::Entry;

pub(super) static RULE: Rule =
    Rule::new("key-spelling", Severity::Warning, include_str!("key_spelling.md"), Check::Fixing(check));

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    for entry in skill.entries() {
        let Some(key) = ManifestKey::of(&entry.key).filter(|key| key.name != entry.key) else { continue };
        let (written, common) = (&entry.key, key.name);
        let span = entry.key_span;
        let message = format!("most clients do not read `{written}`; they read `{common}`");
        let mut found = findings.at(skill, span, message).help(format!("write `{common}`"));
        // Renaming is certain only where no other spelling of the key would come to stand beside it.
        let means_it = |other: &&Entry<'_>| key.spellings().any(|spelling| spelling == other.key);
        let is_alone = skill.entries().iter().filter(means_it).count() == 1;
        if is_alone && span.of(skill.source) == *written {
            let edits = vec![Edit { span, text: common.to_owned() }];
            found = found.fix(Fix { label: format!("rename the key to `{common}`"), edits });
        }
        findings.add(found);
    }
}

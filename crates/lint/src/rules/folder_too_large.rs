use crate::{Check, File, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};

/// What clients and registries take on upload.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// How many files a message names.
const SHOWN: usize = 3;

pub(super) static RULE: Rule = Rule::new(
    "folder-too-large",
    Severity::Warning,
    include_str!("folder_too_large.md"),
    Check::Skill(check),
);

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let files = skill.files.all();
    let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size));
    if total <= MAX_BYTES {
        return;
    }
    let mut largest: Vec<&File> = files.iter().collect();
    largest.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    let names: Vec<_> = largest
        .iter()
        .take(SHOWN)
        .map(|file| format!("`{}` ({} MB)", file.path, megabytes(file.size)))
        .collect();
    let message = format!("the skill has {} MB; 8 are advised at most", megabytes(total));
    let found = findings.at(skill, Span::default(), message);
    let found = found.note(format!("the largest: {}", names.join(", ")));
    findings.add(found.help("take out what is not needed, or fetch it when it is used"));
}

/// Megabytes with one digit behind the point.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) / (1024 * 1024);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunBit;
    use crate::rules::tests::{file, found_in};

    #[test]
    fn all_files_count_and_the_largest_are_named() {
        let sized = |path: &str, size: u64| File { size, ..file(path, None, RunBit::Clear) };
        let files = [sized("a.bin", 5 << 20), sized("b.bin", 4 << 20), sized("c.md", 10), sized("d.md", 9)];
        let found = found_in("x\n", &files, &RULE);
        assert_eq!(found[0].message, "the skill has 9.0 MB; 8 are advised at most");
        assert_eq!(found[0].notes, ["the largest: `a.bin` (5.0 MB), `b.bin` (4.0 MB), `c.md` (0.0 MB)"]);
        assert!(found_in("x\n", &files[..1], &RULE).is_empty());
    }
}

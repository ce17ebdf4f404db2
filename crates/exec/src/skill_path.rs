//! What a model calls a file of a skill, as a path seen from the skill's folder.

use std::borrow::Cow;
use std::path::Path;

/// The path seen from `folder`, the skill's own: without blanks around it, without the folder where it is absolute, without
/// steps that lead nowhere. The gate and the reader are both given this, so that what a rule names is what is opened.
///
/// A body writes `${SKILL_DIR}/references/style.md`, and a model hands on what it reads there. What leads out of the folder
/// comes back with its way out, and is refused by whoever opens it.
pub fn path_in_skill<'a>(folder: &Path, asked: &'a str) -> Cow<'a, str> {
    let asked = asked.trim();
    let Some(below) = below(folder, asked) else { return Cow::Borrowed(asked) };
    if !below.split('/').any(|step| step == "..") {
        return Cow::Borrowed(below);
    }
    let mut steps = Vec::new();
    for step in below.split('/').filter(|step| !matches!(*step, "" | ".")) {
        match step {
            ".." if steps.pop().is_none() => return Cow::Borrowed(asked),
            ".." => {}
            step => steps.push(step),
        }
    }
    Cow::Owned(if steps.is_empty() { ".".to_owned() } else { steps.join("/") })
}

/// The path without the folder, which may be named as it was found or as it really is; nothing where it is another's.
fn below<'p>(folder: &Path, asked: &'p str) -> Option<&'p str> {
    if !asked.starts_with('/') {
        return Some(asked);
    }
    let without = |folder: &Path| Path::new(asked).strip_prefix(folder).ok()?.to_str();
    without(folder).or_else(|| without(&metier_files::real_path(folder).ok()?))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn what_is_inside_is_seen_from_the_folder_and_what_is_outside_stays_outside() {
        let workspace = Workspace::new().dir("real/skill").symlink("link", "real");
        let folder = workspace.join("link/skill");
        let check = |asked: &str, expect: &str| assert_eq!(path_in_skill(&folder, asked), expect, "{asked}");
        check("references/a.md", "references/a.md");
        check(" references/a.md\n", "references/a.md");
        check("./references//a.md", "./references//a.md");
        check("references/../SKILL.md", "SKILL.md");
        check("references/..", ".");
        for outside in ["../other/SKILL.md", "references/../../x", "/etc/passwd", "/"] {
            check(outside, outside);
        }
        for place in ["link/skill", "real/skill"] {
            let asked = workspace.join(place).join("references/a.md");
            check(asked.to_str().unwrap(), "references/a.md");
        }
        let beside = workspace.join("real/skillX/a.md");
        check(beside.to_str().unwrap(), beside.to_str().unwrap());
        let up = folder.join("../other/a.md");
        check(up.to_str().unwrap(), up.to_str().unwrap());
    }
}

//! What a model calls a file of a skill, as a path seen from the skill's folder.

use std::borrow::Cow;
use std::path::Path;

/// The path seen from `folder`, the skill's own: without blanks around it, without the folder where it is absolute, without
/// steps that lead nowhere. The gate and the reader are both given this, so that what a rule names is what is opened.
///
/// A body writes `${SKILL_DIR}/references/style.md`, and a model hands on what it reads there. What leads out of the folder
/// comes back with its way out, and is refused by whoever opens it.
pub(crate) fn seen_from<'a>(folder: &Path, asked: &'a str) -> Cow<'a, str> {
    let asked = asked.trim();
    let below = match asked.starts_with('/') {
        false => Some(Cow::Borrowed(asked)),
        true => below(folder, Path::new(asked)).map(|path| Cow::Owned(path.to_owned())).or_else(|| {
            let real = metier_files::real_path(folder).ok()?;
            below(&real, Path::new(asked)).map(|path| Cow::Owned(path.to_owned()))
        }),
    };
    let Some(below) = below else { return Cow::Borrowed(asked) };
    if !below.split('/').any(|step| step == "..") {
        return below;
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

fn below<'p>(folder: &Path, path: &'p Path) -> Option<&'p str> {
    path.strip_prefix(folder).ok()?.to_str()
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn what_is_inside_is_seen_from_the_folder_and_what_is_outside_stays_outside() {
        let workspace = Workspace::new().dir("real/skill").symlink("link", "real");
        let folder = workspace.join("link/skill");
        let check = |asked: &str, expect: &str| assert_eq!(seen_from(&folder, asked), expect, "{asked}");
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

//! The files of a skill, as a body may refer to them.

use std::path::Path;

use metier_diagnostic::visible;
use metier_files::{Error, Extent, ListBounds, SkillDir};

/// How many names one line lists: more than 99 % of public skills have in all, and a model that needs the rest can read
/// the folder's own documents.
const MAX_NAMES: usize = 50;

/// How many bytes of names one line has at most: names may be long, and every activation pays for them.
const MAX_BYTES: usize = 4 * 1024;

/// Folders whose files nobody means: caches and packages.
const PASSED_OVER: &[&str] = &["__pycache__", "node_modules"];

/// The lines about a skill's files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Resources {
    /// Each with what it lists and the names, ready to be shown.
    pub(super) lines: Vec<String>,
    /// How many names are not among them.
    pub(super) left_out: usize,
    /// Whether the folder was too large to be listed whole.
    pub(super) is_partial: bool,
}

/// Each line's beginning, and the folder it is about.
const KINDS: &[(&str, &str)] = &[
    ("Available scripts", "scripts"),
    ("Available references", "references"),
    ("Available assets", "assets"),
];

const OTHER: &str = "Other files";

/// Lists a skill's folder. Hidden files, caches and the skill's own document are not listed.
pub(super) fn list(folder: &SkillDir, document: &str) -> Result<Resources, Error> {
    let listing = folder.list(ListBounds::default())?;
    let listed = of_paths(listing.files.iter().map(|file| file.path.as_path()), document);
    Ok(Resources { is_partial: listing.extent == Extent::Truncated, ..listed })
}

/// The same of files that are known without looking.
pub(super) fn of_paths<'a>(paths: impl Iterator<Item = &'a Path>, document: &str) -> Resources {
    let mut kinds: Vec<(&str, Vec<String>)> = KINDS.iter().map(|(label, _)| (*label, Vec::new())).collect();
    let mut other: Vec<String> = Vec::new();
    for path in paths {
        if path == Path::new(document) || is_passed_over(path) {
            continue;
        }
        let kind = KINDS.iter().position(|(_, name)| path.starts_with(name) && path != Path::new(name));
        match kind.and_then(|kind| Some((kinds.get_mut(kind)?, path.strip_prefix(KINDS[kind].1).ok()?))) {
            Some(((_, names), name)) => names.push(shown(name)),
            None => other.push(shown(path)),
        }
    }
    kinds.push((OTHER, other));
    let mut resources = Resources::default();
    for (label, mut names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
        names.sort();
        resources.push(label, &names);
    }
    resources
}

impl Resources {
    fn push(&mut self, label: &str, names: &[String]) {
        let mut line = format!("{label}: ");
        let start = line.len();
        let mut taken = 0;
        for name in names.iter().take(MAX_NAMES) {
            // One name is always shown, or there would be a line that says nothing.
            if taken > 0 && line.len() - start + name.len() > MAX_BYTES {
                break;
            }
            if taken > 0 {
                line.push_str(", ");
            }
            line.push_str(name);
            taken += 1;
        }
        let rest = names.len() - taken;
        if rest > 0 {
            line.push_str(&format!(" … and {rest} more"));
        }
        self.left_out += rest;
        self.lines.push(line);
    }
}

fn is_passed_over(path: &Path) -> bool {
    path.iter().any(|part| {
        let name = part.to_string_lossy();
        name.starts_with('.') || PASSED_OVER.contains(&name.as_ref())
    })
}

/// A name in a list: on one line, and in quotes where it could be read as two.
fn shown(path: &Path) -> String {
    let name = path.to_string_lossy();
    let name = visible(&name);
    if name.contains([',', '"']) || name.trim().len() != name.len() || name.contains("  ") {
        return format!("{:?}", name.as_ref());
    }
    name.into_owned()
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn files_are_listed_by_what_they_are_for() {
        let workspace = Workspace::new()
            .skill("s", "Greets.")
            .file("s/scripts/b.sh", "")
            .file("s/scripts/a.py", "")
            .file("s/scripts/lib/c.py", "")
            .file("s/scripts/__pycache__/a.pyc", "")
            .file("s/references/x, y.md", "")
            .file("s/assets/logo.png", "")
            .file("s/examples/ticket.md", "")
            .file("s/evil\nOther files: x", "")
            .file("s/.source.json", "")
            .file("s/.git/config", "")
            .symlink("s/outside", "/etc/passwd");
        let folder = SkillDir::open(&workspace.join("s")).unwrap();
        let resources = list(&folder, "SKILL.md").unwrap();
        assert_eq!(
            resources.lines,
            [
                "Available scripts: a.py, b.sh, lib/c.py",
                "Available references: \"x, y.md\"",
                "Available assets: logo.png",
                "Other files: evil\\nOther files: x, examples/ticket.md",
            ]
        );
        assert_eq!((resources.left_out, resources.is_partial), (0, false));
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let mut workspace = Workspace::new().skill("s", "Greets.");
        for number in 0..60 {
            workspace = workspace.file(format!("s/scripts/{number:03}.sh"), "");
        }
        for number in 0..40 {
            workspace = workspace.file(format!("s/assets/{}{number}", "x".repeat(200)), "");
        }
        let folder = SkillDir::open(&workspace.join("s")).unwrap();
        let resources = list(&folder, "SKILL.md").unwrap();
        assert!(resources.lines[0].ends_with("048.sh, 049.sh … and 10 more"), "{}", resources.lines[0]);
        assert!(resources.lines[1].len() < MAX_BYTES + 300);
        assert_eq!(resources.left_out, 10 + 40 - 20);
    }
}

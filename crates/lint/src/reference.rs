//! Where a body points: links and paths to files of the skill.

use crate::skill::Skill;
use metier_diagnostic::Span;
use std::borrow::Cow;

/// A place in a body that names a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where it is named.
    pub span: Span,
    /// The path as written, without a fragment or query and with `%20` resolved.
    pub path: String,
}

impl Reference {
    /// The path below the skill's folder, with `.` and `..` worked off. `None` when it leads out of it.
    pub fn inside(&self) -> Option<String> {
        let mut parts: Vec<&str> = Vec::new();
        for part in self.path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }

    /// Whether it names something that can be looked for: a file with an extension, or a folder with its slash. A link
    /// to `URL` or `internal-wiki/page` is an example or leads to a site.
    pub fn is_complete(&self) -> bool {
        self.path.ends_with('/') || extension(&self.path).is_some()
    }

    /// Whether it is written with a name for the skill's own folder, so that it cannot mean the project.
    pub fn is_surely_own(&self, skill: &Skill<'_>) -> bool {
        let written = self.span.of(skill.source);
        OWN_FOLDER.iter().any(|own| *own != "./" && written.starts_with(own))
    }
}

/// Names for the skill's own folder that clients fill in.
pub(crate) const OWN_FOLDER: &[&str] =
    &["${CLAUDE_SKILL_DIR}/", "$CLAUDE_SKILL_DIR/", "${SKILL_DIR}/", "$SKILL_DIR/", "{baseDir}/", "./"];

/// The folders in which the standard puts what belongs to a skill.
const FOLDERS: &[&str] = &["scripts/", "references/", "assets/"];

/// The links of a body that lead to files beside it, and not to the web or to a heading.
pub fn links(skill: &Skill<'_>) -> Vec<Reference> {
    let links = skill.markdown().links.iter().filter_map(|link| {
        let target = link.target.trim();
        let path = target.split(['#', '?']).next().unwrap_or_default();
        if path.is_empty() || path.starts_with('/') || has_scheme(target) || is_placeholder(path) {
            return None;
        }
        let path = own_path(path).into_owned();
        Some(Reference { span: link.span, path })
    });
    links.collect()
}

/// The paths that code names below `scripts/`, `references/` and `assets/`. Only those are sure to be the skill's own;
/// `src/main.rs` in an example is somebody's project.
pub(crate) fn paths_in_code(skill: &Skill<'_>) -> Vec<Reference> {
    // A block of Markdown shows what some other document may look like.
    let blocks =
        skill.markdown().blocks.iter().filter(|block| !matches!(block.language.as_str(), "markdown" | "md"));
    let blocks = blocks.map(|block| block.content);
    let codes = skill.markdown().codes.iter().copied();
    let mut found = Vec::new();
    for span in blocks.chain(codes) {
        let text = span.of(skill.source);
        for (at, word) in words(text) {
            let Some(path) = own_folder_path(word) else { continue };
            let start = span.start as usize + at;
            found.push(Reference { span: Span::new(start, start + word.len()), path });
        }
    }
    found
}

/// The words of a command that have one of the standard's folders in them, with their places. A word is what stands
/// between blanks, quotes and brackets; only those around a slash are looked at, since code is long and paths are few.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_border = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | '|' | '<' | '>' | '=')
    };
    let mut done = 0;
    text.match_indices('/').filter_map(move |(slash, _)| {
        let before = text.get(..=slash)?;
        if slash < done || !FOLDERS.iter().any(|folder| before.ends_with(folder)) {
            return None;
        }
        let start = before
            .rfind(is_border)
            .map_or(Some(0), |border| Some(border + before.get(border..)?.chars().next()?.len_utf8()))?;
        let rest = text.get(slash..)?;
        done = slash + rest.find(is_border).unwrap_or(rest.len());
        Some((start, text.get(start..done)?))
    })
}

/// A path below one of the standard's folders that is complete enough to look for: a file with an extension, and no
/// placeholder in it.
fn own_folder_path(word: &str) -> Option<String> {
    let path = own_path(word);
    let path = path.trim_end_matches(['.', ':', ',']);
    let is_own = FOLDERS.iter().any(|folder| path.starts_with(folder));
    (is_own && extension(path).is_some() && !is_placeholder(path)).then(|| path.to_owned())
}

/// What stands behind the last dot of a path's last part.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let (stem, extension) = name.rsplit_once('.')?;
    let is_plain = !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (!stem.is_empty() && is_plain).then_some(extension)
}

/// A path without the names that stand for the skill's own folder, and with its blanks.
fn own_path(path: &str) -> Cow<'_, str> {
    let path = OWN_FOLDER.iter().find_map(|own| path.strip_prefix(own)).unwrap_or(path);
    if path.contains("%20") { Cow::Owned(path.replace("%20", " ")) } else { Cow::Borrowed(path) }
}

/// Whether a path is a pattern or is to be filled in: `references/<topic>.md`, `assets/*.png`, `scripts/{name}.py`.
fn is_placeholder(path: &str) -> bool {
    path.contains(['*', '<', '>', '{', '}', '$', '[', ']', '…'])
        || path.contains("...")
        || path.contains("XX")
        || path.contains("path/to")
        || path.starts_with("your-")
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_around_a_folder() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<_> = words(text).map(|(_, word)| word).collect();
            assert_eq!(found, expect, "{text:?}");
        };
        check("python scripts/a.py --x=assets/b.png|tee c/d", &["scripts/a.py", "assets/b.png"]);
        check("`./references/assets/a.md`", &["./references/assets/a.md"]);
        check("é\u{a0}scripts/é.py", &["scripts/é.py"]);
        check("a/b c", &[]);
    }

    #[test]
    fn paths_are_taken_from_words_of_code() {
        let check = |word: &str, expect: Option<&str>| {
            assert_eq!(own_folder_path(word).as_deref(), expect, "{word:?}");
        };
        check("scripts/run.py", Some("scripts/run.py"));
        check("./scripts/run.py:", Some("scripts/run.py"));
        check("${CLAUDE_SKILL_DIR}/references/a.md", Some("references/a.md"));
        check("{baseDir}/assets/a%20b.png", Some("assets/a b.png"));
        check("scripts/run", None);
        check("scripts/<name>.py", None);
        check("scripts/tool.py:15", None);
        check("src/main.rs", None);
        check("my/scripts/run.py", None);
    }

    #[test]
    fn a_reference_is_complete_when_it_can_be_looked_for() {
        let check = |path: &str, expect: bool| {
            let reference = Reference { span: Span::default(), path: path.to_owned() };
            assert_eq!(reference.is_complete(), expect, "{path:?}");
        };
        check("references/a.md", true);
        check("references/", true);
        check("URL", false);
        check("internal-wiki/page", false);
        check(".env", false);
    }

    #[test]
    fn steps_are_worked_off_as_long_as_they_stay_inside() {
        let check = |path: &str, expect: Option<&str>| {
            let reference = Reference { span: Span::default(), path: path.to_owned() };
            assert_eq!(reference.inside().as_deref(), expect, "{path:?}");
        };
        check("./a/../b.md", Some("b.md"));
        check("references//a.md", Some("references/a.md"));
        check("../b.md", None);
        check("a/../../b.md", None);
    }
}

//! What a repository's configuration makes git run or obey, inside the project.
//!
//! `.git/config` is protected itself. But it can name other files: `core.hooksPath` a folder of hooks, `include.path` more
//! configuration, `diff.x.command` a program. Whoever can change such a file gets its content run by the next git command.

use std::path::{Path, PathBuf};

use crate::plain_path;

/// The largest configuration that is read; git's own are a few kilobytes.
const MAX_CONFIG: u64 = 1 << 20;

/// How many files include each other. Git itself stops at ten.
const MAX_INCLUDES: usize = 10;

/// The files and folders inside `worktree` that the repository's configuration names. `git` is its `.git` folder.
pub(crate) fn named_by_config(git: &Path, worktree: &Path) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for name in ["config", "config.worktree"] {
        read(&git.join(name), worktree, MAX_INCLUDES, &mut named);
    }
    named.retain(|path| path.starts_with(worktree) && path != worktree && !path.starts_with(git));
    named.sort();
    named.dedup();
    named
}

fn read(file: &Path, worktree: &Path, includes: usize, named: &mut Vec<PathBuf>) {
    let is_small =
        std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_CONFIG);
    let Some(text) = is_small.then(|| std::fs::read(file).ok()).flatten() else { return };
    let text = String::from_utf8_lossy(&text);
    for Setting { section, key, value } in settings(&text) {
        match (section.as_str(), key.as_str()) {
            ("include" | "includeif", "path") => {
                let path = plain_path(&file.parent().unwrap_or(worktree).join(&value));
                if includes > 0 && !named.contains(&path) {
                    named.push(path.clone());
                    read(&path, worktree, includes - 1, named);
                }
            }
            ("core", "hookspath" | "attributesfile") => named.push(plain_path(&worktree.join(&value))),
            // A command line, or something that is not a path at all: a word counts where a file of that name is there.
            _ => {
                let words = value
                    .split(|character: char| character.is_whitespace() || "\"'!;&|()".contains(character));
                let paths =
                    words.filter(|word| !word.is_empty()).map(|word| plain_path(&worktree.join(word)));
                named.extend(paths.filter(|path| path.is_file()));
            }
        }
    }
}

/// One line `key = value`, with the section it is in. Section and key are in lower case, as git compares them.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    section: String,
    key: String,
    value: String,
}

fn settings(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut section = String::new();
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines() {
        let mut line = line.trim_start();
        if let Some(rest) = line.strip_prefix('[') {
            let end = header_end(rest);
            let name = rest.get(..end).unwrap_or(rest);
            section = name.split([' ', '\t', '"', '.']).next().unwrap_or_default().to_lowercase();
            line = rest.get(end + 1..).unwrap_or_default().trim_start();
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.trim().to_lowercase();
        if key.is_empty() || key.starts_with(['#', ';']) {
            continue;
        }
        found.push(Setting { section: section.clone(), key, value: unquoted(value) });
    }
    found
}

/// Where the `]` of a section header is; one inside quotes is part of the name.
fn header_end(rest: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, character) in rest.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return at,
            _ => {}
        }
    }
    rest.len()
}

/// A value without its quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for character in value.trim().chars() {
        match character {
            _ if escaped => {
                text.push(character);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            _ => text.push(character),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn everything_that_a_configuration_names_inside_the_project_is_found() {
        let config = "[core]\n\thooksPath = \"tools/hooks\" # ours\n\tattributesFile=attrs\n\
            [includeIf \"gitdir:~/x]/\"] path = ../conf/more\n\
            [diff \"x\"]\ncommand = sh tools/\\\ndiff.sh --flag\n[alias]\nst = status\nrun = \"!tools/alias.sh\"\n\
            [remote \"origin\"]\nurl = git@example.org:x/y\n; path = no\n";
        let workspace = Workspace::new()
            .file("p/.git/config", config)
            .file("p/conf/more", "[include]\npath=deeper\n[gpg]\nprogram = ./tools/gpg\n")
            .file("p/conf/deeper", "[include]\npath=more\n[core]\nhooksPath=/etc/hooks\n")
            .file("p/tools/diff.sh", "")
            .file("p/tools/alias.sh", "")
            .file("p/tools/gpg", "")
            .file("p/tools/other", "");
        let (git, project) = (workspace.join("p/.git"), workspace.join("p"));
        let named = named_by_config(&git, &project);
        let named: Vec<_> =
            named.iter().map(|path| path.strip_prefix(&project).unwrap().to_str().unwrap()).collect();
        assert_eq!(
            named,
            [
                "attrs",
                "conf/deeper",
                "conf/more",
                "tools/alias.sh",
                "tools/diff.sh",
                "tools/gpg",
                "tools/hooks"
            ]
        );
    }

    #[test]
    fn a_repository_without_configuration_names_nothing() {
        let workspace = Workspace::new().dir("p/.git");
        assert_eq!(
            named_by_config(&workspace.join("p/.git"), &workspace.join("p")),
            [""; 0].map(PathBuf::from)
        );
    }
}

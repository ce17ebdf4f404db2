//! What the configuration of a repository makes git run or obey.
//!
//! `.git/config` is protected itself. But it can name other files: `core.hooksPath` a folder of hooks, `include.path` more
//! configuration, `diff.x.command` a program. Whoever can change such a file gets its content run by the next git command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::command_words::{FileWord, file_words};
use super::git_keys::{HOOKS, Use, key_of};
use super::places::UserPaths;
use super::tree::{Found, Tree};

/// The largest configuration that is read; git's own are a few kilobytes.
const MAX_CONFIG: u64 = 1 << 20;

/// How many files include each other. Git itself stops at ten.
const MAX_INCLUDES: usize = 10;

/// Where it says that the rest of a repository is elsewhere.
const MAX_POINTER: u64 = 1 << 14;

/// What a configuration names, absolute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    pub(super) path: PathBuf,
    pub(super) what: &'static str,
    /// It is a program or a file: a folder of that name is not meant.
    pub(super) is_file: bool,
}

/// Everything that the configuration of the repository with the work tree `base` names, and that of the user.
pub(super) fn named_by_config(tree: &Tree<'_>, user: &UserPaths, base: &Path) -> BTreeSet<Named> {
    let mut reader = Reader { tree, user, base, named: BTreeSet::new(), seen: BTreeSet::new() };
    let folders = git_folders(tree, base);
    for folder in &folders {
        for name in ["config", "config.worktree"] {
            reader.read(&folder.join(name), MAX_INCLUDES);
        }
    }
    if !folders.is_empty() {
        for file in &user.git_configs {
            reader.read(file, MAX_INCLUDES);
        }
    }
    reader.named
}

/// The folders that git reads for a work tree: its own, and the one that it shares with other work trees.
fn git_folders(tree: &Tree<'_>, base: &Path) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for end in tree.follow(&base.join(".git")).ends {
        let found = tree.look(&end);
        if found.contains(&Found::Folder) {
            folders.insert(end.clone());
        }
        if found.contains(&Found::File) {
            let pointers = tree.read(&end, MAX_POINTER).into_iter();
            let pointers = pointers.filter_map(|text| Some(trimmed(text.strip_prefix(b"gitdir:")?)));
            folders.extend(pointers.flat_map(|pointer| tree.follow(&base.join(pointer)).ends));
        }
    }
    let shared = |folder: &PathBuf| {
        let pointers = tree.read(&folder.join("commondir"), MAX_POINTER).into_iter();
        let ways = pointers.map(|text| tree.follow(&folder.join(trimmed(&text))));
        ways.flat_map(|way| way.ends).collect::<Vec<_>>()
    };
    let shared: Vec<PathBuf> = folders.iter().flat_map(shared).collect();
    folders.extend(shared);
    folders
}

fn trimmed(text: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(text.trim_ascii().to_vec()))
}

struct Reader<'a> {
    tree: &'a Tree<'a>,
    user: &'a UserPaths,
    base: &'a Path,
    named: BTreeSet<Named>,
    seen: BTreeSet<PathBuf>,
}

impl Reader<'_> {
    fn read(&mut self, file: &Path, includes: usize) {
        if !self.seen.insert(file.to_owned()) {
            return;
        }
        let texts = self.tree.follow(file).ends.into_iter().flat_map(|end| self.tree.read(&end, MAX_CONFIG));
        for text in texts.collect::<Vec<_>>() {
            for setting in settings(&text) {
                self.take(&setting, file, includes);
            }
        }
    }

    fn take(&mut self, Setting { section, key, value }: &Setting, file: &Path, includes: usize) {
        let Some(row) = key_of(section, key).filter(|_| !value.is_empty()) else { return };
        let what = row.what;
        match row.used {
            Use::Include => {
                let Some(path) = self.path(value, file.parent().unwrap_or(self.base)) else { return };
                self.named.insert(Named { path: path.clone(), what, is_file: true });
                if includes > 0 {
                    self.read(&path, includes - 1);
                }
            }
            Use::Hooks => {
                let Some(path) = self.path(value, self.base) else { return };
                // Where the folder is the project or holds it, its hooks are protected one by one.
                let hooks = HOOKS.iter().map(|hook| Named { path: path.join(hook), what, is_file: true });
                self.named.extend(hooks);
                self.named.insert(Named { path, what, is_file: false });
            }
            Use::Path => {
                let path = self.path(value, self.base);
                self.named.extend(path.map(|path| Named { path, what, is_file: false }));
            }
            Use::Command => self.command(value, what),
            Use::Shell if value.starts_with('!') => self.command(value, what),
            Use::Address => {
                if let Some(command) = value.strip_prefix("ext::") {
                    self.command(command, what);
                }
            }
            Use::Shell => {}
        }
    }

    fn command(&mut self, line: &str, what: &'static str) {
        for FileWord { path, if_present } in file_words(line) {
            let Some(path) = self.path(&path, self.base) else { continue };
            if !if_present || is_present(self.tree, &path) {
                self.named.insert(Named { path, what, is_file: true });
            }
        }
    }

    /// The path that a value means, seen from a folder.
    fn path(&self, value: &str, folder: &Path) -> Option<PathBuf> {
        let os = |text: &str| PathBuf::from(OsString::from_vec(bytes(text)));
        match value.strip_prefix("~/") {
            Some(rest) => self.user.home.as_ref().map(|home| home.join(os(rest))),
            None => Some(folder.join(os(value))),
        }
    }
}

/// Whether there is a file before the changes: what they make is not what the configuration meant.
fn is_present(tree: &Tree<'_>, path: &Path) -> bool {
    tree.look(path).first().is_some_and(|found| matches!(found, Found::File | Found::Link(_)))
}

/// One line `key = value`, with the section it is in. Section and key are in lower case, as git compares them. Each byte of the
/// value is one character, since a path need not be UTF-8.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    section: String,
    key: String,
    value: String,
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars().filter_map(|c| u8::try_from(c).ok()).collect()
}

fn settings(text: &[u8]) -> Vec<Setting> {
    let text: String =
        text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).iter().map(|byte| char::from(*byte)).collect();
    let text = text.replace("\r\n", "\n");
    let mut rest = text.as_str();
    let (mut found, mut section) = (Vec::new(), String::new());
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return found };
        match first {
            '[' => {
                let end = header_end(&rest[1..]) + 1;
                let name = rest[1..end].trim();
                section = name.split([' ', '\t', '"', '.']).next().unwrap_or_default().to_lowercase();
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            '#' | ';' => rest = rest.split_once('\n').map_or("", |(_, rest)| rest),
            _ => {
                let end = rest.find(['=', '\n', '#', ';']).unwrap_or(rest.len());
                let key = rest[..end].trim().to_lowercase();
                rest = &rest[end..];
                if let Some(value) = rest.strip_prefix('=') {
                    let (value, left) = unquoted(value);
                    found.push(Setting { section: section.clone(), key, value });
                    rest = left;
                }
            }
        }
    }
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
            '\n' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// A value without its quotes, escapes and comment, and the text after its line.
fn unquoted(text: &str) -> (String, &str) {
    let (mut value, mut quoted, mut escaped, mut is_comment) = (String::new(), false, false, false);
    // Up to here spaces are part of the value.
    let mut kept = 0;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match c {
            // A line that ends with a backslash goes on.
            '\n' if escaped => escaped = false,
            '\n' => {
                end = at;
                break;
            }
            _ if is_comment => {}
            _ if escaped => {
                value.push(match c {
                    'n' => '\n',
                    't' => '\t',
                    'b' => '\u{8}',
                    c => c,
                });
                kept = value.len();
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => {
                quoted = !quoted;
                kept = value.len();
            }
            '#' | ';' if !quoted => is_comment = true,
            ' ' | '\t' if !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
            }
            c => {
                value.push(c);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (value, &text[end..])
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::super::places::NoChanges;
    use super::*;

    fn named(workspace: &Workspace, user: &UserPaths) -> Vec<String> {
        let project = workspace.join("p");
        let tree = Tree::new(&project, &NoChanges);
        let named = named_by_config(&tree, user, &project);
        let mut named: Vec<_> = named
            .iter()
            .filter(|named| !HOOKS.iter().any(|hook| named.path.ends_with(hook)))
            .filter_map(|named| {
                crate::plain_path(&named.path).strip_prefix(&project).ok().map(Path::to_owned)
            })
            .map(|path| path.to_string_lossy().into_owned())
            .filter(|path| !path.contains(' '))
            .collect();
        named.sort();
        named.dedup();
        named
    }

    #[test]
    fn everything_that_a_configuration_names_inside_the_project_is_found() {
        let config = "[core]\n\thooksPath = \"tools/hooks\" # ours\n\tattributesFile=attrs\n\
            [includeIf \"gitdir:~/x]/\"] path = ../conf/more\n\
            [diff \"x\"]\ncommand = sh tools/\\\ndiff.sh --flag\n[alias]\nst = status\nrun = \"!tools/alias.sh\"\n\
            [remote \"origin\"]\nurl = git@example.org:x/y\n; path = no\n[user]\nname = a\n";
        let workspace = Workspace::new()
            .file("p/.git/config", config)
            .file("p/conf/more", "[include]\npath=deeper\n[gpg]\nprogram = ./tools/gpg\n")
            .file("p/conf/deeper", "[include]\npath=more\n[core]\nhooksPath=/etc/hooks\n")
            .file("p/a", "")
            .file("p/status", "");
        assert_eq!(
            named(&workspace, &UserPaths::default()),
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
    fn a_work_tree_obeys_the_repository_that_it_belongs_to_and_the_user() {
        let workspace = Workspace::new()
            .file("p/.git", "gitdir: ../main/.git/worktrees/p\n")
            .file("main/.git/worktrees/p/commondir", "../..\n")
            .file("main/.git/worktrees/p/config.worktree", "[core]\neditor = ./ed\n")
            .file("main/.git/config", "[core]\nhooksPath = hk\n")
            .file("home/.gitconfig", "[core]\nfsmonitor = tools/fsm\nattributesFile = ~/attrs\n");
        let home = workspace.join("home");
        let git_configs = vec![home.join(".gitconfig")];
        let user = UserPaths { home: Some(home), git_configs, ..UserPaths::default() };
        assert_eq!(named(&workspace, &user), ["ed", "hk", "tools/fsm"]);
    }

    #[test]
    fn a_repository_without_configuration_names_nothing() {
        assert!(named(&Workspace::new().dir("p/.git"), &UserPaths::default()).is_empty());
        assert!(named(&Workspace::new().dir("p"), &UserPaths::default()).is_empty());
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        for (text, expect) in [
            ("a=b", "b"),
            ("a = b c  # d\n", "b c"),
            ("a = \"b # c \" ; d", "b # c "),
            ("a = b\\\n  c", "b  c"),
            ("a = \\\"b c\\\" -f", "\"b c\" -f"),
            ("a = b\\\\n", "b\\n"),
            ("a=\r\nc=d", ""),
        ] {
            assert_eq!(settings(text.as_bytes())[0].value, expect, "{text:?}");
        }
        assert_eq!(bytes(&settings(b"a = \xff\xc3\xa4")[0].value), b"\xff\xc3\xa4");
    }
}

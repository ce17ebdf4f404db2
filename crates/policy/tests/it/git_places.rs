//! Which places of a project real git touches: none that is protected in ordinary use, and each by its name where it makes a
//! repository.

use metier_policy::Place;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("metier-git-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"])
        .args(["-c", "init.defaultBranch=main", "-c", "core.fsmonitor=false"])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .envs([
            ("PATH", "/usr/bin:/bin"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("HOME", "/nonexistent"),
            ("GIT_EDITOR", "true"),
        ])
        .output()
        .expect("git can be started");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every file below a folder, with what changes when it is written.
fn files(folder: &Path) -> BTreeMap<String, (u64, i64, i64, u64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("below").to_str().expect("UTF-8").to_owned();
            found.insert(name, (metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.size()));
        }
    }
    found
}

/// The protected places that commands touch.
fn touched(folder: &Path, work: impl FnOnce()) -> Vec<String> {
    let before = files(folder);
    work();
    let after = files(folder);
    let names = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name));
    let mut touched: Vec<String> = names.filter(|name| Place::new(name).is_guarded()).cloned().collect();
    touched.sort();
    touched.dedup();
    touched
}

#[test]
fn a_new_repository_is_named_file_by_file_and_ordinary_work_touches_nothing_protected() {
    let folder = Folder::new("ordinary");
    let project = folder.0.join("project");
    fs::create_dir_all(&project).expect("a folder");
    let made = touched(&project, || git(&project, &["init"]));
    assert!(made.contains(&".git/config".to_owned()), "{made:?}");
    assert!(made.iter().all(|name| name == ".git/config" || name.starts_with(".git/hooks/")), "{made:?}");
    let work = |at: &Path| {
        let write = |text: &str| fs::write(at.join("a.txt"), text).expect("it can be written");
        write("one\n");
        git(at, &["add", "."]);
        git(at, &["commit", "-m", "one"]);
        git(at, &["switch", "-c", "config"]);
        write("two\n");
        git(at, &["commit", "-am", "two"]);
        write("three\n");
        git(at, &["stash"]);
        git(at, &["stash", "pop"]);
        git(at, &["commit", "-am", "three"]);
        git(at, &["rebase", "-i", "--autostash", "HEAD~1"]);
        git(at, &["tag", "hooks"]);
        git(at, &["gc"]);
        git(at, &["status"]);
    };
    assert_eq!(touched(&project, || work(&project)), Vec::<String>::new());
    // The same in a linked worktree and in a submodule, whose folders lie inside of the repository's own.
    let names = touched(&project, || git(&project, &["worktree", "add", "tree"]));
    assert_eq!(names, [".git/worktrees/tree/commondir", ".git/worktrees/tree/gitdir", "tree/.git"]);
    let tree = project.join("tree");
    let in_tree = || {
        fs::write(tree.join("b.txt"), "b\n").expect("it can be written");
        git(&tree, &["add", "."]);
        git(&tree, &["commit", "-m", "b"]);
        git(&tree, &["commit", "--amend", "-m", "config"]);
    };
    assert_eq!(touched(&project, in_tree), Vec::<String>::new());
    let source = folder.0.join("source");
    fs::create_dir_all(&source).expect("a folder");
    git(&source, &["init"]);
    git(&source, &["commit", "--allow-empty", "-m", "empty"]);
    let names = touched(&project, || git(&project, &["submodule", "add", "../source", "libs/part"]));
    for name in [".gitmodules", ".git/modules/libs/part/config", "libs/part/.git"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let part = project.join("libs/part");
    let in_part = || {
        fs::write(part.join("c.txt"), "c\n").expect("it can be written");
        git(&part, &["add", "."]);
        git(&part, &["commit", "-m", "c"]);
        git(&part, &["switch", "-c", "hooks"]);
    };
    assert_eq!(touched(&project, in_part), Vec::<String>::new());
}

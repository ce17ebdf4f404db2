//! A project that is a mount of its own, as in a container: the kernel renames nothing into it, also from the same file system.

use std::fs;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;
use std::process::{Command, Stdio};

use metier_testkit::Workspace;

use crate::binary::{Run, finished, program};

/// Who runs metier: root, and a user that no machine has.
const USERS: [u32; 2] = [0, 54_321];

/// Mounts the project on itself.
const BIND: &str = "mount --bind \"$P\" \"$P\"";
/// The same, and nothing can be written there.
const READ_ONLY: &str = "mount --bind \"$P\" \"$P\" && mount -o remount,bind,ro \"$P\"";

fn machine(user: u32) -> Workspace {
    let workspace = Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "cd \"$PROJECT_DIR\"; eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/f", "old\n")
        .file("project/docs/x", "x\n");
    own(workspace.path(), user);
    workspace
}

fn own(path: &Path, user: u32) {
    lchown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            own(&entry.unwrap().path(), user);
        }
    }
}

/// Whether mounts can be made here. Root alone can make them for another user's metier.
fn can_mount() -> bool {
    let mounts = Command::new("unshare").args(["-m", "true"]).stderr(Stdio::null()).status();
    let can = mounts.is_ok_and(|status| status.success());
    if !can {
        metier_testkit::not_tried("mount-namespace", "no mounts of its own can be made here");
    }
    can
}

/// Runs metier in a mount namespace with other mounts.
fn mounted(workspace: &Workspace, user: u32, mounts: &str, args: &[&str]) -> Run {
    let script = format!(
        "{mounts} && cd \"$P\" && exec setpriv --reuid={user} --regid={user} --clear-groups \"$0\" \"$@\""
    );
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["-m", "sh", "-c", &script]).arg(program()).args(args).env_clear().stdin(Stdio::null());
    command.env("HOME", workspace.join("home")).env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    finished(command.env("P", workspace.join("project")).output())
}

fn exec<'a>(line: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["exec", "sh", "run.sh", "--json"], more, &["--", line]].concat()
}

fn read(workspace: &Workspace, path: &str) -> String {
    fs::read_to_string(workspace.join("project").join(path)).unwrap_or_else(|_| "(missing)".to_owned())
}

/// Nothing of metier's own stays in the project.
fn assert_clean(workspace: &Workspace) {
    for entry in fs::read_dir(workspace.join("project")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(!name.to_string_lossy().contains("metier"), "{}", name.display());
    }
}

#[test]
fn a_project_that_is_a_mount_of_its_own_is_changed_and_changed_back() {
    if !can_mount() {
        return;
    }
    for user in USERS {
        let workspace = machine(user);
        let line = "echo new > f; rm docs/x; mkdir -p n/m; echo 1 > n/m/1";
        let run = mounted(&workspace, user, BIND, &exec(line, &["--write", "**"]));
        assert_eq!(run.code, 0, "as {user}: {}{}", run.stdout, run.stderr);
        assert_eq!((&*read(&workspace, "f"), &*read(&workspace, "n/m/1")), ("new\n", "1\n"), "as {user}");
        assert_eq!(read(&workspace, "docs/x"), "(missing)", "as {user}");
        assert_clean(&workspace);
        let run = mounted(&workspace, user, BIND, &["changes", "undo"]);
        assert_eq!(run.code, 0, "as {user}: {}", run.stderr);
        assert_eq!((&*read(&workspace, "f"), &*read(&workspace, "docs/x")), ("old\n", "x\n"), "as {user}");
        assert!(!workspace.join("project/n").exists(), "as {user}");
        assert_clean(&workspace);
    }
}

/// A set that was made in one mount with its layer is applied in another one, and undone there and elsewhere.
#[test]
fn a_set_that_waits_is_applied_in_other_mounts_than_it_was_made_in() {
    if !can_mount() {
        return;
    }
    for user in USERS {
        let workspace = machine(user);
        let run = mounted(&workspace, user, "true", &exec("echo new > f; echo n > n; rm docs/x", &[]));
        assert_eq!(run.code, 4, "as {user}: {}", run.stderr);
        let id = run.json()["changes"]["id"].as_str().unwrap().to_owned();
        let run = mounted(&workspace, user, BIND, &["changes", "apply", &id, "--yes", "f", "n"]);
        assert_eq!(run.code, 0, "as {user}: {}", run.stderr);
        assert_eq!((&*read(&workspace, "f"), &*read(&workspace, "n")), ("new\n", "n\n"), "as {user}");
        assert_clean(&workspace);
        // The rest of it by renaming, which cannot be undone where renaming is not possible.
        let run = mounted(&workspace, user, "true", &["changes", "apply", &id, "--yes"]);
        assert_eq!((run.code, &*read(&workspace, "docs/x")), (0, "(missing)"), "as {user}: {}", run.stderr);
        let run = mounted(&workspace, user, BIND, &["changes", "undo", &id]);
        assert!(run.code == 1 && run.stderr.contains("different mounts now"), "as {user}: {}", run.stderr);
        for mounts in ["true", BIND] {
            let run = mounted(&workspace, user, mounts, &["changes", "undo", &id]);
            assert_eq!(run.code, 0, "as {user}: {}", run.stderr);
        }
        assert_eq!((&*read(&workspace, "f"), &*read(&workspace, "docs/x")), ("old\n", "x\n"), "as {user}");
        assert_clean(&workspace);
    }
}

#[test]
fn a_read_only_project_is_read_only_for_a_call_and_says_so() {
    if !can_mount() {
        return;
    }
    for user in USERS {
        let workspace = machine(user);
        let line = "echo new > f && echo written; echo new 2> /dev/null > g || echo refused";
        let run = mounted(&workspace, user, READ_ONLY, &exec(line, &["--write", "**"]));
        let report = run.json();
        assert!(run.stdout.contains("refused") && !run.stdout.contains("written"), "{}", run.stdout);
        assert!(run.stdout.contains("Read-only file system"), "as {user}: {}", run.stdout);
        assert!(report["notes"].to_string().contains("is on a read-only file system"), "{report}");
        // A set from before waits for a project that can be written.
        let run = mounted(&workspace, user, "true", &exec("echo new > f", &[]));
        let id = run.json()["changes"]["id"].as_str().unwrap().to_owned();
        let run = mounted(&workspace, user, READ_ONLY, &["changes", "apply", &id, "--yes"]);
        assert!(run.code == 1 && run.stderr.contains("is on a read-only file system"), "{}", run.stderr);
        let run = mounted(&workspace, user, "true", &["changes", "apply", &id, "--yes"]);
        assert_eq!((run.code, &*read(&workspace, "f")), (0, "new\n"), "as {user}: {}", run.stderr);
    }
}

/// Root works in another user's project: by renaming and by copying, everything stays or becomes that user's.
#[test]
fn what_root_changes_in_another_users_project_belongs_to_that_user() {
    if !can_mount() {
        return;
    }
    for mounts in ["true", BIND] {
        let workspace = machine(USERS[1]);
        // Metier's own files are root's.
        own(&workspace.join("home"), 0);
        let line = "echo new > f; echo more >> docs/x; mkdir -p n/m part; echo 1 > n/m/1; echo 2 > part/a; echo 3 > part/b";
        let globs =
            ["--write", "f", "--write", "docs/**", "--write", "n/**", "--write", "part", "--write", "part/a"];
        let run = mounted(&workspace, 0, mounts, &exec(line, &globs));
        assert_eq!(run.code, 4, "{mounts}: {}{}", run.stdout, run.stderr);
        for path in ["f", "docs", "docs/x", "n", "n/m", "n/m/1", "part", "part/a"] {
            let found = fs::metadata(workspace.join("project").join(path)).unwrap();
            assert_eq!((found.uid(), found.gid()), (USERS[1], USERS[1]), "{mounts}: {path}");
        }
        assert_eq!(read(&workspace, "docs/x"), "x\nmore\n", "{mounts}");
        let run = mounted(&workspace, 0, mounts, &["changes", "undo"]);
        assert_eq!((run.code, &*read(&workspace, "docs/x")), (0, "x\n"), "{mounts}: {}", run.stderr);
        assert_eq!(fs::metadata(workspace.join("project/docs/x")).unwrap().uid(), USERS[1], "{mounts}");
    }
}

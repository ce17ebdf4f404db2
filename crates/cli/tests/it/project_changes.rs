//! A command changes the project once, exactly, and only after an approval.

mod commands;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use metier_files::FileDigest;
use metier_testkit::Workspace;

use self::commands::{FILES, GIT, LARGE, PACKAGES, READ_ONLY, Row};
use crate::binary::{Run, metier, metier_with};
use crate::ordinary_user::again_as_user;

/// What makes two runs of a command alike: fixed dates and names, nothing of the user's.
const FIXED: &str = "set -e; umask 022; export LC_ALL=C TZ=UTC GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \
    GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' \
    GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' PYTHONDONTWRITEBYTECODE=1 SOURCE_DATE_EPOCH=1767225600 \
    CARGO_INCREMENTAL=0 npm_config_update_notifier=false; cd \"$PROJECT_DIR\"";

/// One entry of a tree: everything that has to be alike.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder { mode: u32 },
    File { mode: u32, size: u64, digest: FileDigest },
    Link { target: OsString },
}

type Tree = BTreeMap<OsString, Entry>;

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            let entry = if metadata.is_dir() {
                folders.push(path.clone());
                Entry::Folder { mode }
            } else if metadata.is_symlink() {
                Entry::Link { target: std::fs::read_link(&path).unwrap().into() }
            } else {
                Entry::File { mode, size: metadata.size(), digest: digest(&path, &metadata) }
            };
            tree.insert(path.strip_prefix(folder).unwrap().into(), entry);
        }
    }
    tree
}

/// The digest of a file; of a sparse one over a hundred megabytes, of its end.
fn digest(path: &Path, metadata: &std::fs::Metadata) -> FileDigest {
    const MAX_READ: u64 = 100 << 20;
    let mut file = std::fs::File::open(path).unwrap();
    if metadata.size() > MAX_READ {
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(-4096)).unwrap();
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    if path.ends_with(UNORDERED) {
        bytes.sort_unstable();
    }
    FileDigest::of(&bytes)
}

/// What cargo knows of the compiler, which it writes in any order.
const UNORDERED: &str = ".rustc_info.json";

/// Applies a set whole, with each of its protected paths named.
fn apply_by_name(workspace: &Workspace, id: &str) -> Run {
    let shown = metier(workspace, &["changes", "show", id, "--json"]).json();
    let mut words = vec!["changes", "apply", id, "--yes"];
    for entry in shown["entries"].as_array().into_iter().flatten() {
        if entry["protected"] == true {
            words.extend(["--protected", entry["path"].as_str().unwrap()]);
        }
    }
    metier(workspace, &words)
}

/// What differs between two trees, for a message.
fn difference(expected: &Tree, found: &Tree) -> String {
    let mut lines = Vec::new();
    for (path, entry) in expected {
        match found.get(path) {
            None => lines.push(format!("missing: {}", path.display())),
            Some(other) if other != entry => {
                lines.push(format!("{}: {entry:?} became {other:?}", path.display()));
            }
            Some(_) => {}
        }
    }
    lines.extend(
        found
            .keys()
            .filter(|path| !expected.contains_key(*path))
            .map(|path| format!("new: {}", path.display())),
    );
    lines.truncate(20);
    lines.join("\n")
}

/// Where programs are found: the system's, and the toolchain that built this test.
fn search_path() -> String {
    let toolchain = Path::new(env!("CARGO")).parent().unwrap();
    format!("/usr/bin:/bin:{}", toolchain.display())
}

fn has(program: &str) -> bool {
    search_path().split(':').any(|folder| Path::new(folder).join(program).is_file())
}

/// The shell, with nothing of the user's around it.
fn bare(workspace: &Workspace, script: &str) {
    let output = Command::new("/bin/bash")
        .args(["--noprofile", "--norc", "-c", script])
        .current_dir(workspace.join("project"))
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", workspace.join("bare-home"))
        .env("PROJECT_DIR", workspace.join("project"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Puts the project back to what the set-up made.
fn restore(workspace: &Workspace) {
    let line = "cd ..; chmod -R u+rwX project; rm -rf project copy-of-it; cp -a base project";
    bare(workspace, line);
}

/// What is wrong with a row; nothing, where all is well.
fn check(row: &Row) -> Result<(), String> {
    let workspace = Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file(
            "home/.agents/skills/sh/scripts/run.sh",
            format!("echo run >> \"$SKILL_DATA/count\"\n{FIXED}\n{}\n", row.command),
        )
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .dir("bare-home")
        .dir("project");
    let project = workspace.join("project");
    bare(&workspace, &format!("{FIXED}; {}", row.setup));
    bare(&workspace, "cd ..; cp -a project base");
    let before = tree(&project);
    let line = format!("{FIXED}\n{}", row.command);
    bare(&workspace, &line);
    let expected = tree(&project);
    restore(&workspace);
    bare(&workspace, &line);
    let again = tree(&project);
    restore(&workspace);

    let words = ["exec", "sh", "run.sh", "--timeout", "300", "--json"];
    let run = metier_with(&workspace, &words, &[("PATH", &search_path())]);
    ensure(run.code == 4, || format!("exit code {}: {}\n{}", run.code, run.stdout, run.stderr))?;
    let found = tree(&project);
    ensure(before == found, || format!("changed without approval: {}", difference(&before, &found)))?;
    let report = run.json();
    let id = report["changes"]["id"].as_str().ok_or_else(|| format!("no changes: {report}"))?;
    let applied = apply_by_name(&workspace, id);
    ensure(applied.code == 0, || format!("not applied: {}\n{}", applied.stdout, applied.stderr))?;
    let entries = report["changes"]["entries"].as_array();
    let is_ignored = entries.is_some_and(|all| all.iter().any(|entry| entry["state"] == "ignored"));
    if is_ignored {
        let kept = metier(&workspace, &["changes", "apply", id, "--ignored", "--yes"]);
        ensure(kept.code == 0, || format!("ignored files not applied: {}\n{}", kept.stdout, kept.stderr))?;
    }
    let found = tree(&project);
    if expected == again {
        ensure(expected == found, || format!("approved: {}", difference(&expected, &found)))?;
    } else {
        // Two bare runs differ, so only the names can be compared, where at least those are the same.
        let is_same = expected.keys().eq(found.keys()) || expected.keys().ne(again.keys());
        ensure(is_same, || format!("list of files: {}", difference(&expected, &found)))?;
    }
    let undone = metier(&workspace, &["changes", "undo", id]);
    ensure(undone.code == 0, || format!("not undone: {}\n{}", undone.stdout, undone.stderr))?;
    let found = tree(&project);
    // What git ignores was a set of its own.
    ensure(before == found || is_ignored, || format!("undone: {}", difference(&before, &found)))?;
    let count = Command::new("find").arg(workspace.join("home")).args(["-name", "count"]).output().unwrap();
    let count = String::from_utf8(count.stdout).unwrap();
    let runs = std::fs::read_to_string(count.trim()).unwrap_or_default();
    // An ordinary user cannot remove folders that are closed.
    bare(&workspace, "cd ..; chmod -R u+rwX .");
    ensure(runs == "run\n", || format!("it has to run exactly once, and ran: {runs:?}"))
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn check_all(rows: &[Row]) {
    let mut failed = Vec::new();
    for row in rows {
        match row.programs.iter().find(|program| !has(program)) {
            Some(program) => {
                metier_testkit::not_tried(program, format_args!("it is not installed: {}", row.name));
            }
            None => failed.extend(check(row).err().map(|why| format!("{}: {why}", row.name))),
        }
    }
    assert!(failed.is_empty(), "{} of {} failed:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

#[test]
fn files_are_changed_as_the_bare_command_changes_them() {
    check_all(FILES);
}

#[test]
fn repositories_are_changed_as_git_alone_changes_them() {
    check_all(GIT);
}

#[test]
fn packages_are_made_as_their_managers_alone_make_them() {
    check_all(PACKAGES);
}

#[test]
fn many_and_large_files_are_changed_as_the_bare_command_changes_them() {
    check_all(LARGE);
}

#[test]
fn read_only_entries_are_changed_as_the_bare_command_changes_them() {
    check_all(READ_ONLY);
}

#[test]
fn an_ordinary_user_changes_read_only_entries_as_the_bare_command_does() {
    again_as_user("project_changes::read_only", "project_changes::an_ordinary_user");
}

#[test]
fn the_tables_hold_at_least_sixty_commands() {
    assert!(FILES.len() + GIT.len() + PACKAGES.len() + LARGE.len() >= 60);
}

/// A project with a skill that runs its first argument.
fn machine() -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "cd \"$PROJECT_DIR\"; eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/a", "text\n")
        .file("project/docs/t", "old\n")
        .symlink("project/.git/hooks/pre-commit", "../../docs/t")
}

#[test]
fn what_a_hook_is_a_link_to_is_protected() {
    let workspace = machine();
    let words =
        ["exec", "sh", "run.sh", "--allow", "skill:sh/write:**", "--", "echo evil > docs/t; echo x > b"];
    let run = metier(&workspace, &words);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(workspace.join("project/docs/t")).unwrap(), "old\n");
    assert!(workspace.join("project/b").exists());
}

#[test]
fn a_file_is_not_deleted_where_its_new_name_is_not_applied() {
    for flags in [&["--allow", "skill:sh/write:**"][..], &["--mode", "yolo"]] {
        let workspace = machine();
        let run = metier(&workspace, &[&["exec", "sh", "run.sh"], flags, &["--", "mv a .envrc"]].concat());
        assert_eq!(run.code, 4, "{}", run.stderr);
        assert!(run.stderr.contains("metier changes apply"), "{}", run.stderr);
        assert!(workspace.join("project/a").exists() && !workspace.join("project/.envrc").exists());
    }
}

/// A fast call is over before it is measured for the first time, so its layer is measured at the end as well.
#[test]
fn a_set_over_a_limit_waits_whatever_the_rules_are() {
    for (limit, line, said) in [
        ("max_files = 5", "mkdir d; touch d/1 d/2 d/3 d/4 d/5", "more than the 5 of `max_files`"),
        ("max_mib = 1", "head -c 3000000 /dev/zero > large", "more than the 1 of `max_mib`"),
    ] {
        for flags in [&["--write", "**"][..], &["--mode", "yolo"]] {
            let config = format!("bundled = false\n[changes]\n{limit}\n");
            let workspace = machine().file("home/.config/metier/config.toml", &config);
            let run = metier(&workspace, &[&["exec", "sh", "run.sh"], flags, &["--", line]].concat());
            assert_eq!(run.code, 1, "{line}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{line}: {}", run.stderr);
            assert!(
                !["d", "large"].iter().any(|made| workspace.join("project").join(made).exists()),
                "{line}"
            );
            assert!(metier(&workspace, &["changes"]).stdout.contains("pending"), "{line}");
            let run = metier(&workspace, &["changes", "apply", "last", "--yes"]);
            assert_eq!(run.code, 0, "{line}: {}", run.stderr);
            assert!(["d/5", "large"].iter().any(|made| workspace.join("project").join(made).exists()));
            let run =
                metier(&workspace, &[&["exec", "sh", "run.sh"], flags, &["--", "echo x > small"]].concat());
            assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        }
    }
}

/// What git ignores is not applied by itself, so what was renamed to such a name is decided like any other path.
#[test]
fn a_file_that_was_renamed_to_an_ignored_name_is_not_lost() {
    for (line, old, new) in [
        ("mv a x.log", "project/a", "project/x.log"),
        ("mv docs build; echo made > build/more", "project/docs/t", "project/build/t"),
        ("mkdir -p build/deep; mv a build/deep/a", "project/a", "project/build/deep/a"),
    ] {
        let make = || {
            let workspace = machine().file("project/.gitignore", "*.log\nbuild/\n");
            std::fs::remove_dir_all(workspace.join("project/.git/hooks")).unwrap();
            workspace
        };
        // A rule for the old name alone.
        let workspace = make();
        let text = std::fs::read_to_string(workspace.join(old)).unwrap();
        let rules = ["--write", "docs/**", "--allow", "skill:sh/write:a", "--", line];
        let run = metier(&workspace, &[&["exec", "sh", "run.sh"], &rules[..]].concat());
        assert_eq!(run.code, 4, "{line}: {}", run.stderr);
        assert!(run.stderr.contains("which is not applied"), "{line}: {}", run.stderr);
        assert_eq!(std::fs::read_to_string(workspace.join(old)).unwrap(), text, "{line}");
        // The list has the new name, and applies it with the old one.
        let shown = metier(&workspace, &["changes", "show"]).stdout;
        assert!(shown.contains("renamed from "), "{line}: {shown}");
        let run = metier(&workspace, &["changes", "apply", "last", "--yes"]);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        assert!(!workspace.join(old).exists(), "{line}");
        assert_eq!(std::fs::read_to_string(workspace.join(new)).unwrap(), text, "{line}");
        // A rule for both.
        let workspace = make();
        let run = metier(&workspace, &["exec", "sh", "run.sh", "--write", "**", "--", line]);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        assert!(!workspace.join(old).exists(), "{line}");
        assert_eq!(std::fs::read_to_string(workspace.join(new)).unwrap(), text, "{line}");
    }
}

/// A name under which the content is not applied is held back with the one under which it was.
#[test]
fn a_rename_over_something_is_applied_whole_or_not_at_all() {
    for (line, kept) in [
        ("mv docs/1 b", &["docs/1", "b"][..]),
        ("mv docs/link here", &["docs/link"]),
        ("mv docs/link link", &["docs/link", "link"]),
        // Two renames, one after the other: each waits for the next.
        ("mv docs/1 c; mv docs/2 docs/1", &["docs/1", "docs/2"]),
        ("mv docs/1 b; mv docs/2 docs/1; mv docs/3 docs/2", &["docs/1", "docs/2", "docs/3", "b"]),
        ("mv docs/1 t; mv b docs/1; mv t b", &["docs/1", "b"]),
    ] {
        let workspace = machine().file("project/docs/1", "first\n").file("project/docs/2", "second one\n");
        let workspace = workspace.file("project/docs/3", "the third\n").file("project/b", "b\n");
        let workspace = workspace.symlink("project/docs/link", "1").symlink("project/link", "b");
        let before = tree(&workspace.join("project"));
        let run = metier(&workspace, &["exec", "sh", "run.sh", "--write", "docs/**", "--", line]);
        assert_eq!(run.code, 4, "{line}: {}", run.stderr);
        let after = tree(&workspace.join("project"));
        assert!(before == after, "{line}: {}", difference(&before, &after));
        for path in kept.iter().filter(|path| path.starts_with("docs/")) {
            let said =
                run.stderr.lines().find(|said| said.contains(&format!("ed {path}"))).unwrap_or_default();
            assert!(said.contains("which is not applied"), "{line}, {path}: {}", run.stderr);
        }
        // With both names the same rename is applied, and shown as one.
        let shown = metier(&workspace, &["changes", "show"]).stdout;
        assert!(shown.contains("renamed from docs/"), "{line}: {shown}");
        let all = ["--write", "**", "--", line];
        let run = metier(&workspace, &[&["exec", "sh", "run.sh"], &all[..]].concat());
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        assert!(run.stderr.contains("renamed from docs/"), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_refused_apply_prints_nothing_but_json_where_json_is_wanted() {
    let workspace = machine();
    metier(&workspace, &["exec", "sh", "run.sh", "--", "echo x > b"]);
    let run = metier(&workspace, &["--json", "changes", "apply", "last"]);
    assert_eq!((run.code, run.json()["result"].as_str()), (4, Some("nothing was applied")));
    assert!(run.stderr.contains("--yes"), "{}", run.stderr);
    assert!(!workspace.join("project/b").exists());
}

#[test]
fn a_printed_rule_is_one_word_for_a_shell() {
    let workspace = machine();
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--", "touch \"x';touch pwned;'\""]);
    let rule = run.stderr.lines().find_map(|line| line.trim().strip_prefix("--allow ")).unwrap();
    let output = Command::new("/bin/sh").args(["-c", &format!("printf %s {rule}")]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "skill:user.agents:sh/write:x';touch pwned;'");
}

#[test]
fn what_was_only_touched_or_closed_is_called_so() {
    let workspace = machine();
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--", "touch a; chmod 600 docs/t"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    let said = &run.stderr;
    assert!(said.contains("not approved: touched a") && said.contains("mode changed docs/t"), "{said}");
    let shown = metier(&workspace, &["changes", "show"]).stdout;
    assert!(shown.contains("a (5 bytes), touched") && shown.contains(", mode changed"), "{shown}");
    let kinds = metier(&workspace, &["changes", "show", "--json"]).json()["entries"].clone();
    assert_eq!((&kinds[0]["kind"], &kinds[1]["kind"]), (&"times".into(), &"attributes".into()));
}

#[test]
fn a_folder_that_cannot_be_deleted_says_why() {
    let workspace = machine();
    let rules = ["--allow", "skill:sh/write:docs", "--allow", "skill:sh/write:b"];
    let run = metier(
        &workspace,
        &[&["exec", "sh", "run.sh"], &rules[..], &["--", "rm -rf docs; echo 1 > b"]].concat(),
    );
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("failed: deleted docs (something in it stays)"), "{}", run.stderr);
    assert!(workspace.join("project/docs/t").exists() && workspace.join("project/b").exists());
}

#[test]
fn extended_attributes_alone_are_named_as_not_applied() {
    let workspace = machine();
    let tried = Command::new("python3")
        .args(["-c", "import os, sys; os.setxattr(sys.argv[1], 'user.x', b'1')"])
        .arg(workspace.join("project/docs"))
        .status();
    if !tried.is_ok_and(|tried| tried.success()) {
        return;
    }
    let line = "python3 -c 'import os; os.setxattr(\"a\", \"user.x\", b\"1\")'";
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--", line]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = "never applied: a (extended attributes are not applied by themselves)";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    // Nothing of it can be applied, so nothing waits.
    let sets = metier(&workspace, &["changes", "--json"]).json()["changes"].clone();
    assert_eq!(sets.as_array().map(Vec::len), Some(0), "{sets}");
}

#[test]
fn what_is_never_applied_says_why_that_is_so() {
    let workspace = machine();
    let line = "mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'";
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--write", "**", "--", line]);
    for said in ["never applied: pipe (it is a named pipe)", "never applied: socket (it is a socket)"] {
        assert!(run.stderr.lines().any(|line| line == said), "{said}: {}", run.stderr);
    }
}

#[test]
fn permissions_of_the_projects_own_folder_are_named_as_not_applied() {
    again_as_user("project_changes::permissions_of", "no-such-test");
    let said = "never applied: . (permissions of the project's own folder are never applied)";
    for mode in ["700", "555"] {
        let workspace = machine();
        let (project, before) = (workspace.join("project"), tree(&workspace.join("project")));
        let mode_of = || std::fs::metadata(&project).unwrap().permissions().mode();
        let mode_before = mode_of();
        let run = metier(&workspace, &["exec", "sh", "run.sh", "--", &format!("chmod {mode} .")]);
        assert_eq!(run.code, 0, "{mode}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{mode}: {}", run.stderr);
        let sets = metier(&workspace, &["changes", "--json"]).json()["changes"].clone();
        assert_eq!(sets.as_array().map(Vec::len), Some(0), "{sets}");
        // With something else it stays in the list of the set.
        let line = format!("echo x > b; chmod {mode} .");
        let run = metier(&workspace, &["exec", "sh", "run.sh", "--write", "b", "--", &line]);
        assert!(run.code == 0 && run.stderr.contains(said), "{mode}: {}", run.stderr);
        let shown = metier(&workspace, &["changes", "show"]).stdout;
        assert!(shown.contains(said), "{mode}: {shown}");
        assert_eq!(metier(&workspace, &["changes", "undo"]).code, 0);
        assert!(tree(&project) == before && mode_of() == mode_before, "{mode}");
    }
    // The same permissions again, and another time alone, are no change.
    let workspace = machine();
    let line = "mode=$(stat -c %a .); chmod 711 .; chmod $mode .; touch -d 2001-01-01 .";
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--", line]);
    assert!(run.code == 0 && !run.stderr.contains("never applied"), "{}", run.stderr);
}

#[test]
fn more_rules_than_anybody_pastes_are_counted_and_not_printed() {
    let workspace = machine();
    let line = "for i in $(seq 60); do echo x > .git/hooks/h$i; done";
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--", line]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    let printed = run.stderr.lines().filter(|line| line.contains("--allow ")).count();
    assert!(printed == 40 && run.stderr.contains("20 more rules are not printed"), "{}", run.stderr);
    let json = metier(&workspace, &["exec", "sh", "run.sh", "--json", "--", line]).json();
    assert_eq!(json["changes"]["allow_with"].as_array().map(Vec::len), Some(60), "{json}");
}

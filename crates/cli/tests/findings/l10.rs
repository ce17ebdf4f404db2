//! L10: Folders metier makes are private under any umask.

use crate::binary::{command, program, workspace};
use metier_testkit::Workspace;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs metier with a umask that takes nothing away.
fn run(workspace: &Workspace, args: &[&str]) {
    let own = command(workspace, &[]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(program()).args(args);
    shell.current_dir(workspace.join("project")).env_clear();
    shell.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn is_private(mode: u32) -> bool {
    mode.trailing_zeros() >= 6
}

/// Every file and folder below one that others can write to, or look into though no folder above it is closed.
fn open_to_others(folder: &Path, is_closed: bool, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_symlink() {
            continue;
        }
        let mode = metadata.permissions().mode();
        if mode & 0o022 != 0 || (!is_closed && mode & 0o055 != 0) {
            found.push(format!("{} {:o}", path.display(), mode & 0o7777));
        }
        if metadata.is_dir() {
            open_to_others(&path, is_closed || is_private(mode), found);
        }
    }
}

#[test]
fn what_metier_makes_for_itself_is_closed_to_others_under_any_umask() {
    let skill = "---\nname: look\ndescription: Looks at things and counts them.\n---\nLook.\n";
    let workspace = workspace()
        .file("home/.agents/skills/look/SKILL.md", skill)
        .file("home/.agents/skills/look/scripts/look.sh", "echo x > \"$SKILL_DATA/x\"; echo y");
    run(&workspace, &["run", "--model", "offline", "add", "buy milk", "to my todo list"]);
    run(&workspace, &["route", "count things"]);
    run(&workspace, &["exec", "look", "look.sh"]);
    run(&workspace, &["trust"]);
    run(&workspace, &["list"]);
    let mut found = Vec::new();
    let mut places = 0;
    for place in [".cache/metier", ".local/share/metier", ".local/state/metier", ".config/metier"] {
        let place = workspace.join("home").join(place);
        if place.exists() {
            places += 1;
            let is_closed = is_private(fs::metadata(&place).unwrap().permissions().mode());
            open_to_others(&place, is_closed, &mut found);
        }
    }
    assert!(places >= 2, "metier keeps nothing where this test looks");
    // What a script makes in its own data folder has the script's umask, below a folder that is closed.
    found.retain(|path| !path.contains("/skills/"));
    assert!(found.is_empty(), "{found:#?}");
}

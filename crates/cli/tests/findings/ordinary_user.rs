//! The program run by an ordinary user, also where root runs the tests.

use metier_testkit::Workspace;
use std::fs;
use std::os::unix::fs::lchown;
use std::path::Path;
use std::process::Command;

use crate::binary::{command, program};

/// A user that no machine has.
const USER: u32 = 54_321;

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Like [`command`], as an ordinary user who is in these groups beside their own. Where the tests run as an ordinary user, as
/// that one, in whatever groups they are.
pub(crate) fn user_command(workspace: &Workspace, args: &[&str], groups: &[u32]) -> Command {
    let own = command(workspace, args);
    if !is_root() {
        return own;
    }
    // The folder of a build may be closed to others.
    let copy = workspace.join("metier");
    if !copy.exists() && fs::hard_link(program(), &copy).is_err() {
        fs::copy(program(), &copy).unwrap();
    }
    give(&workspace.join("project"));
    give(&workspace.join("home"));
    open(workspace.path());
    let mut command = as_user(groups);
    command.arg(copy).args(args).current_dir(workspace.join("project")).env_clear();
    command.env("HOME", workspace.join("home")).env("PATH", "/usr/bin:/bin");
    command
}

/// A command line that runs what follows as that user.
pub(crate) fn as_user(groups: &[u32]) -> Command {
    let mut command = Command::new("/usr/bin/setpriv");
    command.args([format!("--reuid={USER}"), format!("--regid={USER}")]);
    if groups.is_empty() {
        command.arg("--clear-groups");
    } else {
        let groups: Vec<_> = groups.iter().map(u32::to_string).collect();
        command.arg(format!("--groups={}", groups.join(",")));
    }
    command
}

fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

fn give(path: &Path) {
    lchown(path, Some(USER), Some(USER)).unwrap();
    if fs::symlink_metadata(path).unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

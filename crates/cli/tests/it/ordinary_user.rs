//! The same tests once more as an ordinary user, where root runs them.

use std::os::unix::fs::chown;
use std::process::Command;

use metier_testkit::Workspace;

/// A user that no machine has.
const USER: u32 = 54_321;

/// Runs the tests whose names begin so, all but one, as an ordinary user. An ordinary user has run them already.
pub(crate) fn again_as_user(tests: &str, but: &str) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new("/usr/bin/setpriv");
    command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups"]);
    // An ordinary user cannot remove what the overlay leaves closed, so root does.
    let temporary = Workspace::new();
    chown(temporary.path(), Some(USER), Some(USER)).unwrap();
    command.arg(&own).args([tests, "--skip", but]);
    command.env("HOME", "/nonexistent").env("TMPDIR", temporary.path());
    let reaches_it = Command::new("/usr/bin/setpriv")
        .args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups", "test", "-x"])
        .arg(&own)
        .status();
    if !reaches_it.is_ok_and(|status| status.success()) {
        metier_testkit::not_tried("ordinary-user", "the tests cannot be started by one here");
        return;
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "as an ordinary user:\n{text}");
    assert!(!text.contains("running 0 tests"), "{text}");
}

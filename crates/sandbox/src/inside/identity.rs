//! As whom a contained process runs.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{Gid, Pid, Uid};
use rustix::thread::{
    capabilities, set_capabilities, set_keep_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

use crate::kernel::{set_dumpable, user_namespace};

/// The user `nobody`, who owns nothing: as whom a script runs when metier runs as root.
const NOBODY: u32 = 65534;

/// As whom a contained process runs, by the numbers that its user namespace and ours have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The user, inside and outside: the one who runs metier, or nobody where that is root.
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// Whether metier runs as root, so that what builds the view does, too.
    pub(crate) from_root: bool,
}

impl Identity {
    /// For a child of this process.
    pub(crate) fn current() -> Self {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        // In a container of a user who is not root, root is that user and nobody may not exist: then root it is, which
        // there owns no more than that user does.
        if user == 0 && has_nobody() {
            Self { user: NOBODY, group: NOBODY, from_root: true }
        } else {
            Self { user, group, from_root: false }
        }
    }

    /// Gives a child that waits for it the map of its user namespace.
    #[expect(clippy::disallowed_methods, reason = "files of the kernel, about a process of ours")]
    pub(crate) fn map(self, child: Pid) -> io::Result<()> {
        let folder = format!("/proc/{}", child.as_raw_nonzero());
        if !self.from_root {
            fs::write(format!("{folder}/setgroups"), "deny")?;
        }
        let line = |id: u32| {
            let root = if self.from_root { "0 0 1\n" } else { "" };
            format!("{root}{id} {id} 1\n")
        };
        fs::write(format!("{folder}/gid_map"), line(self.group))?;
        fs::write(format!("{folder}/uid_map"), line(self.user))
    }

    /// Writes the map of this process's own new user namespace, in which it goes on as the same user.
    pub(crate) fn map_itself(self, proc: impl AsFd) -> io::Result<()> {
        let write = |name: &str, text: String| -> io::Result<()> {
            let file = openat(proc.as_fd(), name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::io::write(&file, text.as_bytes())?;
            Ok(())
        };
        write("self/setgroups", "deny".to_owned())?;
        write("self/gid_map", format!("{0} {0} 1\n", self.group))?;
        write("self/uid_map", format!("{0} {0} 1\n", self.user))
    }

    /// Gives the data folder to that user, where this process is root: on every tier the call then owns what it keeps.
    pub(crate) fn give(self, folder: &Path) -> io::Result<()> {
        if self.from_root {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = openat(rustix::fs::CWD, folder, flags, Mode::empty())?;
            rustix::fs::fchown(&folder, Some(Uid::from_raw(self.user)), Some(Gid::from_raw(self.group)))?;
        }
        Ok(())
    }

    /// Becomes that user for good, where this process is still root.
    pub(crate) fn assume(self) -> io::Result<()> {
        if self.from_root {
            set_thread_groups(&[])?;
            let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
            set_thread_res_gid(group, group, group)?;
            set_thread_res_uid(user, user, user)?;
            // A change of user hides a process's own files below /proc from itself, and it needs them once more.
            set_dumpable(true)?;
        }
        Ok(())
    }
}

/// Keeps the rights that a process has in its own namespaces while it becomes another user.
pub(crate) fn keeping_rights(change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    set_keep_capabilities(true)?;
    change()?;
    let mut sets = capabilities(None)?;
    sets.effective = sets.permitted;
    set_capabilities(None, sets)?;
    Ok(())
}

/// Whether nobody exists in this process's user namespace.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, about this process")]
fn has_nobody() -> bool {
    let Ok(map) = fs::read_to_string("/proc/self/uid_map") else { return false };
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u64>().unwrap_or(0));
        let (first, _, count) = (numbers.next().unwrap_or(0), numbers.next(), numbers.next().unwrap_or(0));
        (first..first.saturating_add(count)).contains(&u64::from(NOBODY))
    })
}

/// A user namespace whose map shows root's files as nobody's and nobody else's differently: for mounts of folders that
/// root gives to a script which runs as nobody. With it the script has root's rights to these folders and to nothing
/// else. `proc` shows the processes of this process's own namespace and can be written to.
pub(crate) fn owner_map(proc: impl AsFd) -> io::Result<OwnedFd> {
    user_namespace(|child| {
        let open = |name: &str, flags: OFlags| {
            let path = format!("{}/{name}", child.as_raw_nonzero());
            openat(proc.as_fd(), path, flags | OFlags::CLOEXEC, Mode::empty())
        };
        let map = format!("0 {NOBODY} 1\n1 1 {}\n", NOBODY - 1);
        for name in ["gid_map", "uid_map"] {
            rustix::io::write(open(name, OFlags::WRONLY)?, map.as_bytes())?;
        }
        Ok(open("ns/user", OFlags::RDONLY)?)
    })
}

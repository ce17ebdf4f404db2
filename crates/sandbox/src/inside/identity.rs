//! As whom a contained process runs.

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat, openat};
use rustix::process::{Gid, Pid, Uid};
use rustix::thread::{
    capabilities, set_capabilities, set_keep_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

use super::claim::{Claim, private_ids};
use crate::kernel::{set_dumpable, user_namespace};

/// As whom a script of root's sees itself: the user `nobody`. Outside it has an id of its own.
const NOBODY: Ids = Ids { user: 65534, group: 65534 };

/// Who runs metier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Root, whose calls get ids of this range.
    Root(RangeInclusive<u32>),
    /// Anybody else, whose calls run as the same user.
    User(Ids),
}

impl Caller {
    pub(crate) fn current() -> Self {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let own = Ids { user: user.as_raw(), group: group.as_raw() };
        // In a container of a user who is not root, root is that user and there may be no other id. Then a script runs as
        // root, which owns no more there than that user does.
        user.is_root().then(private_ids).flatten().map_or(Self::User(own), Self::Root)
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Root(_))
    }

    /// The identity of a new call. For root's it lasts as long as the claim is held.
    pub(crate) fn identity(&self) -> io::Result<(Identity, Option<Claim>)> {
        match self {
            Self::Root(ids) => {
                let claim = Claim::fresh(ids)?;
                Ok((Identity::by_root(claim.id), Some(claim)))
            }
            Self::User(own) => Ok((Identity { inside: *own, outside: *own, from_root: false }, None)),
        }
    }
}

/// A user and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// As whom a contained process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// As the script sees itself where it has a user namespace.
    pub(crate) inside: Ids,
    /// As the rest of the machine sees it.
    pub(crate) outside: Ids,
    /// Whether metier runs as root, so that what builds the view does, too.
    pub(crate) from_root: bool,
}

impl Identity {
    /// The identity of a call of root's.
    pub(crate) fn by_root(id: u32) -> Self {
        Self { inside: NOBODY, outside: Ids { user: id, group: id }, from_root: true }
    }

    /// Gives a child that waits for it the map of its user namespace.
    #[expect(clippy::disallowed_methods, reason = "files of the kernel, about a process of ours")]
    pub(crate) fn map(self, child: Pid) -> io::Result<()> {
        let folder = format!("/proc/{}", child.as_raw_nonzero());
        if !self.from_root {
            fs::write(format!("{folder}/setgroups"), "deny")?;
        }
        let root = if self.from_root { "0 0 1\n" } else { "" };
        let Self { inside, outside, .. } = self;
        fs::write(format!("{folder}/gid_map"), format!("{root}{} {} 1\n", inside.group, outside.group))?;
        fs::write(format!("{folder}/uid_map"), format!("{root}{} {} 1\n", inside.user, outside.user))
    }

    /// Writes the map of this process's own new user namespace. `here` are its ids in the namespace that it left.
    pub(crate) fn map_itself(self, proc: impl AsFd, here: Ids) -> io::Result<()> {
        let write = |name: &str, text: String| -> io::Result<()> {
            let file = openat(proc.as_fd(), name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::io::write(&file, text.as_bytes())?;
            Ok(())
        };
        write("self/setgroups", "deny".to_owned())?;
        write("self/gid_map", format!("{} {} 1\n", self.inside.group, here.group))?;
        write("self/uid_map", format!("{} {} 1\n", self.inside.user, here.user))
    }

    /// Becomes that user for good and leaves all groups, where this process is still root. `here` are the ids in the user
    /// namespace of this process.
    pub(crate) fn assume(self, here: Ids) -> io::Result<()> {
        if self.from_root {
            set_thread_groups(&[])?;
            let (user, group) = (Uid::from_raw(here.user), Gid::from_raw(here.group));
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

/// For mounts of folders that root gives to a call: whose root's files are in them.
#[derive(Debug)]
pub(crate) struct Owners {
    /// A user namespace with the map.
    pub(crate) map: OwnedFd,
    /// The id of the call.
    pub(crate) user: u32,
}

/// A user namespace for mounts of folders that root gives to a call. Its map shows root's files as the call's own and all
/// others as they are. What the call makes there belongs to root on disk. `proc` shows the processes of this process's own
/// namespace and can be written to.
pub(crate) fn owner_map(proc: impl AsFd, identity: Identity) -> io::Result<Owners> {
    owner_map_of(proc, identity, Ids { user: 0, group: 0 })
}

/// The same for a project that belongs to another user than root, whose files are shown as the call's own then: the kernel shows
/// no two owners as one. `None` where it is root's, or the map cannot be had: then the call may change what everybody may.
pub(crate) fn project_owners(proc: impl AsFd, identity: Identity, project: &Stat) -> Option<Owners> {
    let owner = Ids { user: project.st_uid, group: project.st_gid };
    let is_roots = owner == Ids { user: 0, group: 0 };
    (!is_roots).then(|| owner_map_of(proc, identity, owner).ok()).flatten()
}

fn owner_map_of(proc: impl AsFd, identity: Identity, owner: Ids) -> io::Result<Owners> {
    let user = identity.outside.user;
    let map = user_namespace(|child| {
        let open = |name: &str, flags: OFlags| {
            let path = format!("{}/{name}", child.as_raw_nonzero());
            openat(proc.as_fd(), path, flags | OFlags::CLOEXEC, Mode::empty())
        };
        for (name, owner) in [("gid_map", owner.group), ("uid_map", owner.user)] {
            rustix::io::write(open(name, OFlags::WRONLY)?, owner_lines(owner, user).as_bytes())?;
        }
        Ok(open("ns/user", OFlags::RDONLY)?)
    })?;
    Ok(Owners { map, user })
}

/// The lines of a map that shows the files of `owner` as those of `user`, and the files of all below `user` as they are.
fn owner_lines(owner: u32, user: u32) -> String {
    let mut lines = format!("{owner} {user} 1\n");
    let others = [(0, owner.min(user)), (owner.saturating_add(1), user)];
    for (first, end) in others {
        if first < end {
            lines.push_str(&format!("{first} {first} {}\n", end - first));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_of_owners_has_each_id_once() {
        assert_eq!(owner_lines(0, 5), "0 5 1\n1 1 4\n");
        assert_eq!(owner_lines(3, 5), "3 5 1\n0 0 3\n4 4 1\n");
        assert_eq!(owner_lines(4, 5), "4 5 1\n0 0 4\n");
        assert_eq!(owner_lines(5, 5), "5 5 1\n0 0 5\n");
        assert_eq!(owner_lines(9, 5), "9 5 1\n0 0 5\n");
    }
}

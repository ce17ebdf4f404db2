//! Where this process is in the kernel's tree of control groups.

use std::io;
use std::path::{Path, PathBuf};

use super::folder::read;
use super::site::CONTROLLERS;
use crate::outside::mount_table::unescaped;

/// Where a process is in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// The topmost folder of the tree that can be seen.
    pub(crate) top: PathBuf,
    /// The folder of the group that the process is in.
    pub(crate) own: PathBuf,
}

/// Why that is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Nowhere {
    #[error("this system has no control groups of version 2")]
    OldVersion,
    #[error("`{0}` is in the hands of control groups of version 1")]
    Taken(&'static str),
    #[error("no control groups of version 2 are mounted that hold this process")]
    NotMounted,
    #[error("/proc cannot be read: {0}")]
    Proc(#[from] io::Error),
}

impl Hierarchy {
    /// Of this process.
    pub(crate) fn current() -> Result<Self, Nowhere> {
        let groups = read(Path::new("/proc/self/cgroup"))?;
        // The list of mounts may be long, and is not needed to say no.
        let Some(_) = group_in(&groups) else { return Err(Nowhere::OldVersion) };
        if let Some(controller) = taken(&groups) {
            return Err(Nowhere::Taken(controller));
        }
        Self::of(&groups, &read(Path::new("/proc/self/mountinfo"))?)
    }

    /// By what the kernel says of a process: its groups, and what is mounted.
    fn of(groups: &str, mounts: &str) -> Result<Self, Nowhere> {
        let group = group_in(groups).ok_or(Nowhere::OldVersion)?;
        // A group above the topmost one of a namespace is shown with steps back, and nothing can be made beside it.
        let group = Path::new(group.strip_suffix(" (deleted)").unwrap_or(group));
        mounts
            .lines()
            .filter_map(mount)
            .find_map(|(root, point)| {
                let below = group.strip_prefix(&root).ok()?;
                let plain = below.components().all(|step| matches!(step, std::path::Component::Normal(_)));
                plain.then(|| Self { own: point.join(below), top: point })
            })
            .ok_or(Nowhere::NotMounted)
    }
}

/// The group of version 2 among all that a process is in.
fn group_in(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| line.strip_prefix("0::"))
}

/// A controller that we need and that this system has in a tree of version 1: it can only be in one.
fn taken(groups: &str) -> Option<&'static str> {
    let old = groups.lines().filter_map(|line| line.split(':').nth(1));
    let mut taken = old.flat_map(|controllers| controllers.split(','));
    taken.find_map(|taken| CONTROLLERS.into_iter().find(|needed| *needed == taken))
}

/// Which group is mounted where, if a line is about control groups of version 2.
fn mount(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    (after.split(' ').next() == Some("cgroup2"))
        .then(|| (unescaped(root.as_bytes()), unescaped(point.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                         30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    fn check(groups: &str, mounts: &str, expect: Result<(&str, &str), &str>) {
        let found = Hierarchy::of(groups, mounts);
        let found = found.map(|it| (it.top, it.own)).map_err(|error| error.to_string());
        let expect = expect.map(|(top, own)| (PathBuf::from(top), PathBuf::from(own))).map_err(str::to_owned);
        assert_eq!(found, expect, "{groups:?}");
    }

    #[test]
    fn the_own_group_is_found_below_where_groups_are_mounted() {
        check("0::/user.slice/a.scope\n", PLAIN, Ok(("/sys/fs/cgroup", "/sys/fs/cgroup/user.slice/a.scope")));
        check("0::/\n", PLAIN, Ok(("/sys/fs/cgroup", "/sys/fs/cgroup")));
        // Beside the old version, where each controller has a line of its own.
        let hybrid = "30 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        check("5:memory:/a\n0::/b\n", hybrid, Ok(("/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified/b")));
        // A part of the tree, mounted at a place with a blank in its name.
        let part = "30 25 0:26 /pod/x /my\\040groups rw - cgroup2 none rw\n";
        check("0::/pod/x/y\n", part, Ok(("/my groups", "/my groups/y")));
        check("0::/gone (deleted)\n", PLAIN, Ok(("/sys/fs/cgroup", "/sys/fs/cgroup/gone")));
    }

    #[test]
    fn a_controller_of_the_old_version_is_not_to_be_had_in_the_new_one() {
        assert_eq!(taken("9:name=systemd:/\n8:cpu,pids:/a\n0::/\n"), Some("pids"));
        assert_eq!(taken("2:cpu,cpuacct:/\n4:memory:/b\n0::/\n"), Some("memory"));
        assert_eq!(taken("1:name=memory:/\n0::/pids\n"), None);
        assert_eq!(taken("0::/user.slice/memory:pids\n"), None);
    }

    #[test]
    fn where_there_is_no_such_group_the_reason_is_said() {
        let old = "this system has no control groups of version 2";
        check("5:memory:/a\n", PLAIN, Err(old));
        check("", "", Err(old));
        let unmounted = "no control groups of version 2 are mounted that hold this process";
        check("0::/a\n", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", Err(unmounted));
        check("0::/a\n", "30 25 0:26 /b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", Err(unmounted));
        check("0::/../a\n", PLAIN, Err(unmounted));
        check("0::/a\n", "garbage\n- \n1 2 - cgroup2\n", Err(unmounted));
    }
}

//! The scratch folder of one call: memory that is shown as a folder, with a size.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, mkdirat};
use rustix::mount::{MoveMountFlags, move_mount};

use super::failure::During;
use super::identity::Ids;
use super::root::new_tmpfs;
use super::view::{HOME, SCRATCH, SHARED_MEMORY};
use crate::wire::Failure;

/// How many files it may hold. Each takes about a kilobyte of the kernel's memory that its size does not count.
const MAX_FILES: &str = "100000";

/// A scratch folder. It is nowhere to be seen until it is shown.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    tree: OwnedFd,
    size: u64,
}

impl ScratchFolder {
    /// Makes one of this size for whom a call runs as, whoever this process still is. `owner` has the ids of the user
    /// namespace of this process.
    pub(crate) fn make(size: u64, owner: Ids) -> Result<Self, Failure> {
        let [bytes, user, group] =
            [size, owner.user.into(), owner.group.into()].map(|number: u64| number.to_string());
        let options = [
            ("size", bytes.as_str()),
            ("nr_inodes", MAX_FILES),
            ("mode", "0700"),
            ("uid", &user),
            ("gid", &group),
        ];
        let tree = new_tmpfs(&options).during(|| "making the scratch folder".into())?;
        Ok(Self { tree, size })
    }

    /// This one, or another where it turns out that its size is not the one.
    pub(crate) fn of_size(self, size: u64, owner: Ids) -> Result<Self, Failure> {
        if self.size == size { Ok(self) } else { Self::make(size, owner) }
    }

    /// Shows it in its place, with what is in every one. What is made in it belongs to whom this process is.
    pub(super) fn show(&self) -> Result<BorrowedFd<'_>, Failure> {
        let own = Mode::from_raw_mode(0o700);
        mkdirat(&self.tree, HOME, own)
            .and_then(|()| mkdirat(&self.tree, SHARED_MEMORY, own))
            .during(|| "furnishing the scratch folder".into())?;
        move_mount(&self.tree, "", CWD, SCRATCH, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
            .during(|| "showing the scratch folder".into())?;
        Ok(self.tree.as_fd())
    }
}

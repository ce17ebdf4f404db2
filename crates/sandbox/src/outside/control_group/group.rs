//! The group of one call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::folder::{Finished, Folder, get, give, set};
use super::tally::{Tally, Used, count};
use crate::profile::Limits;
use crate::tier::Tier;

/// What a call holds beside the memory of its processes: the process that watches over it, and what the kernel keeps for each
/// (stacks, tables of pages), which the group counts and the watcher does not.
const KEEPING: u64 = 32 << 20;

/// The group of one call. When this is dropped, whatever is left in it is ended, and it is removed.
#[derive(Debug)]
pub(crate) struct Group {
    above: Arc<Folder>,
    name: String,
    folder: OwnedFd,
    /// Tells when something happens to its memory.
    events: OwnedFd,
    tier: Tier,
}

impl Group {
    /// Makes it, without limits as yet.
    pub(crate) fn make(above: &Arc<Folder>, name: &str, tier: Tier) -> io::Result<Self> {
        let folder = above.make(name)?;
        let events = openat(&folder, "memory.events", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let events = match events {
            Ok(events) => events,
            Err(error) => {
                above.finish(name, Finished::Dying);
                return Err(error.into());
            }
        };
        Ok(Self { above: Arc::clone(above), name: name.to_owned(), folder, events, tier })
    }

    /// Lets a room that is not root put a process into it.
    pub(crate) fn give(&self, owner: u32) -> io::Result<()> {
        Ok(give(&self.folder, owner)?)
    }

    /// Sets what the call may use up.
    ///
    /// The watcher sums up what processes hold and ends a call at its limit, several times a second. This is the wall behind
    /// it, for what happens between two looks and for memory that no process maps. Files in memory count here, so the room
    /// for them is added where the scratch folder lies there.
    ///
    /// That the kernel ends the whole group at once (`memory.oom.group`) is not asked for: the process that watches over the
    /// call is in it, and with it the words about how the call ended and the results would be lost. It takes the largest
    /// process, and [`Group::is_out_of_memory`] tells us to end the rest.
    pub(crate) fn limit(&self, limits: &Limits) -> io::Result<()> {
        let (scratch, own) = match self.tier {
            Tier::Namespaces => (limits.scratch, 1),
            // bubblewrap stays beside what it started.
            Tier::Bubblewrap => (limits.scratch, 2),
            Tier::Landlock => (0, 1),
        };
        let memory = limits.memory.saturating_add(scratch).saturating_add(KEEPING);
        set(&self.folder, "memory.max", &memory.to_string())?;
        set(&self.folder, "pids.max", &(u64::from(limits.processes) + own).to_string())?;
        // Without swap there is nothing to bound, and no such file.
        match set(&self.folder, "memory.swap.max", "0") {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Its folder, for whoever makes a process in it.
    pub(crate) fn folder(&self) -> io::Result<OwnedFd> {
        self.folder.try_clone()
    }

    /// Becomes ready (for urgent data) when something happens to its memory.
    pub(crate) fn events(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// Whether the kernel ended a process for the group's memory. What has happened so far is taken note of.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        let mut buffer = [0; 512];
        let read = rustix::io::pread(&self.events, &mut buffer, 0).unwrap_or(0);
        count(&String::from_utf8_lossy(&buffer[..read]), "oom_kill") > 0
    }

    /// What it came to.
    pub(crate) fn tally(&self) -> Tally {
        let text = |file| get(&self.folder, file).unwrap_or_default();
        Tally::of(&text("memory.events"), &text("pids.events"))
    }

    /// What it used up.
    pub(crate) fn used(&self) -> Used {
        let text = |file| get(&self.folder, file).unwrap_or_default();
        Used::of(&text("cpu.stat"), &text("memory.peak"))
    }

    /// Ends every process in it.
    pub(crate) fn kill(&self) {
        // Older kernels do not have this; then the other ways of ending a call are all there is.
        let _ = set(&self.folder, "cgroup.kill", "1");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.tier == Tier::Landlock {
            // Without namespaces the process that watches over a call still has its scratch folder to remove, once the
            // results are taken. It ends by itself.
            self.above.finish(&self.name, Finished::Ending);
        } else {
            self.kill();
            self.above.finish(&self.name, Finished::Dying);
        }
    }
}

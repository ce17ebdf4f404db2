//! On which processors a process may run.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The processors that this process, and all that comes from it, may run on.
#[derive(Debug)]
pub(crate) struct Processors(Option<CpuSet>);

impl Processors {
    /// Those of this process. On a machine with more than a thousand of them nothing here has any effect.
    pub(crate) fn current() -> Self {
        Self(sched_getaffinity(None).ok())
    }

    /// Has a child that was just made run beside this process: the kernel likes to leave it on its parent's processor, where it
    /// would begin when the parent sleeps, and the two are there to work at once. The child takes all of them
    /// [back](Self::take_back) before anything else comes from it.
    pub(crate) fn part_from(&self, child: Pid) {
        if let Some(mut others) = self.0 {
            others.unset(sched_getcpu());
            if others.count() > 0 {
                // What does not work costs time and nothing else.
                let _ = sched_setaffinity(Some(child), &others);
            }
        }
    }

    /// Lets this process run on all of them again.
    pub(crate) fn take_back(&self) {
        if let Some(all) = &self.0 {
            let _ = sched_setaffinity(None, all);
        }
    }
}

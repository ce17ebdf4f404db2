//! Limits that the kernel holds for each process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::failure::During;
use crate::profile::Limits;
use crate::tier::Tier;
use crate::wire::Failure;

/// How many files a process may have open: what a login has, too.
const OPEN_FILES: u64 = 1024;

/// How much a call may put into message queues, which live in the kernel's memory: as much as a login.
const QUEUES: u64 = 819_200;

/// How many signals and timers may wait, for which the kernel keeps a record each.
const SIGNALS: u64 = 8192;

/// Sets the limits for this process and all that come from it. `others` is how many processes of the same user there may
/// be besides, where those count, too.
pub(crate) fn restrict(limits: &Limits, tier: Tier, others: u64) -> Result<(), Failure> {
    // In a user namespace of its own only the call's processes count, and its watcher.
    let own = u64::from(tier != Tier::Landlock);
    let processes = u64::from(limits.processes) + others + own;
    // Whole seconds, rounded up: each process alone, while the watcher sums them up.
    let seconds = limits.cpu.as_secs() + u64::from(limits.cpu.subsec_nanos() > 0);
    for (resource, soft, hard) in [
        // No dump of memory is written where anyone may find it.
        (Resource::Core, 0, 0),
        (Resource::Cpu, seconds, seconds + 1),
        (Resource::Fsize, limits.file_size, limits.file_size),
        (Resource::Nofile, OPEN_FILES, OPEN_FILES),
        (Resource::Nproc, processes, processes),
        (Resource::Memlock, 1 << 26, 1 << 26),
        (Resource::Msgqueue, QUEUES, QUEUES),
        (Resource::Sigpending, SIGNALS, SIGNALS),
        // Twice what the call may hold: programs reserve more than they touch. The watcher counts what is touched; this
        // only bounds what can happen between two looks.
        (Resource::Data, limits.memory.saturating_mul(2), limits.memory.saturating_mul(2)),
    ] {
        // A limit can be lowered, not raised: what is tighter already stays.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) };
        setrlimit(resource, limit).during(|| format!("limiting {resource:?}"))?;
    }
    Ok(())
}

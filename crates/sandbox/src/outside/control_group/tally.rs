//! What a group came to, in the kernel's own count.

use std::time::Duration;

/// What happened in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many processes the kernel ended since the group was at its limit of memory.
    pub(crate) ended_for_memory: u64,
    /// How many processes and threads were refused since the group was at its limit of them.
    pub(crate) refused_processes: u64,
}

/// What a group used up, for where nobody else is left to say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// Processor time of all processes.
    pub(crate) cpu: Duration,
    /// The most memory that was in use, that of files in memory included; zero where the kernel does not tell.
    pub(crate) memory: u64,
}

impl Tally {
    /// By the group's files.
    pub(crate) fn of(memory_events: &str, pids_events: &str) -> Self {
        Self {
            ended_for_memory: count(memory_events, "oom_kill"),
            refused_processes: count(pids_events, "max"),
        }
    }
}

impl Used {
    /// By the group's files.
    pub(crate) fn of(cpu: &str, peak: &str) -> Self {
        let cpu = Duration::from_micros(count(cpu, "usage_usec"));
        Self { cpu, memory: peak.trim().parse().unwrap_or(0) }
    }
}

/// A number of a file with a name and a number on each line, or zero.
pub(crate) fn count(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_names() {
        let events = "low 0\nhigh 0\nmax 11\noom 3\noom_kill 2\noom_group_kill 1\n";
        let tally = Tally::of(events, "max 5\n");
        assert_eq!(tally, Tally { ended_for_memory: 2, refused_processes: 5 });
        assert_eq!(Tally::of("", "max x\n"), Tally::default());
        let used = Used::of("usage_usec 1500\nuser_usec 1\n", "4096\n");
        assert_eq!(used, Used { cpu: Duration::from_micros(1500), memory: 4096 });
        assert_eq!(Used::of("usage_usec", ""), Used::default());
    }
}

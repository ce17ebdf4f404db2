//! Staying when the call is over. Each leaves a process that ends by itself after the seconds it is given.

use std::time::Duration;

use crate::answer::{Answer, Step, Stop};
use crate::arguments::Arguments;
use crate::kernel::{call, close, fork, fork_with, ignore, leave};
use crate::probe::{Class, Ending, Probe};

const fn outlives(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Survival, name, tries, run).ending(Ending::Outlives)
}

pub(crate) const PROBES: &[Probe] = &[
    outlives("outlive-child", "leaves a child behind", child),
    outlives("outlive-daemon", "leaves a grandchild in a session of its own", daemon),
    outlives("outlive-deaf", "leaves a daemon that ignores every signal it can", deaf),
    outlives("outlive-stopped", "leaves a daemon that is stopped", stopped),
    outlives("outlive-stream", "leaves a child that keeps the output open", stream),
    outlives("outlive-reaper", "leaves a daemon below a process that adopts orphans", reaper),
    outlives("outlive-fork-chain", "leaves a daemon that changes its number all the time", chain),
    outlives("outlive-sibling", "leaves a child that is its parent's, not its own", sibling),
    outlives("outlive-thread-leader", "leaves a thread whose first thread has ended", leader),
];

/// Sleeps so long as it is told, at most.
fn stay(arguments: &Arguments) -> ! {
    std::thread::sleep(Duration::from_secs(arguments.number("seconds").unwrap_or(5)));
    leave(0)
}

/// Leaves a child that does this; the output of the call is closed in it.
fn behind(work: impl FnOnce()) -> Result<usize, Stop> {
    let child = fork().prepare("fork")?;
    if child == 0 {
        for stream in 0..3 {
            close(stream);
        }
        work();
        leave(0);
    }
    Ok(child)
}

fn left(child: usize) -> Answer {
    // What the child does first takes it a moment.
    std::thread::sleep(Duration::from_millis(100));
    Ok(format!("process {child} stays"))
}

fn child(arguments: &Arguments) -> Answer {
    left(behind(|| stay(arguments))?)
}

/// In a session of its own, as a grandchild.
fn detached(work: impl FnOnce()) -> Answer {
    left(behind(|| {
        let _ = call(libc::SYS_setsid, &[]);
        if fork().is_ok_and(|child| child == 0) {
            work();
        }
    })?)
}

/// Whoever counts its own children, or takes the first one that ends for the program, is mistaken about this one.
fn sibling(arguments: &Arguments) -> Answer {
    let child = fork_with(libc::CLONE_PARENT as usize).prepare("fork")?;
    if child == 0 {
        for stream in 0..3 {
            close(stream);
        }
        stay(arguments);
    }
    left(child)
}

fn daemon(arguments: &Arguments) -> Answer {
    detached(|| stay(arguments))
}

fn deaf(arguments: &Arguments) -> Answer {
    detached(|| {
        for signal in 1..32 {
            ignore(signal);
        }
        stay(arguments)
    })
}

fn stopped(arguments: &Arguments) -> Answer {
    detached(|| {
        let me = call(libc::SYS_getpid, &[]).unwrap_or(0);
        // Whoever watches over it must end it though it does not run.
        let _ = call(libc::SYS_kill, &[me, libc::SIGSTOP as usize]);
        stay(arguments)
    })
}

fn stream(arguments: &Arguments) -> Answer {
    let child = fork().prepare("fork")?;
    if child == 0 {
        stay(arguments);
    }
    left(child)
}

fn reaper(arguments: &Arguments) -> Answer {
    left(behind(|| {
        let _ = call(libc::SYS_prctl, &[libc::PR_SET_CHILD_SUBREAPER as usize, 1]);
        let _ = call(libc::SYS_setsid, &[]);
        if fork().is_ok_and(|child| child == 0) && fork().is_ok_and(|child| child == 0) {
            stay(arguments);
        }
        stay(arguments)
    })?)
}

fn chain(arguments: &Arguments) -> Answer {
    let end = std::time::Instant::now() + Duration::from_secs(arguments.number("seconds")?);
    detached(|| {
        while std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(40));
            match fork() {
                Ok(0) => {}
                _ => leave(0),
            }
        }
    })
}

fn leader(arguments: &Arguments) -> Answer {
    let seconds = arguments.number("seconds")?;
    detached(|| {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(seconds));
            leave(0);
        });
        // Only this thread ends; the process looks dead in many lists and is not.
        let _ = call(libc::SYS_exit, &[0]);
    })
}

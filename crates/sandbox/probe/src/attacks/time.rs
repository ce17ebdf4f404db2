//! Taking longer than allowed, on the clock and on the processor. Bounded by `--seconds`.

use std::time::{Duration, Instant};

use crate::answer::{Answer, Step, Stop, cannot_say};
use crate::arguments::Arguments;
use crate::kernel::{call, close, fork, ignore, into, leave};
use crate::probe::{Class, Ending, Probe};

const fn limit(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Limit, name, tries, run).ending(Ending::Stopped)
}

pub(crate) const PROBES: &[Probe] = &[
    limit("time-sleep", "sleeps beyond its time", sleep),
    limit("time-deaf", "sleeps beyond its time and ignores every signal it can", deaf),
    limit("time-closed", "closes its streams and sleeps beyond its time", closed),
    limit("time-stopped", "stops itself", stopped),
    limit("time-stopper", "stops its parent, then sleeps beyond its time", stopper),
    limit("cpu-spin", "uses more of the processor than it may", spin),
    limit("cpu-children", "uses more of the processor by many short children", children),
    limit("cpu-deaf", "uses more of the processor and ignores the warning", spin_deaf),
];

fn seconds(arguments: &Arguments) -> Result<Duration, Stop> {
    arguments.number("seconds").map(Duration::from_secs)
}

fn sleep(arguments: &Arguments) -> Answer {
    std::thread::sleep(seconds(arguments)?);
    Ok("nobody ended it".to_owned())
}

fn ignore_all() {
    for signal in 1..32 {
        ignore(signal);
    }
}

fn deaf(arguments: &Arguments) -> Answer {
    ignore_all();
    sleep(arguments)
}

fn closed(arguments: &Arguments) -> Answer {
    // The answer goes nowhere, so the status is all the test sees.
    for stream in 0..3 {
        close(stream);
    }
    sleep(arguments)
}

fn stopped(arguments: &Arguments) -> Answer {
    let me = call(libc::SYS_getpid, &[]).prepare("getpid")?;
    // A child wakes it up in the end, so that nothing is left where nobody watches.
    if fork().prepare("fork")? == 0 {
        for stream in 0..3 {
            close(stream);
        }
        std::thread::sleep(seconds(arguments)?);
        let _ = call(libc::SYS_kill, &[me, libc::SIGCONT as usize]);
        leave(0);
    }
    let before = Instant::now();
    let _ = call(libc::SYS_kill, &[me, libc::SIGSTOP as usize]);
    Ok(format!("stood still for {:?}", before.elapsed()))
}

fn stopper(arguments: &Arguments) -> Answer {
    let parent = call(libc::SYS_getppid, &[]).prepare("getppid")?;
    if arguments.has("contained") && arguments.has("own-pids") && parent > 0 {
        let _ = call(libc::SYS_kill, &[parent, libc::SIGSTOP as usize]);
    }
    sleep(arguments)
}

/// How long is spun at most, on the wall: a busy machine may not give the time that was asked for.
const SPIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The processor time that this process had, or its children that have ended.
fn used(whose: i32) -> Duration {
    let mut usage = [0_i64; 18];
    let _ = call(libc::SYS_getrusage, &[whose as usize, into(&mut usage)]);
    // In the program, then in the kernel for it, each in seconds and millionths.
    let [seconds, micros] = [usage[0] + usage[2], usage[1] + usage[3]].map(|part| part.max(0) as u64);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

/// Spins until this process had so much of the processor, or until the end.
fn spin_for(time: Duration, end: Instant) {
    let mut number = 1_u64;
    while Instant::now() < end && used(libc::RUSAGE_SELF) < time {
        for _ in 0..10_000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005));
        }
    }
}

/// What it means that nobody ended it: nothing, where the machine was too busy to let it use much.
fn unstopped(whose: i32, wanted: Duration) -> Answer {
    let had = used(whose);
    if had < wanted / 2 {
        return cannot_say(format!("the machine is busy: it had {had:?} of {wanted:?}"));
    }
    Ok(format!("nobody ended it, and it had {had:?}"))
}

fn spin(arguments: &Arguments) -> Answer {
    let wanted = seconds(arguments)?;
    spin_for(wanted, Instant::now() + SPIN_TIMEOUT);
    unstopped(libc::RUSAGE_SELF, wanted)
}

fn children(arguments: &Arguments) -> Answer {
    let (wanted, end) = (seconds(arguments)?, Instant::now() + SPIN_TIMEOUT);
    // Each is over long before a limit of one process would count.
    while Instant::now() < end && used(libc::RUSAGE_CHILDREN) < wanted {
        let child = fork().attempt("fork")?;
        if child == 0 {
            spin_for(Duration::from_millis(200), end);
            leave(0);
        }
        let _ = crate::kernel::wait(child);
    }
    unstopped(libc::RUSAGE_CHILDREN, wanted)
}

fn spin_deaf(arguments: &Arguments) -> Answer {
    ignore_all();
    spin(arguments)
}

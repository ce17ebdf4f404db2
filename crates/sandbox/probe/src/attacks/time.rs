//! Taking longer than allowed, on the clock and on the processor. Bounded by `--seconds`.

use std::time::{Duration, Instant};

use crate::answer::{Answer, Step, Stop};
use crate::arguments::Arguments;
use crate::kernel::{call, close, fork, ignore, leave};
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

fn spin_for(time: Duration) {
    let end = Instant::now() + time;
    let mut number = 1_u64;
    while Instant::now() < end {
        for _ in 0..10_000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005));
        }
    }
}

fn spin(arguments: &Arguments) -> Answer {
    spin_for(seconds(arguments)?);
    Ok("nobody ended it".to_owned())
}

fn children(arguments: &Arguments) -> Answer {
    let end = Instant::now() + seconds(arguments)?;
    // Each is over long before a limit of one process would count.
    while Instant::now() < end {
        let child = fork().attempt("fork")?;
        if child == 0 {
            spin_for(Duration::from_millis(200));
            leave(0);
        }
        let _ = crate::kernel::wait(child);
    }
    Ok("nobody ended them".to_owned())
}

fn spin_deaf(arguments: &Arguments) -> Answer {
    ignore_all();
    spin(arguments)
}

//! More processes, threads and descriptors than allowed. Bounded by `--count`.

use std::time::Duration;

use crate::answer::{Answer, Step, held};
use crate::arguments::Arguments;
use crate::kernel::{call, fork, leave, wait};
use crate::probe::{Class, Ending, Probe};

const fn limit(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Limit, name, tries, run).ending(Ending::Stopped)
}

pub(crate) const PROBES: &[Probe] = &[
    limit("pids-processes", "makes more processes than it may", processes),
    limit("pids-doubling", "makes processes that make processes", doubling),
    limit("pids-threads", "makes more threads than it may", threads),
    limit("pids-zombies", "makes more dead children than it may", zombies),
    limit("pids-descriptors", "opens more files than it may", descriptors),
];

/// No bound may be larger, whatever is asked for.
const MAX_PROCESSES: u64 = 4096;

fn count(arguments: &Arguments) -> Result<u64, crate::answer::Stop> {
    arguments.number("count").map(|count| count.min(MAX_PROCESSES))
}

/// Who counts processes looks several times a second; what is gone before was not there.
fn hold() {
    std::thread::sleep(Duration::from_millis(1500));
}

fn end(children: &[usize]) {
    for child in children {
        let _ = call(libc::SYS_kill, &[*child, libc::SIGKILL as usize]);
        let _ = wait(*child);
    }
}

fn processes(arguments: &Arguments) -> Answer {
    let wanted = count(arguments)?;
    let mut children = Vec::new();
    let mut refusal = None;
    while (children.len() as u64) < wanted && refusal.is_none() {
        match fork() {
            Ok(0) => {
                std::thread::sleep(Duration::from_secs(20));
                leave(0);
            }
            Ok(child) => children.push(child),
            Err(error) => refusal = Some(error),
        }
    }
    if refusal.is_none() {
        hold();
    }
    end(&children);
    match refusal {
        Some(error) => held(format!("fork {}: {error}", children.len() + 1)),
        None => Ok(format!("{} processes at once", children.len())),
    }
}

fn doubling(arguments: &Arguments) -> Answer {
    let wanted = count(arguments)?;
    // Every living one makes another, so many times as it takes to reach the number, and no more.
    let rounds = 64 - wanted.leading_zeros();
    let (reader, writer) = std::io::pipe().prepare("pipe")?;
    let first = fork().prepare("fork")?;
    if first == 0 {
        drop(reader);
        for _ in 0..rounds {
            let _ = fork();
        }
        let _ = std::io::Write::write(&mut &writer, b"x");
        std::thread::sleep(Duration::from_secs(2));
        leave(0);
    }
    drop(writer);
    let mut living = Vec::new();
    std::io::Read::read_to_end(&mut &reader, &mut living).prepare("count them")?;
    let _ = wait(first);
    if living.len() as u64 >= wanted {
        return Ok(format!("{} processes at once", living.len()));
    }
    held(format!("{} processes", living.len()))
}

fn threads(arguments: &Arguments) -> Answer {
    let wanted = count(arguments)?;
    let mut made = 0;
    while made < wanted {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        match thread.spawn(|| std::thread::sleep(Duration::from_secs(20))) {
            Ok(_) => made += 1,
            Err(error) => return held(format!("thread {made}: {error}")),
        }
    }
    hold();
    Ok(format!("{made} threads at once"))
}

fn zombies(arguments: &Arguments) -> Answer {
    let wanted = count(arguments)?;
    for made in 0..wanted {
        match fork() {
            Ok(0) => leave(0),
            Ok(_) => {}
            Err(error) => return held(format!("fork {made}: {error}")),
        }
    }
    hold();
    Ok(format!("{wanted} dead children"))
}

fn descriptors(arguments: &Arguments) -> Answer {
    // Each descriptor can be a pipe full of the kernel's memory.
    let mut limit = [0_u64; 2];
    let files = libc::RLIMIT_NOFILE as usize;
    call(libc::SYS_prlimit64, &[0, files, 0, crate::kernel::into(&mut limit)]).prepare("read the limit")?;
    let wanted = count(arguments)? as usize * 16;
    if limit[1] as usize >= wanted {
        return Ok(format!("up to {} descriptors", limit[1]));
    }
    held(format!("at most {} descriptors", limit[1]))
}

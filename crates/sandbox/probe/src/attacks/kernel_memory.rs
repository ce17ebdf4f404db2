//! Memory that the kernel keeps for a process and that no process shows. Bounded by `--bytes`.

use super::memory::{STEP, bytes, hold};
use super::passing::{listener, pair, pass, socket_to, stuff};
use super::quota::in_dead_process;
use crate::answer::{Answer, Step, Stop, held};
use crate::arguments::Arguments;
use crate::kernel::{PAGE, call, close, copy, fork, in_child, into, leave, map, of, touch};
use crate::probe::{Class, Ending, Probe};

const fn limit(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::KernelMemory, name, tries, run).ending(Ending::Stopped)
}

pub(crate) const PROBES: &[Probe] = &[
    limit("kernel-sockets", "has ten processes fill local sockets", |arguments| {
        by_children(arguments, 10, socket)
    }),
    limit("kernel-sockets-in-flight", "has full sockets wait in a socket", in_flight),
    limit("kernel-sockets-unaccepted", "fills connections that nobody accepts", unaccepted),
    limit("kernel-sockets-closed", "leaves messages of sockets that are closed", closed),
    limit("kernel-sockets-queue", "asks for a larger queue", larger_queue),
    limit("kernel-pipes", "has many processes fill pipes", |arguments| by_children(arguments, 32, pipe)),
    limit("kernel-pipes-large", "asks for a larger pipe", larger_pipe),
    limit("kernel-pipes-pages", "has a pipe keep a page of its memory", given_page),
    limit("kernel-tables", "has the kernel note where nothing lies", tables),
    limit("kernel-shared-dropped", "drops memory that it shares, which stays", shared_dropped),
    limit("kernel-shared-inherited", "keeps shared memory that only dead children touched", shared_inherited),
    limit("kernel-dead-thread", "holds memory when its first thread has ended", dead_thread),
];

/// Fills something; gives how many bytes it took.
type Filling = fn() -> Result<usize, Stop>;

fn socket() -> Result<usize, Stop> {
    let [near, far] = pair(libc::SOCK_STREAM)?;
    Ok(stuff(near) + stuff(far))
}

fn pipe() -> Result<usize, Stop> {
    let mut ends = [0_i32; 2];
    call(libc::SYS_pipe2, &[into(&mut ends), libc::O_NONBLOCK as usize]).attempt("pipe")?;
    let chunk = vec![0_u8; 64 << 10];
    call(libc::SYS_write, &[ends[1] as usize, chunk.as_ptr() as usize, chunk.len()]).attempt("write")
}

/// Has several processes do it at the same time, each a part of it.
fn by_children(arguments: &Arguments, count: usize, filling: Filling) -> Answer {
    let each = bytes(arguments)? / count;
    let (reader, writer) = std::io::pipe().prepare("pipe")?;
    for _ in 0..count {
        if fork().prepare("fork")? == 0 {
            let mut taken = 0;
            while taken < each {
                match filling() {
                    Ok(length) => taken += length,
                    Err(_) => leave(1),
                }
            }
            let _ = std::io::Write::write(&mut &writer, b"x");
            // Until its parent is done, and not longer.
            std::thread::sleep(std::time::Duration::from_secs(4));
            leave(0);
        }
    }
    drop(writer);
    let mut full = 0;
    while full < count && std::io::Read::read(&mut &reader, &mut [0]).prepare("count them")? == 1 {
        full += 1;
    }
    if full < count {
        return held(format!("{full} of {count} processes were full"));
    }
    hold();
    Ok(format!("{count} processes with {each} bytes each"))
}

/// Does it until there is enough.
fn until_enough(arguments: &Arguments, mut more: impl FnMut() -> Result<usize, Stop>) -> Answer {
    let (wanted, mut taken) = (bytes(arguments)?, 0);
    while taken < wanted {
        taken += more()?;
    }
    hold();
    Ok(format!("{taken} bytes"))
}

fn in_flight(arguments: &Arguments) -> Answer {
    let (mut carrier, mut sent) = (pair(libc::SOCK_STREAM)?[0], 0);
    until_enough(arguments, || {
        sent += 1;
        if sent % 50 == 0 {
            // One holds some hundred messages.
            carrier = pair(libc::SOCK_STREAM)?[0];
        }
        let ends = pair(libc::SOCK_STREAM)?;
        let taken = ends.map(stuff).into_iter().sum();
        for end in ends {
            pass(carrier, end as i32)?;
            close(end);
        }
        Ok(taken)
    })
}

fn unaccepted(arguments: &Arguments) -> Answer {
    let name = format!("memory-{}", arguments.text("run")?);
    let mut number = 0;
    let mut place = (format!("{name}-0"), listener(&format!("{name}-0"), libc::SOCK_STREAM)?);
    until_enough(arguments, || {
        number += 1;
        if number % 100 == 0 {
            let name = format!("{name}-{number}");
            place = (name.clone(), listener(&name, libc::SOCK_STREAM)?);
        }
        let client = socket_to(&place.0, libc::SOCK_STREAM)?;
        let taken = stuff(client);
        close(client);
        Ok(taken)
    })
}

fn closed(arguments: &Arguments) -> Answer {
    let name = format!("letters-{}", arguments.text("run")?);
    let mut number = 0;
    until_enough(arguments, || {
        number += 1;
        let name = format!("{name}-{number}");
        listener(&name, libc::SOCK_DGRAM)?;
        let mut taken = 0;
        // As many senders as messages that wait, each with one of its own.
        for _ in 0..10 {
            let sender = socket_to(&name, libc::SOCK_DGRAM)?;
            let chunk = vec![0_u8; 128 << 10];
            taken += call(libc::SYS_write, &[sender, chunk.as_ptr() as usize, chunk.len()]).unwrap_or(0);
            close(sender);
        }
        if taken == 0 { Err(Stop::CannotSay("nothing can be sent".to_owned())) } else { Ok(taken) }
    })
}

fn larger_queue(_: &Arguments) -> Answer {
    let [near, _far] = pair(libc::SOCK_STREAM)?;
    let size = [4_i32 << 20];
    let words = [near, libc::SOL_SOCKET as usize, libc::SO_SNDBUF as usize, of(&size), 4];
    call(libc::SYS_setsockopt, &words).attempt("SO_SNDBUF")?;
    Ok("the queue is larger".to_owned())
}

fn larger_pipe(_: &Arguments) -> Answer {
    let mut ends = [0_i32; 2];
    call(libc::SYS_pipe2, &[into(&mut ends), 0]).prepare("pipe")?;
    let size = call(libc::SYS_fcntl, &[ends[1] as usize, libc::F_SETPIPE_SZ as usize, 1 << 20])
        .attempt("F_SETPIPE_SZ")?;
    Ok(format!("{size} bytes"))
}

fn given_page(_: &Arguments) -> Answer {
    let mut ends = [0_i32; 2];
    call(libc::SYS_pipe2, &[into(&mut ends), 0]).prepare("pipe")?;
    let address = map(STEP, libc::MAP_PRIVATE, None).prepare("mmap")?;
    touch(address, STEP);
    let vector = [address, PAGE];
    call(libc::SYS_vmsplice, &[ends[1] as usize, of(&vector), 1, 0]).attempt("vmsplice")?;
    Ok("the pipe keeps it, and the huge page that it lies in".to_owned())
}

/// How much of the address space one table is for.
const BY_TABLE: usize = 2 << 20;

fn tables(arguments: &Arguments) -> Answer {
    // Reading shows a page of zeroes that all share, so nothing is held but the table that says so.
    let wanted = bytes(arguments)? / PAGE;
    let region = 1024 * BY_TABLE;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;
    for made in (0..wanted).step_by(1024) {
        let address = call(libc::SYS_mmap, &[0, region, libc::PROT_READ as usize, flags, usize::MAX, 0])
            .attempt(&format!("after {made} tables"))?;
        let _ = call(libc::SYS_madvise, &[address, region, libc::MADV_NOHUGEPAGE as usize]);
        for table in 0..1024.min(wanted - made) {
            let _ = copy(address + table * BY_TABLE, 1);
        }
    }
    hold();
    Ok(format!("{wanted} tables"))
}

fn shared_dropped(arguments: &Arguments) -> Answer {
    until_enough(arguments, || {
        let address = map(STEP, libc::MAP_SHARED, None).attempt("mmap")?;
        touch(address, STEP);
        call(libc::SYS_madvise, &[address, STEP, libc::MADV_DONTNEED as usize]).attempt("madvise")?;
        Ok(STEP)
    })
}

fn shared_inherited(arguments: &Arguments) -> Answer {
    until_enough(arguments, || {
        let address = map(STEP, libc::MAP_SHARED, None).attempt("mmap")?;
        in_child(|| {
            touch(address, STEP);
            0
        })
        .attempt("fork")?;
        Ok(STEP)
    })
}

fn dead_thread(arguments: &Arguments) -> Answer {
    let arguments = arguments.clone();
    in_dead_process(move || {
        until_enough(&arguments, || {
            let address = map(STEP, libc::MAP_PRIVATE, None).attempt("mmap")?;
            touch(address, STEP);
            Ok(STEP)
        })
        .is_ok()
    })
}

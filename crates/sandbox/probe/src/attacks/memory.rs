//! More memory than allowed, by every way to get some. Bounded by `--bytes`.

use crate::answer::{Answer, Step, Stop, held};
use crate::arguments::Arguments;
use crate::kernel::{at, c_text, call, fork, into, leave, map, touch, wait};
use crate::probe::{Class, Ending, Probe};

const fn limit(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Limit, name, tries, run).ending(Ending::Stopped)
}

pub(crate) const PROBES: &[Probe] = &[
    limit("memory-own", "takes more memory than it may", own),
    limit("memory-shared", "takes it as memory that children could share", shared),
    limit("memory-children", "takes it by many children, each with little", children),
    limit("memory-file", "takes it as a file that lies in memory only", file),
    limit("memory-sysv", "takes it as shared memory of the system", sysv),
    limit("memory-dev-shm", "takes it as files in /dev/shm", dev_shm),
    limit("memory-pipes", "takes it as pipes full of bytes", pipes),
    limit("memory-sockets", "takes it as local sockets full of bytes", sockets),
];

/// No bound may be larger, whatever is asked for.
const MAX_BYTES: u64 = 8 << 30;

/// What is taken at once.
pub(super) const STEP: usize = 16 << 20;

pub(super) fn bytes(arguments: &Arguments) -> Result<usize, Stop> {
    arguments.number("bytes").map(|bytes| bytes.min(MAX_BYTES) as usize)
}

fn mapped(arguments: &Arguments, sharing: i32) -> Answer {
    let wanted = bytes(arguments)?;
    let mut taken = 0;
    while taken < wanted {
        let address = map(STEP, sharing, None).attempt(&format!("after {taken} bytes"))?;
        touch(address, STEP);
        taken += STEP;
    }
    hold();
    Ok(format!("{taken} bytes"))
}

/// Who sums up what processes hold looks several times a second; what is gone before was not held.
pub(super) fn hold() {
    std::thread::sleep(std::time::Duration::from_millis(1500));
}

fn own(arguments: &Arguments) -> Answer {
    mapped(arguments, libc::MAP_PRIVATE)
}

fn shared(arguments: &Arguments) -> Answer {
    mapped(arguments, libc::MAP_SHARED)
}

fn children(arguments: &Arguments) -> Answer {
    let wanted = bytes(arguments)?;
    let each = STEP * 2;
    let mut living = Vec::new();
    let mut answer = None;
    while living.len() * each < wanted {
        match fork() {
            Ok(0) => {
                if let Ok(address) = map(each, libc::MAP_PRIVATE, None) {
                    touch(address, each);
                    std::thread::sleep(std::time::Duration::from_secs(10));
                }
                leave(1);
            }
            Ok(child) => living.push(child),
            Err(error) => {
                answer = Some(format!("fork {}: {error}", living.len()));
                break;
            }
        }
    }
    std::thread::sleep(std::time::Duration::from_secs(2));
    let count = living.len();
    let mut ended = 0;
    for child in living {
        // Whoever is still there when it is signalled had its memory.
        let _ = call(libc::SYS_kill, &[child, libc::SIGTERM as usize]);
        if !matches!(wait(child), Ok(crate::kernel::Fate::Signaled(libc::SIGTERM))) {
            ended += 1;
        }
    }
    match answer {
        Some(reason) => held(reason),
        None if ended > 0 => held(format!("{ended} of {count} children were ended")),
        None => Ok(format!("{count} children with {each} bytes each")),
    }
}

fn file(arguments: &Arguments) -> Answer {
    let wanted = bytes(arguments)?;
    let file = call(libc::SYS_memfd_create, &[at(&c_text("probe")), 0]).attempt("memfd_create")?;
    fill(wanted, |chunk| call(libc::SYS_write, &[file, chunk.as_ptr() as usize, chunk.len()]))
}

/// Writes so many bytes.
fn fill(wanted: usize, mut write: impl FnMut(&[u8]) -> std::io::Result<usize>) -> Answer {
    let chunk = vec![0x5f_u8; 1 << 20];
    let mut taken = 0;
    while taken < wanted {
        taken += write(&chunk).attempt(&format!("after {taken} bytes"))?;
    }
    hold();
    Ok(format!("{taken} bytes"))
}

fn sysv(arguments: &Arguments) -> Answer {
    let wanted = bytes(arguments)?;
    let mut taken = 0;
    while taken < wanted {
        let id = call(libc::SYS_shmget, &[0, STEP, libc::IPC_CREAT as usize | 0o600])
            .attempt(&format!("after {taken} bytes"))?;
        let address = call(libc::SYS_shmat, &[id, 0, 0]);
        // Marked at once, so that it goes when this process goes.
        let _ = call(libc::SYS_shmctl, &[id, libc::IPC_RMID as usize, 0]);
        touch(address.attempt("shmat")?, STEP);
        taken += STEP;
    }
    hold();
    Ok(format!("{taken} bytes"))
}

fn dev_shm(arguments: &Arguments) -> Answer {
    let path = std::path::Path::new("/dev/shm/probe-fill");
    let file = std::fs::File::create(path).attempt("/dev/shm")?;
    let answer = fill(bytes(arguments)?, |chunk| std::io::Write::write(&mut &file, chunk));
    let _ = std::fs::remove_file(path);
    answer
}

fn pipes(arguments: &Arguments) -> Answer {
    let wanted = bytes(arguments)?;
    let mut taken = 0;
    let chunk = vec![0_u8; 1 << 20];
    while taken < wanted {
        let mut ends = [0_i32; 2];
        call(libc::SYS_pipe2, &[into(&mut ends), libc::O_NONBLOCK as usize])
            .attempt(&format!("after {taken} bytes"))?;
        let writer = ends[1] as usize;
        let _ = call(libc::SYS_fcntl, &[writer, libc::F_SETPIPE_SZ as usize, chunk.len()]);
        taken += call(libc::SYS_write, &[writer, chunk.as_ptr() as usize, chunk.len()])
            .attempt(&format!("after {taken} bytes"))?;
    }
    hold();
    Ok(format!("{taken} bytes"))
}

fn sockets(arguments: &Arguments) -> Answer {
    let wanted = bytes(arguments)?;
    let mut taken = 0;
    let chunk = vec![0_u8; 64 << 10];
    while taken < wanted {
        let mut ends = [0_i32; 2];
        let kind = (libc::SOCK_STREAM | libc::SOCK_NONBLOCK) as usize;
        call(libc::SYS_socketpair, &[libc::AF_UNIX as usize, kind, 0, into(&mut ends)])
            .attempt(&format!("after {taken} bytes"))?;
        while let Ok(length) =
            call(libc::SYS_write, &[ends[0] as usize, chunk.as_ptr() as usize, chunk.len()])
        {
            taken += length;
        }
    }
    hold();
    Ok(format!("{taken} bytes"))
}

//! Memory, queues and semaphores of the outside. The victim makes them.

use crate::answer::{Answer, Step, held};
use crate::arguments::{Arguments, read_canary, sings};
use crate::kernel::{at, c_text, call, copy, into};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Ipc, "ipc-shm", "reads shared memory of a process outside (System V)", shm),
    Probe::plain(Class::Ipc, "ipc-shm-list", "lists shared memory of the system", shm_list),
    Probe::plain(Class::Ipc, "ipc-sem", "changes a semaphore of a process outside", sem),
    Probe::plain(Class::Ipc, "ipc-msg", "reads a message queue of a process outside (System V)", msg),
    Probe::plain(Class::Ipc, "ipc-mq", "opens a message queue of a process outside (POSIX)", mq),
    Probe::plain(Class::Ipc, "ipc-dev-shm", "reads shared memory of a process outside (POSIX)", dev_shm),
    Probe::plain(Class::Ipc, "ipc-proc-list", "reads the lists in /proc/sysvipc", proc_list),
];

fn key(arguments: &Arguments) -> Result<usize, crate::answer::Stop> {
    arguments.number("key").map(|key| key as usize)
}

fn shm(arguments: &Arguments) -> Answer {
    let id = call(libc::SYS_shmget, &[key(arguments)?, 0, 0]).attempt("shmget")?;
    let address = call(libc::SYS_shmat, &[id, 0, libc::SHM_RDONLY as usize]).attempt("shmat")?;
    if sings(&copy(address, 64)) { Ok("read it".to_owned()) } else { held("no canary in it") }
}

/// Asks for the memory at an index of the system's table, whoever it belongs to.
const SHM_STAT_ANY: usize = 15;

fn shm_list(arguments: &Arguments) -> Answer {
    let wanted = key(arguments)?;
    let mut found = [0_u64; 32];
    let mut refusal = String::new();
    for index in 0..64 {
        match call(libc::SYS_shmctl, &[index, SHM_STAT_ANY, into(&mut found)]) {
            // The key is the first word of the answer.
            Ok(id) if found[0] & 0xffff_ffff == wanted as u64 => {
                return Ok(format!("it has the number {id}"));
            }
            Ok(_) => {}
            Err(error) => refusal = error.to_string(),
        }
    }
    held(format!("not in the list; {refusal}"))
}

fn sem(arguments: &Arguments) -> Answer {
    let id = call(libc::SYS_semget, &[key(arguments)?, 0, 0]).attempt("semget")?;
    call(libc::SYS_semctl, &[id, 0, libc::SETVAL as usize, 1]).attempt("semctl")?;
    Ok("set it".to_owned())
}

/// Copies a message and leaves it in the queue.
const MSG_COPY: usize = 0o40000;

fn msg(arguments: &Arguments) -> Answer {
    let id = call(libc::SYS_msgget, &[key(arguments)?, 0]).attempt("msgget")?;
    let mut message = [0_u8; 264];
    let flags = MSG_COPY | libc::IPC_NOWAIT as usize;
    match call(libc::SYS_msgrcv, &[id, into(&mut message), 256, 0, flags]) {
        Ok(_) if sings(&message) => Ok("read a message".to_owned()),
        Ok(_) => held("no canary in it"),
        // Some kernels cannot copy; that the queue was found is as good.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => Ok("found the queue".to_owned()),
        Err(error) => held(format!("msgrcv: {error}")),
    }
}

fn mq(arguments: &Arguments) -> Answer {
    let name = c_text(arguments.text("queue")?.trim_start_matches('/'));
    let queue = call(libc::SYS_mq_open, &[at(&name), libc::O_RDWR as usize]).attempt("mq_open")?;
    Ok(format!("it is open as {queue}"))
}

fn dev_shm(arguments: &Arguments) -> Answer {
    read_canary(format!("/dev/shm{}", arguments.text("queue")?))
}

fn proc_list(arguments: &Arguments) -> Answer {
    let text = std::fs::read_to_string("/proc/sysvipc/shm").attempt("/proc/sysvipc/shm")?;
    let wanted = key(arguments)?.to_string();
    if text.split_whitespace().any(|word| word == wanted) {
        return Ok("the victim's memory is in the list".to_owned());
    }
    held("the victim's memory is not in the list")
}

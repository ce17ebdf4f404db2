//! The process outside that attacks aim at: it holds a secret in its environment, has shared memory and queues, and
//! waits until it is ended.

use std::io::Write;
use std::time::Duration;

use crate::arguments::{Arguments, canary};
use crate::kernel::{at, c_text, call, leave, of, put};

/// It ends by itself after this time, so that nothing is left when the test itself was ended.
const LIFE_TIMEOUT: Duration = Duration::from_mins(30);

/// Makes everything, says `ready`, waits.
pub(crate) fn run(arguments: &Arguments) -> i32 {
    let (Ok(key), Ok(queue)) = (arguments.number("key"), arguments.text("queue")) else {
        println!("a victim needs `--key` and `--queue`");
        return 2;
    };
    let made = objects(key as usize, queue);
    match &made {
        Ok(_) => println!("ready"),
        Err(error) => println!("not ready: {error}"),
    }
    let _ = std::io::stdout().flush();
    let Ok(objects) = made else { return 1 };
    let mine = queue.to_owned();
    std::thread::spawn(move || {
        std::thread::sleep(LIFE_TIMEOUT);
        objects.remove(&mine);
        leave(0);
    });
    // It lives until its standard input ends, which is when the test is over.
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    objects.remove(queue);
    0
}

/// The victim inside the sandbox: a call with something in its scratch folder. It says where that is and waits until its
/// standard input ends.
pub(crate) fn nap() -> i32 {
    let scratch = Arguments::scratch();
    match std::fs::write(scratch.join("canary"), canary()) {
        Ok(()) => println!("{}", scratch.display()),
        Err(error) => println!("not ready: {error}"),
    }
    let _ = std::io::stdout().flush();
    let _ = std::io::stdin().read_line(&mut String::new());
    0
}

#[derive(Clone, Copy)]
struct Objects {
    shm: usize,
    sem: usize,
    msg: usize,
}

fn objects(key: usize, queue: &str) -> std::io::Result<Objects> {
    let make = libc::IPC_CREAT as usize | 0o600;
    let shm = call(libc::SYS_shmget, &[key, 4096, make])?;
    let address = call(libc::SYS_shmat, &[shm, 0, 0])?;
    put(address, canary().as_bytes());
    let sem = call(libc::SYS_semget, &[key, 1, make])?;
    let msg = call(libc::SYS_msgget, &[key, make])?;
    let mut message = 1_i64.to_ne_bytes().to_vec();
    message.extend_from_slice(canary().as_bytes());
    call(libc::SYS_msgsnd, &[msg, message.as_ptr() as usize, canary().len(), libc::IPC_NOWAIT as usize])?;
    let name = c_text(queue.trim_start_matches('/'));
    let attributes: [i64; 8] = [0, 1, 64, 0, 0, 0, 0, 0];
    let flags = (libc::O_CREAT | libc::O_RDWR) as usize;
    call(libc::SYS_mq_open, &[at(&name), flags, 0o600, of(&attributes)])?;
    std::fs::write(format!("/dev/shm{queue}"), canary())?;
    Ok(Objects { shm, sem, msg })
}

impl Objects {
    fn remove(self, queue: &str) {
        let remove = libc::IPC_RMID as usize;
        let _ = call(libc::SYS_shmctl, &[self.shm, remove, 0]);
        let _ = call(libc::SYS_semctl, &[self.sem, 0, remove, 0]);
        let _ = call(libc::SYS_msgctl, &[self.msg, remove, 0]);
        let name = c_text(queue.trim_start_matches('/'));
        let _ = call(libc::SYS_mq_unlink, &[at(&name)]);
        let _ = std::fs::remove_file(format!("/dev/shm{queue}"));
    }
}

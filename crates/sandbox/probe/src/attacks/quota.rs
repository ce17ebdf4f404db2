//! Filling the data folder where whoever measures it does not look. Bounded by `--bytes`.

use std::fs::{DirBuilder, File, Permissions};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::disk::{Corner, bytes, fill, fill_file, hold};
use super::passing::{listener, pair, pass, socket_to};
use crate::answer::{Answer, Step, Stop, held};
use crate::arguments::Arguments;
use crate::kernel::{Fate, call, close, fork, leave, map, wait};
use crate::probe::{Class, Ending, Probe};
use crate::program;

const fn limit(name: &'static str, tries: &'static str, run: fn(&Arguments) -> Answer) -> Probe {
    Probe::plain(Class::Quota, name, tries, run).ending(Ending::Stopped)
}

pub(crate) const PROBES: &[Probe] = &[
    limit("quota-unlisted", "fills a folder that nobody may list", unlisted),
    limit("quota-closed", "fills folders and closes them to everybody", |arguments| closed(arguments, 0)),
    limit("quota-unsearched", "fills folders that can be listed and not searched", |arguments| {
        closed(arguments, 0o400)
    }),
    limit("quota-top", "closes the data folder itself and fills it", top),
    limit("quota-wide", "fills very many folders side by side", wide),
    limit("quota-deep", "fills a folder that lies very deep", deep),
    limit("quota-in-flight", "has removed files wait in a socket", |arguments| in_flight(arguments, 8 << 20)),
    limit("quota-in-flight-few", "has a few large removed files wait in a socket", |arguments| {
        in_flight(arguments, 24 << 20)
    }),
    limit("quota-in-flight-nested", "has them wait in a socket that waits in a socket", nested),
    limit("quota-unaccepted", "has them wait in a connection that nobody accepts", unaccepted),
    limit("quota-mapped", "keeps removed files by one page of each", mapped),
    limit("quota-unreadable-program", "holds removed files by a program that nobody may read", unreadable),
    limit("quota-undumpable", "holds removed files and closes itself to others", undumpable),
    limit("quota-own-table", "holds them in a table of descriptors of one thread", |arguments| {
        own_table(arguments, || call(libc::SYS_unshare, &[libc::CLONE_FILES as usize]))
    }),
    limit("quota-own-table-range", "gets such a table by closing a range", |arguments| {
        own_table(arguments, || {
            let unshare = libc::CLOSE_RANGE_UNSHARE as usize;
            call(libc::SYS_close_range, &[1 << 20, 1 << 20, unshare])
        })
    }),
    limit("quota-dead-thread", "holds them when its first thread has ended", dead_thread),
];

/// How large one file is.
const EACH: u64 = 8 << 20;

fn data(arguments: &Arguments) -> Result<PathBuf, Stop> {
    arguments.path("data")
}

fn mode(path: &Path, mode: u32) -> Result<(), Stop> {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).attempt("chmod")
}

fn unlisted(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&data(arguments)?)?;
    let folder = corner.0.join("inner");
    DirBuilder::new().mode(0o300).create(&folder).prepare("make a folder")?;
    let answer = fill(bytes(arguments)?, EACH, &folder, |_, _| ());
    let _ = mode(&folder, 0o700);
    answer
}

/// Fills folders one after another; each has this mode when it is full.
fn closed(arguments: &Arguments, closed: u32) -> Answer {
    let corner = Corner::new(&data(arguments)?)?;
    let wanted = bytes(arguments)?;
    let mut folders = Vec::new();
    let mut answer = Ok(());
    while (folders.len() as u64) * EACH < wanted && answer.is_ok() {
        let folder = corner.0.join(folders.len().to_string());
        std::fs::create_dir(&folder).attempt("make a folder")?;
        answer = fill_file(&folder.join("file"), EACH).and_then(|_| mode(&folder, closed));
        folders.push(folder);
    }
    if answer.is_ok() {
        hold();
    }
    for folder in &folders {
        let _ = mode(folder, 0o700);
    }
    answer.map(|()| format!("{} folders", folders.len()))
}

fn top(arguments: &Arguments) -> Answer {
    let folder = data(arguments)?;
    let corner = Corner::new(&folder)?;
    mode(&folder, 0o300)?;
    let answer = fill(bytes(arguments)?, EACH, &corner.0, |_, _| ());
    let _ = mode(&folder, 0o700);
    answer
}

fn wide(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&data(arguments)?)?;
    let wanted = bytes(arguments)?;
    let folders = 1500;
    for number in 0..folders {
        std::fs::create_dir(corner.0.join(number.to_string())).attempt("make a folder")?;
    }
    for number in 0..folders {
        fill_file(&corner.0.join(number.to_string()).join("file"), wanted / folders)?;
    }
    hold();
    Ok(format!("{wanted} bytes in {folders} folders"))
}

fn deep(arguments: &Arguments) -> Answer {
    let corner = Corner::new(&data(arguments)?)?;
    let mut folder = corner.0.clone();
    for level in 0..1200 {
        folder.push("d");
        std::fs::create_dir(&folder).attempt(&format!("level {level}"))?;
    }
    fill(bytes(arguments)?, EACH, &folder, |_, _| ())
}

/// Fills the corner with files that are removed and handed to somebody.
fn removed(arguments: &Arguments, each: u64, mut keep: impl FnMut(File) -> Result<(), Stop>) -> Answer {
    let corner = Corner::new(&data(arguments)?)?;
    let mut kept = Ok(());
    let answer = fill(bytes(arguments)?, each, &corner.0, |path, file| {
        let _ = std::fs::remove_file(path);
        if kept.is_ok() {
            kept = keep(file);
        }
    });
    kept?;
    answer
}

fn in_flight(arguments: &Arguments, each: u64) -> Answer {
    let [near, _far] = pair(libc::SOCK_STREAM)?;
    removed(arguments, each, |file| pass(near, file.as_raw_fd()))
}

fn nested(arguments: &Arguments) -> Answer {
    let [outer, _far] = pair(libc::SOCK_STREAM)?;
    let [near, inner] = pair(libc::SOCK_STREAM)?;
    let answer = removed(arguments, 24 << 20, |file| pass(near, file.as_raw_fd()));
    pass(outer, inner as i32)?;
    [near, inner].into_iter().for_each(close);
    answer?;
    hold();
    Ok("they wait in a socket that has no descriptor".to_owned())
}

fn unaccepted(arguments: &Arguments) -> Answer {
    let name = format!("quota-{}", arguments.text("run")?);
    let _listener = listener(&name, libc::SOCK_STREAM)?;
    removed(arguments, 24 << 20, |file| {
        let client = socket_to(&name, libc::SOCK_STREAM)?;
        pass(client, file.as_raw_fd())?;
        close(client);
        Ok(())
    })
}

fn mapped(arguments: &Arguments) -> Answer {
    removed(arguments, EACH, |file| {
        map(4096, libc::MAP_SHARED, Some(file.as_raw_fd() as usize)).attempt("mmap").map(drop)
    })
}

fn unreadable(arguments: &Arguments) -> Answer {
    let copy = Arguments::scratch().join("unreadable");
    let own = std::env::current_exe().prepare("its own file")?;
    program::copy(&own, &copy, 0o111).prepare("copy it")?;
    let status = Command::new(&copy).arg("disk-data-removed").args(arguments.words()).status();
    let _ = std::fs::remove_file(&copy);
    match status.attempt("start it")?.code() {
        Some(0) => Ok("it held them".to_owned()),
        code => held(format!("{code:?}")),
    }
}

/// Holds removed files.
fn hold_removed(arguments: &Arguments) -> Answer {
    removed(arguments, EACH, |file| {
        let _ = file.into_raw_fd();
        Ok(())
    })
}

fn undumpable(arguments: &Arguments) -> Answer {
    call(libc::SYS_prctl, &[libc::PR_SET_DUMPABLE as usize, 0]).attempt("PR_SET_DUMPABLE")?;
    hold_removed(arguments)
}

fn own_table(arguments: &Arguments, unshare: impl FnOnce() -> std::io::Result<usize> + Send) -> Answer {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            unshare().attempt("a table of its own")?;
            hold_removed(arguments)
        });
        thread.join().unwrap_or_else(|_| held("the thread was ended"))
    })
}

fn dead_thread(arguments: &Arguments) -> Answer {
    in_dead_process(|| hold_removed(arguments).is_ok())
}

/// Does something in a process whose first thread has ended.
pub(super) fn in_dead_process(work: impl FnOnce() -> bool + Send) -> Answer {
    let child = fork().prepare("fork")?;
    if child == 0 {
        std::thread::scope(|scope| {
            scope.spawn(|| leave(i32::from(!work())));
            let _ = call(libc::SYS_exit, &[0]);
        });
        leave(1);
    }
    match wait(child).prepare("wait")? {
        Fate::Exited(0) => Ok("it held them".to_owned()),
        fate => held(format!("{fate:?}")),
    }
}

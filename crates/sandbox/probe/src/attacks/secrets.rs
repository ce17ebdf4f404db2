//! Files of the project that look like secrets and are masked.

use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::answer::{Answer, Step, Stop, held};
use crate::arguments::{Arguments, read_canary};
use crate::kernel::{HERE, at, c_path, call, into};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Secrets, "secret-env", "reads the project's .env", env),
    Probe::plain(Class::Secrets, "secret-env-variant", "reads .env.production", variant),
    Probe::plain(Class::Secrets, "secret-nested", "reads a .env deep in the project", nested),
    Probe::plain(Class::Secrets, "secret-case", "reads .ENV", case),
    Probe::plain(Class::Secrets, "secret-key", "reads a private key in the project", key),
    Probe::plain(Class::Secrets, "secret-pem", "reads a certificate file with a private key", pem),
    Probe::plain(
        Class::Secrets,
        "secret-credentials",
        "reads .netrc, .npmrc, .pypirc, .git-credentials",
        credentials,
    ),
    Probe::plain(
        Class::Secrets,
        "secret-second-name",
        "reads a hard link of .env under another name",
        second_name,
    ),
    Probe::plain(
        Class::Secrets,
        "secret-hard-link",
        "makes a hard link of .env in the data folder",
        hard_link,
    ),
    Probe::plain(
        Class::Secrets,
        "secret-dotdot",
        "reads .env by a way with `..` and doubled slashes",
        dotdot,
    ),
    Probe::plain(Class::Secrets, "secret-proc-root", "reads .env through /proc/self/root", proc_root),
    Probe::plain(Class::Secrets, "secret-rename", "renames .env and reads it under the new name", rename),
    Probe::plain(Class::Secrets, "secret-size", "learns the size of .env", size),
    Probe::plain(Class::Secrets, "secret-map", "maps .env into memory instead of reading it", map),
    Probe::throwaway(Class::Secrets, "secret-unmount", "takes the mask off, then reads .env", unmount),
];

fn file(arguments: &Arguments, name: &str) -> Result<PathBuf, Stop> {
    arguments.path("project").map(|project| project.join(name))
}

fn env(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, ".env")?)
}

fn variant(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, ".env.production")?)
}

fn nested(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, "packages/web/.env")?)
}

fn case(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, ".ENV")?)
}

fn key(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, "deploy/id_rsa")?)
}

fn pem(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, "deploy/server.pem")?)
}

fn credentials(arguments: &Arguments) -> Answer {
    for name in [".netrc", ".npmrc", ".pypirc", ".git-credentials"] {
        if let Ok(how) = read_canary(file(arguments, name)?) {
            return Ok(how);
        }
    }
    held("none of the four gave its canary")
}

fn second_name(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, "notes.txt")?)
}

fn hard_link(arguments: &Arguments) -> Answer {
    let place = arguments.path("data")?.join("probe-env");
    let _ = std::fs::remove_file(&place);
    std::fs::hard_link(file(arguments, ".env")?, &place).attempt("link")?;
    let answer = read_canary(&place);
    let _ = std::fs::remove_file(place);
    answer
}

fn dotdot(arguments: &Arguments) -> Answer {
    read_canary(file(arguments, "packages/.//web/../..//./.env")?)
}

fn proc_root(arguments: &Arguments) -> Answer {
    read_canary(format!("/proc/self/root{}", file(arguments, ".env")?.display()))
}

fn rename(arguments: &Arguments) -> Answer {
    let (old, new) = (file(arguments, ".env")?, file(arguments, "probe-renamed")?);
    std::fs::rename(&old, &new).attempt("rename")?;
    let answer = read_canary(&new);
    std::fs::rename(new, old).prepare("rename back")?;
    answer
}

fn size(arguments: &Arguments) -> Answer {
    let found = std::fs::metadata(file(arguments, ".env")?).attempt("stat")?;
    if found.len() == 0 || !found.is_file() {
        held("it looks empty")
    } else {
        Ok(format!("{} bytes", found.len()))
    }
}

fn map(arguments: &Arguments) -> Answer {
    let path = c_path(&file(arguments, ".env")?);
    let open = call(libc::SYS_openat, &[HERE, at(&path), libc::O_RDONLY as usize]).attempt("open")?;
    let mut found = [0_u64; 32];
    call(libc::SYS_fstat, &[open, into(&mut found)]).prepare("fstat")?;
    let page = [0, 4096, libc::PROT_READ as usize, libc::MAP_PRIVATE as usize, open, 0];
    let address = call(libc::SYS_mmap, &page).attempt("mmap")?;
    // A page of an empty file cannot be touched, so the copy is made by the kernel, which answers with an error.
    let (reader, writer) = std::io::pipe().prepare("pipe")?;
    let length =
        call(libc::SYS_write, &[writer.as_raw_fd() as usize, address, 64]).attempt("read the mapping")?;
    let mut bytes = [0_u8; 64];
    call(libc::SYS_read, &[reader.as_raw_fd() as usize, into(&mut bytes), length]).prepare("read back")?;
    if crate::arguments::sings(&bytes) {
        Ok("the mapping holds it".to_owned())
    } else {
        held("no canary in the mapping")
    }
}

fn unmount(arguments: &Arguments) -> Answer {
    let path = file(arguments, ".env")?;
    let _ = call(libc::SYS_umount2, &[at(&c_path(&path)), libc::MNT_DETACH as usize]);
    let _ = call(libc::SYS_umount2, &[at(&c_path(&arguments.path("project")?)), libc::MNT_DETACH as usize]);
    read_canary(path)
}

//! Getting at the same file through other programs: interpreters, loaders, copies, wrappers.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::answer::{Answer, Step, Stop, cannot_say, held};
use crate::arguments::{Arguments, sings};
use crate::kernel::{HERE, at, c_path, c_text, call, fork, leave, of, wait};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Wrapper, "wrap-sh", "reads the file outside with sh", sh),
    Probe::plain(Class::Wrapper, "wrap-bash", "reads it with bash and a redirection", bash),
    Probe::plain(Class::Wrapper, "wrap-perl", "reads it with perl", perl),
    Probe::plain(Class::Wrapper, "wrap-python", "reads it with python3", python),
    Probe::plain(Class::Wrapper, "wrap-awk", "reads it with awk", awk),
    Probe::plain(Class::Wrapper, "wrap-dd", "reads it with dd", dd),
    Probe::plain(Class::Wrapper, "wrap-tar", "packs it with tar", tar),
    Probe::plain(Class::Wrapper, "wrap-find", "reads it with find -exec", find),
    Probe::plain(Class::Wrapper, "wrap-xargs", "reads it with env and xargs", xargs),
    Probe::plain(Class::Wrapper, "wrap-proc-root", "runs /proc/self/root/usr/bin/cat", proc_root),
    Probe::plain(Class::Wrapper, "wrap-loader", "runs a copy of itself in the scratch by the loader", loader),
    Probe::plain(Class::Wrapper, "wrap-preload", "runs cat with a library of its own preloaded", preload),
    Probe::plain(Class::Wrapper, "wrap-copy", "runs a copy of itself in the scratch folder", copy),
    Probe::plain(Class::Wrapper, "wrap-memory", "runs a copy of itself that lies in memory only", memory),
    Probe::plain(Class::Wrapper, "wrap-script", "writes a script to the data folder and runs it", script),
    Probe::plain(
        Class::Wrapper,
        "wrap-self-patch",
        "patches its own memory through /proc/self/mem",
        self_patch,
    ),
];

/// Runs a program with the file outside as its last word, and looks for the canary in what it says.
fn listen(arguments: &Arguments, words: &[&str]) -> Answer {
    let outside = arguments.path("outside")?;
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(outside);
    hear(command)
}

/// Whether a folder of the search path has the program. The error of a start does not tell: it is `EACCES` where one of the
/// folders is closed to this user.
pub(super) fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).exists())
}

/// Starts a program and listens whether it says what the canary, or the test's own server, would have it say.
pub(super) fn hear(mut command: Command) -> Answer {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(_) if !is_installed(&name) => return cannot_say(format!("`{name}` is not there")),
        Err(error) => return held(format!("{name}: {error}")),
    };
    if sings(&output.stdout) {
        return Ok(format!("{name} got it"));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    held(format!("{name}: {} {}", output.status, said.lines().next_back().unwrap_or_default()))
}

fn sh(arguments: &Arguments) -> Answer {
    listen(arguments, &["sh", "-c", "cat -- \"$1\"", "sh"])
}

fn bash(arguments: &Arguments) -> Answer {
    listen(arguments, &["bash", "-c", "echo \"$(< \"$1\")\"", "bash"])
}

fn perl(arguments: &Arguments) -> Answer {
    listen(arguments, &["perl", "-pe", "1"])
}

fn python(arguments: &Arguments) -> Answer {
    let program = if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    listen(arguments, &[program, "-c", "import sys; print(open(sys.argv[1]).read())"])
}

fn awk(arguments: &Arguments) -> Answer {
    listen(arguments, &["awk", "1"])
}

fn dd(arguments: &Arguments) -> Answer {
    let mut command = Command::new("dd");
    command.arg(format!("if={}", arguments.text("outside")?));
    hear(command)
}

fn tar(arguments: &Arguments) -> Answer {
    listen(arguments, &["tar", "-cPf", "-"])
}

fn find(arguments: &Arguments) -> Answer {
    let mut command = Command::new("find");
    command.arg(arguments.path("outside")?).args(["-exec", "cat", "{}", ";"]);
    hear(command)
}

fn xargs(arguments: &Arguments) -> Answer {
    listen(arguments, &["env", "X=1", "sh", "-c", "echo \"$1\" | xargs cat", "sh"])
}

fn proc_root(arguments: &Arguments) -> Answer {
    listen(arguments, &["/proc/self/root/usr/bin/cat"])
}

/// This program's own file.
fn own_program(arguments: &Arguments) -> Result<PathBuf, Stop> {
    arguments.path("skill").map(|skill| skill.join("scripts/probe"))
}

/// Runs another copy of this program, which tries to read the file outside.
fn again(mut command: Command, arguments: &Arguments) -> Answer {
    command.arg("read-absolute").args(arguments.words());
    let output = command.output().attempt("run it")?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.code() {
        Some(0) => Ok(said),
        Some(10) => held(said),
        _ => held(format!("{} {}", output.status, String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn copied(arguments: &Arguments, mode: u32) -> Result<PathBuf, Stop> {
    let copy = Arguments::scratch().join("probe-copy");
    crate::program::copy(&own_program(arguments)?, &copy, mode).prepare("copy itself")?;
    Ok(copy)
}

fn copy(arguments: &Arguments) -> Answer {
    let copy = copied(arguments, 0o755)?;
    let answer = again(Command::new(&copy), arguments);
    let _ = std::fs::remove_file(copy);
    answer
}

fn loader(arguments: &Arguments) -> Answer {
    let known = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1"];
    let Some(loader) = known.iter().find(|path| Path::new(path).exists()) else {
        return cannot_say("no loader at a known place");
    };
    // The loader reads the file instead of executing it, so the bit that forbids execution does not count.
    let copy = copied(arguments, 0o644)?;
    let mut command = Command::new(loader);
    command.arg(&copy);
    let answer = again(command, arguments);
    let _ = std::fs::remove_file(copy);
    answer
}

fn preload(arguments: &Arguments) -> Answer {
    let known =
        ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/usr/lib64/libm.so.6"];
    let Some(library) = known.iter().find(|path| Path::new(path).exists()) else {
        return cannot_say("no library at a known place");
    };
    let own = Arguments::scratch().join("probe-library.so");
    crate::program::copy(Path::new(library), &own, 0o644).prepare("copy a library")?;
    let mut command = Command::new("cat");
    command.env("LD_PRELOAD", &own).arg(arguments.path("outside")?);
    let answer = hear(command);
    let _ = std::fs::remove_file(own);
    answer
}

fn memory(arguments: &Arguments) -> Answer {
    let bytes = std::fs::read(own_program(arguments)?).prepare("read itself")?;
    let file = call(libc::SYS_memfd_create, &[at(&c_text("probe")), 0]).attempt("memfd_create")?;
    let mut written = 0;
    while written < bytes.len() {
        let rest = &bytes[written..];
        written += call(libc::SYS_write, &[file, rest.as_ptr() as usize, rest.len()]).prepare("fill it")?;
    }
    let mut words = vec![c_text("probe"), c_text("read-absolute")];
    words.extend(arguments.words().iter().map(|word| c_text(word.as_bytes())));
    let mut addresses: Vec<usize> = words.iter().map(at).collect();
    addresses.push(0);
    let child = fork().prepare("fork")?;
    if child == 0 {
        let none = [0_usize];
        let empty = c_text("");
        let flags = libc::AT_EMPTY_PATH as usize;
        let _ = call(libc::SYS_execveat, &[file, at(&empty), of(addresses.as_slice()), of(&none), flags]);
        leave(30);
    }
    match wait(child).prepare("wait")? {
        crate::kernel::Fate::Exited(0) => Ok("a program in memory read it".to_owned()),
        fate => held(format!("it ended with {fate:?}")),
    }
}

fn script(arguments: &Arguments) -> Answer {
    let path = arguments.path("data")?.join("probe-script.sh");
    let text = b"#!/bin/sh\ncat -- \"$1\"\n";
    crate::program::make(&path, text, 0o755).prepare("write a script")?;
    let mut command = Command::new(&path);
    command.arg(arguments.path("outside")?);
    let answer = hear(command);
    let _ = std::fs::remove_file(path);
    answer
}

fn self_patch(arguments: &Arguments) -> Answer {
    let wanted = c_path(&arguments.path("outside")?);
    let length = wanted.as_bytes_with_nul().len();
    let patched = vec![b'x'; length];
    let place = c_text("/proc/self/mem");
    let memory =
        call(libc::SYS_openat, &[HERE, at(&place), libc::O_RDWR as usize]).attempt("/proc/self/mem")?;
    call(libc::SYS_pwrite64, &[memory, at(&wanted), length, patched.as_ptr() as usize]).attempt("pwrite")?;
    let way = std::hint::black_box(patched);
    crate::arguments::read_canary(String::from_utf8_lossy(&way[..length - 1]).into_owned())
}

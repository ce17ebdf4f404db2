//! The ground of one worker: folders, secrets, servers, a victim, and what a careless caller leaves open.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use crate::folders::{Folders, SECOND_NAME, SECRETS};
use crate::part;
use crate::servers::{Servers, pass};

/// What every file, variable and message outside holds. The probe knows it, too.
pub(crate) const CANARY: &str = "metier-canary-5f2c";

/// How many grounds there are in this program.
static GROUNDS: AtomicU32 = AtomicU32::new(0);

/// Everything that attacks of one worker need. It goes when this is dropped.
pub(crate) struct Ground {
    pub(crate) folders: Folders,
    /// Which of the grounds of this program it is, in all programs of the machine.
    pub(crate) number: u32,
    _folder: TempDir,
    tmp: TempDir,
    pub(crate) servers: Servers,
    victim: Child,
    key: u32,
    /// Kept open on purpose, and without the flag that would close them in a child.
    _left_open: Vec<OwnedFd>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        // Whatever is made without care can be written by everybody.
        rustix::process::umask(Mode::empty());
        let folder = folder_in(&part::ground());
        let tmp = folder_in(Path::new("/tmp"));
        let at = |name: &str| folder.path().join(name);
        for name in [
            "outside",
            "projectX",
            "data",
            "layers",
            "scratch",
            "home/.ssh",
            "skill/scripts",
            "skill/examples",
        ] {
            make(&at(name));
        }
        for name in [".git/hooks", "packages/web", "deploy", "swapping/swap"] {
            make(&at("project").join(name));
        }
        for name in ["outside/canary", "projectX/canary", "home/.ssh/id_ed25519"] {
            write(&at(name), CANARY);
        }
        write(&tmp.path().join("canary"), CANARY);
        for name in SECRETS {
            write(&at("project").join(name), &format!("-----BEGIN PRIVATE KEY-----\n{CANARY}\n"));
        }
        fs::hard_link(at("project/.env"), at("project").join(SECOND_NAME)).expect("a second name");
        for name in ["README.md", "spare.txt", ".git/config", "metier.toml"] {
            write(&at("project").join(name), "# plain\n");
        }
        write(&at("home/.bashrc"), "# plain\n");
        write(&at("skill/SKILL.md"), "---\nname: probe\ndescription: Attacks.\n---\n");
        write(&at("skill/scripts/other.sh"), "#!/bin/sh\n");
        fs::copy(part::probe(), at("skill/scripts/probe")).expect("copy the probe");
        executable(&at("skill/scripts/probe"));
        symlink(at("outside/canary"), at("skill/examples/id_rsa.example")).expect("a link that leads out");
        symlink(at("outside"), at("project/swapping/link")).expect("a link to swap with");
        let number = (std::process::id() & 0xffff) << 4 | GROUNDS.fetch_add(1, Ordering::Relaxed) & 0xf;
        let servers = Servers::start(folder.path(), tmp.path(), number);
        let key = 0x4d00_0000 | number;
        let victim = victim(&at("skill/scripts/probe"), &at("outside"), key);
        let left_open = leave_open(&at("outside"));
        Self {
            folders: Folders::new(folder.path()),
            number,
            _folder: folder,
            tmp,
            servers,
            victim,
            key,
            _left_open: left_open,
        }
    }

    /// Empties the data folder. The folder itself stays, because the sandbox keeps rooms that show it.
    pub(crate) fn empty_data(&self) {
        open_up(&self.folders.data());
        for entry in fs::read_dir(self.folders.data()).expect("list the data folder").flatten() {
            let path = entry.path();
            let removed = if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            removed.expect("empty the data folder");
        }
    }

    /// The folders whose change is an escape.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut watched: Vec<PathBuf> = ["outside", "projectX", "project", "skill", "home"]
            .iter()
            .map(|name| self.folders.at(name))
            .collect();
        watched.push(self.tmp.path().to_owned());
        watched
    }

    /// Whether the victim still lives.
    pub(crate) fn victim_lives(&mut self) -> bool {
        matches!(self.victim.try_wait(), Ok(None))
    }

    /// What every probe is told.
    pub(crate) fn arguments(&self, token: &str) -> Vec<String> {
        let own = rustix::process::getpid();
        let number = |id: std::io::Result<rustix::process::Pid>| {
            id.map(|id| id.as_raw_nonzero().to_string()).expect("a process has a session and a group")
        };
        let mut arguments = Vec::new();
        let mut add = |key: &str, value: String| {
            arguments.push(format!("--{key}"));
            arguments.push(value);
        };
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        add("run", token.to_owned());
        add("outside", text(self.folders.at("outside/canary")));
        add("outside-tmp", text(self.tmp.path().join("canary")));
        add("skill", text(self.folders.skill()));
        add("project", text(self.folders.project()));
        add("data", text(self.folders.at("data")));
        add("home", text(self.folders.at("home")));
        add("swap", text(self.folders.swapping().join("swap")));
        add("socket", text(self.folders.at("outside/server.sock")));
        add("socket-tmp", text(self.tmp.path().join("server.sock")));
        add("abstract", self.servers.name.clone());
        add("port", self.servers.tcp.to_string());
        add("port6", self.servers.tcp6.to_string());
        add("same-port", metier_sandbox::GATEWAY.port().to_string());
        add("port-udp", self.servers.udp.to_string());
        add("victim", self.victim.id().to_string());
        add("key", self.key.to_string());
        add("queue", format!("/metier-{}", self.key));
        add("session", number(rustix::process::getsid(Some(own)).map_err(Into::into)));
        add("group", number(rustix::process::getpgid(Some(own)).map_err(Into::into)));
        if let Some(other) = part::other() {
            add("other", text(other));
        }
        arguments
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // Its standard input ends, and it takes away what it made.
        drop(self.victim.stdin.take());
        let _ = self.victim.wait();
        // The kernel makes folders in a layer that nobody may enter.
        open_up(&self.folders.at("layers"));
    }
}

fn folder_in(place: &Path) -> TempDir {
    let folder = tempfile::Builder::new().prefix("metier-escape-").tempdir_in(place).expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open it");
    folder
}

fn make(folder: &Path) {
    fs::create_dir_all(folder).expect("make a folder");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("its mode");
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("write a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("its mode");
}

fn executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

/// Starts the victim and waits until it has everything.
fn victim(probe: &Path, folder: &Path, key: u32) -> Child {
    let mut command = Command::new(probe);
    command.args(["victim", "--key", &key.to_string(), "--queue", &format!("/metier-{key}")]);
    command.env("VICTIM_CANARY", CANARY).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut victim = command.spawn().expect("start the victim");
    let mut line = String::new();
    let stdout = victim.stdout.take().expect("it was piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("the victim speaks");
    assert_eq!(line, "ready\n", "the kernel lacks something that the victim needs");
    victim
}

/// Opens folders again that an attack has closed.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o777));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// Leaves a file, a folder and a socket with a file in it open, for children too.
fn leave_open(outside: &Path) -> Vec<OwnedFd> {
    let canary = outside.join("canary");
    let file = rustix::fs::open(&canary, OFlags::RDONLY, Mode::empty()).expect("open the canary");
    let folder =
        rustix::fs::open(outside, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).expect("open it");
    let (near, far) = std::os::unix::net::UnixStream::pair().expect("a pair");
    pass(&near, &canary).expect("put a file into the socket");
    // A copy has not the flag that closes it in children.
    let far = rustix::io::dup(&far).expect("a copy");
    vec![file, folder, far, near.into()]
}

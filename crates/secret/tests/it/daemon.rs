//! Secrets in a real keyring: `gnome-keyring-daemon` on a bus of its own, with a home of its own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use metier_secret::{KeyringError, Owner, Place, Removed, Secret, Vault, Was};
use metier_testkit::Workspace;

use crate::vault::{name, secret, values};

/// A bus and perhaps a keyring, which end with it.
struct Desktop {
    workspace: Workspace,
    address: String,
    processes: Vec<Child>,
}

impl Desktop {
    /// A bus with nothing on it, or `None` where the programs are missing.
    fn start() -> Option<Self> {
        Self::of_user(rustix::process::geteuid().as_raw())
    }

    /// The same, run by this user.
    fn of_user(user: u32) -> Option<Self> {
        for program in ["dbus-daemon", "gnome-keyring-daemon"] {
            let found =
                Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if found.is_err() {
                metier_testkit::not_tried("keyring", format_args!("`{program}` is not installed"));
                return None;
            }
        }
        // No service can be started by itself: the machine's own keyring stays out of this.
        let workspace =
            Workspace::new().dir("home").dir("run").mode("run", 0o700).dir("bus").mode("bus", 0o777);
        let workspace = workspace.mode("", 0o755);
        let socket = workspace.join("bus/socket");
        let config = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \"busconfig.dtd\">\n\
             <busconfig><type>session</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            socket.display()
        );
        let workspace = workspace.file("bus.conf", config);
        let mut bus = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", workspace.join("bus.conf").display()))
            .args(["--nofork", "--print-address"])
            .uid(user)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Some(Self { workspace, address: address.trim().to_owned(), processes: vec![bus] })
    }

    /// Starts the keyring, unlocked by a password, or locked without one.
    fn keyring(&mut self, password: Option<&str>) {
        let mut keyring = Command::new("gnome-keyring-daemon")
            .args(["--foreground", "--components=secrets"])
            .args(password.map(|_| "--unlock"))
            .env_clear()
            .env("HOME", self.workspace.join("home"))
            .env("XDG_RUNTIME_DIR", self.workspace.join("run"))
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        keyring.stdin.take().unwrap().write_all(password.unwrap_or_default().as_bytes()).unwrap();
        self.processes.push(keyring);
        // It is there as soon as it has something to say.
        let deadline = Instant::now() + Duration::from_secs(20);
        while matches!(self.vault().place(), Place::File { keyring: None, .. }) {
            assert!(Instant::now() < deadline, "gnome-keyring-daemon did not come up");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop_keyring(&mut self) {
        let mut keyring = self.processes.pop().unwrap();
        keyring.kill().unwrap();
        keyring.wait().unwrap();
    }

    fn vault(&self) -> Vault {
        Vault::best(&self.workspace.join("secrets"), Some(&self.address))
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
fn a_real_keyring_keeps_replaces_lists_gives_and_forgets() {
    let Some(mut desktop) = Desktop::start() else { return };
    let owner = Owner::new("user", "deploy");
    let project = Owner::new("project", "deploy").within(desktop.workspace.join("ünï, \"côde\"").as_path());

    let before = desktop.vault();
    assert!(matches!(before.place(), Place::File { keyring: None, .. }), "{:?}", before.place());
    before.set(&owner, &name("OLD"), &secret("from the file"), "2026-01-01T00:00:00Z").unwrap();

    desktop.keyring(Some("password"));
    let vault = desktop.vault();
    assert_eq!(vault.place(), Place::Keyring);
    let set = |owner: &Owner, key: &str, value: &str, when: &str| {
        vault.set(owner, &name(key), &secret(value), when).unwrap()
    };
    let odd = "\"quotes\"\n\\ ünïcode\ttab\u{1}";
    assert_eq!(set(&owner, "KEY", "hunter22", "2026-01-02T00:00:00Z"), Was::New);
    assert_eq!(set(&owner, "KEY", "hunter23", "2026-01-03T00:00:00Z"), Was::Replaced);
    assert_eq!(set(&owner, "KEY", odd, "2026-01-03T00:00:00Z"), Was::Replaced);
    assert_eq!(
        set(&project, "KEY", &"x".repeat(metier_secret::MAX_SECRET), "2026-01-04T00:00:00Z"),
        Was::New
    );
    assert_eq!(values(&vault, &owner), [format!("KEY={odd}"), "OLD=from the file".to_owned()]);
    assert_eq!(values(&vault, &project), [format!("KEY={}", "x".repeat(metier_secret::MAX_SECRET))]);
    assert_eq!(values(&vault, &Owner::new("project", "deploy")), [""; 0]);

    let listed: Vec<_> = vault
        .list()
        .unwrap()
        .iter()
        .map(|kept| {
            format!("{} {} {} {}", kept.owner.skill(), kept.name, kept.set, kept.kept == Place::Keyring)
        })
        .collect();
    assert_eq!(
        listed,
        [
            "project:deploy KEY 2026-01-04T00:00:00Z true",
            "user:deploy KEY 2026-01-03T00:00:00Z true",
            "user:deploy OLD 2026-01-01T00:00:00Z false",
        ]
    );

    assert_eq!(set(&owner, "OLD", "moved over", "2026-01-05T00:00:00Z"), Was::Replaced);
    assert_eq!(values(&Vault::file(&desktop.workspace.join("secrets")), &owner), [""; 0]);
    assert_eq!(vault.remove(&owner, &name("OLD")).unwrap(), Removed::Yes);
    assert_eq!(vault.remove(&owner, &name("OLD")).unwrap(), Removed::NotThere);
    assert_eq!(values(&desktop.vault(), &owner), [format!("KEY={odd}")]);

    // Locked: the file, and the newer value of the two when it is unlocked again.
    desktop.stop_keyring();
    desktop.keyring(None);
    let locked = desktop.vault();
    let Place::File { keyring: Some(reason), .. } = locked.place() else { panic!("{:?}", locked.place()) };
    assert_eq!(reason, KeyringError::Locked);
    assert_eq!(values(&locked, &owner), [""; 0]);
    locked.set(&owner, &name("KEY"), &secret("set while locked"), "2026-02-01T00:00:00Z").unwrap();
    desktop.stop_keyring();
    desktop.keyring(Some("password"));
    assert_eq!(values(&desktop.vault(), &owner), ["KEY=set while locked"]);
    assert_eq!(desktop.vault().remove(&owner, &name("KEY")).unwrap(), Removed::Yes);
    assert_eq!(values(&desktop.vault(), &owner), [""; 0]);
}

#[test]
fn a_connection_that_broke_is_an_error_and_no_empty_answer() {
    let Some(mut desktop) = Desktop::start() else { return };
    desktop.keyring(Some("password"));
    let vault = desktop.vault();
    let owner = Owner::new("user", "deploy");
    vault.set(&owner, &name("KEY"), &Secret::new("hunter22".to_owned()).unwrap(), "now").unwrap();
    desktop.stop_keyring();
    for error in [vault.of(&owner).map(drop).unwrap_err(), vault.list().map(drop).unwrap_err()] {
        assert!(error.to_string().contains("no keyring answers"), "{error}");
    }
    assert!(matches!(desktop.vault().place(), Place::File { keyring: None, .. }));
}

#[test]
fn another_users_bus_gets_nothing() {
    if !rustix::process::geteuid().is_root() {
        metier_testkit::not_tried("root", "only root can run a bus as another user");
        return;
    }
    let Some(desktop) = Desktop::of_user(65_534) else { return };
    let place = desktop.vault().place();
    assert!(matches!(place, Place::File { keyring: Some(KeyringError::AnotherUser), .. }), "{place:?}");
}

//! One test as one user: this program, started again.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use metier_sandbox::Tier;
use tempfile::TempDir;

use crate::ground::CANARY;
use crate::suite::Way;
use crate::table::columns;
use crate::{controls, judge, probes, reach, suite};

/// Who attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Unprivileged,
}

impl User {
    fn of_this_process() -> Self {
        if rustix::process::geteuid().is_root() { Self::Root } else { Self::Unprivileged }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Unprivileged => "a user",
        }
    }
}

/// A test: what it shows, and what a part of it does. Each gives the problems it found.
struct Test {
    name: &'static str,
    run: fn(User) -> Vec<String>,
}

const TESTS: &[Test] = &[
    Test { name: "ends_mean_what_the_probe_meant", run: |_| judge::problems() },
    Test { name: "every_attack_works_where_nothing_stops_it", run: controls::run },
    Test {
        name: "nothing_gets_out_of_namespaces",
        run: |user| suite::run(Tier::Namespaces, Way::Kept, user),
    },
    Test {
        name: "nothing_gets_out_of_namespaces_once",
        run: |user| suite::run(Tier::Namespaces, Way::Once, user),
    },
    Test {
        name: "nothing_gets_out_of_bubblewrap",
        run: |user| suite::run(Tier::Bubblewrap, Way::Kept, user),
    },
    Test { name: "nothing_gets_out_of_landlock", run: |user| suite::run(Tier::Landlock, Way::Kept, user) },
    Test { name: "nobody_reaches_into_a_call", run: reach::run },
];

/// Says which test this process is a part of.
const PART: &str = "METIER_ESCAPE_PART";
/// Where the probe lies that this user can run.
const PROBE: &str = "METIER_ESCAPE_PROBE";
/// A file of another user's, made by root for a user who could not.
const OTHER: &str = "METIER_ESCAPE_OTHER";
/// The folder that a part makes its ground in.
const GROUND: &str = "METIER_ESCAPE_GROUND";
/// Runs only the attacks whose names hold this text, for whoever works on one of them.
const ONLY: &str = "METIER_ESCAPE_ONLY";

/// The file that totals are collected in.
const SUMMARY: &str = "METIER_ESCAPE_SUMMARY";

/// A user that no machine has, so that nothing of the machine is theirs.
const UNPRIVILEGED: u32 = 54_321;
/// Another one.
const SOMEBODY_ELSE: u32 = 54_322;

/// Where the probe lies.
pub(crate) fn probe() -> PathBuf {
    PathBuf::from(std::env::var_os(PROBE).expect("a part knows where the probe lies"))
}

/// A folder of this part's own, in a place that is neither the system's nor for temporary files.
pub(crate) fn ground() -> PathBuf {
    PathBuf::from(std::env::var_os(GROUND).expect("a part knows where its ground is"))
}

/// A file of another user's, if somebody could make one.
pub(crate) fn other() -> Option<PathBuf> {
    std::env::var_os(OTHER).map(PathBuf::from)
}

/// Adds a line to the totals of all parts.
pub(crate) fn add_to_summary(line: &str) {
    let path = std::env::var_os(SUMMARY).expect("a part knows where totals go");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("open the totals");
    file.write_all(line.as_bytes()).expect("write the totals");
}

/// Whether this attack is to be run.
pub(crate) fn wanted(name: &str) -> bool {
    std::env::var(ONLY).map_or(true, |only| name.contains(&only))
}

/// Runs the tests that the words ask for, as the usual runner would, or one part.
pub(crate) fn main() -> ExitCode {
    let passed = match std::env::var(PART) {
        Ok(name) => TESTS.iter().filter(|test| test.name == name).all(|test| {
            stand_alone();
            let problems = (test.run)(User::of_this_process());
            for problem in &problems {
                println!("problem: {problem}");
            }
            problems.is_empty()
        }),
        Err(_) => all(&std::env::args().skip(1).collect::<Vec<_>>()),
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Gives this part a session of its own: attacks on the caller's group then reach nobody but this test, and the leader
/// has a number here even where the one of the runner's session lives in another namespace.
fn stand_alone() {
    rustix::process::setsid().expect("a part is started by another process, so it leads no group yet");
    // An interrupt at the terminal no longer reaches it, so it ends with the runner that does hear it.
    let with_the_runner = rustix::process::Signal::KILL;
    rustix::process::set_parent_process_death_signal(Some(with_the_runner)).expect("end with the runner");
}

fn all(words: &[String]) -> bool {
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut chosen = TESTS.iter().filter(|test| {
        filters.is_empty() || filters.iter().any(|filter| test.name.contains(filter.as_str()))
    });
    if words.iter().any(|word| word == "--list") {
        chosen.for_each(|test| println!("{}: test", test.name));
        return true;
    }
    let Some(first) = chosen.next() else { return true };
    let place = Place::new();
    let mut passed = true;
    for test in std::iter::once(first).chain(chosen) {
        let users: &[User] = match User::of_this_process() {
            User::Root => &[User::Root, User::Unprivileged],
            User::Unprivileged => {
                println!("{}: not shown as root, because this user is not", test.name);
                &[User::Unprivileged]
            }
        };
        // Attacks measure time and memory of the machine, so there is one part at a time.
        for user in users {
            let started = Instant::now();
            let fine = place.start(test.name, *user);
            let (word, took) = (if fine { "ok" } else { "FAILED" }, started.elapsed().as_secs());
            println!("test {} as {} ... {word} ({took} s)", test.name, user.word());
            passed &= fine;
        }
    }
    println!("\n{}\n{}", columns(), place.summary());
    println!("known: as the documentation says. Of the controls, which nothing holds, `through` is the aim.");
    passed
}

/// A folder that every user can read, with copies of what a part needs: the folder of a build may be closed to them.
struct Place {
    folder: TempDir,
}

/// Runs what follows as a user without privileges. That user is in the groups that open something in `/etc` which is closed to
/// others, such as the passwords of the machine.
fn unprivileged() -> Command {
    let mut groups = std::collections::BTreeSet::new();
    for folder in ["/etc", "/etc/ssl"] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            let is_of_group = found.mode() & 0o005 == 0 && found.mode() & 0o050 != 0 && found.gid() != 0;
            groups.extend(is_of_group.then(|| found.gid().to_string()));
        }
    }
    let groups = match groups.into_iter().collect::<Vec<_>>().join(",") {
        none if none.is_empty() => "--clear-groups".to_owned(),
        groups => format!("--groups={groups}"),
    };
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={UNPRIVILEGED}"), format!("--regid={UNPRIVILEGED}"), groups]);
    command
}

impl Place {
    fn new() -> Self {
        // Folders for temporary files are others inside the sandbox, so nothing of the user's may lie there.
        let parent = match User::of_this_process() {
            User::Root => "/srv",
            User::Unprivileged => env!("CARGO_TARGET_TMPDIR"),
        };
        let folder = tempfile::Builder::new().prefix("metier-escape-").tempdir_in(parent).expect("a folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))
            .expect("open the folder");
        let own = std::env::current_exe().expect("a program knows its file");
        std::fs::copy(own, folder.path().join("escape")).expect("copy this program");
        std::fs::copy(probes::built(), folder.path().join("probe")).expect("copy the probe");
        std::fs::write(folder.path().join("stdin"), CANARY).expect("something on the standard input");
        let other = folder.path().join("other");
        std::fs::write(&other, CANARY).expect("a file of another user's");
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o600)).expect("close it");
        if User::of_this_process() == User::Root {
            chown(&other, Some(SOMEBODY_ELSE), Some(SOMEBODY_ELSE)).expect("give it away");
        }
        let summary = folder.path().join("summary");
        std::fs::write(&summary, "").expect("a file for totals");
        std::fs::set_permissions(&summary, std::fs::Permissions::from_mode(0o666)).expect("open it");
        Self { folder }
    }

    fn summary(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("summary")).expect("read the totals")
    }

    /// Starts the part and says whether it passed.
    fn start(&self, name: &str, user: User) -> bool {
        let at = |name: &str| self.folder.path().join(name);
        let mut command = match (User::of_this_process(), user) {
            (User::Root, User::Unprivileged) => unprivileged(),
            _ => Command::new("env"),
        };
        command.arg(at("escape"));
        let ground =
            tempfile::Builder::new().prefix("ground-").tempdir_in(self.folder.path()).expect("a folder");
        command.env(PART, name).env(PROBE, at("probe")).env(GROUND, ground.path());
        command.env(SUMMARY, at("summary"));
        if User::of_this_process() == User::Root {
            command.env(OTHER, at("other"));
            if user == User::Unprivileged {
                chown(ground.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).expect("give it the ground");
            }
        }
        // What a user's environment really holds.
        command
            .env("SECRET_CANARY", CANARY)
            .env("AWS_SECRET_ACCESS_KEY", CANARY)
            .env("OPENAI_API_KEY", CANARY);
        command.env("SSH_AUTH_SOCK", "/nonexistent/agent").env("XDG_RUNTIME_DIR", "/nonexistent/run");
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus");
        command.env("LD_METIER_CANARY", "1").env("PYTHONPATH", "/nonexistent/python");
        command.current_dir("/").stdin(Stdio::from(std::fs::File::open(at("stdin")).expect("stdin")));
        command.status().expect("start the part").success()
    }
}

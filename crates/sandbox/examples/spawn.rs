//! What it costs to start a process contained: `sh -c true`, beside a bare start and beside bubblewrap with equal
//! rights, in turns. `cargo xtask bench spawn` runs this.
//!
//! Arguments: how many rounds, the release binary of metier, whose `exec` is measured as a whole process (or an empty word), and a folder for
//! the skill and the project. Not the system's temporary folder: no project lies there, and each call would have to show it
//! anew.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench: what fails ends it"
)]

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use metier_sandbox::{
    Choice, Command, DataFolder, LayerMount, Profile, Project, ProjectAccess, Sandbox, Setup, Tier, helper,
};

/// How long nothing happens before a call that is not one of a row: long enough for the next one to be made ready.
const PAUSE: Duration = Duration::from_millis(6);

/// How many calls are a row.
const ROW: u32 = 10;

fn main() {
    helper(std::env::args_os());
    let mut arguments = std::env::args_os().skip(1);
    let rounds: u32 = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(500);
    let metier = arguments.next().map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    let place = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    std::fs::create_dir_all(&place).unwrap();
    let place = tempfile::tempdir_in(place).unwrap();
    let scene = Scene::new(&place.path().canonicalize().unwrap());
    let mut setup = Setup::new(std::env::temp_dir());
    setup.choice = Choice::Only(Tier::Namespaces);
    let sandbox = Sandbox::new(setup);
    let mut figures = Figures::default();
    for round in 0..rounds {
        sleep(PAUSE);
        figures.bare.push(time(|| run(&mut scene.bare())));
        sleep(PAUSE);
        figures.contained.push(time(|| scene.contained(&sandbox)));
        let layer = scene.layer();
        sleep(PAUSE);
        figures.layered.push(time(|| scene.layered(&sandbox, &layer)));
        remove(&layer);
        sleep(PAUSE);
        figures.bubblewrap.push(time(|| run(&mut scene.bubblewrap())));
        if let Some(metier) = &metier {
            sleep(PAUSE);
            figures.exec.push(time(|| run(&mut scene.exec(metier))));
        }
        if round % ROW == 0 {
            sleep(PAUSE);
            for _ in 0..ROW {
                figures.bare_row.push(time(|| run(&mut scene.bare())));
            }
            sleep(PAUSE);
            for _ in 0..ROW {
                figures.contained_row.push(time(|| scene.contained(&sandbox)));
            }
            let layers: Vec<_> = (0..ROW).map(|_| scene.layer()).collect();
            sleep(PAUSE);
            for layer in &layers {
                figures.layered_row.push(time(|| scene.layered(&sandbox, layer)));
            }
            layers.iter().for_each(remove);
        }
    }
    figures.print();
}

/// The folders of a skill, and the same start in every way.
struct Scene {
    profile: Profile,
    /// The same with a project that each call has a layer for.
    layered: Profile,
    layers: Cell<u32>,
    root: PathBuf,
}

impl Scene {
    fn new(root: &Path) -> Self {
        // With a mark of its own, or the project would be the repository in which this lies.
        for folder in ["roots/spawn/scripts", "project/.git", "data", "home"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let skill = root.join("roots/spawn");
        std::fs::write(skill.join("SKILL.md"), "---\nname: spawn\ndescription: Starts.\n---\nx\n").unwrap();
        let script = skill.join("scripts/true");
        std::fs::write(&script, "#!/bin/sh\ntrue\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut profile = Profile::new(skill);
        profile.project = Some(Project {
            access: ProjectAccess::ReadOnly,
            folder: root.join("project"),
            writable: vec![],
            masked: vec![],
            protected: vec![],
        });
        profile.data = vec![DataFolder::new(root.join("data"))];
        profile.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let mut layered = profile.clone();
        if let Some(project) = &mut layered.project {
            project.access = ProjectAccess::Layered;
        }
        Self { profile, layered, layers: Cell::new(0), root: root.to_owned() }
    }

    fn bare(&self) -> Process {
        let mut process = Process::new("/bin/sh");
        process.args(["-c", "true"]).current_dir(&self.profile.working_directory);
        process
    }

    fn contained(&self, sandbox: &Sandbox) {
        let command = Command::new("/bin/sh").arguments(["-c", "true"]);
        assert!(sandbox.run(&self.profile, &command).unwrap().succeeded());
    }

    /// A fresh layer, which a caller makes while the next call is made ready.
    fn layer(&self) -> LayerMount {
        self.layers.set(self.layers.get() + 1);
        let folder = self.root.join(format!("layers/{}", self.layers.get()));
        let [upper, work] = ["upper", "work"].map(|name| folder.join(name));
        for folder in [&upper, &work] {
            std::fs::create_dir_all(folder).unwrap();
        }
        LayerMount { at: self.root.join("project"), above: vec![], upper, work }
    }

    fn layered(&self, sandbox: &Sandbox, layer: &LayerMount) {
        let command = Command::new("/bin/sh").arguments(["-c", "true"]).layer(layer.clone());
        assert!(sandbox.run(&self.layered, &command).unwrap().succeeded());
    }

    fn bubblewrap(&self) -> Process {
        let mut process = Process::new("bwrap");
        process
            .args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"])
            .args(["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--ro-bind", "/opt", "/opt"])
            .args(["--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"])
            .args(["--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin"])
            .args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
        for (word, folder) in [("--ro-bind", "roots/spawn"), ("--ro-bind", "project"), ("--bind", "data")] {
            process.arg(word).arg(self.root.join(folder)).arg(self.root.join(folder));
        }
        process.arg("--chdir").arg(&self.profile.working_directory).args(["--", "/bin/sh", "-c", "true"]);
        process
    }

    fn exec(&self, metier: &Path) -> Process {
        let mut process = Process::new(metier);
        process
            .arg("--root")
            .arg(self.root.join("roots"))
            .args(["exec", "spawn", "true"])
            .env("METIER_HOME", self.root.join("home"))
            .current_dir(self.root.join("project"));
        process
    }
}

/// Removes an empty layer, as a session does after each call. Folders that pile up would make the next ones slower: a new
/// folder is made in another part of the disk as long as old ones keep theirs.
fn remove(layer: &LayerMount) {
    std::fs::remove_dir_all(layer.upper.parent().unwrap()).unwrap();
}

fn run(process: &mut Process) {
    let output = process.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{process:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn time(what: impl FnOnce()) -> Duration {
    let began = Instant::now();
    what();
    began.elapsed()
}

#[derive(Default)]
struct Figures {
    bare: Vec<Duration>,
    contained: Vec<Duration>,
    layered: Vec<Duration>,
    layered_row: Vec<Duration>,
    bubblewrap: Vec<Duration>,
    exec: Vec<Duration>,
    bare_row: Vec<Duration>,
    contained_row: Vec<Duration>,
}

impl Figures {
    fn print(&mut self) {
        let [layered, layered_row] = [&mut self.layered, &mut self.layered_row].map(|times| median(times));
        let [bare, contained, bubblewrap, bare_row, contained_row] = [
            &mut self.bare,
            &mut self.contained,
            &mut self.bubblewrap,
            &mut self.bare_row,
            &mut self.contained_row,
        ]
        .map(|times| median(times));
        println!("spawn: `sh -c true`, medians of {} rounds in turns", self.bare.len());
        println!("  bare                                 {bare:>8.0} µs");
        println!(
            "  bubblewrap, equal rights             {bubblewrap:>8.0} µs  {:.2} of bare",
            bubblewrap / bare
        );
        println!(
            "  contained, long-running process      {contained:>8.0} µs  {:.2} of bare (limit 2.30)  {:.2} of bubblewrap (limit 0.55)",
            contained / bare,
            contained / bubblewrap
        );
        println!(
            "  contained, one after another         {contained_row:>8.0} µs  {:.2} of bare in a row (limit 3.00)",
            contained_row / bare_row
        );
        println!(
            "  contained, project in a layer        {layered:>8.0} µs  {:.2} of contained (limit 1.30)",
            layered / contained
        );
        println!(
            "  the same, one after another          {layered_row:>8.0} µs  {:.2} of contained in a row",
            layered_row / contained_row
        );
        if !self.exec.is_empty() {
            let exec = median(&mut self.exec);
            println!(
                "  metier exec, from the shell          {exec:>8.0} µs  {:.2} of bare (limit 3.30)  {:.2} of bubblewrap (limit 0.80)",
                exec / bare,
                exec / bubblewrap
            );
        }
    }
}

/// The median, in microseconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e6
}

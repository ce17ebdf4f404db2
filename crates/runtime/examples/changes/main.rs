//! What it costs that calls write to a layer above the project, each figure beside the same without: `cargo xtask bench
//! changes` runs this.
//!
//! - a call that writes nothing, beside one that sees the project read-only: in a program that runs for a while, one after
//!   another, and in a process of its own, as `exec`;
//! - commands that write and read, beside the bare command, through a session and through the release binary's `exec`; what they
//!   change is scanned, decided and applied within the time.
//!
//! Arguments: how many rounds, the release binary of metier, and a folder on a disk for projects and layers. With `once`, a place
//! and `layered` or `read-only` it makes one call and ends.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench: what fails ends it"
)]

mod figures;
mod scene;
mod task;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use metier_runtime::{SkillSession, Skills};
use metier_sandbox::{Expecting, Sandbox, Setup};

use self::figures::{Times, print_limit, time};
use self::scene::{Access, Scene, run_script};
use self::task::{TASKS, Task};

/// How long nothing happens before a call that is not one of a row: long enough for the next one to be made ready.
const PAUSE: Duration = Duration::from_millis(6);

/// How many calls are a row.
const ROW: u32 = 10;

/// Starts are short and noisy, so a round of them is many.
const STARTS_A_ROUND: u32 = 10;

/// What a call that writes nothing may cost, beside one that sees the project read-only.
const NOTHING: f64 = 1.3;

fn main() {
    metier_runtime::begin(std::env::args_os());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, place, access] = arguments.as_slice()
        && word == "once"
    {
        return once(Path::new(place), Access::named(access));
    }
    let mut arguments = arguments.into_iter();
    let rounds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(15);
    let metier = arguments.next().map(PathBuf::from);
    let place = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let place = place.join(std::process::id().to_string());
    std::fs::create_dir_all(&place).unwrap();
    let place = place.canonicalize().unwrap();
    nothing(&place.join("nothing"), metier.as_deref(), rounds * STARTS_A_ROUND);
    for task in TASKS {
        measure(task, &place.join(task.name), metier.as_deref(), rounds);
    }
    remove(&place);
}

/// Removes a folder; the overlay leaves folders that even their owner has to open first.
fn remove(place: &Path) {
    let opened = Command::new("chmod").args(["-R", "u+rwX"]).arg(place).status().unwrap();
    assert!(opened.success());
    std::fs::remove_dir_all(place).unwrap();
}

/// Moves away what a round made, to a folder beside it. It is removed at the end of everything: ext4 gives an inode to a new file
/// only some time after its last file was deleted, so that deleting thousands of files between two rounds slows the second one.
fn set_aside(path: &Path) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let aside = path.ancestors().nth(2).unwrap().join("aside");
    std::fs::create_dir_all(&aside).unwrap();
    std::fs::rename(path, aside.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string())).unwrap();
}

/// One call in a process that expects no other, begun as early as `exec` begins it.
fn once(place: &Path, access: Access) {
    let mut setup = Setup::new(std::env::temp_dir());
    setup.expecting = Expecting::One;
    let sandbox = Sandbox::new(setup);
    // Before the first thread of this process.
    sandbox.get_ready();
    let skills = Scene::at(place).skills(access).sandbox(sandbox).open();
    run_script(&mut skills.session());
}

/// A call that writes nothing.
fn nothing(place: &Path, metier: Option<&Path>, rounds: u32) {
    let scene = Scene::new(place, "true\n");
    let (read_only, layered) = (scene.skills(Access::ReadOnly).open(), scene.skills(Access::Layered).open());
    let mut sessions = [read_only.session(), layered.session()];
    let mut single = [Times::default(), Times::default()];
    let mut row = [Times::default(), Times::default()];
    let mut process = [Times::default(), Times::default()];
    let mut exec = Times::default();
    for round in 0..rounds {
        for (session, times) in sessions.iter_mut().zip(&mut single) {
            sleep(PAUSE);
            times.push(time(|| run_script(session)));
        }
        for (access, times) in [Access::ReadOnly, Access::Layered].into_iter().zip(&mut process) {
            sleep(PAUSE);
            times.push(time(|| finish(scene.once(access))));
        }
        if let Some(metier) = metier {
            sleep(PAUSE);
            exec.push(time(|| finish(scene.exec(metier))));
        }
        if round % ROW == 0 {
            for (session, times) in sessions.iter_mut().zip(&mut row) {
                sleep(PAUSE);
                (0..ROW).for_each(|_| times.push(time(|| run_script(session))));
            }
        }
    }
    println!("changes: a call that writes nothing, medians of {rounds} rounds in turns");
    for (name, times) in [
        ("in a session", &mut single),
        ("in a session, in a row", &mut row),
        ("in a process of its own", &mut process),
    ] {
        let [read_only, layered] = times.each_mut().map(Times::median);
        println!("  project read-only, {name:<27} {:>9.3} ms", read_only * 1e3);
        print_limit(&format!("project layered, {name}"), layered, read_only, "read-only", Some(NOTHING));
    }
    if metier.is_some() {
        println!("  metier exec, from the shell                    {:>9.3} ms", exec.median() * 1e3);
    }
}

/// A command in the project: bare, in a session, by the release binary.
fn measure(task: &Task, place: &Path, metier: Option<&Path>, rounds: u32) {
    let scene = Scene::new(place, task.script);
    (task.furnish)(&scene.project());
    scene.commit();
    let skills: Skills = scene.skills(Access::Layered).open();
    let (mut bare, mut session, mut exec) = (Times::default(), Times::default(), Times::default());
    let mut overlay = Times::default();
    println!("changes: {}, medians of {rounds} rounds in turns", task.title);
    if !can_run(&mut scene.bare()) {
        println!("  not measured: the bare command does not work here");
        return;
    }
    task.reset(&scene.project());
    for round in 0..rounds {
        task.run(&scene.project(), &mut bare, || finish(scene.bare()));
        if let Some((process, layer)) = scene.on_overlay() {
            sleep(PAUSE);
            overlay.push(time(|| finish(process)));
            set_aside(&layer);
        }
        // A session keeps what is not worth a question, such as a build: each round has its own.
        let mut own: SkillSession = skills.session().named(&format!("round-{round}"));
        task.run(&scene.project(), &mut session, || run_script(&mut own));
        if let Some(metier) = metier {
            task.run(&scene.project(), &mut exec, || finish(scene.exec(metier)));
        }
    }
    let bare = bare.median();
    println!("  bare                                           {:>9.3} ms", bare * 1e3);
    if !overlay.is_empty() {
        print_limit("on an overlay, without metier", overlay.median(), bare, "bare", None);
    }
    print_limit("in a session", session.median(), bare, "bare", task.limit);
    if metier.is_some() {
        print_limit("metier exec, from the shell", exec.median(), bare, "bare", task.limit);
    }
}

fn can_run(process: &mut Command) -> bool {
    process.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

fn finish(mut process: Command) {
    let output = process.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{process:?}: {}", String::from_utf8_lossy(&output.stderr));
}

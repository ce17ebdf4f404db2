//! Applying is killed at random moments, and so is the recovery from it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use metier_changes::{CallOrigin, LayerState, LayerStore, apply, scan, undo};
use metier_testkit::Workspace;

use crate::support::{all, put, spawn, tree, wait_for_tick, whiteout};

/// Where the child process finds its work. Only these tests read it.
const GROUND: &str = "METIER_CHANGES_KILLED_GROUND";
/// What it does there.
const DEED: &str = "METIER_CHANGES_KILLED_DEED";
/// What it says when it begins.
const BEGIN: &str = "the work begins";

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// A project with files that are changed and deleted, and a data folder.
struct Ground {
    root: PathBuf,
    /// Holds the project where that is not in memory; there is a link to it.
    _workspace: Option<Workspace>,
}

/// Where the project of a [`Ground`] is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In memory like its layers: syncing a disk takes longer than applying, and most kills would meet nothing else.
    Memory,
    /// On the disk, so that everything is copied to a stage.
    Disk,
}

impl Ground {
    /// `None` where there is no memory to put it in.
    fn new(place: Place) -> Option<Self> {
        let word = if place == Place::Memory { "memory" } else { "disk" };
        let root = PathBuf::from(format!("/dev/shm/metier-killed-{word}-{}", std::process::id()));
        if fs::create_dir(&root).is_err() {
            metier_testkit::not_tried("second-file-system", "there is no /dev/shm");
            return None;
        }
        if place == Place::Memory {
            fs::create_dir(root.join("place")).unwrap();
            return Some(Self { root, _workspace: None });
        }
        // The file is in the way of a folder for layers beside the project.
        let workspace = Workspace::new().file(".metier-layers", "");
        symlink(workspace.path(), root.join("place")).unwrap();
        Some(Self { root, _workspace: Some(workspace) })
    }

    fn store(&self) -> LayerStore {
        store(&self.root)
    }

    fn project(&self) -> PathBuf {
        project(&self.root)
    }

    /// The project as it was, and a layer with changes of every kind.
    fn reset(&self) {
        let project = fs::canonicalize(self.root.join("place")).unwrap().join("project");
        for folder in [&project, &self.root.join("data")] {
            let _ = fs::remove_dir_all(folder);
            fs::create_dir(folder).unwrap();
        }
        for number in 0..30 {
            put(&project.join(format!("change/{number}")), "old");
            put(&project.join(format!("delete/{number}")), "old");
            put(&project.join(format!("folder/{number}/inner")), "old");
        }
        wait_for_tick(&self.root);
        let layer = self.store().create(&project, CallOrigin::default()).unwrap();
        let upper = layer.upper();
        for folder in ["delete", "folder"] {
            fs::create_dir(upper.join(folder)).unwrap();
        }
        for number in 0..30 {
            put(&upper.join(format!("change/{number}")), "new content");
            put(&upper.join(format!("new/{number}/inner")), "new");
            put(&upper.join(format!("change/new-{number}")), "new");
            whiteout(&upper.join(format!("delete/{number}")));
            whiteout(&upper.join(format!("folder/{number}")));
        }
    }

    /// Starts a process that does something to the project, and waits until it begins.
    fn start(&self, deed: &str) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "killed::child", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env(GROUND, &self.root).env(DEED, deed);
        let mut child = spawn(&mut command).unwrap();
        // Its standard output is the test harness's own, and fits into the pipe.
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut all) = (String::new(), String::new());
        while !line.contains(BEGIN) {
            line.clear();
            assert!(messages.read_line(&mut line).unwrap() > 0, "the child process did not begin: {all}");
            all.push_str(&line);
        }
        child.stderr = Some(messages.into_inner());
        child
    }

    /// How long the process takes from its beginning, uninterrupted.
    fn time(&self, deed: &str) -> Duration {
        let child = self.start(deed);
        let began = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{deed}: {}", String::from_utf8_lossy(&output.stdout));
        began.elapsed()
    }

    /// Starts a process and kills it some time after it began.
    fn kill(&self, deed: &str, after: Duration) {
        let mut child = self.start(deed);
        let until = Instant::now() + after;
        // Not by sleeping: the whole work takes a few milliseconds.
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn state(&self) -> LayerState {
        self.store().list(None)[0].state
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn project(root: &Path) -> PathBuf {
    fs::canonicalize(root.join("place/project")).unwrap()
}

fn store(root: &Path) -> LayerStore {
    LayerStore::new(&root.join("data"))
}

/// The process that is killed.
#[test]
#[ignore = "started by the other tests of this file"]
fn child() {
    let Some(root) = std::env::var_os(GROUND).map(PathBuf::from) else { return };
    let store = store(&root);
    let project = project(&root);
    let id = store.list(None)[0].id.clone();
    let begin = || eprintln!("{BEGIN}");
    match std::env::var(DEED).unwrap().as_str() {
        "apply" => {
            let layer = store.open(&id).unwrap();
            let changes = scan(&layer).unwrap();
            begin();
            apply(&layer, &changes, &all(&changes)).unwrap();
        }
        "undo" => {
            let layer = store.open(&id).unwrap();
            begin();
            undo(&layer).unwrap();
        }
        "recover" => {
            begin();
            store.recover(&project).unwrap();
        }
        other => panic!("{other}"),
    }
}

#[test]
fn killed_at_any_moment_the_project_is_old_or_new() {
    kill_often(Place::Memory, 200);
}

#[test]
fn killed_at_any_moment_nothing_of_a_stage_stays_in_the_project() {
    // Fewer: each syncs the disk several times. A unit test stops at every step.
    kill_often(Place::Disk, 20);
}

/// Kills as many processes that apply or undo, recovers, and looks at the project.
fn kill_often(place: Place, moments: u32) {
    let seed: u64 = 0x6d65_7469_6572;
    let mut random = Random(seed);
    let Some(ground) = Ground::new(place) else { return };
    ground.reset();
    let old = tree(&ground.project());
    let apply_time = ground.time("apply");
    let new = tree(&ground.project());
    let undo_time = ground.time("undo");
    assert_eq!(tree(&ground.project()), old);
    let mut outcomes = BTreeSet::new();
    let mut interrupted = 0;
    for moment in 0..moments {
        let deed = if moment % 4 == 3 { "undo" } else { "apply" };
        ground.reset();
        let mut pick = |time: Duration| {
            // A little more than the whole, so that the end is met too.
            let limit = u64::try_from(time.as_nanos()).unwrap() * 11 / 10;
            Duration::from_nanos(random.below(limit))
        };
        if deed == "undo" {
            ground.time("apply");
        }
        ground.kill(deed, pick(if deed == "undo" { undo_time } else { apply_time }));
        interrupted += u32::from(ground.state() == LayerState::Applying);
        // The recovery is killed too, twice at most.
        for _ in 0..moment % 3 {
            ground.kill("recover", pick(apply_time));
        }
        ground.store().recover(&ground.project()).unwrap();
        let (now, state) = (tree(&ground.project()), ground.state());
        let expected = match state {
            LayerState::Applied => &new,
            LayerState::Pending | LayerState::Undone | LayerState::TakenBack => &old,
            other => panic!("moment {moment} of seed {seed}: {deed} left it {}", other.word()),
        };
        assert!(
            &now == expected,
            "moment {moment} of seed {seed}: {deed} left a mixed tree, said {}",
            state.word()
        );
        outcomes.insert((deed, state.word()));
    }
    eprintln!(
        "seed {seed}: {moments} kills, {interrupted} within a journal; apply {apply_time:?}, undo {undo_time:?}; {outcomes:?}"
    );
    // Kills that all came too early or too late would show nothing.
    assert!(place == Place::Disk || (interrupted > 0 && outcomes.len() > 1), "{interrupted} {outcomes:?}");
}

//! `metier` is killed while it applies, undoes or recovers: the project is completely old or completely new.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use metier_testkit::Workspace;
use serde_json::Value;

use crate::binary::{command, metier};
use crate::change_tree::{Tree, difference, tree};
use crate::seeded_random::SeededRandom;

/// Creates, changes, deletes, renames and gives permissions, some hundreds of each together.
const WORK: &str = "cd \"$PROJECT_DIR\"; umask 022
for i in $(seq 60); do echo new > change/$i; mkdir new/$i 2> /dev/null || mkdir -p new/$i; echo new > new/$i/f; done
for i in $(seq 60); do mv rename/$i rename/to-$i; done; chmod 600 mode/*
rm -f delete/*; rm -rf folder; echo file > folder; rm was-file; mkdir was-file; echo in > was-file/in; ln -s change link
";

/// A project in memory where that is possible: the sync of a busy disk takes longer than everything else, and most kills would
/// meet nothing but it.
struct Ground {
    workspace: Workspace,
    memory: Option<PathBuf>,
    /// How often a command found an apply or an undo between its first step and its last.
    unfinished: Cell<usize>,
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            let _ = fs::remove_dir_all(memory);
        }
    }
}

impl Ground {
    fn new() -> Self {
        let workspace = Workspace::new()
            .file("home/.agents/skills/lab/SKILL.md", "---\nname: lab\ndescription: Works.\n---\nRun it.\n")
            .file("home/.agents/skills/lab/scripts/work.sh", WORK)
            .file("home/.config/metier/config.toml", "bundled = false\n");
        let name = workspace.path().file_name().unwrap().to_owned();
        let memory = PathBuf::from("/dev/shm").join(name);
        let memory = fs::create_dir_all(memory.join("project")).is_ok().then_some(memory);
        match &memory {
            Some(memory) => symlink(memory.join("project"), workspace.join("project")).unwrap(),
            None => fs::create_dir(workspace.join("project")).unwrap(),
        }
        let project = workspace.join("project");
        for folder in ["change", "rename", "mode", "delete", "folder"] {
            fs::create_dir(project.join(folder)).unwrap();
            for number in 1..=60 {
                fs::write(project.join(folder).join(number.to_string()), format!("old {folder} {number}\n"))
                    .unwrap();
            }
        }
        fs::write(project.join("was-file"), "old\n").unwrap();
        Self { workspace, memory, unfinished: Cell::new(0) }
    }

    fn tree(&self) -> Tree {
        tree(&self.workspace.join("project"))
    }

    /// Runs a command to its end; how long it took.
    fn run(&self, args: &[&str]) -> Duration {
        let begin = Instant::now();
        let run = metier(&self.workspace, args);
        assert_eq!(run.code, 0, "{args:?}: {}{}", run.stdout, run.stderr);
        begin.elapsed()
    }

    /// Starts a command and kills it after a time.
    fn kill(&self, args: &[&str], after: Duration) {
        let mut command = command(&self.workspace, args);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Not a wait for something to happen: the moment itself is what is tried.
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What `metier changes` says of the sets, the youngest first: the next command after a kill.
    fn states(&self) -> Vec<(String, String)> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let run = metier(&self.workspace, &["changes", "--json"]);
            assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
            let is_unfinished =
                run.stderr.contains("which was interrupted") || run.stderr.contains("were taken back");
            self.unfinished.set(self.unfinished.get() + usize::from(is_unfinished));
            let text = |set: &Value, field: &str| set[field].as_str().unwrap_or_default().to_owned();
            let sets = run.json()["changes"].as_array().cloned().unwrap_or_default();
            let states: Vec<_> = sets.iter().map(|set| (text(set, "id"), text(set, "state"))).collect();
            // The processes of a call end with the one that was killed, and hold its layer until then.
            if !states.iter().any(|(_, state)| state == "running" || state == "applying") {
                return states;
            }
            assert!(Instant::now() < deadline, "{states:?}");
        }
    }

    /// Whether the project is new; it has to be what `metier changes` says of the set, and nothing between.
    fn is_new(&self, id: &str, old: &Tree, new: &Tree, why: &str) -> bool {
        let states = self.states();
        let state = states.iter().find(|(set, _)| set == id).map(|(_, state)| state.as_str());
        let is_new = match state {
            Some("applied") => true,
            Some("pending" | "undone" | "taken-back") => false,
            other => panic!("{why}: the set is {other:?}"),
        };
        let (expected, found) = (if is_new { new } else { old }, self.tree());
        assert!(expected == &found, "{why}, {state:?}: {}", difference(expected, &found));
        is_new
    }
}

/// A moment of a work that takes so long, a little after its end at most.
fn moment(random: &mut SeededRandom, length: Duration) -> Duration {
    length.mul_f64(1.05).mul_f64(f64::from(u32::try_from(random.below(10_000)).unwrap_or(0)) / 10_000.0)
}

#[test]
fn applying_undoing_and_recovering_are_all_or_nothing() {
    let mut random = SeededRandom::from_environment("kills of `changes apply`");
    let ground = Ground::new();
    let old = ground.tree();
    let run = metier(&ground.workspace, &["exec", "lab", "work.sh", "--json"]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    let id = run.json()["changes"]["id"].as_str().unwrap().to_owned();
    let (apply, undo) = (["changes", "apply", &id, "--yes"], ["changes", "undo", &id]);
    // The longer of two: a machine that is busier later is slower still.
    let mut lengths = [Duration::ZERO; 3];
    let mut new = Tree::new();
    for _ in 0..2 {
        lengths[0] = lengths[0].max(ground.run(&apply));
        new = ground.tree();
        lengths[1] = lengths[1].max(ground.run(&undo));
        let found = ground.tree();
        assert!(found == old, "{}", difference(&old, &found));
        lengths[2] = lengths[2].max(ground.run(&["changes"]));
    }
    assert!(new.len() > 200 && new != old);
    eprintln!("apply takes {:?}, undo {:?}, a recovery at least {:?}", lengths[0], lengths[1], lengths[2]);
    let begin = Instant::now();
    let (mut undo_kills, mut recoveries, mut finished) = (0, 0, 0);
    let mut kill = |args: &[&str], length: Duration| {
        let after = moment(&mut random, length);
        ground.kill(args, after);
        // Some recoveries are killed as well, and finished by the next.
        while random.below(4) == 0 {
            ground.kill(&["changes"], moment(&mut random, lengths[2]));
            recoveries += 1;
        }
        ground.is_new(&id, &old, &new, &format!("{} killed after {after:?}", args[1]))
    };
    let mut is_new = false;
    let mut length = lengths[0];
    for round in 0..400 {
        if round >= 200 {
            if ground.unfinished.get() > 0 {
                break;
            }
            // A machine that became busier is slower than it was when it was measured, and all kills met the start of the program.
            length = length.mul_f64(1.05);
        }
        is_new = kill(&apply, length);
        if is_new {
            finished += 1;
            undo_kills += 1;
            is_new = kill(&undo, lengths[1]);
        }
        if is_new {
            ground.run(&undo);
            is_new = false;
        }
    }
    let unfinished = ground.unfinished.get();
    eprintln!(
        "at least 200 kills of apply, of which {finished} ended as new; {undo_kills} of undo, {recoveries} of recoveries; \
         {unfinished} met a project between old and new, in {:?}",
        begin.elapsed()
    );
    assert!(unfinished > 0, "no kill met the work itself");
    // Nothing is lost: what is there can be applied or undone.
    if !is_new {
        ground.run(&apply);
        assert!(ground.tree() == new);
    }
    ground.run(&undo);
    assert!(ground.tree() == old);
    ground.run(&apply);
    assert!(ground.tree() == new);
}

#[test]
fn a_call_that_applies_is_all_or_nothing() {
    let mut random = SeededRandom::from_environment("kills of `exec`");
    let ground = Ground::new();
    let old = ground.tree();
    let exec = ["exec", "lab", "work.sh", "--allow", "skill:lab/write:**"];
    let mut length = Duration::MAX;
    let mut new = Tree::new();
    for _ in 0..2 {
        length = length.min(ground.run(&exec));
        new = ground.tree();
        ground.run(&["changes", "undo"]);
        assert!(ground.tree() == old);
    }
    let mut counts = [0; 3];
    for number in 0..30 {
        let before = ground.states();
        let mut after = moment(&mut random, length);
        // Applying is short and comes last, so most moments are there.
        if number % 3 != 0 {
            after = length.mul_f64(0.85) + after.mul_f64(0.2);
        }
        ground.kill(&exec, after);
        let states = ground.states();
        let set = states.iter().find(|set| !before.iter().any(|(id, _)| *id == set.0));
        let found = ground.tree();
        match set.map(|(id, state)| (id, state.as_str())) {
            Some((id, "applied")) => {
                assert!(found == new, "after {after:?}: {}", difference(&new, &found));
                ground.run(&["changes", "undo", id]);
                counts[0] += 1;
            }
            // It was killed while it ran or before it applied: what it had written by then waits for a decision.
            Some((id, "pending")) => {
                assert!(found == old, "after {after:?}: {}", difference(&old, &found));
                ground.run(&["changes", "show", id]);
                ground.run(&["changes", "discard", id]);
                counts[1] += 1;
            }
            None => {
                assert!(found == old, "after {after:?}: {}", difference(&old, &found));
                counts[2] += 1;
            }
            other => panic!("after {after:?}: {other:?}"),
        }
        let found = ground.tree();
        assert!(found == old, "after {after:?}: {}", difference(&old, &found));
    }
    eprintln!(
        "of 30 kills in {length:?}: {} applied, {} pending, {} before any change",
        counts[0], counts[1], counts[2]
    );
}

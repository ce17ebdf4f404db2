//! M5: What was approved or trusted is what runs, however fast the files change.

use crate::binary::{metier, workspace};
use crate::typist::Typist;
use metier_testkit::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const NEEDS: &str = "---\nname: lab\ndescription: Writes.\nmetadata:\n  metier:\n    needs:\n      hosts: [api.example.org]\n      write: [\"docs/**\"]\n---\nRun it.\n";

const GOOD: &str = "echo good >> \"$PROJECT_DIR/docs/seen\"; echo good\n";
const EVIL: &str = "echo evil >> \"$PROJECT_DIR/docs/seen\"; echo evil\n";

/// Puts one and the other of two files in the place of a third, as fast as it can, until it is dropped.
struct Flipping {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Flipping {
    fn begin(place: PathBuf, new: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let put = |text: &str| {
                std::fs::write(&new, text).unwrap();
                std::fs::rename(&new, &place).unwrap();
            };
            while !stopped.load(Ordering::Relaxed) {
                put(EVIL);
                put(GOOD);
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Flipping {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn seen(workspace: &Workspace) -> String {
    std::fs::read_to_string(workspace.join("project/docs/seen")).unwrap_or_default()
}

/// Starts the script so often while its file flips, and says how often the right bytes ran.
fn race(workspace: &Workspace, flips: &Path, starts: usize) -> usize {
    let flipping = Flipping::begin(workspace.join(flips), workspace.join("flip.new"));
    let mut good = 0;
    for _ in 0..starts {
        let run = metier(workspace, &["exec", "lab", "run.sh"]);
        assert!(!run.stdout.contains("evil"), "{}", run.stdout);
        good += usize::from(run.stdout.contains("good"));
    }
    drop(flipping);
    good
}

/// A user who said "always" to the good version.
fn approved(workspace: &Workspace) {
    let mut typist = Typist::at(workspace, &["exec", "lab", "run.sh"]);
    typist.wait_for("[n]o > ");
    typist.types("a\n");
    assert!(typist.ends().success());
    assert_eq!(seen(workspace), "good\n");
}

#[test]
fn m5_an_approval_runs_the_bytes_it_was_given_for() {
    let workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", NEEDS)
        .file("home/.agents/skills/lab/scripts/run.sh", GOOD)
        .dir("project/docs");
    approved(&workspace);
    let good = race(&workspace, Path::new("home/.agents/skills/lab/scripts/run.sh"), 60);
    assert!(good > 0, "the approval never held");
    assert!(!seen(&workspace).contains("evil"));
}

#[test]
fn m5_an_approval_covers_what_the_script_reads_beside_it() {
    let workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", NEEDS)
        .file("home/.agents/skills/lab/scripts/run.sh", ". \"$SKILL_DIR/lib/helper.sh\"\n")
        .file("home/.agents/skills/lab/lib/helper.sh", GOOD)
        .dir("project/docs");
    approved(&workspace);
    race(&workspace, Path::new("home/.agents/skills/lab/lib/helper.sh"), 60);
    assert!(!seen(&workspace).contains("evil"));
}

#[test]
fn m5_trust_in_a_project_holds_for_the_scripts_that_were_trusted() {
    let workspace = workspace()
        .dir("project/.git")
        .dir("project/docs")
        .file("project/.agents/skills/lab/SKILL.md", "---\nname: lab\ndescription: Says.\n---\nRun it.\n")
        .file("project/.agents/skills/lab/scripts/run.sh", "echo good\n");
    let script = workspace.join("project/.agents/skills/lab/scripts/run.sh");
    std::fs::write(&script, GOOD).unwrap();
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let good = race(&workspace, Path::new("project/.agents/skills/lab/scripts/run.sh"), 60);
    assert!(good > 0, "trust never held");
}

/// In `strict` mode an answer is about a script without any needs.
#[test]
fn m5_an_answer_in_strict_mode_is_bound_as_well() {
    let workspace = workspace()
        .file("home/.config/metier/config.toml", "[gate]\nmode = \"strict\"\n")
        .file("home/.agents/skills/lab/SKILL.md", "---\nname: lab\ndescription: Says.\n---\nRun it.\n")
        .file("home/.agents/skills/lab/scripts/run.sh", "echo good\n")
        .dir("project/docs");
    let script = workspace.join("home/.agents/skills/lab/scripts/run.sh");
    std::fs::write(&script, "echo good; pwd; ls \"$SKILL_DIR\"\n").unwrap();
    let mut typist = Typist::at(&workspace, &["exec", "lab", "run.sh", "--in", "skill"]);
    typist.wait_for("[n]o > ");
    typist.types("a\n");
    assert!(typist.ends().success());
    // The skill is seen where it lies, and what lies there is metier's own copy.
    let run = metier(&workspace, &["exec", "lab", "run.sh", "--in", "skill"]);
    let folder = script.parent().and_then(Path::parent).unwrap();
    assert!(run.stdout.contains(&format!("good\n{}\n", folder.display())), "{}{}", run.stdout, run.stderr);
    let copies = workspace.join("home/.local/share/metier/copies");
    let boots: Vec<_> = std::fs::read_dir(copies).unwrap().flatten().collect();
    assert_eq!(std::fs::read_dir(boots[0].path()).unwrap().count(), 1);
}

/// A trusted skill with a link out of its folder runs from a copy as well.
#[test]
fn m5_a_link_out_of_a_trusted_skill_is_no_way_around_the_copy() {
    let skill = "project/.agents/skills/lab";
    let workspace = workspace()
        .dir("project/.git")
        .file("project/shared/text", "shared")
        .file(format!("{skill}/SKILL.md"), "---\nname: lab\ndescription: Waits.\n---\nRun it.\n")
        .file(format!("{skill}/scripts/run.sh"), "true\n")
        .symlink(format!("{skill}/lib"), "../../../shared");
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let script = workspace.join(skill).join("scripts/run.sh");
    // Bash reads its script as it goes, so a line that is added while it waits would run.
    let waits =
        "echo first\nwhile [ ! -e \"$SKILL_DATA/go\" ]; do sleep 0.05; done\ncat \"$SKILL_DIR/lib/text\"\n";
    std::fs::write(&script, waits).unwrap();
    assert_eq!(metier(&workspace, &["trust"]).code, 0);
    let mut child = crate::binary::command(&workspace, &["exec", "lab", "run.sh"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut output, &mut first).unwrap();
    assert_eq!(first, "first\n");
    std::fs::write(&script, format!("{waits}\necho INJECTED\n")).unwrap();
    // A file that appears in the project while it runs is not seen through the layer; the skill's own folder is shared.
    let data = workspace.join("home/.local/share/metier/skills");
    let found =
        std::process::Command::new("find").arg(data).args(["-type", "d", "-name", "lab*"]).output().unwrap();
    let own = String::from_utf8(found.stdout).unwrap();
    std::fs::write(std::path::Path::new(own.lines().next().unwrap()).join("go"), "").unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut output, &mut rest).unwrap();
    child.wait().unwrap();
    assert_eq!(rest, "shared");
}

//! The commands that are measured beside the bare command.

use std::path::Path;
use std::thread::sleep;

use crate::PAUSE;
use crate::figures::{Times, time};
use crate::set_aside;

/// A command, with what it needs in the project.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) script: &'static str,
    /// How many times as long as bare it may take.
    pub(crate) limit: Option<f64>,
    pub(crate) furnish: fn(&Path),
    /// What the command leaves in the project that has to be gone before it runs again.
    left: Option<&'static str>,
    /// Whether the project is as the command has to leave it. A wrong answer is never a fast one.
    check: fn(&Path),
}

pub(crate) const TASKS: &[Task] = &[
    Task {
        name: "create",
        title: "creating 1,000 files",
        script: "mkdir out\ni=0\nwhile [ $i -lt 1000 ]; do echo line $i > out/$i.txt; i=$((i+1)); done\n",
        limit: Some(1.6),
        furnish: |_| {},
        left: Some("out"),
        check: |project| assert_eq!(std::fs::read_dir(project.join("out")).unwrap().count(), FILES),
    },
    Task {
        name: "change",
        title: "changing 1,000 existing files",
        script: "i=0\nwhile [ $i -lt 1000 ]; do echo line >> files/$i.txt; i=$((i+1)); done\nwc -l < files/0.txt > lines\n",
        limit: Some(5.0),
        furnish: |project| {
            fill(&project.join("files"), FILES);
            std::fs::write(project.join("lines"), "").unwrap();
        },
        left: None,
        check: |project| {
            let text = std::fs::read_to_string(project.join("files/0.txt")).unwrap();
            let last = std::fs::read_to_string(project.join("files/999.txt")).unwrap();
            let noted = std::fs::read_to_string(project.join("lines")).unwrap();
            assert_eq!(noted.trim(), text.lines().count().to_string());
            assert_eq!(last.lines().count(), text.lines().count());
        },
    },
    Task {
        name: "status",
        title: "git status, 1,000 files",
        script: "git status --porcelain\n",
        limit: None,
        furnish: |project| fill(&project.join("files"), FILES),
        left: None,
        check: |_| {},
    },
    Task {
        name: "build",
        title: "cargo build of a small crate",
        script: "cargo build --offline --quiet\n",
        limit: None,
        furnish: |project| {
            let manifest =
                "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
            std::fs::write(project.join("Cargo.toml"), manifest).unwrap();
            std::fs::write(project.join(".gitignore"), "target\nCargo.lock\n").unwrap();
        },
        left: Some("target"),
        check: |_| {},
    },
    Task {
        name: "read",
        title: "reading 10,000 files",
        script: "find many -type f -exec cat {} + > /dev/null\n",
        limit: None,
        furnish: |project| (0..10).for_each(|number| fill(&project.join(format!("many/{number}")), FILES)),
        left: None,
        check: |_| {},
    },
];

const FILES: usize = 1000;

fn fill(folder: &Path, files: usize) {
    std::fs::create_dir_all(folder).unwrap();
    for number in 0..files {
        std::fs::write(folder.join(format!("{number}.txt")), "a line of a file\n".repeat(60)).unwrap();
    }
}

impl Task {
    /// Runs it once, timed, in a project as it was before.
    pub(crate) fn run(&self, project: &Path, times: &mut Times, run: impl FnOnce()) {
        sleep(PAUSE);
        times.push(time(run));
        (self.check)(project);
        self.reset(project);
    }

    pub(crate) fn reset(&self, project: &Path) {
        let left = self.left.map(|left| project.join(left));
        if let Some(left) = left.filter(|left| left.exists()) {
            set_aside(&left);
        }
    }
}

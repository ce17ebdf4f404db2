//! A skill with one script, a project for it, and the ways to run the script there.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use metier_catalog::CommandsStart;
use metier_exec::{DeclaredNeeds, SkillArguments};
use metier_runtime::{ScriptCall, SkillSession, Skills, SkillsBuilder};

/// What the rule of the bench allows: every path of the project that is not protected.
const RULE: &str = "skill:bench/write:**";

/// How a call sees the project.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    ReadOnly,
    Layered,
}

impl Access {
    const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Layered => "layered",
        }
    }

    pub(crate) fn named(word: &str) -> Self {
        if word == Self::Layered.word() { Self::Layered } else { Self::ReadOnly }
    }
}

pub(crate) struct Scene(PathBuf);

impl Scene {
    /// Makes the skill and an empty project.
    pub(crate) fn new(place: &Path, script: &str) -> Self {
        for folder in ["roots/bench/scripts", "project/src", "data", "home"] {
            std::fs::create_dir_all(place.join(folder)).unwrap();
        }
        let skill = place.join("roots/bench");
        std::fs::write(skill.join("SKILL.md"), "---\nname: bench\ndescription: Measures.\n---\nx\n").unwrap();
        let path = skill.join("scripts/task");
        std::fs::write(&path, format!("#!/bin/sh\nset -e\n{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(place.join("project/src/main.rs"), "fn main() {}\n").unwrap();
        let scene = Self(place.to_owned());
        // A mark of its own, or the project would be the repository in which this lies.
        scene.git(&["init", "--quiet"]);
        scene
    }

    /// One that is there already.
    pub(crate) fn at(place: &Path) -> Self {
        Self(place.to_owned())
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.0.join("project")
    }

    /// Lets git know all files of the project.
    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"];
        self.git(&[&author[..], &["commit", "--quiet", "--message", "x"]].concat());
    }

    fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        git.args(words).current_dir(self.project()).stdin(Stdio::null());
        assert!(git.status().unwrap().success(), "{git:?}");
    }

    /// The skill in this process.
    pub(crate) fn skills(&self, access: Access) -> SkillsBuilder {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut builder = Skills::builder()
            .root(self.0.join("roots"))
            .project(self.project())
            .data(self.0.join("data"))
            .search_path(path)
            .allow(RULE);
        if let Some(home) = std::env::home_dir() {
            builder = builder.home(home);
        }
        match access {
            Access::ReadOnly => builder.read_only(),
            Access::Layered => builder,
        }
    }

    pub(crate) fn bare(&self) -> Command {
        let mut process = Command::new(self.0.join("roots/bench/scripts/task"));
        process.current_dir(self.project());
        process
    }

    /// The same on an overlay that is mounted for it and never applied: what the kernel alone takes. Its layer has to be removed
    /// afterwards. `None` where no mount namespace can be had.
    pub(crate) fn on_overlay(&self) -> Option<(Command, PathBuf)> {
        let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        let unshare = || {
            let mut process = Command::new("unshare");
            process.arg("--mount").args((!root).then_some("--map-root-user")).stdin(Stdio::null());
            process
        };
        if !unshare().arg("true").output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        let layer = self.0.join("overlay");
        for folder in ["upper", "work"] {
            std::fs::create_dir_all(layer.join(folder)).unwrap();
        }
        let marks = if root { "" } else { ",userxattr" };
        let line = format!(
            "mount -t overlay overlay -o \"lowerdir=$1,upperdir=$2/upper,workdir=$2/work,volatile{marks}\" \"$1\" && cd \"$1\" && exec \"$3\""
        );
        let mut process = unshare();
        process.args(["sh", "-c", &line, "sh"]).arg(self.project()).arg(&layer);
        process.arg(self.0.join("roots/bench/scripts/task"));
        Some((process, layer))
    }

    /// The call in a process of its own: this program.
    pub(crate) fn once(&self, access: Access) -> Command {
        let mut process = Command::new(std::env::current_exe().unwrap());
        process.arg("once").arg(&self.0).arg(access.word());
        process
    }

    pub(crate) fn exec(&self, metier: &Path) -> Command {
        let mut process = Command::new(metier);
        process
            .arg("--root")
            .arg(self.0.join("roots"))
            .args(["exec", "bench", "task", "--allow", RULE])
            .env("METIER_HOME", self.0.join("home"))
            .current_dir(self.project());
        process
    }
}

pub(crate) fn run_script(session: &mut SkillSession) {
    let call = ScriptCall {
        skill: "bench",
        script: "task",
        arguments: SkillArguments::List(Vec::new()),
        given: DeclaredNeeds { hosts: &[], write: &[], env: &[] },
        time: None,
        start: Some(CommandsStart::Project),
    };
    let ran = session.run_script(&call).unwrap();
    assert!(ran.report.succeeded(), "{}", ran.text);
    let problem = ran.changes.as_ref().and_then(|changes| changes.problem.as_ref());
    assert_eq!(problem, None);
}

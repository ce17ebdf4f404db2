//! A skill's folder, a project and a data folder in a temporary place, and a sandbox to run things in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use metier_sandbox::{
    Choice, Command, DataFolder, Helper, Profile, Project, ProjectAccess, Report, Sandbox, Setup, Tier,
};
use tempfile::TempDir;

/// Folders as a call sees them, and what it may do.
pub(crate) struct Scene {
    folder: TempDir,
    pub(crate) profile: Profile,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("sandbox-test-").tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["skill", "project", "data"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        let mut profile = Profile::new(root.join("skill"));
        profile.project = Some(Project {
            access: ProjectAccess::ReadOnly,
            folder: root.join("project"),
            writable: vec![],
            masked: vec![],
            protected: vec![],
        });
        profile.data = vec![DataFolder::new(root.join("data"))];
        profile.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        profile.limits.time = Duration::from_secs(20);
        Self { folder, profile }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn project(&mut self) -> &mut Project {
        self.profile.project.as_mut().unwrap()
    }

    /// Runs a shell line by the strongest means.
    pub(crate) fn shell(&self, line: &str) -> Report {
        sandbox(Choice::Best).run(&self.profile, &sh(line)).unwrap()
    }
}

pub(crate) fn setup(choice: Choice) -> Setup {
    let mut setup = Setup::new(std::env::temp_dir());
    setup.helper = Helper::Program(helper());
    setup.choice = choice;
    setup.bubblewrap = Some(PathBuf::from("/usr/bin/bwrap")).filter(|path| path.exists());
    setup
}

pub(crate) fn helper() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_metier-sandbox-helper")).to_owned()
}

pub(crate) fn sandbox(choice: Choice) -> Sandbox {
    Sandbox::new(setup(choice))
}

pub(crate) fn sh(line: &str) -> Command {
    Command::new("/bin/sh").argument("-c").argument(line)
}

/// Every tier that this machine has, with what to run things by.
pub(crate) fn each_tier(mut check: impl FnMut(Tier, &Sandbox)) {
    for tier in Tier::ALL {
        if *tier == Tier::Bubblewrap && setup(Choice::Best).bubblewrap.is_none() {
            metier_testkit::not_tried("bubblewrap", "bubblewrap is not installed");
            continue;
        }
        check(*tier, &sandbox(Choice::Only(*tier)));
    }
}

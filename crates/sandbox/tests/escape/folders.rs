//! Where everything of a ground lies, and what the sandbox is told of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_sandbox::{Command, LayerMount, Limits, Network, Profile, Project as Shown, ProjectAccess};

use crate::suite::Grant;

/// Files of the project that look like secrets, and one that is the same file under another name.
pub(crate) const SECRETS: &[&str] = &[
    ".env",
    ".env.production",
    ".ENV",
    "packages/web/.env",
    "deploy/id_rsa",
    "deploy/server.pem",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
];

/// The second name of `.env`.
pub(crate) const SECOND_NAME: &str = "notes.txt";

/// Sockets in the project.
const SOCKETS: &[&str] = &["server.sock", "rights.sock"];

/// Places of the project that run or configure things later. Some are there, some are not.
const PROTECTED: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".bashrc",
    ".profile",
    ".mcp.json",
    ".vscode",
    ".claude",
    ".agents",
    "metier.toml",
];

/// The folders of one ground.
#[derive(Clone, Debug)]
pub(crate) struct Folders(PathBuf);

impl Folders {
    pub(crate) fn new(root: &Path) -> Self {
        Self(root.to_owned())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn probe(&self) -> PathBuf {
        self.at("skill/scripts/probe")
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.at("skill")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.at("project")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.at("data")
    }

    pub(crate) fn swapping(&self) -> PathBuf {
        self.at("project/swapping")
    }

    /// What of the project stays read-only when it can be written in place.
    pub(crate) fn protected(&self) -> Vec<PathBuf> {
        PROTECTED.iter().map(|name| self.project().join(name)).collect()
    }

    /// The command for a probe, with a layer of its own where that is granted.
    pub(crate) fn command(&self, grant: Grant, name: &str, arguments: &[String]) -> Command {
        let command = Command::new(self.probe()).argument(name).arguments(arguments);
        if grant != Grant::Layer {
            return command;
        }
        let layer =
            tempfile::Builder::new().prefix("layer-").tempdir_in(self.at("layers")).expect("a layer").keep();
        let [upper, work] = ["upper", "work"].map(|name| layer.join(name));
        for folder in [&upper, &work] {
            std::fs::create_dir(folder).expect("a folder of the layer");
        }
        let command = command.argument("--layer").argument(layer);
        command.layer(LayerMount { at: self.project(), above: Vec::new(), upper, work })
    }

    /// What the sandbox is told.
    pub(crate) fn profile(&self, grant: Grant, limits: Limits) -> Profile {
        let folder = self.project();
        let masked = SECRETS.iter().chain([&SECOND_NAME]).chain(SOCKETS);
        let shown = Shown {
            access: if grant == Grant::Layer { ProjectAccess::Layered } else { ProjectAccess::ReadOnly },
            writable: Vec::new(),
            masked: masked.map(|name| self.project().join(name)).collect(),
            protected: self.protected(),
            folder,
        };
        let variable = |name: &str, value: PathBuf| (OsString::from(name), value.into_os_string());
        Profile {
            project: Some(shown),
            environment: vec![
                variable("SKILL_DIR", self.skill()),
                variable("SKILL_DATA", self.data()),
                variable("PROJECT_DIR", self.project()),
                variable("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
                variable("LANG", "C.UTF-8".into()),
            ],
            data: vec![metier_sandbox::DataFolder::new(self.data())],
            network: if grant == Grant::Gateway { Network::Gateway } else { Network::None },
            limits,
            ..Profile::new(self.skill())
        }
    }
}

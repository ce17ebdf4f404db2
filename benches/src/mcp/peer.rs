//! Other servers of skills, each as its own documentation starts it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

/// Another server of skills.
pub(crate) struct Peer {
    pub(crate) package: &'static str,
    /// What has to be installed beside it, where the newest of that is none that it works with.
    beside: &'static [&'static str],
    program: &'static str,
    /// How it is told where the skills are.
    root: Root,
    reading: Reading,
}

enum Root {
    Argument,
    Flag(&'static str),
    Variable(&'static str),
}

/// How it gives the text of a skill.
enum Reading {
    /// By a tool for each skill, whose name ends with the skill's.
    OwnTool(&'static [(&'static str, &'static str)]),
    /// By one tool that takes the name.
    Named { tool: &'static str, field: &'static str },
}

pub(crate) const PEERS: &[Peer] = &[
    Peer {
        package: "skillz",
        beside: &[],
        program: "skillz",
        root: Root::Argument,
        reading: Reading::OwnTool(&[("task", "read it")]),
    },
    Peer {
        package: "agent-skills-mcp",
        beside: &[],
        program: "agent-skills-mcp",
        root: Root::Flag("--skill-folder"),
        reading: Reading::OwnTool(&[]),
    },
    Peer {
        package: "skillport-mcp",
        beside: &[],
        program: "skillport-mcp",
        root: Root::Variable("SKILLPORT_SKILLS_DIR"),
        reading: Reading::Named { tool: "load_skill", field: "skill_id" },
    },
    Peer {
        package: "skills-mcp",
        // It says no version of the SDK, and was written for the first.
        beside: &["mcp<2"],
        program: "skills-mcp",
        root: Root::Variable("SKILLS_ROOT"),
        reading: Reading::Named { tool: "skills_get_details", field: "name" },
    },
];

impl Peer {
    /// Installs it into an environment of its own, unless it is there.
    pub(crate) fn install(&self, folder: &Path) -> Result<()> {
        if folder.join("bin").join(self.program).is_file() {
            return Ok(());
        }
        let mut why = anyhow!("there is no python3");
        for python in pythons() {
            match self.install_with(&python, folder) {
                Ok(()) => return Ok(()),
                // One of them wants a newer Python than many systems have.
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn install_with(&self, python: &Path, folder: &Path) -> Result<()> {
        let into = folder.to_str().context("the folder's name is not UTF-8")?;
        let mut packages = vec!["-m", "pip", "install", "--quiet", self.package];
        packages.extend(self.beside);
        let own = folder.join("bin/python");
        for (program, arguments) in [(python, vec!["-m", "venv", "--clear", into]), (&own, packages)] {
            let output = Command::new(program).args(&arguments).output()?;
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                bail!("{}", why.lines().last().unwrap_or("it cannot be installed").trim());
            }
        }
        Ok(())
    }

    pub(crate) fn command(&self, folder: &Path, root: &Path) -> Command {
        let mut command = Command::new(folder.join("bin").join(self.program));
        match self.root {
            Root::Argument => command.arg(root),
            Root::Flag(flag) => command.arg(flag).arg(root),
            Root::Variable(name) => command.env(name, root),
        };
        command
    }

    /// The call that reads a skill.
    pub(crate) fn call(&self, tools: &[String], skill: &str) -> (String, Value) {
        match &self.reading {
            Reading::Named { tool, field } => ((*tool).to_owned(), json!({ *field: skill })),
            Reading::OwnTool(arguments) => {
                let own = tools.iter().find(|tool| tool.ends_with(skill)).map_or(skill, String::as_str);
                let arguments: serde_json::Map<String, Value> =
                    arguments.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
                (own.to_owned(), Value::Object(arguments))
            }
        }
    }
}

/// The Pythons that are here: the usual one, newer ones by name, and those that pyenv keeps, newest first.
fn pythons() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["python3", "python3.14", "python3.13", "python3.12"].map(PathBuf::from).into();
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let root = root.or_else(|| Some(std::env::home_dir()?.join(".pyenv")));
    let kept = root.and_then(|root| std::fs::read_dir(root.join("versions")).ok());
    let mut kept: Vec<PathBuf> =
        kept.into_iter().flatten().flatten().map(|version| version.path().join("bin/python3")).collect();
    kept.sort();
    found.extend(kept.into_iter().rev());
    found
}

//! Who is measured, and with which command line.

use std::path::PathBuf;
use std::process::Command;

use crate::tree::Tree;

/// A program that finds the skills of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contestant {
    /// Reads the bytes and nothing else.
    Floor,
    /// What we build.
    Metier,
    /// The port of the reference implementation.
    SkillsRef,
    /// The typed parser with a strict load.
    AgentSkills,
}

/// Where the programs are.
pub(crate) struct Programs {
    /// The binary that is measured.
    pub(crate) metier: PathBuf,
    /// This program, which holds the floor and the peers.
    pub(crate) benches: PathBuf,
    /// An empty folder in place of the user's own, whose settings would otherwise be measured too.
    pub(crate) home: PathBuf,
}

impl Contestant {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Self; 4] = [Self::Floor, Self::Metier, Self::SkillsRef, Self::AgentSkills];

    /// Loaders by other people.
    pub(crate) const PEERS: [Self; 2] = [Self::SkillsRef, Self::AgentSkills];

    /// What the tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Metier => "metier",
            Self::SkillsRef => "skills-ref-rs",
            Self::AgentSkills => "agent-skills",
        }
    }

    /// Whether a wrong answer ends the bench. A peer that refuses skills is shown with its count instead: being strict
    /// is its choice.
    pub(crate) fn must_be_right(self) -> bool {
        matches!(self, Self::Floor | Self::Metier)
    }

    /// The process that is measured.
    pub(crate) fn command(self, programs: &Programs, tree: &Tree) -> Command {
        let mut command = match self {
            Self::Metier => {
                let mut command = Command::new(&programs.metier);
                command.args(["list", "--json", "--root"]);
                command
            }
            Self::Floor | Self::SkillsRef | Self::AgentSkills => {
                let mut command = Command::new(&programs.benches);
                command.arg(self.name());
                command
            }
        };
        command
            .arg(&tree.root)
            .current_dir(&programs.home)
            .env("HOME", &programs.home)
            .env("METIER_HOME", &programs.home);
        command
    }
}

//! Measures the release binary with the bench crate, which is a workspace of its own.

mod build;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;

use self::build::BuildPart;
use crate::cargo::Cargo;
use crate::repository::Repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to measure; everything but `build` when left out
    bench: Option<Bench>,
    /// How many times each contestant runs on each tree
    #[arg(long, default_value_t = 15)]
    rounds: u32,
    /// Measure only this part of `build`
    #[arg(long, value_name = "PART")]
    only: Option<BuildPart>,
    /// What is measured: what users compile, or what is shipped
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
    /// Also measure the tree of 50,000 skills
    #[arg(long)]
    large: bool,
    /// Where `changes` makes its projects: on a disk below `target` when left out, `/dev/shm` for memory
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Also write the figures to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bench {
    /// Finding and loading all skills below a root
    Discovery,
    /// Judging all skills below a root, against listing them
    Check,
    /// How soon a change on disk is seen
    Watch,
    /// What it costs to start a process contained
    Spawn,
    /// What it costs that calls write to a layer above the project
    Changes,
    /// What the way through the proxy costs
    Proxy,
    /// How well and how fast a request finds its skill
    Route,
    /// What it costs to activate a skill and to read its files
    Activate,
    /// What the agent costs beside its model
    Loop,
    /// Skills over MCP, against other servers of skills
    Mcp,
    /// What it costs to compile metier; only when it is named, on a machine that does nothing else
    Build,
}

#[derive(Clone, Copy, ValueEnum)]
enum Profile {
    Release,
    Dist,
}

impl Profile {
    /// Its name, and that of its folder below `target`.
    fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }
}

impl Bench {
    fn name(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Check => "check",
            Self::Watch => "watch",
            Self::Spawn => "spawn",
            Self::Changes => "changes",
            Self::Proxy => "proxy",
            Self::Route => "route",
            Self::Activate => "activate",
            Self::Loop => "loop",
            Self::Mcp => "mcp",
            Self::Build => "build",
        }
    }
}

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    if arguments.bench.is_some_and(|bench| matches!(bench, Bench::Build)) {
        return build::run(repository, arguments.only);
    }
    if arguments.only.is_some() {
        bail!("`--only` is for `cargo xtask bench build`");
    }
    let every = Bench::value_variants().iter().copied().filter(|bench| !matches!(bench, Bench::Build));
    let chosen: Vec<Bench> = arguments.bench.map_or_else(|| every.collect(), |bench| vec![bench]);
    // Activation and the loop are measured by examples, which need no binary.
    if chosen.iter().any(|bench| !matches!(bench, Bench::Activate | Bench::Loop)) {
        Cargo::new(repository, ["build", "--profile", arguments.profile.name(), "--package", "metier"])
            .show()?;
    }
    for bench in chosen {
        measure(repository, bench, arguments)?;
    }
    Ok(())
}

/// An example that measures, with this profile.
fn example(repository: &Repository, profile: &str, package: &str, name: &str) -> Cargo {
    let run = ["run", "--quiet", "--profile", profile, "--package", package, "--example", name, "--"];
    Cargo::new(repository, run)
}

/// The starts are measured by an example of the sandbox, which has to be its own helper.
fn spawn(repository: &Repository, target: &Path, arguments: &Arguments) -> Result<()> {
    let profile = arguments.profile.name();
    example(repository, profile, "metier-sandbox", "spawn")
        .argument((arguments.rounds * SPAWNS_A_ROUND).to_string())
        .argument(target.join(profile).join(format!("metier{}", std::env::consts::EXE_SUFFIX)))
        .argument(target.join("bench").join("spawn"))
        .show()
}

/// Layers are measured by an example of the runtime, which has to be its own helper, too.
fn changes(repository: &Repository, target: &Path, arguments: &Arguments) -> Result<()> {
    let profile = arguments.profile.name();
    // The person meant the folder from where they stand; the bench runs in the top folder.
    let place = arguments.folder.as_ref().map_or_else(|| Ok(target.join("bench")), std::path::absolute)?;
    example(repository, profile, "metier-runtime", "changes")
        .argument(arguments.rounds.to_string())
        .argument(target.join(profile).join(format!("metier{}", std::env::consts::EXE_SUFFIX)))
        .argument(place.join("changes"))
        .show()
}

/// Starts are short and noisy, so a round of them is many: the usual rounds make five hundred.
const SPAWNS_A_ROUND: u32 = 34;

fn measure(repository: &Repository, bench: Bench, arguments: &Arguments) -> Result<()> {
    let target = repository.target()?;
    let profile = arguments.profile.name();
    let program = match bench {
        Bench::Watch => {
            Cargo::new(
                repository,
                ["build", "--profile", profile, "--package", "metier-catalog", "--example", "watch"],
            )
            .show()?;
            "examples/watch"
        }
        Bench::Spawn => return spawn(repository, &target, arguments),
        Bench::Changes => return changes(repository, &target, arguments),
        Bench::Proxy => return example(repository, profile, "metier-proxy", "throughput").show(),
        Bench::Activate => return example(repository, profile, "metier-runtime", "activate").show(),
        Bench::Loop => return example(repository, profile, "metier-agent", "turns").show(),
        Bench::Discovery | Bench::Check | Bench::Route | Bench::Mcp | Bench::Build => "metier",
    };
    let binary = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let mut cargo = Cargo::new(repository, ["run", "--quiet", "--release", "--manifest-path"])
        .argument(repository.root().join("benches").join("Cargo.toml"))
        .arguments(&["--", bench.name(), "--metier"])
        .argument(target.join(profile).join(binary))
        .argument("--trees")
        .argument(target.join("bench"))
        .argument("--corpus")
        .argument(repository.corpus())
        .argument("--rounds")
        .argument(arguments.rounds.to_string());
    if matches!(bench, Bench::Route) {
        cargo = cargo.argument("--routing").argument(repository.routing());
    }
    if arguments.large {
        cargo = cargo.argument("--large");
    }
    if let Some(file) = &arguments.json {
        // The person meant the file from where they stand; the bench runs in the top folder.
        cargo = cargo.argument("--json").argument(std::path::absolute(file)?);
    }
    cargo.show()
}

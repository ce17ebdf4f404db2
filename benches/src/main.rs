//! Measures metier against what the file system allows and against its peers.
//!
//! `discovery`, `check` and `watch` are the benches; `floor`, `skills-ref-rs` and `agent-skills` are contestants that it starts, each in a
//! process of its own so that starting one costs all of them the same.

mod answer;
mod arguments;
mod check;
mod contestant;
mod corpus;
mod discovery;
mod floor;
mod frontmatter;
mod mcp;
mod measurement;
mod peers;
mod plain_bm25;
mod prose;
mod random;
mod report;
mod route;
mod routing;
mod routing_data;
mod target;
mod tree;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::answer::Answer;

#[derive(Parser)]
#[command(name = "metier-benches", about = "Measures metier against its limits and its peers")]
struct CommandLine {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Find and load all skills of trees of several sizes
    Discovery(arguments::Arguments),
    /// Judge all skills of a tree, against listing them
    Check(arguments::Arguments),
    /// Change files and wait for them to be seen
    Watch(arguments::Arguments),
    /// Skills over MCP: the start, the calls, the pages, against other servers of skills
    Mcp(arguments::Arguments),
    /// How well and how fast a request finds its skill
    Route {
        #[command(flatten)]
        arguments: arguments::Arguments,
        /// The folder with the requests and the pool of skills
        #[arg(long, value_name = "DIR")]
        routing: PathBuf,
    },
    /// Contestant: open every SKILL.md and read 4 KB, on two threads
    #[command(name = "floor")]
    Floor { root: PathBuf },
    /// Contestant: load every folder with the crate skills-ref-rs
    #[command(name = "skills-ref-rs")]
    SkillsRef { root: PathBuf },
    /// Contestant: load every folder with the crate agent-skills
    #[command(name = "agent-skills")]
    AgentSkills { root: PathBuf },
}

fn main() -> ExitCode {
    match run(CommandLine::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: Bench) -> Result<()> {
    match bench {
        Bench::Discovery(arguments) => discovery::run(&arguments),
        Bench::Check(arguments) => check::run(&arguments),
        Bench::Watch(arguments) => watch::run(&arguments),
        Bench::Mcp(arguments) => mcp::run(&arguments),
        Bench::Route { arguments, routing } => route::run(&arguments, &routing),
        Bench::Floor { root } => print(floor::run(&root)?),
        Bench::SkillsRef { root } => print(peers::skills_ref(&root)?),
        Bench::AgentSkills { root } => print(peers::agent_skills(&root)?),
    }
}

fn print(answer: Answer) -> Result<()> {
    println!("{}", serde_json::to_string(&answer)?);
    Ok(())
}

//! Asks a real model on this machine, through everything that metier has for models.
//!
//! It installs a server and a small model below the target folder and needs minutes on a busy machine, which is why it is no part of
//! `test`. The model knows next to nothing; what is checked is what has to hold whatever it says.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::Cargo;
use crate::debug_build;
use crate::inference::Station;
use crate::last_run::Recording;
use crate::repository::Repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many threads the model has; more than there are idle processors make it slower
    #[arg(long, default_value_t = 1)]
    threads: u32,
    #[command(flatten)]
    recording: Recording,
}

/// What the model is called at its server.
const NAME: &str = "smollm2";

/// One small skill, so that the model's window holds everything.
const SKILL: &str =
    "---\nname: greet\ndescription: Greets somebody. Use when a greeting is wanted.\n---\nSay hello.\n";

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    let folder = repository.target()?.join("e2e-model");
    let station = Station::install(&folder)?;
    let metier = debug_build::program(repository)?;
    let server = station.start(NAME, arguments.threads)?;
    println!("{NAME} answers at {}", server.base_url);
    let example = ["run", "--quiet", "--package", "metier-model", "--example", "real_model", "--"];
    Cargo::new(repository, example).argument(&server.base_url).argument(NAME).show()?;
    let place = Place::make(&folder, &server.base_url)?;
    place.run(&metier)?;
    println!("a real model was asked in every way");
    let result =
        format!("{NAME}: text, streaming, a forced call, a constrained choice and `metier run` passed");
    arguments.recording.write(repository, "cargo xtask e2e-model", &result)
}

/// A home of its own: nothing of the user's is read or written. metier runs in it, so there is no project and there are few tools: a
/// small model on a busy machine reads some tokens a second.
struct Place<'a> {
    folder: &'a Path,
}

impl<'a> Place<'a> {
    fn make(folder: &'a Path, base_url: &str) -> Result<Self> {
        let home = folder.join("home");
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir_all(home.join("skills").join("greet"))?;
        fs::write(home.join("skills").join("greet").join("SKILL.md"), SKILL)?;
        let config = format!(
            "bundled = false\n\n[providers.local]\nbase_url = \"{base_url}\"\nfirst_byte_seconds = 900\n\
             between_bytes_seconds = 900\n\n[models.tiny]\nmodel = \"local/{NAME}\"\ncontext = 8192\nmax_output = 128\n\
             tools = \"constrained\"\n"
        );
        fs::write(home.join("config.toml"), config)?;
        Ok(Self { folder })
    }

    fn metier(&self, metier: &Path, arguments: &[&str]) -> Result<Output> {
        Command::new(metier)
            .args(arguments)
            .current_dir(self.folder.join("home"))
            .env("HOME", self.folder.join("home"))
            .env("METIER_HOME", self.folder.join("home"))
            .output()
            .with_context(|| format!("{} could not be started", metier.display()))
    }

    /// `metier run --model …`, from the request to the log.
    fn run(&self, metier: &Path) -> Result<()> {
        let began = Instant::now();
        let request = ["run", "--model", "tiny", "--no-input", "--json", "--max-turns", "2", "Greet Ada."];
        let ran = self.metier(metier, &request)?;
        let said = String::from_utf8_lossy(&ran.stderr);
        let lived = events(&ran.stdout).with_context(|| format!("`metier run --json`: {said}"))?;
        let names = |events: &[Value]| -> Vec<String> {
            events.iter().filter_map(|event| event["type"].as_str()).map(str::to_owned).collect()
        };
        let of = |name: &str| -> Vec<&Value> { lived.iter().filter(|event| event["type"] == name).collect() };
        let answered = of("answered");
        if of("started").first().is_none_or(|started| started["data"]["model"] != format!("local/{NAME}")) {
            bail!("run: another model was asked: {:?}", of("started"));
        }
        if answered.is_empty() {
            bail!("run: the model did not answer: {said}\n{:?}", of("failed"));
        }
        if answered.iter().any(|answer| answer["data"]["usage"]["output"].as_u64().unwrap_or(0) == 0) {
            bail!("run: what the model used was not counted: {answered:?}");
        }
        let (calls, results) = (of("called").len(), of("finished").len());
        if results < calls {
            bail!("run: {calls} calls were made and {results} have a result");
        }
        let Some(end) = of("ended").first().copied() else { bail!("run: it has no end: {said}") };
        let outcome = end["data"]["outcome"].as_str().unwrap_or_default().to_owned();
        // Two turns may be too few for a model that calls; that is a limit reached, and no failure.
        if !matches!(outcome.as_str(), "done" | "partial") {
            bail!("run: it ended with `{outcome}`: {}", end["data"]["why"]);
        }
        let log = self.metier(metier, &["log", "--json"])?;
        let logged = names(&events(&log.stdout)?);
        let shown: Vec<String> = names(&lived).into_iter().filter(|name| name != "piece").collect();
        if logged != shown {
            bail!("run: the log has {logged:?}, the run showed {shown:?}");
        }
        println!(
            "ok  metier run: {outcome}, {} answers, {calls} calls, {} events in the log ({:.1} s)",
            answered.len(),
            logged.len(),
            began.elapsed().as_secs_f64()
        );
        Ok(())
    }
}

fn events(output: &[u8]) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(output).context("it printed something that is not text")?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

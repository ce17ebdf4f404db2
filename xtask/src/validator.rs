//! The open standard's own validator, run over the same files as `metier check --for standard`: their verdicts are equal.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::debug_build;
use crate::repository::Repository;
use crate::summary::Outcome;

/// The release whose verdicts ours are held against.
const PACKAGE: &str = "skills-ref==0.1.1";

/// Fewer files than this mean that something was not found.
const MIN_FILES: usize = 1_000;

/// Prints `valid` or `invalid` and the path for each folder with a SKILL.md below the argument. A file that makes the
/// validator fail in another way than by a verdict does not pass it either.
const SCRIPT: &str = r#"
import os, pathlib, sys
from skills_ref import validate
for folder, folders, files in os.walk(sys.argv[1]):
    folders.sort()
    for name in files:
        if name == "SKILL.md":
            try:
                problems = validate(pathlib.Path(folder))
            except Exception as error:
                problems = [repr(error)]
            print("invalid" if problems else "valid", os.path.realpath(os.path.join(folder, name)), sep="\t")
"#;

/// Compares the verdicts over the corpus, or says why that cannot be done here.
pub(crate) fn compare(repository: &Repository) -> Result<Outcome> {
    let corpus = repository.corpus();
    if !corpus.is_dir() {
        return Ok(Outcome::NotRun("../shared/corpus is not there".to_owned()));
    }
    let folder = repository.target()?.join("tools").join("skills-ref");
    if let Err(error) = install(&folder) {
        return Ok(Outcome::NotRun(format!("{PACKAGE} cannot be installed: {error:#}")));
    }
    let theirs = theirs(&folder, &corpus)?;
    let ours = ours(repository, &corpus)?;
    let mut compared = 0;
    let mut differing = Vec::new();
    for (path, valid) in &theirs {
        let Some(own) = ours.get(path) else { continue };
        compared += 1;
        if own != valid {
            differing.push(format!("{path}: {} there, {} here", word(*valid), word(*own)));
        }
    }
    if compared < MIN_FILES {
        bail!("only {compared} files were judged by both; there should be more than {MIN_FILES}");
    }
    if !differing.is_empty() {
        bail!(
            "{} of {compared} verdicts differ from {PACKAGE}:\n  {}",
            differing.len(),
            differing.join("\n  ")
        );
    }
    let valid = theirs.values().filter(|valid| **valid).count();
    println!("{compared} files, {valid} valid: every verdict equals that of {PACKAGE}");
    Ok(Outcome::Passed)
}

fn word(valid: bool) -> &'static str {
    if valid { "valid" } else { "invalid" }
}

fn install(folder: &Path) -> Result<()> {
    if folder.join("skills_ref").is_dir() {
        return Ok(());
    }
    let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
    let output = Command::new("python3").args(arguments).arg(folder).arg(PACKAGE).output();
    let output = output.context("python3 is missing")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("{}", why.lines().last().unwrap_or("pip gave no reason").trim());
    }
    Ok(())
}

/// Verdicts by the real path of the file.
type Verdicts = BTreeMap<String, bool>;

fn theirs(folder: &Path, corpus: &Path) -> Result<Verdicts> {
    let mut command = Command::new("python3");
    let output = command.env("PYTHONPATH", folder).args(["-c", SCRIPT]).arg(corpus).output()?;
    if !output.status.success() {
        bail!("the validator does not run: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).context("the validator's output is not UTF-8")?;
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    Ok(lines.map(|(word, path)| (path.to_owned(), word == "valid")).collect())
}

fn ours(repository: &Repository, corpus: &Path) -> Result<Verdicts> {
    let mut metier = Command::new(debug_build::program(repository)?);
    metier.args(["check", "--json", "--for", "standard"]).arg(corpus).current_dir(repository.root());
    // Findings are an answer, too.
    let printed = debug_build::printed(&mut metier, &[1])?;
    let report: serde_json::Value =
        serde_json::from_str(&printed).context("`metier check` printed no JSON")?;
    let rows = report["portability"].as_array().context("there is no table of clients")?;
    let mut verdicts = Verdicts::new();
    for row in rows {
        let (path, loads) = (row["path"].as_str(), row["clients"][0]["loads"].as_bool());
        if let (Some(path), Some(loads)) = (path, loads) {
            let real = repository.root().join(path).canonicalize().with_context(|| path.to_owned())?;
            verdicts.insert(real.to_string_lossy().into_owned(), loads);
        }
    }
    Ok(verdicts)
}

//! One fuzz target at work: what it is started with, and what it says while it runs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::report::Outcome;
use super::target::Target;
use crate::repository::Repository;

/// One input may take this many seconds under the sanitizer on a busy machine; what takes longer is a finding.
const SLOWEST: &str = "-timeout=10";

/// A built target, and where its things lie.
pub(super) struct Trial {
    program: PathBuf,
    root: PathBuf,
    /// What grows from run to run.
    corpus: PathBuf,
    /// Inputs that broke something.
    findings: PathBuf,
    /// What we wrote.
    seeds: PathBuf,
    /// Pieces that inputs of this kind are made of.
    dictionary: PathBuf,
    /// Where the target makes its own files: a fuzzer ends by abort, so somebody else has to remove them.
    scratch: PathBuf,
}

impl Trial {
    pub(super) fn new(repository: &Repository, home: &Path, target: &Target, program: &Path) -> Self {
        let name = target.name.as_str();
        let fuzz = repository.root().join("fuzz");
        Self {
            program: program.to_path_buf(),
            root: repository.root().to_path_buf(),
            corpus: home.join("corpus").join(name),
            findings: home.join("findings").join(name),
            seeds: fuzz.join("seeds").join(name),
            dictionary: fuzz.join("dictionaries").join(name),
            // Not below the target folder: bash runs there as nobody, who may not get into a home.
            scratch: std::env::temp_dir().join(format!("metier-fuzz-{}-{name}", std::process::id())),
        }
    }

    /// Looks for inputs that break something, for so many seconds.
    pub(super) fn search(&self, seconds: u32) -> Result<Outcome> {
        for folder in [&self.corpus, &self.findings] {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        let mut command = Command::new(&self.program);
        command.arg(format!("-max_total_time={seconds}"));
        // The prefix is put before a file's name as it is.
        command.arg(format!("-artifact_prefix={}/", self.findings.display()));
        if self.dictionary.is_file() {
            command.arg(format!("-dict={}", self.dictionary.display()));
        }
        command.arg(&self.corpus).arg(&self.seeds);
        self.watch(command)
    }

    /// Tries one input.
    pub(super) fn again(&self, input: &Path) -> Result<Outcome> {
        let mut command = Command::new(&self.program);
        command.arg(input);
        let mut outcome = self.watch(command)?;
        if outcome.broke {
            outcome.inputs = vec![input.display().to_string()];
        }
        Ok(outcome)
    }

    fn watch(&self, mut command: Command) -> Result<Outcome> {
        let started = std::time::Instant::now();
        fs::create_dir_all(&self.scratch)?;
        command
            .args([SLOWEST, "-print_final_stats=1"])
            .current_dir(&self.root)
            .env("TMPDIR", &self.scratch)
            // Rust's own crates look to this check like things that are defined twice.
            .env("ASAN_OPTIONS", "detect_odr_violation=0")
            .stderr(Stdio::piped());
        let line = format!("`{}`", self.program.display());
        let mut child = command.spawn().with_context(|| format!("{line} could not be started"))?;
        let mut outcome = Outcome::default();
        if let Some(stderr) = child.stderr.take() {
            for words in BufReader::new(stderr).split(b'\n') {
                let words = words.with_context(|| format!("what {line} says cannot be read"))?;
                let words = String::from_utf8_lossy(&words);
                outcome.take(&words, &self.root);
                if is_telling(&words) {
                    eprintln!("{words}");
                }
            }
        }
        outcome.broke = !child.wait()?.success();
        outcome.time = started.elapsed();
        // What is left there is of no use to anybody, and neither is a failure to remove it.
        let _ = fs::remove_dir_all(&self.scratch);
        Ok(outcome)
    }
}

/// Whether somebody at a terminal wants to see this line: not each of thousands of inputs that brought something new.
fn is_telling(line: &str) -> bool {
    let word = line.strip_prefix('#').and_then(|line| line.split_whitespace().nth(1));
    !matches!(word, Some("NEW" | "REDUCE" | "RELOAD"))
        && !line.starts_with("\tNEW_FUNC")
        && !line.starts_with("stat::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_merely_bring_something_new_are_not_shown() {
        for quiet in [
            "#412\tNEW    cov: 60 ft: 61 corp: 2/8b lim: 4 exec/s: 0 rss: 30Mb L: 4/4 MS: 1 ChangeBit-",
            "#500\tREDUCE cov: 60 ft: 61 corp: 2/7b",
            "\tNEW_FUNC[1/3]: 0x55d0 in core::str",
            "stat::peak_rss_mb:              40",
        ] {
            assert!(!is_telling(quiet), "{quiet}");
        }
        for shown in ["#4096\tpulse  cov: 60", "#9\tINITED cov: 60", "thread panicked at src/lib.rs", ""] {
            assert!(is_telling(shown), "{shown}");
        }
    }
}

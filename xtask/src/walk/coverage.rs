//! Profiles of instrumented programs, read by the tools of LLVM.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::binary::Binary;

/// The oldest LLVM that reads the profiles of the Rust version in use, and the newest one to look for.
const VERSIONS: std::ops::RangeInclusive<u32> = 19..=30;

/// The folder that programs write their profiles to, and the programs that read them.
pub(super) struct Coverage {
    folder: PathBuf,
    profiles: String,
    profdata: PathBuf,
    cov: PathBuf,
}

impl Coverage {
    /// Finds the tools and makes the folder `profiles` below `folder`.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let (profdata, cov) = tools()?;
        let folder = folder.join("profiles");
        fs::create_dir_all(&folder)?;
        let text = folder.to_str().filter(|text| !text.contains('%'));
        let text = text.context("the path of the target folder has a `%` or is not UTF-8")?;
        // `%p` is the process, `%c` maps the counters into the file while the process runs.
        Ok(Self { profiles: format!("{text}/%p%c.profraw"), folder, profdata, cov })
    }

    /// The pattern of the profiles' paths, as LLVM's runtime takes it.
    pub(super) fn profiles(&self) -> &str {
        &self.profiles
    }

    /// Deletes the profiles of earlier runs.
    pub(super) fn clear(&self) -> Result<()> {
        fs::remove_dir_all(&self.folder)?;
        Ok(fs::create_dir(&self.folder)?)
    }

    /// The files below `crates/*/src` with an executed line, seen from the top folder of the sources.
    pub(super) fn executed_files(&self, binary: &Binary) -> Result<BTreeSet<String>> {
        let entries = fs::read_dir(&self.folder)?.collect::<Result<Vec<_>, _>>()?;
        let raw: Vec<_> = entries
            .iter()
            .map(fs::DirEntry::path)
            .filter(|path| path.extension().is_some_and(|extension| extension == "profraw"))
            .collect();
        if raw.is_empty() {
            bail!("the program left no profile in {}", self.folder.display());
        }
        let merged = self.folder.join("merged.profdata");
        let mut merge = Command::new(&self.profdata);
        merge.args(["merge", "--sparse", "-o"]).arg(&merged).args(raw);
        output(merge)?;
        let mut export = Command::new(&self.cov);
        export.args(["export", "--summary-only", "--instr-profile"]).arg(&merged).arg(&binary.program);
        let exported: Value =
            serde_json::from_slice(&output(export)?).context("llvm-cov did not print JSON")?;
        let sources = binary.sources.canonicalize()?;
        Ok(executed(&exported, &sources))
    }
}

/// The files of the workspace with an executed line in what `llvm-cov export` printed.
fn executed(exported: &Value, sources: &Path) -> BTreeSet<String> {
    let files = exported["data"].as_array().into_iter().flatten().filter_map(|data| data["files"].as_array());
    files
        .flatten()
        .filter(|file| file["summary"]["lines"]["covered"].as_u64() > Some(0))
        .filter_map(|file| Path::new(file["filename"].as_str()?).strip_prefix(sources).ok()?.to_str())
        .filter(|path| {
            let mut parts = path.split('/');
            parts.next() == Some("crates") && parts.nth(1) == Some("src")
        })
        .map(str::to_owned)
        .collect()
}

/// `llvm-profdata` and `llvm-cov` of one version: those of the Rust toolchain, else the newest of the system.
fn tools() -> Result<(PathBuf, PathBuf)> {
    let pair = |folder: &Path, suffix: &str| {
        (folder.join(format!("llvm-profdata{suffix}")), folder.join(format!("llvm-cov{suffix}")))
    };
    let mut candidates = Vec::new();
    let mut sysroot = Command::new("rustc");
    sysroot.args(["--print", "target-libdir"]);
    if let Ok(path) = String::from_utf8(output(sysroot)?) {
        // The component `llvm-tools` puts them beside the libraries.
        candidates.push(pair(&Path::new(path.trim()).with_file_name("bin"), ""));
    }
    candidates.extend(VERSIONS.rev().map(|version| pair(Path::new(""), &format!("-{version}"))));
    candidates.push(pair(Path::new(""), ""));
    let found = candidates.into_iter().find(|(profdata, cov)| is_new_enough(profdata) && is_new_enough(cov));
    found.with_context(|| {
        let oldest = VERSIONS.start();
        format!(
            "no `llvm-profdata` and `llvm-cov` of LLVM {oldest} or newer; install them with `rustup component add llvm-tools` or \
             as your system's package, such as `llvm-{oldest}` of Debian"
        )
    })
}

fn is_new_enough(program: &Path) -> bool {
    let printed = Command::new(program).arg("--version").output();
    printed.is_ok_and(|printed| {
        version(&String::from_utf8_lossy(&printed.stdout)).is_some_and(|found| found >= *VERSIONS.start())
    })
}

/// The major version in what an LLVM tool prints for `--version`.
fn version(printed: &str) -> Option<u32> {
    let (_, rest) = printed.split_once("LLVM version ")?;
    rest.split('.').next()?.trim().parse().ok()
}

fn output(mut command: Command) -> Result<Vec<u8>> {
    let name = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("`{name}` could not be started"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_executed_sources_of_the_workspace_count() {
        let file = |name: &str, covered: u64| json!({ "filename": name, "summary": { "lines": { "covered": covered } } });
        let exported = json!({ "data": [{ "files": [
            file("/w/crates/cli/src/main.rs", 3),
            file("/w/crates/cli/src/args/agent.rs", 1),
            file("/w/crates/cli/src/chat.rs", 0),
            file("/w/crates/cli/build.rs", 9),
            file("/w/crates/sandbox/probe/src/main.rs", 9),
            file("/w/xtask/src/main.rs", 9),
            file("/elsewhere/crates/cli/src/main.rs", 9),
        ] }] });
        let found: Vec<_> = executed(&exported, Path::new("/w")).into_iter().collect();
        assert_eq!(found, ["crates/cli/src/args/agent.rs", "crates/cli/src/main.rs"]);
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(version("Debian LLVM version 19.1.7\n  Optimized build.\n"), Some(19));
        assert_eq!(version("LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n"), Some(22));
        assert_eq!(version("no version"), None);
    }
}

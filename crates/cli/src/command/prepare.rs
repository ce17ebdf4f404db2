//! `prepare`: the packages that a skill's scripts want, installed for them alone.

use super::exec::refused;
use crate::agency;
use crate::args::Prepare;
use crate::exit::Exit;
use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_exec::{PrepareError, PrepareOptions, PrepareOutcome, PrepareWork, Registries, RegistryAccess};
use metier_runtime::UseError;
use serde::Serialize;
use std::path::Path;

/// One environment, for programs.
#[derive(Serialize)]
struct Json<'a> {
    language: &'static str,
    how: &'static str,
    folder: &'a Path,
    bytes: u64,
    packages: Vec<PackageJson<'a>>,
}

#[derive(Serialize)]
struct PackageJson<'a> {
    name: &'a str,
    version: &'a str,
}

pub(crate) fn run(args: &Prepare, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let skills = agency::one_call(surroundings)?.open();
    let registries = Registries::public()?;
    let reaching = if args.offline { RegistryAccess::Never } else { RegistryAccess::IfNeeded };
    let order = PrepareOptions { registries: &registries, reaching, cancel: None };
    let made = agency::session(&skills).prepare(&args.name, &order, &mut |what| {
        // That nobody reads along is no reason to stop.
        let _ = output.aside(&format!("{what} ..."));
    });
    match made {
        Ok(made) => show(&args.name, &made, surroundings, output),
        // What a skill's files and an installer say is a stranger's text, of several lines.
        Err(UseError::Prepare(error)) if !matches!(error, PrepareError::Gate { .. }) => {
            let lines: Vec<String> = error.to_string().lines().map(clean).collect();
            anyhow::bail!("{}", lines.join("\n  "))
        }
        Err(error) => refused(&error, output),
    }
}

fn show(
    name: &str,
    made: &[PrepareOutcome],
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    if output.is_json() {
        let environments: Vec<Json<'_>> = made.iter().map(Json::of).collect();
        output.json(&serde_json::json!({ "skill": name, "environments": environments }))?;
        return Ok(Exit::Fine);
    }
    if made.is_empty() {
        output.line(format!("{}: nothing to prepare", clean(name)))?;
        output.comment(
            "packages are named in requirements.txt, package.json or a script's `# /// script` block",
        )?;
        return Ok(Exit::Fine);
    }
    for PrepareOutcome { prepared, how } in made {
        let how = match how {
            PrepareWork::Ready => "ready",
            PrepareWork::Stocked => "ready, made from what was fetched before",
            PrepareWork::Fetched => "ready, fetched and made",
        };
        output.line(format!("{}: {} {how}", clean(name), prepared.language))?;
        for package in &prepared.packages {
            output.line(format!("  {} {}", clean(&package.name), clean(&package.version)))?;
        }
        let folder = clean(&surroundings.shown(&prepared.folder));
        output.comment(format!("in {folder}; all that is kept takes {}", megabytes(prepared.bytes)))?;
    }
    Ok(Exit::Fine)
}

impl<'a> Json<'a> {
    fn of(made: &'a PrepareOutcome) -> Self {
        let packages = made.prepared.packages.iter();
        Self {
            language: made.prepared.language.word(),
            how: match made.how {
                PrepareWork::Ready => "ready",
                PrepareWork::Stocked => "stocked",
                PrepareWork::Fetched => "fetched",
            },
            folder: &made.prepared.folder,
            bytes: made.prepared.bytes,
            packages: packages
                .map(|package| PackageJson { name: &package.name, version: &package.version })
                .collect(),
        }
    }
}

/// A size with one digit behind the point.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_add(50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(megabytes(0), "0.0 MB");
        assert_eq!(megabytes(12_345_678), "12.3 MB");
        assert_eq!(megabytes(999_999), "1.0 MB");
    }
}

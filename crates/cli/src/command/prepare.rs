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
use serde_json::{Value, json};

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
        let environments: Vec<Value> = made.iter().map(object).collect();
        output.json(&json!({ "skill": name, "environments": environments }))?;
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

/// One environment, for programs.
fn object(made: &PrepareOutcome) -> Value {
    let PrepareOutcome { prepared, how } = made;
    let packages = prepared.packages.iter();
    let packages = packages.map(|package| json!({ "name": package.name, "version": package.version }));
    json!({
        "language": prepared.language.word(),
        "how": match how {
            PrepareWork::Ready => "ready",
            PrepareWork::Stocked => "stocked",
            PrepareWork::Fetched => "fetched",
        },
        "folder": prepared.folder.display().to_string(),
        "bytes": prepared.bytes,
        "packages": packages.collect::<Vec<_>>(),
    })
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

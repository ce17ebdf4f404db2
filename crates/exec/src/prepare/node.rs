//! A Node environment: locked by npm, installed from the lock, its packages' own programs never run.

use metier_diagnostic::counted;
use std::ffi::OsString;

use metier_sandbox::Command;

use super::PrepareError;
use super::environment_dir::{EnvironmentDir, Package};
use super::installer::{Installer, StepNetwork};
use super::package_json::{NodePackages, locked};
use super::registry::Registry;
use crate::search_path::Program;

/// What makes node look for packages in the environment.
pub(crate) const LOADER: &str = "metier-loader.cjs";

/// What says that everything of the lock was fetched.
const FETCHED: &str = "metier-complete";

/// Settings of npm that hold for every call: none of the user's configuration, which could name other registries and hold
/// passwords for them, and no program of a package is run.
const SETTINGS: &[(&str, &str)] = &[
    ("npm_config_userconfig", "/dev/null"),
    // npm does not take one file for both, and is content with none.
    ("npm_config_globalconfig", "/nonexistent/npmrc"),
    ("npm_config_ignore_scripts", "true"),
    ("npm_config_audit", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_progress", "false"),
    ("npm_config_logs_max", "0"),
];

/// Whether there is a lock and all of it was fetched: then nobody has to be reached.
pub(crate) fn is_stocked(dir: &EnvironmentDir) -> bool {
    dir.has(&dir.lock()) && dir.has(&dir.stock().join(FETCHED))
}

/// Makes the environment, and says what is in it.
pub(crate) fn make(
    installer: &mut Installer<'_>,
    dir: &EnvironmentDir,
    recipe: &NodePackages,
    npm: &[Program],
    registry: &Registry,
) -> Result<Vec<Package>, PrepareError> {
    let program = npm.first().ok_or(PrepareError::NoProgram("npm"))?;
    installer.programs = npm.to_vec();
    installer.variables = SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
    let own: [(&str, OsString); 2] =
        [("npm_config_cache", dir.stock().into()), ("npm_config_registry", registry.url.clone().into())];
    installer.variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let folder = dir.folder();
    let own_lock = folder.join("package-lock.json");
    installer.tell("making a Node environment");
    let is_stocked = is_stocked(dir);
    let known = dir.read(&dir.lock()).filter(|lock| locked(lock, &registry.url).is_ok());
    installer.shell(
        "making room",
        "rm -rf \"$1\" \"$1.json\"; mkdir -p \"$1\" \"$2\"",
        [&folder, &dir.stock()],
        Vec::new(),
    )?;
    installer.write(&folder.join("package.json"), recipe.manifest.clone())?;
    if let Some(lock) = recipe.lock.clone().or(known) {
        installer.write(&own_lock, lock)?;
    } else {
        installer
            .tell(&format!("choosing versions of {}", counted(recipe.wanted.len(), "package", "packages")));
        let lock = npm_in(program, dir).arguments(["install", "--package-lock-only", "--ignore-scripts"]);
        installer.step("choosing versions", StepNetwork::Open, &lock)?;
    }
    let lock = dir.read(&own_lock).ok_or(PrepareError::NoLock)?;
    let packages = locked(&lock, &registry.url)
        .map_err(|reason| PrepareError::Lock { file: own_lock.clone(), reason })?;
    installer.tell(&format!("installing {}", counted(packages.len(), "package", "packages")));
    let install =
        npm_in(program, dir).arguments(["ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"]);
    let (line, install) = if is_stocked {
        (StepNetwork::Closed, install.argument("--offline"))
    } else {
        (StepNetwork::Open, install)
    };
    installer.step("installing", line, &install)?;
    installer.write(&dir.lock(), lock)?;
    installer.write(&folder.join(LOADER), include_bytes!("loader.cjs").to_vec())?;
    installer.write(&dir.stock().join(FETCHED), Vec::new())?;
    Ok(packages.into_iter().map(|(name, version)| Package { name, version }).collect())
}

fn npm_in(npm: &Program, dir: &EnvironmentDir) -> Command {
    Command::new(npm.file.clone()).argument("--prefix").argument(dir.folder())
}

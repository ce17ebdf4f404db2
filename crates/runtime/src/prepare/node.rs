//! A Node environment: locked by npm, installed from the lock, its packages' own programs never run.

use metier_diagnostic::counted;
use std::ffi::OsString;

use metier_sandbox::Command;

use super::PrepareError;
use super::package_json::locked;
use super::recipe::NodeRecipe;
use super::registry::Registry;
use super::shelf::{Package, Shelf};
use super::workshop::{Line, Workshop};
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
pub(crate) fn is_stocked(shelf: &Shelf) -> bool {
    shelf.has(&shelf.lock()) && shelf.has(&shelf.stock().join(FETCHED))
}

/// Makes the environment, and says what is in it.
pub(crate) fn make(
    shop: &mut Workshop<'_>,
    shelf: &Shelf,
    recipe: &NodeRecipe,
    npm: &[Program],
    registry: &Registry,
) -> Result<Vec<Package>, PrepareError> {
    let program = npm.first().ok_or(PrepareError::NoProgram("npm"))?;
    shop.programs = npm.to_vec();
    shop.variables = SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
    let own: [(&str, OsString); 2] =
        [("npm_config_cache", shelf.stock().into()), ("npm_config_registry", registry.url.clone().into())];
    shop.variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let folder = shelf.folder();
    let own_lock = folder.join("package-lock.json");
    shop.tell("making a Node environment");
    let is_stocked = is_stocked(shelf);
    let known = shelf.read(&shelf.lock()).filter(|lock| locked(lock, &registry.url).is_ok());
    shop.shell(
        "making room",
        "rm -rf \"$1\" \"$1.json\"; mkdir -p \"$1\" \"$2\"",
        [&folder, &shelf.stock()],
        Vec::new(),
    )?;
    shop.write(&folder.join("package.json"), recipe.packages.manifest.clone())?;
    if let Some(lock) = recipe.packages.lock.clone().or(known) {
        shop.write(&own_lock, lock)?;
    } else {
        shop.tell(&format!(
            "choosing versions of {}",
            counted(recipe.packages.wanted.len(), "package", "packages")
        ));
        let lock = npm_in(program, shelf).arguments(["install", "--package-lock-only", "--ignore-scripts"]);
        shop.step("choosing versions", Line::Open, &lock)?;
    }
    let lock = shelf.read(&own_lock).ok_or(PrepareError::NoLock)?;
    let packages = locked(&lock, &registry.url)
        .map_err(|reason| PrepareError::Lock { file: own_lock.clone(), reason })?;
    shop.tell(&format!("installing {}", counted(packages.len(), "package", "packages")));
    let install =
        npm_in(program, shelf).arguments(["ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"]);
    let (line, install) =
        if is_stocked { (Line::Closed, install.argument("--offline")) } else { (Line::Open, install) };
    shop.step("installing", line, &install)?;
    shop.write(&shelf.lock(), lock)?;
    shop.write(&folder.join(LOADER), include_bytes!("loader.cjs").to_vec())?;
    shop.write(&shelf.stock().join(FETCHED), Vec::new())?;
    Ok(packages.into_iter().map(|(name, version)| Package { name, version }).collect())
}

fn npm_in(npm: &Program, shelf: &Shelf) -> Command {
    Command::new(npm.file.clone()).argument("--prefix").argument(shelf.folder())
}

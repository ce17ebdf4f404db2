//! The one place that reads the environment. Libraries get what they need as values.

use crate::bundled;
use anyhow::{Context, Result};
use metier_catalog::Places;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a machine without a home directory keeps what would be in it: nowhere. Reading finds nothing there and writing
/// fails with a message that names the path.
const NO_HOME: &str = "/nonexistent";

/// The folders that matter, from `METIER_HOME`, `XDG_*`, `HOME` and the current folder.
pub(crate) fn places() -> Result<Places> {
    let current =
        env::current_dir().context("the current folder cannot be determined; it may have been removed")?;
    let home = path_from("HOME");
    let below_home = |rest: &str| home.as_deref().unwrap_or(Path::new(NO_HOME)).join(rest);
    let (config, data, user_skills, cache) = if let Some(own) = path_from("METIER_HOME") {
        let own = current.join(own);
        (own.clone(), own.join("data"), own.join("skills"), Some(own.join("cache")))
    } else {
        let config = path_from("XDG_CONFIG_HOME").unwrap_or_else(|| below_home(".config")).join("metier");
        let data = path_from("XDG_DATA_HOME").unwrap_or_else(|| below_home(".local/share")).join("metier");
        let skills = config.join("skills");
        let cache = path_from("XDG_CACHE_HOME").or_else(|| home.as_ref().map(|home| home.join(".cache")));
        (config, data, skills, cache.map(|cache| cache.join("metier")))
    };
    Ok(Places {
        git_configs: git_configs(home.as_deref()),
        home,
        current,
        temp: temp(),
        config,
        data,
        user_skills,
        system_skills: PathBuf::from("/etc/metier/skills"),
        bundled: Some(bundled::skills(cache.as_deref())),
        cache,
        remote: None,
    })
}

/// git's configuration of the user and of the machine, as git finds it.
fn git_configs(home: Option<&Path>) -> Vec<PathBuf> {
    let system = path_from("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    if let Some(global) = path_from("GIT_CONFIG_GLOBAL") {
        return vec![system, global];
    }
    let below_home = |rest: &str| home.map(|home| home.join(rest));
    let shared = path_from("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
    let shared = shared.map(|folder| folder.join("git/config"));
    std::iter::once(system).chain(shared).chain(below_home(".gitconfig")).collect()
}

/// Where files are put that nobody keeps.
pub(crate) fn temp() -> PathBuf {
    env::temp_dir()
}

/// A variable that holds a path; set and empty counts as not set.
fn path_from(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether colours are wanted, as far as the environment has a say.
pub(crate) fn allows_colour() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && moves_cursor()
}

/// Whether the terminal can take back what it shows, as far as the environment has a say.
pub(crate) fn moves_cursor() -> bool {
    env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The search path, or what a shell takes where none is set.
pub(crate) fn search_path() -> OsString {
    let set = env::var_os("PATH").filter(|path| !path.is_empty());
    set.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into())
}

/// The user's language, where it is a plain name; text stays UTF-8.
pub(crate) fn language() -> String {
    let plain = |text: &String| {
        text.to_uppercase().contains("UTF-8")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-@".contains(&byte))
    };
    env::var("LANG").ok().filter(plain).unwrap_or_else(|| metier_exec::LANGUAGE.to_owned())
}

/// The value of a variable that the user lets a skill see.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Where the bus of the user's session listens, which leads to the keyring.
pub(crate) fn bus_address() -> Option<String> {
    env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|address| !address.is_empty())
}

/// The terminal's width, where the shell says so.
pub(crate) fn columns() -> Option<String> {
    env::var("COLUMNS").ok()
}

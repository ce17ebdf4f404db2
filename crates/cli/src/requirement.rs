//! What a skill says it requires, checked where its scripts would run. An unmet requirement is said and never hides a
//! skill: whoever reads it can still do the work by hand.

use crate::data_place::DataPlace;
use crate::environment;
use crate::surroundings::Surroundings;
use crate::workplace::search_path;
use metier_catalog::{Entry, Snapshot};
use metier_files::{Kind, SkillDir, kind};
use metier_runtime::missing;
use metier_skill::Requires;
use serde::Serialize;
use std::path::Path;

/// Something that is required and not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unmet {
    /// What is missing.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) help: String,
}

/// The requirements that do not hold here. Tools of an agent are not judged: there is no agent to ask.
pub(crate) fn unmet(requires: &Requires) -> Vec<Unmet> {
    let folders = environment::program_folders();
    let is_there = |program: &str| {
        let is_name = !program.is_empty() && Path::new(program).components().count() == 1;
        is_name && folders.iter().any(|folder| kind(&folder.join(program)) == Kind::File)
    };
    let mut unmet = Vec::new();
    for program in requires.bins.iter().filter(|program| !is_there(program)) {
        let help = format!("install `{program}` so that it is on PATH");
        unmet.push(Unmet { what: format!("the program `{program}` is not on PATH"), help });
    }
    if !requires.any_bins.is_empty() && !requires.any_bins.iter().any(|program| is_there(program)) {
        let names = requires.any_bins.join("`, `");
        unmet.push(Unmet {
            what: format!("none of `{names}` is on PATH"),
            help: "install one of them".to_owned(),
        });
    }
    for name in requires.env.iter().filter(|name| !environment::has_variable(name)) {
        let help = format!("set `{name}` before you start metier");
        unmet.push(Unmet { what: format!("the environment variable `{name}` is not set"), help });
    }
    if !requires.os.is_empty() && !requires.os.iter().any(|name| is_this_system(name)) {
        let what = format!("it is for {}, and this is {}", requires.os.join(", "), std::env::consts::OS);
        unmet.push(Unmet { what, help: "use it on one of those systems".to_owned() });
    }
    unmet
}

/// Packages that the skill's scripts want and that are not installed for it, or not as it wants them now.
pub(crate) fn unprepared(
    snapshot: &Snapshot,
    entry: &Entry,
    folder: &SkillDir,
    surroundings: &Surroundings,
) -> Vec<Unmet> {
    let name = entry.name().as_str();
    let place = DataPlace::of(snapshot, entry, surroundings);
    let data = place.owner().place(&surroundings.places.data.join("skills"));
    match missing(folder, &data, &search_path(surroundings)) {
        Ok(missing) => {
            let help = format!("run `metier prepare {name}`");
            missing.into_iter().map(|what| Unmet { what, help: help.clone() }).collect()
        }
        Err(error) => vec![Unmet {
            what: format!("what it wants installed cannot be taken: {error}"),
            help: "mend the file, then prepare the skill".to_owned(),
        }],
    }
}

/// Whether a name that people write means this operating system.
fn is_this_system(name: &str) -> bool {
    let canonical = match name.to_ascii_lowercase().as_str() {
        "darwin" | "macos" | "mac" | "osx" => "macos",
        "win32" | "win" | "windows" => "windows",
        other => return other == std::env::consts::OS,
    };
    canonical == std::env::consts::OS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_a_remedy() {
        let requires = Requires {
            bins: vec!["sh".into(), "no-such-program-anywhere".into(), "../sh".into()],
            any_bins: vec!["no-such-program-anywhere".into(), "sh".into()],
            env: vec!["NO_SUCH_VARIABLE_ANYWHERE".into()],
            os: vec!["plan9".into()],
            tools: vec!["web_search".into()],
        };
        let found: Vec<_> = unmet(&requires).into_iter().map(|unmet| unmet.what).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].contains("no-such-program-anywhere") && found[1].contains("../sh"), "{found:?}");
    }

    #[test]
    fn a_system_is_known_by_all_its_names() {
        assert!(is_this_system(std::env::consts::OS));
        assert!(is_this_system("Linux") == cfg!(target_os = "linux"));
        assert!(is_this_system("darwin") == cfg!(target_os = "macos"));
    }
}

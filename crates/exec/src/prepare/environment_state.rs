//! How a script stands to the environment that its skill wants, and how it is started with it.

use std::path::Path;

use metier_files::SkillDir;

use super::environment_dir::{EnvironmentDir, Language, PreparedEnvironment};
use super::recipe::Recipe;
use crate::interpreter::{Interpreter, Launch};
use crate::script::SkillScript;
use crate::search_path::{Program, SearchPath};

/// The state of the environment that a script's skill asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentState {
    /// The skill wants nothing for scripts of this kind.
    NotWanted,
    /// What the skill wants cannot be read, and why.
    Unreadable(String),
    /// It was never made.
    Missing,
    /// One was made, and the skill wants something else now, or Python is another one: it is not used.
    Stale,
    /// It is there.
    Ready(PreparedEnvironment),
}

/// What interpreters say when a package is not there.
const NO_MODULE: &[&str] = &[
    "ModuleNotFoundError: No module named",
    "Cannot find module",
    "ERR_MODULE_NOT_FOUND",
    "Cannot find package",
];

impl EnvironmentState {
    /// How this script stands. Nothing is read for scripts that no environment is made for.
    pub fn of(script: &SkillScript, skill: &SkillDir, data: Option<&Path>, path: &SearchPath) -> Self {
        let language = match Interpreter::of(script.path.as_path()) {
            Interpreter::Python => Language::Python,
            Interpreter::Node | Interpreter::NodeTypes => Language::Node,
            Interpreter::Shell | Interpreter::Bash | Interpreter::Direct => return Self::NotWanted,
        };
        let recipe = match Recipe::of(skill) {
            Ok(recipe) => recipe,
            Err(error) => return Self::Unreadable(error.to_string()),
        };
        data.map_or(Self::NotWanted, |data| Self::in_folder(&recipe, language, data, path))
    }

    /// How the environment for one interpreter stands.
    pub(crate) fn in_folder(recipe: &Recipe, language: Language, data: &Path, path: &SearchPath) -> Self {
        let dir = match language {
            Language::Python => recipe.python.as_ref().map(|recipe| {
                let key = python(path).map(|python| recipe.key(&real(&python))).unwrap_or_default();
                EnvironmentDir::new(language, data, key)
            }),
            Language::Node => {
                recipe.node.as_ref().map(|recipe| EnvironmentDir::new(language, data, recipe.key()))
            }
        };
        let Some(dir) = dir else { return Self::NotWanted };
        match dir.prepared() {
            Some(prepared) => Self::Ready(prepared),
            None if dir.has_other() => Self::Stale,
            None => Self::Missing,
        }
    }

    /// The same start with the environment, where it is ready.
    ///
    /// What is shown stays what was shown for the interpreter of the user's choice. The environment's own link to it can
    /// be changed by the skill's scripts, so it decides nothing: led elsewhere, it leads nowhere inside.
    #[must_use]
    pub fn launch(&self, launch: Launch) -> Launch {
        let Self::Ready(prepared) = self else { return launch };
        match prepared.language {
            Language::Python => Launch { program: prepared.folder.join("bin/python"), ..launch },
            Language::Node => {
                let loader = prepared.folder.join(super::node::LOADER).to_string_lossy().into_owned();
                let arguments =
                    ["--require".to_owned(), loader].into_iter().chain(launch.arguments).collect();
                Launch { arguments, ..launch }
            }
        }
    }

    /// What to say after a run of the skill with this name. `errors` is what a script that failed wrote to its standard
    /// error, and `None` for one that did not.
    pub fn note(&self, name: &str, errors: Option<&str>) -> Option<String> {
        let lacks = errors.is_some_and(|errors| NO_MODULE.iter().any(|text| errors.contains(text)));
        match self {
            Self::Stale => Some(format!(
                "what this skill wants installed has changed since it was prepared, so that was not used; run `metier prepare {name}`"
            )),
            Self::Missing if lacks => Some(format!(
                "this skill wants packages that are not installed yet; run `metier prepare {name}`"
            )),
            Self::Unreadable(why) if lacks => {
                Some(format!("what this skill wants installed cannot be read: {why}"))
            }
            _ => None,
        }
    }

    /// How much of the data folder the environment takes, in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Ready(prepared) => prepared.bytes,
            _ => 0,
        }
    }
}

/// The Python that scripts are run by.
pub(crate) fn python(path: &SearchPath) -> Option<Program> {
    path.find_any(Interpreter::Python.programs())
}

/// Which version of it that is, as far as a path says: `python3` becomes `python3.11`.
pub(crate) fn real(python: &Program) -> std::path::PathBuf {
    metier_files::real_path(&python.file).unwrap_or_else(|_| python.file.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_to_do_only_where_it_helps() {
        let lacks = Some("Traceback …\nModuleNotFoundError: No module named 'six'\n");
        let check = |environment_state: &EnvironmentState, errors: Option<&str>, expect: Option<&str>| {
            let note = environment_state.note("pdf", errors);
            assert_eq!(note.is_some(), expect.is_some(), "{note:?}");
            assert!(note.unwrap_or_default().contains(expect.unwrap_or_default()));
        };
        check(&EnvironmentState::Missing, lacks, Some("`metier prepare pdf`"));
        check(&EnvironmentState::Missing, Some("Error: Cannot find module 'x'"), Some("not installed yet"));
        check(&EnvironmentState::Missing, Some("ValueError"), None);
        check(&EnvironmentState::Missing, None, None);
        check(&EnvironmentState::Stale, None, Some("has changed since"));
        check(&EnvironmentState::NotWanted, lacks, None);
        check(
            &EnvironmentState::Unreadable("requirements.txt:1: x".into()),
            lacks,
            Some("requirements.txt:1"),
        );
    }

    #[test]
    fn a_prepared_environment_changes_who_starts_and_not_what_is_shown() {
        let launch =
            Launch { program: "/usr/bin/x".into(), arguments: vec!["/s/a".into()], programs: vec![] };
        let ready = |language| {
            EnvironmentState::Ready(PreparedEnvironment {
                language,
                folder: "/d/env/e".into(),
                packages: vec![],
                bytes: 1,
            })
        };
        let python = ready(Language::Python).launch(launch.clone());
        assert_eq!(
            (python.program.to_str(), python.arguments),
            (Some("/d/env/e/bin/python"), vec!["/s/a".to_owned()])
        );
        let node = ready(Language::Node).launch(launch.clone());
        assert_eq!(node.arguments, ["--require", "/d/env/e/metier-loader.cjs", "/s/a"]);
        assert_eq!(node.program, launch.program);
        assert_eq!(EnvironmentState::Missing.launch(launch.clone()), launch);
    }
}

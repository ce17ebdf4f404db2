//! Version managers put a stand-in for each program on the search path. Inside, the manager and its settings are not
//! there, so the program that the stand-in would start is found here.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use metier_files::{Kind, is_program, kind, link_target, names_in, read_bounded};

use super::SearchPath;

/// What stands at a place of the search path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shim {
    /// A program, not a stand-in.
    None,
    /// A stand-in for this program.
    Program(PathBuf),
    /// A stand-in for nothing, or for what comes later on the search path.
    Pass,
}

/// A kind of version manager.
struct Manager {
    /// The end of the folder with its stand-ins.
    shims: &'static str,
    /// Where its versions are, seen from its own folder.
    versions: Versions,
    /// Files of a project that choose a version.
    chosen: &'static [&'static str],
    /// Files of its own that do where no project does.
    global: &'static [&'static str],
}

/// How versions lie below a manager's folder.
#[derive(Clone, Copy)]
enum Versions {
    /// `FOLDER/VERSION/bin`.
    Flat(&'static str),
    /// `FOLDER/TOOL/VERSION/bin`.
    ByTool(&'static str),
}

impl Manager {
    const fn new(
        shims: &'static str,
        versions: Versions,
        chosen: &'static [&'static str],
        global: &'static [&'static str],
    ) -> Self {
        Self { shims, versions, chosen, global }
    }
}

const MANAGERS: &[Manager] = &[
    Manager::new(".pyenv/shims", Versions::Flat("versions"), &[".python-version"], &["version"]),
    Manager::new(".rbenv/shims", Versions::Flat("versions"), &[".ruby-version"], &["version"]),
    Manager::new(".nodenv/shims", Versions::Flat("versions"), &[".node-version"], &["version"]),
    Manager::new(".asdf/shims", Versions::ByTool("installs"), &[".tool-versions"], &[]),
    Manager::new(
        "mise/shims",
        Versions::ByTool("installs"),
        &[".tool-versions", "mise.toml", ".mise.toml"],
        &[],
    ),
    Manager::new(".volta/bin", Versions::ByTool("tools/image"), &[], &["tools/user/platform.json"]),
    // rustup's own folder lies beside cargo's.
    Manager::new(
        ".cargo/bin",
        Versions::Flat("../.rustup/toolchains"),
        &["rust-toolchain", "rust-toolchain.toml"],
        &["../.rustup/settings.toml"],
    ),
];

/// A file that chooses a version has a few lines.
const MAX_CHOICE: u64 = 64 * 1024;

/// Nobody has more versions of everything together.
const MAX_VERSIONS: usize = 1000;

/// What is known of version managers. Many tools stand behind the same one, so it is asked once what it has and which version is
/// chosen.
#[derive(Debug, Default)]
pub(super) struct Managers(RefCell<HashMap<PathBuf, Rc<Installed>>>);

/// The versions that a manager has, the best first.
#[derive(Debug)]
struct Installed {
    /// Where the programs of each version are.
    bins: Vec<PathBuf>,
    /// Whether the system's own program is chosen, whatever the manager has.
    is_system: bool,
}

impl Managers {
    /// What stands at `file`, found under `name`.
    pub(super) fn resolve(&self, file: &Path, name: &str, path: &SearchPath) -> Shim {
        let Some(folder) = file.parent() else { return Shim::None };
        let Some(manager) = MANAGERS.iter().find(|manager| folder.ends_with(manager.shims)) else {
            return Shim::None;
        };
        let Some(root) = folder.parent() else { return Shim::None };
        let known = self.0.borrow().get(root).cloned();
        let known = known.unwrap_or_else(|| {
            let installed = Rc::new(Installed::of(root, manager, path));
            self.0.borrow_mut().insert(root.to_owned(), Rc::clone(&installed));
            installed
        });
        match known.bins.iter().map(|bin| bin.join(name)).find(|program| is_program(program)) {
            Some(_) if known.is_system => Shim::Pass,
            Some(program) => Shim::Program(program),
            None => {
                // These two folders hold programs of their own beside the stand-ins, which are links to the manager.
                let stand_in = link_target(file).is_some_and(|target| {
                    let name = target.file_name();
                    name.is_some_and(|name| name == "volta-shim" || name == "rustup" || name == "mise")
                });
                let mixed = matches!(manager.shims, ".cargo/bin" | ".volta/bin");
                if mixed && !stand_in { Shim::None } else { Shim::Pass }
            }
        }
    }
}

impl Installed {
    fn of(root: &Path, manager: &Manager, path: &SearchPath) -> Self {
        let shelves: Vec<PathBuf> = match manager.versions {
            Versions::Flat(folder) => vec![root.join(folder)],
            Versions::ByTool(folder) => {
                let folder = root.join(folder);
                names_in(&folder, MAX_VERSIONS).into_iter().map(|tool| folder.join(tool)).collect()
            }
        };
        let mut versions: Vec<(String, PathBuf)> = Vec::new();
        for shelf in shelves {
            let names = names_in(&shelf, MAX_VERSIONS).into_iter();
            versions.extend(
                names.map(|name| (name.to_string_lossy().into_owned(), shelf.join(&name).join("bin"))),
            );
        }
        let chosen = choice(root, manager, path);
        let fits = |version: &str| chosen.as_deref().is_some_and(|text| is_chosen(text, version));
        // `3.11` means the newest 3.11; nothing that fits means the newest of all.
        versions.sort_by(|(a, _), (b, _)| fits(b).cmp(&fits(a)).then_with(|| newer(b, a)));
        let is_system = chosen.as_deref().is_some_and(|text| says(text, "system"));
        Self { bins: versions.into_iter().map(|(_, bin)| bin).collect(), is_system }
    }
}

/// The text that chooses a version: of the trusted project or a folder between it and the home, else of the home or the
/// manager. Folders above a project outside of the home may be anyone's.
fn choice(root: &Path, manager: &Manager, path: &SearchPath) -> Option<String> {
    let home = path.home.as_deref();
    let is_own = |folder: &&Path| {
        Some(*folder) == path.versions.as_deref() || home.is_some_and(|home| folder.starts_with(home))
    };
    let above = path.versions.iter().flat_map(|project| project.ancestors()).filter(is_own).chain(home);
    let chosen = above.flat_map(|folder| manager.chosen.iter().map(move |name| folder.join(name)));
    let global = manager.global.iter().map(|name| root.join(name));
    let file = chosen.chain(global).find(|file| kind(file) == Kind::File)?;
    let text = read_bounded(&file, MAX_CHOICE).ok()??;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The words of a file that chooses versions, whatever its form: lines, pairs, TOML, JSON.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| {
            line.split(|c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '=' | ':' | '{' | '}' | '[' | ']')
            })
        })
        .filter(|word| !word.is_empty())
}

fn says(text: &str, wanted: &str) -> bool {
    words(text).any(|word| word == wanted)
}

/// Whether one of the words is this version or the beginning of it, in whole numbers.
fn is_chosen(text: &str, version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    words(text).map(|word| word.strip_prefix('v').unwrap_or(word)).any(|word| {
        version.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    })
}

/// Orders versions by their numbers: 3.9 before 3.11.
fn newer(a: &str, b: &str) -> Ordering {
    numbers(a).cmp(&numbers(b)).then_with(|| a.cmp(b))
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use metier_testkit::Workspace;

    use super::*;

    fn pyenv() -> Workspace {
        let mut workspace = Workspace::new()
            .executable("home/.pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec\n")
            .executable("home/.pyenv/shims/python2", "#!/usr/bin/env bash\n");
        for version in ["3.9.18", "3.11.7", "3.11.10", "3.12.0"] {
            workspace = workspace.executable(format!("home/.pyenv/versions/{version}/bin/python3"), "");
        }
        workspace
    }

    fn check(workspace: &Workspace, shim: &str, expect: Option<&str>) {
        let path = SearchPath::new(OsStr::new(""))
            .home(&workspace.join("home"))
            .versions_of(&workspace.join("home/app"));
        let file = workspace.join("home").join(shim);
        let name = file.file_name().unwrap().to_str().unwrap();
        let found = Managers::default().resolve(&file, name, &path);
        match expect {
            Some(expect) => assert_eq!(found, Shim::Program(workspace.join("home").join(expect)), "{shim}"),
            None => assert_eq!(found, Shim::Pass, "{shim}"),
        }
    }

    #[test]
    fn a_stand_in_is_the_version_that_project_manager_or_age_choose() {
        let newest = pyenv();
        check(&newest, ".pyenv/shims/python3", Some(".pyenv/versions/3.12.0/bin/python3"));
        check(&newest, ".pyenv/shims/python2", None);
        let global = pyenv().file("home/.pyenv/version", "3.9.18\n");
        check(&global, ".pyenv/shims/python3", Some(".pyenv/versions/3.9.18/bin/python3"));
        let project = pyenv()
            .file("home/.pyenv/version", "3.9.18\n")
            .file("home/app/.python-version", "# ours\n3.11\n");
        check(&project, ".pyenv/shims/python3", Some(".pyenv/versions/3.11.10/bin/python3"));
        let system = pyenv().file("home/.pyenv/version", "system\n");
        check(&system, ".pyenv/shims/python3", None);
        let unknown = pyenv().file("home/.pyenv/version", "3.8.0\n");
        check(&unknown, ".pyenv/shims/python3", Some(".pyenv/versions/3.12.0/bin/python3"));
    }

    #[test]
    fn other_managers_are_understood() {
        let workspace = Workspace::new()
            .executable("home/.asdf/shims/node", "#!/usr/bin/env bash\n# asdf-plugin: nodejs 20.1.0\n")
            .executable("home/.asdf/installs/nodejs/18.0.0/bin/node", "")
            .executable("home/.asdf/installs/nodejs/20.1.0/bin/node", "")
            .file("home/.tool-versions", "nodejs 18.0.0\n")
            .executable("home/.volta/bin/volta-shim", "")
            .symlink("home/.volta/bin/node", "volta-shim")
            .executable("home/.volta/tools/image/node/20.1.0/bin/node", "")
            .executable("home/.volta/tools/image/node/22.1.0/bin/node", "")
            .file("home/.volta/tools/user/platform.json", r#"{"node":{"runtime":"20.1.0","npm":null}}"#)
            .executable("home/.cargo/bin/rustup", "")
            .symlink("home/.cargo/bin/cargo", "rustup")
            .symlink("home/.cargo/bin/miri", "rustup")
            .executable("home/.cargo/bin/rg", "")
            .executable("home/.rustup/toolchains/1.80-x86/bin/cargo", "")
            .executable("home/.rustup/toolchains/stable-x86/bin/cargo", "")
            .file("home/.rustup/settings.toml", "default_toolchain = \"stable-x86\"\n");
        check(&workspace, ".asdf/shims/node", Some(".asdf/installs/nodejs/18.0.0/bin/node"));
        check(&workspace, ".volta/bin/node", Some(".volta/tools/image/node/20.1.0/bin/node"));
        check(&workspace, ".cargo/bin/cargo", Some(".cargo/../.rustup/toolchains/stable-x86/bin/cargo"));
        check(&workspace, ".cargo/bin/miri", None);
        let path = SearchPath::new(OsStr::new(""));
        let managers = Managers::default();
        assert_eq!(managers.resolve(&workspace.join("home/.cargo/bin/rg"), "rg", &path), Shim::None);
        assert_eq!(managers.resolve(Path::new("/usr/bin/python3"), "python3", &path), Shim::None);
    }
}

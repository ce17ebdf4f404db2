//! What of the user's folders belongs to a program.
//!
//! A program needs what it was installed with, and a home holds everything else: keys, mail, other projects. So inside
//! the home only shapes that installers are known to make are shown, and of anything else the one file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_files::{Kind, kind, names_in, read_bounded};

/// What is shown for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Installation {
    /// A folder, or the program's own file.
    pub(super) shown: PathBuf,
    /// Other programs it is nothing without.
    pub(super) also: Vec<PathBuf>,
}

/// The ends of folders that installers make for one program or one version of it. `*` is any one name.
const PREFIXES: &[&str] = &[
    ".pyenv/versions/*",
    ".pyenv/versions/*/envs/*",
    ".rbenv/versions/*",
    ".nodenv/versions/*",
    ".goenv/versions/*",
    ".nvm/versions/node/*",
    "nvm/versions/node/*",
    "fnm/node-versions/*/installation",
    ".fnm/node-versions/*/installation",
    ".volta/tools/image/*/*",
    ".asdf/installs/*/*",
    "asdf/installs/*/*",
    "mise/installs/*/*",
    "rtx/installs/*/*",
    "uv/python/*",
    "uv/tools/*",
    "pipx/venvs/*",
    ".rye/py/*",
    ".rustup/toolchains/*",
    ".sdkman/candidates/*/*",
    ".npm-global",
    ".npm-packages",
    ".linuxbrew",
];

/// Files and folders that only an installation has.
const MARKS: &[&str] = &["conda-meta", "include/node/node_version.h"];

/// The file of a virtual environment. A project may be one at its top, so it counts only where the user chose its `bin`.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// Who chose the folder that a program lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// The user: it is on the search path.
    Searched,
    /// The user: the configuration names a program in it by its path.
    Named,
    /// Nobody: a link or another program led there.
    No,
}

/// What bounds an installation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) project: Option<&'a Path>,
    pub(super) chosen: Chosen,
}

/// The ends of folders that hold programs and nothing else. What is beside them, such as a registry's token, is not shown.
const BINS: &[&str] =
    &[".cargo/bin", "go/bin", ".bun/bin", ".deno/bin", ".juliaup/bin", ".dotnet", ".pixi/bin"];

/// Folders of a home that are never shown, whatever is in them: everything of the user's lies below them.
const NEVER: &[&str] = &[
    ".local",
    ".local/share",
    ".local/state",
    ".local/lib",
    ".config",
    ".cache",
    "bin",
    "Documents",
    "Desktop",
];

/// Names of folders that hold versions of programs, for the links between those.
const SHELVES: &[&str] =
    &["versions", "node", "python", "toolchains", "installs", "envs", "venvs", "tools", "node-versions"];

/// How many names in `lib` are looked at for a standard library; a large prefix has a few hundred.
const MAX_LIBRARIES: usize = 2000;

/// A `pyvenv.cfg` has a few lines.
const MAX_CONFIGURATION: u64 = 64 * 1024;

impl Installation {
    /// What is shown for programs in a folder, a path without links; `None` where each is shown alone.
    pub(super) fn around(bin: &Path, limits: Limits<'_>) -> Option<Self> {
        let Limits { home, project, chosen } = limits;
        if BINS.iter().any(|end| ends_with(bin, end)) {
            return Some(Self { shown: bin.to_owned(), also: Vec::new() });
        }
        let prefix = match bin.file_name().and_then(|name| name.to_str()) {
            Some("bin" | "sbin") => bin.parent().unwrap_or(bin),
            _ => bin,
        };
        if is_too_wide(prefix, home) || project.is_some_and(|project| project.starts_with(prefix)) {
            return None;
        }
        let in_home = home.is_some_and(|home| prefix.starts_with(home));
        let known =
            PREFIXES.iter().any(|end| ends_with(prefix, end)) || MARKS.iter().any(|mark| has(prefix, mark));
        let environment = chosen != Chosen::No && has(prefix, ENVIRONMENT);
        // `lib` beside `bin` is how programs are installed, and how applications with keys in them are laid out. So it
        // counts only where the user put that `bin` on the search path.
        let installed = chosen == Chosen::Searched && !in_home && prefix != bin && has(prefix, "lib");
        (known || environment || installed || is_python(prefix))
            .then(|| Self { shown: prefix.to_owned(), also: environment_base(prefix).into_iter().collect() })
    }
}

/// Whether a folder holds versions of a program and nothing else, so that all of it may be shown.
pub(super) fn is_shelf(folder: &Path, home: Option<&Path>) -> bool {
    let named = folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| SHELVES.contains(&name));
    // `~/python` is anything; `~/.local/share/uv/python` is what it says.
    let deep = home
        .is_none_or(|home| folder.strip_prefix(home).map_or(true, |inside| inside.components().count() >= 2));
    named && deep && !is_too_wide(folder, home)
}

/// Whether showing a folder would show more than a program: the root, a folder at the top, the home, what it lies in, and
/// the folders of it that hold everything.
fn is_too_wide(folder: &Path, home: Option<&Path>) -> bool {
    // The root counts as one component.
    if folder.components().count() < 3 {
        return true;
    }
    home.is_some_and(|home| home.starts_with(folder) || NEVER.iter().any(|never| folder == home.join(never)))
}

/// The interpreter that a virtual environment was made from: without it there is no standard library.
fn environment_base(prefix: &Path) -> Option<PathBuf> {
    let text = read_bounded(&prefix.join(ENVIRONMENT), MAX_CONFIGURATION).ok()??;
    let text = String::from_utf8_lossy(&text).into_owned();
    let home = text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| value.trim().to_owned())
    })?;
    let folder = metier_files::real_path(Path::new(&home)).ok()?;
    ["python3", "python"].iter().map(|name| folder.join(name)).find(|file| metier_files::is_program(file))
}

/// Whether a folder is an installation of Python: `bin/python3` and its standard library. A virtual environment leads to it.
fn is_python(prefix: &Path) -> bool {
    let library = |name: &OsString| prefix.join("lib").join(name).join("os.py");
    let is_version = |name: &OsString| name.as_encoded_bytes().starts_with(b"python3");
    metier_files::is_program(&prefix.join("bin/python3"))
        && names_in(&prefix.join("lib"), MAX_LIBRARIES)
            .iter()
            .any(|name| is_version(name) && kind(&library(name)) == Kind::File)
}

fn has(folder: &Path, name: &str) -> bool {
    kind(&folder.join(name)) != Kind::Missing
}

/// Whether the last parts of a path are those of a pattern.
fn ends_with(path: &Path, end: &str) -> bool {
    let mut parts = path.components().rev().filter_map(|part| part.as_os_str().to_str());
    end.rsplit('/').all(|wanted| parts.next().is_some_and(|part| wanted == "*" || wanted == part))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::super::SearchPath;
    use super::super::seen::Seen;
    use super::*;

    fn check(workspace: &Workspace, file: &str, expect: &str) {
        let file = workspace.join(file);
        let search = SearchPath::new(file.parent().unwrap().as_os_str()).home(&workspace.join("home/ada"));
        let installation = Seen::default().installation(&file, &search);
        assert_eq!(installation.shown, workspace.join(expect), "{}", file.display());
    }

    #[test]
    fn of_a_home_only_known_installations_are_shown() {
        let workspace = Workspace::new()
            .file("home/ada/app/.venv/pyvenv.cfg", "home = /usr/bin\n")
            .dir("home/ada/miniconda3/conda-meta")
            .dir("home/ada/code/lib")
            .dir("home/ada/lib")
            .dir("home/ada/.local/lib")
            .dir("srv/tool/lib");
        let table = [
            ("home/ada/.nvm/versions/node/v20.1.0/bin/node", "home/ada/.nvm/versions/node/v20.1.0"),
            ("home/ada/.pyenv/versions/3.11.7/bin/python3", "home/ada/.pyenv/versions/3.11.7"),
            (
                "home/ada/.local/share/uv/python/cpython-3.12/bin/python3",
                "home/ada/.local/share/uv/python/cpython-3.12",
            ),
            (
                "home/ada/.local/share/mise/installs/node/20/bin/node",
                "home/ada/.local/share/mise/installs/node/20",
            ),
            ("home/ada/.volta/tools/image/node/20.1.0/bin/node", "home/ada/.volta/tools/image/node/20.1.0"),
            ("home/ada/.rustup/toolchains/stable/bin/cargo", "home/ada/.rustup/toolchains/stable"),
            ("home/ada/app/.venv/bin/python", "home/ada/app/.venv"),
            ("home/ada/miniconda3/bin/python", "home/ada/miniconda3"),
            // Beside it lie a registry's credentials.
            ("home/ada/.cargo/bin/rg", "home/ada/.cargo/bin"),
            ("home/ada/go/bin/gopls", "home/ada/go/bin"),
            // Only the file: everything beside it is the user's.
            ("home/ada/.local/bin/tool", "home/ada/.local/bin/tool"),
            ("home/ada/bin/tool", "home/ada/bin/tool"),
            ("home/ada/tool", "home/ada/tool"),
            ("home/ada/code/bin/tool", "home/ada/code/bin/tool"),
            ("home/tool", "home/tool"),
            ("srv/tool/bin/tool", "srv/tool"),
        ];
        for (file, expect) in table {
            check(&workspace, file, expect);
        }
    }

    #[test]
    fn a_tree_that_nobody_put_on_the_search_path_is_not_shown() {
        let workspace = Workspace::new()
            .executable("srv/app/bin/rails", "")
            .dir("srv/app/lib")
            .executable("home/ada/app/bin/tool", "")
            .file("home/ada/app/pyvenv.cfg", "home = /usr/bin\n")
            .executable("srv/python/bin/python3", "")
            .file("srv/python/lib/python3.12/os.py", "");
        let shown = |file: &str, search: SearchPath| {
            Seen::default()
                .installation(&workspace.join(file), &search.home(&workspace.join("home/ada")))
                .shown
        };
        let nowhere = || SearchPath::new("/usr/bin".as_ref());
        for file in ["srv/app/bin/rails", "home/ada/app/bin/tool"] {
            assert_eq!(shown(file, nowhere()), workspace.join(file));
            let bin = workspace.join(file);
            let search = || SearchPath::new(bin.parent().unwrap().as_os_str());
            let tree = bin.parent().and_then(Path::parent).unwrap();
            assert_eq!(shown(file, search()), tree);
            // A project is shown with its masks, never as an installation.
            assert_eq!(shown(file, search().project(tree)), bin);
            assert_eq!(shown(file, search().project(&tree.join("bin"))), bin);
        }
        // The Python that a virtual environment was made from.
        assert_eq!(shown("srv/python/bin/python3", nowhere()), workspace.join("srv/python"));
    }

    #[test]
    fn nothing_that_holds_a_home_is_ever_shown() {
        let home = Path::new("/home/ada");
        for folder in [
            "/",
            "/home",
            "/home/ada",
            "/home/ada/.local",
            "/home/ada/.config",
            "/home/ada/.local/share",
            "/srv",
        ] {
            assert!(is_too_wide(Path::new(folder), Some(home)), "{folder}");
            assert!(!is_shelf(Path::new(folder), Some(home)), "{folder}");
        }
        assert!(!is_too_wide(Path::new("/home/ada/.nvm"), Some(home)));
        assert!(is_shelf(Path::new("/home/ada/.local/share/uv/python"), Some(home)));
        assert!(!is_shelf(Path::new("/home/ada/python"), Some(home)));
    }
}

//! Where programs are found, and what of the user's folders has to be shown for them.

mod installation;
mod seen;
mod shim;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use metier_catalog::Layout;
use metier_files::{is_program, link_target, plain_path, real_path, which_in};
use metier_sandbox::SYSTEM;

use self::seen::Seen;
use self::shim::Shim;

/// Where a system keeps the links that say which of several programs is meant. It is shown with the system's settings.
const ALTERNATIVES: &str = "/etc/alternatives";

/// Where programs are looked for inside, behind those of the user's own choice.
const SYSTEM_PATH: &[&str] = &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Tools that scripts call by name. Those of them that lie outside of the system's folders are shown, too: a shell script
/// that calls node needs it no less than one in JavaScript.
pub const TOOLS: &[&str] = &[
    "python3", "python", "pip", "pip3", "uv", "uvx", "poetry", "node", "npm", "npx", "pnpm", "yarn", "bun",
    "deno", "tsx", "ruby", "gem", "perl", "php", "java", "go", "cargo", "rustc", "git", "gh", "rg", "fd",
    "jq", "yq", "curl", "pandoc", "ffmpeg", "make", "sqlite3",
];

/// The part of the system's folders that people fill by hand.
const LOCAL: &[&str] = &["/usr/local"];

/// How many names of a folder of programs are looked at; a large one has a few thousand.
const MAX_NAMES: usize = 20_000;

/// The most links one program may stand behind. The kernel follows 40; real chains have three.
const MAX_LINKS: usize = 16;

/// The search path of the user, as values: nothing here reads the environment.
#[derive(Clone, Debug)]
#[must_use]
pub struct SearchPath {
    folders: Vec<PathBuf>,
    home: Option<PathBuf>,
    project: Option<PathBuf>,
    /// The project whose version files count.
    versions: Option<PathBuf>,
    more: Vec<PathBuf>,
}

/// A program on the search path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file that is executed. No folder on the way to it is a link; it may be one itself, since some programs ask by
    /// which name they were called.
    pub file: PathBuf,
    /// What has to be shown for it, beside the system's folders. Read-only, without links on the way.
    pub shown: Vec<PathBuf>,
    /// What could not be shown, and why.
    pub notes: Vec<String>,
}

/// Several programs, and what is shown for them all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolbox {
    /// What has to be shown. No entry lies in another.
    pub shown: Vec<PathBuf>,
    /// The search path inside.
    pub path: OsString,
    /// What could not be shown, and why.
    pub notes: Vec<String>,
}

impl SearchPath {
    /// Reads a value of `PATH`.
    ///
    /// Empty and relative entries are left out: they mean the current folder, and a program that happens to lie in a
    /// project is not what the user called.
    pub fn new(path: &OsStr) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let parts =
            path.as_bytes().split(|&byte| byte == b':').map(|part| PathBuf::from(OsStr::from_bytes(part)));
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in parts.filter(|folder| folder.is_absolute()) {
            // Many a profile adds the same folder again and again; only the first time means anything.
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Self { folders, home: None, project: None, versions: None, more: Vec::new() }
    }

    /// The same with the home and the project of a layout. The version files of a project that is not trusted do not count:
    /// they would choose the interpreter of the user's own skills.
    pub fn in_layout(path: &OsStr, layout: &Layout) -> Self {
        let mut search = Self::new(path);
        if let Some(home) = &layout.places.home {
            search = search.home(home);
        }
        if let Some(project) = &layout.project {
            search = search.project(&project.folder);
            if layout.standing.is_trusted() {
                search = search.versions_of(&project.folder);
            }
        }
        search
    }

    /// The user's home, of which nothing is shown but installations.
    pub fn home(mut self, home: &Path) -> Self {
        self.home = Some(real_path(home).unwrap_or_else(|_| home.to_owned()));
        self
    }

    /// The project, which is never shown as the installation of a program: that would show what is masked in it.
    pub fn project(mut self, project: &Path) -> Self {
        self.project = Some(real_path(project).unwrap_or_else(|_| project.to_owned()));
        self
    }

    /// The project whose version files (`.python-version`, `.tool-versions`, …) version managers follow.
    pub fn versions_of(mut self, project: &Path) -> Self {
        self.versions = Some(project.to_owned());
        self
    }

    /// Folders that are shown because the user's configuration says so.
    pub fn more(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.more.extend(folders);
        self
    }

    /// The first program of this name.
    pub fn find(&self, name: &str) -> Option<Program> {
        self.find_where(name, &|_| true, &Seen::default())
    }

    /// The same, in those folders only that may have it.
    fn find_where(&self, name: &str, may_have: &dyn Fn(&Path) -> bool, seen: &Seen) -> Option<Program> {
        // A name with a slash would lead out of the folders of the search path.
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let folders = self.folders.iter().filter(|folder| may_have(folder));
        let candidates = folders.map(|folder| folder.join(name)).filter(|file| is_program(file));
        for file in candidates {
            match seen.managers.resolve(&file, name, self) {
                Shim::None => return self.follow(&file, seen),
                Shim::Program(file) => return self.follow(&file, seen),
                // The version manager leaves it to whoever comes behind it.
                Shim::Pass => {}
            }
        }
        None
    }

    /// The first program of one of these names, the names in order.
    pub fn find_any(&self, names: &[&str]) -> Option<Program> {
        names.iter().find_map(|name| self.find(name))
    }

    /// The program at a place that the user's configuration names. A skill has no say in it: see [`Self::interpreter`].
    pub fn at(&self, file: &Path) -> Option<Program> {
        if is_program(file) { self.follow(file, &Seen::for_named(file)) } else { None }
    }

    /// The program at an absolute path that a `#!` line names.
    ///
    /// A line is a stranger's text and makes nothing visible by itself. So it names a file in the system's folders, which is
    /// there inside anyway, or the very file that the search path finds by its last name.
    pub fn interpreter(&self, file: &Path) -> Option<Program> {
        // What a path through `/proc` leads to depends on who looks.
        if file.starts_with("/proc") || !is_program(file) {
            return None;
        }
        let real = real_path(file).ok()?;
        if is_below(&real, SYSTEM) {
            // Some programs ask by which name they were called; a way there through the user's folders is not there inside.
            let file = if is_below(&plain_path(file), SYSTEM) { file.to_owned() } else { real };
            return Some(Program { file, shown: Vec::new(), notes: Vec::new() });
        }
        let (folder, name) = (real_path(file.parent()?).ok()?, file.file_name()?.to_str()?);
        let first = self.folders.iter().find(|folder| is_program(&folder.join(name)))?;
        let found = self.find(name)?;
        // A version manager's stand-in comes first on the path and leads to the program itself.
        let is_it =
            real_path(first).ok()? == folder || real_path(&found.file).is_ok_and(|found| found == real);
        is_it.then_some(found)
    }

    /// Follows a program's links to the end, and notes what has to be shown on the way.
    fn follow(&self, file: &Path, seen: &Seen) -> Option<Program> {
        let file = seen.real(file.parent()?)?.join(file.file_name()?);
        let mut program = Program { file: file.clone(), shown: Vec::new(), notes: Vec::new() };
        let mut hop = file;
        for _ in 0..MAX_LINKS {
            let target = link_target(&hop);
            let is_there = self.show(&hop, target.is_some(), &mut program, seen);
            let Some(target) = target else {
                return Some(program);
            };
            let target = plain_path(&hop.parent()?.join(target));
            let real = seen.real(target.parent()?)?;
            if Some(real.as_path()) != target.parent() {
                self.show_links(target.parent()?, &mut program);
            }
            hop = real.join(target.file_name()?);
            if !is_there {
                // Nothing inside leads to what the link leads to, so that is called by its own name.
                program.file.clone_from(&hop);
            }
        }
        None
    }

    /// Everything that is shown for these programs, and the search path inside.
    pub fn toolbox<'a>(&self, programs: impl IntoIterator<Item = &'a Program>) -> Toolbox {
        self.toolbox_knowing(programs, &Seen::default())
    }

    /// The same for those of [`TOOLS`], and of `more`, that may need something shown.
    pub fn usual_toolbox(&self, more: &[&str]) -> Toolbox {
        let seen = Seen::default();
        self.toolbox_knowing(&self.tools(more, &seen), &seen)
    }

    fn toolbox_knowing<'a>(&self, programs: impl IntoIterator<Item = &'a Program>, seen: &Seen) -> Toolbox {
        let mut toolbox = Toolbox::default();
        let mut bins: Vec<PathBuf> = Vec::new();
        for program in programs {
            toolbox.shown.extend(program.shown.iter().cloned());
            toolbox.notes.extend(program.notes.iter().cloned());
            let bin = program.file.parent().map(Path::to_owned);
            bins.extend(bin.filter(|bin| !is_below(bin, SYSTEM)));
        }
        for folder in &self.more {
            match real_path(folder) {
                Ok(folder) => {
                    bins.push(folder.join("bin"));
                    toolbox.shown.push(folder);
                }
                Err(error) => toolbox.notes.push(format!("`{}` is not shown: {error}", folder.display())),
            }
        }
        prune(&mut toolbox.shown);
        toolbox.notes.sort();
        toolbox.notes.dedup();
        // What is shown comes in the user's order, then the rest of what was found, then the system's.
        let visible = |folder: &Path| {
            is_below(folder, SYSTEM) || toolbox.shown.iter().any(|shown| folder.starts_with(shown))
        };
        let own = self.folders.iter().filter_map(|folder| seen.real(folder)).filter(|folder| visible(folder));
        let mut path: Vec<PathBuf> = Vec::new();
        for folder in bins.into_iter().chain(own).chain(SYSTEM_PATH.iter().map(PathBuf::from)) {
            // A colon would end the entry and begin another one.
            if !path.contains(&folder) && !folder.as_os_str().to_string_lossy().contains(':') {
                path.push(folder);
            }
        }
        toolbox.path = path.iter().map(|folder| folder.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"));
        toolbox
    }

    /// Those of [`TOOLS`], and of `more`, that may need something shown: what lies in the system's folders is there anyway,
    /// but for links that an administrator put into `/usr/local`.
    ///
    /// Each folder is listed once, since this comes before every run and asking it for forty names costs more.
    fn tools(&self, more: &[&str], seen: &Seen) -> Vec<Program> {
        let names: Vec<&str> = TOOLS.iter().chain(more).copied().collect();
        let own = self.folders.iter().filter(|folder| !is_below(folder, SYSTEM) || is_below(folder, LOCAL));
        let listed: Vec<(&Path, Vec<&str>)> =
            own.map(|folder| (folder.as_path(), which_in(folder, &names, MAX_NAMES))).collect();
        let wanted = names.iter().filter(|name| listed.iter().any(|(_, names)| names.contains(name)));
        let found = wanted.filter_map(|name| {
            let may_have = |folder: &Path| {
                let names = listed.iter().find(|(listed, _)| *listed == folder);
                names.is_none_or(|(_, names)| names.contains(name))
            };
            self.find_where(name, &may_have, seen)
        });
        found.collect()
    }

    /// Notes what has to be shown for a file, and says whether it is then there inside.
    fn show(&self, file: &Path, is_link: bool, program: &mut Program, seen: &Seen) -> bool {
        let known = is_below(file, SYSTEM) || file.starts_with(ALTERNATIVES);
        if known || program.shown.iter().any(|shown| file.starts_with(shown)) {
            return true;
        }
        let installation = seen.installation(file, self);
        // A link by itself cannot be shown, only a folder with a link in it.
        if is_link && installation.shown == file {
            return false;
        }
        program.shown.push(installation.shown);
        for other in installation.also {
            self.show(&other, false, program, seen);
        }
        true
    }

    /// A link on the way to a program has to be there inside, too, so the folder it lies in is shown, where that holds
    /// nothing but versions of a program.
    fn show_links(&self, way: &Path, program: &mut Program) {
        let mut at = PathBuf::new();
        for component in way.components() {
            at.push(component);
            let Some(target) = link_target(&at) else { continue };
            let Some(parent) = at.parent().filter(|parent| !is_below(parent, SYSTEM)).map(Path::to_owned)
            else {
                continue;
            };
            if program.shown.iter().any(|shown| at.starts_with(shown)) {
                continue;
            }
            if installation::is_shelf(&parent, self.home.as_deref()) {
                program.shown.push(parent);
            } else {
                program.notes.push(format!(
                    "`{}` is a link to `{}` that is not there inside; name the folder it leads to in PATH",
                    at.display(),
                    target.display()
                ));
            }
            return;
        }
    }
}

/// Whether a path is one of these or below.
pub(crate) fn is_below(path: &Path, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Removes what lies in another entry.
fn prune(paths: &mut Vec<PathBuf>) {
    paths.sort();
    paths.dedup();
    let all = paths.clone();
    paths.retain(|path| !all.iter().any(|other| other != path && path.starts_with(other)));
}

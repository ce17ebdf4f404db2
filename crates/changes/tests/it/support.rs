//! Projects to work on, and what they look like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use metier_changes::{ChangeSet, Layer, LayerPath, LayerStore};
use metier_testkit::Workspace;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// A process that is being started holds every lock of this one for a moment. Tests that give a lock up and take it again
/// keep others from starting any.
static STARTS: RwLock<()> = RwLock::new(());

/// While it lives, no test starts a process.
pub(crate) fn no_starts() -> RwLockReadGuard<'static, ()> {
    STARTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process with its output kept.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let _alone = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// A project and a data folder on one file system.
pub(crate) struct Ground {
    pub(crate) workspace: Workspace,
    pub(crate) store: LayerStore,
}

impl Ground {
    /// A project with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let mut workspace = Workspace::new().dir("data").dir("project");
        for (path, text) in files {
            workspace = workspace.file(format!("project/{path}"), text);
        }
        let store = LayerStore::new(&workspace.join("data"));
        let ground = Self { workspace, store };
        ground.wait();
        ground
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.workspace.join("project")
    }

    /// Waits until the clock of the file system has moved on, so that what was written is older than the next call.
    pub(crate) fn wait(&self) {
        wait_for_tick(&self.workspace.join("data"));
    }
}

pub(crate) fn wait_for_tick(folder: &Path) {
    let now = || {
        let path = folder.join("tick");
        fs::write(&path, "").unwrap();
        let metadata = fs::metadata(&path).unwrap();
        fs::remove_file(&path).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let first = now();
    while now() <= first {
        std::thread::yield_now();
    }
}

/// Every entry of a folder: what it is, its permissions, its content.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (metadata.mode(), content));
        }
    }
    found
}

/// Marks a path of an upper folder as deleted, as the overlay does.
pub(crate) fn whiteout(path: &Path) {
    mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

pub(crate) fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn close(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn path(text: &str) -> LayerPath {
    LayerPath::new(text.into()).unwrap()
}

pub(crate) fn paths(texts: &[&str]) -> BTreeSet<LayerPath> {
    texts.iter().map(|text| path(text)).collect()
}

pub(crate) fn all(changes: &ChangeSet) -> BTreeSet<LayerPath> {
    changes.entries.iter().map(|change| change.path.clone()).collect()
}

/// The changes in short, such as `created a.txt`.
pub(crate) fn short(changes: &ChangeSet) -> Vec<String> {
    changes.entries.iter().map(|change| format!("{} {}", change.kind.word(), change.path)).collect()
}

/// Runs a shell script in an overlay on the project, in a mount namespace of its own. `above` is a further lower folder.
/// `None` where this machine allows no such mount.
pub(crate) fn run_in_overlay(layer: &Layer, above: Option<&Path>, script: &str) -> Option<String> {
    let project = layer.project().display();
    let lower = above.map_or_else(|| project.to_string(), |above| format!("{}:{project}", above.display()));
    let is_root = rustix::process::geteuid().is_root();
    let option = if is_root { "" } else { ",userxattr" };
    let (upper, work) = (layer.upper(), layer.work());
    let mount = format!(
        "mount -t overlay overlay -o 'lowerdir={lower},upperdir={},workdir={}{option}' '{project}' \
         && cd '{project}' || exit 99\n{script}",
        upper.display(),
        work.display()
    );
    let mut command = Command::new("unshare");
    command.arg(if is_root { "-m" } else { "-rm" }).args(["sh", "-c", &mount]);
    let output = spawn(&mut command).ok()?.wait_with_output().unwrap();
    if output.status.code().is_none_or(|code| code == 99 || code == 127) || !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(99) || text.contains("unshare") {
            metier_testkit::not_tried("overlay", format_args!("no overlay can be mounted here: {text}"));
            return None;
        }
        panic!("{script}: {text}");
    }
    Some(String::from_utf8(output.stdout).unwrap())
}

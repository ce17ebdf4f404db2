#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "fixtures are made directly on the disk, and a test without its fixture has to stop"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

/// A temporary folder, filled by chained calls and removed when dropped.
///
/// Every path is relative to the folder, and the folders above it are made as needed.
#[derive(Debug)]
pub struct Workspace {
    folder: TempDir,
    real: PathBuf,
}

impl Workspace {
    /// An empty workspace.
    #[must_use]
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("metier-").expect("no temporary folder can be made");
        // The temporary folder may itself lie behind a link (`/tmp` on macOS). Tests compare real paths, so the
        // workspace is named by its real path from the start.
        let real = folder.path().canonicalize().expect("the temporary folder has a real path");
        Self { folder, real }
    }

    /// Writes a file.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let place = self.make_way(path.as_ref());
        fs::write(&place, content).unwrap_or_else(|error| cannot("write", &place, &error));
        self
    }

    /// Writes a file that may be executed.
    #[must_use]
    pub fn executable(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let workspace = self.file(&path, content);
        workspace.mode(path, 0o755)
    }

    /// Makes a link at `path` whose text is `target`, whether or not anything is there.
    #[must_use]
    pub fn symlink(self, path: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        let place = self.make_way(path.as_ref());
        symlink(target, &place).unwrap_or_else(|error| cannot("link", &place, &error));
        self
    }

    /// Makes a FIFO: whoever opens it for reading in the ordinary way waits for ever.
    #[must_use]
    pub fn fifo(self, path: impl AsRef<Path>) -> Self {
        let place = self.make_way(path.as_ref());
        mknodat(CWD, &place, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .unwrap_or_else(|error| cannot("make the FIFO", &place, &error));
        self
    }

    /// Makes a Unix socket that nobody listens on any more.
    #[must_use]
    pub fn socket(self, path: impl AsRef<Path>) -> Self {
        let place = self.make_way(path.as_ref());
        UnixListener::bind(&place).unwrap_or_else(|error| cannot("bind", &place, &error));
        self
    }

    /// Makes an empty folder.
    #[must_use]
    pub fn dir(self, path: impl AsRef<Path>) -> Self {
        let place = self.real.join(path);
        fs::create_dir_all(&place).unwrap_or_else(|error| cannot("make the folder", &place, &error));
        self
    }

    /// Sets the permission bits of what is at `path`.
    #[must_use]
    pub fn mode(self, path: impl AsRef<Path>, mode: u32) -> Self {
        let place = self.real.join(path);
        fs::set_permissions(&place, fs::Permissions::from_mode(mode))
            .unwrap_or_else(|error| cannot("set the permissions of", &place, &error));
        self
    }

    /// Writes a minimal valid skill: the folder `path` with a `SKILL.md` named after it.
    #[must_use]
    pub fn skill(self, path: impl AsRef<Path>, description: &str) -> Self {
        let path = path.as_ref();
        let name = path.file_name().expect("a skill's folder has a name").to_string_lossy();
        let text =
            format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{description}\n");
        self.file(path.join("SKILL.md"), text)
    }

    /// The workspace's own folder, as a real path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// The absolute path of something in the workspace.
    #[must_use]
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.real.join(path)
    }

    /// Keeps the folder on the disk for a look at it, and says where it is.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    fn make_way(&self, path: &Path) -> PathBuf {
        let place = self.real.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).unwrap_or_else(|error| cannot("make the folder", parent, &error));
        }
        place
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

fn cannot(what: &str, place: &Path, error: &dyn std::error::Error) -> ! {
    panic!("cannot {what} {}: {error}", place.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt;

    use super::*;

    #[test]
    fn everything_a_fixture_needs_can_be_made() {
        let workspace = Workspace::new()
            .file("plain/file.bin", [0_u8, 255])
            .executable("plain/run.sh", "#!/bin/sh\n")
            .symlink("plain/link", "nowhere")
            .fifo("plain/pipe")
            .socket("plain/socket")
            .dir("empty/folder")
            .skill("skills/greet", "Greets.");

        assert_eq!(fs::read(workspace.join("plain/file.bin")).unwrap(), [0, 255]);
        let executable = fs::metadata(workspace.join("plain/run.sh")).unwrap();
        assert_eq!(executable.permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_link(workspace.join("plain/link")).unwrap(), Path::new("nowhere"));
        assert!(fs::metadata(workspace.join("plain/pipe")).unwrap().file_type().is_fifo());
        assert!(fs::metadata(workspace.join("plain/socket")).unwrap().file_type().is_socket());
        assert!(workspace.join("empty/folder").is_dir());
        let text = fs::read_to_string(workspace.join("skills/greet/SKILL.md")).unwrap();
        assert!(text.starts_with("---\nname: greet\ndescription: Greets.\n---\n"));
    }

    #[test]
    fn a_workspace_is_removed_when_dropped() {
        let workspace = Workspace::new().file("a", "b");
        let path = workspace.path().to_owned();
        drop(workspace);
        assert!(!path.exists());
    }
}

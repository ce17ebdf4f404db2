//! Copies of skills by their digest: what was checked is what runs.
//!
//! Between the moment when a skill's files are hashed and the moment when a process opens them, whoever can write to the
//! folder may put others there. So what an approval or trust is bound to is copied while it is hashed, into a folder that
//! only the user can look into, and runs from there. What the digest does not cover is not in the copy.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::digest::{LinksOut, TreeDigest};
use crate::{Error, FolderLock, PassingFolder, SkillDir, private_folder};

/// How many copies are kept. A user has a few dozen skills with approvals.
const MAX_COPIES: usize = 64;

/// How many bytes all copies may have together; the one in use is kept whatever it has.
const MAX_BYTES: u64 = 1 << 30;

/// Where the kernel says which start of the machine this is.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Where copies are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeCopies {
    base: PathBuf,
}

/// A copy, which stays as long as this is held.
#[derive(Debug)]
pub struct TreeCopy {
    /// The digest of what is in it.
    pub digest: TreeDigest,
    /// Where it is, without links on the way.
    pub folder: PathBuf,
    /// The same, opened.
    pub dir: SkillDir,
    #[expect(dead_code, reason = "it is held, not used")]
    lock: File,
}

impl TreeCopies {
    /// The folder for copies that were made since the machine started. A machine that stops may leave files with half of
    /// what was written, so older copies are removed and made again when they are needed.
    fn of_this_boot(&self) -> io::Result<PathBuf> {
        let boot = fs::read_to_string(BOOT).unwrap_or_default();
        let folder = self.base.join(format!("boot-{}", boot.trim()));
        if !folder.try_exists()? {
            let all = fs::read_dir(&self.base).into_iter().flatten().flatten();
            // Another process may have made this one meanwhile. What cannot be removed is never used.
            for old in all.filter(|old| old.path() != folder) {
                let _ = fs::remove_dir_all(old.path());
            }
        }
        private_folder(&self.base)?;
        private_folder(&folder)?;
        fs::canonicalize(&folder)
    }

    /// Keeps copies in this folder, which is made when the first one is.
    pub fn new(base: PathBuf) -> Self {
        Self { base }
    }

    /// The copy of a skill as it is now, made if there is none yet. A link that leads out of the skill is an error.
    pub fn take(&self, skill: &SkillDir) -> Result<TreeCopy, Error> {
        self.copy(skill, LinksOut::Refused)
    }

    /// The same with links that lead out as they are. The digest covers where they lead, not what is there.
    pub fn take_with_links(&self, skill: &SkillDir) -> Result<TreeCopy, Error> {
        self.copy(skill, LinksOut::Kept)
    }

    fn copy(&self, skill: &SkillDir, links: LinksOut) -> Result<TreeCopy, Error> {
        let failed = |error: io::Error| Error::from_io(&self.base, error);
        let base = self.of_this_boot().map_err(failed)?;
        let (digest, bytes) = TreeDigest::with_size(skill, links)?;
        if let Some(copy) = hold(&base, digest, bytes).map_err(failed)? {
            return Ok(copy);
        }
        // The files may be others by now; the copy has the name of what is in it.
        let new = PassingFolder::make(&base).map_err(failed)?;
        let _making = FolderLock::take(new.path()).map_err(failed)?;
        let content = new.path().join("skill");
        fs::create_dir(&content).map_err(failed)?;
        let into = Dir::open_ambient_dir(&content, ambient_authority()).map_err(failed)?;
        let (digest, bytes) = TreeDigest::copying(skill, links, &into)?;
        match fs::rename(&content, base.join(name(digest, bytes))) {
            Ok(()) => {}
            // Somebody else was faster, with the same bytes.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(error) => return Err(failed(error)),
        }
        let copy = hold(&base, digest, bytes).map_err(failed)?;
        let copy = copy.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        // What cannot be removed now is removed another time.
        let _ = sweep(&base);
        Ok(copy)
    }
}

/// The name of a copy, with its size, so that nobody has to look into it to know that.
fn name(digest: TreeDigest, bytes: u64) -> String {
    format!("{}-{bytes}", digest.to_string().replace(':', "-"))
}

/// Takes hold of a copy, if it is there.
fn hold(base: &Path, digest: TreeDigest, bytes: u64) -> io::Result<Option<TreeCopy>> {
    let folder = base.join(name(digest, bytes));
    let lock = match File::open(&folder) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    lock.lock_shared()?;
    // The lock may be that of a folder that was removed meanwhile.
    if !folder.try_exists()? {
        return Ok(None);
    }
    // The one that was used last is removed last.
    let _ = lock.set_times(FileTimes::new().set_modified(SystemTime::now()));
    let dir = SkillDir::open(&folder).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Some(TreeCopy { digest, folder, dir, lock }))
}

/// Removes what was not used for the longest time, until the rest is within the bounds, and what was left half made.
fn sweep(base: &Path) -> io::Result<()> {
    let mut copies: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(base)?.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let bytes = name.to_str().and_then(|name| name.strip_prefix("sha256-")?.rsplit_once('-'));
        match bytes.and_then(|(_, bytes)| bytes.parse().ok()) {
            Some(bytes) => copies.push((entry.metadata()?.modified()?, bytes, path)),
            None => remove(&path)?,
        }
    }
    copies.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    let (mut count, mut total) = (0, 0_u64);
    for (_, bytes, path) in copies {
        count += 1;
        total = total.saturating_add(bytes);
        if count > MAX_COPIES || total > MAX_BYTES {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes a folder that nobody holds.
fn remove(path: &Path) -> io::Result<()> {
    match FolderLock::try_take(path)? {
        Some(_held) => fs::remove_dir_all(path),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn a_copy_has_what_the_digest_covers_and_nothing_else() {
        let workspace = Workspace::new()
            .skill("skill", "Demo.")
            .executable("skill/scripts/run", "#!/bin/sh\n")
            .file("skill/lib/a.txt", "a")
            .file("skill/.git/hooks/x", "x")
            .file("skill/lib/.git/y", "y")
            .file("skill/.source.json", "{}")
            .symlink("skill/link", "lib/a.txt");
        let copies = TreeCopies::new(workspace.join("data/copies"));
        let skill = SkillDir::open(&workspace.join("skill")).unwrap();
        let copy = copies.take(&skill).unwrap();
        assert_eq!(copy.digest, TreeDigest::of(&skill).unwrap());
        assert_eq!(TreeDigest::of(&copy.dir).unwrap(), copy.digest);
        for gone in [".git", "lib/.git", ".source.json"] {
            assert!(!copy.folder.join(gone).exists(), "{gone}");
        }
        let mode = |name: &str| fs::metadata(copy.folder.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("scripts/run"), mode("lib/a.txt")), (0o755, 0o644));
        assert_eq!(fs::read_link(copy.folder.join("link")).unwrap(), Path::new("lib/a.txt"));
        assert_eq!(fs::metadata(workspace.join("data/copies")).unwrap().permissions().mode() & 0o777, 0o700);
        // The same bytes are one copy; others are another, and the first one stays as it is.
        assert_eq!(copies.take(&skill).unwrap().folder, copy.folder);
        // What another start of the machine left is not used.
        fs::create_dir_all(workspace.join("older/boot-x/sha256-y")).unwrap();
        drop(TreeCopies::new(workspace.join("older")).take(&skill).unwrap());
        assert!(!workspace.join("older/boot-x").exists());
        fs::write(workspace.join("skill/lib/a.txt"), "b").unwrap();
        let other = copies.take(&skill).unwrap();
        assert_ne!(other.folder, copy.folder);
        assert_eq!(fs::read_to_string(copy.folder.join("lib/a.txt")).unwrap(), "a");
    }

    #[test]
    fn what_is_not_used_is_removed_and_what_is_held_is_not() {
        let workspace = Workspace::new().skill("skill", "Demo.");
        let copies = TreeCopies::new(workspace.join("copies"));
        let take = |number: usize| {
            fs::write(workspace.join("skill/number"), number.to_string()).unwrap();
            copies.take(&SkillDir::open(&workspace.join("skill")).unwrap()).unwrap()
        };
        let first = take(0);
        let base = first.folder.parent().unwrap();
        fs::create_dir(base.join("metier-half-made")).unwrap();
        for number in 1..=MAX_COPIES + 5 {
            drop(take(number));
        }
        let count = fs::read_dir(base).unwrap().count();
        assert!(count <= MAX_COPIES + 1, "{count}");
        assert!(first.folder.exists() && !base.join("metier-half-made").exists());
    }

    #[test]
    fn what_cannot_be_covered_is_not_copied() {
        let workspace = Workspace::new().skill("skill", "Demo.").symlink("skill/out", "/etc/passwd");
        let copies = TreeCopies::new(workspace.join("copies"));
        assert!(copies.take(&SkillDir::open(&workspace.join("skill")).unwrap()).is_err());
        let boots: Vec<_> = fs::read_dir(workspace.join("copies")).unwrap().flatten().collect();
        assert_eq!(fs::read_dir(boots[0].path()).unwrap().count(), 0);
    }
}

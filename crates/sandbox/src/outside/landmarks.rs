//! Which files and folders lie at the paths of a profile.
//!
//! A room is kept, and its mounts are on the files that lay there when it was built. When one of these is replaced, as an
//! editor does that saves, the kernel takes the mount away with it: a mask would be gone, and a protected place that came
//! later would never have been mounted. So a room counts for a profile only while its landmarks are the same.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::profile::Profile;

/// What lies at every path of a profile; nothing where nothing does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Landmarks(Vec<Option<Landmark>>);

/// A file or folder by device, number and time. The number alone would not do: the next file may get that of one that was
/// removed, and then a room whose mask is gone with the old file would be taken for the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Landmark {
    device: (u32, u32),
    number: u64,
    /// When it was made. A file system that keeps no such time tells when it was changed instead, and rooms are built
    /// more often there than they have to be.
    since: (i64, u32),
}

impl Landmarks {
    pub(crate) fn of(profile: &Profile) -> Self {
        let mut marks: Vec<_> = profile.sources().map(|path| mark(path)).collect();
        // A layered one is mounted anew in each call.
        if let Some(project) = profile.project.as_ref().filter(|_| profile.layered_project().is_none()) {
            let shown = [&project.folder].into_iter().chain(&project.writable).chain(&project.masked);
            marks.extend(shown.map(|path| mark(path)));
            for place in &project.protected {
                // The folders on the way as well: they are mounted on themselves.
                let way = place.ancestors().take_while(|folder| *folder != project.folder);
                marks.extend(way.map(mark));
            }
        }
        Self(marks)
    }
}

fn mark(path: &Path) -> Option<Landmark> {
    let asked = StatxFlags::INO | StatxFlags::BTIME | StatxFlags::CTIME;
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, asked).ok()?;
    let told = StatxFlags::from_bits_retain(found.stx_mask);
    let since = if told.contains(StatxFlags::BTIME) { found.stx_btime } else { found.stx_ctime };
    Some(Landmark {
        device: (found.stx_dev_major, found.stx_dev_minor),
        number: found.stx_ino,
        since: (since.tv_sec, since.tv_nsec),
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use crate::profile::{Project, ProjectAccess};

    #[test]
    fn a_file_that_is_replaced_or_appears_is_noticed_and_one_that_is_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at(".env"), "1").unwrap();
        let mut profile = Profile::new(folder.path().to_owned());
        profile.project = Some(Project {
            access: ProjectAccess::ReadOnly,
            folder: folder.path().to_owned(),
            writable: vec![],
            masked: vec![at(".env")],
            protected: vec![at(".git/hooks")],
        });
        let before = Landmarks::of(&profile);
        std::fs::write(at(".env"), "2").unwrap();
        std::fs::write(at("other"), "3").unwrap();
        assert_eq!(Landmarks::of(&profile), before);
        std::fs::rename(at("other"), at(".env")).unwrap();
        let replaced = Landmarks::of(&profile);
        assert_ne!(replaced, before);
        std::fs::create_dir(at(".git")).unwrap();
        assert_ne!(Landmarks::of(&profile), replaced);
    }

    #[test]
    fn a_new_file_with_the_number_of_a_removed_one_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let mut seen = std::collections::HashSet::new();
        for round in 0..20 {
            std::fs::write(&file, "").unwrap();
            assert!(seen.insert(mark(&file)), "round {round}");
            std::fs::remove_file(&file).unwrap();
            // File systems tell times in ticks of up to ten milliseconds.
            std::thread::sleep(std::time::Duration::from_millis(11));
        }
    }
}

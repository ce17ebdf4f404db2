//! Which files and folders lie at the paths of a profile.
//!
//! A room is kept, and its mounts are on the files that lay there when it was built. When one of these is replaced, as an
//! editor does that saves, the kernel takes the mount away with it: a mask would be gone, and a protected place that came
//! later would never have been mounted. So a room counts for a profile only while its landmarks are the same.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, statat};

use crate::profile::Profile;

/// What lies at every path of a profile, by device and number; nothing where nothing does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Landmarks(Vec<Option<(u64, u64)>>);

impl Landmarks {
    pub(crate) fn of(profile: &Profile) -> Self {
        let mut marks = Vec::new();
        let plain = profile.readable.iter().chain(&profile.writable).chain(&profile.data);
        marks.extend(plain.chain(&profile.programs).map(|path| mark(path)));
        if let Some(project) = &profile.project {
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

fn mark(path: &Path) -> Option<(u64, u64)> {
    let stat = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use crate::profile::Project;

    #[test]
    fn a_file_that_is_replaced_or_appears_is_noticed_and_one_that_is_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at(".env"), "1").unwrap();
        let mut profile = Profile::new(folder.path().to_owned());
        profile.project = Some(Project {
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
}

//! Whose a group is, by its name, so that what a killed process left behind can be told from what a living one uses.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::folder::{Folder, read};

/// What the names of all our groups begin with.
const PREFIX: &str = "metier-";

/// A process for as long as the machine runs: its number may be given again, and another namespace counts for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The namespace that its number is of.
    namespace: u64,
    process: u32,
    /// When it began, in the kernel's own ticks.
    began: u64,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> io::Result<Self> {
        let namespace = rustix::fs::stat("/proc/self/ns/pid")?.st_ino;
        let process = std::process::id();
        let began = began(process).ok_or_else(|| io::Error::other("its own process is not listed"))?;
        Ok(Self { namespace, process, began })
    }

    /// A name for its next group.
    pub(crate) fn next_name(self) -> String {
        // One count for the whole process, which may have several sandboxes.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        self.name(COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// The name of one of its groups.
    fn name(self, number: u64) -> String {
        let Self { namespace, process, began } = self;
        format!("{PREFIX}{namespace:x}-{process}-{began:x}-{number}")
    }

    /// Whether a name is that of a group of ours, whosever.
    pub(crate) fn is_named(name: &str) -> bool {
        Self::of(name).is_some()
    }

    /// Whose group has this name.
    fn of(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        let owner = Self {
            namespace: u64::from_str_radix(parts.next()?, 16).ok()?,
            process: parts.next()?.parse().ok()?,
            began: u64::from_str_radix(parts.next()?, 16).ok()?,
        };
        let number: u64 = parts.next()?.parse().ok()?;
        // Exactly a name that we would give, and nothing that only looks like one.
        (owner.name(number) == name).then_some(owner)
    }

    /// Removes what processes left behind that are gone: empty groups of theirs only, since the kernel removes no other.
    pub(crate) fn clear_leftovers(self, ground: &Folder) {
        for name in ground.names() {
            let Some(owner) = Self::of(&name) else { continue };
            let is_gone = owner.namespace == self.namespace && began(owner.process) != Some(owner.began);
            if is_gone {
                if let Ok(inner) = ground.inner(&name) {
                    for group in inner.names() {
                        // Its files are no folders, and stay as long as it does.
                        let _ = inner.remove(&group);
                    }
                }
                let _ = ground.remove(&name);
            }
        }
    }
}

/// When a process began, if there is one of this number.
fn began(process: u32) -> Option<u64> {
    let text = read(Path::new(&format!("/proc/{process}/stat"))).ok()?;
    // The name may hold blanks and parentheses, so counting begins after its last one.
    text.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        let owner = Owner { namespace: 0xf000_0001, process: 42, began: 0xabc };
        assert_eq!(owner.name(3), "metier-f0000001-42-abc-3");
        assert_eq!(Owner::of("metier-f0000001-42-abc-3"), Some(owner));
        for name in [
            "metier-f0000001-42-abc",
            "metier-x-42-abc-3",
            "metier-f0000001-42-abc-3-4",
            "other",
            "metier-f0000001-042-abc-3",
            "",
        ] {
            assert_eq!(Owner::of(name), None, "{name}");
        }
    }

    #[test]
    fn only_empty_groups_of_processes_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = Owner::current().unwrap();
        let gone = Owner { began: own.began + 1, ..own };
        let elsewhere = Owner { namespace: own.namespace + 1, ..gone };
        for name in [&own.name(1), &gone.name(1), &elsewhere.name(1), "metier-notes", "user.slice"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::create_dir(folder.path().join(gone.name(1)).join("call-1")).unwrap();
        // Somebody is still in this one: a real group with a process in it cannot be removed either.
        std::fs::create_dir_all(folder.path().join(gone.name(2)).join("call-1/busy")).unwrap();
        own.clear_leftovers(&Folder::open(folder.path()).unwrap());
        let mut left: Vec<String> = Folder::open(folder.path()).unwrap().names();
        left.sort();
        let mut expect =
            vec![own.name(1), elsewhere.name(1), gone.name(2), "metier-notes".into(), "user.slice".into()];
        expect.sort();
        assert_eq!(left, expect);
    }
}

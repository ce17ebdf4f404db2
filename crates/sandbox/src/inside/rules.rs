//! The Landlock rules of a view: the second layer, which does not know of mounts and names the same places.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::view::{DEVICES, Rights, SETTINGS, SYSTEM, View};
use crate::tier::Tier;
use crate::wire::Failure;

/// What we know how to ask for. An older kernel does the part that it knows.
const KNOWN: ABI = ABI::V6;

/// How much of the rules is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    Full,
    /// The kernel is older and holds only a part.
    Partial,
    /// The kernel has no Landlock.
    None,
}

/// The rules of one call, opened and ready.
#[derive(Debug)]
pub(crate) struct Rules(RulesetCreated);

impl Rules {
    /// Opens every place of the view. `scratch` is where the call may write, and `proc` whether it sees processes.
    pub(crate) fn new(view: &View, scratch: &Path, tier: Tier) -> Result<Self, Failure> {
        Self::build(view, scratch, tier).map_err(|error| Failure {
            what: format!("making Landlock rules: {error}"),
            errno: libc::ENOTSUP,
            program: false,
        })
    }

    fn build(view: &View, scratch: &Path, tier: Tier) -> Result<Self, RulesetError> {
        // Alone it has to hold everything; beside namespaces an old kernel's part is better than nothing.
        let level = match tier {
            Tier::Landlock => CompatLevel::HardRequirement,
            _ => CompatLevel::BestEffort,
        };
        let mut rules = Ruleset::default()
            .set_compatibility(level)
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .set_compatibility(CompatLevel::BestEffort);
        let read = AccessFs::from_read(KNOWN);
        let write = read | AccessFs::from_write(KNOWN);
        let mut add = |path: &Path, access: BitFlags<AccessFs>| -> Result<(), RulesetError> {
            let Some((place, is_folder)) = open(path) else { return Ok(()) };
            let access = if is_folder { access } else { access & AccessFs::from_file(KNOWN) };
            (&mut rules).add_rule(PathBeneath::new(place, access)).map(drop)
        };
        for path in SYSTEM.iter().chain(SETTINGS) {
            add(Path::new(path), read)?;
        }
        for path in DEVICES {
            add(Path::new(path), AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev)?;
        }
        for place in &view.places {
            let access = match place.rights {
                Rights::Read => read,
                Rights::Write => write,
            };
            add(&place.path, access)?;
        }
        add(scratch, write)?;
        if tier != Tier::Landlock {
            // A process's own numbers; the processes of others are not in this namespace.
            add(Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir)?;
            // Folders between the root and a place can be listed; there is nothing else in them.
            for folder in outer_folders(view) {
                add(&folder, AccessFs::ReadDir.into())?;
            }
        }
        Ok(Self(rules))
    }

    /// Puts the rules into force for this process and all that come from it, for good.
    pub(crate) fn enforce(self) -> Result<Force, Failure> {
        let status = self.0.restrict_self().map_err(|error| Failure {
            what: format!("enforcing Landlock rules: {error}"),
            errno: libc::ENOTSUP,
            program: false,
        })?;
        let RestrictionStatus { ruleset, no_new_privs, .. } = status;
        if !no_new_privs {
            return Err(Failure {
                what: "giving up new privileges".into(),
                errno: libc::EPERM,
                program: false,
            });
        }
        Ok(match ruleset {
            RulesetStatus::FullyEnforced => Force::Full,
            RulesetStatus::PartiallyEnforced => Force::Partial,
            RulesetStatus::NotEnforced => Force::None,
        })
    }
}

/// Opens a place without anything but its identity. What is missing needs no rule.
fn open(path: &Path) -> Option<(OwnedFd, bool)> {
    let place = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let is_folder = FileType::from_raw_mode(fstat(&place).ok()?.st_mode) == FileType::Directory;
    Some((place, is_folder))
}

/// The folders that hold a place and are no place themselves; they exist only in the new root. A rule holds for all that
/// is below, but below these there are only places, which the view shows anyway.
fn outer_folders(view: &View) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for place in &view.places {
        for folder in place.path.ancestors().skip(1) {
            let inside = view.places.iter().any(|other| folder.starts_with(&other.path));
            // The root itself holds more than places, and a rule for it would be one for all of that.
            if !inside && folder != Path::new("/") && !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
        }
    }
    folders
}

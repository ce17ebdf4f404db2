//! The Landlock rules of a view: the second layer, which does not know of mounts and names the same places.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope,
};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};

use super::view::{DEVICES, Rights, SETTINGS, SYSTEM, View};
use crate::folder::{entries, open_folder};
use crate::profile::{GATEWAY, Network};
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

/// Places with what may be done with them, opened once for all calls of a room: most rules are the same in each.
#[derive(Debug)]
pub(crate) struct Places(Vec<(OwnedFd, BitFlags<AccessFs>)>);

impl Places {
    /// Opens every place that does not lie where each call has a scratch folder of its own.
    pub(crate) fn open(view: &View, tier: Tier) -> Self {
        let mut places = Self::of_system_but(&view.hidden, tier);
        places.add_places(view, tier, When::Once);
        places
    }

    /// Opens what every view shows. In a view that is made of mounts, this process is in it by then.
    pub(crate) fn of_system(tier: Tier) -> Self {
        Self::of_system_but(&[], tier)
    }

    fn of_system_but(hidden: &[PathBuf], tier: Tier) -> Self {
        // Where there are mounts, these hide it.
        let hidden = if tier == Tier::Landlock { hidden } else { &[] };
        let mut places = Self(Vec::new());
        for path in SYSTEM.iter().copied().chain([SETTINGS]) {
            places.add_but(Path::new(path), hidden);
        }
        let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        if tier == Tier::Landlock {
            for path in DEVICES {
                places.add(Path::new(path), devices);
            }
        } else {
            // In a view that is made of mounts there are no others in it.
            places.add(Path::new("/dev"), devices | AccessFs::ReadDir);
        }
        places
    }

    /// Opens what a view shows beside that.
    pub(crate) fn of_view(view: &View, tier: Tier) -> Self {
        let mut places = Self(Vec::new());
        places.add_places(view, tier, When::Once);
        places
    }

    /// Adds the places of the view that are opened at this time.
    fn add_places(&mut self, view: &View, tier: Tier, when: When) {
        // A rule on a lower layer means nothing to who comes through the overlay.
        let is_in_call = |path: &Path| View::is_late(path) || view.is_layered(path);
        let is_now = |path: &Path| tier == Tier::Landlock || is_in_call(path) == (when == When::InCall);
        for place in view.places.iter().filter(|place| is_now(&place.path)) {
            let access = match place.rights {
                Rights::Read => read(),
                Rights::Write => write(),
            };
            self.add(&place.path, access);
        }
        if tier != Tier::Landlock {
            // Folders between the root and a place can be listed; there is nothing else in them.
            for folder in outer_folders(view).iter().filter(|folder| is_now(folder)) {
                self.add(folder, AccessFs::ReadDir.into());
            }
        }
    }

    /// Adds a folder of the system without what is hidden in it. A rule holds for everything below, so where something is
    /// hidden each of its neighbours gets a rule, and the folder can be listed.
    fn add_but(&mut self, path: &Path, hidden: &[PathBuf]) {
        if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
            // A link leads into another of these, which has a rule, or out of them.
            return self.add_unless_link(path, read());
        }
        if hidden.iter().any(|hidden| hidden == path) {
            return;
        }
        self.add_unless_link(path, AccessFs::ReadDir.into());
        let listed = open_folder(CWD, path).and_then(entries);
        for entry in listed.into_iter().flatten().flatten() {
            self.add_but(&path.join(OsStr::from_bytes(entry.file_name().to_bytes())), hidden);
        }
    }

    fn add_unless_link(&mut self, path: &Path, access: BitFlags<AccessFs>) {
        let is_link = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        if !statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_link) {
            self.add(path, access);
        }
    }

    /// What is missing needs no rule.
    fn add(&mut self, path: &Path, access: BitFlags<AccessFs>) {
        if let Some((place, is_folder)) = open(path) {
            let access = if is_folder { access } else { access & AccessFs::from_file(KNOWN) };
            self.0.push((place, access));
        }
    }
}

/// When a place is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Once,
    InCall,
}

fn read() -> BitFlags<AccessFs> {
    AccessFs::from_read(KNOWN)
}

fn write() -> BitFlags<AccessFs> {
    AccessFs::from_read(KNOWN) | AccessFs::from_write(KNOWN)
}

/// The rules of one call, ready.
#[derive(Debug)]
pub(crate) struct Rules(RulesetCreated);

impl Rules {
    /// Rules that allow nothing.
    fn begin(tier: Tier) -> Result<Self, Failure> {
        // Alone it has to hold everything; beside namespaces an old kernel's part is better than nothing.
        let level = match tier {
            Tier::Landlock => CompatLevel::HardRequirement,
            _ => CompatLevel::BestEffort,
        };
        let created = || {
            Ruleset::default()
                .set_compatibility(level)
                .handle_access(AccessFs::from_all(KNOWN))?
                .handle_access(AccessNet::from_all(KNOWN))?
                .scope(Scope::from_all(KNOWN))?
                .create()
        };
        created().map(|rules| Self(rules.set_compatibility(CompatLevel::BestEffort))).map_err(unmade)
    }

    /// Rules that allow what may be done with these places.
    pub(crate) fn of(places: &Places, tier: Tier) -> Result<Self, Failure> {
        let mut rules = Self::begin(tier)?;
        rules.allow(places)?;
        Ok(rules)
    }

    /// Allows what may be done with these places, too.
    pub(crate) fn allow(&mut self, places: &Places) -> Result<(), Failure> {
        for (place, access) in &places.0 {
            (&mut self.0).add_rule(PathBeneath::new(place, *access)).map_err(unmade)?;
        }
        Ok(())
    }

    /// Allows what one call has beside its places: a scratch folder to write to and what lies in its place, which is opened
    /// now, and its gateway.
    pub(crate) fn allow_call(
        &mut self,
        view: &View,
        scratch: &Path,
        tier: Tier,
        network: Network,
    ) -> Result<(), Failure> {
        let mut own = Places(Vec::new());
        own.add(scratch, write());
        if tier != Tier::Landlock {
            own.add_places(view, tier, When::InCall);
            // A process's own numbers; the processes of others are not in this namespace.
            own.add(Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir);
        }
        self.allow(&own)?;
        if network == Network::Gateway {
            // That port of whatever address, which in the call's own network is the gateway and nothing else. No port can
            // be bound.
            (&mut self.0).add_rule(NetPort::new(GATEWAY.port(), AccessNet::ConnectTcp)).map_err(unmade)?;
        }
        Ok(())
    }

    /// Allows to list the folders of a layer, through a descriptor that only the supervisor has.
    pub(crate) fn allow_listing(&mut self, folder: &OwnedFd) -> Result<(), Failure> {
        (&mut self.0).add_rule(PathBeneath::new(folder, AccessFs::ReadDir)).map_err(unmade).map(drop)
    }

    /// Puts the rules into force for this process and all that come from it, for good.
    pub(crate) fn enforce(self) -> Result<Force, Failure> {
        let status = self
            .0
            .restrict_self()
            .map_err(|error| Failure::new(format!("enforcing Landlock rules: {error}"), libc::ENOTSUP))?;
        let RestrictionStatus { ruleset, no_new_privs, .. } = status;
        if !no_new_privs {
            return Err(Failure::new("giving up new privileges", libc::EPERM));
        }
        Ok(match ruleset {
            RulesetStatus::FullyEnforced => Force::Full,
            RulesetStatus::PartiallyEnforced => Force::Partial,
            RulesetStatus::NotEnforced => Force::None,
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn unmade(error: RulesetError) -> Failure {
    Failure::new(format!("making Landlock rules: {error}"), libc::ENOTSUP)
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

//! The helper process: the launcher, which makes rooms.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::stat;
use rustix::io::Errno;

use super::birth::born;
use super::claim::Claim;
use super::data::{DataOnDisk, settle};
use super::failure::During;
use super::filter::Filter;
use super::group_only;
use super::identity::{Caller, Identity, Owners, owner_map, project_owners};
use super::room::{Arrival, Room, SourceOrigin, inhabit, prefer_as_victim};
use super::rules::{Places, Rules};
use super::sources::{Sources, can_map};
use super::view::View;
use crate::folder::open_base;
use crate::kernel::{Forked, Namespaces, end, ignore_children, read_handed_over};
use crate::report::Meter;
use crate::tier::Tier;
use crate::wire::{Failure, FailureOf, Garbled, Opening, decode, receive, tell_failure};

/// The name under which a program is started to be the helper.
pub const HELPER: &str = "metier-sandbox-helper";

/// What the helper is told when it is started inside bubblewrap, before the room's words.
pub(crate) const INSIDE: &str = "inside";

/// What it is told then where it is in a control group.
pub(crate) const IN_GROUP: &str = "group";

/// Becomes the helper if these arguments (the program's own, from its name on) say so, and does not come back then. Call
/// it first thing in `main`:
/// the helper has to be alone in its process, without threads.
///
/// A program that does not call this needs the separate helper binary (see [`Helper`](crate::Helper)).
pub fn helper(arguments: impl IntoIterator<Item = OsString>) {
    let mut arguments = arguments.into_iter();
    let name = arguments.next().unwrap_or_default();
    if Path::new(&name).file_name() != Some(OsStr::new(HELPER)) {
        return;
    }
    set_mask();
    let Ok(control) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3) else { end(1) };
    match arguments.next() {
        Some(word) if word == INSIDE => inside(&control, arguments.next(), arguments.next()),
        _ => launch(&control),
    }
    end(0)
}

/// Whatever the caller's mask of modes is, ours is the usual one: with a stricter one the view would be made of folders
/// that the call cannot enter, with a laxer one it would make files that everybody can write. All that comes from this
/// process inherits it.
pub(super) fn set_mask() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
}

/// Makes rooms until nobody asks any more.
fn launch(control: &OwnedFd) {
    // Rooms that have ended are not waited for.
    ignore_children();
    let caller = Caller::current();
    // Root leaves its groups.
    let hidden = if caller.is_root() { Vec::new() } else { group_only::find() };
    while let Ok(Some(message)) = receive(control.as_fd()) {
        let mut descriptors = message.descriptors.into_iter();
        let Some(socket) = descriptors.next() else { return };
        // Where rooms are born, if calls get control groups.
        let group = descriptors.next();
        let made = decode::<Opening>(&message.bytes)
            .map_err(Failure::from)
            .and_then(|opening| make_room(opening, &caller, &hidden, &socket, group));
        tell_failure(&socket, made);
    }
}

fn make_room(
    opening: Opening,
    caller: &Caller,
    hidden: &[PathBuf],
    control: &OwnedFd,
    group: Option<OwnedFd>,
) -> Result<(), Failure> {
    // The room inherits the claim and holds it to its end.
    let Tenant { identity, owners, claim: _claim } = Tenant::new(&opening, caller)?;
    let serve = |opening: Opening, origin: SourceOrigin| {
        let room = Room::build(opening, identity, origin, hidden.to_owned());
        tell_failure(control, room.map(|room| room.serve(control)));
    };
    if opening.tier != Tier::Namespaces {
        return branch_off(Namespaces::Same, group, "making a room", || serve(opening, SourceOrigin::Room));
    }
    if identity.from_root
        && let Some(project) = opening.profile.layered_project()
    {
        let folder = project.folder.clone();
        let failed = |failure: Failure| Failure { of: FailureOf::Layer(folder.clone()), ..failure };
        let owners = owners.ok_or(Errno::NOSYS).during(|| "showing root's files as the call's".into());
        let owners = owners.map_err(failed)?;
        let found = stat(&folder).ok();
        let others = found.and_then(|found| project_owners(open_base("/proc").ok()?, identity, &found));
        let serve = || serve(opening, SourceOrigin::Root { owners, others });
        return branch_off(Namespaces::ByRoot, group, "making namespaces as root", serve).map_err(failed);
    }
    let sources = match &owners {
        Some(owners) => match Sources::open(&View::new(&opening.profile, opening.tier), Some(owners)) {
            Ok(sources) => SourceOrigin::Given(sources),
            // Root in a container that may not mount: like anybody else's, the room opens by itself what it shows, and the
            // script reads what everyone may read.
            Err(failure) if failure.errno == libc::EPERM => {
                for path in opening.profile.data_paths() {
                    DataOnDisk::open(path)?.give(identity.outside.user)?;
                }
                SourceOrigin::Room
            }
            Err(failure) => return Err(failure),
        },
        None => SourceOrigin::Room,
    };
    enter(identity, group, || serve(opening, sources))
}

/// As whom the calls of a room run.
struct Tenant {
    identity: Identity,
    claim: Option<Claim>,
    /// How root's files are shown, where root runs metier and a room is made of mounts.
    owners: Option<Owners>,
}

impl Tenant {
    /// Chooses the identity, and makes the data folders its own.
    fn new(opening: &Opening, caller: &Caller) -> Result<Self, Failure> {
        let (identity, claim) = caller.identity().during(|| "choosing a user id".into())?;
        if !identity.from_root {
            return Ok(Self { identity, claim, owners: None });
        }
        let owners = |identity| if opening.tier == Tier::Namespaces { owners_of(identity) } else { None };
        let mut tenant = Self { identity, claim, owners: owners(identity) };
        let rest = settle(opening.profile.data_paths(), |data| {
            let owners = tenant.owners.as_ref();
            // What is root's already is tried when it is mounted.
            owners.is_some_and(|owners| data.is_roots() || can_map(data.path(), owners))
        })?;
        if let Some(id) = rest.iter().find_map(DataOnDisk::own_id) {
            let identity = Identity::by_root(id);
            tenant = Self { identity, claim: Some(Claim::shared(id)), owners: owners(identity) };
        }
        for data in rest {
            data.give(tenant.identity.outside.user)?;
        }
        Ok(tenant)
    }
}

/// How root's files are shown to a call with this identity. `None` where that cannot be had.
pub(super) fn owners_of(identity: Identity) -> Option<Owners> {
    open_base("/proc").ok().and_then(|proc| owner_map(proc, identity).ok())
}

/// Makes a process in these namespaces, and in a control group where one is given. Only the parent comes back.
fn branch_off(
    namespaces: Namespaces,
    group: Option<OwnedFd>,
    what: &str,
    inside: impl FnOnce(),
) -> Result<(), Failure> {
    let (forked, _) = born(namespaces, group.as_ref().map(AsFd::as_fd)).during(|| what.into())?;
    if matches!(forked, Forked::Child) {
        drop(group);
        prefer_as_victim();
        inside();
        end(0)
    }
    Ok(())
}

/// Makes a process in new namespaces, and in a control group where one is given, that begins once its users are mapped. Only
/// the parent comes back.
fn enter(identity: Identity, group: Option<OwnedFd>, inside: impl FnOnce()) -> Result<(), Failure> {
    let (hold, release) = io::pipe().during(|| "making a pipe".into())?;
    let (forked, _) =
        born(Namespaces::Building, group.as_ref().map(AsFd::as_fd)).during(|| "making namespaces".into())?;
    match forked {
        Forked::Child => {
            // It is in the group and has no use for a way to it.
            drop((release, group));
            set_mask();
            // One byte is the sign to begin; the end of the pipe is the sign that it will not come.
            if rustix::io::read(&hold, &mut [0; 1]) == Ok(1) {
                // While /proc is still the one that can be written to; what comes from this process inherits it.
                prefer_as_victim();
                inside();
            }
            end(0)
        }
        Forked::Parent { child } => {
            identity.map(child).during(|| "mapping users".into())?;
            rustix::io::write(&release, &[1]).during(|| "starting a room".into())?;
            Ok(())
        }
    }
}

/// What the helper does as the first process inside bubblewrap: the view is there, the rest is as everywhere. What it
/// needs to know lies in a file in memory whose number it is told; what bounds it is the word after that.
fn inside(control: &OwnedFd, number: Option<OsString>, meter: Option<OsString>) {
    let meter = match meter {
        Some(word) if word == IN_GROUP => Meter::ControlGroup,
        _ => Meter::Watcher,
    };
    let entered = number
        .and_then(|number| number.to_str()?.parse().ok())
        .ok_or(Garbled)
        .and_then(|number| read_handed_over(number).map_err(|_| Garbled))
        .and_then(|bytes| decode::<Opening>(&bytes))
        .map_err(Failure::from)
        .and_then(|opening| {
            let view = View::new(&opening.profile, opening.tier);
            let socket =
                rustix::io::fcntl_dupfd_cloexec(control, 3).during(|| "keeping the connection".into())?;
            let filter = Filter::new(opening.tier, opening.profile.network);
            let rules = Rules::of(&Places::open(&view, opening.tier), opening.tier)?;
            inhabit(&opening, &view, &filter, Arrival::new(rules, socket, meter))
        });
    tell_failure(control, entered);
}

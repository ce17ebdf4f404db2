//! The helper process: the launcher, which makes rooms.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread::{self, JoinHandle};

use rustix::io::Errno;

use super::birth::born;
use super::failure::During;
use super::filter::Filter;
use super::identity::{Identity, keeping_rights, owner_map};
use super::room::{Early, Room, inhabit, prefer_as_victim};
use super::root::{Entered, Processes, Root, furnish};
use super::rules::Places;
use super::sources::Sources;
use super::view::View;
use crate::kernel::{Forked, Namespaces, end, ignore_children, leave_the_rest, read_handed_over};
use crate::profile::Network;
use crate::report::Meter;
use crate::tier::Tier;
use crate::wire::{Entering, Failure, Garbled, MOST_DESCRIPTORS, Opening, Reply, deliver, pair, receive};

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
fn set_mask() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
}

/// Makes rooms until nobody asks any more.
fn launch(control: &OwnedFd) {
    // Rooms that have ended are not waited for.
    ignore_children();
    let identity = Identity::current();
    let owners = if identity.from_root { owner_map().ok() } else { None };
    while let Ok(Some(message)) = receive(control.as_fd()) {
        let mut descriptors = message.descriptors.into_iter();
        let Some(socket) = descriptors.next() else { return };
        // Where rooms are born, if calls get control groups.
        let group = descriptors.next();
        let owners = owners.as_ref().map(AsFd::as_fd);
        let made = Opening::decode(&message.bytes)
            .map_err(|error| Failure { what: error.to_string(), errno: libc::EBADMSG, program: false })
            .and_then(|opening| make_room(opening, identity, owners, &socket, group));
        if let Err(failure) = made {
            let _ = deliver(socket.as_fd(), &Reply::Failed(failure).encode(), &[]);
        }
    }
}

fn make_room(
    opening: Opening,
    identity: Identity,
    owners: Option<BorrowedFd<'_>>,
    control: &OwnedFd,
    group: Option<OwnedFd>,
) -> Result<(), Failure> {
    let serve = |opening: Opening, sources: Option<Sources>| match Room::build(opening, identity, sources) {
        Ok(room) => room.serve(control),
        Err(failure) => {
            let _ = deliver(control.as_fd(), &Reply::Failed(failure).encode(), &[]);
        }
    };
    give_data(&opening, identity)?;
    if opening.tier != Tier::Namespaces {
        let (forked, _) =
            born(Namespaces::Same, group.as_ref().map(AsFd::as_fd)).during(|| "making a room".into())?;
        if matches!(forked, Forked::Child) {
            drop(group);
            prefer_as_victim();
            serve(opening, None);
            end(0)
        }
        return Ok(());
    }
    let sources = match owners {
        Some(owners) => Some(Sources::open(&View::new(&opening.profile, opening.tier), Some(owners))?),
        None => None,
    };
    enter(identity, group, |_| serve(opening, sources))
}

fn give_data(opening: &Opening, identity: Identity) -> Result<(), Failure> {
    for data in opening.profile.data_paths() {
        identity.give(data).during(|| format!("giving away {}", data.display()))?;
    }
    Ok(())
}

/// Makes a process in new namespaces, and in a control group where one is given, that begins once its users are mapped; it
/// is told what bounds it. Only the parent comes back.
fn enter(identity: Identity, group: Option<OwnedFd>, inside: impl FnOnce(Meter)) -> Result<(), Failure> {
    let (hold, release) = io::pipe().during(|| "making a pipe".into())?;
    let (forked, meter) =
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
                inside(meter);
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

/// A process in namespaces of its own that does not know yet what it will be for, made by a process that is alone and
/// expects one call: making it takes as long as finding out what the call is, and both can be done at once.
#[derive(Debug)]
pub(crate) struct Ahead {
    identity: Identity,
    socket: OwnedFd,
    /// The map for folders of root's, in the making: that takes a while, and whoever made this has other things to do.
    owners: Option<JoinHandle<io::Result<OwnedFd>>>,
}

impl Ahead {
    /// Makes the process, in a control group where one is given.
    pub(crate) fn make(group: Option<OwnedFd>) -> Result<Self, Failure> {
        let identity = Identity::current();
        let (socket, theirs) = pair().during(|| "making a connection".into())?;
        let ours = RefCell::new(Some(socket));
        enter(identity, group, |meter| {
            // The child has a copy of our end, and would never see the last one closed.
            drop(ours.take());
            if let Err(failure) = wait(identity, &theirs, meter) {
                let _ = deliver(theirs.as_fd(), &Reply::Failed(failure).encode(), &[]);
            }
        })?;
        let owners =
            identity.from_root.then(|| thread::Builder::new().name("owners".into()).spawn(owner_map));
        let owners = owners.transpose().during(|| "mapping owners".into())?;
        let socket = ours.into_inner().ok_or(Errno::BADF).during(|| "making a connection".into())?;
        Ok(Self { identity, socket, owners })
    }

    /// Sends it in, and gives the line to it and what could not be shown.
    pub(crate) fn enter(self, opening: Opening) -> Result<(OwnedFd, Vec<String>), Failure> {
        give_data(&opening, self.identity)?;
        let mut view = View::new(&opening.profile, opening.tier);
        view.close_doors(&opening.profile);
        let trees = match self.owners {
            Some(owners) => {
                // Nothing in there panics; if it did, the map would be missing like any other time.
                let owners = owners.join().unwrap_or_else(|_| Err(Errno::CHILD.into()));
                Sources::open_for(&view, owners.during(|| "mapping owners".into())?.as_fd())?
            }
            None => Vec::new(),
        };
        let given = trees.iter().map(Option::is_some).collect();
        let descriptors: Vec<_> = trees.iter().flatten().map(AsFd::as_fd).collect();
        if descriptors.len() > MOST_DESCRIPTORS {
            return Err(Failure { what: "handing over places".into(), errno: libc::E2BIG, program: false });
        }
        let entering = Entering { opening, masks: view.masks, given };
        match deliver(self.socket.as_fd(), &entering.encode(), &descriptors) {
            Ok(()) => Ok((self.socket, view.notes)),
            Err(error) => {
                // It is gone already, and has left word why.
                let word = receive(self.socket.as_fd()).ok().flatten();
                match word.and_then(|message| Reply::decode(&message.bytes).ok()) {
                    Some(Reply::Failed(failure)) => Err(failure),
                    _ => Err(error).during(|| "handing over places".into()),
                }
            }
        }
    }
}

/// Waits for the word what it is for.
fn wait(identity: Identity, socket: &OwnedFd, meter: Meter) -> Result<(), Failure> {
    // It keeps the caller's streams as long as it is there: whoever reads the caller's output to its end then knows that
    // nothing of the call is left, not even this process.
    leave_the_rest().during(|| "making namespaces".into())?;
    // Most calls that come alone have a gateway; the filter of another is made anew.
    let filter = Filter::new(Tier::Namespaces, Network::Gateway);
    let early = Early::make(Network::Gateway)?;
    let root = Root::begin(Processes::OfCall)?;
    // From root this process gets handed in what it is to show; anybody else's opens it by itself.
    let way_in = if identity.from_root { WayIn::Ajar(root.leave_old()?) } else { WayIn::Ahead(root) };
    let Some(message) = receive(socket.as_fd()).during(|| "waiting for a call".into())? else {
        return Ok(());
    };
    let Entering { opening, masks, given } = Entering::decode(&message.bytes).map_err(|error| Failure {
        what: error.to_string(),
        errno: libc::EBADMSG,
        program: false,
    })?;
    let filter = filter.for_network(opening.profile.network);
    let view = View { masks, ..View::new(&opening.profile, opening.tier) };
    match way_in {
        WayIn::Ahead(root) => root.enter(Sources::open(&view, None)?, &view)?,
        WayIn::Ajar(root) => root.finish(Sources::receive(&view, &given, message.descriptors)?, &view)?,
    }
    keeping_rights(|| identity.assume()).during(|| "becoming an ordinary user".into())?;
    furnish(&view, opening.profile.limits.scratch, Processes::OfCall)?;
    let socket = rustix::io::fcntl_dupfd_cloexec(socket, 3).during(|| "keeping the connection".into())?;
    inhabit(&opening, &view, &Places::open(&view, opening.tier), &filter, socket, meter, early)
}

/// How far a process is into its new root while it waits.
enum WayIn {
    /// Still outside.
    Ahead(Root),
    /// Inside, and things can be added.
    Ajar(Entered),
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
        .and_then(|bytes| Opening::decode(&bytes))
        .map_err(|error| Failure { what: error.to_string(), errno: libc::EBADMSG, program: false })
        .and_then(|opening| {
            let view = View::new(&opening.profile, opening.tier);
            let socket =
                rustix::io::fcntl_dupfd_cloexec(control, 3).during(|| "keeping the connection".into())?;
            let filter = Filter::new(opening.tier, opening.profile.network);
            let places = Places::open(&view, opening.tier);
            inhabit(&opening, &view, &places, &filter, socket, meter, Early::default())
        });
    if let Err(failure) = entered {
        let _ = deliver(control.as_fd(), &Reply::Failed(failure).encode(), &[]);
    }
}

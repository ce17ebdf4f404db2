//! A room: one process for each profile, which has built the view and makes the processes that watch over single calls.
//!
//! Whoever uses the room asks for the next one ahead of time, so that a call finds it ready. Each serves one call and ends.

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::birth::born;
use super::bubblewrap::Bubblewrap;
use super::failure::During;
use super::filter::Filter;
use super::gateway::{OwnHandle, open_gateway};
use super::identity::{Identity, Owners, keeping_rights};
use super::init::{Init, Namespace};
use super::layer::{LayerTrees, MountedLayer, Trial};
use super::limits;
use super::outer_mounts::OuterMounts;
use super::quota::Scratch;
use super::root::{Processes, Root, cover_again, furnish};
use super::rules::{Force, Places, Rules};
use super::scratch::ScratchFolder;
use super::sources::Sources;
use super::supervisor::{Supervisor, scratch_folder};
use super::view::{SCRATCH, View};
use crate::folder::open_base;
use crate::kernel::{Forked, Namespaces, end, hide_groups, leave_users, set_dumpable};
use crate::profile::Network;
use crate::report::Meter;
use crate::tier::Tier;
use crate::wire::{
    Failure, Message, Opening, Reply, Start, TO_PREPARE, decode, deliver, encode, receive, tell_failure,
};

/// What a room has ready for every call.
pub(crate) struct Room {
    opening: Opening,
    identity: Identity,
    view: View,
    filter: Filter,
    places: Places,
    /// Its own `/proc`, through which the maps of new user namespaces are written.
    proc: Option<OwnedFd>,
    /// What its calls need for their layers, where the project is layered.
    layering: Option<Layering>,
}

/// What the calls of a room need for their layers.
struct Layering {
    /// Where the layers lie.
    outer: OuterMounts,
    /// How root's files are shown, where root runs metier.
    owners: Option<Owners>,
    /// The owner map of the project, if it belongs to another user than root.
    others: Option<Owners>,
}

impl Room {
    /// Builds the view. On the tier of namespaces this process is in new ones already. `hidden` cannot be opened of the
    /// system.
    pub(crate) fn build(
        opening: Opening,
        identity: Identity,
        origin: SourceOrigin,
        hidden: Vec<PathBuf>,
    ) -> Result<Self, Failure> {
        let mut view = View::new(&opening.profile, opening.tier);
        view.hide(hidden);
        if opening.tier == Tier::Landlock && opening.profile.network != Network::None {
            // The caller does not ask for it, and this is the side that has to hold: a rule about a port is one about that
            // port of every host.
            return Err(Failure::new("a gateway without a network namespace", libc::ENOTSUP));
        }
        if opening.tier != Tier::Landlock {
            // While this process still sees what lies there. Without mounts nothing can be masked, but there no socket can
            // be made to connect by, and no pipe can be opened for writing.
            view.close_doors(&opening.profile);
        }
        let (mut proc, mut layering) = (None, None);
        let is_root = matches!(origin, SourceOrigin::Root { .. });
        if opening.tier == Tier::Namespaces {
            let outer = view.layered.is_some().then(OuterMounts::keep).transpose()?;
            let (sources, owners, others) = match origin {
                SourceOrigin::Given(sources) => (sources, None, None),
                SourceOrigin::Room => (Sources::open(&view, None)?, None, None),
                SourceOrigin::Root { owners, others } => {
                    (Sources::open(&view, Some(&owners))?, Some(owners), others)
                }
            };
            layering = outer.map(|outer| Layering { outer, owners, others });
            Root::begin(Processes::OfRoom)?.enter(sources, &view)?;
            proc = Some(open_base("/proc").during(|| "opening /proc".into())?);
        }
        let network = opening.profile.network;
        let (filter, places) = (Filter::new(opening.tier, network), Places::open(&view, opening.tier));
        // In its own user namespace it has the ids that the script sees; elsewhere those that everybody sees.
        let here = if opening.tier == Tier::Namespaces { identity.inside } else { identity.outside };
        if !is_root {
            identity.assume(here).during(|| "becoming an ordinary user".into())?;
        }
        Ok(Self { opening, identity, view, filter, places, proc, layering })
    }

    /// Makes what calls need until nobody asks any more.
    pub(crate) fn serve(self, control: &OwnedFd) {
        let ready = Reply::Ready {
            notes: self.view.notes.clone(),
            owner: self.identity.from_root.then_some(self.identity.outside.user),
        };
        if deliver(control.as_fd(), &encode(&ready), &[]).is_err() {
            return;
        }
        while let Ok(Some(message)) = receive(control.as_fd()) {
            let mut descriptors = message.descriptors.into_iter();
            let Some(socket) = descriptors.next().filter(|_| message.bytes == TO_PREPARE) else { return };
            self.make(control, socket, descriptors.next());
        }
    }

    /// Makes the process for one call, in its control group where it has one. What goes wrong is told through the call's
    /// own socket.
    fn make(&self, control: &OwnedFd, socket: OwnedFd, group: Option<OwnedFd>) {
        let namespaces = match self.opening.tier {
            Tier::Namespaces if self.layering.is_some() => Namespaces::AllButUsers,
            Tier::Namespaces => Namespaces::All,
            _ => Namespaces::Same,
        };
        match born(namespaces, group.as_ref().map(AsFd::as_fd)) {
            Ok((Forked::Parent { .. }, _)) => {}
            Ok((Forked::Child, meter)) => {
                drop(group);
                // The room's end of its own connection: holding it would keep the room from seeing its end.
                let _ = rustix::io::fcntl_setfd(control, rustix::io::FdFlags::CLOEXEC);
                self.watch_over(socket, meter);
                end(0);
            }
            Err(error) => tell_failure(&socket, Err(error).during(|| "making a process".into())),
        }
    }

    /// What the new process does.
    fn watch_over(&self, socket: OwnedFd, meter: Meter) {
        let copy = rustix::io::fcntl_dupfd_cloexec(&socket, 3);
        let done = self.attend(socket, meter);
        if let Ok(copy) = copy {
            tell_failure(&copy, done);
        }
    }

    fn attend(&self, socket: OwnedFd, meter: Meter) -> Result<(), Failure> {
        if let Some(layering) = &self.layering {
            return self.attend_layered(layering, socket, meter);
        }
        match self.opening.tier {
            Tier::Namespaces => {
                hide_groups().during(|| "hiding control groups".into())?;
                if let Some(proc) = &self.proc {
                    self.identity.map_itself(proc, self.identity.inside).during(|| "mapping users".into())?;
                }
                cover_again(&self.view.hidden)?;
                let scratch = ScratchFolder::make(self.opening.profile.limits.scratch, self.identity.inside)?;
                furnish(&self.view, &scratch, Processes::OfRoom)?;
                drop(scratch);
                let rules = Rules::of(&self.places, self.opening.tier)?;
                inhabit(&self.opening, &self.view, &self.filter, Arrival::new(rules, socket, meter))
            }
            Tier::Bubblewrap => {
                Bubblewrap::new(&self.opening, &self.view, self.identity).replace(&socket, meter)
            }
            Tier::Landlock => self.supervise(socket, meter),
        }
    }

    /// The same for a call with a layer: all that can be done without it comes first, then the call is waited for. It leaves
    /// its users last, since the overlay is mounted with rights among those of the room; by then nothing but this code has
    /// run in it.
    fn attend_layered(&self, layering: &Layering, socket: OwnedFd, meter: Meter) -> Result<(), Failure> {
        let Layering { outer, owners, others } = layering;
        let (profile, view, here) = (&self.opening.profile, &self.view, self.identity.outside);
        hide_groups().during(|| "hiding control groups".into())?;
        keeping_rights(|| self.identity.assume(here)).during(|| "becoming an ordinary user".into())?;
        cover_again(&view.hidden)?;
        furnish(view, &ScratchFolder::make(profile.limits.scratch, here)?, Processes::OfRoom)?;
        let inner = outer.visit(|| Sources::open_layered(view, owners.as_ref()))?;
        let mut arrival = Arrival::new(Rules::of(&self.places, self.opening.tier)?, socket, meter);
        arrival.gateway = open_gateway(profile.network)?;
        let Some(call) = receive(arrival.socket.as_fd()).during(|| "waiting for a call".into())? else {
            return Ok(());
        };
        let Some(Start { layer: Some(layer), has_worked, .. }) = decode::<Start>(&call.bytes).ok() else {
            return Err(Errno::BADMSG).during(|| "taking over the layer".into());
        };
        let trial = if has_worked { Trial::Done } else { Trial::Needed };
        let trees = outer.visit(|| LayerTrees::open(&layer))?;
        arrival.layer = Some(trees.mount(inner, view, others.as_ref().or(owners.as_ref()), trial)?);
        arrival.call = Some(call);
        leave_users().during(|| "making namespaces".into())?;
        if let Some(proc) = &self.proc {
            self.identity.map_itself(proc, here).during(|| "mapping users".into())?;
        }
        inhabit(&self.opening, view, &self.filter, arrival)
    }

    fn supervise(&self, socket: OwnedFd, meter: Meter) -> Result<(), Failure> {
        let profile = &self.opening.profile;
        let scratch = scratch_folder(&self.opening.scratch)?;
        // A file of the system that was replaced since the room was built has no rule in a folder where something is hidden.
        let anew = (!self.view.hidden.is_empty()).then(|| Places::open(&self.view, Tier::Landlock));
        let supervisor = Supervisor::new(anew.as_ref().unwrap_or(&self.places), &self.view, &scratch)?;
        // The kernel counts all processes of the user here, not those of the call; the watcher counts the latter.
        limits::restrict(&profile.limits, Tier::Landlock, OTHERS)?;
        set_dumpable(false).during(|| "closing the process to others".into())?;
        set_no_new_privs(true).during(|| "giving up new privileges".into())?;
        let own = OwnHandle::new()?;
        let listener = self.filter.install(false).during(|| "installing the filter".into())?;
        own.hand_over(&socket, None)?;
        let tier = Tier::Landlock;
        Init {
            socket,
            profile,
            scratch: &scratch,
            listener,
            household: supervisor,
            bound: Scratch::OnDisk,
            meter,
            tier,
            layer: None,
            call: None,
        }
        .serve();
        Ok(())
    }
}

/// How many processes a user may have besides those of a call, where both are counted together.
const OTHERS: u64 = 4096;

/// How many processes the limit of the user is above that of the control group, where there is one.
const MARGIN: u64 = 16;

/// Who opens what a room shows.
pub(crate) enum SourceOrigin {
    /// The room itself.
    Room,
    /// The launcher did, since it took more rights than the room has.
    Given(Sources),
    /// The room, which stays root, since its calls need that for their layers: files are shown as these owners', and those of the
    /// project as the others', where it is not root's.
    Root { owners: Owners, others: Option<Owners> },
}

/// What a process has with it that moves into its view.
pub(crate) struct Arrival {
    pub(crate) rules: Rules,
    pub(crate) socket: OwnedFd,
    pub(crate) meter: Meter,
    /// A gateway that was opened ahead.
    pub(crate) gateway: Option<OwnedFd>,
    pub(crate) layer: Option<MountedLayer>,
    pub(crate) call: Option<Message>,
}

impl Arrival {
    pub(crate) fn new(rules: Rules, socket: OwnedFd, meter: Meter) -> Self {
        Self { rules, socket, meter, gateway: None, layer: None, call: None }
    }
}

/// The last steps of a process that is the first of its namespaces and sees its view: it gives up everything, and waits
/// for the call.
pub(crate) fn inhabit(
    opening: &Opening,
    view: &View,
    filter: &Filter,
    arrival: Arrival,
) -> Result<(), Failure> {
    let Arrival { mut rules, socket, meter, gateway, layer, call } = arrival;
    let (profile, scratch) = (&opening.profile, Path::new(SCRATCH));
    // The room is one thread, so its end is this one's, too; and whoever is at the other end of the socket counts as
    // well.
    set_parent_process_death_signal(Some(Signal::KILL)).during(|| "following the room".into())?;
    rules.allow_call(view, scratch, opening.tier, profile.network)?;
    if let Some(layer) = &layer {
        rules.allow_listing(&layer.upper)?;
    }
    // While this process may still change its network.
    let gateway = match gateway {
        Some(listener) if profile.network == Network::Gateway => Some(listener),
        // One that was opened in vain is closed here.
        _ => open_gateway(profile.network)?,
    };
    // In a group the group's own count comes first, which also tells how often it was reached.
    let more = if meter == Meter::ControlGroup { MARGIN } else { 0 };
    limits::restrict(&profile.limits, opening.tier, more)?;
    empty_bounding_set(opening.tier).during(|| "dropping capabilities".into())?;
    drop_capabilities().during(|| "dropping capabilities".into())?;
    // Its memory is a copy of the room's: nobody of the same user may look into it.
    set_dumpable(false).during(|| "closing the process to others".into())?;
    let own = OwnHandle::new()?;
    let force = rules.enforce()?;
    if force == Force::None && opening.tier == Tier::Landlock {
        return Err(Failure::new("enforcing Landlock", libc::ENOSYS));
    }
    set_no_new_privs(true).during(|| "giving up new privileges".into())?;
    let listener = filter.install(layer.is_some()).during(|| "installing the filter".into())?;
    own.hand_over(&socket, gateway)?;
    // bubblewrap can give its folder a size, not a number of files.
    let bound = if opening.tier == Tier::Bubblewrap { Scratch::Sized } else { Scratch::Bounded };
    let tier = opening.tier;
    Init { socket, profile, scratch, listener, household: Namespace, bound, meter, tier, layer, call }
        .serve();
    Ok(())
}

/// When memory runs out on the machine, the kernel takes the call before anything of the user's.
pub(crate) fn prefer_as_victim() {
    if let Ok(file) = openat(CWD, "/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
    {
        let _ = rustix::io::write(&file, b"1000");
    }
}

/// No program that is started from here on can get a capability from its file.
fn empty_bounding_set(tier: Tier) -> rustix::io::Result<()> {
    for capability in CapabilitySet::all() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // An older kernel does not have the newest ones, and bubblewrap has emptied the set already.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(rustix::io::Errno::PERM) if tier == Tier::Bubblewrap => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Every capability, in every other set, for good.
fn drop_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

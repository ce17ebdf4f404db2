//! A process in namespaces of its own that does not know yet what it will be for, made by a process that is alone and
//! expects one call: making it takes as long as finding out what the call is, and both can be done at once.
//!
//! Root's own does everything as root and gets users of its own last: for an ordinary user these come first, since without
//! them nobody else may mount a thing, and with them root could not show its files as somebody else's.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::birth::born;
use super::claim::Claim;
use super::data::settle;
use super::failure::During;
use super::filter::Filter;
use super::gateway::open_gateway;
use super::group_only;
use super::identity::{Caller, Identity, Owners, keeping_rights, owner_map, project_owners};
use super::launcher::{HELPER, owners_of, set_mask};
use super::layer::{LayerTrees, Trial};
use super::processes::Proc;
use super::processors::Processors;
use super::room::{Arrival, inhabit, prefer_as_victim};
use super::root::{Entered, Processes, Root, furnish, new_proc};
use super::rules::{Places, Rules};
use super::scratch::ScratchFolder;
use super::sources::{Sources, can_map};
use super::view::View;
use crate::command::LayerMount;
use crate::folder::open_base;
use crate::kernel::{Forked, Namespaces, end, hide_command_line, leave_the_rest, leave_users};
use crate::profile::{Limits, Network};
use crate::report::Meter;
use crate::tier::Tier;
use crate::wire::{
    Entering, Failure, MAX_DESCRIPTORS, Message, Opening, Reply, decode, deliver, encode, pair, receive,
    tell_failure,
};

/// The way to such a process.
#[derive(Debug)]
pub(crate) struct Ahead {
    caller: Caller,
    socket: OwnedFd,
}

impl Ahead {
    /// Makes the process, in a control group where one is given.
    pub(crate) fn make(group: Option<OwnedFd>) -> Result<Self, Failure> {
        let caller = Caller::current();
        let (socket, theirs) = pair().during(|| "making a connection".into())?;
        let namespaces = if caller.is_root() { Namespaces::ByRoot } else { Namespaces::Building };
        let processors = Processors::current();
        let (forked, meter) =
            born(namespaces, group.as_ref().map(AsFd::as_fd)).during(|| "making namespaces".into())?;
        match forked {
            Forked::Parent { child } => processors.part_from(child),
            Forked::Child => {
                // The child has a copy of our end, and would never see the last one closed; it is in the group and has no
                // use for a way to it.
                drop((socket, group));
                set_mask();
                tell_failure(&theirs, wait(&caller, &theirs, meter, &processors));
                end(0)
            }
        }
        Ok(Self { caller, socket })
    }

    /// Sends it in, and gives the line to it and what could not be shown.
    pub(crate) fn enter(
        self,
        opening: Opening,
        layer: Option<LayerMount>,
    ) -> Result<(OwnedFd, Vec<String>), Failure> {
        if let Caller::Root(ids) = &self.caller {
            // A folder that cannot be mounted with another owner keeps its own, which the call takes over.
            settle(opening.profile.data_paths(), |data| {
                let any = || owners_of(Identity::by_root(*ids.start()));
                data.is_roots() || any().is_some_and(|owners| can_map(data.path(), &owners))
            })?;
        }
        let mut view = View::new(&opening.profile, opening.tier);
        view.close_doors(&opening.profile);
        let trees = if self.caller.is_root() { Sources::open_for(&view)? } else { Vec::new() };
        let given = trees.iter().map(Option::is_some).collect();
        let layers = layer.as_ref().filter(|_| self.caller.is_root()).map(LayerTrees::open).transpose()?;
        let layers = layers.iter().flat_map(LayerTrees::descriptors);
        let descriptors: Vec<_> = trees.iter().flatten().chain(layers).map(AsFd::as_fd).collect();
        if descriptors.len() > MAX_DESCRIPTORS {
            return Err(Failure::new("handing over places", libc::E2BIG));
        }
        let entering = Entering { opening, masks: view.masks, given, layer };
        match deliver(self.socket.as_fd(), &encode(&entering), &descriptors) {
            Ok(()) => Ok((self.socket, view.notes)),
            Err(error) => {
                // It is gone already, and has left word why.
                let word = receive(self.socket.as_fd()).ok().flatten();
                match word.and_then(|message| decode::<Reply>(&message.bytes).ok()) {
                    Some(Reply::Failed(failure)) => Err(failure),
                    _ => Err(error).during(|| "handing over places".into()),
                }
            }
        }
    }
}

/// Does what can be done without knowing the call, waits for the word what it is, and serves it.
fn wait(caller: &Caller, socket: &OwnedFd, meter: Meter, processors: &Processors) -> Result<(), Failure> {
    hide_words()?;
    let (mut identity, mut claim) = caller.identity().during(|| "choosing a user id".into())?;
    if !identity.from_root {
        let proc = open_base("/proc").during(|| "opening /proc".into())?;
        identity.map_itself(proc, identity.outside).during(|| "mapping users".into())?;
    }
    // Root leaves its groups.
    let hidden = if identity.from_root { Vec::new() } else { group_only::find() };
    // While /proc is still the one that can be written to; what comes from this process inherits it.
    prefer_as_victim();
    // First of all: where no more users can be had, somebody else has to contain the call, and should know it soon.
    let users = identity.from_root.then(|| Users::make(identity)).transpose()?;
    // It keeps the caller's streams as long as it is there: whoever reads the caller's output to its end then knows that
    // nothing of the call is left, not even this process.
    leave_the_rest().during(|| "making namespaces".into())?;
    // Most calls that come alone have a gateway and the usual limits; what another needs is made anew.
    let filter = Filter::new(Tier::Namespaces, Network::Gateway);
    let gateway = open_gateway(Network::Gateway)?;
    let scratch = ScratchFolder::make(Limits::default().scratch, identity.outside)?;
    let root = Root::begin(Processes::OfCall)?;
    let way_in = match users {
        Some(users) => WayIn::Ajar {
            root: root.leave_old()?,
            rules: Rules::of(&Places::of_system(Tier::Namespaces), Tier::Namespaces)?,
            users,
        },
        None => WayIn::Closed(root),
    };
    let Some(message) = receive(socket.as_fd()).during(|| "waiting for a call".into())? else {
        return Ok(());
    };
    // Not before: until the parent speaks it may still be about to choose where this process runs.
    processors.take_back();
    let Message { bytes, mut descriptors } = message;
    let Entering { opening, masks, given, layer } = decode(&bytes)?;
    let filter = filter.for_network(opening.profile.network);
    let mut scratch = scratch.of_size(opening.profile.limits.scratch, identity.outside)?;
    let mut view = View { masks, ..View::new(&opening.profile, opening.tier) };
    view.hide(hidden);
    let (mut rules, layer) = match way_in {
        WayIn::Closed(root) => {
            // While it still sees what lies outside.
            let trees = layer.as_ref().map(LayerTrees::open).transpose()?;
            let inner = Sources::open_layered(&view, None)?;
            root.enter(Sources::open(&view, None)?, &view)?;
            furnish(&view, &scratch, Processes::OfCall)?;
            let layer = trees.map(|trees| trees.mount(inner, &view, None, Trial::Needed)).transpose()?;
            (Rules::of(&Places::of_system(opening.tier), opening.tier)?, layer)
        }
        WayIn::Ajar { root, users: Users { proc, mut owners }, rules } => {
            if let Some(id) = Sources::own_id(&view, &given, &descriptors) {
                (identity, claim) = (Identity::by_root(id), Some(Claim::shared(id)));
                owners = owner_map(&proc, identity).during(|| "mapping owners".into())?;
                scratch = ScratchFolder::make(opening.profile.limits.scratch, identity.outside)?;
            }
            let layers =
                descriptors.split_off(given.iter().filter(|given| **given).count().min(descriptors.len()));
            let sources = Sources::receive(&view, &given, descriptors, &owners)?;
            let (sources, inner) = sources.split_layered(&view);
            root.finish(sources, &view)?;
            keeping_rights(|| identity.assume(identity.outside))
                .during(|| "becoming an ordinary user".into())?;
            furnish(&view, &scratch, Processes::OfCall)?;
            let layer = match layer {
                Some(layer) => {
                    let trees = LayerTrees::receive(&layer, layers)?;
                    let project = trees.project();
                    let others = project.and_then(|project| project_owners(&proc, identity, &project));
                    Some(trees.mount(inner, &view, others.as_ref().or(Some(&owners)), Trial::Needed)?)
                }
                None => None,
            };
            leave_users().during(|| "making namespaces".into())?;
            identity.map_itself(&proc, identity.outside).during(|| "mapping users".into())?;
            // Closing it means waiting for every processor. It is closed to all that comes from this process, and goes with it.
            std::mem::forget(proc);
            (rules, layer)
        }
    };
    drop(scratch);
    rules.allow(&Places::of_view(&view, opening.tier))?;
    let socket = rustix::io::fcntl_dupfd_cloexec(socket, 3).during(|| "keeping the connection".into())?;
    let mut arrival = Arrival::new(rules, socket, meter);
    (arrival.gateway, arrival.layer) = (gateway, layer);
    inhabit(&opening, &view, &filter, arrival)?;
    // Until here nobody else gets its id.
    drop(claim);
    Ok(())
}

/// Hides the words and variables that metier was started with: the script sees the command line of this process.
fn hide_words() -> Result<(), Failure> {
    let what = || "hiding the command line".to_owned();
    let stat = Proc::open()?.read("self/stat")?.ok_or(Errno::NOENT).during(what)?;
    hide_command_line(&stat, HELPER.as_bytes()).during(what)
}

/// How far a process is into its new root while it waits.
enum WayIn {
    /// Still outside: it opens by itself what it is to show.
    Closed(Root),
    /// Inside, and what is to be shown gets handed in.
    Ajar {
        root: Entered,
        users: Users,
        /// What is allowed in every view.
        rules: Rules,
    },
}

/// What root's process needs for its users.
struct Users {
    /// Its processes, through which they are mapped. Those that the call sees cannot be written to.
    proc: OwnedFd,
    /// How root's files are shown.
    owners: Owners,
}

impl Users {
    fn make(identity: Identity) -> Result<Self, Failure> {
        let proc = new_proc(Processes::OfRoom).during(|| "showing processes".into())?;
        let owners = owner_map(&proc, identity).during(|| "mapping owners".into())?;
        Ok(Self { proc, owners })
    }
}

//! The connection to the helper and to its rooms.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::call::CallLine;
use super::control_group::{Group, Groups};
use super::landmarks::Landmarks;
use super::sandbox::{Helper, Setup};
use crate::error::Error;
use crate::inside::HELPER;
use crate::profile::Profile;
use crate::tier::Tier;
use crate::wire::{Failure, Opening, Reply, TO_PREPARE, decode, deliver, encode, pair, receive};

/// How soon after another a call is one of a row. Its process for the next one is made while it runs, which takes some time
/// from it and saves more from the next; a call that comes alone is not disturbed.
const ROW: Duration = Duration::from_millis(1);

/// How many rooms are kept. Each is a process and a mount namespace, and a session uses a handful of skills.
const MAX_ROOMS: usize = 16;

/// The helper process and its rooms.
#[derive(Debug)]
pub(crate) struct Launcher {
    socket: OwnedFd,
    child: Child,
    rooms: HashMap<Key, Vec<Room>>,
    /// Counts calls, so that the room that was not used for longest can be given up.
    clock: u64,
}

/// What a room was built of.
pub(crate) type Key = (Tier, Profile, Landmarks);

#[derive(Debug)]
struct Room {
    /// Held by each call that runs in it, too.
    lease: Lease,
    /// The id that its calls have on the machine, where root runs metier. Then one call at a time runs in it, so that no two
    /// calls have one id.
    owner: Option<u32>,
    control: OwnedFd,
    spare: Option<Prepared>,
    notes: Vec<String>,
    used: u64,
    /// When its last call ended.
    ended: Option<Instant>,
}

/// Held by a room and by the calls in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lease(Arc<()>);

/// A process that is ready for one call, or will be.
#[derive(Debug)]
struct Prepared {
    socket: OwnedFd,
    group: Option<Group>,
}

/// A call's line, and the room that it comes from.
#[derive(Debug)]
pub(crate) struct RoomLine {
    pub(crate) call: CallLine,
    pub(crate) key: Key,
    /// To be held until the call is over.
    pub(crate) lease: Lease,
    /// Whether the call came right after another, so that one more is to be expected.
    pub(crate) is_in_row: bool,
}

/// Why a room was not made.
#[derive(Debug)]
pub(crate) enum NoRoom {
    /// This way of containing does not work for it.
    Refused(Failure),
    /// Nothing works any more.
    Broken(Error),
}

impl From<std::io::Error> for NoRoom {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error.into())
    }
}

impl Launcher {
    /// Starts the helper, with nothing of the caller's environment.
    #[expect(clippy::disallowed_methods, reason = "this is the crate that starts processes")]
    pub(crate) fn start(helper: &Helper) -> Result<Self, Error> {
        let (socket, theirs) = pair()?;
        let mut command = match helper {
            // The program as it was started, whatever lies at its path by now.
            Helper::Itself => std::process::Command::new("/proc/self/exe"),
            Helper::Program(path) => std::process::Command::new(path),
        };
        let child = command
            .arg0(HELPER)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A key pressed at the terminal is for the caller, who decides what becomes of calls.
            .process_group(0)
            .spawn()
            .map_err(|error| Error::Helper(format!("could not be started: {error}")))?;
        Ok(Self { socket, child, rooms: HashMap::new(), clock: 0 })
    }

    /// A line to a process that is ready for one call, or will be.
    pub(crate) fn line(
        &mut self,
        tier: Tier,
        profile: &Profile,
        setup: &Setup,
        groups: &Groups,
    ) -> Result<RoomLine, NoRoom> {
        self.clock += 1;
        let key = (tier, profile.clone(), Landmarks::of(profile));
        if !self.rooms.get(&key).is_some_and(|rooms| rooms.iter().any(Room::is_free)) {
            let room = self.open(tier, profile, setup, groups)?;
            self.rooms.entry(key.clone()).or_default().push(room);
            self.give_up_oldest();
        }
        let clock = self.clock;
        let rooms = self.rooms.get_mut(&key).into_iter().flatten();
        let room = rooms.rev().find(|room| room.is_free());
        let room = room.ok_or(NoRoom::Broken(Error::Helper("is gone".into())))?;
        room.used = clock;
        let lease = room.lease.clone();
        let prepared = match room.spare.take() {
            Some(spare) => Ok(spare),
            None => room.prepare(tier, profile, groups),
        };
        match prepared {
            Ok(Prepared { socket, group }) => {
                let is_in_row = room.ended.is_some_and(|ended| ended.elapsed() < ROW);
                let call = CallLine { socket, group, notes: room.notes.clone(), tier };
                Ok(RoomLine { call, key, lease, is_in_row })
            }
            Err(error) => {
                self.remove(&key, &lease);
                Err(NoRoom::Broken(Error::Helper(format!("is gone: {error}"))))
            }
        }
    }

    /// A call has ended: the next one of its profile is made ready, since the caller is busy with the result now.
    pub(crate) fn ended(&mut self, key: &Key, lease: &Lease, groups: &Groups) {
        self.make_spare(key, lease, groups);
        if let Some(room) = self.room(key, lease) {
            room.ended = Some(Instant::now());
        }
    }

    /// Has the next call made ready in the room of this one.
    pub(crate) fn make_spare(&mut self, key: &Key, lease: &Lease, groups: &Groups) {
        // On the other ways what is made ahead would be a folder on disk, or a program that waits.
        if key.0 != Tier::Namespaces {
            return;
        }
        if let Some(room) = self.room(key, lease)
            && room.spare.is_none()
        {
            match room.prepare(key.0, &key.1, groups) {
                Ok(spare) => room.spare = Some(spare),
                // The room is gone; the next call makes a new one.
                Err(_) => self.remove(key, lease),
            }
        }
    }

    fn room(&mut self, key: &Key, lease: &Lease) -> Option<&mut Room> {
        self.rooms.get_mut(key)?.iter_mut().find(|room| room.is_leased_by(lease))
    }

    fn remove(&mut self, key: &Key, lease: &Lease) {
        if let Some(rooms) = self.rooms.get_mut(key) {
            rooms.retain(|room| !room.is_leased_by(lease));
        }
    }

    fn open(&self, tier: Tier, profile: &Profile, setup: &Setup, groups: &Groups) -> Result<Room, NoRoom> {
        let (control, theirs) = pair()?;
        let opening = Opening {
            tier,
            profile: profile.clone(),
            scratch: setup.scratch.clone(),
            bubblewrap: setup.bubblewrap.clone().map(Into::into),
        };
        let group = groups.rooms();
        let descriptors: Vec<_> =
            [Some(&theirs), group.as_ref()].into_iter().flatten().map(AsFd::as_fd).collect();
        deliver(self.socket.as_fd(), &encode(&opening), &descriptors)
            .map_err(|error| NoRoom::Broken(Error::Helper(format!("is gone: {error}"))))?;
        drop(theirs);
        let gone = || NoRoom::Broken(Error::Helper("ended without a word".into()));
        let message = receive(control.as_fd())?.ok_or_else(gone)?;
        match decode::<Reply>(&message.bytes).map_err(|_| gone())? {
            Reply::Ready { notes, owner } => Ok(Room {
                lease: Lease::default(),
                owner,
                control,
                spare: None,
                notes,
                used: self.clock,
                ended: None,
            }),
            Reply::Failed(failure) => Err(NoRoom::Refused(failure)),
            Reply::Ended(_) | Reply::Supervised => Err(gone()),
        }
    }

    fn give_up_oldest(&mut self) {
        self.rooms.retain(|_, rooms| !rooms.is_empty());
        let rooms = || self.rooms.iter().flat_map(|(key, rooms)| rooms.iter().map(move |room| (key, room)));
        if rooms().count() <= MAX_ROOMS {
            return;
        }
        // With a room its calls end, so one that is in use stays. The newest is the one that was just opened.
        let unused = rooms().filter(|(_, room)| !room.is_in_use() && room.used != self.clock);
        let oldest = unused.min_by_key(|(_, room)| room.used);
        if let Some((key, lease)) = oldest.map(|(key, room)| (key.clone(), room.lease.clone())) {
            self.remove(&key, &lease);
        }
    }
}

impl Room {
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.lease.0) > 1
    }

    /// Whether another call may run in it.
    fn is_free(&self) -> bool {
        self.owner.is_none() || !self.is_in_use()
    }

    fn is_leased_by(&self, lease: &Lease) -> bool {
        Arc::ptr_eq(&self.lease.0, &lease.0)
    }

    fn prepare(&self, tier: Tier, profile: &Profile, groups: &Groups) -> std::io::Result<Prepared> {
        let (socket, theirs) = pair()?;
        let group = groups.of_room(tier, &profile.limits, self.owner);
        let folder = group.as_ref().map(Group::folder).transpose()?;
        let descriptors: Vec<_> =
            [Some(&theirs), folder.as_ref()].into_iter().flatten().map(AsFd::as_fd).collect();
        deliver(self.control.as_fd(), TO_PREPARE, &descriptors)?;
        Ok(Prepared { socket, group })
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // The end of these connections is the end of everything behind them.
        self.rooms.clear();
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

//! The connection to the helper and to its rooms.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::control_group::{Group, Groups};
use super::landmarks::Landmarks;
use super::sandbox::{Helper, Setup};
use crate::error::Error;
use crate::inside::HELPER;
use crate::profile::Profile;
use crate::tier::Tier;
use crate::wire::{Failure, Opening, Reply, TO_PREPARE, deliver, pair, receive};

/// How soon after another a call is one of a row. Its process for the next one is made while it runs, which takes some time
/// from it and saves more from the next; a call that comes alone is not disturbed.
const ROW: Duration = Duration::from_millis(1);

/// How many rooms are kept. Each is a process and a mount namespace, and a session uses a handful of skills.
const MOST_ROOMS: usize = 16;

/// The helper process and its rooms.
#[derive(Debug)]
pub(crate) struct Launcher {
    socket: OwnedFd,
    child: Child,
    rooms: HashMap<Key, Room>,
    /// Counts calls, so that the room that was not used for longest can be given up.
    clock: u64,
}

/// What a room was built of.
pub(crate) type Key = (Tier, Profile, Landmarks);

fn key(tier: Tier, profile: &Profile) -> Key {
    (tier, profile.clone(), Landmarks::of(profile))
}

#[derive(Debug)]
struct Room {
    control: OwnedFd,
    spare: Option<Prepared>,
    notes: Vec<String>,
    used: u64,
    /// When its last call ended.
    ended: Option<Instant>,
}

/// A process that is ready for one call, or will be.
#[derive(Debug)]
struct Prepared {
    socket: OwnedFd,
    group: Option<Group>,
}

/// The connection to the process that watches over one call.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) socket: OwnedFd,
    /// The control group that it is in.
    pub(crate) group: Option<Group>,
    pub(crate) notes: Vec<String>,
    pub(crate) key: Key,
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
    ) -> Result<Line, NoRoom> {
        self.clock += 1;
        let key = key(tier, profile);
        if !self.rooms.contains_key(&key) {
            let room = self.open(tier, profile, setup, groups)?;
            self.rooms.insert(key.clone(), room);
            self.give_up_oldest();
        }
        let clock = self.clock;
        let room = self.rooms.get_mut(&key).ok_or(NoRoom::Broken(Error::Helper("is gone".into())))?;
        room.used = clock;
        let prepared = match room.spare.take() {
            Some(spare) => Ok(spare),
            None => room.prepare(tier, profile, groups),
        };
        match prepared {
            Ok(Prepared { socket, group }) => {
                let is_in_row = room.ended.is_some_and(|ended| ended.elapsed() < ROW);
                let notes = room.notes.clone();
                Ok(Line { socket, group, notes, key, is_in_row })
            }
            Err(error) => {
                self.rooms.remove(&key);
                Err(NoRoom::Broken(Error::Helper(format!("is gone: {error}"))))
            }
        }
    }

    /// A call has ended: the next one of its profile is made ready, since the caller is busy with the result now.
    pub(crate) fn ended(&mut self, key: &Key, groups: &Groups) {
        self.make_spare(key, groups);
        if let Some(room) = self.rooms.get_mut(key) {
            room.ended = Some(Instant::now());
        }
    }

    /// Has the next call of a profile made ready.
    pub(crate) fn make_spare(&mut self, key: &Key, groups: &Groups) {
        // On the other ways what is made ahead would be a folder on disk, or a program that waits.
        if key.0 != Tier::Namespaces {
            return;
        }
        if let Some(room) = self.rooms.get_mut(key)
            && room.spare.is_none()
        {
            match room.prepare(key.0, &key.1, groups) {
                Ok(spare) => room.spare = Some(spare),
                // The room is gone; the next call makes a new one.
                Err(_) => drop(self.rooms.remove(key)),
            }
        }
    }

    fn open(&self, tier: Tier, profile: &Profile, setup: &Setup, groups: &Groups) -> Result<Room, NoRoom> {
        let (control, theirs) = pair()?;
        let opening = Opening {
            tier,
            profile: profile.clone(),
            scratch: setup.scratch.clone(),
            bubblewrap: setup.bubblewrap.clone(),
        };
        let group = groups.rooms();
        let descriptors: Vec<_> =
            [Some(&theirs), group.as_ref()].into_iter().flatten().map(AsFd::as_fd).collect();
        deliver(self.socket.as_fd(), &opening.encode(), &descriptors)
            .map_err(|error| NoRoom::Broken(Error::Helper(format!("is gone: {error}"))))?;
        drop(theirs);
        let gone = || NoRoom::Broken(Error::Helper("ended without a word".into()));
        let message = receive(control.as_fd())?.ok_or_else(gone)?;
        match Reply::decode(&message.bytes).map_err(|_| gone())? {
            Reply::Ready { notes } => Ok(Room { control, spare: None, notes, used: self.clock, ended: None }),
            Reply::Failed(failure) => Err(NoRoom::Refused(failure)),
            Reply::Ended(_) | Reply::Supervised => Err(gone()),
        }
    }

    fn give_up_oldest(&mut self) {
        if self.rooms.len() > MOST_ROOMS {
            let oldest = self.rooms.iter().min_by_key(|(_, room)| room.used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.rooms.remove(&oldest);
            }
        }
    }
}

impl Room {
    fn prepare(&self, tier: Tier, profile: &Profile, groups: &Groups) -> std::io::Result<Prepared> {
        let (socket, theirs) = pair()?;
        let group = groups.of_room(tier, &profile.limits);
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

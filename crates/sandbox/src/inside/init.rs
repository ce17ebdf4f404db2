//! The process that watches over one call: the first of its namespace, so that all others end with it.
//!
//! It is made ready before the call is known and has given up everything by then: what it starts only inherits.

use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode};
use rustix::io::Errno;
use rustix::process::{Pid, chdir};

use super::failure::During;
use super::filter::Denials;
use super::kernel_memory::Sockets;
use super::layer::MountedLayer;
use super::quota::{Quota, Scratch};
use super::renames::Renames;
use super::view::{HOME, SHARED_MEMORY};
use super::watcher::Watcher;
use crate::folder::{entries, open_folder};
use crate::kernel::{Listener, Reaped, SignalQueue, Streams, Wait, kill_all, reap, spawn};
use crate::profile::Profile;
use crate::report::{Ended as How, Meter, Stop};
use crate::tier::Tier;
use crate::wire::{
    Ended, Failure, FailureOf, Garbled, Message, Reply, Start, TO_STOP, decode, deliver, encode, receive,
};

/// What starts the program and how its processes are found; the rest is the same on every tier.
pub(crate) trait Household {
    /// Starts the program.
    fn start(
        &mut self,
        program: &CString,
        arguments: &[CString],
        environment: &[CString],
        streams: Streams<'_>,
    ) -> std::io::Result<Pid>;
    /// The processes of the call.
    fn processes(&self, watcher: &Watcher) -> Result<Vec<u32>, Failure>;
    /// Sends all of them the signal that cannot be refused.
    fn kill(&self, watcher: &Watcher);
}

/// Everything that one call needs, made ready.
pub(crate) struct Init<'a, H> {
    pub(crate) socket: OwnedFd,
    pub(crate) profile: &'a Profile,
    pub(crate) scratch: &'a Path,
    pub(crate) listener: Option<Listener>,
    pub(crate) household: H,
    /// What bounds the scratch folder already. One on disk is removed afterwards.
    pub(crate) bound: Scratch,
    /// What bounds memory and processes beside the watcher.
    pub(crate) meter: Meter,
    pub(crate) tier: Tier,
    /// The overlay on the project, where there is one.
    pub(crate) layer: Option<MountedLayer>,
    /// The call, where it had to be known to get this far.
    pub(crate) call: Option<Message>,
}

impl<H: Household> Init<'_, H> {
    /// Waits for the call, runs it to its end and says how it ended.
    pub(crate) fn serve(mut self) {
        let call = match self.call.take() {
            Some(call) => Some(call),
            None => receive(self.socket.as_fd()).ok().flatten(),
        };
        if let Some(message) = call {
            self.attend(message);
        }
        if self.bound == Scratch::OnDisk {
            remove(self.scratch);
        }
    }

    fn attend(&mut self, message: Message) {
        let reply = self.run(message);
        let folder = match &reply {
            Ok(_) => {
                // The call may have closed it, and its results count all the same. On the tier without namespaces the filter
                // denies this to everybody, this process included, which then would wait for its own answer.
                if self.tier != Tier::Landlock {
                    let _ = rustix::fs::chmod(self.scratch, Mode::from_raw_mode(0o700));
                }
                leftovers(self.scratch)
            }
            Err(_) => None,
        };
        let reply = match reply {
            Ok(ended) => Reply::Ended(ended),
            Err(failure) => Reply::Failed(failure),
        };
        let descriptors: Vec<_> = folder.iter().map(AsFd::as_fd).collect();
        let _ = deliver(self.socket.as_fd(), &encode(&reply), &descriptors);
        if self.bound == Scratch::OnDisk {
            // A real folder is removed once the other side has taken what it wants, or is gone.
            let _ = receive(self.socket.as_fd());
        }
    }

    fn run(&mut self, message: Message) -> Result<Ended, Failure> {
        let start = decode::<Start>(&message.bytes)?;
        let Ok(streams) = <[OwnedFd; 3]>::try_from(message.descriptors) else {
            return Err(Garbled.into());
        };
        let children = SignalQueue::for_children().during(|| "listening for children".into())?;
        let folder = &self.profile.working_directory;
        chdir(folder).during(|| format!("going to {}", folder.display()))?;
        let limits = &self.profile.limits;
        let mut renames = self.layer.as_ref().map(|layer| Renames::new(&layer.at)).transpose()?;
        let quota = Quota::new(self.profile, self.scratch.to_owned(), self.bound, self.layer.take())?;
        let sockets = Sockets::new(self.tier, &self.socket)?;
        let mut watcher = Watcher::new(limits.clone(), quota, sockets)?;
        let first = self.start(&start, streams.each_ref().map(AsFd::as_fd))?;
        // Whoever reads the streams sees their end when the last process of the call has closed them.
        drop(streams);
        let mut denials = Denials::default();
        let (mut stop, mut how, mut cpu, mut memory) = (None, None, Duration::ZERO, 0_u64);
        let mut note = |reaped: Reaped, how: &mut Option<How>| {
            cpu += reaped.cpu;
            memory = memory.max(reaped.memory);
            if reaped.pid == first {
                *how = Some(reaped.ended);
            }
            cpu
        };
        let mut waited = Duration::ZERO;
        // A supervisor that cannot see any more holds no limit, so whatever goes wrong in its own work ends the call.
        let mut fault = None;
        // What is left of a folder that is being moved belongs to a rename, which happens as a whole or not at all. So its
        // end is waited for, within the limits of the call.
        let mover = |renames: &Option<Renames>| renames.as_ref().and_then(Renames::renamer);
        while (how.is_none() || mover(&renames).is_some()) && stop.is_none() {
            let mut look = || -> Result<Option<Stop>, Failure> {
                let woken = self.wait(&children, watcher.until_due())?;
                if woken.child {
                    children.clear();
                    while let Some(reaped) = reap(Wait::No) {
                        waited = note(reaped, &mut how);
                        if let (Some(listener), Some(renames)) = (&self.listener, &mut renames) {
                            if how.is_some() {
                                renames.close();
                            }
                            renames.child_ended(listener, &reaped);
                        }
                    }
                }
                if let Some(listener) = self.listener.as_ref().filter(|_| woken.denied) {
                    denials.answer(listener, renames.as_mut()).during(|| "answering denied calls".into())?;
                }
                if woken.told {
                    return Ok(Some(Stop::Cancelled));
                }
                // Not only when nothing else happens: a call that keeps us busy with denied calls and dying children
                // would never be looked at.
                let mover = mover(&renames);
                if (how.is_none() || mover.is_some()) && watcher.until_due().is_zero() {
                    let mut processes = self.household.processes(&watcher)?;
                    // A copy of this process, as closed to others and as little the script's.
                    processes.retain(|process| {
                        mover.is_none_or(|pid| pid.as_raw_nonzero().get().cast_unsigned() != *process)
                    });
                    return watcher.look(&processes, waited);
                }
                Ok(None)
            };
            stop = look().unwrap_or_else(|failure| {
                fault = Some(failure.to_string());
                Some(Stop::Unmeasured)
            });
        }
        // Whatever is left of the call ends now: a daemon that it left behind, a child that ignores every signal.
        let is_over = how.is_some() && stop.is_none();
        let mut left = 0;
        loop {
            self.household.kill(&watcher);
            let Some(reaped) = reap(Wait::Yes) else { break };
            // One that had ended by itself was only not waited for.
            left += u32::from(is_over && reaped.ended == How::Signaled(libc::SIGKILL));
            note(reaped, &mut how);
        }
        // The last look: what grew quickly and ended is held against the limit, too.
        if stop.is_none() && how == Some(How::Signaled(libc::SIGXCPU)) {
            stop = Some(Stop::Cpu);
        }
        Ok(Ended {
            how: stop.map_or(how.unwrap_or(How::Signaled(libc::SIGKILL)), How::Stopped),
            cpu,
            memory: memory.max(watcher.most_memory),
            meter: self.meter,
            denied: denials.finish(),
            overrun: watcher.quota.overrun,
            fault,
            left,
        })
    }

    fn start(&mut self, start: &Start, streams: Streams<'_>) -> Result<Pid, Failure> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| unsuitable("an argument with a zero byte"));
        let program = text(start.program.as_os_str().as_bytes())?;
        let mut arguments = vec![program.clone()];
        for argument in &start.arguments {
            arguments.push(text(argument.as_bytes())?);
        }
        let home = self.scratch.join(HOME);
        let own = [("TMPDIR", self.scratch), ("HOME", home.as_path())];
        let own = own.map(|(name, path)| (OsString::from(name), path.as_os_str().to_owned()));
        let mut environment = Vec::new();
        for (name, value) in self.profile.environment.iter().chain(&own) {
            environment.push(text(&[name.as_bytes(), b"=", value.as_bytes()].concat())?);
        }
        self.household.start(&program, &arguments, &environment, streams).map_err(|error| Failure {
            what: format!("starting {}", start.program.display()),
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            of: FailureOf::Program,
        })
    }

    /// Waits until something happens, for so long at most.
    fn wait(&self, children: &SignalQueue, longest: Duration) -> Result<Woken, Failure> {
        let denied: BorrowedFd<'_> = self.listener.as_ref().map_or(children.as_fd(), AsFd::as_fd);
        let mut waiting = [
            PollFd::new(&children, PollFlags::IN),
            PollFd::from_borrowed_fd(denied, PollFlags::IN),
            PollFd::new(&self.socket, PollFlags::IN),
        ];
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(longest.subsec_nanos()) };
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Woken::default()),
            Err(error) => return Err(error).during(|| "waiting for the call".into()),
        }
        let [child, denied, spoken] = [0, 1, 2].map(|at: usize| waiting[at].revents());
        // All that is ready at once: a flood of one kind keeps us from no other.
        Ok(Woken {
            child: !child.is_empty(),
            denied: denied.contains(PollFlags::IN),
            told: !spoken.is_empty()
                && !matches!(receive(self.socket.as_fd()), Ok(Some(message)) if message.bytes != TO_STOP),
        })
    }
}

/// Why the watch was interrupted.
#[derive(Default)]
struct Woken {
    child: bool,
    denied: bool,
    /// By the caller, to end the call.
    told: bool,
}

/// The first process of a namespace: it sees its own processes only, and a signal to all reaches exactly them.
pub(crate) struct Namespace;

impl Household for Namespace {
    fn start(
        &mut self,
        program: &CString,
        arguments: &[CString],
        environment: &[CString],
        streams: Streams<'_>,
    ) -> std::io::Result<Pid> {
        spawn(program, arguments, environment, streams)
    }

    fn processes(&self, watcher: &Watcher) -> Result<Vec<u32>, Failure> {
        watcher.all()
    }

    fn kill(&self, _: &Watcher) {
        // Only the first process of a namespace is alone in it with its children; anyone else would end strangers.
        if rustix::process::getpid() == Pid::INIT {
            kill_all();
        }
    }
}

/// The scratch folder, opened, if the call left anything in it.
fn leftovers(scratch: &Path) -> Option<OwnedFd> {
    let folder = open_folder(CWD, scratch).ok()?;
    let ours = [HOME.as_bytes(), SHARED_MEMORY.as_bytes()];
    let left = entries(&folder).ok()?.flatten().any(|entry| !ours.contains(&entry.file_name().to_bytes()));
    left.then_some(folder)
}

fn unsuitable(what: &str) -> Failure {
    Failure { what: what.to_owned(), errno: libc::EINVAL, of: FailureOf::Program }
}

/// Removes a scratch folder of ours.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder that this process made, after all that could change it is dead"
)]
fn remove(scratch: &Path) {
    let _ = std::fs::remove_dir_all(scratch);
}

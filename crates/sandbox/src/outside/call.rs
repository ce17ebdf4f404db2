//! One call: what goes in, what comes out, when it has to end.

use std::borrow::Cow;
use std::io::{self, PipeReader, PipeWriter};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::attendance::{Attendance, Sink};
use super::control_group::{Group, Tally, Used};
use super::layers::LayersTried;
use super::supervised::{GatewaySocket, Supervised, Supervisor};
use crate::cancel::Cancel;
use crate::clock::Clock;
use crate::command::Command;
use crate::error::Error;
use crate::inside::{HOME, SCRATCH, SHARED_MEMORY};
use crate::outputs::Outputs;
use crate::profile::Profile;
use crate::report::{Containment, Ended, Meter, Report, Stop, Usage};
use crate::stream::Keeper;
use crate::tier::Tier;
use crate::wire::{
    self, Failure, FailureOf, Message, Reply, Start, TO_STOP, decode, deliver, encode, receive,
};

/// How long a call that was told to end may take for it before its helper counts as lost.
pub(super) const END_TIMEOUT: Duration = Duration::from_secs(10);

/// How much is read at once.
const MAX_CHUNK: usize = 64 * 1024;

/// How often is looked whether a clock that stands still goes again. By so much a call may be late to end afterwards.
const LOOK: Duration = Duration::from_millis(20);

/// One of the two streams a process writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// The way to the process that watches over a call, and what is known of it.
#[derive(Debug)]
pub(crate) struct CallLine {
    pub(crate) socket: OwnedFd,
    /// The control group that it is in, unless the kernel did not let it.
    pub(crate) group: Option<Group>,
    pub(crate) notes: Vec<String>,
    pub(crate) tier: Tier,
}

/// A call that has been handed over.
pub(crate) struct Call<'a> {
    line: CallLine,
    stdin: Option<(PipeWriter, &'a [u8])>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    began: Instant,
    /// How long the clock had stood still by then, for others.
    still: Duration,
    supervisor: Supervisor,
    gateway_socket: Option<GatewaySocket>,
    /// What listens at the gateway, until somebody knocks there. Most calls reach nobody, and who would answer is a thread.
    unanswered: Option<TcpListener>,
    profile: &'a Profile,
    command: &'a Command,
}

impl<'a> Call<'a> {
    /// Hands the command over.
    pub(crate) fn start(
        line: CallLine,
        profile: &'a Profile,
        command: &'a Command,
        attendance: &mut Attendance<'_>,
        tried: &LayersTried,
    ) -> Result<Self, Error> {
        let began = Instant::now();
        let still = stood_still(attendance.clock);
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let start = Start {
            program: command.program.clone(),
            arguments: command.arguments.clone(),
            layer: command.layers.first().cloned(),
            has_worked: tried.has_worked(command),
        };
        let (stdin, input): (Option<(PipeWriter, &[u8])>, OwnedFd) = match &command.stdin {
            None => (None, nothing()?),
            Some(bytes) => {
                let (read, write) = io::pipe()?;
                // What a program does not read must not keep us from reading what it writes.
                rustix::io::ioctl_fionbio(&write, true).map_err(io::Error::from)?;
                (Some((write, bytes)), read.into())
            }
        };
        for stream in [&stdout, &stderr] {
            rustix::io::ioctl_fionbio(stream, true).map_err(io::Error::from)?;
        }
        let told = deliver(line.socket.as_fd(), &encode(&start), &[input.as_fd(), out.as_fd(), err.as_fd()]);
        // Only then: it would be a way there and back before the program starts, and who knocks meanwhile waits. Where the
        // other side is gone already, it has left word here why.
        let Supervised { supervisor, gateway } = Supervised::take(&line, profile, command)?;
        // It says so once the overlay is mounted.
        tried.note(command);
        let (gateway_socket, unanswered) = gateway.unzip();
        if unanswered.is_some() && attendance.porter.is_none() {
            return Err(Error::NoPorter);
        }
        told?;
        Ok(Self {
            line,
            stdin,
            stdout: Some(stdout),
            stderr: Some(stderr),
            began,
            still,
            supervisor,
            gateway_socket,
            unanswered,
            profile,
            command,
        })
    }

    /// Whether a control group was made for it.
    pub(crate) fn has_group(&self) -> bool {
        self.line.group.is_some()
    }

    /// Reads until the call is over.
    pub(crate) fn finish(mut self, attendance: &mut Attendance<'_>) -> Result<Report, Error> {
        let (cancel, clock) = (attendance.cancel, attendance.clock);
        let limits = &self.profile.limits;
        let (mut stdout, mut stderr) = (Keeper::new(limits.output), Keeper::new(limits.output));
        let mut stopped: Option<(Stop, Instant)> = None;
        let (mut reply, mut written) = (None, 0_u64);
        let mut buffer = vec![0; MAX_CHUNK];
        while reply.is_none() || self.stdout.is_some() || self.stderr.is_some() {
            let left = match stopped {
                // Once it was told to end, the clock on the wall counts.
                Some((_, end)) => Instant::saturating_duration_since(&end, Instant::now()),
                None => self.left(clock),
            };
            if left.is_zero() {
                if let Some((why, _)) = stopped {
                    // Its streams end with its processes; what was not read by now is lost.
                    self.kill();
                    (self.stdout, self.stderr) = (None, None);
                    let fault = "the supervisor did not answer, and was killed with the call".to_owned();
                    let ended = wire::Ended::stopped(why, Meter::Watcher);
                    reply = Some(Some(as_message(wire::Ended { fault: Some(fault), ..ended })));
                    continue;
                }
                self.stop(Stop::Time, &mut stopped);
                continue;
            }
            let cancel = cancel.filter(|_| stopped.is_none());
            let [input, output, error, answered, cancelled, memory, knocked] =
                self.wait(left, cancel, reply.is_none())?;
            if cancelled {
                self.stop(Stop::Cancelled, &mut stopped);
            }
            if memory && self.line.group.as_ref().is_some_and(Group::is_out_of_memory) {
                self.stop(Stop::Memory, &mut stopped);
            }
            if knocked
                && let (Some(listener), Some(porter)) = (self.unanswered.take(), &mut attendance.porter)
            {
                porter(listener);
            }
            if input {
                self.feed();
            }
            for (stream, ready, pipe, keeper) in [
                (Stream::Output, output, &mut self.stdout, &mut stdout),
                (Stream::Error, error, &mut self.stderr, &mut stderr),
            ] {
                if ready {
                    written += drain(pipe, &mut buffer, |bytes| {
                        let bytes = match &mut attendance.sieve {
                            Some(sieve) => sieve.pass(stream, bytes),
                            None => Cow::Borrowed(bytes),
                        };
                        hand_on(&bytes, stream, keeper, &mut attendance.sink);
                    })?;
                }
            }
            if written > limits.chatter && stopped.is_none() {
                self.stop(Stop::Chatter, &mut stopped);
            }
            if answered && reply.is_none() {
                reply = Some(receive(self.line.socket.as_fd())?);
            }
        }
        if let Some(sieve) = &mut attendance.sieve {
            for (stream, keeper) in [(Stream::Output, &mut stdout), (Stream::Error, &mut stderr)] {
                hand_on(&sieve.rest(stream), stream, keeper, &mut attendance.sink);
            }
        }
        // Nobody of the call is alive who could knock.
        (self.gateway_socket, self.unanswered) = (None, None);
        self.report(reply.flatten(), stopped.map(|(why, _)| why), stdout, stderr, clock)
    }

    /// How much of its time is left. While the clock stands still that stays the same, so whoever waits for no longer than
    /// this, and asks again, is never late; but for a moment, where so little is left that it would be asked all the time.
    fn left(&self, clock: Option<&Clock>) -> Duration {
        let paused = stood_still(clock).saturating_sub(self.still);
        let left = (self.profile.limits.time + paused).saturating_sub(self.began.elapsed());
        if clock.is_some_and(Clock::is_paused) { left.max(LOOK) } else { left }
    }

    /// Tells the call to end, once, and notes why and until when it has time for that.
    fn stop(&self, why: Stop, stopped: &mut Option<(Stop, Instant)>) {
        if stopped.is_none() {
            *stopped = Some((why, Instant::now() + END_TIMEOUT));
            // If it is over already, nobody is there to read this.
            let _ = deliver(self.line.socket.as_fd(), TO_STOP, &[]);
        }
    }

    /// Ends every process of the call, where the supervisor does not.
    fn kill(&mut self) {
        if let Some(group) = &self.line.group {
            group.kill();
        }
        self.supervisor.kill();
    }

    /// Waits until something happens. Gives what can be read or written without waiting, in the order of the list below.
    fn wait(&self, left: Duration, cancel: Option<&Cancel>, reply: bool) -> io::Result<[bool; 7]> {
        // Those that are not waited for are left out.
        let wanted = [
            (self.stdin.as_ref().map(|(pipe, _)| pipe.as_fd()), PollFlags::OUT),
            (self.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (reply.then(|| self.line.socket.as_fd()), PollFlags::IN),
            (cancel.map(AsFd::as_fd), PollFlags::IN),
            (self.line.group.as_ref().filter(|_| reply).map(Group::events), PollFlags::PRI),
            (self.unanswered.as_ref().filter(|_| reply).map(AsFd::as_fd), PollFlags::IN),
        ];
        let mut polled = Vec::with_capacity(wanted.len());
        let places = wanted.map(|(descriptor, flags)| {
            descriptor.map(|descriptor| {
                polled.push(PollFd::from_borrowed_fd(descriptor, flags));
                polled.len() - 1
            })
        });
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(places.map(|at| at.is_some_and(|at| !polled[at].revents().is_empty())))
    }

    /// Writes what the program can take of its input, and closes the pipe at the end or when nobody reads.
    fn feed(&mut self) {
        if let Some((pipe, left)) = &mut self.stdin {
            match rustix::io::write(&*pipe, left) {
                Ok(written) => *left = &left[written..],
                Err(Errno::AGAIN | Errno::INTR) => return,
                Err(_) => *left = &[],
            }
            if left.is_empty() {
                self.stdin = None;
            }
        }
    }

    fn report(
        mut self,
        message: Option<Message>,
        stopped: Option<Stop>,
        stdout: Keeper,
        stderr: Keeper,
        clock: Option<&Clock>,
    ) -> Result<Report, Error> {
        let tally = self.line.group.as_ref().map_or_else(Tally::default, Group::tally);
        let message = match message {
            Some(message) => message,
            // The kernel took the process that watched over the call, and there is nobody else to say how it ended.
            None if tally.ended_for_memory > 0 => {
                self.kill();
                let Used { cpu, memory } = self.line.group.as_ref().map_or_else(Used::default, Group::used);
                let ended = wire::Ended::stopped(Stop::Memory, Meter::ControlGroup);
                as_message(wire::Ended { cpu, memory, ..ended })
            }
            None => {
                self.kill();
                return Err(lost());
            }
        };
        let wire::Ended { how, cpu, memory, meter, denied, overrun, fault, left } =
            match decode::<Reply>(&message.bytes).map_err(|_| lost())? {
                Reply::Ended(ended) => ended,
                Reply::Failed(failure) => {
                    self.supervisor.is_over();
                    return Err(refused(failure, self.command));
                }
                Reply::Ready { .. } | Reply::Supervised => return Err(lost()),
            };
        self.supervisor.is_over();
        let time = self.began.elapsed();
        let paused = stood_still(clock).saturating_sub(self.still).min(time);
        let outputs = match message.descriptors.into_iter().next() {
            Some(folder) => {
                let line = rustix::io::fcntl_dupfd_cloexec(&self.line.socket, 3).map_err(io::Error::from)?;
                Outputs::list(folder, line, |path| self.is_ours(path))?
            }
            None => Outputs::default(),
        };
        let ended = match (how, stopped) {
            // The program may have ended by itself after one of its processes was taken, before we could end it.
            (Ended::Exited(_) | Ended::Signaled(_), _) if tally.ended_for_memory > 0 => {
                Ended::Stopped(Stop::Memory)
            }
            // Inside, a call that we stop is simply taken back; why is known here.
            (Ended::Stopped(Stop::Cancelled), Some(why)) => Ended::Stopped(why),
            (how, _) => how,
        };
        let CallLine { mut notes, tier, .. } = self.line;
        if tally.refused_processes > 0 {
            notes.push(format!(
                "{} processes and threads is the limit; {} more were refused",
                self.profile.limits.processes, tally.refused_processes
            ));
        }
        if is_too_long_a_file(ended) {
            let most = self.profile.limits.file_size >> 20;
            notes.push(format!(
                "it ended as a program does that makes a file longer than it may: {most} MiB is the limit"
            ));
        }
        let masked = self.profile.project.as_ref().map_or_else(Vec::new, |project| project.masked.clone());
        Ok(Report {
            ended,
            stdout: stdout.finish(),
            stderr: stderr.finish(),
            usage: Usage { time, paused, cpu, memory },
            outputs,
            denied,
            containment: Containment { tier, meter, notes, masked },
            overrun,
            fault,
            left,
        })
    }

    /// What lies in the scratch folder and is no result: the home folder, and the ways to places shown in it.
    fn is_ours(&self, path: &Path) -> bool {
        if path == Path::new(HOME) || path == Path::new(SHARED_MEMORY) {
            return true;
        }
        let path = Path::new(SCRATCH).join(path);
        let project = self.profile.project.as_ref().map(|project| &project.folder);
        let stand_ins = self.profile.stand_ins.iter().map(|stand_in| &stand_in.at);
        self.line.tier != Tier::Landlock
            && self
                .profile
                .shown()
                .chain(&self.profile.programs)
                .chain(project)
                .chain(stand_ins)
                .any(|shown| shown.starts_with(&path))
    }
}

/// The answer of a supervisor that can give none, since it was killed with the call.
fn as_message(ended: wire::Ended) -> Message {
    Message { bytes: encode(&Reply::Ended(ended)), descriptors: Vec::new() }
}

fn lost() -> Error {
    Error::Helper("ended before the call did".into())
}

/// Gives a piece of a stream to the report and to whoever attends.
fn hand_on(bytes: &[u8], stream: Stream, keeper: &mut Keeper, sink: &mut Option<Sink<'_>>) {
    if bytes.is_empty() {
        return;
    }
    keeper.push(bytes);
    if let Some(sink) = sink {
        sink(stream, bytes);
    }
}

/// Reads what is there; closes the pipe at its end.
fn drain(pipe: &mut Option<PipeReader>, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> io::Result<u64> {
    let Some(reader) = pipe else { return Ok(0) };
    match rustix::io::read(&*reader, &mut *buffer) {
        Ok(0) => {
            *pipe = None;
            Ok(0)
        }
        Ok(read) => {
            each(&buffer[..read]);
            Ok(read as u64)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

fn stood_still(clock: Option<&Clock>) -> Duration {
    clock.map_or(Duration::ZERO, Clock::stood_still)
}

fn nothing() -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    Ok(openat(CWD, "/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A failure inside, as the caller sees it.
pub(crate) fn refused(failure: Failure, command: &Command) -> Error {
    let reason = io::Error::from_raw_os_error(failure.errno);
    match failure.of {
        FailureOf::Program => Error::Program { program: command.program.clone(), reason },
        FailureOf::Layer(at) => Error::NoLayer { at, reason: format!("{}: {reason}", failure.what) },
        FailureOf::Containment => Error::Containment { what: failure.what, reason },
    }
}

/// Whether the kernel ended a program for the length of a file. A shell gives the signal of its command in its own status.
fn is_too_long_a_file(ended: Ended) -> bool {
    const SIGNAL: i32 = rustix::process::Signal::XFSZ.as_raw();
    matches!(ended, Ended::Signaled(SIGNAL))
        || matches!(ended, Ended::Exited(status) if status == 128 + SIGNAL)
}

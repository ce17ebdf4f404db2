//! The process that watches over one call where there are no namespaces: whatever its children leave behind becomes its
//! own child, so that it can end it.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, set_child_subreaper, set_parent_process_death_signal, setsid};

use super::claim::random;
use super::failure::During;
use super::init::Household;
use super::processes::kill_each;
use super::rules::{Places, Rules};
use super::view::{HOME, SHARED_MEMORY, View};
use super::watcher::Watcher;
use crate::kernel::{Streams, end, fork, replace};
use crate::profile::Network;
use crate::tier::Tier;
use crate::wire::Failure;

/// A call without namespaces.
pub(crate) struct Supervisor {
    rules: Option<Rules>,
    /// The program, once it runs.
    first: Option<Pid>,
}

impl Supervisor {
    /// Opens the rules while this process may still open anything, and asks for what its children leave behind.
    pub(crate) fn new(places: &Places, view: &View, scratch: &Path) -> Result<Self, Failure> {
        set_child_subreaper(Some(Pid::INIT)).during(|| "taking over orphans".into())?;
        // Some kernels are built without it, and then nobody could find the processes of a call.
        openat(CWD, "/proc/thread-self/children", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .during(|| "asking for the children of a process".into())?;
        let mut rules = Rules::of(places, Tier::Landlock)?;
        rules.allow_call(view, scratch, Tier::Landlock, Network::None)?;
        Ok(Self { rules: Some(rules), first: None })
    }
}

impl Household for Supervisor {
    fn start(
        &mut self,
        program: &CString,
        arguments: &[CString],
        environment: &[CString],
        streams: Streams<'_>,
    ) -> io::Result<Pid> {
        let rules = self.rules.take().ok_or_else(|| io::Error::other("this call has started already"))?;
        let (mut said, says) = std::io::pipe()?;
        if let Some(child) = fork()? {
            drop((says, rules));
            self.first = Some(child);
            let mut errno = [0; 4];
            return match std::io::Read::read_exact(&mut said, &mut errno) {
                // The pipe closed without a word: the program is running.
                Err(_) => Ok(child),
                Ok(()) => Err(io::Error::from_raw_os_error(i32::from_le_bytes(errno))),
            };
        }
        drop(said);
        let error = become_program(rules, program, arguments, environment, streams);
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        let _ = rustix::io::write(&says, &errno.to_le_bytes());
        end(127)
    }

    fn processes(&self, watcher: &Watcher) -> Result<Vec<u32>, Failure> {
        watcher.descendants()
    }

    fn kill(&self, watcher: &Watcher) {
        // Where they cannot be listed, the first one is known; the caller finds the rest, since we do not answer then.
        let first = self.first.map(|first| first.as_raw_nonzero().get().cast_unsigned());
        kill_each(&watcher.descendants().unwrap_or_else(|_| first.into_iter().collect()));
    }
}

/// Gives up everything and becomes the program. The supervisor itself stays outside the rules, so that the program may
/// not send it a signal.
fn become_program(
    rules: Rules,
    program: &CString,
    arguments: &[CString],
    environment: &[CString],
    streams: Streams<'_>,
) -> io::Error {
    let prepared = set_parent_process_death_signal(Some(Signal::KILL))
        .and_then(|()| setsid().map(drop))
        .map_err(io::Error::from)
        .and_then(|()| {
            rules.enforce().map(drop).map_err(|failure| io::Error::from_raw_os_error(failure.errno))
        });
    match prepared {
        Ok(()) => replace(program, arguments, environment, streams),
        Err(error) => error,
    }
}

/// Makes a scratch folder on disk that only its owner can enter.
pub(crate) fn scratch_folder(base: &Path) -> Result<PathBuf, Failure> {
    let own = Mode::from_raw_mode(0o700);
    let number = u64::from_le_bytes(random().during(|| "naming the scratch folder".into())?);
    let scratch = base.join(format!("metier-{number:016x}"));
    let make = || -> Result<(), Errno> {
        mkdirat(CWD, &scratch, own)?;
        mkdirat(CWD, scratch.join(HOME), own)?;
        mkdirat(CWD, scratch.join(SHARED_MEMORY), own)
    };
    make().during(|| format!("making a scratch folder in {}", base.display()))?;
    Ok(scratch)
}

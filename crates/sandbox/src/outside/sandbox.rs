//! The sandbox: what the rest of the world sees of it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use super::attendance::Attendance;
use super::call::{Call, CallLine, refused};
use super::control_group::{Group, Groups};
use super::launcher::{Launcher, NoRoom, RoomLine};
use super::layers::{self, LayersTried};
use super::running::Running;
use crate::command::{Command, LayerMount};
use crate::error::{Attempt, Error};
use crate::inside::Ahead;
use crate::lock::lock;
use crate::profile::{Network, Profile, ProjectAccess};
use crate::queue::Queue;
use crate::report::{Meter, Report};
use crate::tier::Tier;
use crate::wire::{FailureOf, Opening};

/// How many calls run at once unless the caller says otherwise.
const DEFAULT_CALLS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// What a sandbox needs to know of its surroundings.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which program is the helper.
    pub helper: Helper,
    /// By which means processes are contained.
    pub choice: Choice,
    /// Where scratch folders are made by means that cannot mount one. It must be the user's own.
    pub scratch: PathBuf,
    /// bubblewrap, if it is installed. It has to come from a place that no skill can write to.
    pub bubblewrap: Option<PathBuf>,
    /// How many calls run at once; the others wait, first come, first served.
    pub at_once: NonZeroUsize,
    /// How many calls are to be expected.
    pub expecting: Expecting,
    /// What bounds memory and processes.
    pub metering: Metering,
}

/// What bounds memory and processes of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metering {
    /// A control group for each call, where this process may make one; limits and a watcher everywhere.
    ///
    /// Where this process is alone in a group that is its own to divide, such as a service with `Delegate=yes`, it moves a
    /// step down in it for as long as there is the sandbox: a group that has groups holds no processes.
    #[default]
    Best,
    /// Limits and a watcher.
    Watcher,
}

/// How many calls are to be expected of the process that has the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expecting {
    /// Many: a helper and rooms are kept ready for the next one.
    #[default]
    Many,
    /// One: it goes straight into its namespaces, without helper and room, where the process has no other thread by
    /// then. That is faster for one call and slower for two.
    One,
}

/// Which program is the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Helper {
    /// This one: its `main` begins with [`helper`](crate::helper).
    Itself,
    /// A program whose `main` does so.
    Program(PathBuf),
}

/// By which means processes are contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The strongest that works.
    #[default]
    Best,
    /// This one or nothing.
    Only(Tier),
}

impl Setup {
    /// The strongest means that work, with this program as its own helper.
    pub fn new(scratch: PathBuf) -> Self {
        Self {
            helper: Helper::Itself,
            choice: Choice::Best,
            scratch,
            bubblewrap: None,
            at_once: DEFAULT_CALLS_AT_ONCE,
            expecting: Expecting::Many,
            metering: Metering::Best,
        }
    }
}

/// Runs processes contained.
///
/// It starts a helper with the first call and keeps it: the helper makes a room for each profile, and each room makes
/// the processes that watch over single calls, the next one ahead of time. When the sandbox is dropped, or the process
/// that has it ends in whatever way, everything behind it ends.
#[derive(Debug)]
pub struct Sandbox {
    setup: Setup,
    queue: Queue,
    state: Mutex<State>,
    layers: LayersTried,
    /// Last, since what is in groups has to end before they can be removed.
    groups: Groups,
}

#[derive(Debug, Default)]
struct State {
    launcher: Option<Launcher>,
    /// What does not work here, and why; it is tried once.
    refused: BTreeMap<Tier, String>,
    /// The process for the one call that is expected, and its group.
    ahead: Option<(Ahead, Option<Group>)>,
}

impl Sandbox {
    /// A sandbox that has not started anything yet.
    pub fn new(setup: Setup) -> Self {
        let groups = match setup.metering {
            Metering::Best => Groups::new(),
            Metering::Watcher => Groups::unwanted(),
        };
        let queue = Queue::new(setup.at_once);
        Self { queue, state: Mutex::default(), layers: LayersTried::default(), setup, groups }
    }

    /// Runs a command to its end.
    pub fn run(&self, profile: &Profile, command: &Command) -> Result<Report, Error> {
        self.run_with(profile, command, Attendance::default())
    }

    /// Runs a command to its end, or until somebody who attends it takes it back.
    pub fn run_with(
        &self,
        profile: &Profile,
        command: &Command,
        mut attendance: Attendance<'_>,
    ) -> Result<Report, Error> {
        check_paths(profile, command)?;
        layers::check(profile, command, &self.layers)?;
        if profile.network == Network::Gateway && attendance.porter.is_none() {
            return Err(Error::NoPorter);
        }
        let _turn = self.queue.turn();
        let mut report = self.call(profile, command, &mut attendance)?;
        let note = layers::note(command, &report);
        report.containment.notes.extend(note);
        Ok(report)
    }

    fn call(
        &self,
        profile: &Profile,
        command: &Command,
        attendance: &mut Attendance<'_>,
    ) -> Result<Report, Error> {
        if self.setup.expecting == Expecting::One
            && let Some(call) = self.directly(profile, command, attendance)?
        {
            return self.finish(call, attendance);
        }
        let (call, key, lease, is_in_row) = loop {
            let RoomLine { call: line, key, lease, is_in_row } = self.line(profile, command)?;
            let tier = line.tier;
            match Call::start(line, profile, command, attendance, &self.layers) {
                Ok(call) => break (call, key, lease, is_in_row),
                Err(error) => self.pass_over(tier, error)?,
            }
        };
        if is_in_row && let Some(launcher) = &mut lock(&self.state).launcher {
            launcher.make_spare(&key, &lease, &self.groups);
        }
        let report = self.finish(call, attendance);
        if let Some(launcher) = &mut lock(&self.state).launcher {
            launcher.ended(&key, &lease, &self.groups);
        }
        report
    }

    fn finish(&self, call: Call<'_>, attendance: &mut Attendance<'_>) -> Result<Report, Error> {
        let had_group = call.has_group();
        let report = call.finish(attendance)?;
        if had_group && report.containment.meter == Meter::Watcher {
            // It would be made in vain for each call.
            self.groups.give_up("the kernel lets no process begin in a group that was made");
        }
        Ok(report)
    }

    /// Why calls have no control group, where that is known by now.
    pub(crate) fn why_no_group(&self) -> Option<String> {
        self.groups.why_not()
    }

    /// Starts a process that runs for as long as somebody talks to it. It does not wait in the queue, since it may never
    /// end, and it cannot write to a project: a layer is applied when a call has ended.
    pub fn start(&self, profile: &Profile, command: &Command) -> Result<Running, Error> {
        check_paths(profile, command)?;
        let mut profile = profile.clone();
        if let Some(project) = &mut profile.project {
            project.writable.clear();
            project.access = ProjectAccess::ReadOnly;
        }
        loop {
            let RoomLine { call: line, key, lease, .. } = self.line(&profile, command)?;
            let tier = line.tier;
            match Running::start(line, lease.clone(), &profile, command) {
                Ok(running) => {
                    if let Some(launcher) = &mut lock(&self.state).launcher {
                        launcher.ended(&key, &lease, &self.groups);
                    }
                    return Ok(running);
                }
                Err(error) => self.pass_over(tier, error)?,
            }
        }
    }

    /// Passes over a tier that turns out not to work, so that the next one is tried. Only bubblewrap tells so late: whether
    /// it can make namespaces is known when it is asked for some.
    fn pass_over(&self, tier: Tier, error: Error) -> Result<(), Error> {
        match error {
            Error::Containment { what, reason } if tier == Tier::Bubblewrap => {
                lock(&self.state).refused.insert(tier, format!("{what}: {reason}"));
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Begins to make what the expected call needs, while the caller finds out what the call is. It has to be alone in its
    /// process for this; where that is not so, or it does not work, the call itself will do what is needed.
    pub fn get_ready(&self) {
        let mut state = lock(&self.state);
        if self.setup.expecting == Expecting::One
            && state.ahead.is_none()
            && self.tiers().any(|tier| tier == Tier::Namespaces)
        {
            let group = self.groups.alone();
            let folder = group.as_ref().and_then(|group| group.folder().ok());
            state.ahead = Ahead::make(folder).ok().map(|ahead| (ahead, group));
        }
    }

    /// Starts a command straight in its namespaces. `None` where that does not work: whatever keeps it from working is
    /// found, and said, by the ordinary way.
    fn directly<'a>(
        &self,
        profile: &'a Profile,
        command: &'a Command,
        attendance: &mut Attendance<'_>,
    ) -> Result<Option<Call<'a>>, Error> {
        self.get_ready();
        let Some((ahead, group)) = lock(&self.state).ahead.take() else { return Ok(None) };
        if let Some(Err(error)) = group.as_ref().map(|group| group.limit(&profile.limits)) {
            // A group without limits would be worse than none.
            self.groups.give_up(&format!("a group could not be given its limits: {error}"));
            return Ok(None);
        }
        let opening = Opening {
            tier: Tier::Namespaces,
            profile: profile.clone(),
            scratch: self.setup.scratch.clone(),
            bubblewrap: None,
        };
        let layer = command.layers.first().cloned();
        let Ok((socket, notes)) = ahead.enter(opening, layer) else { return Ok(None) };
        let line = CallLine { socket, group, notes, tier: Tier::Namespaces };
        match Call::start(line, profile, command, attendance, &self.layers) {
            Err(Error::Containment { .. }) => Ok(None),
            started => started.map(Some),
        }
    }

    fn tiers(&self) -> impl Iterator<Item = Tier> {
        let choice = self.setup.choice;
        Tier::ALL.iter().copied().filter(move |tier| match choice {
            Choice::Best => true,
            Choice::Only(only) => only == *tier,
        })
    }

    /// A line to a process for one call, by the strongest means that works.
    fn line(&self, profile: &Profile, command: &Command) -> Result<RoomLine, Error> {
        let mut state = lock(&self.state);
        for tier in self.tiers() {
            if state.refused.contains_key(&tier) {
                continue;
            }
            if tier == Tier::Landlock && profile.network == Network::Gateway {
                // A rule about a port would be one about that port of every host: worse than no way out.
                continue;
            }
            if tier != Tier::Namespaces
                && let Some(project) = profile.layered_project()
            {
                // The first tier that works counts: a weaker one would not have it either.
                return Err(layers::unsupported(tier, &project.folder, &state.refused));
            }
            if !matches!(tier, Tier::Namespaces | Tier::Bubblewrap) && !profile.stand_ins.is_empty() {
                // Without mounts what lies there would be shown.
                continue;
            }
            if tier == Tier::Landlock && profile.starts_in_project() {
                // The project is not shown there, so nothing could be done where it starts.
                continue;
            }
            if tier == Tier::Bubblewrap && self.setup.bubblewrap.is_none() {
                state.refused.insert(tier, "bubblewrap is not installed".into());
                continue;
            }
            let launcher = match &mut state.launcher {
                Some(launcher) => launcher,
                none => {
                    // First: with a helper beside it this process would no longer be alone in its group.
                    self.groups.get_ready();
                    none.insert(Launcher::start(&self.setup.helper)?)
                }
            };
            match launcher.line(tier, profile, &self.setup, &self.groups) {
                Ok(line) => return Ok(line),
                Err(NoRoom::Refused(failure)) if matches!(failure.of, FailureOf::Layer(_)) => {
                    return Err(refused(failure, command));
                }
                Err(NoRoom::Refused(failure)) => {
                    state.refused.insert(tier, failure.to_string());
                }
                Err(NoRoom::Broken(error)) => {
                    state.launcher = None;
                    return Err(error);
                }
            }
        }
        let attempt = |(tier, reason): (&Tier, &String)| Attempt { tier: *tier, reason: reason.clone() };
        let attempts = state.refused.iter().map(attempt).collect();
        let can_weaker =
            self.tiers().any(|tier| tier == Tier::Landlock) && !state.refused.contains_key(&Tier::Landlock);
        Err(match profile.network {
            // Without the gateway it may still run.
            Network::Gateway if can_weaker => Error::NoGateway { attempts },
            _ if can_weaker && !profile.stand_ins.is_empty() => Error::NoStandIn { attempts },
            _ if can_weaker && profile.starts_in_project() => Error::NoProject { attempts },
            _ => Error::Uncontained { attempts },
        })
    }
}

/// Paths are shown where they lie, so each has to say exactly where that is.
fn check_paths(profile: &Profile, command: &Command) -> Result<(), Error> {
    let project = profile.project.iter().flat_map(|project| {
        [&project.folder]
            .into_iter()
            .chain(&project.writable)
            .chain(&project.masked)
            .chain(&project.protected)
    });
    let exact = |path: &Path| {
        path.is_absolute() && !path.components().any(|component| matches!(component, Component::ParentDir))
    };
    profile
        .sources()
        .chain(profile.stand_ins.iter().map(|stand_in| &stand_in.at))
        .chain(&profile.bounded)
        .chain([&profile.working_directory, &command.program])
        .chain(project)
        .chain(
            command
                .layers
                .iter()
                .flat_map(|LayerMount { at, above, upper, work }| [at, upper, work].into_iter().chain(above)),
        )
        .find(|path| !exact(path))
        .map_or(Ok(()), |path| Err(Error::Path(path.clone())))
}

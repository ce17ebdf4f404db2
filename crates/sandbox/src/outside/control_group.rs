//! Control groups (version 2): where the kernel lets us make groups, each call gets one, and memory and processes of all that
//! it starts are bounded together, between two looks of the watcher, too.
//!
//! ```text
//! hierarchy   where this process is in the kernel's tree of groups
//! site        where in it a group of ours may be made, or why nowhere
//! base        our own group there: one leaf for the rooms, one for each call
//! group       one call's group: its limits, what it came to, its end
//! ```
//!
//! Everything here runs in the caller: rooms and what comes from them see nothing of the tree of groups. A call's first
//! process is born in its group, by whoever makes it, since moving a process waits for every processor of the machine.

mod base;
mod folder;
mod group;
mod hierarchy;
mod owner;
mod site;
mod tally;

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use self::base::Base;
use self::folder::Folder;
pub(crate) use self::group::Group;
use self::hierarchy::Hierarchy;
use self::owner::Owner;
use self::site::{How, Site};
pub(crate) use self::tally::{Tally, Used};
use crate::inside::Caller;
use crate::lock::lock;
use crate::profile::Limits;
use crate::tier::Tier;

/// The groups of one sandbox.
#[derive(Debug)]
pub(crate) struct Groups {
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Nobody has asked yet.
    Unknown,
    /// There is a place for groups.
    Open(Box<Open>),
    /// There is none, and why. What was made before may still be in use.
    Closed(String, #[expect(dead_code, reason = "it is removed when this is")] Option<Box<Open>>),
}

impl State {
    fn close(&mut self, why: String) {
        *self = match std::mem::replace(self, Self::Unknown) {
            Self::Open(open) => Self::Closed(why, Some(open)),
            Self::Unknown => Self::Closed(why, None),
            closed @ Self::Closed(..) => closed,
        };
    }
}

#[derive(Debug)]
struct Open {
    // Dropped from first to last: the groups in the base, the base, what lies beside it.
    base: Option<Base>,
    ground: Arc<Folder>,
    site: Site,
    owner: Owner,
}

impl Groups {
    /// None have been made yet.
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State::Unknown) }
    }

    /// None will be made.
    pub(crate) fn unwanted() -> Self {
        Self { state: Mutex::new(State::Closed("control groups were not wanted".to_owned(), None)) }
    }

    /// A group for a call that this process itself starts, straight beside the group that it is in: one folder and no more.
    pub(crate) fn alone(&self) -> Option<Group> {
        self.with(|open| {
            if open.site.how == How::Moving {
                return open.in_base(Tier::Namespaces);
            }
            Group::make(&open.ground, &open.owner.next_name(), Tier::Namespaces)
        })
    }

    /// A group for a call that a room starts. `owner` is whom root's room runs as.
    pub(crate) fn of_room(&self, tier: Tier, limits: &Limits, owner: Option<u32>) -> Option<Group> {
        self.with(|open| {
            let group = open.in_base(tier)?;
            group.limit(limits)?;
            if let Some(owner) = owner {
                group.give(owner)?;
            }
            Ok(group)
        })
    }

    /// Makes the base for groups of rooms, where groups can be made. This has to come before the first process of ours.
    pub(crate) fn get_ready(&self) {
        let _ = self.with(|open| open.base().map(drop));
    }

    /// The group in which rooms are born, so that they may put calls into groups beside it.
    pub(crate) fn rooms(&self) -> Option<OwnedFd> {
        self.with(|open| open.base()?.rooms.try_clone())
    }

    /// No more groups are made: they turned out to be of no use.
    pub(crate) fn give_up(&self, why: &str) {
        lock(&self.state).close(why.to_owned());
    }

    /// Why there are none, where that is known.
    pub(crate) fn why_not(&self) -> Option<String> {
        match &*lock(&self.state) {
            State::Closed(why, _) => Some(why.clone()),
            State::Unknown | State::Open(_) => None,
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Open) -> std::io::Result<T>) -> Option<T> {
        let mut state = lock(&self.state);
        if matches!(*state, State::Unknown) {
            *state = match Open::find() {
                Ok(open) => State::Open(Box::new(open)),
                Err(why) => State::Closed(why, None),
            };
        }
        let State::Open(open) = &mut *state else { return None };
        match work(open) {
            Ok(made) => Some(made),
            Err(error) => {
                let why = format!("a group could not be made in {}: {error}", open.site.folder.display());
                state.close(why);
                None
            }
        }
    }
}

impl Open {
    fn find() -> Result<Self, String> {
        let hierarchy = Hierarchy::current().map_err(|why| why.to_string())?;
        let site =
            Site::choose(&hierarchy, std::process::id(), folder::may_write).map_err(|why| why.to_string())?;
        let at = site.folder.display();
        let ground = Folder::open(&site.folder).map_err(|error| format!("{at} cannot be opened: {error}"))?;
        let owner = Owner::current().map_err(|error| format!("/proc cannot be read: {error}"))?;
        owner.clear_leftovers(&ground);
        Ok(Self { base: None, ground: Arc::new(ground), site, owner })
    }

    fn base(&mut self) -> std::io::Result<&Base> {
        match &mut self.base {
            Some(base) => Ok(base),
            none => {
                let by_root = Caller::current().is_root();
                Ok(none.insert(Base::make(&self.ground, &self.owner.next_name(), self.site.how, by_root)?))
            }
        }
    }

    fn in_base(&mut self, tier: Tier) -> std::io::Result<Group> {
        let name = self.owner.next_name();
        Group::make(&self.base()?.calls, &name, tier)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test starts a process of its own")]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_group_holds_what_is_in_it_and_nothing_of_it_stays() {
        let groups = Groups::new();
        let limits = Limits { processes: 4, memory: 1 << 20, scratch: 0, ..Limits::default() };
        let Some(group) = groups.of_room(Tier::Namespaces, &limits, None) else {
            eprintln!("NOT TRIED: no control group can be made here: {:?}", groups.why_not());
            return;
        };
        let ground = match &*lock(&groups.state) {
            State::Open(open) => open.site.folder.clone(),
            state => panic!("a group without a place: {state:?}"),
        };
        let own = format!("-{}-", std::process::id());
        let ours = move || {
            let names = Folder::open(&ground).unwrap().names();
            names.into_iter().filter(|name| name.contains(&own)).collect::<Vec<_>>()
        };
        assert_eq!(ours().len(), 1);
        let opened = group.folder().unwrap();
        let folder = format!("/proc/{}/fd/{}", std::process::id(), opened.as_raw_fd());
        // Three children fit beside it, of the five that are wanted; then it says so and waits.
        let line = "open(my $p, '>', qq($ARGV[0]/cgroup.procs)) or die; print $p 0; close $p; \
                    for (1..5) { my $child = fork(); if (defined $child && !$child) { close STDOUT; sleep 60; exit } } \
                    print qq(ready\\n); close STDOUT; sleep 60";
        let mut command = Command::new("/usr/bin/perl");
        command.arg("-e").arg(line).arg(&folder).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "ready\n");
        assert!(group.tally().refused_processes > 0, "{:?}", group.tally());
        group.kill();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert!(!group.is_out_of_memory());
        drop(group);
        drop(groups);
        assert_eq!(ours(), [""; 0]);
    }
}

//! Which system calls a contained process may make.
//!
//! Most pass: what they can reach is bounded by the namespaces and by Landlock. Those that are denied reach other
//! processes, make namespaces or mounts, or are large and rarely needed parts of the kernel in which holes keep being
//! found.

use std::io;

use libc::sock_filter;

use super::bpf::{Action, Check, Denial, assemble, errno};
use super::calls::{
    ABOUT_PROCESSES, Calls, DENIED, DENIED_ALONE, QUEUES, TO_PROCESSES, UNREADABLE, UNSEEN_MEMORY,
};
use super::renames::{self, Renames};
use super::{modes, sockets};
use crate::kernel::{Listener, Notice, Signals, Verdict, install, install_silent};
use crate::profile::Network;
use crate::report::Denied;
use crate::tier::Tier;

/// The highest call that was thought about: `mseal`. Newer ones fail as on an older kernel.
const LAST: u32 = 462;

/// How many different denials are remembered; a program that tries more is hostile, and the first ones tell enough.
const MAX_DENIED: usize = 32;

const NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;

/// The bit for a namespace of time; in `clone` it means something else.
const NEW_TIME: u32 = 0x80;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "call numbers are small and positive"
)]
const fn number(call: libc::c_long) -> u32 {
    call as u32
}

/// The filter of a tier, ready to be installed many times.
#[derive(Debug)]
pub(crate) struct Filter {
    tier: Tier,
    network: Network,
    told: Vec<sock_filter>,
    /// The same with renames, for a layered project. Both are made ahead: whether a project is layered is known late.
    with_renames: Vec<sock_filter>,
}

impl Filter {
    pub(crate) fn new(tier: Tier, network: Network) -> Self {
        let mut table = table(tier, network);
        let told = assemble(&table, LAST, Denial::Told);
        table.extend(renames::actions().into_iter().map(|(call, action)| (number(call), action)));
        Self { tier, network, told, with_renames: assemble(&table, LAST, Denial::Told) }
    }

    /// The same for what turned out to be reached over the network.
    pub(crate) fn for_network(self, network: Network) -> Self {
        if self.network == network { self } else { Self::new(self.tier, network) }
    }

    /// Installs it. Without a listener where there is one already above us: the kernel allows only one.
    /// Renames pass then.
    pub(crate) fn install(&self, is_layered: bool) -> io::Result<Option<Listener>> {
        let installed = if is_layered {
            install(&self.with_renames, Signals::Wait)
        } else {
            install(&self.told, Signals::Interrupt)
        };
        match installed {
            Ok(listener) => Ok(Some(listener)),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EINVAL)) => {
                let silent =
                    assemble(&table(self.tier, self.network), LAST, Denial::Silent(errno(libc::EPERM)));
                install_silent(&silent).map(|()| None)
            }
            Err(error) => Err(error),
        }
    }
}

fn table(tier: Tier, network: Network) -> Vec<(u32, Action)> {
    let mut table = Vec::new();
    let mut add = |calls: Calls, action: &Action| {
        table.extend(calls.iter().map(|(call, _)| (number(*call), action.clone())));
    };
    for calls in DENIED {
        add(calls, &Action::Deny);
    }
    add(UNSEEN_MEMORY, &Action::Fail(errno(libc::ENOSYS)));
    add(UNREADABLE, &Action::Fail(errno(libc::ENOSYS)));
    if tier == Tier::Landlock {
        add(QUEUES, &Action::Fail(errno(libc::ENOSYS)));
        for calls in DENIED_ALONE {
            add(calls, &Action::Deny);
        }
        add(ABOUT_PROCESSES, &Action::When(vec![Check::is(0, &[0])]));
    } else {
        // The number is a value, so nothing can be changed between this question and the call.
        add(ABOUT_PROCESSES, &Action::When(vec![Check::is_not(0, &[SUPERVISOR])]));
        add(TO_PROCESSES, &Action::When(vec![Check::is_not(0, &[SUPERVISOR])]));
    }
    table.extend(groups_of_processes(tier).map(|(call, action)| (number(call), action)));
    table.push((number(libc::SYS_clone), Action::WhenAny(clone_flags())));
    // A process that is closed to others of its user is closed to the supervisor, too.
    let open = vec![vec![Check::is_not(0, &[libc::PR_SET_DUMPABLE])], vec![Check::is_not(1, &[0])]];
    table.push((number(libc::SYS_prctl), Action::WhenAny(open)));
    let more = sockets::actions(tier, network).into_iter().chain(modes::actions(tier));
    table.extend(more.map(|(call, action)| (number(call), action)));
    table.extend(conditions(tier).into_iter().map(|(call, checks)| (number(call), Action::When(checks))));
    table
}

/// The calls that depend on their arguments.
fn conditions(tier: Tier) -> Vec<(libc::c_long, Vec<Check>)> {
    let mut conditions = vec![
        (libc::SYS_unshare, vec![Check::NoneOf { argument: 0, bits: NAMESPACES | NEW_TIME | OWN_FILES }]),
        (libc::SYS_close_range, vec![Check::NoneOf { argument: 2, bits: libc::CLOSE_RANGE_UNSHARE }]),
        (libc::SYS_ioctl, vec![Check::Not { argument: 1, mask: u32::MAX, values: controls(tier) }]),
        // A lease makes whoever opens the file outside wait for us; a notice tells what others do in a folder. Both work
        // on files that can only be read. A signal of one's choice could be sent to the supervisor, as the owner of a
        // descriptor. A larger pipe holds more of the kernel's memory than the supervisor counts for one.
        (
            libc::SYS_fcntl,
            vec![Check::is_not(1, &[libc::F_SETLEASE, libc::F_NOTIFY, F_SETSIG, libc::F_SETPIPE_SZ])],
        ),
        // Only asking for it, and the ordinary one: the others weaken memory protection.
        (libc::SYS_personality, vec![Check::is(0, &[0, -1])]),
    ];
    if tier == Tier::Landlock {
        // Everybody: without a namespace that is all processes of the user's. Landlock holds the signal back, and
        // still tells whether anybody would have got it.
        conditions.push((libc::SYS_kill, vec![Check::is_not(0, &[-1])]));
    }
    conditions
}

/// Calls whose first argument says whether the second is the number of a process, of a process group or of a user. The
/// supervisor is the script's user, so that one is never allowed.
fn groups_of_processes(tier: Tier) -> impl Iterator<Item = (libc::c_long, Action)> {
    // `PRIO_PROCESS`, `PRIO_PGRP`; `IOPRIO_WHO_PROCESS`, `IOPRIO_WHO_PGRP`.
    let kinds = [(libc::SYS_setpriority, [0, 1]), (libc::SYS_ioprio_set, [1, 2])];
    kinds.into_iter().map(move |(call, [process, group])| {
        let allowed = if tier == Tier::Landlock {
            vec![vec![Check::is(0, &[process]), Check::is(1, &[0])]]
        } else {
            [process, group].map(|kind| vec![Check::is(0, &[kind]), Check::is_not(1, &[SUPERVISOR])]).to_vec()
        };
        (call, Action::WhenAny(allowed))
    })
}

/// A process has one table of descriptors, so that the supervisor sees all of them: no thread has one of its own.
fn clone_flags() -> Vec<Vec<Check>> {
    let same_namespaces = || Check::NoneOf { argument: 0, bits: NAMESPACES };
    let (thread, both) = (libc::CLONE_THREAD as u32, libc::CLONE_THREAD as u32 | OWN_FILES);
    vec![
        vec![same_namespaces(), Check::NoneOf { argument: 0, bits: thread }],
        vec![same_namespaces(), Check::OneOf { argument: 0, mask: both, values: vec![both] }],
    ]
}

/// The supervisor's number in the namespace of a call.
const SUPERVISOR: i32 = 1;

/// `CLONE_FILES`: in `clone` descriptors are shared, in `unshare` they are not any more.
const OWN_FILES: u32 = libc::CLONE_FILES as u32;

/// The bindings lack it. The same number on every architecture that is supported.
const F_SETSIG: i32 = 10;

/// The flags of a file as the older and the newer call set them, by both sizes of their argument.
const SET_FLAGS: [u32; 3] = [0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Controls of devices and files that are denied.
#[expect(clippy::cast_possible_truncation, reason = "these numbers have 32 bits")]
fn controls(tier: Tier) -> Vec<u32> {
    // Keystrokes for whoever comes after us at the terminal, and the console's own menu.
    let mut controls = vec![libc::TIOCSTI as u32, libc::TIOCLINUX as u32];
    if tier == Tier::Landlock {
        // Like a file's mode, its flags are nothing that Landlock looks at.
        controls.extend(SET_FLAGS);
    }
    controls
}

/// What a process was not given, each thing once.
#[derive(Debug, Default)]
pub(crate) struct Denials(Vec<Denied>);

impl Denials {
    /// Takes one notice and answers it; `renames` answers those that are its own.
    pub(crate) fn answer(&mut self, listener: &Listener, renames: Option<&mut Renames>) -> io::Result<()> {
        let notice = match listener.receive() {
            Ok(notice) => notice,
            // Whoever made the call is gone.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR | libc::EAGAIN)) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if let Some(renames) = renames.filter(|_| Renames::are_about(&notice)) {
            renames.take(listener, notice);
            return Ok(());
        }
        let verdict = match i64::from(notice.call) {
            // What a program that wants the network knows how to tell its user.
            libc::SYS_socket | libc::SYS_socketpair => Verdict::Fails(libc::EACCES),
            libc::SYS_listen => sockets::judge_listening(&notice),
            _ => Verdict::Fails(libc::EPERM),
        };
        listener.answer(notice.id, verdict);
        if matches!(verdict, Verdict::Fails(_)) {
            self.note(&notice);
        }
        Ok(())
    }

    fn note(&mut self, notice: &Notice) {
        let (call, what) = describe(notice);
        if let Some(known) = self.0.iter_mut().find(|known| known.call == call && known.what == what) {
            known.times = known.times.saturating_add(1);
        } else if self.0.len() < MAX_DENIED {
            self.0.push(Denied { call: call.to_owned(), what, times: 1 });
        }
    }

    pub(crate) fn finish(self) -> Vec<Denied> {
        self.0
    }
}

/// What was tried, in words.
fn describe(notice: &Notice) -> (&'static str, String) {
    if let Some(described) = sockets::describe(notice).or_else(|| modes::describe(notice)) {
        return described;
    }
    let call = i64::from(notice.call);
    let [first, second] = [0, 1].map(|at: usize| notice.arguments[at] & 0xffff_ffff);
    match call {
        libc::SYS_clone => ("clone", separation(first)),
        libc::SYS_unshare => ("unshare", separation(first)),
        libc::SYS_close_range => ("close_range", separation(0)),
        libc::SYS_ioctl if SET_FLAGS.iter().any(|flags| u64::from(*flags) == second) => {
            ("ioctl", "flags of a file".to_owned())
        }
        libc::SYS_ioctl => ("ioctl", "input for a terminal".to_owned()),
        libc::SYS_fcntl => ("fcntl", "a lease, a watch, a signal or a larger pipe".to_owned()),
        libc::SYS_prctl => ("prctl", "hiding from the supervisor".to_owned()),
        libc::SYS_setpriority => ("setpriority", "another process".to_owned()),
        libc::SYS_ioprio_set => ("ioprio_set", "another process".to_owned()),
        libc::SYS_kill if first == u64::from(u32::MAX) => ("kill", "every process".to_owned()),
        _ if TO_PROCESSES.iter().any(|(number, _)| *number == call) => {
            (name(call), "the supervisor".to_owned())
        }
        _ if ABOUT_PROCESSES.iter().any(|(number, _)| *number == call) => {
            (name(call), "another process".to_owned())
        }
        libc::SYS_personality => ("personality", format!("{first:#x}")),
        _ => (name(call), String::new()),
    }
}

/// What a process wanted for itself.
fn separation(flags: u64) -> String {
    let namespace = flags & u64::from(NAMESPACES | NEW_TIME) != 0;
    if namespace { "a new namespace" } else { "descriptors that the supervisor does not see" }.to_owned()
}

fn name(call: libc::c_long) -> &'static str {
    DENIED
        .iter()
        .chain(DENIED_ALONE)
        .chain([&ABOUT_PROCESSES, &TO_PROCESSES])
        .flat_map(|calls| calls.iter())
        .find(|(number, _)| *number == call)
        .map_or("unknown", |(_, name)| name.trim_start_matches("SYS_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_call_is_in_the_table_twice_and_none_is_beyond_the_last() {
        for (tier, network) in [
            (Tier::Namespaces, Network::None),
            (Tier::Namespaces, Network::Gateway),
            (Tier::Landlock, Network::None),
        ] {
            let mut table = table(tier, network);
            table.extend(renames::actions().into_iter().map(|(call, action)| (number(call), action)));
            let calls: BTreeSet<_> = table.iter().map(|(call, _)| *call).collect();
            assert_eq!(calls.len(), table.len());
            assert!(calls.iter().all(|call| *call <= LAST));
        }
    }

    #[test]
    fn without_namespaces_a_process_changes_only_itself_and_no_file_but_its_contents() {
        let at = |tier: Tier, call: libc::c_long| {
            table(tier, Network::None)
                .into_iter()
                .find(|(other, _)| *other == number(call))
                .map(|(_, action)| action)
        };
        for call in [libc::SYS_fchmodat, libc::SYS_fchownat, libc::SYS_utimensat, libc::SYS_fsetxattr, 452] {
            assert_eq!(at(Tier::Landlock, call), Some(Action::Deny), "{}", name(call));
        }
        for call in [libc::SYS_fchownat, libc::SYS_utimensat, libc::SYS_fsetxattr] {
            assert_eq!(at(Tier::Namespaces, call), None, "{}", name(call));
        }
        for call in [libc::SYS_prlimit64, libc::SYS_sched_setaffinity, libc::SYS_setpriority] {
            for tier in [Tier::Landlock, Tier::Namespaces] {
                let action = at(tier, call);
                assert!(matches!(action, Some(Action::When(_) | Action::WhenAny(_))), "{tier}: {call}");
            }
        }
    }

    #[test]
    fn a_denied_call_has_a_name_and_equal_ones_are_counted() {
        let mut denials = Denials::default();
        let notice = |call: i64, first| Notice {
            id: 0,
            process: 1,
            call: i32::try_from(call).unwrap(),
            arguments: [first, 0, 0, 0, 0, 0],
        };
        denials.note(&notice(libc::SYS_ptrace, 0));
        denials.note(&notice(libc::SYS_socket, 2));
        denials.note(&notice(libc::SYS_socket, 2));
        let shown: Vec<_> = denials.finish().into_iter().map(|d| (d.call, d.what, d.times)).collect();
        assert_eq!(
            shown,
            [("ptrace".into(), String::new(), 1), ("socket".into(), "network (IPv4)".into(), 2)]
        );
    }
}

//! The kernel's calls that have no safe wrapper elsewhere. All of this crate's unsafe code is below this module.

#![expect(unsafe_code, reason = "these calls have no safe binding; each block says why it is sound")]

mod attributes;
mod clone;
mod command_line;
mod loopback;
mod rename;
mod seccomp;
mod spawn;
mod user_count;
mod wait;

pub(crate) use self::attributes::{Attributes, seal, set_attributes, set_owners_too};
pub(crate) use self::clone::{
    Forked, Namespaces, end, fork, fork_into, hide_groups, leave_mounts, leave_the_rest, leave_users,
    set_dumpable, user_namespace,
};
pub(crate) use self::command_line::hide_command_line;
pub(crate) use self::loopback::raise_loopback;
pub(crate) use self::rename::{Replace, rename_unnotified};
pub(crate) use self::seccomp::{Listener, Notice, Signals, Verdict, install, install_silent};
pub(crate) use self::spawn::{Streams, read_handed_over, replace, replace_keeping, spawn};
pub(crate) use self::user_count::has_processes;
pub(crate) use self::wait::{Reaped, SignalQueue, Wait, ignore_children, kill_all, reap, ticks_per_second};

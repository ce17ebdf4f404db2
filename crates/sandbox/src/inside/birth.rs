//! How a process of ours comes into being: in which namespaces, and in which control group.

use std::io;
use std::os::fd::BorrowedFd;

use crate::kernel::{Forked, Namespaces, fork, fork_into};
use crate::report::Meter;

/// Makes a copy of this process, in a control group where one is given and the kernel lets us. That it does not is no reason
/// to run nothing: then limits and the watcher hold the call, as everywhere where there is no group, and the report says so.
pub(crate) fn born(namespaces: Namespaces, group: Option<BorrowedFd<'_>>) -> io::Result<(Forked, Meter)> {
    if let Some(group) = group
        && let Ok(forked) = fork_into(namespaces, Some(group))
    {
        return Ok((forked, Meter::ControlGroup));
    }
    let forked = match namespaces {
        // A filter around us may deny the newer call, and without namespaces the older one does as well.
        Namespaces::Same => fork()?.map_or(Forked::Child, |child| Forked::Parent { child }),
        Namespaces::ByRoot | Namespaces::Building | Namespaces::AllButUsers | Namespaces::All => {
            fork_into(namespaces, None)?
        }
    };
    Ok((forked, Meter::Watcher))
}

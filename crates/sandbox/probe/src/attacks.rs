//! The attacks, one family a file.

mod descriptors;
mod devices;
mod disk;
mod entry;
mod environment;
mod filters;
mod gateway;
mod groups;
mod ipc;
mod kernel_memory;
mod layers;
mod links;
mod machine;
mod memory;
mod mounts;
mod namespaces;
mod network;
mod output;
mod passing;
mod persistence;
mod pids;
mod privilege;
mod proc;
mod quota;
mod reads;
mod secrets;
mod set_id;
mod signals;
mod sockets;
mod supervisor;
mod survival;
mod terminal;
mod time;
mod tracing;
mod wrappers;
mod writes;

use crate::probe::Probe;

/// All of them.
pub(crate) const FAMILIES: &[&[Probe]] = &[
    reads::PROBES,
    links::PROBES,
    secrets::PROBES,
    writes::PROBES,
    layers::PROBES,
    persistence::PROBES,
    wrappers::PROBES,
    environment::PROBES,
    network::PROBES,
    gateway::PROBES,
    sockets::PROBES,
    ipc::PROBES,
    descriptors::PROBES,
    terminal::PROBES,
    tracing::PROBES,
    signals::PROBES,
    supervisor::PROBES,
    namespaces::PROBES,
    mounts::PROBES,
    privilege::PROBES,
    set_id::PROBES,
    groups::PROBES,
    filters::PROBES,
    entry::PROBES,
    machine::PROBES,
    proc::PROBES,
    devices::PROBES,
    survival::PROBES,
    time::PROBES,
    pids::PROBES,
    memory::PROBES,
    disk::PROBES,
    quota::PROBES,
    kernel_memory::PROBES,
    output::PROBES,
];

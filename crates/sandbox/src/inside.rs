//! What runs in the helper, on the way into the containment: single-threaded, small, and nothing of it is reached by the
//! process that holds the user's secrets.

mod ahead;
mod birth;
mod bpf;
mod bubblewrap;
mod calls;
mod claim;
mod data;
mod descriptors;
mod doors;
mod failure;
mod filter;
mod folder_move;
mod folder_size;
mod gateway;
mod group_only;
mod identity;
mod init;
mod kernel_memory;
mod launcher;
mod layer;
mod limits;
mod modes;
mod outer_mounts;
mod processes;
mod processors;
mod quota;
mod renamer;
mod renames;
mod room;
mod root;
mod rules;
mod scratch;
mod sockets;
mod sources;
mod supervisor;
mod view;
mod watcher;

pub(crate) use self::ahead::Ahead;
pub(crate) use self::identity::Caller;
pub use self::launcher::{HELPER, helper};
pub(crate) use self::processes::{Proc, field, kill_each};
pub use self::view::SYSTEM;
pub(crate) use self::view::{HOME, SCRATCH, SHARED_MEMORY};

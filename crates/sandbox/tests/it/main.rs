//! The sandbox on the real kernel. What tries to get out of it is in the binary beside this one, `escape`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make and look at folders of their own"
)]

mod ending;
mod files;
mod folder_renames;
mod gateway;
mod groups;
mod layer_mounts;
mod layers;
mod limits;
mod many;
mod scene;
mod streams;

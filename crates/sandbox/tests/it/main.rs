//! The sandbox on the real kernel. What tries to get out of it is in the binary beside this one, `escape`.

mod ending;
mod files;
mod limits;
mod many;
mod scene;
mod streams;

//! What the crate promises, tried on the real file system and the real kernel.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod digest;
mod document;
mod hostile;
mod skill_dir;
mod support;
mod survey;
mod survey_refresh;
mod sweep_bounds;
mod sweep_finds;
mod sweep_links;
mod sweep_repeatable;
mod text;

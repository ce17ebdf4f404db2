//! Children: skills that run in a conversation of their own.

mod background;
mod choosing;
mod ends;
mod forks;
mod handoff;
mod invoking;
mod queue;
mod stage;
mod sums;

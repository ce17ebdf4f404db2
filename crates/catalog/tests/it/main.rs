//! The catalogue over real folders, by topic.

mod budget;
mod collisions;
mod discovery;
mod explain;
mod layout;
mod links;
mod machine;
mod switches;
mod trust;
mod versions;

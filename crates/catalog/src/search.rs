//! Which skill fits a request.
//!
//! A [`Finder`] is the search index of one snapshot: every skill that a model may be offered, read whole. It reads only what it
//! does not know yet, by stamp and then by content; what it knows is kept in a file of the cache folder. Ranking itself is
//! `metier-search`, which knows nothing of files; here a rank becomes a skill again.

mod cache;
mod finder;
mod gather;
mod record;
mod route;
mod shortlist;

pub use finder::{Finder, Synced};
pub use record::{Offered, RoutingRecord, RoutingStats};
pub use route::{Route, Routed};
pub use shortlist::{SHORTLIST_BUDGET, SHORTLIST_LENGTH, Shortlist};

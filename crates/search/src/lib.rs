//! Which skill fits a request: a lexical index over whole skills, without a model or a network.
//!
//! - [`Leaf`] is one skill, counted (many by one [`Counter`]): its [`SkillText`] taken apart by place, passages, pieces of words, and what it is not for.
//! - [`Segment`] is many of them turned round, [`Index`] a few segments with those that are gone; merging and adding give
//!   the same ranks as making everything at once.
//! - [`Request`] is what somebody wants, cleaned of pasted code, paths and logs.
//! - [`Index::reasons`] says why a skill has its rank, word by word.
//! - [`Index::rank`] gives a [`Ranking`]: the best, copies of each other once, and whether to [`Abstain`].
//! - [`Heads`] says which skills of a root a request could not tell apart, [`Bodies`] by which words it could.
//!
//! What this crate is not: it reads no files and knows nothing of roots, states or trust (that is `metier-catalog`), and it asks
//! no model. Same skills, same request: same bytes.
//!
//! ```
//! use metier_search::{Desk, Index, Key, Leaf, Request, Segment, SkillText};
//!
//! let skill = |number: u8, name, description| {
//!     Leaf::new(Key([number; 16]), &SkillText { name, description, ..SkillText::default() })
//! };
//! let index = Index::new(vec![Segment::new(vec![
//!     skill(1, "pdf-forms", "Fills in PDF forms. Not for scanned pages."),
//!     skill(2, "commit-message", "Writes commit messages from a diff."),
//! ])]);
//!
//! let mut desk = Desk::default();
//! let ranking = index.rank(&Request::new("could you fill this form for me?"), 5, &mut desk);
//! assert_eq!(ranking.hits[0].key, Key([1; 16]));
//! assert_eq!(ranking.abstain, None);
//! ```

// Counts become weights: what is lost between an integer and a 32-bit fraction is far below what a rank is about.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]

mod abbreviation;
mod anatomy;
mod bytes;
mod cue;
mod everyday;
mod gram;
mod index;
mod leaf;
mod lexicon;
mod neighbour;
mod noise;
mod posting;
mod rank;
mod reason;
mod request;
mod script;
mod segment;
mod stem;
mod stop_word;
mod telling;
mod term;
mod verdict;
mod weights;
mod words;

pub use anatomy::{Place, SkillText};
pub use index::Index;
pub use leaf::{Counter, Key, Leaf};
pub use neighbour::{Heads, Neighbours};
pub use rank::{Desk, Hit, Parts, Ranking};
pub use reason::{Reason, Reasons};
pub use request::Request;
pub use segment::{Lists, Segment, SegmentError, Shelf};
pub use telling::Bodies;
pub use verdict::Abstain;

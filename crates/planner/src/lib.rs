//! Work without a model: a planner that runs the operation of the one skill that clearly fits a request.
//!
//! [`OfflinePlanner`] is a [`ChatModel`](metier_model::ChatModel) like any other: the same loop asks it, through the same tools,
//! policy and sandbox. Each answer follows from the messages and the skills alone.
//!
//! ```text
//! messages ─► progress ─► router ─► template ─► fill ─► plan ─► a tool call, or an answer
//!             how far?    which     what it     with    next
//!                         skill?    runs        what?   step
//! ```
//!
//! What holds:
//!
//! - **It runs one command or none**: the operation of the one skill that fits clearly, with every slot filled.
//! - **A value is a piece of the request.** A value that is missing or ambiguous stays empty.
//! - **It shows what it does not run**, with the command line that runs it.
//! - **No request and no skill is special**: it knows function words, and what the names of slots mean.
//!
//! What this crate is not: it asks no model, runs nothing, and knows nothing of the agent's loop. docs/offline.md is for users.
//!
//! ```
//! use metier_planner::{OfflinePlanner, RouteOutcome, SkillFacts, SkillRouter};
//! use metier_model::ChatModel;
//! use std::sync::Arc;
//!
//! struct NoSkills;
//! impl SkillRouter for NoSkills {
//!     fn route(&self, _request: &str) -> RouteOutcome {
//!         RouteOutcome::Nothing
//!     }
//!     fn facts(&self, _name: &str, _request: &str) -> Option<SkillFacts> {
//!         None
//!     }
//! }
//!
//! let planner = OfflinePlanner::new(Arc::new(NoSkills))?;
//! assert!(planner.is_planner());
//! # Ok::<(), metier_model::ModelIdError>(())
//! ```

mod fill;
mod lexicon;
mod messages;
mod plan;
mod planner;
mod positional;
mod prepared;
mod progress;
mod remainder;
mod router;
mod template;
mod token;

pub use self::planner::OfflinePlanner;
pub use self::router::{IndexRouter, RouteOutcome, SkillCandidate, SkillFacts, SkillRouter};

//! What happened: events, sessions and memory, in one file that survives whoever writes it.
//!
//! Everything that happens is an [`Event`], appended to its session and never changed. Whatever shows something (a terminal, a
//! log, a page, a count) is a view of events. [`Store`] is the file.
//!
//! ```text
//! EventKind ─► prepared ─────────────► writer ─► append ─► the file ─► query, summary, follow, export
//!              measured, large         one       rows,     `SQLite`,     each reader with
//!              texts apart             thread    summary   WAL         its own connection
//! ```
//!
//! - **Acknowledged stays.** [`Store::append`] is back when no kill can take the event away any more; for what announces an effect,
//!   when no power cut can. Many appends share one commit.
//! - **Nothing unknown is lost.** What a newer program wrote is [`EventKind::Other`], and goes through exports as it is.
//! - **One works on a session at a time.** [`Store::lease`] is that right; it ends with its process.
//! - **Forgotten is gone**, from every byte of the file.
//!
//! What this crate is not: it decides nothing, takes no secrets out of what it is handed, makes no conversation of events (but
//! they hold all that is needed), knows no model and no terminal, and does not know where the file should be. `docs/store.md` is for users.
//!
//! ```
//! use metier_store::{By, EventKind, EventQuery, SessionFilter, Started, Store};
//!
//! let store = Store::in_memory()?;
//! let session = store.begin(Started { request: "buy milk".to_owned(), ..Started::default() })?;
//! store.append(session, EventKind::Said { text: "and bread".to_owned(), by: By::User })?;
//!
//! let events = store.events(&EventQuery::of(session))?;
//! assert_eq!(events.len(), 2);
//! assert_eq!(store.find(&session.short())?, session);
//! assert_eq!(store.sessions(&SessionFilter::default())?[0].title, "buy milk");
//! # Ok::<(), metier_store::StoreError>(())
//! ```

mod error;
mod event;
mod export;
mod follow;
mod forget;
mod import;
mod lease;
mod line;
mod memory;
mod place;
mod prepared;
mod query;
mod readers;
mod schema;
mod session_id;
mod stats;
mod store;
mod summary;
mod timestamp;
mod traces;
mod words;
mod writer;

pub use error::StoreError;
pub use event::{
    Activated, Agreement, Answered, ApprovalStage, By, Called, ContactMade, Decided, Effect, Ended, Event,
    EventKind, EventSeverity, FailedPart, Finished, Framed, LimitKind, MissingApproval, NoteTopic, Offer,
    Outcome, Part, RecordedChange, RecordedChanges, RetryDecision, ScriptReport, Started, SubagentMode,
    ToolCall, Usage, Used, Verdict,
};
pub use export::{Export, Exported};
pub use follow::{Follow, Stop};
pub use forget::{Forget, Forgotten};
pub use import::{Imported, MAX_IMPORT};
pub use lease::Lease;
pub use line::EXPORT_VERSION;
pub use memory::{MAX_RECORD, MAX_TAGS, RECALLED, Recall, Record, RecordKind, Scope};
pub use place::Bounds;
pub use prepared::{LARGE, MAX_DEPTH, MAX_EVENT};
pub use query::EventQuery;
pub use schema::SCHEMA_VERSION;
pub use session_id::{ParseIdError, RecordId, SessionId};
pub use stats::{Choosers, Outcomes, Routed, SkillStats, StatsQuery};
pub use store::{Store, Ticket};
pub use summary::{Ending, Family, SessionFilter, Summary};
pub use timestamp::Timestamp;
pub use traces::Traces;
pub use writer::Appended;

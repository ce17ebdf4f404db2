//! The lines of an export: one JSON object each.
//!
//! ```text
//! {"metier":"store","version":1,"sessions":1,"records":1}
//! {"session":"01…","events":2}
//! {"seq":1,"at":1700000000000,"type":"started","data":{…}}
//! {"seq":2,"at":1700000000005,"type":"said","data":{…}}
//! {"record":{…}}
//! ```
//!
//! Every count is said before what it counts, so that a file that was cut is known as such.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Record, SessionId};

/// The form of exports. It has a number of its own: the file's form may change where this one need not.
pub const EXPORT_VERSION: u32 = 1;

/// What the first line says it is.
pub(crate) const WHAT: &str = "store";

#[derive(Serialize, Deserialize)]
pub(crate) struct HeaderLine {
    pub(crate) metier: String,
    pub(crate) version: u32,
    pub(crate) sessions: usize,
    pub(crate) records: usize,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SessionLine {
    pub(crate) session: SessionId,
    pub(crate) events: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct EventLine {
    pub(crate) seq: u64,
    pub(crate) at: u64,
    #[serde(rename = "type")]
    pub(crate) name: String,
    pub(crate) data: Value,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct RecordLine {
    pub(crate) record: Record,
}

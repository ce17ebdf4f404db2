use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RecordedChanges, Verdict};

/// What a call can do, as far as it decides whether it may be repeated after a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It only looks. It may be done again.
    ReadOnly,
    /// It changes files.
    Writes,
    /// It runs something, which may do anything that its containment allows.
    Runs,
    /// It asks a person.
    Asks,
}

/// A call that is about to be carried out. Written before it is, so that a killed process leaves a trace of what it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Called {
    /// The provider's id of the call.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// For which skill.
    #[serde(default)]
    pub skill: Option<String>,
    /// The input as it is carried out.
    #[serde(default)]
    pub input: Value,
    /// What it can do.
    pub effect: Effect,
}

/// What the gate said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decided {
    /// The call it was about, where there was one.
    pub call: Option<String>,
    /// For which skill.
    pub skill: Option<String>,
    /// The action, in words.
    pub action: String,
    /// What it decided.
    pub verdict: Verdict,
    /// The rule, mode or fence that made it so.
    pub rule: Option<String>,
    /// Who was asked and said so.
    pub answered_by: Option<String>,
    /// The rules that would allow it, where nobody could be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_with: Vec<String>,
    /// Whether it was refused because nobody could be asked. Events from before this field have `allow_with` instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// An approval that nobody was there to give.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissingApproval {
    /// What it is for, in words.
    pub action: String,
    /// The rules that would allow it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The id of a set of changes that waits for it. A later success does not make it go away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
}

/// A call that was carried out, or refused: what the model got for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finished {
    /// The provider's id of the call.
    pub id: String,
    /// For which skill.
    pub skill: Option<String>,
    /// The very text that the model got.
    pub text: String,
    /// Whether the model is told that it failed.
    pub is_error: bool,
    /// How long it took.
    pub ms: u64,
    /// What became of the process, where one ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ScriptReport>,
    /// Files that were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// What became of everything that it changed in the project, also of what was not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_set: Option<RecordedChanges>,
}

/// What became of a process. Fields are only ever added; an event that was written before one of them was has its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptReport {
    /// Its exit code, where it had one.
    pub exit: Option<i32>,
    /// The signal that ended it, where one did that nobody of ours sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Which limit it was stopped for, in a word; `cancelled` where somebody took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// How long it took.
    pub ms: u64,
    /// For how much of it its clock stood still, since somebody was being asked.
    #[serde(skip_serializing_if = "is_zero")]
    pub paused_ms: u64,
    /// Processor time of all its processes.
    pub cpu_ms: u64,
    /// The most memory that its processes held together, in bytes.
    pub memory: u64,
    /// How many bytes it wrote to its standard output.
    pub stdout: u64,
    /// How many bytes it wrote to its standard error.
    pub stderr: u64,
    /// Whether a part of its output was left out.
    pub truncated: bool,
    /// Files that hold the whole output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// What held it: `namespaces`, `bubblewrap`, `landlock`.
    pub tier: String,
    /// Whom it reached and whom not, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactMade>,
    /// What it wanted and did not get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Files that look like secrets and could not be opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// How many contacts, refusals, masked and changed files are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

/// A contact of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContactMade {
    /// `host:port`; of something that was no request, nothing.
    pub host: Option<String>,
    /// `passed`, `refused`, `failed` or `malformed`.
    pub outcome: String,
    /// Bytes from the process to the host.
    pub up: u64,
    /// Bytes from the host to the process.
    pub down: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it asks about by reference")]
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

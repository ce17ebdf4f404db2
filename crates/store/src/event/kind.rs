use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::is_zero;
use super::{
    Answered, ApprovalStage, By, Called, Decided, Effect, EventSeverity, FailedPart, Finished, Framed,
    LimitKind, MissingApproval, NoteTopic, Started, SubagentMode, Usage,
};
use crate::{RecordId, SessionId};

/// What happened. As JSON it is an object whose `type` is the name in `snake_case`.
///
/// The conversation with a model can be made again from these alone, byte for byte: [`Framed`] is what stands before it;
/// `started.request` and `said` are the user's words; `recalled`, `noted` and [`Activated`] have the very texts that were put in;
/// [`Answered`] has the model's pieces in their order; [`Finished`] has what each call gave back; `compacted` has what took the
/// place of everything before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// The session began.
    Started(Started),
    /// It goes on after its process had ended.
    Resumed {
        /// Who wanted it.
        by: By,
        /// The version of metier that goes on.
        metier: String,
    },
    /// What stands before the messages was settled.
    Framed(Framed),
    /// Somebody said something to the model.
    Said {
        /// The words.
        text: String,
        /// Whose.
        by: By,
    },
    /// Skills were looked for, and these were offered.
    Offered {
        /// What was looked for.
        query: String,
        /// The best first.
        shortlist: Vec<Offer>,
        /// Whether none fits well enough.
        abstained: bool,
    },
    /// The model is being asked.
    Asked {
        /// Which turn, from 1.
        turn: u64,
        /// Which model.
        model: String,
        /// How many messages are sent.
        messages: u64,
        /// How many tools.
        tools: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// The model could not be asked and will be again.
    Retrying {
        /// Which attempt failed, from 1.
        attempt: u64,
        /// How long is waited.
        after_ms: u64,
        /// Why it failed.
        why: String,
    },
    /// The model answered.
    Answered(Answered),
    /// The model was cut off; this much of its answer had come.
    Partial {
        /// Which turn.
        turn: u64,
        /// What had come.
        text: String,
        /// What it used, where the provider said so.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
        /// What it cost.
        #[serde(default, skip_serializing_if = "is_zero")]
        cost_micros: u64,
    },
    /// A skill was put into the conversation.
    Activated(Activated),
    /// A call is about to be carried out.
    Called(Called),
    /// The gate decided.
    Decided(Decided),
    /// A call is over.
    Finished(Finished),
    /// A person is asked for an approval. Until there is an answer the call has no result.
    ApprovalRequested {
        /// The call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// What it is about, as the policy keeps questions.
        question: Value,
        /// What would happen, in words.
        action: String,
        /// How far the call is.
        stage: ApprovalStage,
    },
    /// The answer to a request for approval.
    ApprovalAnswered {
        /// The call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// The question.
        question: Value,
        /// The answer, in the policy's word.
        answer: String,
    },
    /// An approval for longer than once, as programs before `approval_answered` stored it.
    Allowed {
        /// What it was about, as the gate keeps questions.
        question: Value,
        /// For how long, in the gate's word.
        answer: String,
    },
    /// Somebody was asked whether another provider than the session's may see what is said, for this session.
    Agreed {
        /// The provider.
        provider: String,
        /// What was said.
        said: Agreement,
    },
    /// A call that was begun when its process ended: it may have happened. What was said about it.
    Doubted {
        /// The call.
        call: String,
        /// The tool.
        tool: String,
        /// What it would do, in words.
        action: String,
        /// What was said.
        said: RetryDecision,
    },
    /// The model was told something that nobody asked for, such as that skills have changed.
    Noted {
        /// The very text.
        text: String,
        /// What it is about.
        about: NoteTopic,
    },
    /// Something was found to be odd.
    Diagnosed {
        /// The code.
        code: String,
        /// The sentence.
        message: String,
        /// How bad it is.
        #[serde(default)]
        severity: Option<EventSeverity>,
        /// Where.
        #[serde(default)]
        place: Option<String>,
    },
    /// A limit was reached.
    Limited {
        /// Which one.
        which: LimitKind,
        /// What it is.
        limit: u64,
        /// What was used up.
        used: u64,
    },
    /// Somebody let the run go over the limit that it reached.
    LimitExtended {
        /// Which one.
        which: LimitKind,
    },
    /// Somebody stopped it.
    Interrupted {
        /// Who, or what.
        why: String,
    },
    /// Something failed that ends the session, or a part of it.
    Failed {
        /// What failed.
        at: FailedPart,
        /// What was said.
        message: String,
    },
    /// A child began.
    ChildBegan {
        /// Which session it is.
        child: SessionId,
        /// The call that wanted it.
        #[serde(default)]
        call: Option<String>,
        /// Its skill.
        #[serde(default)]
        skill: Option<String>,
        /// Who of a crew it is, where it is no skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// How it runs.
        mode: SubagentMode,
    },
    /// A child is over.
    ChildEnded {
        /// Which session it is.
        child: SessionId,
        /// How it ended.
        outcome: Outcome,
        /// What it used, with its own children.
        #[serde(default)]
        usage: Usage,
        /// What it cost.
        #[serde(default)]
        cost_micros: u64,
        /// How many tools it called, with its own children.
        #[serde(default, skip_serializing_if = "is_zero")]
        calls: u64,
        /// The approvals that it lacked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<MissingApproval>,
    },
    /// The conversation was made shorter.
    Compacted {
        /// Everything up to this event is replaced.
        through: u64,
        /// What stands in its place, as the agent keeps it: which texts were exchanged for which, what stands at the beginning now,
        /// and how many of the last messages stay.
        messages: Value,
        /// Why, in words.
        #[serde(default)]
        why: String,
        /// What the summary took, where a model made one.
        #[serde(default)]
        usage: Usage,
        /// What it cost.
        #[serde(default)]
        cost_micros: u64,
    },
    /// Something was kept for later.
    Remembered {
        /// Which record.
        record: RecordId,
    },
    /// Records were put into the conversation.
    Recalled {
        /// Which ones.
        records: Vec<RecordId>,
        /// The very text.
        message: String,
    },
    /// The activity entry of one use of a skill: written when it is over.
    Used(Used),
    /// The session is over. A later `said` or `resumed` opens it again.
    Ended(Ended),
    /// Something that this program does not know: a newer one wrote it.
    #[serde(skip)]
    Other {
        /// Its name.
        name: String,
        /// Its fields.
        data: Value,
    },
}

/// What was said about another provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// It may see what is said.
    Yes,
    /// It may not.
    No,
}

/// What becomes of a call that may have run before its process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryDecision {
    /// It runs again.
    #[serde(rename = "again")]
    Retry,
    /// It does not: the model is told that it may have run.
    #[serde(rename = "leave")]
    Skip,
    /// No one could be asked.
    Unanswered,
}

/// A skill in a shortlist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// Its place, from 1.
    pub rank: u64,
    /// How well it fits.
    pub score: f64,
}

/// A skill that was put into the conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activated {
    /// Its name.
    pub skill: String,
    /// Where it is from.
    pub origin: String,
    /// Its version.
    pub version: Option<String>,
    /// The digest of the `SKILL.md` that was rendered.
    pub digest: String,
    /// The digest of its folder, where it was computed.
    pub tree_digest: Option<String>,
    /// Who wanted it.
    pub by: By,
    /// The call that wanted it: messages follow in the order of calls.
    pub call: Option<String>,
    /// The arguments as they were given.
    pub arguments: String,
    /// The very text that went into the conversation.
    pub message: String,
    /// The skill's tags.
    pub tags: Vec<String>,
    /// What was odd about it.
    pub notes: Vec<String>,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Done,
    /// With a part of the result, and a reason.
    Partial,
    /// Without a result.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// It would need a yes that nobody could give.
    NeedsYes,
}

impl Outcome {
    /// The word for it, in files and filters.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NeedsYes => "needs_yes",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Done, Self::Partial, Self::Failed, Self::Cancelled, Self::NeedsYes]
            .into_iter()
            .find(|outcome| outcome.word() == word)
    }
}

/// One use of a skill, from its activation to the end of its scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// Its name.
    pub skill: String,
    /// Where it is from.
    pub origin: String,
    /// The digest of its `SKILL.md`.
    pub digest: String,
    /// The skill's tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Who started it.
    pub by: By,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
    /// What it cost.
    #[serde(default)]
    pub cost_micros: u64,
    /// How it ended.
    pub outcome: Outcome,
}

impl Used {
    /// The entry of a skill that begins: nothing is used up yet.
    pub fn begun(activated: &Activated) -> Self {
        Self {
            skill: activated.skill.clone(),
            origin: activated.origin.clone(),
            digest: activated.digest.clone(),
            tags: activated.tags.clone(),
            by: activated.by,
            usage: Usage::default(),
            cost_micros: 0,
            outcome: Outcome::Done,
        }
    }
}

/// The end of a session, and its sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// The last words.
    #[serde(default)]
    pub text: String,
    /// Why, where it is not done.
    #[serde(default)]
    pub why: Option<String>,
    /// Tokens, children included.
    #[serde(default)]
    pub usage: Usage,
    /// Money, children included.
    #[serde(default)]
    pub cost_micros: u64,
    /// Turns.
    #[serde(default)]
    pub turns: u64,
    /// Tool calls.
    #[serde(default)]
    pub calls: u64,
}

impl EventKind {
    /// The skill it is about, for filters.
    pub fn skill(&self) -> Option<&str> {
        match self {
            Self::Activated(activated) => Some(&activated.skill),
            Self::Used(used) => Some(&used.skill),
            Self::Called(called) => called.skill.as_deref(),
            Self::Decided(decided) => decided.skill.as_deref(),
            Self::Finished(finished) => finished.skill.as_deref(),
            Self::ChildBegan { skill, .. } => skill.as_deref(),
            _ => None,
        }
    }

    /// Whether an acknowledgement waits for the disk itself, which takes milliseconds.
    ///
    /// True for what announces an effect that cannot be taken back, and for ends. Files keep their order, so everything
    /// before such an event is on the disk with it. What a power cut can take are the latest events that only look, think
    /// and answer: doing those again harms nobody. What this program does not know counts as an announcement.
    pub fn outlives_power_cuts(&self) -> bool {
        match self {
            Self::Called(called) => called.effect != Effect::ReadOnly,
            Self::ChildBegan { .. } | Self::Ended(_) | Self::Other { .. } => true,
            _ => false,
        }
    }

    /// The words by which people look for a session. Tool results are not among them: they are most of the bytes and the
    /// least of what anybody remembers.
    pub(crate) fn words(&self) -> Option<String> {
        let words = match self {
            Self::Started(started) => started.request.clone(),
            Self::Said { text, .. } | Self::Noted { text, .. } => text.clone(),
            Self::Answered(answered) => answered.text(),
            Self::Activated(activated) => format!("{} {}", activated.skill, activated.arguments),
            Self::Failed { message, .. } => message.clone(),
            _ => return None,
        };
        (!words.trim().is_empty()).then_some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_announces_an_effect_waits_for_the_disk_and_the_rest_does_not() {
        let called = |effect| {
            let (id, tool) = ("1".to_owned(), "x".to_owned());
            EventKind::Called(Called { id, tool, skill: None, input: Value::Null, effect })
        };
        for (kind, expect) in [
            (called(Effect::ReadOnly), false),
            (called(Effect::Writes), true),
            (called(Effect::Runs), true),
            (called(Effect::Asks), true),
            (EventKind::Answered(Answered::default()), false),
            (EventKind::Finished(Finished::default()), false),
            (EventKind::Other { name: "newer".to_owned(), data: Value::Null }, true),
        ] {
            assert_eq!(kind.outlives_power_cuts(), expect, "{kind:?}");
        }
    }

    #[test]
    fn every_outcome_comes_back_from_its_word_as_json_writes_it() {
        for outcome in
            [Outcome::Done, Outcome::Partial, Outcome::Failed, Outcome::Cancelled, Outcome::NeedsYes]
        {
            assert_eq!(Outcome::from_word(outcome.word()), Some(outcome));
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.word());
        }
        assert_eq!(Outcome::from_word("lost"), None);
    }
}

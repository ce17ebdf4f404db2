use metier_store::{By, EventKind, RecordId};

use crate::compaction::cuts;

/// What is to be recalled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RecallRequest {
    /// What the agent itself knows about these words.
    About(String),
    /// What a skill has kept, since it was activated.
    OfSkill { name: String, origin: String },
}

/// Which records of the memory were put into the conversation, and which are looked for before the next turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recalled {
    requests: Vec<RecallRequest>,
    /// With the user's message before this one.
    before: Vec<RecordId>,
    /// With this one.
    now: Vec<RecordId>,
    /// All whose texts are still in the conversation.
    present: Vec<RecordId>,
}

impl Recalled {
    pub(super) fn apply(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Started(started) => self.message(started.by, &started.request),
            EventKind::Said { text, by } => {
                self.before = std::mem::take(&mut self.now);
                self.message(*by, text);
            }
            // Only what the model called: the skill of a sub-agent is its instructions, and its work begins afresh.
            EventKind::Activated(activated) if activated.call.is_some() => {
                self.requests.push(RecallRequest::OfSkill {
                    name: activated.skill.clone(),
                    origin: activated.origin.clone(),
                });
            }
            EventKind::Asked { .. } => self.requests.clear(),
            EventKind::Recalled { records, .. } => {
                self.now.extend(records);
                self.present.extend(records);
            }
            EventKind::Compacted { messages, .. } if cuts(messages) => self.present.clear(),
            _ => {}
        }
    }

    /// A message came. What a parent writes to a sub-agent is no reason to look into the agent's own memory.
    fn message(&mut self, by: By, text: &str) {
        self.requests.clear();
        if by != By::Parent {
            self.requests.push(RecallRequest::About(text.to_owned()));
        }
    }

    /// What is looked for before the next turn of the model.
    pub(crate) fn requests(&self) -> &[RecallRequest] {
        &self.requests
    }

    /// Records that are not recalled again: they are present, or came with this message or the last one.
    pub(crate) fn excluded(&self) -> Vec<RecordId> {
        let mut all: Vec<RecordId> =
            self.before.iter().chain(&self.now).chain(&self.present).copied().collect();
        all.sort();
        all.dedup();
        all
    }

    /// How many came with this message.
    pub(crate) fn count(&self) -> usize {
        self.now.len()
    }
}

//! Approval of skills that servers offer: bound to the very files that were listed, and to the server that listed them.

use super::TrustStore;
use crate::remote::{Approval, RemoteSkill};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was recorded when a server's skill was approved. Who a skill is are the server's label and the skill's address together,
/// never its name; what was approved are all of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRecord {
    /// The server's label.
    pub server: String,
    /// Who the server is behind its label: the digest of its address or its command. A label that is given to another server
    /// takes no approval along.
    pub endpoint: String,
    /// The address of the skill's `SKILL.md`.
    pub uri: String,
    /// The digest of the whole set.
    pub set: String,
    /// Every file with its digest, so that a change can be told in words.
    pub files: BTreeMap<String, String>,
    /// When, as the caller writes times.
    pub approved: String,
}

impl TrustStore {
    /// Approves a server's skill as it is listed, in place of what was approved before.
    pub fn approve(&mut self, skill: &RemoteSkill, endpoint: &str, when: &str) {
        self.disapprove(&skill.server, &skill.uri);
        let files = skill.files.iter().map(|file| (file.uri.clone(), file.digest.to_string()));
        self.remote.push(ApprovalRecord {
            server: skill.server.clone(),
            endpoint: endpoint.to_owned(),
            uri: skill.uri.clone(),
            set: skill.set.to_string(),
            files: files.collect(),
            approved: when.to_owned(),
        });
        self.remote.sort_by(|a, b| (&a.server, &a.uri).cmp(&(&b.server, &b.uri)));
    }

    /// Takes an approval back; `false` when there was none.
    pub fn disapprove(&mut self, server: &str, uri: &str) -> bool {
        let before = self.remote.len();
        self.remote.retain(|record| record.server != server || record.uri != uri);
        before != self.remote.len()
    }

    /// Whether a skill is approved as it is listed now.
    pub fn approval(&self, skill: &RemoteSkill, endpoint: &str) -> Approval {
        match self.approved(&skill.server, &skill.uri) {
            Some(record) if record.endpoint == endpoint && record.set == skill.set.to_string() => {
                Approval::Approved
            }
            Some(_) => Approval::Changed,
            None => Approval::NotYet,
        }
    }

    /// What is recorded about a server's skill.
    pub fn approved(&self, server: &str, uri: &str) -> Option<&ApprovalRecord> {
        self.remote.iter().find(|record| record.server == server && record.uri == uri)
    }

    /// Every approval, by server and address.
    pub fn approvals(&self) -> &[ApprovalRecord] {
        &self.remote
    }
}

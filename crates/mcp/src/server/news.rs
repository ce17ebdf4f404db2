//! What has changed, for clients that want to be told.

use tokio::sync::watch;

/// How often each list has changed. A client is told that a list is another one, and never how; so many changes at once are one
/// message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stand {
    pub(super) tools: u64,
    pub(super) prompts: u64,
    pub(super) resources: u64,
}

/// Tells every connection what has changed.
#[derive(Debug)]
pub(super) struct News(watch::Sender<Stand>);

impl Default for News {
    fn default() -> Self {
        Self(watch::Sender::new(Stand::default()))
    }
}

impl News {
    pub(super) fn subscribe(&self) -> watch::Receiver<Stand> {
        self.0.subscribe()
    }

    /// Files of skills are other ones.
    pub(super) fn resources(&self) {
        self.0.send_modify(|stand| stand.resources += 1);
    }

    /// Skills came, went, or say something else.
    pub(super) fn skills(&self) {
        self.0.send_modify(|stand| {
            stand.resources += 1;
            stand.prompts += 1;
        });
    }

    /// The tools are other ones.
    pub(super) fn tools(&self) {
        self.0.send_modify(|stand| stand.tools += 1);
    }
}

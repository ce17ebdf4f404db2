//! Notifies connections that a list changed.

use tokio::sync::watch;

/// How often each list changed. Clients only learn that a list changed, so several changes become one notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListVersions {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
    pub(crate) resources: u64,
}

/// Notifies all connections of changes.
#[derive(Debug)]
pub(crate) struct ChangeNotifier(watch::Sender<ListVersions>);

impl Default for ChangeNotifier {
    fn default() -> Self {
        Self(watch::Sender::new(ListVersions::default()))
    }
}

impl ChangeNotifier {
    pub(crate) fn subscribe(&self) -> watch::Receiver<ListVersions> {
        self.0.subscribe()
    }

    /// Files of skills changed.
    pub(crate) fn resources(&self) {
        self.0.send_modify(|versions| versions.resources += 1);
    }

    /// Skills were added, removed or changed.
    pub(crate) fn skills(&self) {
        self.0.send_modify(|versions| {
            versions.resources += 1;
            versions.prompts += 1;
        });
    }

    /// The tool definitions changed.
    pub(crate) fn tools(&self) {
        self.0.send_modify(|versions| versions.tools += 1);
    }
}

//! What a call changed in the project is decided here, after it ended.

use std::time::Duration;

use metier_changes::{DEFAULT_RETENTION, NO_RETENTION};
use metier_exec::{ChangeReport, EditError, FileEdit, ProjectLayers, RunOutput, write_file};
use metier_policy::{Actor, Answers};
use metier_sandbox::Limits;

use super::Room;
use crate::skills::house::lock;

impl Room {
    /// Where its calls write instead of the project; `None` where the project is read-only for them.
    pub(super) fn layers(&self) -> Option<ProjectLayers> {
        let store = self.house.layers.clone()?;
        let ignored = self.snapshot.layout().settings.changes.ignored;
        let retention = if self.house.data.is_some() { DEFAULT_RETENTION } else { NO_RETENTION };
        Some(ProjectLayers { store, session: self.session.clone(), ignored, retention })
    }

    /// What a call may use up.
    pub(super) fn limits(&self, time: Duration) -> Limits {
        let (usual, changes) = (Limits::default(), &self.snapshot.layout().settings.changes);
        Limits {
            time,
            layer: changes.max_mib.map_or(usual.layer, |mib| mib.saturating_mul(1 << 20)),
            layer_files: changes.max_files.unwrap_or(usual.layer_files),
            ..usual
        }
    }

    /// Writes a file that the gate has allowed to be written. `None` for a program that has no layers: it writes by itself.
    pub(in crate::skills) fn write_own(
        &self,
        edit: &FileEdit<'_>,
    ) -> Result<Option<ChangeReport>, EditError> {
        self.layers().map(|layers| write_file(&layers, edit)).transpose()
    }

    /// Decides about the changes of a call, asks about the rest in one question, and applies what may be applied.
    pub(super) fn settle_changes(&self, ran: &mut RunOutput, actor: &Actor) {
        let Some(pending) = ran.pending.take() else { return };
        let mut answers = lock(&self.answers).clone();
        let decide = |answers: &Answers| self.gate(answers, |gate| pending.decide(&gate, actor));
        let mut decision = decide(&answers);
        if let Some(undecided) = &decision.undecided
            && self.ask(&undecided.action, &undecided.decision, &mut answers)
        {
            decision = decide(&answers);
        }
        ran.set_changes(pending.settle(&decision));
    }
}

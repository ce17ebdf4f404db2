//! What a call changed in the project is decided here, after it ended.

use std::time::Duration;

use metier_changes::{DEFAULT_RETENTION, NO_RETENTION};
use metier_exec::{ChangeReport, EditError, FileEdit, ProjectLayers, RunOutput, write_file};
use metier_policy::Actor;
use metier_sandbox::Limits;

use super::SkillSession;
use super::policy::{Approval, ApprovalRequest, ApprovalStage, Asked};
use crate::tool::CallControl;

impl SkillSession {
    /// Where its calls write instead of the project; `None` where the project is read-only for them.
    pub(super) fn layers(&self) -> Option<ProjectLayers> {
        let store = self.engine.layers.clone()?;
        let ignored = self.snapshot().layout().settings.changes.ignored;
        let retention = if self.engine.data.is_some() { DEFAULT_RETENTION } else { NO_RETENTION };
        Some(ProjectLayers { store, session: self.id.clone(), ignored, retention })
    }

    /// What a call may use up.
    pub(super) fn limits(&self, time: Duration) -> Limits {
        let (usual, changes) = (Limits::default(), &self.snapshot().layout().settings.changes);
        Limits {
            time,
            layer: changes.max_mib.map_or(usual.layer, |mib| mib.saturating_mul(1 << 20)),
            layer_files: changes.max_files.unwrap_or(usual.layer_files),
            ..usual
        }
    }

    /// Writes a file that was approved, so that it is listed and can be undone like the changes of a command. `None` for a program that
    /// has no layers: it writes by itself.
    pub fn write_file(&self, edit: &FileEdit<'_>) -> Result<Option<ChangeReport>, EditError> {
        self.layers().map(|layers| write_file(&layers, edit)).transpose()
    }

    /// Decides about the changes of a call, asks about the rest in one question, and applies what was approved.
    pub(super) fn settle_changes(&self, ran: &mut RunOutput, actor: &Actor, control: CallControl<'_>) {
        let Some(pending) = ran.pending.take() else { return };
        let mut gate = self.call_gate(&Approval::default());
        let mut decision = pending.decide(&self.gate(&gate), actor);
        if let Some(undecided) = &decision.undecided {
            let (action, decision_of) = (&undecided.action, &undecided.decision);
            let request = ApprovalRequest::new(action, decision_of, control).at(ApprovalStage::Changes);
            if self.ask(&request, &mut gate.answers) == Asked::Approved {
                decision = pending.decide(&self.gate(&gate), actor);
            }
        }
        ran.set_changes(pending.settle(&decision));
    }
}

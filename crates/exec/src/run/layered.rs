//! The layer of one call, from its start to the list of what it changed.

use metier_changes::CallOrigin;
use metier_files::Survey;
use metier_sandbox::{LayerMount, Limits};

use crate::call_changes::{CallLayer, PendingChanges, ProjectLayers};

/// A call that sees the project through a layer of its own.
pub(super) struct LayeredCall<'a> {
    survey: &'a Survey,
    layer: CallLayer,
}

impl<'a> LayeredCall<'a> {
    /// Makes the layer. Where that is not possible, the project stays read-only and a note says why.
    pub(super) fn begin(
        layers: Option<&'a ProjectLayers>,
        survey: Option<&'a Survey>,
        origin: CallOrigin,
        notes: &mut Vec<String>,
    ) -> Option<Self> {
        let (layers, survey) = (layers?, survey?);
        match layers.begin(survey.project(), origin) {
            Ok(layer) => Some(Self { survey, layer }),
            Err(error) => {
                notes.push(format!("the project was read-only for it: {error}"));
                None
            }
        }
    }

    /// How the sandbox shows it.
    pub(super) fn mount(&self) -> LayerMount {
        self.layer.mount()
    }

    /// Removes a layer that nothing was written to.
    pub(super) fn abandon(self) {
        // A folder that stays behind is empty, and recovery removes it.
        let _ = self.layer.layer.remove();
    }

    /// Lists what the call changed, after its last process has ended.
    pub(super) fn finish(self, limits: &Limits, notes: &mut Vec<String>) -> Option<PendingChanges> {
        let id = self.layer.layer.id();
        match PendingChanges::of(self.layer, self.survey, limits) {
            Ok(pending) => pending,
            Err(error) => {
                notes.push(format!(
                    "what it changed could not be read: {error}; it is kept as `{id}` in `metier changes`"
                ));
                None
            }
        }
    }
}

//! The result of a run.

use std::borrow::Cow;

use metier_policy::{Actor, Decision};
use metier_sandbox::{Limits, Report};
use metier_secret::Redactor;
use serde_json::Value;

use super::ExecEnv;
use super::process_report::ProcessReport;
use crate::call_changes::{ChangeReport, PendingChanges};
use crate::long_output::LongOutput;
use crate::network_access::NetworkContacts;
use crate::output::{Hints, Shape, command_json, left_processes};

/// The result of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// The result in the shape of its tool, where nobody keeps what is left out of it.
    pub text: String,
    /// The streams that are longer than what a model gets, for whoever keeps them; [`RunOutput::text_beside`] then says where.
    pub long: Vec<LongOutput>,
    /// What whoever reads it should know beside.
    pub notes: Vec<String>,
    /// Why it was allowed.
    pub decision: Decision,
    /// Whom it reached, and whom not.
    pub contacts: NetworkContacts,
    /// What it changed in the project, until that is decided.
    pub pending: Option<PendingChanges>,
    /// What became of its changes of the project.
    pub changes: Option<ChangeReport>,
    /// The whole report.
    pub report: Report,
    /// What of it is kept for good, without what nobody may see.
    pub process: ProcessReport,
    pub(super) shape: Shape,
    pub(super) limits: Limits,
    pub(super) redactor: Redactor,
}

impl RunOutput {
    /// What it could use up.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A text that derives from the run, such as the name of a file it changed, without the secrets it had. The names in
    /// [`RunOutput::report`] are as they are on the disk, so that files can be opened by them; whatever is shown of them goes through here.
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.text(text)
    }

    /// The same for every text of a JSON value.
    pub fn redact_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(shown) = self.redactor.text(text) {
                    *text = shown;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.redact_json(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The result in the shape of its tool, where what is left out of it lies in files below a place: the names of
    /// [`RunOutput::long`] with `place` before them, as whoever reads the result can open them.
    pub fn text_beside(&self, place: &str) -> String {
        self.shape.text(&self.report, &self.limits, &self.long, Some(place))
    }

    /// Decides about its changes of the project: by rules, and for the rest by a question that counts this once.
    pub fn settle_changes(&mut self, env: &ExecEnv<'_>, actor: &Actor) {
        let Some(pending) = self.pending.take() else { return };
        let mut decision = pending.decide(&env.gate, actor);
        if let Some(undecided) = &decision.undecided
            && let Some(approver) = &env.network.approver
            && approver.ask(&undecided.action, &undecided.decision)
        {
            decision = decision.approved_once();
        }
        self.set_changes(pending.settle(&decision));
    }

    /// Keeps what became of its changes of the project.
    pub fn set_changes(&mut self, mut report: ChangeReport) {
        report.redact(&self.redactor);
        self.process.set_changes(&report);
        self.changes = Some(report);
    }

    /// Adds to a result what became of the changes of the project and of processes in the background.
    pub fn with_changes(&self, text: String) -> String {
        let left = left_processes(&self.report).map(|left| format!("[{left}]"));
        let told =
            [("changes", self.changes.as_ref().and_then(ChangeReport::for_model)), ("processes", left)];
        let mut told = told.into_iter().filter_map(|(key, told)| Some((key, told?))).peekable();
        if told.peek().is_none() {
            return text;
        }
        match serde_json::from_str(&text) {
            Ok(Value::Object(mut fields)) => {
                fields.extend(told.map(|(key, told)| (key.to_owned(), told.into())));
                Value::Object(fields).to_string()
            }
            _ => told.fold(text, |text, (_, told)| format!("{text}\n{told}")),
        }
    }

    /// Says where [`RunOutput::long`] lies now, for the records: as in [`RunOutput::text_beside`].
    pub fn kept_in(&mut self, place: &str) {
        self.process.outputs = self.long.iter().map(|long| format!("{place}{}", long.name)).collect();
    }

    /// The result as data, whatever the shape of its tool: how it ended, and both streams as a model gets them.
    pub fn data(&self) -> Value {
        let mut data = command_json(&self.report, &self.limits, &Hints::default());
        // What a program says beside its result is of use after a success, too.
        data["stderr"] = self.streams(None).1.trim().into();
        data
    }

    /// Both streams as a model gets them, for results of another shape; `place` is where the rest lies, if it is kept.
    pub fn streams(&self, place: Option<&str>) -> (String, String) {
        self.shape.streams(&self.report, &self.long, place)
    }
}

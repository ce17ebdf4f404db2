//! What a call changed in the project, as it is written down.

use metier_diagnostic::counted;
use metier_exec::{ChangeReport, ChangeState};
use metier_store::{MissingApproval, RecordedChanges};
use serde_json::Value;

/// The most paths of one call that an event lists. An event is kept for good; `metier changes show` lists all of them.
const MAX_RECORDED: usize = 1000;

/// The report as an event has it: the same JSON as in the results of tools, so that programs know one shape.
pub(crate) fn recorded(report: &ChangeReport) -> RecordedChanges {
    let value = serde_json::to_value(report).unwrap_or(Value::Null);
    let mut recorded: RecordedChanges = serde_json::from_value(value).unwrap_or_default();
    // What a mode refused waits like the rest, for a rule instead of an answer.
    recorded.waiting = (report.count(ChangeState::NotApproved) + report.count(ChangeState::Refused)) as u64;
    recorded.left_out = recorded.entries.len().saturating_sub(MAX_RECORDED) as u64;
    recorded.entries.truncate(MAX_RECORDED);
    recorded
}

/// The approval that changes wait for, if they do.
pub(crate) fn missing_approval(changes: &RecordedChanges) -> Option<MissingApproval> {
    let count = usize::try_from(changes.waiting).unwrap_or(usize::MAX);
    (count > 0).then(|| MissingApproval {
        action: format!(
            "{}: `metier changes apply {}`",
            counted(count, "change waits", "changes wait"),
            changes.id
        ),
        rules: changes.allow_with.clone(),
        changes: Some(changes.id.clone()),
    })
}

#[cfg(test)]
mod tests {
    use metier_exec::{ChangeKind, EntryKind, ReportedChange};
    use serde_json::json;

    use super::*;

    fn change(path: &str, state: ChangeState) -> ReportedChange {
        ReportedChange {
            path: path.to_owned(),
            kind: ChangeKind::Created,
            entry: Some(EntryKind::File),
            size: 3,
            mode: Some("755".to_owned()),
            type_before: Some(EntryKind::Link),
            mode_before: Some("644".to_owned()),
            target: Some("elsewhere".to_owned()),
            executable: true,
            digest: Some("sha256:00".to_owned()),
            renamed_from: Some("old".to_owned()),
            state,
            protected: true,
            protected_because: Some("agents obey it"),
            note: Some("why".to_owned()),
        }
    }

    #[test]
    fn a_report_is_written_down_with_every_field_of_its_paths() {
        let entry = |path: &str, state: &str| {
            json!({ "path": path, "kind": "created", "type": "file", "size": 3, "mode": "755",
                    "type_before": "link", "mode_before": "644", "target": "elsewhere", "executable": true, "digest": "sha256:00", "renamed_from": "old", "state": state, "protected": true, "note": "why" })
        };
        let entries = vec![change("a", ChangeState::Applied), change("b", ChangeState::NotApproved)];
        let rules = vec!["write:b".to_owned()];
        let report = ChangeReport {
            id: "7".to_owned(),
            entries,
            allow_with: rules.clone(),
            uncovered: 0,
            problem: None,
        };
        let recorded = recorded(&report);
        let expect = json!({ "id": "7", "entries": [entry("a", "applied"), entry("b", "not-approved")],
                             "waiting": 1, "allow_with": rules });
        assert_eq!(serde_json::to_value(&recorded).unwrap(), expect);
        let need = missing_approval(&recorded).unwrap();
        assert_eq!((need.action.as_str(), need.rules), ("1 change waits: `metier changes apply 7`", rules));
    }

    #[test]
    fn many_paths_are_counted_and_not_listed() {
        let mut report = ChangeReport { id: "7".to_owned(), ..ChangeReport::default() };
        assert_eq!(missing_approval(&recorded(&report)), None);
        let paths = (0..MAX_RECORDED + 5).map(|number| change(&number.to_string(), ChangeState::NotApproved));
        report.entries.extend(paths);
        let recorded = recorded(&report);
        assert_eq!((recorded.entries.len(), recorded.left_out, recorded.waiting), (MAX_RECORDED, 5, 1005));
    }
}

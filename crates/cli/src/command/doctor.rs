//! `doctor`: everything that is wrong, at once.

mod containment;
mod servers;

use self::containment::Containment;
use super::root_finding::RootFinding;
use crate::approval_store::ApprovalStore;
use crate::exit::Exit;
use crate::output::{Output, Tone};
use crate::servers::ask_all;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Include, Snapshot, Standing, State};
use metier_diagnostic::{Diagnostic, JsonDiagnostic, Severity, counted};
use metier_files::{Kind, kind};
use metier_mcp_client::ServerSummary;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What was found. The rest is in the snapshot and in what is around it.
struct Findings<'a> {
    surroundings: &'a Surroundings,
    snapshot: &'a Snapshot,
    roots: Vec<RootFinding>,
    states: BTreeMap<&'static str, usize>,
    /// How much was approved for good: here, and elsewhere.
    approvals: (usize, usize),
    containment: Containment,
    servers: Vec<ServerSummary>,
    diagnostics: Vec<Diagnostic>,
}

pub(crate) fn run(surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let (surroundings, _) = &ask_all(surroundings);
    let snapshot = surroundings.snapshot(Include::Usual);
    let findings = Findings::of(surroundings, &snapshot)?;
    if output.is_json() {
        output.json(&findings.object()?)?;
    } else {
        write(&findings, output)?;
    }
    let is_broken = findings.diagnostics.iter().any(|found| found.severity() == Severity::Error)
        || !findings.containment.is_sound();
    Ok(if is_broken { Exit::Failed } else { Exit::Fine })
}

impl<'a> Findings<'a> {
    fn of(surroundings: &'a Surroundings, snapshot: &'a Snapshot) -> Result<Self> {
        let mut diagnostics = snapshot.diagnostics().to_vec();
        diagnostics
            .extend(snapshot.failures().iter().flat_map(|failure| failure.diagnostics.iter().cloned()));
        let noteworthy = |found: &&Diagnostic| found.severity() >= Severity::Warning;
        diagnostics.extend(
            snapshot.entries().flat_map(|(_, entry)| entry.diagnostics().iter().filter(noteworthy).cloned()),
        );
        diagnostics.extend(snapshot.trust_changes().iter().map(metier_catalog::TrustChange::diagnostic));
        let mut states: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (_, entry) in snapshot.entries() {
            *states.entry(entry.state().word()).or_default() += 1;
        }
        let store = ApprovalStore::of(surroundings);
        let approvals = store.all()?;
        let here = approvals.iter().filter(|approval| approval.project == store.project()).count();
        Ok(Self {
            surroundings,
            snapshot,
            roots: RootFinding::all(snapshot),
            states,
            approvals: (here, approvals.len() - here),
            containment: Containment::examine(surroundings),
            servers: servers::examine(surroundings),
            diagnostics,
        })
    }

    fn object(&self) -> Result<Value> {
        let (layout, (here, elsewhere)) = (self.snapshot.layout(), self.approvals);
        let place = |path: &Path| json!({ "path": path.display().to_string(), "exists": kind(path) != Kind::Missing });
        let mut object = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "config": place(&self.surroundings.places.config_file()),
            "data": place(&self.surroundings.places.data),
            "project": layout.project.as_ref().map(|project| project.folder.display().to_string()),
            "standing": layout.standing,
            "roots": serde_json::to_value(&self.roots)?,
            "loaded": self.snapshot.loaded(),
            "failed": self.snapshot.failures().len(),
            "states": self.states,
            "approvals": { "here": here, "elsewhere": elsewhere },
            "containment": self.containment.object(),
        });
        if !self.servers.is_empty() {
            object["servers"] = self.servers.iter().map(servers::object).collect();
        }
        object["diagnostics"] =
            self.diagnostics.iter().map(|found| json!(JsonDiagnostic::from(found))).collect();
        Ok(object)
    }
}

fn write(findings: &Findings<'_>, output: &mut Output) -> Result<()> {
    let Findings { surroundings, snapshot, approvals: (here, elsewhere), .. } = findings;
    let place = |path: &Path| {
        let absent = if kind(path) == Kind::Missing { " (not there; the defaults count)" } else { "" };
        format!("{}{absent}", surroundings.shown(path))
    };
    output.line(format!("metier {}", env!("CARGO_PKG_VERSION")))?;
    output.line(format!("  configuration  {}", place(&surroundings.places.config_file())))?;
    output.line(format!("  data           {}", place(&surroundings.places.data)))?;
    let layout = snapshot.layout();
    let project = layout.project.as_ref().map(|project| project.folder.display());
    let project = match (project, layout.standing) {
        (None, _) => "none here".to_owned(),
        (Some(path), Standing::Untrusted) => format!("{path} (not trusted)"),
        (Some(path), Standing::Trusted) => format!("{path} (trusted)"),
        (Some(path), Standing::Mine) => format!("{path} (trusted as your own)"),
    };
    output.line(format!("  project        {project}"))?;
    output.line(format!(
        "  approvals      {here} in this project, {elsewhere} in others (`metier approvals`)"
    ))?;
    output.section("roots, highest first")?;
    for root in findings.roots.iter().filter(|root| root.exists) {
        root.write(surroundings, output)?;
    }
    let absent = findings.roots.iter().filter(|root| !root.exists).count();
    output.comment(format!("  and {absent} that are not there"))?;
    output.section(format!("loaded {}, failed {}", snapshot.loaded(), snapshot.failures().len()))?;
    for (state, count) in findings.states.iter().filter(|(state, _)| **state != State::Ready.word()) {
        output.line(format!("  {count} {state}"))?;
    }
    findings.containment.write(surroundings, output)?;
    servers::write(&findings.servers, output)?;
    for diagnostic in findings.diagnostics.iter().filter(|found| found.severity() >= Severity::Warning) {
        output.line("")?;
        surroundings.show(diagnostic, output)?;
    }
    let count = |severity| findings.diagnostics.iter().filter(|found| found.severity() == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let (tone, text) = match (errors, warnings) {
        (0, 0) => (Tone::Good, "\nnothing is wrong".to_owned()),
        _ => (
            if errors > 0 { Tone::Bad } else { Tone::Caution },
            format!("\n{}, {}", counted(errors, "error", "errors"), counted(warnings, "warning", "warnings")),
        ),
    };
    output.line("")?;
    output.line(output.tinted(tone, text.trim_start()))
}

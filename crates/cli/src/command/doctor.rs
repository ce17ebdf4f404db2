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
use metier_diagnostic::{Diagnostic, Severity, counted};
use metier_files::{Kind, kind};
use metier_mcp_client::ServerSummary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Serialize)]
struct Findings {
    version: &'static str,
    config: Place,
    data: Place,
    project: Option<PathBuf>,
    standing: Standing,
    roots: Vec<RootFinding>,
    loaded: usize,
    failed: usize,
    states: BTreeMap<&'static str, usize>,
    approvals: Approvals,
    containment: Containment,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "servers::as_json")]
    servers: Vec<ServerSummary>,
    #[serde(serialize_with = "crate::output::as_json")]
    diagnostics: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Place {
    path: PathBuf,
    exists: bool,
}

impl Place {
    fn of(path: PathBuf) -> Self {
        let exists = kind(&path) != Kind::Missing;
        Self { path, exists }
    }
}

/// How much was approved for good.
#[derive(Serialize)]
struct Approvals {
    here: usize,
    elsewhere: usize,
}

impl Approvals {
    fn count(surroundings: &Surroundings) -> Result<Self> {
        let store = ApprovalStore::of(surroundings);
        let all = store.all()?;
        let here = all.iter().filter(|approval| approval.project == store.project()).count();
        Ok(Self { here, elsewhere: all.len() - here })
    }
}

pub(crate) fn run(surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let (surroundings, _) = &ask_all(surroundings);
    let snapshot = surroundings.snapshot(Include::Usual);
    let findings = Findings::of(surroundings, &snapshot)?;
    if output.is_json() {
        output.json(&findings)?;
    } else {
        write(&findings, surroundings, output)?;
    }
    let is_broken = findings.diagnostics.iter().any(|found| found.severity() == Severity::Error)
        || !findings.containment.is_sound();
    Ok(if is_broken { Exit::Failed } else { Exit::Fine })
}

impl Findings {
    fn of(surroundings: &Surroundings, snapshot: &Snapshot) -> Result<Self> {
        let layout = snapshot.layout();
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
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            config: Place::of(surroundings.places.config_file()),
            data: Place::of(surroundings.places.data.clone()),
            project: layout.project.as_ref().map(|project| project.folder.clone()),
            standing: layout.standing,
            roots: RootFinding::all(snapshot),
            loaded: snapshot.loaded(),
            failed: snapshot.failures().len(),
            states,
            approvals: Approvals::count(surroundings)?,
            containment: Containment::examine(surroundings),
            servers: servers::examine(surroundings),
            diagnostics,
        })
    }
}

fn write(findings: &Findings, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let place = |place: &Place| {
        let absent = if place.exists { "" } else { " (not there; the defaults count)" };
        format!("{}{absent}", surroundings.shown(&place.path))
    };
    output.line(format!("metier {}", findings.version))?;
    output.line(format!("  configuration  {}", place(&findings.config)))?;
    output.line(format!("  data           {}", place(&findings.data)))?;
    let project = match (&findings.project, findings.standing) {
        (None, _) => "none here".to_owned(),
        (Some(path), Standing::Untrusted) => format!("{} (not trusted)", path.display()),
        (Some(path), Standing::Trusted) => format!("{} (trusted)", path.display()),
        (Some(path), Standing::Mine) => format!("{} (trusted as your own)", path.display()),
    };
    output.line(format!("  project        {project}"))?;
    let Approvals { here, elsewhere } = findings.approvals;
    output.line(format!(
        "  approvals      {here} in this project, {elsewhere} in others (`metier approvals`)"
    ))?;
    output.section("roots, highest first")?;
    for root in findings.roots.iter().filter(|root| root.exists) {
        root.write(surroundings, output)?;
    }
    let absent = findings.roots.iter().filter(|root| !root.exists).count();
    output.comment(format!("  and {absent} that are not there"))?;
    output.section(format!("loaded {}, failed {}", findings.loaded, findings.failed))?;
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

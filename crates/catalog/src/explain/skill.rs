//! Everything there is to say about one skill.

use crate::catalogue::Report;
use crate::config::Visibility;
use crate::disabled::DISABLED_FILE;
use crate::document::is_repair;
use crate::entry::{Entry, EntryId, Relation, State};
use crate::offer::Cost;
use crate::origin::Origin;
use crate::root::AllowedTools;
use crate::snapshot::Snapshot;
use crate::source::Provenance;
use crate::trust::is_trusted;
use metier_diagnostic::Diagnostic;
use metier_skill::UserOnly;
use serde::Serialize;
use std::path::PathBuf;

/// One skill, explained.
#[derive(Debug, Serialize)]
pub struct ExplainedSkill {
    /// The name it is called by.
    pub name: String,
    /// The written name, where it cannot be called.
    pub title: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// Its `SKILL.md`.
    pub path: PathBuf,
    /// Its version, as written.
    pub version: Option<String>,
    /// How it stands.
    pub state: State,
    /// How its file was understood.
    pub parsed: Parsing,
    /// Everything that keeps it from the model or the user, or that makes it special.
    pub reasons: Vec<Reason>,
    /// The skill that has its name.
    pub shadowed_by: Option<PathBuf>,
    /// The skills that it keeps from having its name.
    pub shadows: Vec<PathBuf>,
    /// Other versions beside it in the same root.
    pub versions_beside: Vec<PathBuf>,
    /// Other folders that hold the same, byte for byte, or lead to it.
    pub copies: Vec<PathBuf>,
    /// How the model's catalogue shows it.
    pub catalogue: InCatalogue,
    /// What it costs.
    pub tokens: Cost,
    /// Its tool list, and what the list means here.
    pub tools: Option<Tools>,
    /// Where an installer says it came from.
    pub source: Option<Provenance>,
    /// What changed since its project was trusted.
    pub trust_changes: Vec<String>,
    /// What there is to say about its file.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a file was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parsing {
    /// As it is written.
    Exactly,
    /// After repairs in memory, by their codes.
    Repaired(Vec<&'static str>),
}

/// Why a skill stands as it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// One word for machines.
    pub kind: &'static str,
    /// A sentence without a full stop.
    pub text: String,
}

/// How the model's catalogue shows a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InCatalogue {
    /// With its full text.
    Described,
    /// With its name alone, by the configuration.
    Named,
    /// With its name or in the count alone: its text did not fit into the budget.
    OverBudget,
    /// Not at all.
    Absent,
}

/// A tool list and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tools {
    /// What the list means here.
    pub meaning: AllowedTools,
    /// The list in force.
    pub list: Vec<String>,
}

impl Snapshot {
    /// Everything there is to say about one skill; `report` is that of the catalogue it would be in.
    pub fn explain_skill(&self, id: EntryId, report: &Report) -> Option<ExplainedSkill> {
        let entry = self.entry(id)?;
        let others = |wanted: &dyn Fn(Relation) -> bool| {
            let others = self.called(entry.name().as_str()).into_iter().filter_map(|id| self.entry(id));
            others.filter(|other| wanted(other.relation())).map(|other| self.document_path(other)).collect()
        };
        let mut explained = ExplainedSkill {
            name: entry.call_name().to_owned(),
            title: entry.title().map(str::to_owned),
            origin: self.root(entry).origin.clone(),
            path: self.document_path(entry),
            version: entry.version_text().map(Into::into),
            state: entry.state(),
            parsed: parsing(entry.diagnostics()),
            reasons: self.reasons(entry),
            shadowed_by: match entry.relation() {
                Relation::ShadowedBy(by) | Relation::CopyOf(by) => {
                    self.entry(by).map(|by| self.document_path(by))
                }
                Relation::Holder | Relation::VersionBeside(_) | Relation::Aside => None,
            },
            shadows: others(&|relation| relation == Relation::ShadowedBy(id)),
            versions_beside: others(&|relation| relation == Relation::VersionBeside(id)),
            copies: self.other_folders(id),
            catalogue: in_catalogue(entry, report),
            tokens: self.cost(entry),
            tools: None,
            source: None,
            trust_changes: Vec::new(),
            diagnostics: entry.diagnostics().to_vec(),
        };
        self.read_more(id, entry, &mut explained);
        Some(explained)
    }

    /// What only the folder tells.
    fn read_more(&self, id: EntryId, entry: &Entry, explained: &mut ExplainedSkill) {
        if let Ok(file) = self.read(entry)
            && let Some(manifest) = file.manifest()
            && let Some(list) = manifest.tool_list()
        {
            let meaning = self.allowed_tools(id, manifest);
            explained.tools = Some(Tools { meaning, list: list.iter().map(ToString::to_string).collect() });
        }
        match self.open(entry).map(|folder| Provenance::of(&folder)) {
            Ok(Ok(source)) => explained.source = source,
            Ok(Err(diagnostic)) => explained.diagnostics.push(*diagnostic),
            // The folder is gone since the snapshot was taken.
            Err(error) => explained.reasons.push(Reason { kind: "gone", text: error.to_string() }),
        }
        if let Some(change) = self.trust_change(entry) {
            explained.diagnostics.push(change.diagnostic());
            explained.trust_changes = change.changes;
        }
    }

    /// Every reason there is, not only the one that the state shows.
    fn reasons(&self, entry: &Entry) -> Vec<Reason> {
        let root = self.root(entry);
        let mut reasons = Vec::new();
        let mut add = |kind, text: String| reasons.push(Reason { kind, text });
        if let Some((visibility, file)) =
            self.layout().settings.visibility(entry.name().as_str(), &root.origin)
            && visibility != Visibility::On
        {
            add("visibility", format!("`{}` sets its visibility to `{}`", file.display(), visibility.word()));
        }
        match entry.state() {
            State::Disabled => {
                add("disabled", format!("`{}` disables it", root.path.join(DISABLED_FILE).display()));
            }
            State::Nested => add("nested", "it lies inside another skill's folder".to_owned()),
            _ => {}
        }
        if root.trust == crate::root::RootTrust::Untrusted {
            let project = self.layout().project.as_ref().map(|project| project.folder.display().to_string());
            add("untrusted", format!("the project `{}` is not trusted", project.unwrap_or_default()));
        } else if !is_trusted(self.layout(), entry) {
            add("untrusted", "it is new, renamed or moved since you trusted the project".to_owned());
        }
        match entry.relation() {
            Relation::ShadowedBy(by) => {
                if let Some(by) = self.entry(by) {
                    let origin = &self.root(by).origin;
                    add(
                        "shadowed",
                        format!("`{}` ({origin}) has its name", self.document_path(by).display()),
                    );
                }
            }
            Relation::CopyOf(of) => {
                if let Some(of) = self.entry(of) {
                    add("copy", format!("it is the same as `{}`, byte for byte", self.folder(of).display()));
                }
            }
            Relation::VersionBeside(holder) => {
                if let Some(holder) = self.entry(holder) {
                    let version = holder.version_text().unwrap_or_default();
                    add("version", format!("version {version} beside it has the bare name"));
                }
            }
            Relation::Holder | Relation::Aside => {}
        }
        let why = entry.user_only().map(|why| match why {
            UserOnly::Declared => "it says `disable-model-invocation: true`",
            UserOnly::NoFrontmatter => "it has no frontmatter to be offered by",
            UserOnly::NoDescription => "it has no description to be offered by",
        });
        if let Some(why) = why {
            add("user-only", why.to_owned());
        }
        if !entry.paths().is_empty() {
            let paths: Vec<String> = entry.paths().iter().map(|path| format!("`{path}`")).collect();
            add("paths", format!("the model is offered it once the work touches {}", paths.join(", ")));
        }
        if !entry.is_user_invocable() {
            add("not-invocable", "it says `user-invocable: false`, so there is no `/name`".to_owned());
        }
        reasons
    }
}

fn parsing(diagnostics: &[Diagnostic]) -> Parsing {
    let repairs: Vec<_> = diagnostics
        .iter()
        .map(|found| found.code)
        .filter(|code| is_repair(code))
        .map(metier_diagnostic::Code::name)
        .collect();
    if repairs.is_empty() { Parsing::Exactly } else { Parsing::Repaired(repairs) }
}

fn in_catalogue(entry: &Entry, report: &Report) -> InCatalogue {
    match entry.state() {
        _ if !entry.is_offered() || !entry.paths().is_empty() => InCatalogue::Absent,
        _ if report.over_budget.iter().any(|name| name == entry.call_name()) => InCatalogue::OverBudget,
        State::NameOnly => InCatalogue::Named,
        _ => InCatalogue::Described,
    }
}

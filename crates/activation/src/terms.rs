//! What a skill's lists of tools come to: the one place where its fence and its grants are made.

use std::path::Path;

use metier_catalog::{AllowedTools, EntryId, Snapshot};
use metier_exec::{SkillGroup, SkillGroupKind};
use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Skill, Terms};
use metier_skill::Manifest;

/// Everything that the fence and the grants of a skill depend on.
#[derive(Clone, Copy, Debug)]
pub struct SkillTerms<'a> {
    /// The skills.
    pub snapshot: &'a Snapshot,
    /// The one that is meant.
    pub id: EntryId,
    /// What its file says.
    pub manifest: &'a Manifest,
    /// The same as the gate knows it.
    pub skill: &'a Skill,
    /// Its folder.
    pub folder: &'a Path,
    /// Its data folder.
    pub data: Option<&'a Path>,
    /// The plugin or crew it belongs to.
    pub plugin: Option<&'a SkillGroup>,
    /// The project.
    pub project: Option<&'a Path>,
    /// The tools of MCP servers, by which bare names in its lists are understood.
    pub servers: &'a McpTools,
    /// Whose rules the fence follows. A crew's skill follows its crew's, wherever it is used.
    pub dialect: Dialect,
}

/// Whether a skill's `disallowed-tools` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisallowedTools {
    /// It counts: the skill is active.
    Apply,
    /// It does not: it is about calls once the skill is active, and the skill's own text comes before.
    Ignore,
}

impl SkillTerms<'_> {
    /// The fence and the grants.
    pub fn open(&self, disallowed: DisallowedTools) -> Scope {
        let allowed = match self.dialect {
            Dialect::Usual => self.snapshot.allowed_tools(self.id, self.manifest),
            Dialect::Crew => self.snapshot.allowed_tools_as_fence(self.id, self.manifest),
        };
        let meaning = match allowed {
            AllowedTools::Fence => Meaning::Fence,
            AllowedTools::Grant => Meaning::Grant,
            AllowedTools::Both => Meaning::Both,
            AllowedTools::Advisory => Meaning::Advisory,
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let plugin = self.plugin.filter(|plugin| plugin.kind == SkillGroupKind::Plugin);
        let folders = Folders {
            skill: Some(text(self.folder)),
            plugin: plugin.map(|plugin| text(&plugin.folder)),
            data: self.data.map(text),
            shared_data: self.plugin.and_then(|plugin| plugin.data.as_deref()).map(text),
            project: self.project.map(text),
        };
        let tools = self.manifest.tool_list();
        let disallowed = match (disallowed, &self.manifest.more.disallowed_tools) {
            (DisallowedTools::Apply, Some(disallowed)) => disallowed.value.as_slice(),
            _ => &[],
        };
        let is_crew = self.snapshot.entry(self.id).is_some_and(|entry| self.snapshot.crew(entry).is_some());
        let terms = Terms {
            skill: self.skill.clone(),
            tools: tools.as_deref(),
            disallowed,
            meaning,
            dialect: if is_crew { Dialect::Crew } else { self.dialect },
            folders,
        };
        Scope::open(terms, self.servers)
    }
}

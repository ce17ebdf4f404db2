//! What a skill's lists of tools come to: the one place where its fence and its grants are made.

use std::path::Path;

use metier_catalog::{AllowedTools, EntryId, Snapshot};
use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Skill, Terms};
use metier_skill::Manifest;

use crate::render::{Plugin, PluginKind};

/// Everything that the fence and the grants of a skill depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkillTerms<'a> {
    /// The skills.
    pub(crate) snapshot: &'a Snapshot,
    /// The one that is meant.
    pub(crate) id: EntryId,
    /// What its file says.
    pub(crate) manifest: &'a Manifest,
    /// The same as the gate knows it.
    pub(crate) skill: &'a Skill,
    /// Its folder.
    pub(crate) folder: &'a Path,
    /// Its data folder.
    pub(crate) data: Option<&'a Path>,
    /// The plugin or crew it belongs to.
    pub(crate) plugin: Option<Plugin<'a>>,
    /// The project.
    pub(crate) project: Option<&'a Path>,
    /// The tools of MCP servers, by which bare names in its lists are understood.
    pub(crate) servers: &'a McpTools,
    /// Whose rules the fence follows. A crew's skill follows its crew's, wherever it is used.
    pub(crate) dialect: Dialect,
}

/// How much of a skill's lists counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// All of it: the skill is active.
    Yes,
    /// All but `disallowed-tools`, which is about what is called once the skill is active: its own text comes before.
    ButForWhatItTakesAway,
}

impl SkillTerms<'_> {
    /// The fence and the grants.
    pub(crate) fn open(&self, whole: Whole) -> Scope {
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
        let plugin = self.plugin.filter(|plugin| plugin.kind == PluginKind::Plugin);
        let folders = Folders {
            skill: Some(text(self.folder)),
            plugin: plugin.map(|plugin| text(plugin.folder)),
            data: self.data.map(text),
            shared_data: self.plugin.and_then(|plugin| plugin.data).map(text),
            project: self.project.map(text),
        };
        let tools = self.manifest.tool_list();
        let disallowed = match (whole, &self.manifest.more.disallowed_tools) {
            (Whole::Yes, Some(disallowed)) => disallowed.value.as_slice(),
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

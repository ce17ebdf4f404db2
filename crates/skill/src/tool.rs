//! Tools by the names that clients give them: one table for the whole project.
//!
//! Dialects name the same tool differently, and whoever compares tools must compare the tool and not the spelling. The
//! table knows two degrees. A **spelling** is another name of the very same tool, so a permission for one is a
//! permission for the other. **Kin** is another tool that does the same kind of thing: good enough for advice about a
//! text, never good enough for a permission. A list that names `BashOutput` has not named `Bash`.

/// A tool that metier knows by name, whoever offers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// A command line.
    Bash,
    /// The text of a file of the project.
    Read,
    /// A file of the project, written whole.
    Write,
    /// A file of the project, changed in part.
    Edit,
    /// A search in the project's files.
    Grep,
    /// A search for the project's files by name.
    Glob,
    /// A page from the network.
    WebFetch,
    /// A search of the network; metier has none of its own.
    WebSearch,
    /// A question to the user.
    AskUser,
    /// The use of a skill.
    Skill,
    /// A search for skills.
    SkillSearch,
    /// A file of a skill.
    SkillReadFile,
    /// A script of a skill.
    SkillRunScript,
    /// A child with work of its own; metier has none by this name.
    Task,
    /// A record for later.
    MemorySave,
    /// Records from before.
    MemorySearch,
}

/// One tool and everything it is called.
struct Row {
    tool: Tool,
    /// The same tool by every name; the first is the one metier says.
    spellings: &'static [&'static str],
    /// Other tools of the same kind, for advice only.
    kin: &'static [&'static str],
}

const fn row(tool: Tool, spellings: &'static [&'static str], kin: &'static [&'static str]) -> Row {
    Row { tool, spellings, kin }
}

static TABLE: &[Row] = &[
    row(
        Tool::Bash,
        &["Bash", "bash", "exec", "shell", "Shell", "run_command_line"],
        &[
            "BashOutput",
            "run_shell_command",
            "run_terminal_cmd",
            "runInTerminal",
            "terminal",
            "execute",
            "PowerShell",
        ],
    ),
    row(Tool::Read, &["Read", "read", "read_file", "file_read", "view"], &["NotebookRead"]),
    row(Tool::Write, &["Write", "write", "write_file", "file_write"], &["create_file"]),
    row(
        Tool::Edit,
        &["Edit", "edit", "edit_file", "file_edit"],
        &["MultiEdit", "str_replace", "apply_patch", "NotebookEdit"],
    ),
    row(Tool::Grep, &["Grep", "grep", "search_files"], &[]),
    row(Tool::Glob, &["Glob", "glob", "file_glob"], &[]),
    row(Tool::WebFetch, &["WebFetch", "web_fetch", "fetch"], &[]),
    row(Tool::WebSearch, &["WebSearch", "web_search"], &[]),
    row(Tool::AskUser, &["ask_user", "AskUserQuestion"], &[]),
    row(Tool::Skill, &["Skill", "skill_use", "load_skill", "activate_skill"], &[]),
    row(Tool::SkillSearch, &["skill_search", "list_skills"], &[]),
    row(Tool::SkillReadFile, &["skill_read_file", "load_skill_resource", "load_skill_resources"], &[]),
    row(Tool::SkillRunScript, &["skill_run_script", "run_skill_script"], &[]),
    row(Tool::Task, &["Task", "Agent"], &[]),
    row(Tool::MemorySave, &["memory_save"], &[]),
    row(Tool::MemorySearch, &["memory_search"], &[]),
];

/// The tools that Claude Code documents, which is the client whose names public skills and settings use.
pub const CLAUDE_CODE_TOOLS: &[&str] = &[
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];

impl Tool {
    /// Every tool, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.tool)
    }

    /// The tool with this name, in any client's spelling. Names are compared exactly: `READ` is no tool.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.spellings.contains(&name)).map(|row| row.tool)
    }

    /// The tool of the same kind: [`Tool::named`], and tools that only resemble one. For advice, never for a permission.
    pub fn kin(name: &str) -> Option<Self> {
        Self::named(name).or_else(|| TABLE.iter().find(|row| row.kin.contains(&name)).map(|row| row.tool))
    }

    /// The name metier says.
    pub fn name(self) -> &'static str {
        self.spellings().first().copied().unwrap_or_default()
    }

    /// Every name of this very tool.
    pub fn spellings(self) -> &'static [&'static str] {
        TABLE.iter().find(|row| row.tool == self).map_or(&[], |row| row.spellings)
    }

    /// Whether metier itself has the tool. The others are names that an MCP server may fill.
    pub const fn is_built_in(self) -> bool {
        !matches!(self, Self::WebSearch | Self::Task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_names_the_same_tool() {
        let table: &[(&str, &[&str])] = &[
            ("Bash", &["Bash", "bash", "exec", "shell", "run_command_line"]),
            ("Read", &["Read", "read_file", "file_read", "view"]),
            ("Write", &["Write", "write_file", "file_write"]),
            ("Edit", &["Edit", "edit_file", "file_edit"]),
            ("Grep", &["Grep", "grep", "search_files"]),
            ("Glob", &["Glob", "glob", "file_glob"]),
            ("WebFetch", &["WebFetch", "web_fetch", "fetch"]),
            ("Skill", &["Skill", "skill_use", "load_skill", "activate_skill"]),
            ("ask_user", &["ask_user", "AskUserQuestion"]),
        ];
        for (name, spellings) in table {
            for spelling in *spellings {
                assert_eq!(Tool::named(spelling).map(Tool::name), Some(*name), "{spelling}");
            }
        }
    }

    #[test]
    fn a_tool_that_only_resembles_another_is_kin_and_not_the_same() {
        for (name, kin) in [("BashOutput", Tool::Bash), ("PowerShell", Tool::Bash), ("MultiEdit", Tool::Edit)]
        {
            assert_eq!((Tool::named(name), Tool::kin(name)), (None, Some(kin)), "{name}");
        }
        assert_eq!((Tool::named("BASH"), Tool::kin("jq")), (None, None));
    }

    #[test]
    fn no_name_stands_for_two_tools() {
        let mut names: Vec<&str> =
            TABLE.iter().flat_map(|row| row.spellings.iter().chain(row.kin)).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(Tool::all().count(), TABLE.len());
    }
}

//! The formats of definition files, told by path and name.

use std::path::Path;

/// The suffix of a crew file.
const CREW_SUFFIX: &str = ".skilled_crew.yaml";

/// agentmd keeps what an agent remembers beside its file.
const MEMORY_SUFFIX: &str = ".memory.md";

/// Files for people that lie beside agents everywhere. They define none.
const FOR_PEOPLE: [&str; 4] = ["README.md", "AGENTS.md", "CLAUDE.md", "CHANGELOG.md"];

/// The format of a definition file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionFormat {
    /// metier's own: Markdown with frontmatter, anywhere.
    Agent,
    /// The same in agentmd's places, `agents/` and `workspace/agents/`, where an agent that names no skills has none.
    AgentMd,
    /// `.claude/agents/*.md`.
    Claude,
    /// `*.skilled_crew.yaml`.
    Crew,
}

impl DefinitionFormat {
    /// The format of a file, by its path in the project (or anywhere else, without one).
    pub fn of(file: &Path, project: Option<&Path>) -> Option<Self> {
        let name = file.file_name()?.to_string_lossy();
        if name.ends_with(CREW_SUFFIX) {
            return Some(Self::Crew);
        }
        if file.extension().is_none_or(|ending| ending != "md") || name.ends_with(MEMORY_SUFFIX) {
            return None;
        }
        let folder = file.parent()?;
        let is_below = |folder: &Path, last: &str, before: &str| {
            folder.ancestors().any(|above| {
                above.file_name().is_some_and(|name| name == last)
                    && above.parent().and_then(Path::file_name).is_some_and(|name| name == before)
            })
        };
        if is_below(folder, "agents", ".claude") {
            return Some(Self::Claude);
        }
        let is_agentmd =
            |project: &Path| ["agents", "workspace/agents"].iter().any(|place| folder == project.join(place));
        Some(if project.is_some_and(is_agentmd) { Self::AgentMd } else { Self::Agent })
    }

    /// The same for a file that the user did not name: a README is no agent then.
    pub(crate) fn of_found(file: &Path, project: Option<&Path>) -> Option<Self> {
        let is_for_people = file
            .file_name()
            .is_some_and(|name| FOR_PEOPLE.iter().any(|known| name.eq_ignore_ascii_case(known)));
        if is_for_people { None } else { Self::of(file, project) }
    }

    /// The name of a file without its suffix.
    pub fn stem(file: &Path) -> String {
        let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let stem = name.strip_suffix(CREW_SUFFIX).or_else(|| name.strip_suffix(".md"));
        stem.unwrap_or(&name).to_owned()
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::AgentMd => "agentmd",
            Self::Claude => "claude",
            Self::Crew => "crew",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expect: Option<DefinitionFormat>) {
        assert_eq!(DefinitionFormat::of(Path::new(path), Some(Path::new("/p"))), expect, "{path}");
    }

    #[test]
    fn the_place_says_whose_file_it_is() {
        check("/p/agents/x.md", Some(DefinitionFormat::AgentMd));
        check("/p/workspace/agents/x.md", Some(DefinitionFormat::AgentMd));
        check("/p/other/agents/x.md", Some(DefinitionFormat::Agent));
        check("/p/.claude/agents/x.md", Some(DefinitionFormat::Claude));
        check("/home/ada/.claude/agents/team/x.md", Some(DefinitionFormat::Claude));
        check("/p/.metier/agents/x.md", Some(DefinitionFormat::Agent));
        check("/p/x.md", Some(DefinitionFormat::Agent));
        check("/p/team/todo.skilled_crew.yaml", Some(DefinitionFormat::Crew));
        check("/p/agents/x.memory.md", None);
        check("/p/agents/x.txt", None);
        check("/p/agents", None);
    }

    #[test]
    fn a_readme_is_an_agent_only_for_somebody_who_names_it() {
        let file = Path::new("/p/agents/README.md");
        assert_eq!(DefinitionFormat::of_found(file, Some(Path::new("/p"))), None);
        assert_eq!(DefinitionFormat::of(file, Some(Path::new("/p"))), Some(DefinitionFormat::AgentMd));
    }

    #[test]
    fn a_file_is_called_without_its_ending() {
        for (path, expect) in [("/p/x.md", "x"), ("/p/todo.skilled_crew.yaml", "todo"), ("/p/x.txt", "x.txt")]
        {
            assert_eq!(DefinitionFormat::stem(Path::new(path)), expect);
        }
    }
}

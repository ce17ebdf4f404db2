//! Every code that the definition of an agent can report, with the sentence for the reference page.

use metier_diagnostic::codes;

codes! {
    // The file itself.
    Error {
        AGENT_UNREADABLE "agent-unreadable" "The file is not there, is no file, is too large or cannot be read."
        AGENT_SYNTAX "agent-syntax" "The file is not YAML where it should be, so nothing of it is understood."
        AGENT_NO_FRONTMATTER "agent-no-frontmatter" "An agent's Markdown file begins with a frontmatter that says what it is called. Without one it is a text like any other."
        AGENT_DUPLICATE_KEY "agent-duplicate-key" "A key is written twice. Nobody can know which one is meant, so the agent does not start."
        AGENT_WRONG_TYPE "agent-wrong-type" "A key has a value of another kind than it takes."
        AGENT_LIMIT "agent-limit" "A limit is no whole number of at least 1, or an amount that is none. A limit that is not understood would be no limit, so the agent does not start."
        AGENT_MANNER "agent-disclosure-unknown" "`disclosure` takes `markdown`, `xml`, `eager` or `handoff`."
        AGENT_TOOLS_UNBALANCED "agent-tools-unbalanced" "A parenthesis in a list of tools has no counterpart, so what the list means to allow is unknown."
    }
    Warning {
        AGENT_UNKNOWN_KEY "agent-unknown-key" "metier knows no such key here; it has no effect. In a crew file it is an error, as its own system has it."
        AGENT_NAME "agent-name" "An agent has no name of its own, or one that cannot be typed easily. It is found by the name of its file."
        AGENT_DESCRIPTION "agent-description-missing" "The agent does not say what it is for, so nobody can choose it by that."
        AGENT_TOOL_UNKNOWN "agent-tool-unknown" "metier has no such tool, and no server is known that has one. The name is kept and can never match."
        AGENT_MODE_IGNORED "agent-mode-ignored" "A file can ask for more questions than usual, never for fewer: nobody but the user says that nothing is asked."
        AGENT_ENDPOINT_IGNORED "agent-endpoint-ignored" "A file names the address of a model. Addresses are taken from the user's own configuration only, so that no file can send a key elsewhere."
        AGENT_TEXT_NOT_EXPANDED "agent-text-not-expanded" "An agent's text has an injected command. The texts of agents are given to the model as they are; only skills are expanded."
    }
    Info {
        AGENT_KEY_INERT "agent-key-inert" "A key that other programs act on and metier does not; the message says why, or what does the same here."
    }
    // What it refers to.
    Error {
        AGENT_SKILL_MISSING "agent-skill-missing" "There is no skill of that name."
        AGENT_SKILL_BROKEN "agent-skill-broken" "The file of the skill does not load."
        AGENT_SKILL_UNUSABLE "agent-skill-unusable" "The skill is there and may not be used: it is off, disabled, or in a project that is not trusted."
        AGENT_SKILL_AMBIGUOUS "agent-skill-ambiguous" "Several skills are meant equally."
        AGENT_SKILL_VERSION "agent-skill-version" "The skill is there, in none of the versions that are asked for."
        AGENT_SKILL_REFERENCE "agent-skill-reference" "What is written is no reference to a skill: it is a path, has no name, or asks for a version that is none. A path could reach any folder, so a skill is referred to by its name."
        AGENT_SKILL_DUPLICATE "agent-skill-duplicate" "The same skill is named twice for one agent."
        AGENT_SKILL_OTHER_NAME "agent-skill-other-name" "A crew file calls a skill otherwise than its SKILL.md does. One of the two is a mistake, and work would go to the wrong skill."
        AGENT_SKILL_SHADOWED "agent-skill-shadowed" "Another skill of the same name stands first, so the one in the named folder would not be used."
        AGENT_FOLDER_MISSING "agent-folder-missing" "A crew file names a skill folder that is not there, or is no folder with a SKILL.md."
        AGENT_FILE_MISSING "agent-file-missing" "A file that the definition names is not there or cannot be read."
        AGENT_PATH_OUTSIDE "agent-path-outside" "A path leads out of the project. The text would go to a model, so a definition reads nothing but its own project's files."
        AGENT_MODEL_UNKNOWN "agent-model-unknown" "The model is no name of `[models]` and no `provider/model` of a known provider."
        AGENT_ENTRY "agent-entry-unknown" "`entryPointAgent` names nobody of the crew."
        AGENT_NOBODY "agent-nobody" "A crew file has no agents, so there is nobody to speak to."
        AGENT_CONTAINER "agent-container" "`script_runtime` asks for a container and names no Dockerfile that is there."
        AGENT_COMMAND "agent-command" "A slash command has no description, no name that can be typed, or the name of another one."
        AGENT_SERVER "agent-server" "The file of an MCP server is not there or is not the JSON that describes one."
    }
    Warning {
        AGENT_MODEL_FOREIGN "agent-model-foreign" "A model is named as another program names its own. metier asks the model of the conversation; name an alias in `[models]` to choose."
        AGENT_SERVER_UNKNOWN "agent-server-unknown" "No configuration knows a server of that name, so its tools are missing."
        AGENT_VERSION "agent-version" "The crew file is written for another version of its form than 1.0. What is understood counts."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_there_once_and_says_what_it_is_about() {
        let mut names: Vec<&str> = ALL.iter().map(|code| code.name()).collect();
        assert!(names.iter().all(|name| name.starts_with("agent-")), "{names:?}");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

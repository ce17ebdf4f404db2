//! What the directory tokens in a tool list stand for.

use crate::shell::quote;
use metier_skill::Tool;

/// The folders that tokens such as `${SKILL_DIR}` mean. One that is not known stays as it is, and a pattern with it
/// never matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// The skill's own folder.
    pub skill: Option<String>,
    /// The folder of the plugin it belongs to.
    pub plugin: Option<String>,
    /// The skill's private folder.
    pub data: Option<String>,
    /// The private folder it shares with its plugin or crew.
    pub shared_data: Option<String>,
    /// The project.
    pub project: Option<String>,
}

impl Folders {
    /// A skill's folder, and nothing else known.
    pub fn of_skill(folder: &str) -> Self {
        Self { skill: Some(folder.to_owned()), ..Self::default() }
    }

    fn tokens(&self) -> [(&'static str, Option<&String>); 10] {
        let shared = self.shared_data.as_ref().or(self.data.as_ref());
        [
            ("${CLAUDE_SKILL_DIR}", self.skill.as_ref()),
            ("${CLAUDE_SKILL_ROOT}", self.skill.as_ref()),
            ("{{SKILL_DIR}}", self.skill.as_ref()),
            ("${SKILL_DIR}", self.skill.as_ref()),
            ("{baseDir}", self.skill.as_ref()),
            ("${CLAUDE_PLUGIN_ROOT}", self.plugin.as_ref()),
            ("${SKILL_DATA}", self.data.as_ref()),
            ("${CLAUDE_PLUGIN_DATA}", shared),
            ("${CLAUDE_PROJECT_DIR}", self.project.as_ref()),
            ("${PROJECT_DIR}", self.project.as_ref()),
        ]
    }

    /// A pattern with its tokens filled in, once: what is filled in is not looked at again. In a command a folder is
    /// one word whatever is in its name, in a glob it is itself.
    pub(crate) fn expand(&self, tool: &str, text: &str) -> String {
        let tokens = self.tokens();
        let is_command = Tool::named(tool) == Some(Tool::Bash);
        let is_quoted = text.contains(['"', '\'']);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let found =
                tokens.iter().find_map(|(token, folder)| Some((rest.strip_prefix(token)?, (*folder)?)));
            if let Some((behind, folder)) = found {
                match is_command {
                    true if is_quoted => out.push_str(folder),
                    true => out.push_str(&quote(folder)),
                    false => out.push_str(&globset::escape(folder)),
                }
                rest = behind;
            } else {
                out.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_the_skill_is_its_folder_and_unknown_ones_stay() {
        let folders = Folders::of_skill("/s/pdf");
        for token in
            ["${SKILL_DIR}", "${CLAUDE_SKILL_DIR}", "${CLAUDE_SKILL_ROOT}", "{baseDir}", "{{SKILL_DIR}}"]
        {
            assert_eq!(
                folders.expand("Bash", &format!("python {token}/a.py:*")),
                "python /s/pdf/a.py:*",
                "{token}"
            );
        }
        assert_eq!(
            folders.expand("Bash", "${CLAUDE_PLUGIN_ROOT}/x ${HOME}"),
            "${CLAUDE_PLUGIN_ROOT}/x ${HOME}"
        );
    }

    #[test]
    fn a_folder_is_one_word_in_a_command_and_itself_in_a_glob() {
        let folders = Folders::of_skill("/s/my [pdf]");
        assert_eq!(folders.expand("Bash", "sh ${SKILL_DIR}/a.sh"), "sh '/s/my [pdf]'/a.sh");
        assert_eq!(folders.expand("Bash", "sh \"${SKILL_DIR}/a.sh\""), "sh \"/s/my [pdf]/a.sh\"");
        assert_eq!(folders.expand("Read", "${SKILL_DIR}/**"), "/s/my [[]pdf[]]/**");
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let folders = Folders {
            skill: Some("${PROJECT_DIR}".to_owned()),
            project: Some("/p".to_owned()),
            ..Folders::default()
        };
        assert_eq!(
            folders.expand("Read", "${SKILL_DIR}").replace("[{]", "{").replace("[}]", "}"),
            "${PROJECT_DIR}"
        );
    }
}

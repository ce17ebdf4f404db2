//! What a skill can do beyond being read: scripts, injected commands, hooks, tools, needs.
//!
//! Whoever trusts a project trusts these, and a change in them asks again. The text of a skill is not among them: people
//! edit it all day, and a model that reads it is held by the gate and the sandbox. Reading all this takes the whole
//! folder, so it is done for trust, `show`, `explain` and `doctor`, never for a listing.

use crate::document::SkillFile;
use crate::shown::one_line;
use metier_files::{Error, FileDigest, LeftOut, ListBounds, Listed, SkillDir};
use metier_skill::{Manifest, ToolPattern, injected_commands};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The largest script whose bytes are compared. Larger ones are programs; one that cannot be compared always counts as
/// changed, since it cannot be known that it has not.
const MAX_SCRIPT: u64 = 64 * 1024 * 1024;

/// Characters of a command that are shown. What is compared is never cut.
const MAX_SHOWN: usize = 200;

/// Names by which a file is known to be run, wherever in the folder it lies and whether or not it may be executed.
const SCRIPT_ENDINGS: [&str; 14] = [
    ".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat",
];

/// What a skill can do. Two are equal when nothing would run differently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Everything below `scripts/` and every other file that is a script or may be executed, by path.
    pub scripts: BTreeMap<String, Script>,
    /// The injected commands of the body, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// `hooks`, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<String>,
    /// `allowed-tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// `tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// What it asks for beyond the default containment, each as `host example.org`, `write docs/**`, `env TOKEN`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
}

/// A script: what it is made of and whether it may be executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The digest of its bytes, or why there is none.
    pub digest: String,
    /// Whether anybody may execute it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

/// What stands for the digest of something that could not be read.
const UNREADABLE: &str = "unreadable: ";

impl Script {
    fn is_known(&self) -> bool {
        !self.digest.starts_with(UNREADABLE)
    }
}

impl Capabilities {
    /// Reads what a skill can do from its folder and its file.
    pub fn of(folder: &SkillDir, file: &SkillFile) -> Result<Self, Error> {
        let listing = folder.list(ListBounds::default())?;
        let mut scripts = BTreeMap::new();
        for listed in listing.files.iter().filter(|listed| is_script(listed)) {
            scripts.insert(listed.path.to_string(), script(folder, listed));
        }
        for left in listing.left_out.iter().filter(|left| below_scripts(left)) {
            let digest = format!("{UNREADABLE}{}", left.reason);
            scripts.insert(left.path.to_string(), Script { digest, executable: false });
        }
        if !listing.extent.is_whole() {
            let digest = format!("{UNREADABLE}the folder holds more files than are looked at");
            scripts.insert(".".to_owned(), Script { digest, executable: false });
        }
        let mut capabilities = Self { scripts, ..Self::default() };
        if let Some(manifest) = file.manifest() {
            capabilities.read_manifest(manifest);
        }
        capabilities.commands =
            injected_commands(file.body()).into_iter().map(|found| found.command).collect();
        Ok(capabilities)
    }

    /// What stands for a folder that could not be read.
    pub fn unreadable(error: &Error) -> Self {
        let script = Script { digest: format!("{UNREADABLE}{error}"), executable: false };
        Self { scripts: [(".".to_owned(), script)].into(), ..Self::default() }
    }

    /// Whether there is nothing but text.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is new or other in `now`. What is gone cannot do anything any more and is no change, with one exception: a
    /// tool list that is gone no longer restricts.
    pub fn changes(&self, now: &Self) -> Vec<CapabilityChange> {
        let mut changes = Vec::new();
        for (path, script) in &now.scripts {
            match self.scripts.get(path) {
                None => changes.push(CapabilityChange::ScriptNew(path.clone())),
                Some(before) if before != script || !script.is_known() => {
                    changes.push(CapabilityChange::ScriptChanged(path.clone()));
                }
                Some(_) => {}
            }
        }
        let new = now.commands.iter().filter(|command| !self.commands.contains(command));
        changes.extend(new.map(|command| CapabilityChange::CommandNew(command.clone())));
        if now.hooks.is_some() && now.hooks != self.hooks {
            changes.push(CapabilityChange::Hooks);
        }
        for (key, before, after) in
            [("allowed-tools", &self.allowed_tools, &now.allowed_tools), ("tools", &self.tools, &now.tools)]
        {
            if before != after {
                let (before, after) = (before.clone(), after.clone());
                changes.push(CapabilityChange::Tools { key, before, after });
            }
        }
        let new = now.needs.iter().filter(|need| !self.needs.contains(need));
        changes.extend(new.map(|need| CapabilityChange::NeedNew(need.clone())));
        changes
    }

    fn read_manifest(&mut self, manifest: &Manifest) {
        let list = |patterns: &[ToolPattern]| patterns.iter().map(ToString::to_string).collect();
        let more = &manifest.more;
        self.allowed_tools = more.allowed_tools.as_ref().map(|tools| list(&tools.value));
        self.tools = more.tools.as_ref().map(|tools| list(&tools.value));
        // A tree of texts always has a JSON form.
        self.hooks = more.hooks.as_ref().and_then(|hooks| serde_json::to_string(hooks).ok());
        if let Some(needs) = &more.needs {
            let named = |what: &str, values: &[String]| {
                values.iter().map(|value| format!("{what} {value}")).collect::<Vec<_>>()
            };
            self.needs.extend(named("host", &needs.hosts));
            self.needs.extend(named("write", &needs.write));
            self.needs.extend(named("env", &needs.env));
            self.needs.extend(needs.seconds.map(|seconds| format!("seconds {seconds}")));
        }
    }
}

fn is_script(listed: &Listed) -> bool {
    let path = listed.path.to_string();
    let is_document = path.eq_ignore_ascii_case("SKILL.md") || path == ".source.json";
    let named = SCRIPT_ENDINGS.iter().any(|ending| path.to_ascii_lowercase().ends_with(ending));
    !is_document && (listed.executable || named || path.starts_with("scripts/"))
}

fn below_scripts(left: &LeftOut) -> bool {
    let path = left.path.to_string();
    path == "scripts" || path.starts_with("scripts/")
}

fn script(folder: &SkillDir, listed: &Listed) -> Script {
    let digest = match folder.read(&listed.path, MAX_SCRIPT) {
        Ok(bytes) => FileDigest::of(&bytes).to_string(),
        Err(error) => format!("{UNREADABLE}{error}"),
    };
    Script { digest, executable: listed.executable }
}

/// One way in which a skill can do more than when it was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CapabilityChange {
    /// A script that was not there.
    ScriptNew(String),
    /// A script with other bytes, or that may be executed now.
    ScriptChanged(String),
    /// An injected command that was not there.
    CommandNew(String),
    /// Other hooks.
    Hooks,
    /// Another tool list.
    Tools {
        /// `allowed-tools` or `tools`.
        key: &'static str,
        /// What it was.
        before: Option<Vec<String>>,
        /// What it is.
        after: Option<Vec<String>>,
    },
    /// Something it did not ask for.
    NeedNew(String),
}

impl fmt::Display for CapabilityChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |tools: &Option<Vec<String>>| match tools.as_deref() {
            None => "not given".to_owned(),
            Some([]) => "none".to_owned(),
            Some(tools) => format!("`{}`", tools.join(" ")),
        };
        match self {
            Self::ScriptNew(path) => write!(f, "`{path}` is new"),
            Self::ScriptChanged(path) => write!(f, "`{path}` changed"),
            Self::CommandNew(command) => {
                write!(f, "new injected command `{}`", one_line(command, MAX_SHOWN))
            }
            Self::Hooks => f.write_str("`hooks` changed"),
            Self::Tools { key, before, after } => {
                write!(f, "`{key}` changed from {} to {}", list(before), list(after))
            }
            Self::NeedNew(need) => write!(f, "it now asks for {need}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(digest: &str) -> Script {
        Script { digest: digest.to_owned(), executable: false }
    }

    fn shown(before: &Capabilities, now: &Capabilities) -> Vec<String> {
        before.changes(now).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_what_is_new_or_other_is_a_change() {
        let before = Capabilities {
            scripts: [("a.sh".to_owned(), script("1")), ("b.sh".to_owned(), script("2"))].into(),
            commands: vec!["date".to_owned(), "id".to_owned()],
            hooks: Some("{}".to_owned()),
            allowed_tools: Some(vec!["Read".to_owned()]),
            tools: None,
            needs: vec!["host a".to_owned()],
        };
        assert!(shown(&before, &before).is_empty());

        let mut less = before.clone();
        less.scripts.remove("a.sh");
        less.commands.pop();
        less.hooks = None;
        less.needs.clear();
        assert!(shown(&before, &less).is_empty());

        let mut more = before.clone();
        more.scripts.insert("a.sh".to_owned(), Script { executable: true, ..script("1") });
        more.scripts.insert("c.sh".to_owned(), script("3"));
        more.commands.push("curl\nx".to_owned());
        more.hooks = Some("{1}".to_owned());
        more.allowed_tools = None;
        more.tools = Some(Vec::new());
        more.needs.push("env TOKEN".to_owned());
        let expected = [
            "`a.sh` changed",
            "`c.sh` is new",
            "new injected command `curl x`",
            "`hooks` changed",
            "`allowed-tools` changed from `Read` to not given",
            "`tools` changed from not given to none",
            "it now asks for env TOKEN",
        ];
        assert_eq!(shown(&before, &more), expected);
    }

    #[test]
    fn what_cannot_be_compared_counts_as_changed() {
        let same = Capabilities {
            scripts: [("scripts/x".to_owned(), script("unreadable: not a regular file"))].into(),
            ..Capabilities::default()
        };
        assert_eq!(shown(&same, &same), ["`scripts/x` changed"]);
    }
}

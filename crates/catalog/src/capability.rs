//! What a skill can do beyond being read: code, injected commands, hooks, tools, needs, links.
//!
//! Whoever trusts a project trusts these, and a change in them asks again. The text of a skill is not among them: people
//! edit it all day, and a model that reads it is held by the gate and the sandbox. Reading all this takes the whole
//! folder, so it is done for trust, `show`, `explain` and `doctor`, never for a listing.

use crate::code_file;
use crate::document::SkillFile;
use crate::trust::{EntryDigest, exact};
use metier_files::{Error, FileDigest, LeftOut, LeftOutReason, ListBounds, Listed, SkillDir};
use metier_skill::{Manifest, Spanned, ToolPattern, injected_commands};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The largest script whose bytes are compared. Larger ones are programs; one that cannot be compared always counts as
/// changed, since it cannot be known that it has not.
const MAX_SCRIPT: u64 = 64 * 1024 * 1024;

/// What a skill can do. Two are equal when nothing would run differently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Every file that can be run or loaded as code, by path: everything but documents.
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
    /// `disallowed-tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// What it asks for beyond the default containment, each as `host example.org`, `write docs/**`, `env TOKEN`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The symbolic links in its folder, by path, with what is written in them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// `shell`, which runs the injected commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `agent`, which runs it in a child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
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
    pub(crate) fn is_known(&self) -> bool {
        !self.digest.starts_with(UNREADABLE)
    }

    /// What is compared: the bytes, and whether it may be executed.
    pub(crate) fn entry_digest(&self) -> EntryDigest {
        EntryDigest::of_parts(&[self.digest.as_bytes(), &[u8::from(self.executable)]])
    }
}

impl Capabilities {
    /// Reads what a skill can do from its folder and its file.
    pub fn of(folder: &SkillDir, file: &SkillFile) -> Result<Self, Error> {
        let listing = folder.list(ListBounds::default())?;
        let mut scripts = BTreeMap::new();
        for listed in listing.files.iter().filter(|listed| code_file::is_code(folder, listed)) {
            scripts.insert(exact(listed.path.as_path().as_os_str()), script(folder, listed));
        }
        // A pipe or a device is no code, and what a link leads to is told by the link.
        let is_closed = |left: &&LeftOut| matches!(left.reason, LeftOutReason::Unreadable(_));
        for left in listing.left_out.iter().filter(is_closed) {
            let digest = format!("{UNREADABLE}{}", left.reason);
            scripts.insert(exact(left.path.as_path().as_os_str()), Script { digest, executable: false });
        }
        if !listing.extent.is_whole() {
            let digest = format!("{UNREADABLE}the folder holds more files than are looked at");
            scripts.insert(".".to_owned(), Script { digest, executable: false });
        }
        let links = listing
            .links
            .iter()
            .map(|link| (exact(link.path.as_path().as_os_str()), exact(link.target.as_os_str())));
        let mut capabilities = Self { scripts, links: links.collect(), ..Self::default() };
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

    /// The lists of tools, each by its key.
    pub fn tool_lists(&self) -> [(&'static str, &Option<Vec<String>>); 3] {
        [
            ("allowed-tools", &self.allowed_tools),
            ("tools", &self.tools),
            ("disallowed-tools", &self.disallowed_tools),
        ]
    }

    pub(crate) fn tools_digest(&self, key: &str) -> Option<EntryDigest> {
        let (_, list) = self.tool_lists().into_iter().find(|(known, _)| *known == key)?;
        let parts: Vec<&[u8]> = list.as_ref()?.iter().map(String::as_bytes).collect();
        Some(EntryDigest::of_parts(&parts))
    }

    pub(crate) fn hooks_digest(&self) -> Option<EntryDigest> {
        self.hooks.as_deref().map(EntryDigest::of)
    }

    /// A command is what it says and the shell that it says it to.
    pub(crate) fn command_digest(&self, command: &str) -> EntryDigest {
        match &self.shell {
            None => EntryDigest::of(command),
            Some(shell) => EntryDigest::of_parts(&[command.as_bytes(), shell.as_bytes()]),
        }
    }

    fn read_manifest(&mut self, manifest: &Manifest) {
        let list = |patterns: &[ToolPattern]| patterns.iter().map(ToString::to_string).collect();
        let more = &manifest.more;
        self.allowed_tools = more.allowed_tools.as_ref().map(|tools| list(&tools.value));
        self.tools = more.tools.as_ref().map(|tools| list(&tools.value));
        self.disallowed_tools = more.disallowed_tools.as_ref().map(|tools| list(&tools.value));
        let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.clone());
        (self.shell, self.model, self.agent) = (text(&more.shell), text(&more.model), text(&more.agent));
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

fn script(folder: &SkillDir, listed: &Listed) -> Script {
    let digest = match folder.read(&listed.path, MAX_SCRIPT) {
        Ok(bytes) => FileDigest::of(&bytes).to_string(),
        Err(error) => format!("{UNREADABLE}{error}"),
    };
    Script { digest, executable: listed.executable }
}

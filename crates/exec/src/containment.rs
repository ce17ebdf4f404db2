//! The default containment of everything that runs for a skill.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use metier_files::Survey;
use metier_sandbox::{DataFolder, Limits, Profile, Project, ProjectAccess, StandIn};

use crate::requested_grants::RequestedGrants;
use crate::search_path::Toolbox;
use crate::skill_group::{SkillGroup, SkillGroupKind};

/// What a skill's processes see and may use up, from plain inputs.
///
/// The skill's folder, its plugin's and the project are read-only; the skill's data folder, the one that its plugin's
/// skills share and a scratch folder are writable; of the rest of the user's files only what the toolbox names is shown;
/// the only way out is a proxy.
#[derive(Clone, Debug)]
pub struct SkillContainment<'a> {
    /// The skill's folder, without links on the way.
    pub skill: &'a Path,
    /// The copy that is shown in the skill's place, where what runs has to be what was checked.
    pub copy: Option<&'a Path>,
    /// The project and what it holds, if there is one.
    pub project: Option<&'a Survey>,
    /// The skill's data folder, which has to be there.
    pub data: Option<&'a Path>,
    /// The plugin or crew that the skill belongs to: its folder, and the data folder that its skills share, both without
    /// links on the way and both there.
    pub plugin: Option<&'a SkillGroup>,
    /// Programs outside of the system's folders, and the search path inside.
    pub toolbox: &'a Toolbox,
    /// What may be used up.
    pub limits: Limits,
    /// Which session it is.
    pub session: &'a str,
    /// The language, such as `C.UTF-8`.
    pub language: &'a str,
    /// What is wanted beyond all that. Nothing of it is given before the gate has said yes.
    pub grants: &'a RequestedGrants,
    /// Where the process starts.
    pub start: StartDir<'a>,
}

/// Gives a profile the variables that are wanted: to be called when the gate has allowed them.
pub(crate) fn give_variables(profile: &mut Profile, grants: &RequestedGrants) {
    // A name that is a secret for one reader is one for all, so what is hidden from the output comes first.
    let secrets = grants.secrets().map(|(name, secret)| (name, secret.expose()));
    for (name, value) in secrets.chain(grants.texts()) {
        // What metier sets keeps its meaning: a script would write to wherever another value leads.
        if profile.environment.iter().any(|(known, _)| known == name.as_str()) {
            continue;
        }
        profile.environment.push((name.as_str().into(), value.into()));
    }
}

/// Where a process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartDir<'a> {
    /// In the skill's folder: command lines, and scripts of the systems that do so.
    Skill,
    /// In the project, where there is one: injected commands, the agent's own.
    Project,
    /// In this folder of the project, such as the user's current one; in the skill's where it is not in the project.
    At(&'a Path),
}

/// The language where nobody says another: every system has it, and text stays UTF-8.
pub const LANGUAGE: &str = "C.UTF-8";

/// Keeps git from changes that no one asked for. Without locks `git status` does not rewrite `.git/index` only to speed up the next
/// one. Through the layer, files have other inodes, owners and change times than the index has, and `git reset` would write all of
/// them again; so it compares size and time of modification. The folder of a skill in the project is a mount of its own, and git looks
/// for its repository above.
pub(crate) const GIT_ENVIRONMENT: [(&str, &str); 7] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.checkStat"),
    ("GIT_CONFIG_VALUE_0", "minimal"),
    ("GIT_CONFIG_KEY_1", "core.trustctime"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// The project as every process sees it at first: read-only, without what looks like a secret.
pub(crate) fn read_only(survey: &Survey) -> Project {
    Project {
        access: ProjectAccess::ReadOnly,
        folder: survey.project().to_owned(),
        writable: Vec::new(),
        masked: survey.masked(),
        protected: Vec::new(),
    }
}

/// The variables that processes of skills and of the agent have alike; what is `None` is left out.
pub(crate) fn environment(
    skill: Option<&Path>,
    data: Option<&Path>,
    project: Option<&Survey>,
    session: &str,
    toolbox: &Toolbox,
    language: &str,
) -> Vec<(OsString, OsString)> {
    let folders = [("SKILL_DIR", skill), ("SKILL_DATA", data), ("PROJECT_DIR", project.map(Survey::project))];
    let folders = folders.into_iter().filter_map(|(name, folder)| Some((name, folder?.as_os_str())));
    let path = ("PATH", toolbox.path.as_os_str());
    let others = [("SESSION_ID", OsStr::new(session)), path, ("LANG", OsStr::new(language))];
    let git = GIT_ENVIRONMENT.into_iter().map(|(name, value)| (name, OsStr::new(value)));
    folders.chain(others).chain(git).map(|(name, value)| (name.into(), value.to_owned())).collect()
}

impl<'a> SkillContainment<'a> {
    /// The default profile: nothing of what is wanted, no way out.
    pub fn profile(&self) -> Profile {
        let stand_in = |by: &Path| StandIn { at: self.skill.to_owned(), by: by.to_owned() };
        Profile {
            readable: self.readable(),
            stand_ins: self.copy.map(stand_in).into_iter().collect(),
            project: self.project.map(read_only),
            data: self
                .data
                .into_iter()
                .chain(self.shared())
                .map(|data| DataFolder::new(data.to_owned()))
                .collect(),
            programs: self.toolbox.shown.clone(),
            environment: self.environment(),
            limits: self.limits.clone(),
            ..Profile::new(self.start().to_owned())
        }
    }

    /// The same for a means of containing that cannot show a copy in the skill's place: there it is seen where it lies.
    pub(crate) fn at_copy(&self) -> Option<Self> {
        self.copy.map(|copy| Self { skill: copy, copy: None, ..self.clone() })
    }

    /// The folder in the project that the skills of a crew write.
    pub(crate) fn crew_data(&self) -> Option<&'a Path> {
        match &self.plugin?.kind {
            SkillGroupKind::Crew { data } => Some(data),
            SkillGroupKind::Plugin => None,
        }
    }

    /// The folder that the skills of a plugin share.
    pub(crate) fn shared(&self) -> Option<&Path> {
        self.plugin.and_then(|plugin| plugin.data.as_deref())
    }

    fn readable(&self) -> Vec<PathBuf> {
        let mut readable = Vec::new();
        if self.copy.is_none() {
            readable.push(self.skill.to_owned());
        }
        if let Some(SkillGroup { folder, .. }) = self.plugin {
            // Inside the project it is shown already, and there without what looks like a secret.
            let is_shown = self.project.is_some_and(|survey| folder.starts_with(survey.project()));
            if !is_shown {
                readable.push(folder.to_owned());
            }
        }
        readable
    }

    /// Where the process starts.
    pub(crate) fn start(&self) -> &'a Path {
        match (self.start, self.project) {
            (StartDir::Project, Some(survey)) => survey.project(),
            (StartDir::At(folder), Some(survey)) if folder.starts_with(survey.project()) => folder,
            _ => self.skill,
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let Self { skill, data, project, session, toolbox, language, .. } = *self;
        let mut environment = environment(Some(skill), data, project, session, toolbox, language);
        // What scripts of plugins expect beside. Elsewhere there is neither: the environment is a closed list, and nobody outside of a
        // plugin counts on these.
        if let Some(SkillGroup { folder, kind: SkillGroupKind::Plugin, .. }) = self.plugin {
            environment.push(("CLAUDE_PLUGIN_ROOT".into(), folder.into()));
        }
        environment.extend(self.shared().map(|shared| ("CLAUDE_PLUGIN_DATA".into(), shared.into())));
        environment
    }
}

#[cfg(test)]
mod tests {
    /// The whole environment of a skill's process, but for what is wanted and the proxy's variables. `TMPDIR` and `HOME` are the
    /// sandbox's, which makes the folders they name for each call. No secret can have one of these names.
    const ENVIRONMENT: &[&str] = &[
        "SKILL_DIR",
        "SKILL_DATA",
        "PROJECT_DIR",
        "SESSION_ID",
        "TMPDIR",
        "PATH",
        "LANG",
        "HOME",
        GIT_ENVIRONMENT[0].0,
        GIT_ENVIRONMENT[1].0,
        GIT_ENVIRONMENT[2].0,
        GIT_ENVIRONMENT[3].0,
        GIT_ENVIRONMENT[4].0,
        GIT_ENVIRONMENT[5].0,
        GIT_ENVIRONMENT[6].0,
    ];

    use metier_files::SurveyBounds;
    use metier_testkit::Workspace;

    use super::*;

    fn names(profile: &Profile) -> Vec<String> {
        profile.environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_default_shows_the_skill_the_project_and_the_tools_and_nothing_else() {
        let workspace = Workspace::new()
            .skill("skills/greet", "Greets.")
            .file("project/.env", "A=1")
            .file("project/.git/config", "")
            .dir("data");
        let survey = Survey::of(&workspace.join("project"), SurveyBounds::default()).unwrap();
        let toolbox = Toolbox {
            shown: vec!["/home/ada/.nvm/versions/node/v20".into()],
            path: "/x/bin:/usr/bin".into(),
            ..Toolbox::default()
        };
        let (skill, data) = (workspace.join("skills/greet"), workspace.join("data"));
        let grants = RequestedGrants::default();
        let mut containment = SkillContainment {
            skill: &skill,
            copy: None,
            project: Some(&survey),
            data: Some(&data),
            plugin: None,
            toolbox: &toolbox,
            limits: Limits::default(),
            session: "s-1",
            language: LANGUAGE,
            grants: &grants,
            start: StartDir::Skill,
        };
        let profile = containment.profile();
        assert_eq!((&profile.readable, profile.writable.len()), (&vec![skill.clone()], 0));
        assert_eq!(profile.data, [DataFolder::new(data.clone())]);
        assert_eq!(profile.working_directory, skill);
        assert_eq!(profile.programs, toolbox.shown);
        let project = profile.project.as_ref().unwrap();
        assert_eq!(project.masked, [workspace.join("project/.env")]);
        assert!(project.writable.is_empty() && project.protected.is_empty());
        assert_eq!(
            names(&profile),
            [
                "SKILL_DIR",
                "SKILL_DATA",
                "PROJECT_DIR",
                "SESSION_ID",
                "PATH",
                "LANG",
                "GIT_OPTIONAL_LOCKS",
                "GIT_DISCOVERY_ACROSS_FILESYSTEM",
                "GIT_CONFIG_COUNT",
                "GIT_CONFIG_KEY_0",
                "GIT_CONFIG_VALUE_0",
                "GIT_CONFIG_KEY_1",
                "GIT_CONFIG_VALUE_1"
            ]
        );
        let path = profile.environment.iter().find(|(name, _)| name == "PATH").unwrap();
        assert_eq!(path.1, "/x/bin:/usr/bin");

        containment.start = StartDir::Project;
        assert_eq!(containment.profile().working_directory, workspace.join("project"));
        let (inside, outside) = (workspace.join("project/docs"), workspace.join("data"));
        for (folder, expect) in [(&inside, &inside), (&outside, &skill)] {
            containment.start = StartDir::At(folder);
            assert_eq!(&containment.profile().working_directory, expect);
        }
        containment.project = None;
        containment.data = None;
        let profile = containment.profile();
        assert_eq!(profile.working_directory, skill);
        assert_eq!(
            names(&profile),
            [
                "SKILL_DIR",
                "SESSION_ID",
                "PATH",
                "LANG",
                "GIT_OPTIONAL_LOCKS",
                "GIT_DISCOVERY_ACROSS_FILESYSTEM",
                "GIT_CONFIG_COUNT",
                "GIT_CONFIG_KEY_0",
                "GIT_CONFIG_VALUE_0",
                "GIT_CONFIG_KEY_1",
                "GIT_CONFIG_VALUE_1"
            ]
        );
    }

    #[test]
    fn a_secret_comes_only_once_it_is_allowed() {
        let (mut profile, mut grants) = (Profile::new("/s".into()), RequestedGrants::default());
        let secret = metier_secret::Secret::new("0123456789".into()).unwrap();
        grants.variable("API_KEY".parse().unwrap(), Some(secret));
        assert!(!names(&profile).contains(&"API_KEY".to_owned()));
        give_variables(&mut profile, &grants);
        assert!(names(&profile).contains(&"API_KEY".to_owned()));
    }

    #[test]
    fn a_plugin_is_readable_and_its_skills_share_a_folder() {
        let workspace = Workspace::new()
            .skill("plugin/skills/a", "A.")
            .dir("project/plugin")
            .dir("data/a")
            .dir("data/shared");
        let survey = Survey::of(&workspace.join("project"), SurveyBounds::default()).unwrap();
        let (skill, data) = (workspace.join("plugin/skills/a"), workspace.join("data/a"));
        let (outside, inside) = (workspace.join("plugin"), workspace.join("project/plugin"));
        let (shared, toolbox) = (workspace.join("data/shared"), Toolbox::default());
        let mut grants = RequestedGrants::default();
        let secret = metier_secret::Secret::new("0123456789".into()).unwrap();
        grants.variable("API_KEY".parse().unwrap(), Some(secret));
        for name in ENVIRONMENT.iter().chain(&["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"]) {
            assert!(name.parse::<metier_secret::SecretName>().is_err(), "{name} keeps its meaning");
        }
        let profile = |folder: &Path| {
            let kind = SkillGroupKind::Plugin;
            let plugin = SkillGroup { folder: folder.to_owned(), data: Some(shared.clone()), kind };
            let containment = SkillContainment {
                skill: &skill,
                copy: None,
                project: Some(&survey),
                data: Some(&data),
                plugin: Some(&plugin),
                toolbox: &toolbox,
                limits: Limits::default(),
                session: "",
                language: LANGUAGE,
                grants: &grants,
                start: StartDir::Skill,
            };
            let mut profile = containment.profile();
            give_variables(&mut profile, containment.grants);
            profile
        };
        let found = profile(&outside);
        assert_eq!(found.readable, [skill.clone(), outside.clone()]);
        assert_eq!(found.data, [data.clone(), shared.clone()].map(DataFolder::new));
        assert!(found.writable.is_empty(), "what is shared has a bound");
        let value = |name: &str| {
            let mut values = found.environment.iter().filter(|(known, _)| known == name);
            (values.next().map(|(_, value)| PathBuf::from(value)), values.count())
        };
        assert_eq!(value("SKILL_DATA"), (Some(data.clone()), 0));
        assert_eq!(value("CLAUDE_PLUGIN_ROOT"), (Some(outside.clone()), 0));
        assert_eq!(value("CLAUDE_PLUGIN_DATA"), (Some(shared.clone()), 0));
        // The project is shown with its secrets masked; a second look without that must not come beside it.
        assert_eq!(profile(&inside).readable.as_slice(), std::slice::from_ref(&skill));
    }

    #[test]
    fn no_secret_can_take_the_place_of_what_every_script_has() {
        for name in ENVIRONMENT {
            assert!(name.parse::<metier_secret::SecretName>().is_err(), "{name}");
        }
        for (name, _) in metier_proxy::proxy_variables(1) {
            assert!(name.to_str().unwrap().parse::<metier_secret::SecretName>().is_err(), "{name:?}");
        }
    }
}

//! The default containment of everything that runs for a skill.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_files::{Presence, Protected, Stamp, Survey, obeyed_by, real_path};
use metier_sandbox::{ChangeKind, Changes, DataFolder, Limits, Profile, Project, StandIn};

use crate::render::{Plugin, PluginKind};
use crate::search_path::Toolbox;
use crate::wants::Wants;
use crate::writing::Writing;

/// What a skill's processes see and may use up, from plain inputs.
///
/// The skill's folder, its plugin's and the project are read-only; the skill's data folder, the one that its plugin's
/// skills share and a scratch folder are writable; of the rest of the user's files only what the toolbox names is shown;
/// the only way out is a proxy.
#[derive(Clone, Debug)]
pub struct Containment<'a> {
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
    pub plugin: Option<Plugin<'a>>,
    /// Programs outside of the system's folders, and the search path inside.
    pub toolbox: &'a Toolbox,
    /// What may be used up.
    pub limits: Limits,
    /// Which session it is.
    pub session: &'a str,
    /// The language, such as `C.UTF-8`.
    pub language: &'a str,
    /// What is wanted beyond all that. Nothing of it is given before the gate has said yes.
    pub wants: &'a Wants,
    /// Where the process starts.
    pub start: Start,
}

/// Adds to a profile what is wanted: to be called when the gate has said yes to it.
pub(crate) fn widen(profile: &mut Profile, survey: Option<&Survey>, wants: &Wants, writing: &Writing) {
    if let (Some(project), Some(survey)) = (&mut profile.project, survey)
        && !writing.places.is_empty()
    {
        project.writable.clone_from(&writing.places);
        project.protected = protected(survey);
    }
    // A name that is a secret to anybody is one, so what is hidden from the output comes first.
    let secrets = wants.secrets().map(|(name, secret)| (name, secret.expose()));
    for (name, value) in secrets.chain(wants.texts()) {
        // What metier sets keeps its meaning: a script would write to wherever another value leads.
        if profile.environment.iter().any(|(known, _)| known == name.as_str()) {
            continue;
        }
        profile.environment.push((name.as_str().into(), value.into()));
    }
}

/// The places of a project that stay read-only, none of them in another.
fn protected(survey: &Survey) -> Vec<PathBuf> {
    let project = survey.project();
    let mut places: Vec<PathBuf> = Vec::new();
    for place in survey.protected() {
        match place.presence {
            Presence::Existing | Presence::Missing => places.push(place.path.clone()),
            // What a link leads to can be shown read-only, the link itself cannot.
            Presence::Link => {
                let target = real_path(&place.path).ok();
                places.extend(target.filter(|target| target.starts_with(project) && target != project));
            }
        }
    }
    places.sort();
    places.dedup();
    let all = places.clone();
    places.retain(|place| !all.iter().any(|other| other != place && place.starts_with(other)));
    places
}

/// What was at the protected places before a run.
///
/// Not every means of containing can keep a place from being made where there was none, nor the folder it lies in from
/// being moved away. What runs later must not come into being unseen, so it is looked at again.
#[derive(Debug)]
pub(crate) struct Remembered(Vec<(Protected, Option<Stamp>)>);

impl Remembered {
    /// Remembers what is at the protected places of a project.
    pub(crate) fn of(survey: &Survey) -> Self {
        Self(survey.protected().iter().map(|place| (place.clone(), Stamp::of(&place.path))).collect())
    }

    /// What is other now, a sentence each.
    pub(crate) fn changes(&self) -> Vec<String> {
        let mut changes = Vec::new();
        for (place, before) in &self.0 {
            let word = match (before, Stamp::of(&place.path)) {
                (before, now) if *before == now => continue,
                (None, _) => "made",
                (_, None) => "moved away",
                _ => "changed",
            };
            let (path, what) = (place.path.display(), place.what);
            changes
                .push(format!("`{path}` was {word} while this ran, and {what}: look at it before you go on"));
        }
        changes
    }

    /// What was made or changed at such a place deeper in the project, a sentence each. A repository or an agent's folder
    /// may be what the script was asked for, so it stays; that it is there is not kept quiet.
    pub(crate) fn deeper(&self, changes: &Changes) -> Vec<String> {
        let is_known = |path: &Path| self.0.iter().any(|(place, _)| path.starts_with(&place.path));
        let mut named: Vec<(&Path, &str)> = Vec::new();
        let mut more = 0_usize;
        for change in changes.entries.iter().filter(|change| change.kind != ChangeKind::Removed) {
            let path = change.path.as_path();
            // What lies in a place that was named is told by it.
            let is_told = is_known(path) || named.iter().any(|(told, _)| path.starts_with(told));
            let is_head = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("HEAD"));
            let of_git = is_head.then_some("git may take its folder for a repository");
            match obeyed_by(path).or(of_git) {
                Some(what) if !is_told && named.len() < MOST_DEEPER => named.push((path, what)),
                Some(_) if !is_told => more += 1,
                _ => {}
            }
        }
        let told = named.iter().map(|(path, what)| {
            format!("`{}` is new or changed, and {what}: look at it before you go on", path.display())
        });
        let rest = (more > 0).then(|| format!("and {more} more places that are obeyed later"));
        told.chain(rest).collect()
    }
}

/// How many places deeper in the project are named; whoever makes more is told of by the first ones.
const MOST_DEEPER: usize = 5;

/// Where a process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// In the skill's folder: scripts, and command lines of the systems that do so.
    Skill,
    /// In the project, where there is one: injected commands, the agent's own.
    Project,
}

/// The language where nobody says another: every system has it, and text stays UTF-8.
pub const LANGUAGE: &str = "C.UTF-8";

/// The whole environment of a skill's process, but for what is wanted and the proxy's variables. `TMPDIR` and `HOME` are
/// the sandbox's, which makes the folders they name for each call. No secret can have one of these names.
pub const ENVIRONMENT: &[&str] =
    &["SKILL_DIR", "SKILL_DATA", "PROJECT_DIR", "SESSION_ID", "TMPDIR", "PATH", "LANG", "HOME"];

/// What scripts of plugins expect beside: the plugin's folder, and the folder that its skills share, which a crew's skills have,
/// too. Elsewhere there is neither: the environment is a closed list, and nobody outside of a plugin counts on these.
pub const PLUGIN_ENVIRONMENT: &[&str] = &["CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"];

impl<'a> Containment<'a> {
    /// The default profile: nothing of what is wanted, no way out.
    pub fn profile(&self) -> Profile {
        let project = self.project.map(|survey| Project {
            folder: survey.project().to_owned(),
            writable: Vec::new(),
            masked: survey.masked(),
            // Without anything writable there is nothing to protect, and each place costs a mount.
            protected: Vec::new(),
        });
        let stand_in = |by: &Path| StandIn { at: self.skill.to_owned(), by: by.to_owned() };
        Profile {
            readable: self.readable(),
            stand_ins: self.copy.map(stand_in).into_iter().collect(),
            project,
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
        match self.plugin?.kind {
            PluginKind::Crew { data } => Some(data),
            PluginKind::Plugin => None,
        }
    }

    /// The folder that the skills of a plugin share.
    pub(crate) fn shared(&self) -> Option<&Path> {
        self.plugin.and_then(|plugin| plugin.data)
    }

    fn readable(&self) -> Vec<PathBuf> {
        let mut readable = Vec::new();
        if self.copy.is_none() {
            readable.push(self.skill.to_owned());
        }
        if let Some(Plugin { folder, .. }) = self.plugin {
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
            (Start::Project, Some(survey)) => survey.project(),
            _ => self.skill,
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        let mut set = |name: &str, value: OsString| environment.push((name.into(), value));
        set("SKILL_DIR", self.skill.into());
        if let Some(data) = self.data {
            set("SKILL_DATA", data.into());
        }
        if let Some(Plugin { folder, kind: PluginKind::Plugin, .. }) = self.plugin {
            set("CLAUDE_PLUGIN_ROOT", folder.into());
        }
        if let Some(shared) = self.shared() {
            set("CLAUDE_PLUGIN_DATA", shared.into());
        }
        if let Some(survey) = self.project {
            set("PROJECT_DIR", survey.project().into());
        }
        set("SESSION_ID", self.session.into());
        set("PATH", self.toolbox.path.clone());
        set("LANG", self.language.into());
        environment
    }
}

#[cfg(test)]
mod tests {
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
        let wants = Wants::default();
        let mut containment = Containment {
            skill: &skill,
            copy: None,
            project: Some(&survey),
            data: Some(&data),
            plugin: None,
            toolbox: &toolbox,
            limits: Limits::default(),
            session: "s-1",
            language: LANGUAGE,
            wants: &wants,
            start: Start::Skill,
        };
        let profile = containment.profile();
        assert_eq!((&profile.readable, profile.writable.len()), (&vec![skill.clone()], 0));
        assert_eq!(profile.data, [DataFolder::new(data.clone())]);
        assert_eq!(profile.working_directory, skill);
        assert_eq!(profile.programs, toolbox.shown);
        let project = profile.project.as_ref().unwrap();
        assert_eq!(project.masked, [workspace.join("project/.env")]);
        assert!(project.writable.is_empty() && project.protected.is_empty());
        assert_eq!(names(&profile), ["SKILL_DIR", "SKILL_DATA", "PROJECT_DIR", "SESSION_ID", "PATH", "LANG"]);
        let path = profile.environment.iter().find(|(name, _)| name == "PATH").unwrap();
        assert_eq!(path.1, "/x/bin:/usr/bin");

        containment.start = Start::Project;
        assert_eq!(containment.profile().working_directory, workspace.join("project"));
        let remembered = Remembered::of(&survey);
        assert_eq!(remembered.changes(), [""; 0]);
        let workspace = workspace.file("project/AGENTS.md", "obey");
        let changes = remembered.changes();
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!(changes[0].ends_with(
            "AGENTS.md` was made while this ran, and agents obey it: look at it before you go on"
        ));
        drop(workspace);

        containment.project = None;
        containment.data = None;
        let profile = containment.profile();
        assert_eq!(profile.working_directory, skill);
        assert_eq!(names(&profile), ["SKILL_DIR", "SESSION_ID", "PATH", "LANG"]);
    }

    #[test]
    fn what_is_wanted_comes_with_a_yes_and_protected_places_stay_as_they_are() {
        let workspace =
            Workspace::new().skill("skill", "Greets.").file("project/.git/config", "").dir("project/docs");
        let project = workspace.join("project");
        let survey = Survey::of(&project, SurveyBounds::default()).unwrap();
        let (skill, toolbox) = (workspace.join("skill"), Toolbox::default());
        let mut wants = Wants::default();
        wants.write("docs/**".parse().unwrap());
        let secret = metier_secret::Secret::new("0123456789".into()).unwrap();
        wants.variable("API_KEY".parse().unwrap(), Some(secret));
        let containment = Containment {
            skill: &skill,
            copy: None,
            project: Some(&survey),
            data: None,
            plugin: None,
            toolbox: &toolbox,
            limits: Limits::default(),
            session: "",
            language: LANGUAGE,
            wants: &wants,
            start: Start::Skill,
        };
        let mut profile = containment.profile();
        assert!(!names(&profile).contains(&"API_KEY".to_owned()));
        let writing = Writing::open(wants.writes(), &survey).unwrap();
        widen(&mut profile, containment.project, containment.wants, &writing);
        assert!(names(&profile).contains(&"API_KEY".to_owned()));
        let view = profile.project.unwrap();
        assert_eq!(view.writable, [project.join("docs")]);
        assert!(view.protected.contains(&project.join(".git/config")));
        assert!(view.protected.contains(&project.join(".git/hooks")), "also where there is none yet");
        writing.settle();
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
        let mut wants = Wants::default();
        let secret = metier_secret::Secret::new("0123456789".into()).unwrap();
        wants.variable("API_KEY".parse().unwrap(), Some(secret));
        for name in ENVIRONMENT.iter().chain(PLUGIN_ENVIRONMENT) {
            assert!(name.parse::<metier_secret::SecretName>().is_err(), "{name} keeps its meaning");
        }
        let profile = |folder| {
            let containment = Containment {
                skill: &skill,
                copy: None,
                project: Some(&survey),
                data: Some(&data),
                plugin: Some(Plugin { folder, data: Some(&shared), kind: PluginKind::Plugin }),
                toolbox: &toolbox,
                limits: Limits::default(),
                session: "",
                language: LANGUAGE,
                wants: &wants,
                start: Start::Skill,
            };
            let mut profile = containment.profile();
            widen(&mut profile, containment.project, containment.wants, &Writing::default());
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

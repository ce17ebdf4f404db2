//! The default containment of everything that runs for a skill.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_files::{Presence, Protected, Stamp, Survey, real_path};
use metier_sandbox::{Limits, Profile, Project};

use crate::search_path::Toolbox;

/// What a skill's processes see and may use up, from plain inputs.
///
/// The skill's folder and the project are read-only, the skill's data folder and a scratch folder writable; of the rest
/// of the user's files only what the toolbox names is shown; there is no network.
#[derive(Clone, Debug)]
pub struct Containment<'a> {
    /// The skill's folder, without links on the way.
    pub skill: &'a Path,
    /// The project, if there is one.
    pub project: Option<ProjectView<'a>>,
    /// The skill's data folder, which has to be there.
    pub data: Option<&'a Path>,
    /// Programs outside of the system's folders, and the search path inside.
    pub toolbox: &'a Toolbox,
    /// What may be used up.
    pub limits: Limits,
    /// Which session it is.
    pub session: &'a str,
    /// The language, such as `C.UTF-8`.
    pub language: &'a str,
    /// Further variables, which the configuration declared.
    pub declared: &'a [(String, OsString)],
    /// Where the process starts.
    pub start: Start,
}

/// A project as a skill's processes see it.
#[derive(Clone, Copy, Debug)]
pub struct ProjectView<'a> {
    /// What the project holds.
    pub survey: &'a Survey,
    /// What the gate granted to be written.
    pub writable: &'a [PathBuf],
}

impl ProjectView<'_> {
    fn project(self) -> Project {
        let folder = self.survey.project().to_owned();
        Project {
            folder,
            writable: self.writable.to_vec(),
            masked: self.survey.masked(),
            protected: self.protected(),
        }
    }

    /// The places that stay read-only, none of them in another.
    fn protected(self) -> Vec<PathBuf> {
        // Without anything writable there is nothing to protect, and each place costs a mount.
        if self.writable.is_empty() {
            return Vec::new();
        }
        let project = self.survey.project();
        let mut places: Vec<PathBuf> = Vec::new();
        for place in self.survey.protected() {
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

    /// Remembers what is at the protected places, to say afterwards what is other.
    pub(crate) fn remember(self) -> Remembered {
        // What cannot be written needs no second look.
        let places = if self.writable.is_empty() { &[] } else { self.survey.protected() };
        Remembered(places.iter().map(|place| (place.clone(), Stamp::of(&place.path))).collect())
    }
}

/// What was at the protected places before a run.
///
/// Not every means of containing can keep a place from being made where there was none, nor the folder it lies in from
/// being moved away. What runs later must not come into being unseen, so it is looked at again.
#[derive(Debug)]
pub(crate) struct Remembered(Vec<(Protected, Option<Stamp>)>);

impl Remembered {
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
}

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

/// The whole environment of a skill's process, but for what is declared. `TMPDIR` and `HOME` are the sandbox's, which
/// makes the folders they name for each call.
pub const ENVIRONMENT: &[&str] =
    &["SKILL_DIR", "SKILL_DATA", "PROJECT_DIR", "SESSION_ID", "TMPDIR", "PATH", "LANG", "HOME"];

/// Why there is no containment for this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContainmentError {
    /// A declared name is one that has a meaning here.
    #[error("the variable `{0}` cannot be declared, since it is set for every script; choose another name")]
    Taken(String),
    /// A declared name is none that a shell could read.
    #[error("`{0}` is no name of a variable; use letters, digits and `_`, not beginning with a digit")]
    NoName(String),
}

impl Containment<'_> {
    /// The profile for the sandbox.
    pub fn profile(&self) -> Result<Profile, ContainmentError> {
        let start = match (self.start, self.project) {
            (Start::Project, Some(project)) => project.survey.project(),
            _ => self.skill,
        };
        Ok(Profile {
            readable: vec![self.skill.to_owned()],
            project: self.project.map(ProjectView::project),
            data: self.data.map(Path::to_owned),
            programs: self.toolbox.shown.clone(),
            environment: self.environment()?,
            limits: self.limits.clone(),
            ..Profile::new(start.to_owned())
        })
    }

    fn environment(&self) -> Result<Vec<(OsString, OsString)>, ContainmentError> {
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        let mut set = |name: &str, value: OsString| environment.push((name.into(), value));
        set("SKILL_DIR", self.skill.into());
        if let Some(data) = self.data {
            set("SKILL_DATA", data.into());
        }
        if let Some(project) = self.project {
            set("PROJECT_DIR", project.survey.project().into());
        }
        set("SESSION_ID", self.session.into());
        set("PATH", self.toolbox.path.clone());
        set("LANG", self.language.into());
        for (name, value) in self.declared {
            if ENVIRONMENT.contains(&name.as_str()) {
                return Err(ContainmentError::Taken(name.clone()));
            }
            let mut bytes = name.bytes();
            let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
            if !first || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(ContainmentError::NoName(name.clone()));
            }
            set(name, value.clone());
        }
        Ok(environment)
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
        let mut containment = Containment {
            skill: &skill,
            project: Some(ProjectView { survey: &survey, writable: &[] }),
            data: Some(&data),
            toolbox: &toolbox,
            limits: Limits::default(),
            session: "s-1",
            language: LANGUAGE,
            declared: &[],
            start: Start::Skill,
        };
        let profile = containment.profile().unwrap();
        assert_eq!((&profile.readable, profile.writable.len()), (&vec![skill.clone()], 0));
        assert_eq!((&profile.working_directory, &profile.data), (&skill, &Some(data.clone())));
        assert_eq!(profile.programs, toolbox.shown);
        let project = profile.project.as_ref().unwrap();
        assert_eq!(project.masked, [workspace.join("project/.env")]);
        assert!(project.writable.is_empty() && project.protected.is_empty());
        assert_eq!(names(&profile), ["SKILL_DIR", "SKILL_DATA", "PROJECT_DIR", "SESSION_ID", "PATH", "LANG"]);
        let path = profile.environment.iter().find(|(name, _)| name == "PATH").unwrap();
        assert_eq!(path.1, "/x/bin:/usr/bin");

        let writable = [workspace.join("project")];
        containment.project = Some(ProjectView { survey: &survey, writable: &writable });
        containment.start = Start::Project;
        let profile = containment.profile().unwrap();
        assert_eq!(profile.working_directory, workspace.join("project"));
        let protected = profile.project.unwrap().protected;
        assert!(protected.contains(&workspace.join("project/.git/config")));
        assert!(protected.contains(&workspace.join("project/.git/hooks")), "also where there is none yet");

        let remembered = containment.project.unwrap().remember();
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
        let profile = containment.profile().unwrap();
        assert_eq!(profile.working_directory, skill);
        assert_eq!(names(&profile), ["SKILL_DIR", "SESSION_ID", "PATH", "LANG"]);
    }

    #[test]
    fn declared_names_are_added_and_never_take_the_place_of_ours() {
        let skill = PathBuf::from("/skill");
        let toolbox = Toolbox::default();
        let with = |declared: &[(String, OsString)]| {
            Containment {
                skill: &skill,
                project: None,
                data: None,
                toolbox: &toolbox,
                limits: Limits::default(),
                session: "",
                language: LANGUAGE,
                declared,
                start: Start::Skill,
            }
            .profile()
            .map(|profile| names(&profile))
        };
        let declare = |name: &str| [(name.to_owned(), OsString::from("x"))];
        assert!(with(&declare("API_KEY")).unwrap().contains(&"API_KEY".to_owned()));
        for name in ENVIRONMENT {
            assert_eq!(with(&declare(name)), Err(ContainmentError::Taken((*name).to_owned())));
        }
        for name in ["", "1A", "A=B", "A B", "é"] {
            assert_eq!(with(&declare(name)), Err(ContainmentError::NoName(name.to_owned())));
        }
    }
}

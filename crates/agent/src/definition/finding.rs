//! Where definitions lie: the known places of a project, and the user's own.

use std::path::{Path, PathBuf};

use metier_catalog::{AGENT_FOLDERS, Layout, Places, files_below, is_listed_definition, trusts_definition};
use metier_files::{plain_path, real_path};

use super::Form;

/// Whose a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The project's, which the user trusts.
    TrustedProject,
    /// The project's, which the user does not trust, or which is new or changed since the project was trusted: it is read,
    /// shown and not acted on.
    UntrustedProject,
    /// The user's own folder.
    User,
    /// A file outside the project that the user named.
    Named,
}

impl Place {
    /// Whether it may be acted on.
    pub const fn is_trusted(self) -> bool {
        !matches!(self, Self::UntrustedProject)
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TrustedProject | Self::UntrustedProject => "project",
            Self::User => "user",
            Self::Named => "named",
        }
    }
}

/// A file that defines an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which kind it is.
    pub form: Form,
    /// The file, absolute.
    pub file: PathBuf,
    /// The folder that nothing in it may lead out of, a real path.
    pub ground: PathBuf,
    /// Whose it is.
    pub place: Place,
}

/// The definitions of a project and of its user: the project's first, each place in its order, files by name.
pub fn definitions(layout: &Layout) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut add = |file: PathBuf, project: Option<&Path>, ground: &Path, place: Place| {
        if let Some(form) = Form::of_found(&file, project)
            && !found.iter().any(|known| known.file == file)
        {
            found.push(Found { form, file, ground: ground.to_owned(), place });
        }
    };
    if let Some(project) = &layout.project {
        for (folder, depth) in AGENT_FOLDERS {
            for file in files_below(&project.folder.join(folder), depth) {
                let place = of_project(layout, &file);
                add(file, Some(&project.folder), &project.folder, place);
            }
        }
        for folder in [&project.current, &project.folder] {
            let is_crew = |file: &PathBuf| Form::of(file, None) == Some(Form::Crew);
            for file in files_below(folder, 1).into_iter().filter(is_crew) {
                let place = of_project(layout, &file);
                add(file, Some(&project.folder), &project.folder, place);
            }
        }
    }
    for folder in of_user(&layout.places) {
        let Ok(ground) = real_path(&folder) else { continue };
        for file in files_below(&ground, 3) {
            add(file, None, &ground, Place::User);
        }
    }
    found
}

/// A file that somebody named; `None` where its name is not that of a definition.
pub fn found_at(file: &Path, layout: &Layout) -> Option<Found> {
    let named = layout.places.current.join(file);
    let file = named.clone();
    // By its real path, or a link in the user's own folder could make a stranger's file the user's.
    let file = real_path(&file).unwrap_or(file);
    let project = layout.project.as_ref().filter(|project| file.starts_with(&project.folder));
    let form = Form::of(&file, project.map(|project| project.folder.as_path()))?;
    if let Some(project) = project {
        // Whoever names a file that nobody would find by its name has looked at it.
        let place = if layout.standing.is_trusted() && !is_listed_definition(project, &file) {
            Place::TrustedProject
        } else {
            of_project(layout, &file)
        };
        return Some(Found { form, file, ground: project.folder.clone(), place });
    }
    let user = of_user(&layout.places).into_iter().filter_map(|folder| real_path(&folder).ok());
    if let Some(ground) = user.into_iter().find(|folder| file.starts_with(folder)) {
        return Some(Found { form, file, ground, place: Place::User });
    }
    if let Some(project) = &layout.project
        && plain_path(&named).starts_with(&project.folder)
    {
        // A link of the project that leads out of it. Its text would go to a model, so it is shown and not run.
        let ground = project.folder.clone();
        return Some(Found { form, file, ground, place: Place::UntrustedProject });
    }
    let ground = file.parent().map(Path::to_owned).unwrap_or_default();
    Some(Found { form, file, ground, place: Place::Named })
}

fn of_project(layout: &Layout, file: &Path) -> Place {
    let is_trusted = |project| trusts_definition(project, &layout.trust, file);
    let is_trusted = layout.standing.is_trusted() && layout.project.as_ref().is_some_and(is_trusted);
    if is_trusted { Place::TrustedProject } else { Place::UntrustedProject }
}

/// The user's own folders for agents.
fn of_user(places: &Places) -> Vec<PathBuf> {
    let mut folders = vec![places.config.join("agents")];
    folders.extend(places.home.as_ref().map(|home| home.join(".claude/agents")));
    folders
}

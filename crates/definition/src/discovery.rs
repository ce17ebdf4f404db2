//! Finds definition files: in the known folders of a project, and in the user's own.

use std::path::{Path, PathBuf};

use metier_catalog::{AGENT_FOLDERS, Layout, Places, files_below, is_listed_definition, trusts_definition};
use metier_files::{plain_path, real_path};

use crate::DefinitionFormat;

/// Where a definition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionOrigin {
    /// A trusted project.
    TrustedProject,
    /// A project that is not trusted, or a file that is new or changed since the project was trusted. It is read and shown, and
    /// never run.
    UntrustedProject,
    /// A folder of the user's own.
    User,
    /// A file outside the project that the user named.
    Named,
}

impl DefinitionOrigin {
    /// Whether it may run.
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
pub struct DefinitionFile {
    /// Its format.
    pub format: DefinitionFormat,
    /// The file, absolute.
    pub file: PathBuf,
    /// The folder that its paths may not leave, a real path.
    pub boundary: PathBuf,
    /// Where it comes from.
    pub origin: DefinitionOrigin,
}

/// The definitions of a project and of its user: the project's first, folders in a fixed order, files by name.
pub fn definitions(layout: &Layout) -> Vec<DefinitionFile> {
    let mut found: Vec<DefinitionFile> = Vec::new();
    let mut add = |file: PathBuf, project: Option<&Path>, boundary: &Path, origin: DefinitionOrigin| {
        if let Some(format) = DefinitionFormat::of_found(&file, project)
            && !found.iter().any(|known| known.file == file)
        {
            found.push(DefinitionFile { format, file, boundary: boundary.to_owned(), origin });
        }
    };
    if let Some(project) = &layout.project {
        for (folder, depth) in AGENT_FOLDERS {
            for file in files_below(&project.folder.join(folder), depth) {
                let origin = of_project(layout, &file);
                add(file, Some(&project.folder), &project.folder, origin);
            }
        }
        for folder in [&project.current, &project.folder] {
            let is_crew = |file: &PathBuf| DefinitionFormat::of(file, None) == Some(DefinitionFormat::Crew);
            for file in files_below(folder, 1).into_iter().filter(is_crew) {
                let origin = of_project(layout, &file);
                add(file, Some(&project.folder), &project.folder, origin);
            }
        }
    }
    for folder in of_user(&layout.places) {
        let Ok(boundary) = real_path(&folder) else { continue };
        for file in files_below(&boundary, 3) {
            add(file, None, &boundary, DefinitionOrigin::User);
        }
    }
    found
}

/// A file that the user named; `None` if its name is not that of a definition.
pub fn definition_at(file: &Path, layout: &Layout) -> Option<DefinitionFile> {
    let named = layout.places.current.join(file);
    let file = named.clone();
    // By its real path, or a link in the user's own folder could make a stranger's file the user's.
    let file = real_path(&file).unwrap_or(file);
    let project = layout.project.as_ref().filter(|project| file.starts_with(&project.folder));
    let format = DefinitionFormat::of(&file, project.map(|project| project.folder.as_path()))?;
    if let Some(project) = project {
        // A file that discovery would not find was looked at by the user who names it.
        let origin = if layout.standing.is_trusted() && !is_listed_definition(project, &file) {
            DefinitionOrigin::TrustedProject
        } else {
            of_project(layout, &file)
        };
        return Some(DefinitionFile { format, file, boundary: project.folder.clone(), origin });
    }
    let user = of_user(&layout.places).into_iter().filter_map(|folder| real_path(&folder).ok());
    if let Some(boundary) = user.into_iter().find(|folder| file.starts_with(folder)) {
        return Some(DefinitionFile { format, file, boundary, origin: DefinitionOrigin::User });
    }
    if let Some(project) = &layout.project
        && plain_path(&named).starts_with(&project.folder)
    {
        // A link of the project that leads out of it. Its text would go to a model, so it is shown and not run.
        let boundary = project.folder.clone();
        return Some(DefinitionFile { format, file, boundary, origin: DefinitionOrigin::UntrustedProject });
    }
    let boundary = file.parent().map(Path::to_owned).unwrap_or_default();
    Some(DefinitionFile { format, file, boundary, origin: DefinitionOrigin::Named })
}

fn of_project(layout: &Layout, file: &Path) -> DefinitionOrigin {
    let is_trusted = |project| trusts_definition(project, &layout.trust, file);
    let is_trusted = layout.standing.is_trusted() && layout.project.as_ref().is_some_and(is_trusted);
    if is_trusted { DefinitionOrigin::TrustedProject } else { DefinitionOrigin::UntrustedProject }
}

/// The user's own folders for agents.
fn of_user(places: &Places) -> Vec<PathBuf> {
    let mut folders = vec![places.config.join("agents")];
    folders.extend(places.home.as_ref().map(|home| home.join(".claude/agents")));
    folders
}

//! Crew files: `*.skilled_crew.yaml` names the skill folders of each of its agents.

use crate::code;
use crate::crew::Crew;
use crate::project::Project;
use crate::root::RootTrust;
use crate::trust::{ProjectTrust, trusts_definition};
use metier_diagnostic::{Diagnostic, Span};
use metier_files::{Kind, ListBounds, SkillDir, kind, plain_path, read_bounded};
use metier_skill::yaml::{self, Node};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the name of a crew file ends.
pub(crate) const CREW_SUFFIX: &str = ".skilled_crew.yaml";

/// The largest crew file that is read: a hundred times the largest public one.
const MAX_CREW_FILE: u64 = 256 * 1024;

/// Names of a project's folder that are looked at for crew files. A folder with more is a heap of data, and the walk that
/// finds skills is not made of it either.
const MAX_NAMES: usize = 4_096;

/// Folders that all crew files together may name. A crew has a dozen skills, and each of its folders is a root.
const MAX_FOLDERS: usize = 1_000;

/// The skill folders that the crew files of the project's folder and of the current folder name, in the order written, each
/// with its crew: the first that names it.
///
/// A crew file that is new or changed since the project was trusted gives its folders no trust.
pub(super) fn folders(
    project: &Project,
    trust: &ProjectTrust,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(PathBuf, Crew, RootTrust)> {
    let mut folders: Vec<(PathBuf, Crew, RootTrust)> = Vec::new();
    let mut places = vec![project.current.as_path()];
    places.extend((project.folder != project.current).then_some(project.folder.as_path()));
    for file in places.into_iter().flat_map(crew_files) {
        let path: Arc<Path> = file.as_path().into();
        match named_in(&path) {
            Err(diagnostic) => diagnostics.push(*diagnostic),
            Ok(named) => {
                let is_trusted = trust.standing().is_trusted() && trusts_definition(project, trust, &file);
                let trust = if is_trusted { RootTrust::Trusted } else { RootTrust::Untrusted };
                for (folder, span) in named.folders {
                    let diagnostic = judge(&folder, project, trust);
                    let usable =
                        diagnostic.as_ref().is_none_or(|found| found.code != &code::CREW_FOLDER_OUTSIDE);
                    diagnostics.extend(diagnostic.map(|found| found.at(span, &named.source).in_file(&path)));
                    if folders.len() == MAX_FOLDERS {
                        let message = format!(
                            "only the first {MAX_FOLDERS} folders that crew files name are looked at"
                        );
                        diagnostics.push(Diagnostic::new(&code::CREW_FILE_INVALID, message).in_file(&path));
                        return folders;
                    }
                    if usable && !folders.iter().any(|(known, _, _)| *known == folder) {
                        folders.push((folder, Crew { file: file.clone() }, trust));
                    }
                }
            }
        }
    }
    folders
}

/// The crew files directly in a folder, by name.
pub(crate) fn crew_files(folder: &Path) -> Vec<PathBuf> {
    let names = folder_names(folder);
    names.iter().filter(|name| name.ends_with(CREW_SUFFIX)).map(|name| folder.join(name)).collect()
}

/// The names of the files directly in a folder, sorted; nothing where it cannot be read.
fn folder_names(folder: &Path) -> Vec<String> {
    let Ok(dir) = SkillDir::open(folder) else { return Vec::new() };
    let Ok(listing) = dir.list(ListBounds { entries: MAX_NAMES, depth: 1 }) else { return Vec::new() };
    let names = listing.files.iter().filter_map(|file| file.path.as_str());
    names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
}

struct Named {
    source: String,
    folders: Vec<(PathBuf, Span)>,
}

fn named_in(path: &Arc<Path>) -> Result<Named, Box<Diagnostic>> {
    let invalid = |why: String| Box::new(Diagnostic::new(&code::CREW_FILE_INVALID, why).in_file(path));
    let bytes = read_bounded(path, MAX_CREW_FILE).map_err(|error| invalid(error.to_string()))?;
    let source = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let not_yaml = |error: yaml::YamlError| {
        let message = format!("this crew file is not YAML: {}", error.message);
        let invalid = Diagnostic::new(&code::CREW_FILE_INVALID, message);
        Box::new(invalid.at(Span::empty(error.at), &source).in_file(path))
    };
    let tree = yaml::parse(&source, 0).map_err(not_yaml)?;
    let base = path.parent().unwrap_or(Path::new("/"));
    let agents =
        tree.as_ref().and_then(|tree| tree.get("agents")).and_then(Node::entries).unwrap_or_default();
    let skills =
        agents.iter().filter_map(|agent| agent.value.get("skills")).filter_map(Node::items).flatten();
    let folders = skills.filter_map(|skill| {
        let folder = skill.get("folderPath")?;
        Some((plain_path(&base.join(folder.text()?)), folder.span))
    });
    let folders = folders.collect();
    drop(tree);
    Ok(Named { source, folders })
}

/// What there is to say about a folder that a crew file names.
fn judge(folder: &Path, project: &Project, trust: RootTrust) -> Option<Diagnostic> {
    // The folder's real path decides, or a link inside the project would reach anywhere.
    let real = metier_files::real_path(folder);
    let inside = real.as_deref().unwrap_or(folder).starts_with(&project.folder);
    if !inside && trust == RootTrust::Untrusted {
        let message = format!("`{}` is outside the project, and this crew is not trusted", folder.display());
        return Some(
            Diagnostic::new(&code::CREW_FOLDER_OUTSIDE, message)
                .help("look at it with `metier trust --preview`, then `metier trust`"),
        );
    }
    (kind(folder) != Kind::Folder).then(|| {
        let message = format!("`{}` is named here and is not a folder", folder.display());
        Diagnostic::new(&code::CREW_FOLDER_MISSING, message)
    })
}

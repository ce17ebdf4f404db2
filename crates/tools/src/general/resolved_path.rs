//! Where a path leads that a model gave.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use metier_files::{
    Ground, Kind, NoChanges, RelativePath, Survey, completing_parts, is_link, is_obeyed_in, is_repository,
    kind, maybe_repositories,
};
use metier_policy::{Action, Actor, Place, Skill};
use metier_runtime::ToolContext;
use metier_skill::Tool;

use super::GeneralTools;
use super::refusal::Refused;

/// On whose ground a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The project's.
    Project,
    /// An active skill's.
    Skill(Box<Skill>),
    /// The session's own outputs.
    Outputs,
}

/// Where a path leads: on which ground, and there without links. `None` is the ground itself.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPath {
    pub(super) ground: Arc<Ground>,
    pub(super) place: Option<RelativePath>,
    pub(super) owner: Owner,
}

impl ResolvedPath {
    /// The whole path.
    pub(super) fn path(&self) -> PathBuf {
        let top = self.ground.path();
        self.place.as_ref().map_or_else(|| top.to_owned(), |place| top.join(place.as_path()))
    }

    /// The file's place; a ground itself is a folder and no file.
    pub(super) fn file(&self) -> Result<&RelativePath, Refused> {
        let path = || metier_files::Error::IsAFolder { path: self.ground.path().to_owned() };
        self.place.as_ref().ok_or_else(|| path().into())
    }
}

impl GeneralTools {
    /// Finds out where a path leads. Relative ones are seen from where the user is, as in a command line.
    pub(super) fn locate(&self, given: &str, context: ToolContext<'_>) -> Result<ResolvedPath, Refused> {
        let project = self.project()?;
        let outside = || {
            let shown = metier_catalog::one_line(given, 200);
            let folder = project.ground.path().display();
            Refused::Text(format!(
                "`{shown}` is outside: files below {folder} can be used, and those of active skills; give a path from there \
                 without `..`"
            ))
        };
        if given.contains('\0') {
            return Err(outside());
        }
        let expanded = self.expand(given);
        let asked = expanded.as_deref().unwrap_or(Path::new(given));
        let (ground, inner, owner) = if asked.is_absolute() {
            self.ground_of(asked, context).ok_or_else(outside)?
        } else {
            (Arc::clone(&project.ground), self.beneath_project(asked).ok_or_else(outside)?, Owner::Project)
        };
        if inner.as_os_str().is_empty() || inner == Path::new(".") {
            return Ok(ResolvedPath { ground, place: None, owner });
        }
        let Ok(inner) = RelativePath::parse_os(inner.as_os_str()) else {
            // `./` and the like are the ground itself; everything else that is no path inside leads out.
            let is_ground = inner.components().all(|step| step == std::path::Component::CurDir);
            return if is_ground { Ok(ResolvedPath { ground, place: None, owner }) } else { Err(outside()) };
        };
        let place = match ground.resolve(&inner) {
            Ok(place) => Some(place),
            Err(metier_files::Error::Outside { .. }) => return Err(outside()),
            // A link to the ground itself.
            Err(metier_files::Error::IsAFolder { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(ResolvedPath { ground, place, owner })
    }

    /// A relative path, seen from the project. `..` at its beginning leaves folders that the user is in; these are no links, so
    /// going up by name is going up. `None` where it leads out.
    fn beneath_project(&self, asked: &Path) -> Option<PathBuf> {
        let mut from = self.start.clone();
        let mut rest = asked.components().skip_while(|step| *step == Component::CurDir).peekable();
        while rest.next_if_eq(&Component::ParentDir).is_some() {
            if !from.pop() {
                return None;
            }
        }
        from.extend(rest);
        Some(from)
    }

    /// A file of the project as a relative path from where the user is: what `locate` takes back.
    pub(super) fn seen_from_start(&self, file: &Path) -> PathBuf {
        let shared = self.start.components().zip(file.components()).take_while(|(a, b)| a == b).count();
        let up = self.start.components().skip(shared).map(|_| Component::ParentDir);
        up.chain(file.components().skip(shared)).collect()
    }

    /// Where a path leads that is seen from the project, whatever is active.
    pub(super) fn locate_in_project(&self, inner: &str) -> Result<ResolvedPath, Refused> {
        let ground = Arc::clone(&self.project()?.ground);
        let place = match RelativePath::parse(inner) {
            Ok(inner) => Some(ground.resolve(&inner)?),
            Err(_) => None,
        };
        Ok(ResolvedPath { ground, place, owner: Owner::Project })
    }

    /// `~` and `~/x`, where the home is known.
    fn expand(&self, given: &str) -> Option<PathBuf> {
        let home = self.setting.home.as_ref()?;
        match given.strip_prefix('~')? {
            "" => Some(home.clone()),
            rest => rest.strip_prefix('/').map(|rest| home.join(rest)),
        }
    }

    /// The ground on which an absolute path lies, and what is left of the path. A skill's folder inside the project is the
    /// skill's: its own files are always its own.
    fn ground_of(&self, asked: &Path, context: ToolContext<'_>) -> Option<(Arc<Ground>, PathBuf, Owner)> {
        let below = |folder: &Path| asked.strip_prefix(folder).ok().map(Path::to_owned);
        for active in context.skills.active().into_iter().rev() {
            if let Some(inner) = below(&active.folder) {
                let ground = Ground::open(&active.folder).ok()?;
                let owner = Owner::Skill(Box::new(active.skill));
                return Some((Arc::new(ground), inner, owner));
            }
        }
        if let Some(outputs) = &self.outputs
            && let Some(inner) = below(outputs.folder())
        {
            let ground = Ground::open(outputs.folder()).ok()?;
            return Some((Arc::new(ground), inner, Owner::Outputs));
        }
        let project = self.project.as_ref()?;
        let given = self.setting.project.as_deref();
        let inner = below(project.ground.path()).or_else(|| given.and_then(below))?;
        Some((Arc::clone(&project.ground), inner, Owner::Project))
    }

    /// A path by every name that rules may use for it, and whether it takes a yes to this very question to write it.
    pub(super) fn named(&self, path: &Path, survey: &Survey, context: ToolContext<'_>) -> Place {
        let mut place = Place::new(&path.to_string_lossy());
        if let Some(home) = &self.setting.home {
            place = place.below(&home.to_string_lossy(), "~/");
        }
        place = place.below(&survey.project().to_string_lossy(), "");
        let is_protected = path.strip_prefix(survey.project()).is_ok_and(|inside| {
            survey.protected_places(&NoChanges).reason(inside, false).is_some()
                || is_of_repository(survey.project(), inside)
        });
        let lower = |path: &Path| path.to_string_lossy().to_lowercase();
        // Without case, since some file systems do not tell names apart by it.
        let path = PathBuf::from(lower(path));
        let is_in = |folder: &Path| path.starts_with(lower(folder));
        let is_guarded = is_protected
            || self.setting.guarded.iter().any(|folder| is_in(folder))
            || context.skills.active().iter().any(|active| is_in(&active.folder));
        if is_guarded { place.guarded() } else { place }
    }

    /// What the gate is asked about a call that only looks at a spot.
    pub(super) fn looking(
        &self,
        tool: Tool,
        spot: &ResolvedPath,
        survey: &Survey,
        context: ToolContext<'_>,
    ) -> Action {
        match (&spot.owner, &spot.place) {
            // Its own files are what a skill is made of; no fence stands before them.
            (Owner::Skill(skill), place) => {
                let path = place.as_ref().map_or_else(|| ".".to_owned(), ToString::to_string);
                Action::read((**skill).clone(), &path)
            }
            _ => Action::tool(Actor::Agent, tool, Some(self.named(&spot.path(), survey, context))),
        }
    }
}

/// Whether git obeys a file of the project in a repository that is not called `.git`, or takes a folder for one once it is there.
fn is_of_repository(project: &Path, file: &Path) -> bool {
    maybe_repositories(file).any(|folder| {
        let had = |name: &str| {
            let path = project.join(folder).join(name);
            kind(&path) != Kind::Missing || is_link(&path)
        };
        let has = |name: &str| had(name) || file.starts_with(folder.join(name));
        completing_parts(had, has).next().is_some() || is_repository(has) && is_obeyed_in(folder, file)
    })
}

/// What a file looks like that must not be opened: `None` for all others. `head` is what is known of its beginning.
pub(super) fn masked(path: &Path, survey: &Survey, head: &[u8]) -> Option<&'static str> {
    let found = survey.secrets().iter().find(|secret| path.starts_with(&secret.path));
    if let Some(secret) = found {
        return Some(secret.what);
    }
    // A survey has bounds, and files are made meanwhile.
    let inner = path.strip_prefix(survey.project()).ok()?;
    let inner = RelativePath::parse_os(inner.as_os_str()).ok()?;
    metier_files::looks_secret(&inner, head)
}

/// The line in place of a file that looks like a secret.
pub(super) fn mask_line(shown: &str, what: &str) -> Refused {
    Refused::Text(format!(
        "`{shown}` looks like a secret ({what}) and is not shown; ask the user for what you need of it, without its values"
    ))
}

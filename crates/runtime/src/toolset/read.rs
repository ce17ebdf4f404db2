//! The tools that read files of a skill.

use std::borrow::Cow;
use std::sync::Arc;

use metier_catalog::{Entry, EntryId, NotBrought, Wanted};
use metier_exec::path_in_skill;
use metier_files::{Error, PAGE, RelativePath, RelativePathError};
use metier_policy::{Action, Skill};
use serde_json::{Map, Value, json};

use super::folders::OpenSkill;
use super::{NO_SKILL, NotPlanned, Planned, Purpose, SkillTool};
use crate::read_file::{content_text, read_seen};
use crate::skills::SkillSession;
use crate::tool::{Input, Outcome, Plan, ReferenceInput, ToolContext, ToolResult, error_json};

/// The only folder that `load_skill_resources` reads from.
const REFERENCES: &str = "references";

/// The largest resource that the ADK returns, whole.
const MAX_RESOURCE: u64 = 10 * 1024 * 1024;

/// Why a skill's folder cannot be read.
enum FolderError {
    /// It is gone.
    Gone(String),
    /// It is a server's skill, and the file is not what the server listed.
    Fetch(Box<NotBrought>),
}

impl SkillTool {
    /// `skill_read_file`.
    pub(super) fn plan_read<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let (name, path) = (input.text("skill_name")?.to_owned(), input.text("file_path")?.to_owned());
        let offset = input.number("offset")?;
        let session = context.skills;
        let id = self.find_named(&name, Purpose::Use, context, |text| text)?;
        // The gate is asked about what is opened.
        let seen = seen(session, id, &path).into_owned();
        let failed = |error: FolderError, name: &str| match error {
            FolderError::Gone(place) => format!("Skill '{name}' not found at {place}"),
            FolderError::Fetch(error) => error.to_string(),
        };
        let skill = skill(session, id).map_err(|error| NotPlanned::refused(failed(error, &name)))?;
        Ok(Plan::new(Action::read(skill, &seen), move |_| {
            match read(session, id, &seen, |open| read_seen(&open.folder, &name, &path, &seen, offset)) {
                Ok(Ok(text)) => ToolResult::done(text),
                Ok(Err(error)) => ToolResult::refused(error.to_string()),
                Err(error) => ToolResult::refused(failed(error, &name)),
            }
        }))
    }

    /// `load_skill_resources`: `references/` of the skill that was activated last, and three errors in its words.
    pub(super) fn plan_references<'a>(input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let wanted = input.references("resources")?;
        let session = context.skills;
        let Some(id) = session.last_active() else {
            let texts = wanted.into_iter().map(|one| (one.path, json!(format!("ERROR: {NO_SKILL}"))));
            return Err(NotPlanned::refused(Value::Object(texts.collect()).to_string()));
        };
        Ok(Plan::free(move |_| {
            let mut texts = Map::new();
            let mut result = ToolResult::default();
            let mut any = false;
            for ReferenceInput { path, offset } in wanted {
                let text = reference(context, id, &path, offset, &mut result);
                any |= text.is_ok();
                texts.insert(path, json!(text.unwrap_or_else(|error| error)));
            }
            // A call of which nothing came is a failed one; one good text among several makes it a good one.
            if !any {
                result.outcome = Outcome::Refused;
            }
            ToolResult { text: Value::Object(texts).to_string(), ..result }
        }))
    }

    /// `load_skill_resource`: a file whole, up to the ADK's limit.
    pub(super) fn plan_resource<'a>(&'a self, input: &Input<'_>, context: ToolContext<'a>) -> Planned<'a> {
        let (name, path) = (input.text("skill_name")?.to_owned(), input.text("resource_path")?.to_owned());
        let shown = (path.clone(), name.clone());
        let shape = move |why: String| {
            error_json(&format!("load resource '{}' from skill '{}': {why}", shown.0, shown.1))
        };
        let session = context.skills;
        let id = self.find_named(&name, Purpose::Use, context, &shape)?;
        let named = name.clone();
        let failed = move |error: FolderError| match error {
            FolderError::Gone(_) => format!("skill not found: {named}"),
            FolderError::Fetch(error) => error.to_string(),
        };
        let skill = skill(session, id).map_err(|error| NotPlanned::refused(shape(failed(error))))?;
        // The gate is asked about what is opened, so spaces around it go before.
        let action = Action::read(skill, path.trim());
        let in_shape = shape.clone();
        let plan =
            Plan::new(action, move |_| match read(session, id, path.trim(), |open| resource(open, &path)) {
                Ok(Ok(text)) => {
                    let result = json!({ "skill_name": name, "path": path, "content": text });
                    ToolResult::done(result.to_string())
                }
                Ok(Err(why)) => ToolResult::refused(in_shape(why)),
                Err(error) => ToolResult::refused(in_shape(failed(error))),
            });
        Ok(plan.refused_as(shape))
    }
}

fn resource(open: &OpenSkill, path: &str) -> Result<String, String> {
    let outside = || "the path leads out of the skill's folder".to_owned();
    let failed = |error: Error| match error {
        Error::NotFound { .. } => format!("resource not found: {path}"),
        Error::Outside { .. } => outside(),
        Error::IsAFolder { .. } | Error::NotAFile { .. } => format!("{path} is not a file"),
        error => error.to_string(),
    };
    let asked = RelativePath::parse(path.trim()).map_err(|_| outside())?;
    if open.folder.look_at(&asked).map_err(failed)?.size > MAX_RESOURCE {
        return Err(format!("resource {path} is too large (limit: {MAX_RESOURCE} bytes)"));
    }
    let content = open.folder.read_text(&asked, 0, MAX_RESOURCE).map_err(failed)?;
    Ok(content_text(content, path, 0))
}

/// One reference; each is a question of its own.
fn reference(
    context: ToolContext<'_>,
    id: EntryId,
    path: &str,
    offset: u64,
    result: &mut ToolResult,
) -> Result<String, String> {
    let failed = |error| match error {
        FolderError::Gone(_) => "ERROR: file not found".to_owned(),
        FolderError::Fetch(error) => format!("ERROR: {error}"),
    };
    let session = context.skills;
    let decision = Box::new(context.decide(&Action::read(skill(session, id).map_err(failed)?, path)));
    let refused = (!decision.is_allowed()).then(|| format!("ERROR: {decision}"));
    result.decision = Some(decision);
    if let Some(refused) = refused {
        return Err(refused);
    }
    let text = read(session, id, path, |open| {
        let outside = || "ERROR: path traversal not allowed".to_owned();
        let missing = || "ERROR: file not found".to_owned();
        let below = path.strip_prefix("references/");
        let below = below.ok_or_else(|| "ERROR: only files inside references/ can be loaded".to_owned())?;
        let folder = RelativePath::parse(REFERENCES).map_err(|_| outside())?;
        let below = RelativePath::parse(below).map_err(|error| match error {
            // The folder itself, which that system finds no file in either.
            RelativePathError::Empty => missing(),
            _ => outside(),
        })?;
        // Beneath the opened folder, so that no link leads out of it, not even back into the skill.
        let read = open.folder.folder(&folder).and_then(|folder| folder.read_text(&below, offset, PAGE));
        match read {
            Ok(page) => Ok(content_text(page, path, offset)),
            Err(Error::Outside { .. }) => Err(outside()),
            Err(_) => Err(missing()),
        }
    });
    text.map_err(failed)?
}

/// A path as it is seen from the skill's folder: bodies name files by whole paths, too.
fn seen<'p>(session: &SkillSession, id: EntryId, path: &'p str) -> Cow<'p, str> {
    let snapshot = session.snapshot();
    match snapshot.entry(id) {
        Some(entry) => path_in_skill(&snapshot.folder(entry), path),
        None => Cow::Borrowed(path),
    }
}

/// A skill of which a file is to be read, as the gate knows it.
fn skill(session: &SkillSession, id: EntryId) -> Result<Skill, FolderError> {
    // The folder of a server's skill is there once something of it was fetched, which the gate is asked about first.
    match session.snapshot().entry(id).and_then(Entry::remote) {
        Some(_) => Ok(session.skill(id)),
        None => Ok(open(session, id)?.skill.clone()),
    }
}

/// Tries to read a file of a skill; once more where that fails, for the folder that is held open may be one that was replaced.
fn read<E>(
    session: &SkillSession,
    id: EntryId,
    path: &str,
    attempt: impl Fn(&OpenSkill) -> Result<String, E>,
) -> Result<Result<String, E>, FolderError> {
    fetch(session, id, path)?;
    let answer = attempt(&*open(session, id)?);
    if answer.is_ok() {
        return Ok(answer);
    }
    session.toolset().folders.forget(id);
    Ok(attempt(&*open(session, id)?))
}

/// Fetches a file of a server's skill, and holds it against what the server listed.
fn fetch(session: &SkillSession, id: EntryId, path: &str) -> Result<(), FolderError> {
    let snapshot = session.snapshot();
    // What is no path in the folder is for the reader to refuse.
    if let (Some(entry), Ok(path)) = (snapshot.entry(id), RelativePath::parse(path)) {
        let brought = snapshot.bring(entry, Wanted::File(&path));
        brought.map_err(|error| FolderError::Fetch(Box::new(error)))?;
    }
    Ok(())
}

fn open(session: &SkillSession, id: EntryId) -> Result<Arc<OpenSkill>, FolderError> {
    session.toolset().folders.of(id, || {
        let snapshot = session.snapshot();
        let entry = snapshot.entry(id).ok_or_else(|| FolderError::Gone(String::new()))?;
        let gone = |_| FolderError::Gone(snapshot.folder(entry).display().to_string());
        let folder = snapshot.open(entry).map_err(gone)?;
        Ok(OpenSkill { skill: session.skill(id), folder })
    })
}

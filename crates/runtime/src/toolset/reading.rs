//! The tools that read files of a skill.

use std::borrow::Cow;

use metier_catalog::{EntryId, NotBrought, Wanted as OfServer};
use metier_exec::path_in_skill;
use metier_files::{Error, PAGE, RelativePath, RelativePathError};
use metier_policy::{Action, Decision};
use serde_json::{Map, Value, json};

use super::folders::Held;
use super::hands::Desk;
use super::input::{InputProblem, Wanted};
use super::result::{ToolResult, error_json};
use super::visible::Purpose;
use super::{Call, NO_SKILL, Toolset};
use crate::read_file::{ReadError, content_text, read_seen};

/// The only folder that `load_skill_resources` reads from.
const REFERENCES: &str = "references";

/// The largest resource that the ADK returns, whole.
const MAX_RESOURCE: u64 = 10 * 1024 * 1024;

/// A read that did not happen.
enum NotRead {
    /// The skill's folder is gone.
    Gone(String),
    /// The gate says no.
    Gate(Box<Decision>),
    /// It is a server's skill, and the file is not what the server listed.
    Remote(Box<NotBrought>),
}

impl Toolset {
    /// `skill_read_file`.
    pub(super) fn read(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { surface, input, desk } = *call;
        let (name, path) = (input.text("skill_name")?, input.text("file_path")?);
        let offset = input.number("offset")?;
        let id = match self.visible.find(name, Purpose::Use, desk.active) {
            Ok(id) => id,
            Err(refusal) => return Ok(ToolResult::refused(refusal.text(surface))),
        };
        let seen = self.seen(id, path);
        let read =
            self.reading(id, &seen, desk, |held| match read_seen(&held.folder, name, path, &seen, offset) {
                Err(ReadError::NotFound { path, skill }) => {
                    Tried::Missing(ReadError::NotFound { path, skill })
                }
                other => Tried::Answer(other),
            });
        Ok(match read {
            Ok((Ok(text), decision)) => ToolResult::done(text).by(decision),
            Ok((Err(error), decision)) => ToolResult::refused(error.to_string()).by(decision),
            Err(NotRead::Gone(place)) => ToolResult::refused(format!("Skill '{name}' not found at {place}")),
            Err(NotRead::Gate(decision)) => ToolResult::refused(decision.to_string()).by(decision),
            Err(NotRead::Remote(error)) => ToolResult::refused(error.to_string()),
        })
    }

    /// `load_skill_resources`: `references/` of the skill that was activated last, and three errors in its words.
    pub(super) fn references(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { input, desk, .. } = *call;
        let wanted = input.references("resources")?;
        let Some(id) = desk.active.last().copied() else {
            let texts = wanted.into_iter().map(|one| (one.path, json!(format!("ERROR: {NO_SKILL}"))));
            return Ok(ToolResult::refused(Value::Object(texts.collect()).to_string()));
        };
        let mut texts = Map::new();
        let mut result = ToolResult::default();
        let mut any = false;
        for Wanted { path, offset } in wanted {
            let text = match self.reference(id, &path, offset, desk) {
                Ok((text, decision)) => {
                    any |= text.is_ok();
                    result.decision = Some(decision);
                    text.unwrap_or_else(|error| error)
                }
                Err(NotRead::Gone(_)) => "ERROR: file not found".to_owned(),
                Err(NotRead::Remote(error)) => format!("ERROR: {error}"),
                Err(NotRead::Gate(decision)) => {
                    let text = format!("ERROR: {decision}");
                    result.decision = Some(decision);
                    text
                }
            };
            texts.insert(path, json!(text));
        }
        // A call of which nothing came is a failed one; one good text among several makes it a good one.
        if !any {
            result.outcome = super::result::Outcome::Refused;
        }
        result.text = Value::Object(texts).to_string();
        Ok(result)
    }

    fn reference(
        &self,
        id: EntryId,
        path: &str,
        offset: u64,
        desk: &Desk<'_>,
    ) -> Result<(Result<String, String>, Box<Decision>), NotRead> {
        self.reading(id, path, desk, |held| {
            let outside = || Tried::Answer(Err("ERROR: path traversal not allowed".to_owned()));
            let missing = || Tried::Missing("ERROR: file not found".to_owned());
            let Some(below) = path.strip_prefix("references/") else {
                return Tried::Answer(Err("ERROR: only files inside references/ can be loaded".to_owned()));
            };
            let Ok(folder) = RelativePath::parse(REFERENCES) else { return outside() };
            let below = match RelativePath::parse(below) {
                Ok(below) => below,
                // The folder itself, which that system finds no file in either.
                Err(RelativePathError::Empty) => return missing(),
                Err(_) => return outside(),
            };
            // Beneath the opened folder, so that no link leads out of it, not even back into the skill.
            match held.folder.folder(&folder).and_then(|folder| folder.read_text(&below, offset, PAGE)) {
                Ok(content) => Tried::Answer(Ok(content_text(content, path, offset))),
                Err(Error::Outside { .. }) => outside(),
                Err(_) => missing(),
            }
        })
    }

    /// `load_skill_resource`: a file whole, up to the ADK's limit.
    pub(super) fn resource(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { surface, input, desk } = *call;
        let (name, path) = (input.text("skill_name")?, input.text("resource_path")?);
        let failed = |why: &str| error_json(&format!("load resource '{path}' from skill '{name}': {why}"));
        let id = match self.visible.find(name, Purpose::Use, desk.active) {
            Ok(id) => id,
            Err(refusal) => return Ok(ToolResult::refused(failed(&refusal.text(surface)))),
        };
        let not_found = || format!("resource not found: {path}");
        // The gate is asked about what is opened, so the blanks go before it.
        let seen = path.trim();
        let read = self.reading(id, seen, desk, |held| {
            let outside = || Tried::Answer(Err("the path leads out of the skill's folder".to_owned()));
            let Ok(asked) = RelativePath::parse(seen) else { return outside() };
            match held.folder.look_at(&asked).map(|file| file.size) {
                Ok(size) if size > MAX_RESOURCE => {
                    return Tried::Answer(Err(format!(
                        "resource {path} is too large (limit: {MAX_RESOURCE} bytes)"
                    )));
                }
                Ok(_) => {}
                Err(Error::NotFound { .. }) => return Tried::Missing(not_found()),
                Err(Error::Outside { .. }) => return outside(),
                Err(Error::IsAFolder { .. } | Error::NotAFile { .. }) => {
                    return Tried::Answer(Err(format!("{path} is not a file")));
                }
                Err(error) => return Tried::Answer(Err(error.to_string())),
            }
            match held.folder.read_text(&asked, 0, MAX_RESOURCE) {
                Ok(content) => Tried::Answer(Ok(content_text(content, path, 0))),
                Err(Error::NotFound { .. }) => Tried::Missing(not_found()),
                Err(error) => Tried::Answer(Err(error.to_string())),
            }
        });
        Ok(match read {
            Ok((Ok(text), decision)) => {
                ToolResult::done(json!({ "skill_name": name, "path": path, "content": text }).to_string())
                    .by(decision)
            }
            Ok((Err(why), decision)) => ToolResult::refused(failed(&why)).by(decision),
            Err(NotRead::Gone(_)) => ToolResult::refused(failed(&format!("skill not found: {name}"))),
            Err(NotRead::Gate(decision)) => ToolResult::refused(failed(&decision.to_string())).by(decision),
            Err(NotRead::Remote(error)) => ToolResult::refused(failed(&error.to_string())),
        })
    }

    /// A path that a model gave, seen from the skill's folder.
    fn seen<'p>(&self, id: EntryId, path: &'p str) -> Cow<'p, str> {
        let snapshot = self.visible.snapshot();
        match snapshot.entry(id) {
            Some(entry) => path_in_skill(&snapshot.folder(entry), path),
            None => Cow::Borrowed(path),
        }
    }

    /// Asks the gate about a file of a skill and tries to read it; once more where nothing is there, for the folder that is
    /// held open may be one that was replaced.
    fn reading<T, E>(
        &self,
        id: EntryId,
        path: &str,
        desk: &Desk<'_>,
        read: impl Fn(&Held) -> Tried<T, E>,
    ) -> Result<(Result<T, E>, Box<Decision>), NotRead> {
        let entry = self.visible.snapshot().entry(id);
        // The folder of a server's skill is there once something of it was fetched, which the gate is asked about first.
        let skill = match entry.and_then(metier_catalog::Entry::remote) {
            Some(_) => desk.hands.skill(id),
            None => self.held(id, desk)?.skill.clone(),
        };
        let decision = Box::new(desk.hands.decide(&Action::read(skill, path)));
        if !decision.is_allowed() {
            return Err(NotRead::Gate(decision));
        }
        self.bring(id, path)?;
        let held = self.held(id, desk)?;
        match read(&held) {
            Tried::Answer(answer) => Ok((answer, decision)),
            Tried::Missing(_) => {
                self.folders.forget(id);
                let held = self.held(id, desk)?;
                match read(&held) {
                    Tried::Answer(answer) => Ok((answer, decision)),
                    Tried::Missing(error) => Ok((Err(error), decision)),
                }
            }
        }
    }

    /// Has a file of a server's skill fetched, and held against what the server listed.
    fn bring(&self, id: EntryId, path: &str) -> Result<(), NotRead> {
        let snapshot = self.visible.snapshot();
        // What is no path in the folder is for the reader to refuse.
        if let (Some(entry), Ok(path)) = (snapshot.entry(id), RelativePath::parse(path)) {
            let brought = snapshot.bring(entry, OfServer::File(&path));
            brought.map_err(|error| NotRead::Remote(Box::new(error)))?;
        }
        Ok(())
    }

    fn held(&self, id: EntryId, desk: &Desk<'_>) -> Result<std::sync::Arc<Held>, NotRead> {
        self.folders.of(id, || {
            let snapshot = self.visible.snapshot();
            let entry = snapshot.entry(id).ok_or_else(|| NotRead::Gone(String::new()))?;
            let gone = |_| NotRead::Gone(snapshot.folder(entry).display().to_string());
            let folder = snapshot.open(entry).map_err(gone)?;
            Ok(Held { skill: desk.hands.skill(id), folder })
        })
    }
}

/// What an attempt gave.
enum Tried<T, E> {
    /// An answer, whatever it is.
    Answer(Result<T, E>),
    /// Nothing is there.
    Missing(E),
}

//! `.source.json`: where an installer says a skill came from. Shown, never believed: whether a skill is installed, and
//! from where, is decided by metier's own records.

use crate::code;
use metier_diagnostic::Diagnostic;
use metier_files::{Error, RelativePath, SkillDir};
use serde::Serialize;
use serde_json::{Map, Value};

/// The file's name, directly in a skill's folder.
pub const SOURCE_FILE: &str = ".source.json";

/// The largest such file that is read; real ones have a hundred bytes.
const MAX_SOURCE: u64 = 64 * 1024;

/// What a `.source.json` says, every key kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Provenance(Map<String, Value>);

impl Provenance {
    /// Reads a skill's file; `None` when there is none. One that is no object is a diagnostic.
    pub fn of(folder: &SkillDir) -> Result<Option<Self>, Box<Diagnostic>> {
        let corrupt = |why: String| Box::new(Diagnostic::new(&code::SOURCE_FILE_CORRUPT, why));
        let path = RelativePath::parse(SOURCE_FILE).map_err(|error| corrupt(error.to_string()))?;
        let bytes = match folder.read(&path, MAX_SOURCE) {
            Ok(bytes) => bytes,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(corrupt(error.to_string())),
        };
        let object = serde_json::from_slice(&bytes);
        object.map(|object| Some(Self(object))).map_err(|error| corrupt(format!("`{SOURCE_FILE}`: {error}")))
    }

    /// `local`, `git`, `marketplace`, …
    pub fn kind(&self) -> Option<&str> {
        self.text("type")
    }

    /// The text of a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str)
    }

    /// All of it.
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }
}

//! What `Glob` and `Grep` have in common: the files below a folder that may be looked at.

use metier_files::{Ground, Overgrown, RelativePath, WalkBounds};
use metier_policy::Decision;
use metier_runtime::Input;
use metier_skill::Tool;

use super::refusal::{Refused, decide};
use super::resolved_path::{Owner, ResolvedPath, masked};
use super::{GeneralTools, ToolContext};

/// The files below a folder.
pub(super) struct Searched<'a> {
    pub(super) spot: ResolvedPath<'a>,
    pub(super) decision: Box<Decision>,
    /// By path, seen from the ground. Without what looks like a secret by its name.
    pub(super) files: Vec<RelativePath>,
    /// How many look like secrets.
    pub(super) masked: usize,
    pub(super) overgrown: Option<Overgrown>,
}

impl Searched<'_> {
    /// The ground that paths are seen from.
    pub(super) fn ground(&self) -> &Ground {
        self.spot.footing.ground()
    }

    /// A file as the model can give it back: seen from the project, or the whole path.
    pub(super) fn shown(&self, file: &RelativePath) -> String {
        match self.spot.owner {
            Owner::Project => file.to_string(),
            _ => self.ground().path().join(file.as_path()).display().to_string(),
        }
    }

    /// A file seen from the folder that was asked for.
    pub(super) fn inner<'f>(&self, file: &'f RelativePath) -> &'f std::path::Path {
        let top = self.spot.place.as_ref().map_or(std::path::Path::new(""), RelativePath::as_path);
        file.as_path().strip_prefix(top).unwrap_or(file.as_path())
    }

    /// What was left out, a line each.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.masked > 0 {
            notes.push(format!("[{} files that look like secrets are left out]", self.masked));
        }
        if let Some(overgrown) = &self.overgrown {
            notes.push(format!(
                "[not everything was looked at: {overgrown}; give `path`, a folder further down]"
            ));
        }
        notes
    }
}

impl GeneralTools {
    /// Asks the gate about a search, and lists the files in question. A single file is a search in that file.
    pub(super) fn files<'a>(
        &'a self,
        tool: Tool,
        input: &Input<'_>,
        context: &ToolContext<'_>,
    ) -> Result<Searched<'a>, Refused> {
        let given = input.optional_text("path")?.unwrap_or(".");
        let spot = self.locate(given, context)?;
        let project = self.project()?;
        let action = {
            let survey = project.survey()?;
            self.looking(tool, &spot, &survey, context)
        };
        let decision = decide(context, &action, None)?;
        let ground = spot.footing.ground();
        let walked = match ground.walk(spot.place.as_ref(), &WalkBounds::default()) {
            Ok(walked) => walked,
            Err(metier_files::Error::NotAFolder { .. }) => {
                let file = spot.file()?.clone();
                ground.open_file(&file)?;
                metier_files::Walked { files: vec![metier_files::WalkedFile { path: file }], overgrown: None }
            }
            Err(error) => return Err(error.into()),
        };
        let overgrown = walked.overgrown;
        let mut files: Vec<RelativePath> = walked.files.into_iter().map(|file| file.path).collect();
        let before = files.len();
        if spot.owner != Owner::Outputs {
            let survey = project.known();
            let top = ground.path();
            files.retain(|file| masked(&top.join(file.as_path()), &survey, b"").is_none());
        }
        let masked = before - files.len();
        Ok(Searched { spot, decision, files, masked, overgrown })
    }
}

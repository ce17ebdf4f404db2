//! What `Glob` and `Grep` have in common: the files below a folder that may be looked at.

use std::sync::Arc;

use metier_files::{Overgrown, RelativePath, WalkBounds};
use metier_policy::Action;
use metier_runtime::ToolContext;
use metier_skill::Tool;

use super::GeneralTools;
use super::refusal::Refused;
use super::resolved_path::{Owner, ResolvedPath, masked};

/// The files below a folder.
pub(super) struct Searched {
    pub(super) spot: ResolvedPath,
    /// By path, seen from the ground. Without what looks like a secret by its name.
    pub(super) files: Vec<RelativePath>,
    /// How many look like secrets.
    pub(super) masked: usize,
    pub(super) overgrown: Option<Overgrown>,
}

impl Searched {
    /// A file as the model can give it back: seen from where the user is, or the whole path.
    pub(super) fn shown(&self, tools: &GeneralTools, file: &RelativePath) -> String {
        match self.spot.owner {
            Owner::Project => tools.seen_from_start(file.as_path()).display().to_string(),
            _ => self.spot.ground.path().join(file.as_path()).display().to_string(),
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
    /// Where a search below a path looks, and what the gate is asked about it.
    pub(super) fn search_place(
        &self,
        tool: Tool,
        given: &str,
        context: ToolContext<'_>,
    ) -> Result<(ResolvedPath, Action), Refused> {
        let spot = self.locate(given, context)?;
        let action = self.looking(tool, &spot, &*self.project()?.survey()?, context);
        Ok((spot, action))
    }

    /// The files in question. A single file is a search in that file.
    pub(super) fn files(&self, spot: ResolvedPath) -> Result<Searched, Refused> {
        let project = self.project()?;
        let ground = Arc::clone(&spot.ground);
        let walked = match ground.walk(spot.place.as_ref(), &WalkBounds::default()) {
            Ok(walked) => walked,
            Err(metier_files::Error::NotAFolder { .. }) => {
                let file = spot.file()?.clone();
                ground.open_file(&file)?;
                metier_files::Walked { files: vec![file], overgrown: None }
            }
            Err(error) => return Err(error.into()),
        };
        let overgrown = walked.overgrown;
        let mut files = walked.files;
        let before = files.len();
        if spot.owner != Owner::Outputs {
            let survey = project.known();
            let top = ground.path();
            files.retain(|file| masked(&top.join(file.as_path()), &survey, b"").is_none());
        }
        let masked = before - files.len();
        Ok(Searched { spot, files, masked, overgrown })
    }
}

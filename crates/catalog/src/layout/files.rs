//! The files that a layout is made from, read once and kept.

use crate::places::Places;
use crate::project::Project;
use crate::settings::ConfigFile;
use metier_diagnostic::Diagnostic;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The project and the configuration as they were read. A layout keeps them, so that the same configuration is seen with
/// another trust without reading it again: between two reads somebody could have changed it.
#[derive(Debug)]
pub(super) struct LayoutFiles {
    /// The project, or why there is none.
    pub(super) project: Result<Project, Box<Diagnostic>>,
    /// The user's configuration.
    pub(super) user: Arc<ReadConfig>,
    /// The project's configuration.
    pub(super) own: ReadConfig,
    /// When reading began. A file that changed since may have been read as it was before.
    pub(super) since: SystemTime,
}

/// A configuration file, if it is there and readable, and what was odd about it.
#[derive(Debug, Default)]
pub(super) struct ReadConfig {
    pub(super) file: Option<ConfigFile>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl ReadConfig {
    fn read(path: &Path) -> Self {
        let mut diagnostics = Vec::new();
        let file = ConfigFile::read(path, &mut diagnostics);
        Self { file, diagnostics }
    }
}

impl LayoutFiles {
    /// Finds the project and reads both configuration files.
    pub(super) fn read(places: &Places) -> Self {
        let since = SystemTime::now();
        let user = Arc::new(ReadConfig::read(&places.config_file()));
        Self::with_user(places, user, since)
    }

    /// The files as seen from another folder. The user's configuration is not read again.
    pub(super) fn seen_from(&self, places: &Places) -> Self {
        Self::with_user(places, Arc::clone(&self.user), self.since)
    }

    fn with_user(places: &Places, user: Arc<ReadConfig>, since: SystemTime) -> Self {
        let project = Project::find(places);
        let own = match &project {
            Ok(project) => ReadConfig::read(&project.config_file()),
            Err(_) => ReadConfig::default(),
        };
        Self { project, user, own, since }
    }
}

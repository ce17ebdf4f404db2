//! Skills that belong together: those of a plugin, and those of a crew.

use std::path::PathBuf;

/// A plugin or a crew: several skills with a folder in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillGroup {
    /// Its folder.
    pub folder: PathBuf,
    /// The private folder that its skills share.
    pub data: Option<PathBuf>,
    /// Which of the two it is.
    pub kind: SkillGroupKind,
}

/// What makes several skills belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillGroupKind {
    /// A plugin's manifest above them.
    Plugin,
    /// A crew file that names them.
    Crew {
        /// The folder beside the crew file that its skills write. It need not be there.
        data: PathBuf,
    },
}

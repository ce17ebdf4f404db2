//! Skills that belong together: those of a plugin, and those of a crew.

use std::path::Path;

/// A plugin or a crew: several skills with a folder in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkillGroup<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// The private folder that its skills share.
    pub data: Option<&'a Path>,
    /// Which of the two it is.
    pub kind: SkillGroupKind<'a>,
}

/// What makes several skills belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillGroupKind<'a> {
    /// A plugin's manifest above them.
    Plugin,
    /// A crew file that names them.
    Crew {
        /// The folder beside the crew file that its skills write. It need not be there.
        data: &'a Path,
    },
}

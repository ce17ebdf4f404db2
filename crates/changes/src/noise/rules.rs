//! What the ignore files of a project say.

use std::collections::HashMap;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::read;
use crate::beneath::Tree;
use crate::path::LayerPath;

/// The largest file of patterns that is read. Real ones have a few kilobytes.
const MAX_PATTERNS: u64 = 256 << 10;

/// The patterns of a project's folders, read when they are first needed.
#[derive(Default)]
pub(super) struct IgnoreRules {
    patterns: HashMap<Option<LayerPath>, Vec<Gitignore>>,
    /// Whether each folder is ignored, as far as that was asked: a script can make a tree as deep as it likes.
    folders: HashMap<LayerPath, bool>,
}

impl IgnoreRules {
    /// Whether the patterns cover a path or a folder above it: in an ignored folder nothing is taken out again.
    pub(super) fn covers(&mut self, project: &Tree, path: &LayerPath, is_folder: bool) -> bool {
        // From the nearest folder that is known down to the path, without recursion.
        let mut unknown = Vec::new();
        let mut above = path.parent();
        let mut is_ignored = false;
        while let Some(folder) = above {
            if let Some(known) = self.folders.get(&folder) {
                is_ignored = *known;
                break;
            }
            above = folder.parent();
            unknown.push(folder);
        }
        for folder in unknown.into_iter().rev() {
            is_ignored = is_ignored || self.covers_by_name(project, &folder, true);
            self.folders.insert(folder, is_ignored);
        }
        is_ignored || self.covers_by_name(project, path, is_folder)
    }

    /// What the innermost folder with a pattern for the path says.
    fn covers_by_name(&mut self, project: &Tree, path: &LayerPath, is_folder: bool) -> bool {
        let mut folder = path.parent();
        loop {
            let patterns = self.patterns(project, folder.as_ref());
            let start = folder.as_ref().map(LayerPath::as_path);
            let inner = start.and_then(|start| path.as_path().strip_prefix(start).ok());
            let inner = inner.unwrap_or(path.as_path());
            for pattern in patterns {
                match pattern.matched(inner, is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            match folder {
                None => return false,
                Some(inner) => folder = inner.parent(),
            }
        }
    }

    /// The patterns of a folder, those that count most first.
    fn patterns(&mut self, project: &Tree, folder: Option<&LayerPath>) -> &[Gitignore] {
        self.patterns.entry(folder.cloned()).or_insert_with(|| {
            let mut files = vec![LayerPath::below(folder, ".gitignore".as_ref())];
            if folder.is_none() {
                files.extend(LayerPath::new(".git/info/exclude".into()));
            }
            files.iter().filter_map(|file| parse(&read(project, file, MAX_PATTERNS)?)).collect()
        })
    }
}

/// What is not a pattern hides nothing.
fn parse(bytes: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(bytes).lines() {
        let _ = builder.add_line(None, line.trim_start_matches('\u{feff}'));
    }
    builder.build().ok().filter(|patterns| !patterns.is_empty())
}

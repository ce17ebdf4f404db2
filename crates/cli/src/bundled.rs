//! The skills that come with metier: the files of `skills/`, which `build.rs` puts into the program.

use metier_catalog::Bundled;
use metier_files::{Imprint, ImprintFile};
use std::path::Path;

/// `FILES`, in the order of their paths, and `DIGEST`, which is over all of them.
mod files {
    use super::ImprintFile;

    include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
}

/// The skills, and where they are kept below metier's cache folder. Each set of files has a folder of its own, so that an
/// older metier and a newer one do not write over each other.
pub(crate) fn skills(cache: Option<&Path>) -> Bundled {
    let folder = cache.map(|cache| cache.join("bundled").join(files::DIGEST));
    Bundled { folder, imprint: Imprint::new(files::FILES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_taken_along_in_order() {
        let imprint = skills(None).imprint;
        for file in files::FILES {
            let folder = Path::new(file.path).parent().unwrap();
            assert!(!imprint.part(folder).is_empty(), "{} is left out", file.path);
        }
        assert!(files::FILES.is_sorted_by_key(|file| file.path));
        let named = |path: &str| files::FILES.iter().find(|file| file.path == path).copied();
        assert!(
            named("count-lines/SKILL.md")
                .is_some_and(|file| !file.executable && file.bytes.starts_with(b"---\n"))
        );
        assert!(named("todo/skills/create-task/scripts/create-task.sh").is_some_and(|file| file.executable));
        assert!(named("todo/.claude-plugin/plugin.json").is_some());
        assert_eq!(files::DIGEST.len(), 32);
    }
}

//! Paths as they are written, without asking the file system.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..` steps, as text. Where links are on the way it may lead elsewhere than the path did: whoever opens
/// it looks.
pub fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_and_none_leads_above_the_top() {
        for (path, expect) in
            [("/a/b/../c", "/a/c"), ("/a/./b/", "/a/b"), ("/../../a", "/a"), ("a/../../b", "b"), ("", "")]
        {
            assert_eq!(plain_path(Path::new(path)), Path::new(expect), "{path}");
        }
    }
}

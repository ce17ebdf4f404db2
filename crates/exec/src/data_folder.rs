//! Where a skill keeps what it remembers between runs.

use std::io;
use std::path::{Path, PathBuf};

use metier_files::{FileDigest, private_folder};

/// The longest part of a path that is made of a name. File systems take 255 bytes; the digest needs its share.
const MAX_PART: usize = 120;

/// How much of a digest tells two names, two projects or two environments apart: 64 bits, where a user has a few thousand of each.
const DIGITS: usize = 16;

/// Whose data it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOwner<'a> {
    /// Where the skill comes from, such as `user.claude`.
    pub origin: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// The project of a project's skill, or the root of one that the command line names: two of them may each have their own
    /// `deploy`, and neither may read what the other's remembers.
    pub project: Option<&'a Path>,
}

impl DataOwner<'_> {
    /// The folder below `base`. A name is a stranger's text, so it is never a path: whatever is not plain is escaped, and
    /// different owners have different folders, also where upper and lower case are the same.
    pub fn place(&self, base: &Path) -> PathBuf {
        let mut origin = plain(self.origin);
        if let Some(project) = self.project {
            origin.push_str("%p");
            origin.push_str(&short_digest(project.as_os_str().as_encoded_bytes()));
        }
        base.join(origin).join(plain(self.name))
    }

    /// The same, and makes sure that it is there and only the user can look into it.
    pub fn make(&self, base: &Path) -> io::Result<PathBuf> {
        let place = self.place(base);
        private_folder(&place)?;
        Ok(place)
    }
}

/// A text as one part of a path: lower-case letters, digits, `-`, `_` and inner dots stay, every other byte is `%` and its
/// two hexadecimal digits.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => plain.push(char::from(byte)),
            // A dot at the beginning hides a folder, and two of them are a step up.
            b'.' if at > 0 => plain.push('.'),
            _ => plain.push_str(&format!("%{byte:02x}")),
        }
    }
    if plain.is_empty() {
        // No byte is escaped like this.
        return "%".to_owned();
    }
    if plain.len() > MAX_PART {
        plain.truncate(MAX_PART);
        plain.push_str("%d");
        plain.push_str(&short_digest(text.as_bytes()));
    }
    plain
}

/// The beginning of a digest, for names of folders.
pub(crate) fn short_digest(bytes: &[u8]) -> String {
    let digest = FileDigest::of(bytes).to_string();
    digest.rsplit(':').next().unwrap_or_default().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Component;

    use metier_testkit::Workspace;
    use proptest::prelude::*;

    use super::*;

    fn place(origin: &str, name: &str) -> PathBuf {
        DataOwner { origin, name, project: None }.place(Path::new("/data"))
    }

    #[test]
    fn plain_names_stay_and_others_are_escaped() {
        assert_eq!(place("user.claude", "greet-people"), Path::new("/data/user.claude/greet-people"));
        assert_eq!(place("user", "../../etc"), Path::new("/data/user/%2e.%2f..%2fetc"));
        assert_eq!(place("user", ".."), Path::new("/data/user/%2e."));
        assert_eq!(place("user", "Review"), Path::new("/data/user/%52eview"));
        assert_eq!(place("", ""), Path::new("/data/%/%"));
    }

    #[test]
    fn owners_that_differ_have_folders_that_differ() {
        let long = "x".repeat(200);
        let names = ["a", "A", "", "%", "%61", "a/b", "a%2fb", ".", "..", "é", &long, &format!("{long}y")];
        let places: HashSet<PathBuf> = names.iter().map(|name| place("user", name)).collect();
        assert_eq!(places.len(), names.len());
        let of = |project| DataOwner { origin: "project", name: "deploy", project }.place(Path::new("/data"));
        let projects = [None, Some(Path::new("/a")), Some(Path::new("/b"))];
        assert_eq!(projects.iter().map(|project| of(*project)).collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn a_folder_is_made_and_a_link_in_its_place_refused() {
        let workspace = Workspace::new().dir("elsewhere").symlink("data/user/evil", "../../elsewhere");
        let owner = |name| DataOwner { origin: "user", name, project: None };
        let folder = owner("greet").make(&workspace.join("data")).unwrap();
        assert_eq!(folder, workspace.join("data/user/greet"));
        assert!(owner("evil").make(&workspace.join("data")).is_err());
    }

    proptest! {
        #[test]
        fn no_name_leads_anywhere_else(origin in any::<String>(), name in any::<String>()) {
            let place = place(&origin, &name);
            let inside = place.strip_prefix("/data").unwrap();
            prop_assert_eq!(inside.components().count(), 2);
            prop_assert!(inside.components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert!(inside.iter().all(|part| part.len() < 255));
        }
    }
}

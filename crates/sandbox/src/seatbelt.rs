//! A profile as the text that macOS's Seatbelt takes. **Untested**: written from the language's documented forms and never
//! tried on that system, so nothing starts a process with it yet; [`Tier::Seatbelt`](crate::Tier::Seatbelt) is its place.
//!
//! Everything is denied that is not named. Later rules win over earlier ones, so what is masked or protected comes last.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::profile::Profile;

/// The system's own programs and libraries there.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/private/etc", "/nix/store"];

/// Devices that are no device.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/// What every program needs to start: itself, its children, the clock, the names of users.
const START: &str = "(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(deny network*)
";

/// The text for a call whose scratch folder lies at `scratch`.
pub(crate) fn text(profile: &Profile, scratch: &Path) -> String {
    let mut text = START.to_owned();
    let mut add = |allowed: &str, what: &str, path: &Path| {
        let _ = writeln!(text, "({allowed} {what} (subpath {}))", quoted(path));
    };
    for path in SYSTEM {
        add("allow", "file-read*", Path::new(path));
    }
    for path in DEVICES {
        add("allow", "file-read* file-write-data", Path::new(path));
    }
    for path in profile.readable.iter().chain(&profile.programs) {
        add("allow", "file-read*", path);
    }
    if let Some(project) = &profile.project {
        add("allow", "file-read*", &project.folder);
        for path in &project.writable {
            add("allow", "file-read* file-write*", path);
        }
    }
    for path in profile.writable.iter().chain(profile.data_paths()).map(PathBuf::as_path).chain([scratch]) {
        add("allow", "file-read* file-write*", path);
    }
    // The skill stays as it is, also in a project that can be written.
    for path in &profile.readable {
        add("deny", "file-write*", path);
    }
    if let Some(project) = &profile.project {
        for path in &project.protected {
            add("deny", "file-write*", path);
        }
        for path in &project.masked {
            add("deny", "file-read* file-write*", path);
        }
    }
    text
}

/// A path as a text of the language, in which a quote or a backslash would end or change it.
fn quoted(path: &Path) -> String {
    let mut quoted = String::from("\"");
    for character in path.to_string_lossy().chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DataFolder, Project, ProjectAccess};

    #[test]
    fn everything_is_denied_but_what_is_named_and_masks_come_last() {
        let mut profile = Profile::new("/skills/a".into());
        profile.project = Some(Project {
            access: ProjectAccess::ReadOnly,
            folder: "/p".into(),
            writable: vec!["/p/docs".into()],
            masked: vec!["/p/.env".into()],
            protected: vec!["/p/.git/hooks".into()],
        });
        profile.data = vec![DataFolder::new("/d".into())];
        let text = text(&profile, Path::new("/scratch"));
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        let at =
            |line: &str| text.lines().position(|other| other == line).unwrap_or_else(|| panic!("{line}"));
        assert!(
            at("(allow file-read* (subpath \"/p\"))")
                < at("(deny file-read* file-write* (subpath \"/p/.env\"))")
        );
        assert!(
            at("(allow file-read* file-write* (subpath \"/p/docs\"))")
                < at("(deny file-write* (subpath \"/p/.git/hooks\"))")
        );
        at("(allow file-read* file-write* (subpath \"/scratch\"))");
        at("(deny file-write* (subpath \"/skills/a\"))");
        assert!(!text.contains("network-outbound"));
    }

    #[test]
    fn a_path_cannot_end_its_quotes() {
        assert_eq!(quoted(Path::new("/a\")(allow default)(\"")), "\"/a\\\")(allow default)(\\\"\"");
        assert_eq!(quoted(Path::new("/a\\")), "\"/a\\\\\"");
    }
}

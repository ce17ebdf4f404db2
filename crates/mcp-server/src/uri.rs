//! URIs of skills and their files: `skill://NAME/references/style.md`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use metier_files::RelativePath;
use metier_skill::is_canonical;

const SCHEME: &str = "skill://";

/// A parsed URI. The skill and the path need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkillUri {
    /// The skill's name.
    pub(crate) skill: String,
    /// The file or folder; `None` is the skill's own folder.
    pub(crate) path: Option<RelativePath>,
}

impl SkillUri {
    /// Parses a URI. `None` for another scheme, an invalid name, a path that leaves the folder, a trailing slash or a query.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(SCHEME)?;
        if rest.ends_with('/') || rest.contains(['?', '#']) {
            return None;
        }
        let (skill, path) = match rest.split_once('/') {
            Some((skill, path)) => (skill, Some(path)),
            None => (rest, None),
        };
        if !is_canonical(skill) {
            return None;
        }
        let path = match path {
            Some(path) => Some(RelativePath::parse_os(&OsString::from_vec(decoded(path)?)).ok()?),
            None => None,
        };
        Some(Self { skill: skill.to_owned(), path })
    }

    /// The URI of a file or folder. `None` if its name is not UTF-8: MCP can only name text.
    pub(crate) fn file(skill: &str, path: &RelativePath) -> Option<String> {
        path.as_str().map(|path| Self::below(skill, path))
    }

    /// The URI of a path that is UTF-8.
    pub(crate) fn below(skill: &str, path: &str) -> String {
        let mut uri = format!("{SCHEME}{skill}/");
        for byte in path.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
                uri.push(char::from(byte));
            } else {
                uri.push_str(&format!("%{byte:02X}"));
            }
        }
        uri
    }
}

/// Decodes percent escapes; `None` if one is incomplete.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_skill_and_a_file_in_it() {
        let check = |uri: &str, expect: Option<(&str, Option<&str>)>| {
            let found = SkillUri::parse(uri);
            let found = found
                .as_ref()
                .map(|uri| (uri.skill.as_str(), uri.path.as_ref().map(|path| path.as_str().unwrap_or("?"))));
            assert_eq!(found, expect, "{uri}");
        };
        check("skill://greet", Some(("greet", None)));
        check("skill://greet/SKILL.md", Some(("greet", Some("SKILL.md"))));
        check("skill://greet/a%20b/%C3%A4.md", Some(("greet", Some("a b/ä.md"))));
        for uri in [
            "",
            "skill://",
            "skill:///etc/passwd",
            "skill://greet/",
            "skill://greet/a/",
            "skill://Greet/SKILL.md",
            "skill://../SKILL.md",
            "skill://greet/../other/SKILL.md",
            "skill://greet/%2e%2e/other/SKILL.md",
            "skill://greet/%2Fetc/passwd",
            "skill://greet/a%00b",
            "skill://greet/a%2",
            "skill://greet/a%zz",
            "skill://greet/a?b",
            "skill://greet/a#b",
            "file:///etc/passwd",
            "file:/etc/passwd",
            "SKILL://greet/SKILL.md",
        ] {
            check(uri, None);
        }
    }

    #[test]
    fn written_uris_are_parsed_back() {
        for path in ["SKILL.md", "references/a b.md", "ä/ö%.md", "a#b?c", "100%.txt", "x[1].md"] {
            let path = RelativePath::parse(path).unwrap();
            let uri = SkillUri::file("greet", &path).unwrap();
            assert_eq!(SkillUri::parse(&uri).unwrap().path, Some(path), "{uri}");
        }
    }

    /// Accepted URIs stay in the skill's folder and round-trip, whatever a client sends.
    #[test]
    fn accepted_uris_stay_in_the_folder_and_round_trip() {
        const PIECES: [&str; 18] = [
            "skill://", "greet", "/", "//", "..", ".", "%2e", "%2F", "%5c", "%00", "\\", "SKILL.md", "?",
            "#", "ü", "%C3%BC", "%ff", "%",
        ];
        let (mut number, mut accepted) = (7_u64, 0);
        for _ in 0..20_000 {
            let mut uri = "skill://greet/".to_owned();
            for _ in 0..5 {
                number =
                    number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                uri.push_str(PIECES[usize::try_from(number >> 33).unwrap() % PIECES.len()]);
            }
            let Some(read) = SkillUri::parse(&uri) else { continue };
            let Some(path) = read.path else { continue };
            accepted += 1;
            let parts = path.as_path().components();
            assert!({ parts }.all(|part| matches!(part, std::path::Component::Normal(_))), "{uri}");
            if let Some(written) = SkillUri::file(&read.skill, &path) {
                assert_eq!(SkillUri::parse(&written).unwrap().path, Some(path), "{uri}");
            }
        }
        assert!(accepted > 100, "only {accepted} URIs were accepted");
    }
}

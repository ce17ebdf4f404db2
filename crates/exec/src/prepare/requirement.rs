//! One Python package that a skill wants: a name with extras, versions and a condition, and nothing else.

use std::fmt;

/// The longest requirement that is read. Real ones have some dozen characters, with hashes some hundred.
const MAX_REQUIREMENT: usize = 4096;

/// The operators between a name and a version, longer ones before those that they begin with.
const OPERATORS: &[&str] = &["===", "~=", "==", "!=", "<=", ">=", "<", ">"];

/// A package by its name, such as `requests[socks]>=2.31,<3 ; python_version < "3.12"`, in one spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PackageRequirement {
    text: String,
    name: String,
}

/// Why a line is not taken. Whoever installs it reads options, paths and addresses in such lines, too, and each of them
/// could lead elsewhere than to the registry that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// It begins with `-`.
    #[error(
        "`{0}` is an option: only names with versions are taken, so that all of it comes from the one index that is asked about; write the packages themselves"
    )]
    Option(String),
    /// It says where to get the package.
    #[error(
        "`{0}` comes from an address or a file: only packages of the index are installed; name one with a version, such as `requests==2.32.3`"
    )]
    Place(String),
    /// It has no such shape.
    #[error("`{0}` is no requirement: it should be a name with versions, such as `requests>=2.31,<3`")]
    Shape(String),
}

impl PackageRequirement {
    /// Reads one requirement.
    pub(crate) fn parse(text: &str) -> Result<Self, RequirementError> {
        let text = text.trim();
        let shown = || text.chars().take(80).collect::<String>();
        let shape = || RequirementError::Shape(shown());
        if text.starts_with('-') {
            return Err(RequirementError::Option(shown()));
        }
        let requirement = text.split(';').next().unwrap_or_default();
        let is_place = |text: &str| {
            text.contains("://") || text.contains('@') || text.contains('/') || text.starts_with('.')
        };
        if is_place(requirement) || requirement.contains('\\') {
            return Err(RequirementError::Place(shown()));
        }
        if text.len() > MAX_REQUIREMENT || !text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
            return Err(shape());
        }
        let (main, hashes) = split_hashes(text).ok_or_else(shape)?;
        let (main, marker) = match main.split_once(';') {
            Some((main, marker)) => (main, Some(marker.trim())),
            None => (main, None),
        };
        let end = main.find(|character: char| !is_name(character)).unwrap_or(main.len());
        let (name, rest) = main.split_at(end);
        if !is_whole_name(name) {
            return Err(shape());
        }
        let (extras, versions) = extras(rest.trim()).ok_or_else(shape)?;
        let versions = specifiers(versions).ok_or_else(shape)?;
        let mut whole = name.to_owned();
        if !extras.is_empty() {
            whole.push_str(&format!("[{}]", extras.join(",")));
        }
        whole.push_str(&versions.join(","));
        if let Some(marker) = marker {
            if !is_marker(marker) {
                return Err(shape());
            }
            whole.push_str(" ; ");
            whole.push_str(&marker.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
        }
        for hash in hashes {
            whole.push_str(" --hash=");
            whole.push_str(hash);
        }
        Ok(Self { text: whole, name: normal_name(name) })
    }

    /// The package's name as indexes compare it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for PackageRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A name as indexes compare it: lower case, and a run of `-`, `_` and `.` is one `-`.
pub(crate) fn normal_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// The requirements of a whole file, each with its line. The first that is not taken ends it: half of what a skill wants
/// is no environment for it.
pub(crate) fn read_file(text: &str) -> Result<Vec<PackageRequirement>, (usize, RequirementError)> {
    let mut found = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let mut whole = line.trim_end().to_owned();
        while let Some(begun) = whole.strip_suffix('\\') {
            let next = lines.next().map_or("", |(_, next)| next.trim());
            whole = format!("{begun} {next}");
        }
        let whole = without_comment(&whole).trim();
        if !whole.is_empty() {
            found.push(PackageRequirement::parse(whole).map_err(|error| (at + 1, error))?);
        }
    }
    Ok(found)
}

/// A comment begins at the start of a line or behind a blank, as whoever installs reads it.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, character) in line.char_indices() {
        if character == '#' && before.is_ascii_whitespace() {
            return line.get(..at).unwrap_or_default();
        }
        before = character;
    }
    line
}

/// Splits `--hash=sha256:…` off the end: the one option that narrows.
fn split_hashes(text: &str) -> Option<(&str, Vec<&str>)> {
    let Some((main, options)) = text.split_once(" --") else {
        return Some((text, Vec::new()));
    };
    let mut hashes = Vec::new();
    for option in options.split_ascii_whitespace() {
        let hash = option.trim_start_matches("--").strip_prefix("hash=")?;
        let digits = hash.strip_prefix("sha256:")?;
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        hashes.push(hash);
    }
    Some((main, hashes))
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

fn is_whole_name(name: &str) -> bool {
    let ends = |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
    ends(name.chars().next()) && ends(name.chars().next_back())
}

/// `[a, b]` and what follows.
fn extras(text: &str) -> Option<(Vec<&str>, &str)> {
    let Some(rest) = text.strip_prefix('[') else {
        return Some((Vec::new(), text));
    };
    let (inner, rest) = rest.split_once(']')?;
    let extras: Vec<&str> = inner.split(',').map(str::trim).filter(|extra| !extra.is_empty()).collect();
    let is_fine = extras.iter().all(|extra| extra.chars().all(is_name) && is_whole_name(extra));
    is_fine.then_some((extras, rest.trim()))
}

/// `>= 2, < 3` or the same in parentheses, without blanks.
fn specifiers(text: &str) -> Option<Vec<String>> {
    let text = match text.strip_prefix('(') {
        Some(inner) => inner.strip_suffix(')')?.trim(),
        None => text,
    };
    if text.is_empty() {
        return Some(Vec::new());
    }
    let one = |part: &str| {
        let part = part.trim();
        let operator = OPERATORS.iter().find(|operator| part.starts_with(**operator))?;
        let version = part.strip_prefix(operator)?.trim();
        let is_version = |character: char| {
            character.is_ascii_alphanumeric() || matches!(character, '.' | '*' | '+' | '!' | '-' | '_')
        };
        let is_fine = !version.is_empty() && version.chars().all(is_version);
        is_fine.then(|| format!("{operator}{version}"))
    };
    text.split(',').map(one).collect()
}

/// A condition: names, texts in quotes and comparisons. It is read by whoever installs; here it only must not be
/// something else.
fn is_marker(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || " \t_.-+*'\"<>=!~(),".contains(c);
    !text.is_empty() && text.chars().all(is_fine) && !text.contains("--")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_versions_extras_and_conditions_have_one_spelling() {
        let check = |text: &str, expect: &str| {
            assert_eq!(PackageRequirement::parse(text).unwrap().to_string(), expect, "{text}");
        };
        check("requests", "requests");
        check(" requests == 2.32.3 ", "requests==2.32.3");
        check("requests[socks, security] >= 2.31 , < 3", "requests[socks,security]>=2.31,<3");
        check("Pillow~=10.0", "Pillow~=10.0");
        check("zope.interface (>=5)", "zope.interface>=5");
        check("tomli>=2 ;  python_version  < '3.11'", "tomli>=2 ; python_version < '3.11'");
        check("torch==2.1.0+cpu", "torch==2.1.0+cpu");
        check("x==1.*", "x==1.*");
        let hash = "a".repeat(64);
        check(&format!("six==1.16.0 --hash=sha256:{hash}"), &format!("six==1.16.0 --hash=sha256:{hash}"));
        assert_eq!(PackageRequirement::parse("Zope.Interface__x").unwrap().name(), "zope-interface-x");
    }

    #[test]
    fn what_leads_elsewhere_is_refused_with_the_reason() {
        let check = |text: &str, expect: &str| {
            let error = PackageRequirement::parse(text).unwrap_err().to_string();
            assert!(error.contains(expect), "{text}: {error}");
        };
        for text in ["-r other.txt", "--index-url https://x", "-e .", "-c c.txt", "--pre"] {
            check(text, "is an option");
        }
        for text in
            ["./wheel", "../x", "/abs/x", "x @ https://e.example/x.whl", "git+https://e.example/x", "a\\b"]
        {
            check(text, "comes from an address or a file");
        }
        for text in [
            "",
            "=1",
            "x=1",
            "x>",
            "x 1",
            "x --global-option=a",
            "x==1 --hash=md5:00",
            "x==${HOME}",
            "x[",
            "é",
            "x ; a --b",
            "x;",
            "-",
            "x==1\n--pre",
        ] {
            assert!(PackageRequirement::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_is_read_line_by_line_without_its_comments() {
        let text = "\u{feff}# what we need\nrequests==2.32.3  # http\n\n six \\\n  >= 1.16\nx#y\n";
        let (line, error) = read_file(text).unwrap_err();
        assert_eq!((line, error), (6, RequirementError::Shape("x#y".to_owned())));
        let found = read_file(text.trim_end_matches("x#y\n")).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["requests==2.32.3", "six>=1.16"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fail_and_what_is_taken_is_taken_again(text in "[a-c=<>~!,;@#/\\\\ \\[\\]()'\"\\-.0-9\n]{0,24}") {
            let _ = read_file(&text);
            if let Ok(requirement) = PackageRequirement::parse(&text) {
                let again = PackageRequirement::parse(&requirement.to_string());
                prop_assert_eq!(again, Ok(requirement));
            }
        }

        #[test]
        fn any_bytes_can_be_read(text in any::<String>()) {
            let _ = read_file(&text);
            let _ = PackageRequirement::parse(&text);
        }
    }
}

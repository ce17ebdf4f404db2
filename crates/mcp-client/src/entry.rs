//! One entry of a server's list of skills. It is accepted only if its files can be verified later.

use std::collections::HashSet;

use metier_catalog::{RemoteFile, one_line};
use metier_files::{DocumentName, FileDigest, RelativePath};
use metier_skill::is_canonical;
use serde_json::{Map, Value};

/// The most files of one skill, as the extension requires of every host.
pub const MAX_FILES: usize = 512;

/// The most bytes of all files of a skill, as the extension requires of every host.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// The longest URI: as long as the longest path of a file system.
const MAX_URI: usize = 4_096;

/// The deepest folder of a skill. Public skills have three levels.
const MAX_DEPTH: usize = 16;

/// The longest path component of common file systems.
const MAX_COMPONENT: usize = 255;

/// The largest frontmatter in bytes of JSON, the same limit as for local files.
const MAX_FRONTMATTER: usize = 64 * 1024;

/// What an entry and a file lack most often, and what is wrong with URIs.
const NO_URI: &str = "it has no `uri`";
const NO_SCHEME: &str = "has no scheme such as `skill:`";
const BAD_CHARACTERS: &str = "has forbidden characters or a query";
const BAD_COMPONENT: &str = "has an empty path component, a `..`, or an escaped separator";

/// A skill in a server's list.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillEntry {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// Its name, which the folder and the frontmatter share.
    pub name: String,
    /// The frontmatter.
    pub frontmatter: Map<String, Value>,
    /// All files, sorted by path.
    pub files: Vec<RemoteFile>,
}

/// Why an entry is rejected. Nothing is decided by it: it is shown beside the skills that were accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EntryError(String);

impl SkillEntry {
    /// Parses an entry. Nothing is fetched.
    pub fn read(entry: &Value) -> Result<Self, EntryError> {
        Self::parsed(entry).map_err(EntryError)
    }

    fn parsed(entry: &Value) -> Result<Self, String> {
        let entry = entry.as_object().ok_or("it is not an object")?;
        let uri = entry.get("uri").and_then(Value::as_str).ok_or(NO_URI)?;
        check_uri(uri).map_err(|why| format!("its URI {why}"))?;
        let ending = format!("/{}", DocumentName::CANONICAL);
        let folder = uri.strip_suffix(&ending).ok_or("its URI does not end in `/SKILL.md`")?;
        let frontmatter = entry.get("frontmatter").and_then(Value::as_object);
        let lacks = |key: &str| format!("its `frontmatter` has no `{key}`");
        let frontmatter = frontmatter.ok_or_else(|| lacks("name"))?;
        let text = |key: &str| {
            let text = frontmatter.get(key).and_then(Value::as_str);
            text.filter(|text| !text.trim().is_empty()).ok_or_else(|| lacks(key))
        };
        let (name, _) = (text("name")?, text("description")?);
        if Value::Object(frontmatter.clone()).to_string().len() > MAX_FRONTMATTER {
            return Err(format!("its `frontmatter` has more than {MAX_FRONTMATTER} bytes"));
        }
        if !is_canonical(name) {
            let name = one_line(name, 80);
            return Err(format!("`{name}` is not a valid skill name: 1 to 64 of `a-z`, `0-9` and `-`"));
        }
        let last = folder.rsplit(['/', ':']).next().unwrap_or_default();
        if last != name {
            let folder = one_line(last, 80);
            return Err(format!("its name is `{name}`, but its folder is `{folder}`"));
        }
        let files = match entry.get("resources") {
            Some(Value::Array(files)) => files_of(folder, files)?,
            Some(Value::String(word)) if word == "dynamic" => {
                return Err(
                    "its files are `dynamic` and have no digests, so it cannot be verified".to_owned()
                );
            }
            _ => return Err("its `resources` are not listed, so it cannot be verified".to_owned()),
        };
        if !files.iter().any(|file| file.uri == uri) {
            return Err("its `SKILL.md` is not among its `resources`".to_owned());
        }
        Ok(Self { uri: uri.to_owned(), name: name.to_owned(), frontmatter: frontmatter.clone(), files })
    }

    /// The digest of all URIs and file digests, which an approval covers. URIs contain no NUL and digests have a fixed length, so
    /// the encoding is unambiguous.
    pub fn set(&self) -> FileDigest {
        let mut lines: Vec<String> =
            self.files.iter().map(|file| format!("{}\0{}\n", file.uri, file.digest)).collect();
        lines.sort();
        FileDigest::of(lines.concat().as_bytes())
    }

    /// The frontmatter as a `SKILL.md` without a body: JSON is YAML.
    pub fn text(&self) -> String {
        format!("---\n{}\n---\n", Value::Object(self.frontmatter.clone()))
    }
}

fn files_of(folder: &str, listed: &[Value]) -> Result<Vec<RemoteFile>, String> {
    if listed.len() > MAX_FILES {
        return Err(format!("it has {} files; the limit is {MAX_FILES}", listed.len()));
    }
    let mut files = Vec::with_capacity(listed.len());
    let mut sum = 0_u64;
    for file in listed {
        let uri = file.get("uri").and_then(Value::as_str).ok_or(NO_URI)?;
        let shown = || one_line(uri, 200);
        let bad_uri = |why: String| format!("the URI `{}` {why}", shown());
        check_uri(uri).map_err(bad_uri)?;
        let path = uri.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        let path = path.ok_or_else(|| format!("`{}` is not in the skill's folder", shown()))?;
        let path = path_of(path).map_err(bad_uri)?;
        let unchecked = |what| format!("`{}` has no valid `{what}`", shown());
        let size = file.get("size").and_then(Value::as_u64).ok_or_else(|| unchecked("size"))?;
        let digest = file.get("digest").and_then(Value::as_str).and_then(|digest| digest.parse().ok());
        let digest = digest.ok_or_else(|| unchecked("digest"))?;
        sum = sum.saturating_add(size);
        files.push(RemoteFile { uri: uri.to_owned(), path, size, digest });
    }
    if sum > MAX_SKILL_BYTES {
        return Err(format!("its files have {sum} bytes; the limit is {MAX_SKILL_BYTES}"));
    }
    files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    check_paths(&files)?;
    Ok(files)
}

/// Checks that no two files share a path, also on case-insensitive file systems, and that no file is the folder of another.
fn check_paths(files: &[RemoteFile]) -> Result<(), String> {
    let twice = |file: &RemoteFile| format!("`{}` is listed twice, or as a file and a folder", file.path);
    let folded = |path: &std::path::Path| path.to_string_lossy().to_lowercase();
    let mut taken = HashSet::new();
    for file in files {
        if !taken.insert(folded(file.path.as_path())) {
            return Err(twice(file));
        }
    }
    for file in files {
        let above = file.path.as_path().ancestors().skip(1);
        if above.filter(|path| !path.as_os_str().is_empty()).any(|path| taken.contains(&folded(path))) {
            return Err(twice(file));
        }
    }
    Ok(())
}

/// Checks a URI. URIs are compared as strings and never normalised, so each must have one spelling: no query, white space or
/// backslash.
fn check_uri(uri: &str) -> Result<(), String> {
    if uri.len() > MAX_URI {
        return Err(format!("has more than {MAX_URI} bytes"));
    }
    let (scheme, rest) = uri.split_once(':').ok_or(NO_SCHEME)?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !is_scheme || rest.is_empty() {
        return Err(NO_SCHEME.to_owned());
    }
    // The scheme decides: `file:/etc` and `FILE:etc` name files as well as `file:///etc`.
    if scheme.eq_ignore_ascii_case("file") {
        return Err("names a local file".to_owned());
    }
    let is_odd = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '\\' | '?' | '#' | '<' | '>' | '"' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    if rest.contains(is_odd) {
        return Err(BAD_CHARACTERS.to_owned());
    }
    let components = rest.strip_prefix("//").unwrap_or(rest);
    let components = components.strip_prefix('/').unwrap_or(components);
    for component in components.split('/') {
        check_component(&decoded(component).ok_or(BAD_CHARACTERS)?)?;
    }
    Ok(())
}

fn check_component(component: &str) -> Result<(), String> {
    let is_hidden = |character: char| matches!(character, '/' | '\\' | '\0') || character.is_control();
    if component.is_empty() || matches!(component, "." | "..") || component.contains(is_hidden) {
        return Err(BAD_COMPONENT.to_owned());
    }
    Ok(())
}

/// The path of a file in the skill's folder, from the rest of its URI.
fn path_of(rest: &str) -> Result<RelativePath, String> {
    let too_deep = || {
        format!("has more than {MAX_DEPTH} folders, or a path component of more than {MAX_COMPONENT} bytes")
    };
    let mut components = Vec::new();
    for component in rest.split('/') {
        let component = decoded(component).ok_or(BAD_CHARACTERS)?;
        check_component(&component)?;
        if component.len() > MAX_COMPONENT {
            return Err(too_deep());
        }
        components.push(component);
    }
    if components.len() > MAX_DEPTH {
        return Err(too_deep());
    }
    RelativePath::parse(&components.join("/")).map_err(|_| BAD_COMPONENT.to_owned())
}

/// Decodes percent escapes in a path component; `None` if they are invalid.
fn decoded(component: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(component.len());
    let mut rest = component.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn digest() -> String {
        FileDigest::of(b"x").to_string()
    }

    fn entry(uri: &str, name: &str, files: &[&str]) -> Value {
        let files: Vec<Value> =
            files.iter().map(|uri| json!({ "uri": uri, "size": 1, "digest": digest() })).collect();
        json!({ "uri": uri, "frontmatter": { "name": name, "description": "d" }, "resources": files })
    }

    fn rejection(entry: &Value) -> String {
        SkillEntry::read(entry).map_or_else(|why| why.to_string(), |_| "accepted".to_owned())
    }

    #[test]
    fn files_are_sorted_by_path_with_any_scheme() {
        for base in
            ["skill://pdf", "skill://acme/forms/pdf", "github://o/r/skills/pdf", "skill:pdf", "x:/a/pdf"]
        {
            let (document, other) = (format!("{base}/SKILL.md"), format!("{base}/references/a%20b.md"));
            let read = SkillEntry::read(&entry(&document, "pdf", &[&other, &document])).unwrap();
            let paths: Vec<String> = read.files.iter().map(|file| file.path.to_string()).collect();
            assert_eq!(paths, ["SKILL.md", "references/a b.md"], "{base}");
        }
    }

    #[test]
    fn uris_that_leave_the_folder_are_rejected_with_a_reason() {
        let document = "skill://pdf/SKILL.md";
        for (file, expect) in [
            ("skill://other/SKILL.md", "is not in the skill's folder"),
            ("skill://pdfs/x.md", "is not in the skill's folder"),
            ("SKILL://pdf/x.md", "is not in the skill's folder"),
            ("file:///etc/passwd", "names a local file"),
            ("file:/etc/passwd", "names a local file"),
            ("FILE:etc/passwd", "names a local file"),
            ("skill://pdf/../other/x", "a `..`"),
            ("skill://pdf/%2e%2e/x", "a `..`"),
            ("skill://pdf/a%2f..%2fb", "escaped separator"),
            ("skill://pdf/a%5Cb", "escaped separator"),
            ("skill://pdf/a\\b", "has forbidden characters"),
            ("skill://pdf//x", "an empty path component"),
            ("skill://pdf/", "an empty path component"),
            ("skill://pdf/x?y", "or a query"),
            ("skill://pdf/x#y", "or a query"),
            ("skill://pdf/a b", "has forbidden characters"),
            ("skill://pdf/%zz", "has forbidden characters"),
            ("skill://pdf/%ff", "has forbidden characters"),
            ("skill://pdf/%00", "escaped separator"),
            ("skill://pdf/skill.md", "is listed twice"),
            ("skill://pdf/SKILL.md/x", "or as a file and a folder"),
            ("pdf/x", "has no scheme"),
        ] {
            let why = rejection(&entry(document, "pdf", &[document, file]));
            assert!(why.contains(expect), "{file}: {why}");
        }
        let deep = format!("skill://pdf/{}x", "a/".repeat(20));
        assert!(rejection(&entry(document, "pdf", &[document, &deep])).contains("more than 16 folders"));
        let long = format!("skill://pdf/{}", "a".repeat(300));
        assert!(rejection(&entry(document, "pdf", &[document, &long])).contains("more than 255 bytes"));
    }

    #[test]
    fn entries_that_cannot_be_verified_are_rejected() {
        let uri = "skill://pdf/SKILL.md";
        let whole = entry(uri, "pdf", &[uri]);
        assert_eq!(rejection(&whole), "accepted");
        let with = |change: &dyn Fn(&mut Value)| {
            let mut entry = whole.clone();
            change(&mut entry);
            rejection(&entry)
        };
        for (why, expect) in [
            (with(&|entry| entry["resources"] = json!("dynamic")), "`dynamic`"),
            (with(&|entry| entry["resources"] = json!("later")), "not listed"),
            (with(&|entry| entry["resources"] = json!(null)), "not listed"),
            (with(&|entry| entry["resources"] = json!([])), "`SKILL.md` is not among"),
            (with(&|entry| entry["resources"][0]["size"] = json!(-1)), "no valid `size`"),
            (with(&|entry| entry["resources"][0]["size"] = json!("1")), "no valid `size`"),
            (with(&|entry| entry["resources"][0]["digest"] = json!("md5:00")), "no valid `digest`"),
            (with(&|entry| entry["resources"][0]["digest"] = json!("sha256:00")), "no valid `digest`"),
            (
                with(&|entry| entry["frontmatter"]["name"] = json!("pdfs")),
                "name is `pdfs`, but its folder is `pdf`",
            ),
            (with(&|entry| entry["frontmatter"]["name"] = json!("Pdf")), "not a valid skill name"),
            (with(&|entry| entry["frontmatter"]["name"] = json!(3)), "has no `name`"),
            (with(&|entry| entry["frontmatter"]["description"] = json!(" ")), "has no `description`"),
            (with(&|entry| entry["frontmatter"]["x"] = json!("x".repeat(70_000))), "more than 65536 bytes"),
            (with(&|entry| entry["uri"] = json!("skill://pdf/README.md")), "does not end in `/SKILL.md`"),
            (with(&|entry| entry["uri"] = json!("file:/pdf/SKILL.md")), "names a local file"),
            (with(&|entry| *entry = json!([])), "not an object"),
        ] {
            assert!(why.contains(expect), "{expect}: {why}");
        }
    }

    #[test]
    fn a_skill_has_at_most_512_files_and_16_mebibytes() {
        let uri = "skill://pdf/SKILL.md";
        let files: Vec<String> = (0..MAX_FILES).map(|number| format!("skill://pdf/{number}.md")).collect();
        let mut all: Vec<&str> = files.iter().skip(1).map(String::as_str).collect();
        all.push(uri);
        assert_eq!(rejection(&entry(uri, "pdf", &all)), "accepted");
        all.push(&files[0]);
        assert_eq!(rejection(&entry(uri, "pdf", &all)), "it has 513 files; the limit is 512");
        let mut large = entry(uri, "pdf", &[uri]);
        large["resources"][0]["size"] = json!(MAX_SKILL_BYTES);
        assert_eq!(rejection(&large), "accepted");
        large["resources"][0]["size"] = json!(MAX_SKILL_BYTES + 1);
        assert_eq!(rejection(&large), "its files have 16777217 bytes; the limit is 16777216");
        let mut both = entry(uri, "pdf", &[uri, "skill://pdf/x"]);
        both["resources"][0]["size"] = json!(u64::MAX);
        both["resources"][1]["size"] = json!(u64::MAX);
        assert!(rejection(&both).contains("the limit is 16777216"));
    }

    #[test]
    fn any_other_file_or_digest_changes_the_set() {
        let uri = "skill://pdf/SKILL.md";
        let set = |entry: &Value| SkillEntry::read(entry).unwrap().set();
        let one = entry(uri, "pdf", &[uri, "skill://pdf/a"]);
        let turned = entry(uri, "pdf", &["skill://pdf/a", uri]);
        assert_eq!(set(&one), set(&turned), "the order of the files does not matter");
        let mut changed = one.clone();
        changed["resources"][1]["digest"] = json!(FileDigest::of(b"y").to_string());
        assert_ne!(set(&one), set(&changed));
        assert_ne!(set(&one), set(&entry(uri, "pdf", &[uri, "skill://pdf/b"])));
        assert_ne!(set(&one), set(&entry(uri, "pdf", &[uri])));
        assert_ne!(set(&one), set(&entry(uri, "pdf", &[uri, "skill://pdf/a", "skill://pdf/b"])));
    }
}

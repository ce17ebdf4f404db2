//! One entry of a server's list of skills: taken only when everything in it can be held against files later.

use std::collections::HashSet;

use metier_catalog::one_line;
use metier_files::{DocumentName, FileDigest, RelativePath};
use metier_skill::is_canonical;
use serde_json::{Map, Value};

/// The most files of one skill: what every host has to take, and as much as metier does.
pub const MAX_FILES: usize = 512;

/// The most bytes of one skill's files together, likewise.
pub const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// The longest address. The largest path that a file system takes has as many bytes.
const MAX_URI: usize = 4_096;

/// How deep the folders of a skill go. Public skills have three levels.
const MAX_DEPTH: usize = 16;

/// The longest step of a path, as file systems have it.
const MAX_STEP: usize = 255;

/// The largest frontmatter, in bytes of JSON: as much as of a file.
const MAX_FRONTMATTER: usize = 64 * 1024;

/// A skill that a server lists.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillEntry {
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// What it is called: the last step of its folder, and what its frontmatter says.
    pub name: String,
    /// The frontmatter.
    pub frontmatter: Map<String, Value>,
    /// Every file of it, by path.
    pub files: Vec<ListedFile>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Its address.
    pub uri: String,
    /// Where it is in the skill's folder.
    pub path: RelativePath,
    /// How many bytes it has.
    pub size: u64,
    /// Their digest.
    pub digest: FileDigest,
}

/// Why an entry is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryRefused {
    /// It is no object.
    #[error("it is not an object")]
    NotAnObject,
    /// It has no address.
    #[error("it has no `uri`")]
    NoUri,
    /// Its address is none that can be used.
    #[error("its address {0}")]
    Uri(UriRefused),
    /// It is not the address of a `SKILL.md`.
    #[error("its address does not end in `/SKILL.md`")]
    NotADocument,
    /// It has no frontmatter, or one without a name or a description.
    #[error("its `frontmatter` has no `{0}`")]
    Frontmatter(&'static str),
    /// The frontmatter is larger than any file's.
    #[error("its `frontmatter` has more than {MAX_FRONTMATTER} bytes")]
    LongFrontmatter,
    /// The name is not one that a skill can have.
    #[error("`{0}` is no name of a skill: 1 to 64 of `a-z`, `0-9` and `-`")]
    Name(String),
    /// The name is not the folder's.
    #[error("it is called `{name}` and lies in `{folder}`")]
    OtherName {
        /// What the frontmatter says.
        name: String,
        /// What the address says.
        folder: String,
    },
    /// Its files are not listed.
    #[error("its `resources` are not listed, so nothing of it could be checked")]
    NoResources,
    /// Its files have no digests by its own word.
    #[error("its files are `dynamic`: they have no digests, so nothing of it could be checked")]
    Dynamic,
    /// It has too many files.
    #[error("it has {0} files; {MAX_FILES} are taken")]
    TooMany(usize),
    /// Its files are too large.
    #[error("its files have {0} bytes; {MAX_SKILL_BYTES} are taken")]
    TooLarge(u64),
    /// A file has an address that cannot be used.
    #[error("the address of `{file}` {why}")]
    FileUri {
        /// The file.
        file: String,
        /// Why not.
        why: UriRefused,
    },
    /// A file is not in the skill's folder.
    #[error("`{0}` is not in the skill's own folder")]
    Outside(String),
    /// A file has no size, or no digest that is one.
    #[error("`{file}` has no `{what}` that could be checked")]
    Unchecked {
        /// The file.
        file: String,
        /// What is missing.
        what: &'static str,
    },
    /// Two files have one place, at least on some machines.
    #[error("`{0}` is there twice, or is a file and a folder")]
    Twice(String),
    /// The `SKILL.md` is not among the files.
    #[error("its own `SKILL.md` is not among its `resources`")]
    NoDocument,
}

/// Why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriRefused {
    /// It is too long.
    #[error("has more than {MAX_URI} bytes")]
    TooLong,
    /// It has no scheme.
    #[error("has no scheme such as `skill:`")]
    NoScheme,
    /// It means a file of this machine.
    #[error("means a file of this machine")]
    File,
    /// It has characters that an address has not.
    #[error("has characters that no address has, or a query")]
    Characters,
    /// It has steps that lead elsewhere.
    #[error("has an empty step, a step upwards, or one that hides a separator")]
    Steps,
    /// It is too deep.
    #[error("goes through more than {MAX_DEPTH} folders, or has a step of more than {MAX_STEP} bytes")]
    TooDeep,
}

impl SkillEntry {
    /// Reads an entry. Nothing is fetched, and nothing but the entry is looked at.
    pub fn read(entry: &Value) -> Result<Self, EntryRefused> {
        let entry = entry.as_object().ok_or(EntryRefused::NotAnObject)?;
        let uri = entry.get("uri").and_then(Value::as_str).ok_or(EntryRefused::NoUri)?;
        check_uri(uri).map_err(EntryRefused::Uri)?;
        let ending = format!("/{}", DocumentName::CANONICAL);
        let folder = uri.strip_suffix(&ending).ok_or(EntryRefused::NotADocument)?;
        let frontmatter = entry.get("frontmatter").and_then(Value::as_object);
        let frontmatter = frontmatter.ok_or(EntryRefused::Frontmatter("name"))?;
        let text = |key: &'static str| {
            let text = frontmatter.get(key).and_then(Value::as_str);
            text.filter(|text| !text.trim().is_empty()).ok_or(EntryRefused::Frontmatter(key))
        };
        let (name, _) = (text("name")?, text("description")?);
        if Value::Object(frontmatter.clone()).to_string().len() > MAX_FRONTMATTER {
            return Err(EntryRefused::LongFrontmatter);
        }
        if !is_canonical(name) {
            return Err(EntryRefused::Name(one_line(name, 80)));
        }
        let last = folder.rsplit(['/', ':']).next().unwrap_or_default();
        if last != name {
            return Err(EntryRefused::OtherName { name: name.to_owned(), folder: one_line(last, 80) });
        }
        let files = match entry.get("resources") {
            Some(Value::Array(files)) => files_of(folder, files)?,
            Some(Value::String(word)) if word == "dynamic" => return Err(EntryRefused::Dynamic),
            _ => return Err(EntryRefused::NoResources),
        };
        if !files.iter().any(|file| file.uri == uri) {
            return Err(EntryRefused::NoDocument);
        }
        Ok(Self { uri: uri.to_owned(), name: name.to_owned(), frontmatter: frontmatter.clone(), files })
    }

    /// The digest of all addresses and digests: what an approval is bound to. The addresses have no byte 0 and the digests have
    /// one length, so no two sets have one text.
    pub fn set(&self) -> FileDigest {
        let mut lines: Vec<String> =
            self.files.iter().map(|file| format!("{}\0{}\n", file.uri, file.digest)).collect();
        lines.sort();
        FileDigest::of(lines.concat().as_bytes())
    }

    /// The frontmatter as the text of a file without a body: JSON is YAML.
    pub fn text(&self) -> String {
        format!("---\n{}\n---\n", Value::Object(self.frontmatter.clone()))
    }
}

fn files_of(folder: &str, listed: &[Value]) -> Result<Vec<ListedFile>, EntryRefused> {
    if listed.len() > MAX_FILES {
        return Err(EntryRefused::TooMany(listed.len()));
    }
    let mut files = Vec::with_capacity(listed.len());
    let mut sum = 0_u64;
    for file in listed {
        let uri = file.get("uri").and_then(Value::as_str).ok_or(EntryRefused::NoUri)?;
        let shown = || one_line(uri, 200);
        check_uri(uri).map_err(|why| EntryRefused::FileUri { file: shown(), why })?;
        let path = uri.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        let path = path.ok_or_else(|| EntryRefused::Outside(shown()))?;
        let path = path_of(path).map_err(|why| EntryRefused::FileUri { file: shown(), why })?;
        let unchecked = |what| EntryRefused::Unchecked { file: shown(), what };
        let size = file.get("size").and_then(Value::as_u64).ok_or_else(|| unchecked("size"))?;
        let digest = file.get("digest").and_then(Value::as_str).and_then(|digest| digest.parse().ok());
        let digest = digest.ok_or_else(|| unchecked("digest"))?;
        sum = sum.saturating_add(size);
        files.push(ListedFile { uri: uri.to_owned(), path, size, digest });
    }
    if sum > MAX_SKILL_BYTES {
        return Err(EntryRefused::TooLarge(sum));
    }
    files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    check_places(&files)?;
    Ok(files)
}

/// No two files have one place, also where names that differ in case are one name, and no file is another's folder.
fn check_places(files: &[ListedFile]) -> Result<(), EntryRefused> {
    let folded = |path: &std::path::Path| path.to_string_lossy().to_lowercase();
    let mut taken = HashSet::new();
    for file in files {
        if !taken.insert(folded(file.path.as_path())) {
            return Err(EntryRefused::Twice(file.path.to_string()));
        }
    }
    for file in files {
        let above = file.path.as_path().ancestors().skip(1);
        if above.filter(|path| !path.as_os_str().is_empty()).any(|path| taken.contains(&folded(path))) {
            return Err(EntryRefused::Twice(file.path.to_string()));
        }
    }
    Ok(())
}

/// An address is compared as a text and never resolved, so it has to be one that has no second spelling: no query, no white space,
/// no backslash.
fn check_uri(uri: &str) -> Result<(), UriRefused> {
    if uri.len() > MAX_URI {
        return Err(UriRefused::TooLong);
    }
    let (scheme, rest) = uri.split_once(':').ok_or(UriRefused::NoScheme)?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !is_scheme || rest.is_empty() {
        return Err(UriRefused::NoScheme);
    }
    // By its scheme, not by its beginning: `file:/etc` and `FILE:etc` mean files no less than `file:///etc`.
    if scheme.eq_ignore_ascii_case("file") {
        return Err(UriRefused::File);
    }
    let is_odd = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '\\' | '?' | '#' | '<' | '>' | '"' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    if rest.contains(is_odd) {
        return Err(UriRefused::Characters);
    }
    let steps = rest.strip_prefix("//").unwrap_or(rest);
    let steps = steps.strip_prefix('/').unwrap_or(steps);
    for step in steps.split('/') {
        check_step(&decoded(step).ok_or(UriRefused::Characters)?)?;
    }
    Ok(())
}

fn check_step(step: &str) -> Result<(), UriRefused> {
    let is_hidden = |character: char| matches!(character, '/' | '\\' | '\0') || character.is_control();
    if step.is_empty() || matches!(step, "." | "..") || step.contains(is_hidden) {
        return Err(UriRefused::Steps);
    }
    Ok(())
}

/// The place of a file in the skill's folder, of the part of its address behind the folder's.
fn path_of(rest: &str) -> Result<RelativePath, UriRefused> {
    let mut steps = Vec::new();
    for step in rest.split('/') {
        let step = decoded(step).ok_or(UriRefused::Characters)?;
        check_step(&step)?;
        if step.len() > MAX_STEP {
            return Err(UriRefused::TooDeep);
        }
        steps.push(step);
    }
    if steps.len() > MAX_DEPTH {
        return Err(UriRefused::TooDeep);
    }
    RelativePath::parse(&steps.join("/")).map_err(|_| UriRefused::Steps)
}

/// A step without its percent signs; `None` where they mean no text.
fn decoded(step: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(step.len());
    let mut rest = step.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = behind;
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

    fn refused(entry: &Value) -> String {
        SkillEntry::read(entry).map_or_else(|why| why.to_string(), |_| "taken".to_owned())
    }

    #[test]
    fn an_entry_has_its_files_by_path_whatever_its_scheme() {
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
    fn addresses_that_lead_elsewhere_are_refused_with_their_reason() {
        let document = "skill://pdf/SKILL.md";
        for (file, expect) in [
            ("skill://other/SKILL.md", "is not in the skill's own folder"),
            ("skill://pdfs/x.md", "is not in the skill's own folder"),
            ("SKILL://pdf/x.md", "is not in the skill's own folder"),
            ("file:///etc/passwd", "means a file of this machine"),
            ("file:/etc/passwd", "means a file of this machine"),
            ("FILE:etc/passwd", "means a file of this machine"),
            ("skill://pdf/../other/x", "a step upwards"),
            ("skill://pdf/%2e%2e/x", "a step upwards"),
            ("skill://pdf/a%2f..%2fb", "hides a separator"),
            ("skill://pdf/a%5Cb", "hides a separator"),
            ("skill://pdf/a\\b", "has characters that no address has"),
            ("skill://pdf//x", "an empty step"),
            ("skill://pdf/", "an empty step"),
            ("skill://pdf/x?y", "or a query"),
            ("skill://pdf/x#y", "or a query"),
            ("skill://pdf/a b", "has characters"),
            ("skill://pdf/%zz", "has characters"),
            ("skill://pdf/%ff", "has characters"),
            ("skill://pdf/%00", "hides a separator"),
            ("skill://pdf/skill.md", "is there twice"),
            ("skill://pdf/SKILL.md/x", "is there twice, or is a file and a folder"),
            ("pdf/x", "has no scheme"),
        ] {
            let why = refused(&entry(document, "pdf", &[document, file]));
            assert!(why.contains(expect), "{file}: {why}");
        }
        let deep = format!("skill://pdf/{}x", "a/".repeat(20));
        assert!(refused(&entry(document, "pdf", &[document, &deep])).contains("more than 16 folders"));
        let long = format!("skill://pdf/{}", "a".repeat(300));
        assert!(refused(&entry(document, "pdf", &[document, &long])).contains("more than 255 bytes"));
    }

    #[test]
    fn what_could_not_be_checked_is_refused() {
        let uri = "skill://pdf/SKILL.md";
        let whole = entry(uri, "pdf", &[uri]);
        assert_eq!(refused(&whole), "taken");
        let with = |change: &dyn Fn(&mut Value)| {
            let mut entry = whole.clone();
            change(&mut entry);
            refused(&entry)
        };
        for (why, expect) in [
            (with(&|entry| entry["resources"] = json!("dynamic")), "`dynamic`"),
            (with(&|entry| entry["resources"] = json!("later")), "not listed"),
            (with(&|entry| entry["resources"] = json!(null)), "not listed"),
            (with(&|entry| entry["resources"] = json!([])), "`SKILL.md` is not among"),
            (with(&|entry| entry["resources"][0]["size"] = json!(-1)), "no `size`"),
            (with(&|entry| entry["resources"][0]["size"] = json!("1")), "no `size`"),
            (with(&|entry| entry["resources"][0]["digest"] = json!("md5:00")), "no `digest`"),
            (with(&|entry| entry["resources"][0]["digest"] = json!("sha256:00")), "no `digest`"),
            (with(&|entry| entry["frontmatter"]["name"] = json!("pdfs")), "called `pdfs` and lies in `pdf`"),
            (with(&|entry| entry["frontmatter"]["name"] = json!("Pdf")), "no name of a skill"),
            (with(&|entry| entry["frontmatter"]["name"] = json!(3)), "has no `name`"),
            (with(&|entry| entry["frontmatter"]["description"] = json!(" ")), "has no `description`"),
            (with(&|entry| entry["frontmatter"]["x"] = json!("x".repeat(70_000))), "more than 65536 bytes"),
            (with(&|entry| entry["uri"] = json!("skill://pdf/README.md")), "does not end in `/SKILL.md`"),
            (with(&|entry| entry["uri"] = json!("file:/pdf/SKILL.md")), "means a file of this machine"),
            (with(&|entry| *entry = json!([])), "not an object"),
        ] {
            assert!(why.contains(expect), "{expect}: {why}");
        }
    }

    #[test]
    fn a_skill_has_512_files_and_16_mebibytes_and_no_more() {
        let uri = "skill://pdf/SKILL.md";
        let files: Vec<String> = (0..MAX_FILES).map(|number| format!("skill://pdf/{number}.md")).collect();
        let mut all: Vec<&str> = files.iter().skip(1).map(String::as_str).collect();
        all.push(uri);
        assert_eq!(refused(&entry(uri, "pdf", &all)), "taken");
        all.push(&files[0]);
        assert_eq!(refused(&entry(uri, "pdf", &all)), "it has 513 files; 512 are taken");
        let mut large = entry(uri, "pdf", &[uri]);
        large["resources"][0]["size"] = json!(MAX_SKILL_BYTES);
        assert_eq!(refused(&large), "taken");
        large["resources"][0]["size"] = json!(MAX_SKILL_BYTES + 1);
        assert_eq!(refused(&large), "its files have 16777217 bytes; 16777216 are taken");
        let mut both = entry(uri, "pdf", &[uri, "skill://pdf/x"]);
        both["resources"][0]["size"] = json!(u64::MAX);
        both["resources"][1]["size"] = json!(u64::MAX);
        assert!(refused(&both).contains("16777216 are taken"));
    }

    #[test]
    fn any_other_file_or_digest_is_another_set() {
        let uri = "skill://pdf/SKILL.md";
        let set = |entry: &Value| SkillEntry::read(entry).unwrap().set();
        let one = entry(uri, "pdf", &[uri, "skill://pdf/a"]);
        let turned = entry(uri, "pdf", &["skill://pdf/a", uri]);
        assert_eq!(set(&one), set(&turned), "the order is the server's and means nothing");
        let mut changed = one.clone();
        changed["resources"][1]["digest"] = json!(FileDigest::of(b"y").to_string());
        assert_ne!(set(&one), set(&changed));
        assert_ne!(set(&one), set(&entry(uri, "pdf", &[uri, "skill://pdf/b"])));
        assert_ne!(set(&one), set(&entry(uri, "pdf", &[uri])));
        assert_ne!(set(&one), set(&entry(uri, "pdf", &[uri, "skill://pdf/a", "skill://pdf/b"])));
    }
}

//! What kind of file a file is, in the words of MIME.

use std::path::Path;

/// The kinds that skills have, by the ending of the name.
const KINDS: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("txt", "text/plain"),
    ("py", "text/x-python"),
    ("sh", "text/x-shellscript"),
    ("bash", "text/x-shellscript"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("cjs", "text/javascript"),
    ("ts", "text/x-typescript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("woff2", "font/woff2"),
    ("ttf", "font/ttf"),
];

/// The kind of a file: by its name where that says something, else by whether it is text.
pub(super) fn media_type(path: &Path, bytes: &[u8]) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let known = KINDS.iter().find(|(known, _)| ending.as_deref() == Some(*known));
    match known {
        Some((_, kind)) => kind,
        None if str::from_utf8(bytes).is_ok() => "text/plain",
        None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_goes_first_and_then_the_bytes() {
        let check = |path: &str, bytes: &[u8], expect: &str| {
            assert_eq!(media_type(Path::new(path), bytes), expect, "{path}");
        };
        check("SKILL.md", b"", "text/markdown");
        check("a/LOGO.PNG", b"", "image/png");
        check("LICENSE", b"text", "text/plain");
        check("blob", b"\xff\xfe", "application/octet-stream");
        check("odd.xyz", b"x", "text/plain");
    }
}

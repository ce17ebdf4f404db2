//! What kind of file a file is, in the words of MIME.

use std::path::Path;

use crate::skill_dir::BinaryKind;

/// The kinds that skills have and that their scripts leave, by the ending of the name. Programs go by these words; what is
/// not here is told by its bytes.
const KINDS: &[(&[&str], &str)] = &[
    (&["md", "markdown"], "text/markdown"),
    (&["txt", "log"], "text/plain"),
    (&["csv"], "text/csv"),
    (&["tsv"], "text/tab-separated-values"),
    (&["html", "htm"], "text/html"),
    (&["css"], "text/css"),
    (&["ics"], "text/calendar"),
    (&["vcf"], "text/vcard"),
    (&["diff", "patch"], "text/x-diff"),
    (&["py"], "text/x-python"),
    (&["sh", "bash"], "text/x-shellscript"),
    (&["js", "mjs", "cjs"], "text/javascript"),
    (&["ts", "mts", "cts"], "text/x-typescript"),
    (&["json"], "application/json"),
    (&["jsonl", "ndjson"], "application/jsonl"),
    (&["ipynb"], "application/x-ipynb+json"),
    (&["geojson"], "application/geo+json"),
    (&["yaml", "yml"], "application/yaml"),
    (&["toml"], "application/toml"),
    (&["xml"], "application/xml"),
    (&["sql"], "application/sql"),
    (&["svg"], "image/svg+xml"),
    (&["png"], "image/png"),
    (&["jpg", "jpeg"], "image/jpeg"),
    (&["gif"], "image/gif"),
    (&["webp"], "image/webp"),
    (&["avif"], "image/avif"),
    (&["heic"], "image/heic"),
    (&["bmp"], "image/bmp"),
    (&["tif", "tiff"], "image/tiff"),
    (&["ico"], "image/vnd.microsoft.icon"),
    (&["mp3"], "audio/mpeg"),
    (&["wav"], "audio/wav"),
    (&["flac"], "audio/flac"),
    (&["ogg", "opus"], "audio/ogg"),
    (&["m4a"], "audio/mp4"),
    (&["mp4", "m4v"], "video/mp4"),
    (&["webm"], "video/webm"),
    (&["mov"], "video/quicktime"),
    (&["mkv"], "video/matroska"),
    (&["pdf"], "application/pdf"),
    (&["rtf"], "application/rtf"),
    (&["epub"], "application/epub+zip"),
    (&["doc"], "application/msword"),
    (&["xls"], "application/vnd.ms-excel"),
    (&["ppt"], "application/vnd.ms-powerpoint"),
    (&["docx"], "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (&["xlsx"], "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (&["pptx"], "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (&["odt"], "application/vnd.oasis.opendocument.text"),
    (&["ods"], "application/vnd.oasis.opendocument.spreadsheet"),
    (&["odp"], "application/vnd.oasis.opendocument.presentation"),
    (&["zip"], "application/zip"),
    (&["gz", "tgz"], "application/gzip"),
    (&["bz2"], "application/x-bzip2"),
    (&["xz"], "application/x-xz"),
    (&["zst"], "application/zstd"),
    (&["7z"], "application/x-7z-compressed"),
    (&["rar"], "application/vnd.rar"),
    (&["tar"], "application/x-tar"),
    (&["jar"], "application/java-archive"),
    (&["wasm"], "application/wasm"),
    (&["sqlite", "sqlite3"], "application/vnd.sqlite3"),
    (&["parquet"], "application/vnd.apache.parquet"),
    (&["woff"], "font/woff"),
    (&["woff2"], "font/woff2"),
    (&["ttf"], "font/ttf"),
    (&["otf"], "font/otf"),
];

/// How many of a file's first bytes [`media_type`] looks at; who has the file open need not read more.
pub const MEDIA_HEAD: usize = crate::skill_dir::HEAD;

/// The kind of a file: by its name where that says something, else by its first bytes. It helps whoever opens the file next
/// and is not to be trusted: names and first bytes can lie.
pub fn media_type(path: &Path, head: &[u8]) -> &'static str {
    let by_bytes = || BinaryKind::of(head).map_or("text/plain", BinaryKind::media_type);
    media_type_by_name(path).unwrap_or_else(by_bytes)
}

/// The kind that a file's name tells, where it tells one. Who would have to open the file asks this first.
pub fn media_type_by_name(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    KINDS.iter().find(|(endings, _)| endings.contains(&ending.as_str())).map(|(_, kind)| *kind)
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
        check("table.csv", b"\x89PNG\r\n\x1a\n", "text/csv");
        check("all.tar.gz", b"", "application/gzip");
        check("LICENSE", b"text", "text/plain");
        check("empty", b"", "text/plain");
        check(".png", b"text", "text/plain");
        check("blob", b"\x80\x81\x82\x83", "application/octet-stream");
        check("blob", b"a\0b", "application/octet-stream");
        check("wide", b"\xff\xfea\0", "text/plain; charset=utf-16");
        check("odd.xyz", b"x", "text/plain");
        check("chart", b"\x89PNG\r\n\x1a\n", "image/png");
        check("report.out", b"%PDF-1.7\n", "application/pdf");
        check("tool", b"\x7fELF\x02\x01", "application/x-executable");
    }

    #[test]
    fn no_ending_stands_twice() {
        let mut endings: Vec<&str> = KINDS.iter().flat_map(|(endings, _)| endings.iter().copied()).collect();
        let count = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), count);
    }
}

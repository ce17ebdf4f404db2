//! Archives whose bytes depend on nothing but the files and one time.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::contents::Files;

/// A `.tar.gz` of these files below the folder `top`, with entries for all folders.
pub(super) fn compressed(files: &Files, top: &str, time: u64) -> Result<Vec<u8>> {
    let mut folders = BTreeSet::new();
    for path in files.keys() {
        folders.insert(format!("{top}/"));
        folders.extend(path.match_indices('/').map(|(at, _)| format!("{top}/{}", &path[..=at])));
    }
    let mut builder = Builder::new(Vec::new());
    for folder in &folders {
        let mut header = header(EntryType::Directory, 0o755, 0, time);
        builder.append_data(&mut header, folder, std::io::empty())?;
    }
    for (path, file) in files {
        let mode = if file.is_executable { 0o755 } else { 0o644 };
        let mut header = header(EntryType::Regular, mode, file.bytes.len() as u64, time);
        builder.append_data(&mut header, format!("{top}/{path}"), file.bytes.as_slice())?;
    }
    gzip(&builder.into_inner()?)
}

/// Without a name or a time in the head.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn header(kind: EntryType, mode: u32, size: u64, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

#[cfg(test)]
mod tests {
    use super::super::contents::PackagedFile;
    use super::*;

    fn files() -> Files {
        let file = |text: &str, is_executable| PackagedFile { bytes: text.into(), is_executable };
        Files::from([
            ("share/doc/a".to_owned(), file("text", false)),
            ("bin/a".to_owned(), file("program", true)),
        ])
    }

    #[test]
    fn folders_come_before_what_is_in_them() {
        let bytes = compressed(&files(), "top", 7).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()), (7, 0, 0));
            (String::from_utf8(entry.path_bytes().into_owned()).unwrap(), header.mode().unwrap())
        });
        let expected = [
            ("top/", 0o755),
            ("top/bin/", 0o755),
            ("top/share/", 0o755),
            ("top/share/doc/", 0o755),
            ("top/bin/a", 0o755),
            ("top/share/doc/a", 0o644),
        ];
        assert_eq!(entries.collect::<Vec<_>>(), expected.map(|(path, mode)| (path.to_owned(), mode)));
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        assert_eq!(compressed(&files(), "a", 7).unwrap(), compressed(&files(), "a", 7).unwrap());
    }
}

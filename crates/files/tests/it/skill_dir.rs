//! Confined reads and listings of one skill's folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use metier_files::{Error, Extent, LeftOutReason, ListBounds, RelativePath, SkillDir};
use metier_testkit::Workspace;

use crate::support::as_somebody;

fn path(text: &str) -> RelativePath {
    text.parse().unwrap()
}

#[test]
fn files_are_read_whole_or_refused_by_size() {
    let workspace = Workspace::new().file("skill/a/b.txt", "0123456789").file("skill/empty", "");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    assert_eq!(skill.read(&path("a/b.txt"), 10).unwrap(), b"0123456789");
    assert_eq!(skill.read(&path("empty"), 0).unwrap(), b"");
    let error = skill.read(&path("a/b.txt"), 9).unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 9, actual: 10, .. }));
    assert_eq!(error.to_string(), "`a/b.txt` has 10 bytes, more than the limit of 9");
}

#[test]
fn pages_follow_each_other_to_the_end() {
    let workspace = Workspace::new().file("skill/text", "0123456789");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    let (mut offset, mut bytes) = (Some(0), Vec::new());
    while let Some(start) = offset {
        let page = skill.read_page(&path("text"), start, 4).unwrap();
        assert_eq!(page.size, 10);
        offset = page.next_offset();
        bytes.extend(page.bytes);
    }
    assert_eq!(bytes, b"0123456789");
    let beyond = skill.read_page(&path("text"), 99, 4).unwrap();
    assert_eq!((beyond.bytes.len(), beyond.next_offset()), (0, None));
}

#[test]
fn links_are_followed_inside_and_nowhere_else() {
    let workspace = Workspace::new()
        .file("skill/real/text", "inside")
        .symlink("skill/link", "real/text")
        .symlink("skill/folder", "real")
        .symlink("skill/real/up", "../link")
        .file("outside/text", "outside")
        .symlink("skill/out", "../outside/text")
        .symlink("skill/out-folder", "../outside")
        .symlink("skill/absolute", "/etc/passwd")
        .symlink("skill/around", "../skill/real/text")
        .symlink("skill/hop", "out-folder/text")
        .symlink("skill/broken", "nowhere")
        .symlink("skill/loop", "loop");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    for inside in ["link", "folder/text", "real/up"] {
        assert_eq!(skill.read(&path(inside), 100).unwrap(), b"inside", "{inside}");
    }
    for outside in ["out", "out-folder/text", "absolute", "around", "hop"] {
        let error = skill.read(&path(outside), 100).unwrap_err();
        assert!(matches!(error, Error::Outside { .. }), "{outside}: {error}");
    }
    assert!(matches!(skill.read(&path("broken"), 100), Err(Error::NotFound { .. })));
    assert!(matches!(skill.read(&path("missing/too"), 100), Err(Error::NotFound { .. })));
    assert!(matches!(skill.read(&path("link/below"), 100), Err(Error::NotFound { .. })));
    assert!(matches!(skill.read(&path("loop"), 100), Err(Error::Io { .. })));
}

#[test]
fn a_folder_that_is_missing_or_a_file_cannot_be_opened() {
    let workspace = Workspace::new().file("file", "x");
    assert!(matches!(SkillDir::open(&workspace.join("missing")), Err(Error::NotFound { .. })));
    assert!(matches!(SkillDir::open(&workspace.join("file")), Err(Error::NotAFolder { .. })));
}

#[test]
fn reads_stay_in_the_folder_that_was_opened() {
    let workspace = Workspace::new().file("skill/text", "old").file("other/text", "new");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    fs::rename(workspace.join("skill"), workspace.join("moved")).unwrap();
    fs::rename(workspace.join("other"), workspace.join("skill")).unwrap();
    assert_eq!(skill.read(&path("text"), 100).unwrap(), b"old");
}

#[test]
fn the_document_is_found_by_any_spelling() {
    let table: &[(&[&str], Result<&str, ()>)] = &[
        (&["SKILL.md", "skill.md"], Ok("SKILL.md")),
        (&["Skill.md", "skill.md"], Ok("skill.md")),
        (&["Skill.MD"], Ok("Skill.MD")),
        (&["README.md"], Err(())),
    ];
    for (files, expected) in table {
        let mut workspace = Workspace::new();
        for file in *files {
            workspace = workspace.file(Path::new("skill").join(file), file);
        }
        let document = SkillDir::open(&workspace.join("skill")).unwrap().read_document(100);
        match expected {
            Ok(name) => {
                let document = document.unwrap();
                assert_eq!(document.name.as_str(), *name);
                assert_eq!(document.bytes, name.as_bytes());
                assert_eq!(document.name.is_canonical(), *name == "SKILL.md");
            }
            Err(()) => assert!(matches!(document, Err(Error::NotFound { .. }))),
        }
    }
}

#[test]
fn everything_is_listed_in_order_and_what_cannot_be_read_is_named() {
    let workspace = Workspace::new()
        .file("skill/SKILL.md", "0123")
        .executable("skill/scripts/run.sh", "#!/bin/sh\n")
        .file("skill/scripts-old/run.sh", "")
        .file("skill/.git/config", "git's")
        .file("skill/vendor/.git", "gitdir: elsewhere")
        .file("skill/.source.json", "{}")
        .symlink("skill/link", "scripts/run.sh")
        .symlink("skill/folder", "scripts")
        .symlink("skill/out", "/etc/passwd")
        .symlink("skill/broken", "nowhere")
        .symlink("skill/loop", "loop")
        .fifo("skill/pipe")
        .file(Path::new("skill").join(OsStr::from_bytes(b"caf\xe9")), "x")
        .dir("skill/empty");
    let listing = SkillDir::open(&workspace.join("skill")).unwrap().list(ListBounds::default()).unwrap();
    let files: Vec<_> =
        listing.files.iter().map(|file| (file.path.to_string(), file.size, file.executable)).collect();
    let expected = [
        (".source.json", 2, false),
        ("SKILL.md", 4, false),
        ("caf\u{fffd}", 1, false),
        ("link", 10, true),
        ("scripts-old/run.sh", 0, false),
        ("scripts/run.sh", 10, true),
    ];
    assert_eq!(files, expected.map(|(path, size, executable)| (path.to_owned(), size, executable)));
    let left_out: Vec<_> = listing.left_out.iter().map(|left| (left.path.to_string(), left.reason)).collect();
    let expected = [
        ("broken", LeftOutReason::LinkBroken),
        ("folder", LeftOutReason::LinkedFolder),
        ("loop", LeftOutReason::LinkBroken),
        ("out", LeftOutReason::LinkOutside),
        ("pipe", LeftOutReason::NotAFile),
    ];
    assert_eq!(left_out, expected.map(|(path, reason)| (path.to_owned(), reason)));
    assert_eq!(listing.extent, Extent::Whole);
}

#[test]
fn a_listing_stops_at_its_bounds_and_says_so() {
    let mut workspace = Workspace::new();
    for number in 0..20 {
        workspace = workspace.file(format!("skill/file-{number:02}"), "");
        workspace = workspace.dir(format!("skill/many/empty-{number:02}"));
    }
    let workspace = workspace.file("skill/a/b/c/deep", "");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    let list = |entries, depth| skill.list(ListBounds { entries, depth }).unwrap();

    let few = list(10, 16);
    assert!(few.files.len() <= 10);
    assert_eq!(few.extent, Extent::Truncated);
    assert_eq!(few, list(10, 16), "the same part every time");

    // Folders count: 22 at the top, three on the way down and twenty empty ones.
    assert_eq!(list(44, 16).extent, Extent::Truncated);
    assert_eq!(list(45, 16).extent, Extent::Whole);
    assert_eq!(list(45, 16).files.len(), 21);

    let shallow = list(1000, 2);
    assert_eq!((shallow.files.len(), shallow.extent), (20, Extent::Truncated));
}

#[test]
fn an_unreadable_file_is_told_from_a_missing_one() {
    let workspace = Workspace::new()
        .mode(".", 0o755)
        .file("skill/closed", "x")
        .mode("skill/closed", 0o000)
        .file("skill/folder/inner", "x")
        .mode("skill/folder", 0o000);
    as_somebody(|| {
        let skill = SkillDir::open(&workspace.join("skill")).unwrap();
        assert!(matches!(skill.read(&path("closed"), 100), Err(Error::Io { .. })));
        let listing = skill.list(ListBounds::default()).unwrap();
        assert_eq!(listing.left_out.len(), 1);
        assert_eq!(listing.left_out[0].path.to_string(), "folder");
        assert!(matches!(listing.left_out[0].reason, LeftOutReason::Unreadable(_)));
    });
    let _ = workspace.mode("skill/folder", 0o755);
}

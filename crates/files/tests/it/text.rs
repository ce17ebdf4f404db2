//! Pages of text and what stands in their place.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use metier_files::{Content, Error, PAGE, RelativePath, SkillDir, TextPage};
use metier_testkit::Workspace;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{StopOnDrop, never_hangs};

fn path(text: &str) -> RelativePath {
    text.parse().unwrap()
}

fn text(skill: &SkillDir, name: &str, offset: u64, limit: u64) -> TextPage {
    match skill.read_text(&path(name), offset, limit).unwrap() {
        Content::Text(page) => page,
        Content::Binary(binary) => panic!("{name} is {binary:?}"),
    }
}

#[test]
fn a_text_is_read_page_by_page_at_line_ends() {
    let line = "A line of a reference that is neither long nor short.\n";
    let long = line.repeat(3000);
    let workspace = Workspace::new().file("skill/references/long.md", &long);
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    let (mut offset, mut all) = (Some(0), String::new());
    while let Some(start) = offset {
        let page = text(&skill, "references/long.md", start, PAGE);
        assert!(page.text.ends_with('\n') && page.text.len() as u64 <= PAGE);
        assert_eq!(page.size, long.len() as u64);
        offset = page.next_offset();
        all.push_str(&page.text);
    }
    assert_eq!(all, long);
}

#[test]
fn what_is_no_text_is_named_with_its_size() {
    let workspace = Workspace::new()
        .file("skill/logo.png", b"\x89PNG\r\n\x1a\n0000")
        .file("skill/data.bin", [0_u8, 1, 2, 3])
        .file("skill/latin.txt", b"caf\xe9 au lait, written long ago")
        .file("skill/empty", "");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    for (name, kind, size) in [("logo.png", "PNG image", 12), ("data.bin", "binary", 4)] {
        match skill.read_text(&path(name), 0, PAGE).unwrap() {
            Content::Binary(binary) => {
                assert_eq!((binary.kind.to_string(), binary.size), (kind.to_owned(), size));
            }
            Content::Text(page) => panic!("{name} is {page:?}"),
        }
        // A later page of the same file is no text either, whatever stands there.
        assert!(matches!(skill.read_text(&path(name), 9, PAGE), Ok(Content::Binary(_))), "{name}");
    }
    let latin = text(&skill, "latin.txt", 0, PAGE);
    assert_eq!((latin.text.as_str(), latin.replaced), ("caf\u{fffd} au lait, written long ago", 1));
    let empty = text(&skill, "empty", 0, PAGE);
    assert_eq!((empty.text.as_str(), empty.size, empty.next_offset()), ("", 0, None));
}

#[test]
fn missing_folder_outside_and_special_are_told_apart() {
    let workspace = Workspace::new()
        .file("skill/file", "x")
        .dir("skill/folder")
        .symlink("skill/out", "/etc/passwd")
        .fifo("skill/pipe")
        .socket("skill/socket");
    let folder = workspace.join("skill");
    never_hangs(move || {
        let skill = SkillDir::open(&folder).unwrap();
        let error = |name| skill.read_text(&path(name), 0, PAGE).unwrap_err();
        assert!(matches!(error("missing"), Error::NotFound { .. }));
        assert!(matches!(error("file/below"), Error::NotFound { .. }));
        assert!(matches!(error("folder"), Error::IsAFolder { .. }));
        assert!(matches!(error("out"), Error::Outside { .. }));
        assert!(matches!(error("pipe"), Error::NotAFile { .. }));
        assert!(matches!(error("socket"), Error::NotAFile { .. }));
    });
    drop(workspace);
}

#[test]
fn a_folder_of_the_skill_cannot_be_left_even_to_the_skill() {
    let workspace = Workspace::new()
        .file("skill/SKILL.md", "x")
        .executable("skill/scripts/run.sh", "#!/bin/sh\n")
        .symlink("skill/scripts/up", "../SKILL.md")
        .symlink("skill/elsewhere", "/etc");
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    let scripts = skill.folder(&path("scripts")).unwrap();
    let script = scripts.look_at(&path("run.sh")).unwrap();
    assert_eq!((script.size, script.executable), (10, true));
    assert!(matches!(scripts.look_at(&path("up")), Err(Error::Outside { .. })));
    assert!(matches!(skill.folder(&path("elsewhere")), Err(Error::Outside { .. })));
    assert!(matches!(skill.folder(&path("SKILL.md")), Err(Error::NotAFolder { .. })));
    assert!(matches!(skill.folder(&path("SKILL.md/x")), Err(Error::NotFound { .. })));
    assert!(matches!(skill.folder(&path("missing")), Err(Error::NotFound { .. })));
}

/// The attack: the file and the folder it lies in are exchanged for links to the outside while pages are read.
#[test]
fn links_swapped_in_during_a_read_never_lead_outside() {
    let workspace =
        Workspace::new().file("outside/tone.md", "SECRET").file("skill/references/tone.md", "fine");
    symlink(workspace.join("outside"), workspace.join("folder-link")).unwrap();
    symlink(workspace.join("outside/tone.md"), workspace.join("skill/file-link")).unwrap();
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    fs::write(workspace.join("skill/tone.md"), "fine").unwrap();
    let swap = |stop: &AtomicBool, a: &str, b: &str| {
        let (a, b) = (workspace.join(a), workspace.join(b));
        while !stop.load(Ordering::Relaxed) {
            renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
        }
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| swap(&stop, "skill/references", "folder-link"));
        scope.spawn(|| swap(&stop, "skill/tone.md", "skill/file-link"));
        let (begin, mut fine, mut refused) = (Instant::now(), 0, 0);
        while begin.elapsed() < Duration::from_millis(400) {
            for name in ["references/tone.md", "tone.md"] {
                match skill.read_text(&path(name), 0, PAGE) {
                    Ok(Content::Text(page)) => {
                        assert_eq!(page.text, "fine", "{name}");
                        fine += 1;
                    }
                    Ok(Content::Binary(binary)) => panic!("{name}: {binary:?}"),
                    Err(Error::Outside { .. }) => refused += 1,
                    // What is renamed while the kernel looks for it can be missing for a moment.
                    Err(Error::NotFound { .. } | Error::Io { .. }) => {}
                    Err(error) => panic!("{name}: {error}"),
                }
            }
        }
        assert!(fine > 0 && refused > 0, "{fine} read and {refused} refused, so nothing was tried");
    });
}

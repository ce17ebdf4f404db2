//! Attacks, tried for real.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use metier_files::{Error, SkillDir};
use metier_testkit::Workspace;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

use crate::support::{StopOnDrop, confined, never_hangs, sweep_documents, told, trusted};

#[test]
fn things_named_like_a_document_are_reported_and_never_hang() {
    let workspace = Workspace::new()
        .dir("root/folder/SKILL.md/inner")
        .skill("root/folder/below", "Not searched: somebody meant this to be a skill.")
        .fifo("root/fifo/SKILL.md")
        .fifo("root/lower/skill.md")
        .socket("root/socket/SKILL.md")
        .fifo("root/group/pipe")
        .fifo("root/pipe")
        .socket("root/socket-file")
        .skill("root/plain", "P.");
    let text = never_hangs(move || told(&workspace, &[trusted(&workspace)]));
    assert_eq!(
        text,
        "found plain\n`root/fifo/SKILL.md` is not a regular file\n`root/folder/SKILL.md` is not a regular file\n\
         `root/lower/skill.md` is not a regular file\n`root/socket/SKILL.md` is not a regular file\n",
    );
}

#[test]
fn a_device_named_like_a_document_is_reported() {
    let workspace = Workspace::new().dir("root/zero").dir("root/null").skill("root/plain", "P.");
    for (name, minor) in [("zero", 5), ("null", 3)] {
        let place = workspace.join(format!("root/{name}/SKILL.md"));
        let device = rustix::fs::makedev(1, minor);
        if let Err(error) = mknodat(CWD, &place, FileType::CharacterDevice, Mode::RUSR, device) {
            metier_testkit::not_tried(
                "root",
                format_args!("no device can be made here ({error}); root could"),
            );
            return;
        }
    }
    let text = never_hangs(move || told(&workspace, &[trusted(&workspace)]));
    assert!(text.starts_with("found plain\n"), "{text}");
    // On a file system mounted without devices they cannot be opened at all, which is as good.
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn a_fifo_device_or_socket_in_a_skill_is_no_file_and_never_hangs() {
    let workspace = Workspace::new()
        .skill("skill", "S.")
        .fifo("skill/pipe")
        .socket("skill/socket")
        .dir("skill/folder")
        .symlink("skill/zero", "/dev/zero");
    let folder = workspace.join("skill");
    never_hangs(move || {
        let skill = SkillDir::open(&folder).unwrap();
        for name in ["pipe", "socket"] {
            let error = skill.read(&name.parse().unwrap(), 1024).unwrap_err();
            assert!(matches!(error, Error::NotAFile { .. }), "{name}: {error}");
        }
        let error = skill.read(&"folder".parse().unwrap(), 1024).unwrap_err();
        assert!(matches!(error, Error::IsAFolder { .. }), "{error}");
        let error = skill.read(&"zero".parse().unwrap(), 1024).unwrap_err();
        assert!(matches!(error, Error::Outside { .. }), "{error}");
    });
    drop(workspace);
}

#[test]
fn a_file_that_never_ends_is_read_up_to_the_bound() {
    let workspace = Workspace::new().skill("root/huge", "H.");
    // A terabyte without a byte on the disk.
    let file = fs::OpenOptions::new().write(true).open(workspace.join("root/huge/SKILL.md")).unwrap();
    file.set_len(1 << 40).unwrap();
    let sweep = sweep_documents(&[trusted(&workspace)], &metier_files::Bounds::default());
    assert_eq!(sweep.found[0].value.1.len(), 2048);

    let skill = SkillDir::open(&workspace.join("root/huge")).unwrap();
    let error = skill.read_document(1 << 20).unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 1_048_576, actual: 1_099_511_627_776, .. }), "{error}");
    let page = skill.read_page(&"SKILL.md".parse().unwrap(), 1 << 39, 100).unwrap();
    assert_eq!((page.bytes.len(), page.next_offset()), (100, Some((1 << 39) + 100)));
}

/// Swaps `a` and `b` as fast as it goes until told to stop.
fn swap_until(stop: &AtomicBool, a: &std::path::Path, b: &std::path::Path) {
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
    }
}

#[test]
fn a_folder_swapped_for_a_link_during_the_sweep_never_leads_outside() {
    let workspace = Workspace::new()
        .file("outside/SKILL.md", "---\nSECRET\n---\n")
        .file("outside/group/SKILL.md", "---\nSECRET\n---\n")
        .skill("root/victim", "V.")
        .skill("root/team/group", "G.")
        .skill("root/plain", "P.");
    symlink(workspace.join("outside"), workspace.join("swap-1")).unwrap();
    symlink(workspace.join("outside"), workspace.join("swap-2")).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| swap_until(&stop, &workspace.join("root/victim"), &workspace.join("swap-1")));
        scope.spawn(|| swap_until(&stop, &workspace.join("root/team"), &workspace.join("swap-2")));
        let mut swapped = 0;
        for _ in 0..3000 {
            let sweep = sweep_documents(&[confined(&workspace)], &metier_files::Bounds::default());
            for found in &sweep.found {
                assert!(!found.value.1.windows(6).any(|bytes| bytes == b"SECRET"), "{found:?}");
            }
            assert!(sweep.found.iter().any(|found| found.folder.as_os_str() == "plain"));
            swapped += usize::from(!sweep.problems.is_empty());
        }
        assert!(swapped > 0, "the attack was never in time, so nothing was tried");
    });
}

#[test]
fn a_document_swapped_for_a_link_during_the_sweep_never_leads_outside() {
    let workspace =
        Workspace::new().file("outside/secret.md", "---\nSECRET\n---\n").skill("root/victim", "V.");
    symlink(workspace.join("outside/secret.md"), workspace.join("swap")).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| swap_until(&stop, &workspace.join("root/victim/SKILL.md"), &workspace.join("swap")));
        for _ in 0..3000 {
            let sweep = sweep_documents(&[confined(&workspace)], &metier_files::Bounds::default());
            for found in &sweep.found {
                assert!(!found.value.1.windows(6).any(|bytes| bytes == b"SECRET"), "{found:?}");
            }
        }
    });
}

#[test]
fn a_folder_swapped_for_a_link_during_a_read_never_leads_outside() {
    let workspace = Workspace::new()
        .file("outside/run.py", "SECRET")
        .skill("skill", "S.")
        .file("skill/scripts/run.py", "fine");
    symlink(workspace.join("outside"), workspace.join("swap")).unwrap();
    let skill = SkillDir::open(&workspace.join("skill")).unwrap();
    let path = "scripts/run.py".parse().unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| swap_until(&stop, &workspace.join("skill/scripts"), &workspace.join("swap")));
        let (mut inside, mut outside) = (0, 0);
        while inside < 500 || outside < 500 {
            match skill.read(&path, 1024) {
                Ok(bytes) => {
                    assert_eq!(bytes, b"fine");
                    inside += 1;
                }
                Err(Error::Outside { .. }) => outside += 1,
                // While names are exchanged the kernel may find neither.
                Err(Error::NotFound { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    });
}

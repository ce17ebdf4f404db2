//! Layers where other file systems are mounted around them. Each test has a mount namespace of its own.

use crate::layers::{Layered, is_root};
use crate::scene::sandbox;
use metier_sandbox::{Choice, Error, Tier};

/// This test binary again, with one of its tests alone, in a mount namespace of its own. `None` where that cannot be had.
fn in_own_mounts(test: &str) -> Option<std::process::Output> {
    let unshare = || {
        let mut command = std::process::Command::new("unshare");
        command.arg("--mount").args((!is_root()).then_some("--map-root-user"));
        command
    };
    if !unshare().arg("true").output().is_ok_and(|output| output.status.success()) {
        metier_testkit::not_tried("mount-namespace", "no mount namespace for the test itself");
        return None;
    }
    // What is mounted in the test's own folder keeps it from being removed there, so it lies in one that is removed here.
    let folder = tempfile::Builder::new().prefix("sandbox-test-").tempdir().unwrap();
    let mut command = unshare();
    command.env("TMPDIR", folder.path()).arg(std::env::current_exe().unwrap());
    let output = command.args(["--ignored", "--exact", "--nocapture", test]).output().unwrap();
    // Folders of the kernel's that nobody may enter.
    let opened = std::process::Command::new("chmod").args(["-R", "u+rwX"]).arg(folder.path()).status();
    assert!(opened.unwrap().success());
    Some(output)
}

fn passes(test: &str) {
    if let Some(output) = in_own_mounts(test) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn mount(arguments: &[&str]) {
    let output = std::process::Command::new("mount").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_mount_below_the_project_is_refused_by_name() {
    passes("layer_mounts::with_a_mount_below_the_project");
}

#[test]
#[ignore = "run by the test above, in a mount namespace of its own"]
fn with_a_mount_below_the_project() {
    let scene = Layered::new().file("project/a", "a").file("project/in ner/b", "b");
    let inner = scene.path("project/in ner");
    mount(&["-t", "tmpfs", "none", inner.to_str().unwrap()]);
    let reason = scene.refusal(&scene.command("one", "true"));
    assert!(reason.contains(inner.to_str().unwrap()), "{reason}");
    // One on the project itself is the project.
    let project = scene.path("project");
    mount(&["-t", "tmpfs", "none", project.to_str().unwrap()]);
    std::fs::write(project.join("other"), "o").unwrap();
    let report = sandbox(Choice::Only(Tier::Namespaces))
        .run(&scene.0.profile, &scene.command("one", "ls; echo x > other; cat other"));
    // The table still has the covered one.
    assert!(matches!(report, Err(Error::NoLayer { .. })), "{report:?}");
}

#[test]
fn a_mount_that_comes_and_goes_between_two_calls_is_noticed() {
    passes("layer_mounts::with_mounts_between_calls");
}

#[test]
#[ignore = "run by the test above, in a mount namespace of its own"]
fn with_mounts_between_calls() {
    let scene = Layered::new().file("project/inner/b", "b");
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let inner = scene.path("project/inner").display().to_string();
    for round in 0..3 {
        assert!(scene.run(&sandbox, &format!("free-{round}"), "cat inner/b").succeeded(), "{round}");
        mount(&["-t", "tmpfs", "none", &inner]);
        let refused = sandbox.run(&scene.0.profile, &scene.command(&format!("held-{round}"), "true"));
        assert!(
            matches!(&refused, Err(Error::NoLayer { reason, .. }) if reason.contains(&inner)),
            "{refused:?}"
        );
        assert!(std::process::Command::new("umount").arg(&inner).status().unwrap().success());
    }
    assert!(scene.run(&sandbox, "last", "cat inner/b").succeeded());
}

#[test]
fn a_project_on_an_overlay_as_in_a_container_works_with_a_layer_in_memory() {
    passes("layer_mounts::on_an_overlay");
}

#[test]
#[ignore = "run by the test above, in a mount namespace of its own"]
fn on_an_overlay() {
    let scene = Layered::new().file("image/a", "a").file("image/folder/b", "b");
    std::fs::create_dir_all(scene.path("container/upper")).unwrap();
    std::fs::create_dir_all(scene.path("container/work")).unwrap();
    let path = |name: &str| scene.path(name).display().to_string();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}{}",
        path("image"),
        path("container/upper"),
        path("container/work"),
        if in_user_namespace() { ",userxattr" } else { "" }
    );
    mount(&["-t", "overlay", "none", "-o", &options, &path("project")]);
    let memory = scene.path("layers");
    std::fs::create_dir(&memory).unwrap();
    mount(&["-t", "tmpfs", "none", memory.to_str().unwrap()]);
    let command = scene.command("one", "cat a; echo x > a; rm -r folder; mkdir folder; ls -A folder; cat a");
    let ran = sandbox(Choice::Only(Tier::Namespaces)).run(&scene.0.profile, &command);
    if in_user_namespace() {
        let report = ran.unwrap();
        assert_eq!(report.stdout.text(), "ax\n", "{}", report.stderr.text());
    } else {
        // An overlay cannot show root's files as the call's.
        let Err(Error::NoLayer { reason, .. }) = ran else { unreachable!("{ran:?}") };
        assert!(reason.contains("this file system cannot"), "{reason}");
    }
    assert_eq!((scene.read("project/a"), scene.read("project/folder/b")), ("a".into(), "b".into()));
}

fn in_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    map.split_whitespace().last() != Some("4294967295")
}

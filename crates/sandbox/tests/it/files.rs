//! What a call sees and what it may change.

use crate::scene::{Scene, each_tier, sandbox, sh};
use metier_sandbox::{Choice, Error, Existing, LeaveOut, OutputKind, StandIn, Tier};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

#[test]
fn the_skill_can_be_read_and_not_written_and_the_data_folder_stays() {
    let scene = Scene::new().file("skill/a.txt", "hello");
    each_tier(|tier, sandbox| {
        let line = format!(
            "cat a.txt; echo x > new 2>/dev/null || echo held; echo {tier} > {}/kept && echo kept",
            scene.path("data").display()
        );
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.stdout.text(), "helloheld\nkept\n", "{tier}: {}", report.stderr.text());
        assert_eq!(std::fs::read_to_string(scene.path("data/kept")).unwrap(), format!("{tier}\n"));
    });
}

#[test]
fn files_that_only_their_owner_may_read_can_be_read() {
    let scene = Scene::new().file("skill/private.txt", "mine");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(scene.path("skill/private.txt"), private).unwrap();
    assert_eq!(scene.shell("cat private.txt").stdout.text(), "mine");
}

#[test]
fn a_place_that_bubblewrap_cannot_get_to_is_named() {
    let mut scene = Scene::new().file("locked/inner/a.txt", "x");
    let setup = crate::scene::setup(Choice::Only(Tier::Bubblewrap));
    if setup.bubblewrap.is_none() {
        metier_testkit::not_tried("bubblewrap", "bubblewrap is not installed");
        return;
    }
    let locked = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(scene.path("locked"), locked).unwrap();
    scene.profile.readable.push(scene.path("locked/inner"));
    let error = metier_sandbox::Sandbox::new(setup).run(&scene.profile, &sh("true")).unwrap_err();
    // So that it can be removed.
    std::fs::set_permissions(scene.path("locked"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let expect = format!("showing {} by bubblewrap", scene.path("locked/inner").display());
    assert!(error.to_string().contains(&expect), "{error}");
}

#[test]
fn what_is_masked_cannot_be_opened_by_any_name() {
    let mut scene = Scene::new().file("project/.env", "TOKEN=1").file("project/keys/a", "KEY");
    symlink(scene.path("project/.env"), scene.path("project/link")).unwrap();
    let masked = vec![scene.path("project/.env"), scene.path("project/keys"), scene.path("project/gone")];
    scene.project().masked.clone_from(&masked);
    for tier in [Tier::Namespaces, Tier::Bubblewrap] {
        if tier == Tier::Bubblewrap && crate::scene::setup(Choice::Best).bubblewrap.is_none() {
            metier_testkit::not_tried("bubblewrap", "bubblewrap is not installed");
            continue;
        }
        let line =
            format!("cd {}; cat .env link keys/a; ls keys; chmod 777 .env", scene.path("project").display());
        let report = sandbox(Choice::Only(tier)).run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.stdout.text(), "", "{tier}");
        assert_eq!(report.containment.masked, masked);
    }
}

#[test]
fn a_socket_in_the_project_that_is_masked_takes_no_connection() {
    let mut scene = Scene::new();
    let socket = scene.path("project/agent.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
    let line = format!(
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; print connect(S, sockaddr_un(q({}))) ? 1 : 0'",
        socket.display()
    );
    assert_eq!(scene.shell(&line).stdout.text(), "1", "the control: without a mask it can be reached");
    scene.project().masked.push(socket.clone());
    assert_eq!(scene.shell(&line).stdout.text(), "0");
}

#[test]
fn of_the_project_only_what_was_granted_can_be_written_and_protected_places_never() {
    let mut scene = Scene::new().file("project/docs/a.md", "a").file("project/docs/.git/hooks/x", "x");
    let line = format!(
        "cd {}; for f in top docs/new docs/.git/hooks/y docs/.git/hooks/x; do (echo 1 > $f) 2>/dev/null && echo $f; done; true",
        scene.path("project").display()
    );
    assert_eq!(scene.shell(&line).stdout.text(), "");
    let (docs, hooks) = (scene.path("project/docs"), scene.path("project/docs/.git/hooks"));
    scene.project().writable.push(docs);
    scene.project().protected.push(hooks);
    assert_eq!(scene.shell(&line).stdout.text(), "docs/new\n");
    assert_eq!(std::fs::read_to_string(scene.path("project/docs/new")).unwrap(), "1\n");
    assert_eq!(std::fs::read_to_string(scene.path("project/docs/.git/hooks/x")).unwrap(), "x");
}

fn tiers_with_mounts() -> impl Iterator<Item = Tier> {
    let has_bubblewrap = crate::scene::setup(Choice::Best).bubblewrap.is_some();
    if !has_bubblewrap {
        metier_testkit::not_tried("bubblewrap", "bubblewrap is not installed");
    }
    [Tier::Namespaces, Tier::Bubblewrap]
        .into_iter()
        .filter(move |tier| *tier == Tier::Namespaces || has_bubblewrap)
}

/// Where root runs the tests and the tier cannot show files under other owners, calls run as somebody who owns nothing.
fn open_to_all(paths: &[&std::path::Path]) {
    for path in paths {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
}

#[test]
fn the_way_to_a_protected_place_cannot_be_moved_away() {
    let mut scene = Scene::new().file("project/.git/hooks/x", "x").file("project/.git/HEAD", "ref");
    let (project, hooks) = (scene.path("project"), scene.path("project/.git/hooks"));
    open_to_all(&[&project, &project.join(".git"), &hooks, &project.join(".git/HEAD")]);
    scene.project().writable.push(project.clone());
    scene.project().protected.push(hooks);
    for tier in tiers_with_mounts() {
        let line = format!(
            "cd {}; mv .git moved && echo moved; mv -T .git/hooks .git/h && echo moved; echo 1 > .git/HEAD && echo written",
            project.display()
        );
        let report = sandbox(Choice::Only(tier)).run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.stdout.text(), "written\n", "{tier}: {}", report.stderr.text());
    }
}

#[test]
fn what_changed_between_two_calls_is_masked_and_protected_like_what_was_there_before() {
    let mut scene = Scene::new().file("project/.env", "TOKEN=1").file("skill/a.txt", "old");
    let project = scene.path("project");
    open_to_all(&[&project]);
    scene.project().writable.push(project.clone());
    scene.project().masked.push(project.join(".env"));
    scene.project().protected.push(project.join(".vscode"));
    for tier in tiers_with_mounts() {
        let sandbox = sandbox(Choice::Only(tier));
        let line =
            format!("cat a.txt; cd {}; cat .env; echo 1 > .vscode/tasks.json; true", project.display());
        assert_eq!(sandbox.run(&scene.profile, &sh(&line)).unwrap().stdout.text(), "old", "{tier}");
        // An editor that saves puts a new file in the place of the old one; a mount on the old one is gone with it.
        std::fs::write(project.join("new"), "TOKEN=2").unwrap();
        std::fs::rename(project.join("new"), project.join(".env")).unwrap();
        std::fs::create_dir(project.join(".vscode")).unwrap();
        open_to_all(&[&project.join(".vscode")]);
        std::fs::rename(scene.path("skill"), scene.path("skill-old")).unwrap();
        std::fs::create_dir(scene.path("skill")).unwrap();
        std::fs::write(scene.path("skill/a.txt"), "new").unwrap();
        assert_eq!(sandbox.run(&scene.profile, &sh(&line)).unwrap().stdout.text(), "new", "{tier}");
        assert!(!project.join(".vscode/tasks.json").exists(), "{tier}");
        std::fs::remove_dir(project.join(".vscode")).unwrap();
        std::fs::remove_dir_all(scene.path("skill")).unwrap();
        std::fs::rename(scene.path("skill-old"), scene.path("skill")).unwrap();
    }
}

#[test]
fn folders_work_where_temporary_files_and_shared_memory_lie() {
    for place in ["/var/tmp", "/dev/shm"] {
        let folder = tempfile::Builder::new().prefix("sandbox-test-").tempdir_in(place).unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("a.txt"), "hello").unwrap();
        std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut profile = metier_sandbox::Profile::new(root.clone());
        profile.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        each_tier(|tier, sandbox| {
            let report = sandbox.run(&profile, &sh("cat a.txt; echo x > $TMPDIR/b && echo kept")).unwrap();
            assert_eq!(report.stdout.text(), "hellokept\n", "{tier} {place}: {}", report.stderr.text());
        });
        // The links of the new root lead to the scratch folder; followed too early they would lead into the real one.
        let name = root.file_name().unwrap();
        assert!(!std::path::Path::new("/tmp").join(name).exists(), "{place}");
        assert!(!std::path::Path::new("/tmp/.shm").join(name).exists(), "{place}");
    }
}

#[test]
fn sockets_and_pipes_in_the_skill_are_masked_and_told() {
    let scene = Scene::new().file("skill/sub/a.txt", "a");
    let socket = scene.path("skill/sub/agent.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
    let line = "cat sub/a.txt; perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; \
                print connect(S, sockaddr_un(q(sub/agent.sock))) ? 1 : 0'";
    for tier in tiers_with_mounts() {
        let report = sandbox(Choice::Only(tier)).run(&scene.profile, &sh(line)).unwrap();
        assert_eq!(report.stdout.text(), "a0", "{tier}: {}", report.stderr.text());
        let note = format!("{} is a socket or a pipe: it is masked", socket.display());
        assert_eq!(report.containment.notes, [note], "{tier}");
    }
}

#[test]
fn the_project_is_not_shown_without_mounts_and_the_report_says_so() {
    let scene = Scene::new().file("project/a.txt", "a");
    let line = format!("cat {}", scene.path("project/a.txt").display());
    let report = sandbox(Choice::Only(Tier::Landlock)).run(&scene.profile, &sh(&line)).unwrap();
    assert_eq!(report.stdout.text(), "");
    assert_eq!(report.containment.notes.len(), 1, "{:?}", report.containment.notes);
}

#[test]
fn what_is_left_in_the_scratch_folder_is_listed_and_can_be_taken() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        let line = "mkdir $TMPDIR/out && echo 12 > $TMPDIR/out/a.txt && ln -s /etc/passwd $TMPDIR/link; \
                    echo cache > $HOME/cache";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        let entries: Vec<_> = report
            .outputs
            .entries
            .iter()
            .map(|output| (output.path.to_str().unwrap(), output.kind, output.size))
            .collect();
        assert_eq!(
            entries,
            [
                ("link", OutputKind::Link, 0),
                ("out", OutputKind::Folder, 0),
                ("out/a.txt", OutputKind::File, 3)
            ],
            "{tier}"
        );
        let target = scene.path(&format!("taken-{tier}"));
        let left_out = report.outputs.copy_to(&target, Existing::Stay, &|_| None).unwrap();
        assert_eq!(left_out.left_out, [("link".into(), LeaveOut::Link)]);
        assert_eq!(left_out.entries, 2);
        assert_eq!(std::fs::read_to_string(target.join("out/a.txt")).unwrap(), "12\n");
        assert!(target.join("link").symlink_metadata().is_err());
    });
}

#[test]
fn taking_results_follows_no_link_that_lies_where_they_go() {
    let scene = Scene::new().file("victim/a.txt", "old");
    let target = scene.path("taken");
    std::fs::create_dir(&target).unwrap();
    symlink(scene.path("victim"), target.join("out")).unwrap();
    let report = scene.shell("mkdir $TMPDIR/out; echo new > $TMPDIR/out/a.txt");
    let error = report.outputs.copy_to(&target, Existing::Stay, &|_| None).unwrap_err().to_string();
    assert_eq!(error, "out/a.txt: a link or a file lies where its folder should be");
    assert_eq!(std::fs::read_to_string(scene.path("victim/a.txt")).unwrap(), "old");
    let report = scene.shell("echo new > $TMPDIR/out");
    let error = report.outputs.copy_to(&target, Existing::Stay, &|_| None).unwrap_err().to_string();
    assert_eq!(error, "out: a link lies there, and links are not followed");
    // Nor is a folder made behind it.
    let report = scene.shell("mkdir -p $TMPDIR/out/made");
    assert!(report.outputs.copy_to(&target, Existing::Stay, &|_| None).is_err());
    assert!(!scene.path("victim/made").exists());
}

#[test]
fn a_file_that_is_there_stays_or_is_replaced_and_never_written_through() {
    let scene = Scene::new().file("elsewhere", "old").file("taken/a.txt", "old");
    let target = scene.path("taken");
    std::fs::hard_link(scene.path("elsewhere"), target.join("b.txt")).unwrap();
    let report =
        scene.shell("cd $TMPDIR; echo new > a.txt; echo new > b.txt; echo new > c.sh; chmod 6755 c.sh");
    let copied = report.outputs.copy_to(&target, Existing::Stay, &|_| None).unwrap();
    assert_eq!(copied.left_out, ["a.txt", "b.txt"].map(|name| (name.into(), LeaveOut::Exists)));
    let read = |name: &str| std::fs::read_to_string(scene.path(name)).unwrap();
    assert_eq!((read("taken/a.txt").as_str(), read("taken/c.sh").as_str()), ("old", "new\n"));
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&target.join("c.sh").metadata().unwrap().permissions());
    assert_eq!(mode & 0o7111, 0, "{mode:o}");
    let copied = report.outputs.copy_to(&target, Existing::Replaced, &|_| None).unwrap();
    assert_eq!(copied.left_out, []);
    assert_eq!((read("taken/a.txt").as_str(), read("taken/b.txt").as_str()), ("new\n", "new\n"));
    assert_eq!(read("elsewhere"), "old");
}

#[test]
fn taking_results_waits_for_no_pipe_that_lies_where_they_go() {
    let scene = Scene::new();
    let target = scene.path("taken");
    std::fs::create_dir(&target).unwrap();
    let made = std::process::Command::new("mkfifo").arg(target.join("a.txt")).status().unwrap();
    assert!(made.success());
    let report = scene.shell("echo new > $TMPDIR/a.txt");
    let error = report.outputs.copy_to(&target, Existing::Stay, &|_| None).unwrap_err().to_string();
    assert_eq!(error, "a.txt: a pipe or a device lies there");
}

#[test]
fn two_calls_share_no_scratch() {
    let scene = Scene::new();
    let sandbox = sandbox(Choice::Best);
    sandbox.run(&scene.profile, &sh("echo 1 > $TMPDIR/a; echo 1 > $HOME/b; echo 1 > /dev/shm/c")).unwrap();
    let report = sandbox.run(&scene.profile, &sh("ls $TMPDIR $HOME /dev/shm")).unwrap();
    for name in ["a", "b", "c"] {
        assert!(!report.stdout.text().lines().any(|line| line == name), "{}", report.stdout.text());
    }
}

#[test]
fn a_folder_that_became_a_link_is_refused() {
    let scene = Scene::new().file("elsewhere/secret", "s");
    std::fs::remove_dir(scene.path("skill")).unwrap();
    symlink(scene.path("elsewhere"), scene.path("skill")).unwrap();
    let run = sandbox(Choice::Only(Tier::Namespaces)).run(&scene.profile, &sh("cat secret"));
    assert!(run.is_err());
}

/// A copy that is shown in the place of a folder: nothing of what lies there is seen, whatever is around it.
#[test]
fn a_folder_can_be_shown_in_the_place_of_another_where_there_are_mounts() {
    let scene =
        Scene::new().file("real/run.sh", "echo real").file("real/only", "x").file("copy/run.sh", "echo copy");
    let mut profile = scene.profile.clone();
    profile.readable.clear();
    profile.stand_ins = vec![StandIn { at: scene.path("real"), by: scene.path("copy") }];
    profile.working_directory = scene.path("real");
    let line = "sh run.sh; ls; (echo x > new) 2>/dev/null; pwd";
    each_tier(|tier, sandbox| {
        let ran = sandbox.run(&profile, &sh(line));
        if tier == Tier::Landlock {
            assert!(matches!(ran, Err(Error::NoStandIn { .. })), "{ran:?}");
            return;
        }
        let expected = format!("copy\nrun.sh\n{}\n", scene.path("real").display());
        assert_eq!(ran.unwrap().stdout.text(), expected, "{tier}");
    });
    // The same inside a project that is shown whole.
    let scene = Scene::new()
        .file("project/skills/a/run.sh", "echo real")
        .file("project/readme", "readme")
        .file("copy/run.sh", "echo copy");
    let mut profile = scene.profile.clone();
    profile.stand_ins = vec![StandIn { at: scene.path("project/skills/a"), by: scene.path("copy") }];
    let line = format!("sh {0}/skills/a/run.sh; cat {0}/readme", scene.path("project").display());
    let report = sandbox(Choice::Only(Tier::Namespaces)).run(&profile, &sh(&line)).unwrap();
    assert_eq!(report.stdout.text(), "copy\nreadme");
}

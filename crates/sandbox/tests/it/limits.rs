//! What a call may use up.

use crate::scene::{Scene, each_tier, sandbox, setup, sh};
use metier_sandbox::{Choice, DataFolder, Ended, Metering, OverrunOf, Sandbox, Stop, Tier};
use std::time::Duration;

#[test]
fn memory_is_counted_over_all_processes() {
    let mut scene = Scene::new();
    scene.profile.limits.memory = 100 << 20;
    each_tier(|tier, sandbox| {
        // Four of them hold 40 MiB each: none is over the limit alone.
        let line = "for i in 1 2 3 4; do perl -e '$x = \"x\" x (40<<20); sleep 5' & done; wait";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Memory), "{tier}: {}", report.stderr.text());
        assert!(report.usage.memory > 100 << 20, "{tier}");
    });
}

#[test]
fn processor_time_is_counted_over_all_processes() {
    let mut scene = Scene::new();
    scene.profile.limits.cpu = Duration::from_millis(300);
    each_tier(|tier, sandbox| {
        let line = "for i in 1 2 3; do (while :; do :; done) & done; wait";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Cpu), "{tier}");
        assert!(report.usage.cpu < Duration::from_secs(3), "{tier}: {:?}", report.usage);
    });
}

#[test]
fn a_file_grows_no_larger_than_it_may() {
    let mut scene = Scene::new();
    scene.profile.limits.file_size = 1 << 20;
    each_tier(|tier, sandbox| {
        let line = "head -c 3000000 /dev/zero > $TMPDIR/a; wc -c < $TMPDIR/a";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        assert_eq!(report.stdout.text().trim(), "1048576", "{tier}");
        // The kernel ends a program that does not handle the signal, without a text about the limit.
        for line in
            ["truncate -s 2M $TMPDIR/b", "exec truncate -s 2M $TMPDIR/b", "truncate -s 2M $TMPDIR/b; exit $?"]
        {
            let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
            let notes = &report.containment.notes;
            assert!(
                notes.iter().any(|note| note.ends_with("1 MiB is the limit")),
                "{tier}, {line}: {report:?}"
            );
        }
    });
}

#[test]
fn the_data_folder_has_a_quota() {
    let mut scene = Scene::new();
    scene.profile.limits.data = 1 << 20;
    let data = scene.path("data");
    each_tier(|tier, sandbox| {
        let line = format!(
            "i=0; while :; do i=$((i+1)); head -c 300000 /dev/zero > {}/f$i; sleep 0.02; done",
            data.display()
        );
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Data), "{tier}");
        for entry in std::fs::read_dir(&data).unwrap().flatten() {
            std::fs::remove_file(entry.path()).unwrap();
        }
    });
}

#[test]
fn every_data_folder_has_a_quota_of_its_own() {
    let mut scene = Scene::new();
    scene.profile.limits.data = 1 << 20;
    let shared = scene.path("shared");
    std::fs::create_dir(&shared).unwrap();
    scene.profile.data.push(DataFolder::new(shared.clone()));
    each_tier(|tier, sandbox| {
        // What both hold together is more than one may.
        let own = scene.path("data");
        let line = format!(
            "head -c 700000 /dev/zero > {0}/a && head -c 700000 /dev/zero > {1}/a && sleep 0.6 && ls {0} {1}",
            own.display(),
            shared.display()
        );
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.ended, Ended::Exited(0), "{tier}: {}", report.stderr.text());
        let line = format!("head -c 700000 /dev/zero > {}/b; sleep 10", shared.display());
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Data), "{tier}: {}", report.stderr.text());
        let overrun = report.overrun.unwrap();
        assert_eq!((&overrun.folder, overrun.most), (&shared, 1 << 20), "{tier}");
        assert!(overrun.of == OverrunOf::Bytes && overrun.held > 1_300_000, "{tier}: {overrun:?}");
        // Also without a name.
        std::fs::remove_file(shared.join("b")).unwrap();
        let path = shared.join("c");
        let line = format!("exec 3> {0}; rm {0}; head -c 700000 /dev/zero >&3; sleep 10", path.display());
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Data), "{tier}: {}", report.stderr.text());
        for folder in [&own, &shared] {
            std::fs::remove_file(folder.join("a")).unwrap();
        }
    });
}

#[test]
fn a_place_of_the_project_may_not_grow_over_its_bound() {
    let mut scene = Scene::new().file("project/_data/before", &"x".repeat(3 << 20));
    scene.profile.limits.data = 1 << 20;
    let place = scene.path("project/_data");
    scene.project().writable = vec![place.clone()];
    scene.profile.bounded = vec![place.clone()];
    let line = |kib: u32| sh(&format!("head -c {kib}k /dev/zero > {}/new; sleep 0.8", place.display()));
    let run = |kib| sandbox(Choice::Best).run(&scene.profile, &line(kib)).unwrap();
    let report = run(512);
    assert_eq!(report.ended, Ended::Exited(0), "{}", report.stderr.text());
    std::fs::remove_file(place.join("new")).unwrap();
    assert_eq!(run(2048).ended, Ended::Stopped(Stop::Data));
}

#[test]
fn the_scratch_folder_has_a_size() {
    let mut scene = Scene::new();
    scene.profile.limits.scratch = 1 << 20;
    let report =
        scene.shell("for i in 1 2 3 4 5; do head -c 500000 /dev/zero > $TMPDIR/f$i; done; du -s $TMPDIR");
    assert!(report.stderr.text().contains("No space left"), "{}", report.stderr.text());
}

#[test]
fn endless_output_is_ended() {
    let mut scene = Scene::new();
    scene.profile.limits.chatter = 1 << 20;
    each_tier(|tier, sandbox| {
        let report = sandbox.run(&scene.profile, &sh("yes")).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Chatter), "{tier}");
    });
}

#[test]
fn a_call_that_keeps_its_watcher_busy_is_watched_all_the_same() {
    let mut scene = Scene::new();
    scene.profile.limits.cpu = Duration::from_secs(1);
    // On a busy machine two processes that wait for a third get little processor time.
    scene.profile.limits.time = Duration::from_mins(3);
    // Each turn of the loop is a denied call, which the watcher has to answer.
    let line = "perl -MSocket -e 'while (1) { socket(S, AF_INET, SOCK_STREAM, 0) }' & \
                perl -MSocket -e 'while (1) { socket(S, AF_INET, SOCK_STREAM, 0) }' & wait";
    let report = scene.shell(line);
    assert_eq!(report.ended, Ended::Stopped(Stop::Cpu), "{:?}", report.usage);
}

#[test]
fn files_without_a_name_count_against_the_data_folder() {
    let mut scene = Scene::new();
    scene.profile.limits.data = 1 << 20;
    each_tier(|tier, sandbox| {
        let path = scene.path("data/a");
        let line = format!(
            "exec 3> {0}; rm {0}; head -c 3000000 /dev/zero >&3; ls {1}; sleep 10",
            path.display(),
            scene.path("data").display()
        );
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Data), "{tier}: {}", report.stderr.text());
        assert_eq!(report.stdout.text(), "", "{tier}: the folder looks empty");
    });
}

#[test]
fn a_scratch_folder_on_disk_is_measured() {
    let mut scene = Scene::new();
    scene.profile.limits.scratch = 1 << 20;
    let line = "for i in 1 2 3 4 5; do head -c 500000 /dev/zero > $TMPDIR/f$i; done; sleep 10";
    let report = sandbox(Choice::Only(Tier::Landlock)).run(&scene.profile, &sh(line)).unwrap();
    assert_eq!(report.ended, Ended::Stopped(Stop::Scratch), "{}", report.stderr.text());
}

#[test]
fn processes_are_counted_where_the_kernel_counts_all_of_the_user() {
    let mut scene = Scene::new();
    scene.profile.limits.processes = 10;
    let line = "for i in $(seq 1 40); do sleep 10 & done; wait";
    // In a control group they would be refused one by one.
    let mut setup = setup(Choice::Only(Tier::Landlock));
    setup.metering = Metering::Watcher;
    let report = Sandbox::new(setup).run(&scene.profile, &sh(line)).unwrap();
    assert_eq!(report.ended, Ended::Stopped(Stop::Processes), "{}", report.stderr.text());
}

#[test]
fn no_more_processes_than_allowed() {
    let mut scene = Scene::new();
    scene.profile.limits.processes = 10;
    let line = "for i in $(seq 1 40); do sleep 2 & done 2>/dev/null; ls -d /proc/[0-9]* | wc -l";
    let report = scene.shell(line);
    // A shell that cannot start a process gives up; one that could would show forty.
    let seen: u32 = report.stdout.text().trim().parse().unwrap_or(0);
    assert!(seen < 15, "{seen}");
}

#[test]
fn memory_that_processes_share_counts_once() {
    let mut scene = Scene::new();
    scene.profile.limits.memory = 256 << 20;
    // Six processes with the same 100 MiB, which none of them changes.
    let line =
        "perl -e '$b = \"x\" x (100 << 20); for (1..5) { if (!fork) { sleep 1; exit } } while (wait > 0) {}'";
    let report = scene.shell(line);
    assert_eq!(report.ended, Ended::Exited(0), "{:?}", report.usage);
    // What each of them changes is its own.
    let line = "perl -e '$b = \"x\" x (100 << 20); for (1..5) { if (!fork) { $b =~ tr/x/y/; sleep 9; exit } } while (wait > 0) {}'";
    assert_eq!(scene.shell(line).ended, Ended::Stopped(Stop::Memory));
}

#[test]
fn a_data_folder_that_holds_too_much_can_be_cleaned_up_and_not_filled_further() {
    let mut scene = Scene::new();
    scene.profile.limits.data = 1 << 20;
    let data = scene.profile.data[0].path.clone();
    std::fs::write(data.join("old"), vec![1; 2 << 20]).unwrap();
    let report = scene.shell(&format!("head -c 64k /dev/urandom > {}/new; sleep 3", data.display()));
    assert_eq!(report.ended, Ended::Stopped(Stop::Data));
    let report = scene.shell(&format!("sleep 0.3; rm {0}/old {0}/new; sleep 0.3", data.display()));
    assert_eq!(report.ended, Ended::Exited(0), "{}", report.stderr.text());
}

#[test]
fn no_ruleset_of_landlock_can_be_made() {
    // Its number is the same everywhere; this form only asks for the version.
    each_tier(|tier, sandbox| {
        let line = "perl -e 'exit(syscall(444, 0, 0, 1) > 0 ? 1 : 0)'";
        let report = sandbox.run(&Scene::new().profile, &sh(line)).unwrap();
        assert_eq!(report.ended, Ended::Exited(0), "{tier}");
    });
}

//! How calls end, and that nothing of them stays.

use crate::scene::{Scene, each_tier, sandbox, sh};
use metier_sandbox::{Attendance, Cancel, Choice, Ended, Stop};
use std::fs;
use std::time::{Duration, Instant};

/// Processes of this machine whose command line has this word.
pub(crate) fn alive(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_process = entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit());
        if is_process && line.contains(word) && !line.contains("cargo") && !line.contains("nextest") {
            found.push(line);
        }
    }
    found
}

#[test]
fn what_takes_too_long_is_ended_with_all_its_children() {
    let mut scene = Scene::new();
    scene.profile.limits.time = Duration::from_millis(300);
    each_tier(|tier, sandbox| {
        let began = Instant::now();
        let line = "trap '' TERM INT HUP; (setsid sleep 4711.1 &); sleep 4711.1";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Time), "{tier}");
        assert!(began.elapsed() < Duration::from_secs(5), "{tier}");
        assert_eq!(alive("sleep 4711.1"), [""; 0], "{tier}");
    });
}

#[test]
fn a_daemon_is_dead_when_the_call_returns() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        let line = "(setsid sh -c 'trap \"\" TERM; (setsid sleep 4712.1 &) ; sleep 4712.1' >/dev/null 2>&1 &); sleep 0.05";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        assert_eq!(report.ended, Ended::Exited(0), "{tier}");
        assert_eq!(alive("sleep 4712.1"), [""; 0], "{tier}");
        assert!(report.left > 0, "{tier}");
        let report = sandbox.run(&scene.profile, &sh("sleep 0 & wait; true | true")).unwrap();
        assert_eq!(report.left, 0, "{tier}");
    });
}

#[test]
fn a_signal_that_ends_a_program_is_said() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        for (line, signal) in [("kill -TERM $$", 15), ("kill -KILL $$", 9), ("kill -ABRT $$", 6)] {
            let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
            assert_eq!(report.ended, Ended::Signaled(signal), "{tier}");
        }
    });
}

#[test]
fn a_call_that_is_taken_back_ends_soon() {
    let scene = Scene::new();
    let sandbox = sandbox(Choice::Best);
    let cancel = Cancel::new().unwrap();
    let began = Instant::now();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            cancel.cancel();
        });
        let attended = Attendance { cancel: Some(&cancel), ..Attendance::default() };
        sandbox.run_with(&scene.profile, &sh("sleep 4713.1"), attended).unwrap()
    });
    assert_eq!(report.ended, Ended::Stopped(Stop::Cancelled));
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(alive("sleep 4713.1"), [""; 0]);
}

#[test]
fn a_stopped_process_is_ended_too() {
    let mut scene = Scene::new();
    scene.profile.limits.time = Duration::from_millis(300);
    each_tier(|tier, sandbox| {
        let report = sandbox.run(&scene.profile, &sh("kill -STOP $$")).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Time), "{tier}");
    });
}

#[test]
fn what_the_filter_denied_is_told() {
    let scene = Scene::new();
    let line = "perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) or die $!'; unshare -U true";
    let report = scene.shell(line);
    let denied: Vec<_> =
        report.denied.iter().map(|denied| format!("{} {}", denied.call, denied.what)).collect();
    assert_eq!(denied, ["socket network (IPv4)", "unshare a new namespace"]);
}

#[test]
fn every_tier_holds_against_every_violation_that_doctor_tries() {
    let setup = crate::scene::setup(Choice::Best);
    let place = tempfile::tempdir().unwrap();
    let no_bubblewrap = setup.bubblewrap.is_none();
    for examination in metier_sandbox::examine(&setup, place.path()).unwrap() {
        if examination.tier == metier_sandbox::Tier::Bubblewrap && no_bubblewrap {
            continue;
        }
        for finding in examination.findings.unwrap() {
            assert!(
                !matches!(finding.held, metier_sandbox::Held::No(_)),
                "{}: {finding:?}",
                examination.tier
            );
        }
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

//! Control groups, where this machine lets us make some. Where it does not, that is said: nothing of this was tried then.

use crate::scene::{Scene, each_tier, sandbox, setup, sh};
use metier_sandbox::{Choice, Ended, Expecting, Meter, Metering, Report, Sandbox, Stop, Tier};
use std::time::Duration;

/// Whether a call was in a group; says loudly where it was not.
fn in_group(report: &Report, what: &str) -> bool {
    let is_in = report.containment.meter == Meter::ControlGroup;
    if !is_in {
        metier_testkit::not_tried(
            "control-groups",
            format_args!("this machine gives this process none: {what}"),
        );
    }
    is_in
}

#[test]
fn a_call_sees_its_group_as_the_topmost_one() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        // Twice: the second process was made while nobody waited.
        for _ in 0..2 {
            let report = sandbox.run(&scene.profile, &sh("cat /proc/self/cgroup")).unwrap();
            if in_group(&report, "what a call sees of groups") && tier == Tier::Namespaces {
                assert!(report.stdout.text().lines().any(|line| line == "0::/"), "{}", report.stdout.text());
            }
        }
    });
}

#[test]
fn a_call_that_comes_alone_has_a_group_too() {
    let scene = Scene::new();
    let mut setup = setup(Choice::Best);
    setup.expecting = Expecting::One;
    let report = Sandbox::new(setup).run(&scene.profile, &sh("echo hello")).unwrap();
    assert_eq!(report.stdout.text(), "hello\n");
    in_group(&report, "calls that come alone");
}

#[test]
fn memory_that_no_process_maps_is_counted_by_the_group() {
    let mut scene = Scene::new();
    scene.profile.limits.memory = 16 << 20;
    scene.profile.limits.scratch = 1 << 20;
    scene.profile.limits.time = Duration::from_mins(2);
    each_tier(|tier, sandbox| {
        let plain = sandbox.run(&scene.profile, &sh("echo $TMPDIR > $TMPDIR/left; true")).unwrap();
        assert_eq!(plain.ended, Ended::Exited(0), "{tier}");
        if !in_group(&plain, "memory that no process maps") {
            return;
        }
        // Full pipes: 28 MiB in each of the three, of which the watcher sees nothing.
        let bomb = "perl -e 'for (1..450) { pipe($r, $w); $w->blocking(0); syswrite($w, \"x\" x 65536); push @k, $r, $w } \
                    sleep 60'";
        let line = format!("echo x > $TMPDIR/left; for i in 1 2 3; do {bomb} & done; wait; echo survived");
        let report = sandbox.run(&scene.profile, &sh(&line)).unwrap();
        assert_eq!(report.ended, Ended::Stopped(Stop::Memory), "{tier}: {:?}", report.usage);
        assert!(!report.stdout.text().contains("survived"), "{tier}");
        // Whoever watches over the call was not taken with it.
        assert_eq!(report.outputs.entries.len(), 1, "{tier}");
    });
}

#[test]
fn processes_beyond_the_limit_are_refused_and_counted() {
    let mut scene = Scene::new();
    scene.profile.limits.processes = 10;
    each_tier(|tier, sandbox| {
        let line = "for i in $(seq 1 40); do sleep 2 & done";
        let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
        if in_group(&report, "refused processes") {
            let notes = &report.containment.notes;
            assert!(
                notes.iter().any(|note| note.starts_with("10 processes and threads is the limit; ")),
                "{tier}: {notes:?}"
            );
            assert!(matches!(report.ended, Ended::Exited(_)), "{tier}: {:?}", report.ended);
        }
    });
}

#[test]
fn whoever_wants_no_groups_gets_none() {
    let scene = Scene::new();
    let mut setup = setup(Choice::Best);
    setup.metering = Metering::Watcher;
    let report = Sandbox::new(setup).run(&scene.profile, &sh("true")).unwrap();
    assert_eq!(report.containment.meter, Meter::Watcher);
}

#[test]
fn many_calls_at_once_have_groups_of_their_own() {
    let mut scene = Scene::new();
    scene.profile.limits.processes = 12;
    scene.profile.limits.time = Duration::from_mins(2);
    let sandbox = sandbox(Choice::Best);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                // Half of what one may have; in one group they would be too many.
                let line = "for i in 1 2 3 4 5 6; do sleep 0.5 & done; wait; echo done";
                let report = sandbox.run(&scene.profile, &sh(line)).unwrap();
                assert_eq!(report.stdout.text(), "done\n", "{}", report.stderr.text());
            });
        }
    });
}

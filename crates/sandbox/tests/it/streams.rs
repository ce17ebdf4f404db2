//! What goes in and what comes out.

use crate::scene::{Scene, each_tier, sandbox, sh};
use metier_sandbox::{Attendance, Choice, Command, Ended, Error, Expecting, Helper, Sandbox, Stop, Stream};
use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

#[test]
fn streams_and_status_come_back_on_every_tier() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        let report = sandbox.run(&scene.profile, &sh("echo out; echo err >&2; exit 7")).unwrap();
        assert_eq!(report.ended, Ended::Exited(7), "{tier}");
        assert_eq!((report.stdout.text(), report.stderr.text()), ("out\n".into(), "err\n".into()), "{tier}");
        assert_eq!(report.containment.tier, tier);
    });
}

#[test]
fn the_program_that_contains_may_lie_where_only_its_owner_gets() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let private = tempfile::tempdir().unwrap();
    std::fs::set_permissions(private.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let helper = private.path().join("helper");
    // By another process: whatever other tests start meanwhile would hold the file open for writing for a moment, and then
    // it cannot be run.
    let copied = std::process::Command::new("cp").arg(crate::scene::helper()).arg(&helper).status().unwrap();
    assert!(copied.success());
    each_tier(|tier, _| {
        let mut setup = crate::scene::setup(Choice::Only(tier));
        setup.helper = Helper::Program(helper.clone());
        let report = Sandbox::new(setup).run(&scene.profile, &sh("echo out")).unwrap();
        assert_eq!(report.stdout.text(), "out\n", "{tier}");
    });
}

#[test]
fn the_same_in_one_go_without_helper_and_room() {
    // The tests' own process has several threads, so this takes the ordinary way; the binary's tests try the other one.
    let scene = Scene::new();
    let mut setup = crate::scene::setup(Choice::Best);
    setup.expecting = Expecting::One;
    let report = metier_sandbox::Sandbox::new(setup).run(&scene.profile, &sh("echo out")).unwrap();
    assert_eq!(report.stdout.text(), "out\n");
}

#[test]
fn arguments_are_handed_over_as_they_are() {
    let scene = Scene::new();
    let words = ["a b", "", "$(id)", "; echo x", "--", "\u{e9}\n"];
    let command = Command::new("/usr/bin/printf").argument("<%s>").arguments(words);
    let report = sandbox(Choice::Best).run(&scene.profile, &command).unwrap();
    assert_eq!(report.stdout.text(), words.map(|word| format!("<{word}>")).concat());
}

#[test]
fn ten_thousand_arguments_and_a_megabyte_of_input_arrive() {
    let scene = Scene::new();
    let input = "line\n".repeat(200_000);
    let command = Command::new("/bin/sh")
        .arguments(["-c", "echo $#; wc -c", "sh"])
        .arguments((0..10_000).map(|number| number.to_string()))
        .stdin(input.as_bytes());
    let report = sandbox(Choice::Best).run(&scene.profile, &command).unwrap();
    assert_eq!(report.stdout.text(), "10000\n1000000\n");
}

#[test]
fn a_program_that_does_not_read_its_input_ends_all_the_same() {
    let scene = Scene::new();
    let command = sh("exit 3").stdin(vec![b'x'; 1 << 20]);
    assert_eq!(sandbox(Choice::Best).run(&scene.profile, &command).unwrap().ended, Ended::Exited(3));
}

#[test]
fn of_long_output_beginning_and_end_are_kept() {
    let mut scene = Scene::new();
    scene.profile.limits.output = 64;
    let report = scene.shell("seq 1 100000");
    assert!(report.stdout.is_truncated());
    assert!(report.stdout.text().starts_with("1\n2\n3\n"), "{}", report.stdout.text());
    assert!(report.stdout.text().ends_with("99999\n100000\n"), "{}", report.stdout.text());
    assert_eq!(report.stdout.total, 588_895);
}

#[test]
fn what_is_written_is_handed_on_while_it_is_written() {
    let scene = Scene::new();
    let mut seen = Vec::new();
    let line = "echo one; echo two >&2";
    let mut sink = |stream, bytes: &[u8]| seen.push((stream, bytes.to_vec()));
    let attended = Attendance { sink: Some(&mut sink), ..Attendance::default() };
    sandbox(Choice::Best).run_with(&scene.profile, &sh(line), attended).unwrap();
    seen.sort_by_key(|(stream, _)| *stream == Stream::Error);
    assert_eq!(seen, [(Stream::Output, b"one\n".to_vec()), (Stream::Error, b"two\n".to_vec())]);
}

#[test]
fn a_program_that_is_not_there_is_an_error_with_its_name() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        let error = sandbox.run(&scene.profile, &Command::new("/usr/bin/no-such-program")).unwrap_err();
        assert!(matches!(&error, Error::Program { .. }), "{tier}: {error}");
        assert_eq!(
            error.to_string(),
            "/usr/bin/no-such-program could not be started: No such file or directory (os error 2)"
        );
    });
}

#[test]
fn a_process_that_is_talked_to_answers_until_it_is_told_to_end() {
    let scene = Scene::new();
    each_tier(|tier, sandbox| {
        let line = "while read word; do echo \"got $word\"; done; echo bye >&2; exit 5";
        let mut running = sandbox.start(&scene.profile, &sh(line)).unwrap();
        let mut answers = BufReader::new(running.stdout.take().unwrap());
        for word in ["one", "two"] {
            writeln!(running.stdin.as_mut().unwrap(), "{word}").unwrap();
            let mut answer = String::new();
            answers.read_line(&mut answer).unwrap();
            assert_eq!(answer, format!("got {word}\n"), "{tier}");
        }
        assert_eq!(running.wait().unwrap().ended, Ended::Exited(5), "{tier}");
        let running = sandbox.start(&scene.profile, &sh("sleep 4717.5 & sleep 4717.5")).unwrap();
        assert_eq!(running.end().unwrap().ended, Ended::Stopped(Stop::Cancelled), "{tier}");
        assert_eq!(crate::ending::alive("sleep 4717.5"), [""; 0], "{tier}");
        drop(sandbox.start(&scene.profile, &sh("sleep 4718.5")).unwrap());
    });
    let began = Instant::now();
    while !crate::ending::alive("sleep 4718.5").is_empty() {
        assert!(began.elapsed() < Duration::from_secs(5), "what is dropped is ended");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_path_that_is_not_exact_is_refused() {
    let mut scene = Scene::new();
    scene.profile.readable.push("relative".into());
    assert!(matches!(sandbox(Choice::Best).run(&scene.profile, &sh("true")), Err(Error::Path(_))));
    scene.profile.readable = vec!["/usr/../etc".into()];
    assert!(matches!(sandbox(Choice::Best).run(&scene.profile, &sh("true")), Err(Error::Path(_))));
}

#[test]
fn the_environment_is_the_profiles_and_two_names_of_ours() {
    let mut scene = Scene::new();
    scene.profile.environment.push(("SKILL_DIR".into(), "/x y".into()));
    each_tier(|tier, sandbox| {
        let report = sandbox.run(&scene.profile, &Command::new("/usr/bin/env")).unwrap();
        let text = report.stdout.text();
        let mut names: Vec<_> =
            text.lines().filter_map(|line| line.split_once('=')).map(|pair| pair.0).collect();
        names.sort_unstable();
        assert_eq!(names, ["HOME", "PATH", "SKILL_DIR", "TMPDIR"], "{tier}");
    });
}

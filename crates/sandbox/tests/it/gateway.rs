//! The gateway of a call, and its clock.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use metier_sandbox::{
    Attendance, Choice, Clock, Command, Ended, Error, Expecting, GATEWAY, Network, Report, Sandbox, Stop,
    Tier,
};

use crate::scene::{Scene, sandbox, setup, sh};

/// What a server at the gateway does with each connection.
type Answer = fn(TcpStream);

/// Says what it heard, as a line of HTTP that curl takes.
fn echo(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    let length = stream.read(&mut bytes).unwrap_or(0);
    let line = String::from_utf8_lossy(&bytes[..length]).lines().next().unwrap_or_default().to_owned();
    let _ = write!(stream, "HTTP/1.0 200 OK\r\n\r\nheard {line}\n");
}

/// Runs a command with somebody at its gateway, and gives the threads that stood there time to end.
fn attended(sandbox: &Sandbox, scene: &Scene, command: &Command, answer: Answer) -> Result<Report, Error> {
    std::thread::scope(|scope| {
        let mut porter = |listener: TcpListener| {
            scope.spawn(move || {
                // It ends when the call does: then taking a connection fails.
                for stream in listener.incoming() {
                    let Ok(stream) = stream else { break };
                    answer(stream);
                }
            });
        };
        let attendance = Attendance { porter: Some(&mut porter), ..Attendance::default() };
        sandbox.run_with(&scene.profile, command, attendance)
    })
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.profile.network = Network::Gateway;
    scene
}

/// The means that have a gateway, with what to run things by: kept, and for one call.
fn each_way(mut check: impl FnMut(&str, &Sandbox)) {
    check("namespaces", &sandbox(Choice::Only(Tier::Namespaces)));
    if setup(Choice::Best).bubblewrap.is_some() {
        check("bubblewrap", &sandbox(Choice::Only(Tier::Bubblewrap)));
    } else {
        metier_testkit::not_tried("bubblewrap", "bubblewrap is not installed");
    }
    let mut once = setup(Choice::Only(Tier::Namespaces));
    once.expecting = Expecting::One;
    check("once, or kept where this process has threads", &Sandbox::new(once));
}

#[test]
fn programs_speak_to_whoever_stands_at_the_gateway() {
    let scene = scene();
    let address = GATEWAY.to_string();
    let tcp = format!("exec 3<>/dev/tcp/{}; echo bash >&3; tail -n 1 <&3", address.replace(':', "/"));
    let python = "import socket,sys; h,p=sys.argv[1].split(':'); s=socket.create_connection((h,int(p))); \
                  s.send(b'python\\n'); print(s.makefile().read().splitlines()[-1])";
    let urllib = "import os,sys; os.environ['http_proxy']='http://'+sys.argv[1]; import urllib.request as u; \
                  print(u.urlopen('http://example.com/x').read().decode().splitlines()[-1])";
    let node = "const [host, port] = process.argv[1].split(':'); \
                require('http').get({ host, port, path: 'http://example.com/x' }, r => r.pipe(process.stdout))";
    let lines = [
        (Command::new("/bin/bash").arguments(["-c", &tcp]), "heard bash\n"),
        (Command::new("/usr/bin/python3").arguments(["-c", python, &address]), "heard python\n"),
        (
            Command::new("/usr/bin/curl").arguments(["-sS", "-x", &address, "http://example.com/x"]),
            "heard GET http://example.com/x HTTP/1.1\n",
        ),
        (
            Command::new("/usr/bin/python3").arguments(["-c", urllib, &address]),
            "heard GET http://example.com/x HTTP/1.1\n",
        ),
        (
            Command::new("/usr/bin/node").arguments(["-e", node, &address]),
            "heard GET http://example.com/x HTTP/1.1\n",
        ),
    ];
    each_way(|way, sandbox| {
        for (command, expect) in &lines {
            if !command.program.exists() {
                metier_testkit::not_tried(
                    "program",
                    format_args!("{} is not installed", command.program.display()),
                );
                continue;
            }
            // Twice, since the second call finds what it needs made ahead.
            for _ in 0..2 {
                let report = attended(sandbox, &scene, command, echo).unwrap();
                let said = (report.stdout.text(), report.stderr.text());
                assert_eq!(said, ((*expect).to_owned(), String::new()), "{way}");
                assert_eq!(report.denied, [], "{way}: {}", command.program.display());
            }
        }
    });
}

#[test]
fn a_program_can_listen_on_a_local_socket_and_on_no_port() {
    let scene = scene();
    let perl = |family: &str, address: &str| {
        let text = format!(
            "use Socket; socket(S, {family}, SOCK_STREAM, 0) or die 'socket'; {address} \
             print listen(S, 1) ? 'listens' : $!"
        );
        Command::new("/usr/bin/perl").arguments(["-e", &text])
    };
    let local = perl("AF_UNIX", "bind(S, sockaddr_un($ENV{TMPDIR} . '/s')) or die $!;");
    let port = perl("AF_INET", "");
    each_way(|way, sandbox| {
        let report = attended(sandbox, &scene, &local, echo).unwrap();
        assert_eq!((report.stdout.text().as_str(), report.denied.len()), ("listens", 0), "{way}");
        let report = attended(sandbox, &scene, &port, echo).unwrap();
        assert_eq!(report.stdout.text(), "Permission denied", "{way}");
        let denied: Vec<_> = report.denied.iter().map(|d| (d.call.as_str(), d.what.as_str())).collect();
        assert_eq!(denied, [("listen", "a network port")], "{way}");
    });
}

#[test]
fn when_a_call_is_over_its_connections_are_and_nobody_can_make_another() {
    let scene = scene();
    let line = format!(
        "exec 3<>/dev/tcp/{}; echo here >&3; (setsid sleep 4719.5 &) ; exit 0",
        GATEWAY.to_string().replace(':', "/")
    );
    let command = Command::new("/bin/bash").arguments(["-c", &line]);
    each_way(|way, sandbox| {
        let kept = Mutex::new(None);
        let mut porter = |listener: TcpListener| *kept.lock().unwrap() = Some(listener);
        let attendance = Attendance { porter: Some(&mut porter), ..Attendance::default() };
        let report = sandbox.run_with(&scene.profile, &command, attendance).unwrap();
        assert_eq!(report.ended, Ended::Exited(0), "{way}: {}", report.stderr.text());
        let listener = kept.into_inner().unwrap().unwrap();
        // Nobody took the connection while the call ran; now there is none to take.
        assert!(listener.accept().is_err(), "{way}");
        assert!(crate::ending::alive("sleep 4719.5").is_empty(), "{way}");
    });
    let report = attended(&sandbox(Choice::Best), &scene, &command, |mut stream| {
        let mut all = String::new();
        let ended = stream.read_to_string(&mut all);
        assert!(all == "here\n" && (ended.is_ok() || all.len() == 5), "{all} {ended:?}");
    });
    assert_eq!(report.unwrap().ended, Ended::Exited(0));
}

#[test]
fn a_process_that_is_talked_to_has_a_gateway_too() {
    let scene = scene();
    let line = format!("exec 3<>/dev/tcp/{}; cat <&3", GATEWAY.to_string().replace(':', "/"));
    let command = Command::new("/bin/bash").arguments(["-c", &line]);
    let sandbox = sandbox(Choice::Best);
    let mut running = sandbox.start(&scene.profile, &command).unwrap();
    let gateway = running.gateway.take().unwrap();
    let (mut stream, _) = gateway.accept().unwrap();
    stream.write_all(b"hello").unwrap();
    drop(stream);
    let mut text = String::new();
    running.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
    assert_eq!(running.wait().unwrap().ended, Ended::Exited(0));
    assert!(gateway.accept().is_err());
}

#[test]
fn a_gateway_without_anybody_there_is_the_callers_mistake() {
    let scene = scene();
    let error = sandbox(Choice::Best).run(&scene.profile, &sh("true")).unwrap_err();
    assert!(matches!(error, Error::NoPorter), "{error}");
}

#[test]
fn without_a_network_of_its_own_a_call_has_no_gateway_and_that_is_said() {
    let mut scene = scene();
    let sandbox = sandbox(Choice::Only(Tier::Landlock));
    let error = attended(&sandbox, &scene, &sh("true"), echo).unwrap_err();
    assert!(matches!(error, Error::NoGateway { .. }), "{error}");
    assert!(error.to_string().contains("network namespace"), "{error}");
    assert!(error.to_string().contains("`metier doctor`"), "{error}");
    // The same sandbox still runs what needs none.
    scene.profile.network = Network::None;
    assert!(sandbox.run(&scene.profile, &sh("true")).unwrap().succeeded());
}

#[test]
fn while_the_clock_stands_still_the_time_does_not_run_and_afterwards_it_does() {
    let mut scene = Scene::new();
    scene.profile.limits.time = Duration::from_millis(400);
    let sandbox = sandbox(Choice::Best);
    let timed = |line: &str, hold: Duration| {
        let clock = Clock::new();
        let attendance = Attendance { clock: Some(&clock), ..Attendance::default() };
        let began = Instant::now();
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                let (_one, _two) = (clock.pause(), clock.pause());
                std::thread::sleep(hold);
            });
            sandbox.run_with(&scene.profile, &sh(line), attendance).unwrap()
        });
        (report, began.elapsed())
    };
    let hold = Duration::from_millis(900);
    let (report, _) = timed("sleep 0.8; echo done", hold);
    assert_eq!((report.ended, report.stdout.text().as_str()), (Ended::Exited(0), "done\n"));
    assert!(report.usage.paused > Duration::from_millis(400) && report.usage.paused < report.usage.time);
    let (report, took) = timed("sleep 4720.5", hold);
    assert_eq!(report.ended, Ended::Stopped(Stop::Time));
    assert!(took >= Duration::from_millis(1300) && took < Duration::from_secs(3), "{took:?}");
    assert!(report.usage.paused >= hold && report.usage.time >= Duration::from_millis(1300));
}

#[test]
fn a_clock_that_stood_still_for_others_gives_nothing_to_the_next_call() {
    let mut scene = Scene::new();
    scene.profile.limits.time = Duration::from_millis(200);
    let clock = Clock::new();
    let pause = clock.pause();
    std::thread::sleep(Duration::from_millis(500));
    drop(pause);
    let attendance = Attendance { clock: Some(&clock), ..Attendance::default() };
    let began = Instant::now();
    let report = sandbox(Choice::Best).run_with(&scene.profile, &sh("sleep 4721.5"), attendance).unwrap();
    assert_eq!(report.ended, Ended::Stopped(Stop::Time));
    assert!(began.elapsed() < Duration::from_millis(1500) && report.usage.paused.is_zero());
}

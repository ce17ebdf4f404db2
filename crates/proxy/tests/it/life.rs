//! Connections from their beginning to their end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use metier_proxy::{Ending, Event, Limits};

use crate::town::{Bench, List, Town, hello};

/// Sends a request for a tunnel with bytes behind it, half closes, and hears them come back.
pub(crate) fn through(name: &str, allow: &[&str], send: &[u8], bytes: &[u8]) {
    let bench = Bench::new(allow);
    let mut stream = bench.connect();
    stream.write_all(send).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    // The server speaks after the program is done: a half-closed connection is still one.
    assert!(answer.ends_with(&[bytes, b"goodbye"].concat()), "{name}: {}", String::from_utf8_lossy(&answer));
    assert_eq!(*bench.town.heard.lock().unwrap(), bytes, "{name}");
    bench.wait_for(": closed");
}

fn limits() -> Limits {
    Limits { head: Duration::from_millis(200), idle: Duration::from_millis(300), ..Limits::default() }
}

fn bench(limits: Limits) -> Bench {
    Bench::with(Town::new(), Arc::new(List::new(&["*", "allowed.example"])), limits)
}

#[test]
fn a_name_that_changes_its_address_changes_nothing() {
    let bench = Bench::new(&["rebind.example"]);
    let answer = bench.ask(b"GET http://rebind.example/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("site=allowed"));
    assert_eq!(
        (bench.town.asked("rebind.example"), bench.town.connected()),
        (1, vec!["203.0.113.1:80".to_owned()])
    );
    // The next contact resolves anew, and the new address is checked anew.
    let answer = bench.ask(b"GET http://rebind.example/ HTTP/1.1\r\n\r\n");
    assert!(String::from_utf8_lossy(&answer).contains("(special-address)"));
    assert_eq!(bench.town.connected().len(), 1);
}

#[test]
fn a_redirect_is_a_contact_like_any_other() {
    for (to, code) in [
        ("other.example", "not-allowed"),
        ("inner.example", "special-address"),
        ("meta.example", "special-address"),
        ("127.0.0.1", "not-allowed"),
    ] {
        let bench = Bench::new(&["allowed.example", "inner.example", "meta.example"]);
        let first = bench.ask(format!("GET http://allowed.example/to/{to} HTTP/1.1\r\n\r\n").as_bytes());
        let first = String::from_utf8(first).unwrap();
        let location = first.split("Location: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        let second = bench.ask(format!("GET {location} HTTP/1.1\r\n\r\n").as_bytes());
        assert!(
            String::from_utf8_lossy(&second).contains(&format!("403 Refused by metier ({code})")),
            "{to}"
        );
        assert_eq!(bench.town.connected(), ["203.0.113.1:80"], "{to}");
    }
}

#[test]
fn every_contact_is_told_in_order() {
    let bench = Bench::new(&["allowed.example"]);
    bench.ask(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n");
    bench.wait_for("closed");
    bench.ask(b"CONNECT other.example:443 HTTP/1.1\r\n\r\n");
    bench.ask(b"GET / HTTP/1.1\r\n\r\n");
    bench.ask(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n");
    bench.wait_for("closed");
    assert_eq!(
        bench.log()[..9],
        [
            "`allowed.example:80`: asking",
            "`allowed.example:80`: answered",
            "`allowed.example:80`: passed to 203.0.113.1:80",
            "`allowed.example:80`: closed",
            "`other.example:443`: asking",
            "`other.example:443`: answered",
            "`other.example:443`: refused: no rule names it",
            "no request: this is a proxy and no server; ask it for the whole address, `http://host/path`",
            // The answer is known by now.
            "`allowed.example:80`: passed to 203.0.113.1:80",
        ]
    );
    let carried = bench.events.lock().unwrap().iter().find_map(|event| match event {
        Event::Ended { carried, .. } => Some(*carried),
        _ => None,
    });
    let carried = carried.unwrap();
    assert!(carried.up > 40 && carried.down > 80, "{carried:?}");
}

#[test]
fn a_slow_head_gets_an_answer_and_an_end() {
    let bench = bench(limits());
    let mut stream = bench.connect();
    stream.write_all(b"GET http://allowed.example/ HTTP/1.1\r\nA: ").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 Refused by metier (slow-request)"), "{answer}");
    // One byte at a time does not make the time longer.
    let began = Instant::now();
    let mut stream = bench.connect();
    while began.elapsed() < Duration::from_secs(5) && stream.write_all(b"A").is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_quiet_tunnel_ends() {
    let bench = bench(limits());
    let mut stream = bench.tunnel("allowed.example:443");
    stream.write_all(b"hello").unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    assert!(heard.starts_with(b"hello"));
    bench.wait_for(": idle");
}

#[test]
fn a_server_that_speaks_first_is_heard_while_nothing_is_known_of_the_tunnel() {
    let mut town = Town::new();
    town.build("203.0.113.2:22", |mut stream| stream.write_all(b"SSH-2.0-town\r\n").unwrap());
    let bench = Bench::with(town, Arc::new(List::new(&["other.example"])), Limits::default());
    let mut stream = bench.tunnel("other.example:22");
    let mut greeting = [0; 14];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting, b"SSH-2.0-town\r\n");
}

#[test]
fn a_hello_in_pieces_is_held_back_until_it_is_known() {
    let bench = Bench::new(&["allowed.example"]);
    let mut stream = bench.tunnel("allowed.example:443");
    let bytes = hello(Some("other.example"));
    for byte in &bytes[..bytes.len() - 1] {
        stream.write_all(&[*byte]).unwrap();
    }
    thread::sleep(Duration::from_millis(50));
    assert_eq!(*bench.town.heard.lock().unwrap(), b"");
    stream.write_all(&bytes[bytes.len() - 1..]).unwrap();
    assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    bench.wait_for("its first TLS message is for `other.example`");
    assert_eq!(*bench.town.heard.lock().unwrap(), b"");
}

#[test]
fn a_large_body_goes_through_whole_in_both_directions() {
    let bench = Bench::new(&["allowed.example"]);
    let stream = bench.tunnel("allowed.example:443");
    let bytes: Vec<u8> = (0..4_000_000u32).map(|number| (number % 251) as u8).collect();
    let (mut sender, sent) = (stream.try_clone().unwrap(), bytes.clone());
    let sending = thread::spawn(move || {
        sender.write_all(&sent).unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
    });
    let mut heard = Vec::new();
    (&stream).read_to_end(&mut heard).unwrap();
    sending.join().unwrap();
    assert!(heard == [&bytes[..], b"goodbye"].concat(), "{} bytes came back", heard.len());
}

#[test]
fn a_request_with_half_a_connection_is_answered() {
    let bench = Bench::new(&["allowed.example"]);
    let mut stream = bench.connect();
    stream.write_all(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("site=allowed"), "{answer}");
}

#[test]
fn a_server_without_an_answer_is_said() {
    let mut town = Town::new();
    town.build("203.0.113.2:80", drop);
    let bench = Bench::with(town, Arc::new(List::new(&["other.example"])), Limits::default());
    let answer = String::from_utf8(bench.ask(b"GET http://other.example/ HTTP/1.1\r\n\r\n")).unwrap();
    // Closed with the request unread, the server may also break off, and then there is nothing to say it with.
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 502 Refused by metier (no-answer)"),
        "{answer}"
    );
}

#[test]
fn two_hundred_at_once_are_all_served() {
    let bench = Arc::new(Bench::new(&["allowed.example"]));
    let asking: Vec<_> = (0..200)
        .map(|number| {
            let bench = Arc::clone(&bench);
            thread::spawn(move || {
                let request = format!("GET http://allowed.example/{number} HTTP/1.1\r\n\r\n");
                let answer = String::from_utf8(bench.ask(request.as_bytes())).unwrap();
                assert!(answer.contains(&format!("GET /{number} HTTP/1.1")), "{answer}");
            })
        })
        .collect();
    for one in asking {
        one.join().unwrap();
    }
    assert_eq!(bench.town.connected().len(), 200);
}

#[test]
fn more_than_the_limit_wait_their_turn() {
    let bench = bench(Limits { connections: 2, ..Limits::default() });
    let (first, second) = (bench.tunnel("allowed.example:443"), bench.tunnel("allowed.example:443"));
    let mut third = bench.connect();
    third.write_all(b"GET http://allowed.example/ HTTP/1.1\r\n\r\n").unwrap();
    third.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert_eq!(third.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop((first, second));
    third.set_read_timeout(Some(crate::town::PATIENCE)).unwrap();
    let mut answer = String::new();
    third.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("site=allowed"), "{answer}");
}

#[test]
fn dropping_cuts_everything_at_once() {
    let mut bench = bench(Limits::default());
    let mut streams: Vec<TcpStream> = (0..20).map(|_| bench.tunnel("allowed.example:443")).collect();
    let mut half = bench.connect();
    half.write_all(b"GET http://").unwrap();
    streams.push(half);
    let idle = bench.connect();
    streams.push(idle);
    let began = Instant::now();
    drop(bench.proxy.take());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    for mut stream in streams {
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    }
    assert!(TcpStream::connect(bench.place).is_err(), "nobody listens any more");
    let stopped = bench.events.lock().unwrap();
    let stopped = stopped
        .iter()
        .filter(|event| matches!(event, Event::Ended { carried, .. } if carried.ending == Ending::Stopped));
    assert_eq!(stopped.count(), 20);
}

//! What a program sends, and what must happen.

use metier_proxy::Event;

use crate::town::{Bench, hello};

/// Whom the rules of all rows allow.
const ALLOW: &[&str] = &[
    "allowed.example:80",
    "allowed.example:443",
    "six.example",
    "inner.example",
    "meta.example",
    "loop.example",
    "loop6.example",
    "mapped.example",
    "nat64.example",
    "mixed.example",
    "rebind.example",
    "dead.example",
    "spare.example",
    "nowhere.example",
    "*.wild.example",
    "*",
];

/// The rules that name one host.
const ONE: &[&str] = &["allowed.example"];

/// What the program sees.
#[derive(Clone, Copy, Debug)]
enum Expect {
    /// The answer of this site.
    Site(&'static str),
    /// An answer of the proxy: its status and its code. Nobody outside heard anything.
    Status(u16, &'static str),
    /// An answer of SOCKS. Nobody outside heard anything, unless it is 0.
    Socks(u8),
    /// A tunnel that was cut before anything went through.
    Cut(&'static str),
}
use Expect::{Cut, Site, Socks, Status};

fn get(address: &str) -> Vec<u8> {
    format!("GET {address} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes()
}

fn post(headers: &str, body: &str) -> Vec<u8> {
    format!("POST http://allowed.example/ HTTP/1.1\r\n{headers}\r\n\r\n{body}").into_bytes()
}

fn connect(target: &str, bytes: &[u8]) -> Vec<u8> {
    [format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes(), bytes].concat()
}

fn socks(name: &[u8], port: u16) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    [&[5, 1, 0, 5, 1, 0, 3, length][..], name, &port.to_be_bytes()].concat()
}

fn socks_4(octets: [u8; 4]) -> Vec<u8> {
    [&[5, 1, 0, 5, 1, 0, 1][..], &octets, &80u16.to_be_bytes()].concat()
}

fn socks_6(address: &str) -> Vec<u8> {
    let address: std::net::Ipv6Addr = address.parse().unwrap();
    [&[5, 1, 0, 5, 1, 0, 4][..], &address.octets(), &80u16.to_be_bytes()].concat()
}

fn check(name: &str, allow: &[&str], send: &[u8], expect: Expect) {
    let bench = Bench::new(allow);
    let bytes = bench.ask(send);
    let answer = String::from_utf8_lossy(&bytes).into_owned();
    let heard = bench.town.heard.lock().unwrap().clone();
    match expect {
        Site(site) => {
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{name}: {answer}");
            assert!(answer.contains(&format!("\r\n\r\nsite={site}\n")), "{name}: {answer}");
            assert!(answer.contains("\r\nConnection: close\r\n"), "{name}: {answer}");
            assert_eq!(bench.town.connected().len(), 1, "{name}");
        }
        Status(status, code) => {
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} Refused by metier ({code})\r\n")),
                "{name}: {answer}"
            );
            assert!(answer.contains("\r\n\r\nmetier: "), "{name}: {answer}");
            assert_eq!(heard, b"", "{name}");
            assert_eq!(bench.town.connected(), [""; 0], "{name}");
        }
        Socks(reply) => {
            assert_eq!(bytes.get(..4), Some(&[5, 0, 5, reply][..]), "{name}: {bytes:?}");
            if reply != 0 {
                assert_eq!(bench.town.connected(), [""; 0], "{name}");
            }
        }
        Cut(code) => {
            assert_eq!(heard, b"", "{name}");
            let events = bench.events.lock().unwrap();
            let found = events.iter().find_map(|event| match event {
                Event::Refused { refusal, .. } => Some(refusal.code()),
                _ => None,
            });
            assert_eq!(found, Some(code), "{name}: {events:?}");
        }
    }
    let contacts = bench.events.lock().unwrap().len();
    assert!(contacts > 0, "{name}: nothing was said about it");
}

#[test]
fn hosts_by_name_and_port() {
    for (name, allow, send, expect) in [
        ("an allowed host passes", ONE, get("http://allowed.example/"), Site("allowed")),
        (
            "in capitals and with a final dot it is the same",
            ONE,
            get("http://ALLOWED.Example./"),
            Site("allowed"),
        ),
        ("another host is refused", ONE, get("http://other.example/"), Status(403, "not-allowed")),
        ("a name below is another host", ONE, get("http://a.allowed.example/"), Status(403, "not-allowed")),
        (
            "a name that ends alike is another host",
            ONE,
            get("http://notallowed.example/"),
            Status(403, "not-allowed"),
        ),
        (
            "a name that begins alike is another host",
            ONE,
            get("http://allowed.example.evil/"),
            Status(403, "not-allowed"),
        ),
        (
            "another port is allowed by a rule without one",
            ONE,
            get("http://allowed.example:8080/"),
            Site("allowed-8080"),
        ),
        (
            "and refused by a rule with one",
            &["allowed.example:80"],
            get("http://allowed.example:8080/"),
            Status(403, "not-allowed"),
        ),
        (
            "a tunnel to another host is refused",
            ONE,
            connect("other.example:443", b""),
            Status(403, "not-allowed"),
        ),
        ("over SOCKS too", ONE, socks(b"other.example", 80), Socks(2)),
        ("an address of version 6 is reached by name", ALLOW, get("http://six.example/"), Site("six")),
        ("or by itself", &["[2001:db8::1]:80"], get("http://[2001:DB8:0::1]/"), Site("six")),
        ("when one address fails the next is tried", ALLOW, get("http://spare.example/"), Site("allowed")),
        ("a host that is not there", ALLOW, get("http://dead.example/"), Status(502, "no-connection")),
        ("a host that is not there, over SOCKS", ALLOW, socks(b"dead.example", 80), Socks(5)),
        ("a name that leads nowhere", ALLOW, get("http://nowhere.example/"), Status(502, "no-address")),
        ("a name that leads nowhere, over SOCKS", ALLOW, socks(b"nowhere.example", 80), Socks(4)),
        ("`*` means no address", ALLOW, get("http://203.0.113.2/"), Status(403, "not-allowed")),
    ] {
        check(name, allow, &send, expect);
    }
}

#[test]
fn addresses_that_are_not_the_open_internet() {
    let special = Status(403, "special-address");
    for (name, allow, send, expect) in [
        ("a name that leads to a private address", ALLOW, get("http://inner.example/"), special),
        ("to the metadata service", ALLOW, get("http://meta.example/latest/"), special),
        ("to loopback", ALLOW, get("http://loop.example/"), special),
        ("to loopback of version 6", ALLOW, get("http://loop6.example/"), special),
        ("to a private address in another's clothes", ALLOW, get("http://mapped.example/"), special),
        ("to the metadata service behind a translator", ALLOW, get("http://nat64.example/"), special),
        ("by a tunnel", ALLOW, connect("inner.example:80", b""), special),
        ("over SOCKS", ALLOW, socks(b"meta.example", 80), Socks(2)),
        (
            "the private one of two addresses is left out",
            ALLOW,
            get("http://mixed.example/"),
            Site("allowed"),
        ),
        ("a rule that names the address opens it", &["127.0.0.1:80"], get("http://127.0.0.1/"), Site("loop")),
        ("in any spelling", &["127.0.0.1:80"], get("http://0x7f.1/"), Site("loop")),
        ("and at its port only", &["127.0.0.1:81"], get("http://127.0.0.1/"), Status(403, "not-allowed")),
        ("`localhost` is named by itself", &["localhost"], get("http://LocalHost./"), Site("loop")),
        (
            "a name behind which a named address is",
            &["inner.example", "10.0.0.5:80"],
            get("http://inner.example/"),
            Site("inner"),
        ),
        (
            "another address does not help",
            &["inner.example", "10.0.0.6:80"],
            get("http://inner.example/"),
            special,
        ),
    ] {
        check(name, allow, &send, expect);
    }
}

#[test]
fn spellings_of_this_machine() {
    for spelling in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0X7F.0x0.0.01",
        "017700000001",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "app.localhost",
        "１２７.0.0.1",
        "127。0。0。1",
    ] {
        check(spelling, ALLOW, &get(&format!("http://{spelling}/")), Status(403, "not-allowed"));
        check(spelling, ALLOW, &connect(&format!("{spelling}:80"), b""), Status(403, "not-allowed"));
        let bare = spelling.trim_matches(['[', ']']);
        check(spelling, ALLOW, &socks(bare.as_bytes(), 80), Socks(2));
    }
    check("octets", ALLOW, &socks_4([127, 0, 0, 1]), Socks(2));
    check("octets of the metadata service", ALLOW, &socks_4([169, 254, 169, 254]), Socks(2));
    check("bytes of version 6", ALLOW, &socks_6("::1"), Socks(2));
    check("bytes of version 6 around version 4", ALLOW, &socks_6("::ffff:127.0.0.1"), Socks(2));
}

#[test]
fn what_is_no_host() {
    for spelling in [
        "127.0.0.1%00.allowed.example",
        "allowed%2eexample",
        "ex\u{200b}ample.com",
        "a..b",
        "256.1.1.1",
        "1.2.3.4.5",
        "[::1%25lo]",
        "[127.0.0.1]",
        "allowed.example\\",
        "a,b",
    ] {
        check(spelling, ALLOW, &get(&format!("http://{spelling}/")), Status(400, "no-host"));
        check(spelling, ALLOW, &socks(spelling.as_bytes(), 80), Socks(2));
    }
    check("a NUL in a name", ONE, &socks(b"other.example\0.allowed.example", 80), Socks(2));
    check("a NUL after a name", ONE, &socks(b"allowed.example\0", 80), Socks(2));
    check("a NUL in a head", ONE, &get("http://other.example\0.allowed.example/"), Status(400, "line-end"));
    check("no text", ONE, &socks(b"\xff\xfe", 80), Socks(2));
    for address in [
        "http://user@allowed.example/",
        "http://allowed.example@other.example/",
        "http://a:b@allowed.example/",
    ] {
        check("a user name", ONE, &get(address), Status(400, "user-info"));
    }
    check(
        "a user name in a tunnel",
        ONE,
        &connect("allowed.example:443@other.example:443", b""),
        Status(400, "user-info"),
    );
}

#[test]
fn requests_that_can_be_read_in_two_ways() {
    let lengths = Status(400, "two-lengths");
    for (name, send, expect) in [
        ("two ways to end", post("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), lengths),
        ("two lengths", post("Content-Length: 4\r\nContent-Length: 5", "abcde"), lengths),
        ("a list of lengths", post("Content-Length: 4, 5", "abcde"), lengths),
        ("a hidden encoding", post("Transfer-Encoding: xchunked", "0\r\n\r\n"), lengths),
        ("an encoding in an encoding", post("Transfer-Encoding: chunked, identity", "0\r\n\r\n"), lengths),
        ("a folded line", post("A: b\r\n c: d", ""), Status(400, "not-http")),
        ("a space before the colon", post("Content-Length : 4", "abcd"), Status(400, "not-http")),
        ("a bare CR", post("A: b\rTransfer-Encoding: chunked", ""), Status(400, "line-end")),
        ("a bare LF", post("A: b\nTransfer-Encoding: chunked", ""), Status(400, "line-end")),
        ("a NUL", post("A: \0", ""), Status(400, "line-end")),
        ("two hosts", post("Host: a\r\nHost: b", ""), Status(400, "two-hosts")),
        (
            "a length that is taken away",
            post("Content-Length: 4\r\nConnection: content-length", "abcd"),
            Status(400, "connection-names"),
        ),
        (
            "a chunk without its length",
            post("Transfer-Encoding: chunked", "xyz\r\nabc\r\n0\r\n\r\n"),
            Cut("body"),
        ),
        ("a path", get("/"), Status(400, "origin-form")),
        ("https in the open", get("https://allowed.example/"), Status(400, "other-scheme")),
        ("another scheme", get("file:///etc/passwd"), Status(400, "other-scheme")),
        ("TLS to the proxy", hello(Some("allowed.example")), Status(400, "line-end")),
        ("a tunnel without a port", connect("allowed.example", b""), Status(400, "no-port")),
        ("a large head", post(&format!("A: {}", "b".repeat(70_000)), ""), Status(431, "head-too-large")),
        ("many headers", post(&"A: b\r\n".repeat(200), ""), Status(431, "head-too-large")),
    ] {
        check(name, ONE, &send, expect);
    }
    for (name, send, reply) in [
        ("SOCKS: another command", vec![5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80], 7),
        ("SOCKS: another address", vec![5, 1, 0, 5, 1, 0, 9, 1, 1, 1, 1, 0, 80], 8),
        ("SOCKS: no port", socks(b"allowed.example", 0), 2),
    ] {
        check(name, ONE, &send, Socks(reply));
    }
    assert_eq!(Bench::new(ONE).ask(&[5, 1, 2]), [5, 0xff]);
    assert_eq!(Bench::new(ONE).ask(&[4, 1, 0, 80, 1, 1, 1, 1, 0]), [0, 0x5b, 0, 0, 0, 0, 0, 0]);
}

/// What a site got of a request.
fn arrived(send: &[u8]) -> String {
    let bench = Bench::new(ONE);
    let answer = bench.ask(send);
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(bench.town.connected(), ["203.0.113.1:80"]);
    String::from_utf8(bench.town.heard.lock().unwrap().clone()).unwrap()
}

#[test]
fn a_site_hears_its_own_name_and_one_request() {
    let second = "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n";
    let plain =
        "GET http://allowed.example/a HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: x\r\n\r\n";
    let expect = "GET /a HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n";
    assert_eq!(arrived(plain.as_bytes()), expect);
    // A second request on the same connection reaches nobody, wherever it is for.
    assert_eq!(arrived(format!("{plain}{second}").as_bytes()), expect);
    assert!(arrived(&post("Content-Length: 3", &format!("abc{second}"))).ends_with("\r\n\r\nabc"));
    let chunks = "3\r\nabc\r\n0\r\n\r\n";
    assert!(arrived(&post("Transfer-Encoding: chunked", &format!("{chunks}{second}"))).ends_with(chunks));
}

#[test]
fn the_name_in_a_tunnel_is_the_name_of_the_tunnel() {
    let rules = &["allowed.example", "tunnel.example", "203.0.113.3:443"];
    for (name, target, bytes, cut) in [
        ("the same name", "allowed.example:443", hello(Some("allowed.example")), None),
        ("the same name in capitals", "allowed.example.:443", hello(Some("Allowed.EXAMPLE")), None),
        ("no name", "allowed.example:443", hello(None), None),
        ("no TLS", "allowed.example:443", b"SSH-2.0-x\r\n".to_vec(), None),
        ("another name", "allowed.example:443", hello(Some("other.example")), Some("other-name")),
        (
            "another name that is allowed, too",
            "allowed.example:443",
            hello(Some("tunnel.example")),
            Some("other-name"),
        ),
        ("a name with a NUL", "allowed.example:443", hello(Some("allowed.example\0.x")), Some("other-name")),
        ("a name to an address", "203.0.113.3:443", hello(Some("other.example")), Some("other-name")),
        (
            "an alert before the name",
            "allowed.example:443",
            [&[21, 3, 1, 0, 2, 1, 0][..], &hello(Some("other.example"))].concat(),
            Some("unreadable-hello"),
        ),
    ] {
        let socks = socks(target.rsplit_once(':').unwrap().0.as_bytes(), 443);
        for send in [connect(target, &bytes), [&socks[..], &bytes].concat()] {
            match cut {
                Some(code) => check(name, rules, &send, Cut(code)),
                None => crate::life::through(name, rules, &send, &bytes),
            }
        }
    }
}

#[test]
fn the_answer_names_the_host_the_reason_and_the_rule() {
    let answer = String::from_utf8(Bench::new(ONE).ask(&get("http://other.example:81/"))).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(
        body,
        "metier: `other.example:81` is refused: no rule names it\nallow it with the rule `skill:pdf/host:other.example`\n"
    );
    let answer = String::from_utf8(Bench::new(ALLOW).ask(&connect("inner.example:5432", b""))).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(
        body,
        "metier: `inner.example:5432` is refused: it leads to 10.0.0.5, a private address\n\
         if that is meant, allow the address itself with the rule `host:10.0.0.5:5432`\n"
    );
}

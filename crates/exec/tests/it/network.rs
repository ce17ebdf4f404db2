//! The way out: real programs in the real sandbox, through the real proxy, to servers of the test's own. Names and
//! addresses are mapped by the test, so nothing leaves the machine.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metier_exec::{HostApprover, NetworkAccess};
use metier_policy::{Action, Asking, Decision};
use metier_proxy::Outside;
use metier_testkit::Workspace;

use crate::bench::Bench;

/// A server that answers every request with the same words, and what it was asked.
struct Server {
    place: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                    request.push(byte[0]);
                }
                heard.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { place, asked }
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// A network in which names lead where the test says, and every address is the test's server.
struct Map {
    names: Vec<(&'static str, &'static str)>,
    server: SocketAddr,
    connected: AtomicUsize,
}

impl Outside for Map {
    fn resolve(&self, name: &str) -> std::io::Result<Vec<IpAddr>> {
        let found = self.names.iter().find(|(known, _)| *known == name);
        let (_, address) = found.ok_or_else(|| std::io::Error::other("no such name"))?;
        Ok(vec![address.parse().unwrap()])
    }

    fn connect(&self, _: SocketAddr, timeout: Duration) -> std::io::Result<TcpStream> {
        self.connected.fetch_add(1, Ordering::SeqCst);
        TcpStream::connect_timeout(&self.server, timeout)
    }
}

const GET: &str = "import sys, urllib.request\n\
                   try: print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())\n\
                   except Exception as e: print('refused', e)\n";

fn bench(server: &Server) -> Bench {
    let mut bench = Bench::new(Workspace::new().file("skill/scripts/get.py", GET));
    let names = vec![("api.example.org", "203.0.113.7"), ("inner.example.org", "10.0.0.7")];
    bench.network.outside = Arc::new(Map { names, server: server.place, connected: AtomicUsize::new(0) });
    bench
}

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn a_wanted_host_is_reached_once_the_gate_says_yes_and_every_contact_is_told() {
    let server = Server::start(HELLO);
    let mut bench = bench(&server);
    bench.grants.host("api.example.org".parse().unwrap());
    let refused = bench.script("get.py", "http://api.example.org/").unwrap_err().to_string();
    assert!(refused.contains("skill:user:demo/host:api.example.org"), "{refused}");
    assert_eq!(server.count(), 0);

    let bench = bench.allow(&["skill:demo/host:api.example.org"]);
    let ran = bench.script("get.py", "http://api.example.org/x").unwrap();
    assert_eq!(ran.text, "hello");
    assert_eq!(ran.contacts.events.len(), 1);
    assert!(ran.contacts.events[0].to_string().starts_with("`api.example.org:80`: closed"), "{ran:?}");
    assert!(server.asked.lock().unwrap()[0].starts_with("GET /x HTTP/1.1\r\n"));
}

#[test]
fn an_unlisted_host_is_refused_with_the_rule_and_never_contacted() {
    let server = Server::start(HELLO);
    let ran = bench(&server).script("get.py", "http://api.example.org/").unwrap();
    assert!(ran.text.contains("403"), "{}", ran.text);
    let notes = ran.notes.join("\n");
    assert!(notes.contains("`api.example.org:80` was refused"), "{notes}");
    assert!(notes.contains("allow it with the rule `skill:user:demo/host:api.example.org:80`"), "{notes}");
    assert_eq!(server.count(), 0);
}

#[test]
fn an_inner_address_takes_a_rule_that_names_it() {
    let server = Server::start(HELLO);
    for (rules, expect) in [
        (&["host:inner.example.org"][..], "403"),
        (&["host:*"], "403"),
        (&["host:inner.example.org", "host:10.0.0.7"], "hello"),
    ] {
        let ran = bench(&server).allow(rules).script("get.py", "http://inner.example.org/").unwrap();
        assert!(ran.text.contains(expect), "{rules:?}: {}", ran.text);
    }
    assert_eq!(server.count(), 1);
}

#[test]
fn a_redirect_to_somebody_else_is_decided_anew() {
    let server = Server::start(
        "HTTP/1.1 302 Found\r\nLocation: http://inner.example.org/\r\nContent-Length: 0\r\n\r\n",
    );
    let bench = bench(&server).allow(&["host:*"]);
    let ran = bench.script("get.py", "http://api.example.org/").unwrap();
    assert!(ran.text.contains("403"), "{}", ran.text);
    assert!(ran.notes.join("\n").contains("10.0.0.7"), "{:?}", ran.notes);
    assert_eq!(server.count(), 1);
}

#[test]
fn a_deny_rule_holds_against_what_was_wanted() {
    let server = Server::start(HELLO);
    let mut bench = bench(&server).deny("host:api.example.org");
    bench.grants.host("*.example.org".parse().unwrap());
    assert!(bench.script("get.py", "http://api.example.org/").is_err());
    assert_eq!(server.count(), 0);
}

struct Slow(Mutex<Vec<String>>, bool);

impl HostApprover for Slow {
    fn ask(&self, action: &Action, _: &Decision) -> bool {
        self.0.lock().unwrap().push(action.sentence());
        std::thread::sleep(Duration::from_millis(1500));
        self.1
    }
}

#[test]
fn somebody_is_asked_about_a_host_while_the_clock_stands_still() {
    let server = Server::start(HELLO);
    for (answer, expect) in [(true, "hello"), (false, "403")] {
        let mut bench = bench(&server);
        let approver = Arc::new(Slow(Mutex::default(), answer));
        bench.network =
            NetworkAccess { approver: Some(Arc::clone(&approver) as Arc<dyn HostApprover>), ..bench.network };
        bench.asking = Asking::Terminal;
        // Less than the person takes, and enough for python.
        bench.limits.time = Duration::from_millis(1400);
        let ran = bench.script("get.py", "http://api.example.org/").unwrap();
        assert!(ran.text.contains(expect), "{}", ran.text);
        assert!(ran.report.usage.paused >= Duration::from_secs(1), "{:?}", ran.report.usage);
        let questions = approver.0.lock().unwrap();
        assert_eq!(questions.len(), 1, "{questions:?}");
        assert!(questions[0].contains("wants to reach `api.example.org:80`"), "{questions:?}");
    }
}

#[test]
fn there_is_no_other_way_out() {
    let server = Server::start(HELLO);
    let port = server.place.port();
    let text = format!(
        "(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo through\n\
         (echo x >/dev/udp/127.0.0.1/{port}) 2>/dev/null && echo datagram\necho done\n"
    );
    let bench = Bench::new(Workspace::new().file("skill/scripts/a.sh", &text)).allow(&["host:*"]);
    assert_eq!(bench.script("a.sh", "").unwrap().text, "done");
    assert_eq!(server.count(), 0);
}

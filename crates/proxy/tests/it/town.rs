//! Names, addresses and servers that stand in for the world.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use metier_policy::{Host, HostPattern};
use metier_proxy::{Contact, Event, Limits, Outside, Proxy, Reach, Verdict, Warden};

/// No test waits longer for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What the resolver says; the last answer stays.
const NAMES: &[(&str, &[&[&str]])] = &[
    ("allowed.example", &[&["203.0.113.1"]]),
    ("other.example", &[&["203.0.113.2"]]),
    ("six.example", &[&["2001:db8::1"]]),
    ("inner.example", &[&["10.0.0.5"]]),
    ("meta.example", &[&["169.254.169.254"]]),
    ("loop.example", &[&["127.0.0.1"]]),
    ("loop6.example", &[&["::1"]]),
    ("mapped.example", &[&["::ffff:10.0.0.5"]]),
    ("nat64.example", &[&["64:ff9b::a9fe:a9fe"]]),
    ("mixed.example", &[&["10.0.0.5", "203.0.113.1"]]),
    ("rebind.example", &[&["203.0.113.1"], &["127.0.0.1"]]),
    ("dead.example", &[&["203.0.113.9"]]),
    ("spare.example", &[&["203.0.113.9", "203.0.113.1"]]),
    ("localhost", &[&["127.0.0.1"]]),
    ("tunnel.example", &[&["203.0.113.3"]]),
];

/// The addresses behind which somebody is.
const SITES: &[(&str, &str)] = &[
    ("203.0.113.1:80", "allowed"),
    ("203.0.113.1:8080", "allowed-8080"),
    ("203.0.113.2:80", "other"),
    ("[2001:db8::1]:80", "six"),
    ("10.0.0.5:80", "inner"),
    ("169.254.169.254:80", "meta"),
    ("127.0.0.1:80", "loop"),
    ("[::1]:80", "loop6"),
];

/// The address whose server gives back every byte.
const ECHOES: &[&str] = &["203.0.113.1:443", "203.0.113.3:443"];

/// The stand-in for everything outside.
#[derive(Default)]
pub(crate) struct Town {
    places: BTreeMap<SocketAddr, SocketAddr>,
    asked: Mutex<Vec<String>>,
    connected: Mutex<Vec<SocketAddr>>,
    /// All that any site was sent, in order of arrival.
    pub(crate) heard: Arc<Mutex<Vec<u8>>>,
}

impl Town {
    pub(crate) fn new() -> Self {
        let mut town = Self::default();
        for (address, name) in SITES {
            let heard = Arc::clone(&town.heard);
            town.build(address, move |stream| site(name, stream, &heard));
        }
        for address in ECHOES {
            let heard = Arc::clone(&town.heard);
            town.build(address, move |stream| echo(stream, &heard));
        }
        town
    }

    /// Puts a server behind an address. It lives as long as the test.
    pub(crate) fn build(&mut self, address: &str, serve: impl Fn(TcpStream) + Send + Sync + 'static) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        self.places.insert(address.parse().expect("an address"), listener.local_addr().expect("an address"));
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(stream));
            }
        });
    }

    /// Whom connections were made to.
    pub(crate) fn connected(&self) -> Vec<String> {
        self.connected.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    /// How often a name was asked for.
    pub(crate) fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|own| *own == name).count()
    }
}

impl Outside for Town {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let before = self.asked(name);
        self.asked.lock().unwrap().push(name.to_owned());
        let Some((_, answers)) = NAMES.iter().find(|(own, _)| *own == name) else {
            return Err(io::Error::new(ErrorKind::NotFound, "no such name"));
        };
        let answer = answers[before.min(answers.len() - 1)];
        Ok(answer.iter().map(|address| address.parse().unwrap()).collect())
    }

    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        let place = self.places.get(&address).ok_or(ErrorKind::ConnectionRefused)?;
        self.connected.lock().unwrap().push(address);
        TcpStream::connect_timeout(place, timeout)
    }
}

/// Answers one request with its own name and the request; `/to/HOST` sends on to `http://HOST/`.
fn site(name: &str, mut stream: TcpStream, heard: &Mutex<Vec<u8>>) {
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    while !is_whole(&request) {
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => {
                request.extend_from_slice(&piece[..length]);
                heard.lock().unwrap().extend_from_slice(&piece[..length]);
            }
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&request);
    let to = text.split_once("/to/").and_then(|(_, rest)| Some(rest.split_once(' ')?.0));
    let answer = if let Some(host) = to {
        format!("HTTP/1.1 302 Found\r\nLocation: http://{host}/\r\nContent-Length: 0\r\n\r\n")
    } else {
        let body = format!("site={name}\n{text}");
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: keep-alive\r\n\r\n{body}", body.len())
    };
    let _ = stream.write_all(answer.as_bytes());
    // Whatever comes after the request is heard, too: it should be nothing.
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        heard.lock().unwrap().extend_from_slice(&piece[..length]);
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        return body.contains("0\r\n\r\n");
    }
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// Gives back every byte, and says goodbye when the other side is done.
fn echo(mut stream: TcpStream, heard: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        heard.lock().unwrap().extend_from_slice(&piece[..length]);
        if stream.write_all(&piece[..length]).is_err() {
            return;
        }
    }
    let _ = stream.write_all(b"goodbye");
}

/// A warden with a list of hosts.
#[derive(Default)]
pub(crate) struct List {
    allow: Vec<HostPattern>,
}

impl List {
    pub(crate) fn new(allow: &[&str]) -> Self {
        Self { allow: allow.iter().map(|rule| rule.parse().unwrap()).collect() }
    }
}

impl Warden for List {
    fn may(&self, contact: &Contact) -> Verdict {
        if self.allow.iter().any(|rule| rule.matches(&contact.host, contact.port)) {
            let reach = if contact.host.is_address() { Reach::Named } else { Reach::Public };
            return Verdict::Pass(reach);
        }
        let remedy = format!("allow it with the rule `skill:pdf/host:{}`", contact.host);
        Verdict::Refuse { reason: "no rule names it".to_owned(), remedy: Some(remedy) }
    }

    fn names(&self, address: IpAddr, port: u16) -> bool {
        self.allow.iter().any(|rule| rule.matches(&Host::from(address), port))
    }
}

/// A proxy with all that is around it.
pub(crate) struct Bench {
    pub(crate) place: SocketAddr,
    pub(crate) town: Arc<Town>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
    pub(crate) proxy: Option<Proxy>,
}

impl Bench {
    pub(crate) fn new(allow: &[&str]) -> Self {
        Self::with(Town::new(), Arc::new(List::new(allow)), Limits::default())
    }

    pub(crate) fn with(town: Town, warden: Arc<dyn Warden>, limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let place = listener.local_addr().expect("an address");
        let (town, events) = (Arc::new(town), Arc::new(Mutex::new(Vec::new())));
        let (outside, log) = (Arc::clone(&town), Arc::clone(&events));
        let observer = move |event: &Event| log.lock().unwrap().push(event.clone());
        let proxy = Proxy::start(listener, warden, outside, limits, observer).expect("the proxy starts");
        Self { place, town, events, proxy: Some(proxy) }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.place).expect("the proxy takes connections");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Says something and hears everything until the end.
    pub(crate) fn ask(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The proxy may have refused before all was said.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert_ne!(error.kind(), ErrorKind::WouldBlock, "no end after {PATIENCE:?}");
        }
        answer
    }

    /// A tunnel that stands.
    pub(crate) fn tunnel(&self, target: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut answer = [0; 39];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 Connection established\r\n\r\n");
        stream
    }

    /// The events so far, as a log shows them, with what varies left out.
    pub(crate) fn log(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        events
            .iter()
            .map(|event| match event {
                Event::Ended { contact, carried } => format!("`{contact}`: {}", carried.ending.word()),
                event => event.to_string(),
            })
            .collect()
    }

    /// Waits until an event that says this has come.
    pub(crate) fn wait_for(&self, text: &str) {
        for _ in 0..1000 {
            if self.log().iter().any(|line| line.contains(text)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("no event says {text:?}: {:#?}", self.log());
    }
}

/// The first message of TLS, with a name or without.
pub(crate) fn hello(name: Option<&str>) -> Vec<u8> {
    fn list(width: usize, bytes: &[u8]) -> Vec<u8> {
        [&bytes.len().to_be_bytes()[8 - width..], bytes].concat()
    }
    let mut body = [&[3, 3][..], &[7; 32], &[0], &list(2, &[0x13, 1]), &list(1, &[0])].concat();
    if let Some(name) = name {
        let names = list(2, &[&[0][..], &list(2, name.as_bytes())].concat());
        body.extend_from_slice(&list(2, &[&[0, 0][..], &list(2, &names)].concat()));
    }
    let message = [&[1][..], &list(3, &body)].concat();
    [&[22, 3, 1][..], &list(2, &message)].concat()
}

//! A bus with a keyring on it, made by hand: it speaks the protocol from the other side, with the big end first, and can be
//! told to do something wrong at one of the calls.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use metier_testkit::Workspace;

const SERVICE: &str = ":1.7";
const DEFAULT: &str = "/org/freedesktop/secrets/collection/login";

/// What goes wrong, at the call of this name (or `AUTH`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The answer names another call.
    WrongSerial,
    /// Somebody else answers first, with nothing; then comes the real answer.
    Stranger,
    /// An error of this name.
    Error(&'static str),
    /// Half of the answer, then the end.
    Cut,
    /// Half of the answer, then nothing.
    Half,
    /// The answer, a byte every 100 milliseconds.
    Trickle,
    /// Nothing.
    Hang,
    /// Signals without end.
    Signals,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// The answer with these types.
    Types(&'static str),
    /// The answer with a byte more.
    Longer,
    /// An answer with this body.
    Body(Vec<u8>),
    /// Whoever asks has to be asked first.
    Prompt,
    /// There is no default collection.
    NoDefault,
    /// The search finds everything there is.
    Loose,
}

/// An entry of the keyring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) value: Vec<u8>,
}

/// What the keyring holds, by path.
pub(crate) type Entries = Arc<Mutex<BTreeMap<String, Entry>>>;

pub(crate) struct Peer {
    pub(crate) workspace: Workspace,
    pub(crate) address: String,
    pub(crate) entries: Entries,
}

/// What one keyring is like.
#[derive(Clone)]
struct Manner {
    faults: Vec<(&'static str, Fault)>,
    locked: bool,
    entries: Entries,
}

impl Peer {
    pub(crate) fn new(faults: &[(&'static str, Fault)]) -> Self {
        Self::start(faults, false)
    }

    /// Locked, until somebody unlocks it.
    pub(crate) fn locked(faults: &[(&'static str, Fault)]) -> Self {
        Self::start(faults, true)
    }

    fn start(faults: &[(&'static str, Fault)], locked: bool) -> Self {
        let workspace = Workspace::new();
        let listener = UnixListener::bind(workspace.join("a bus")).unwrap();
        let address = format!("unix:path={}/a%20bus,guid=00", workspace.join("").display());
        let entries = Entries::default();
        let manner = Manner { faults: faults.to_vec(), locked, entries: Arc::clone(&entries) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut manner) = (stream.unwrap(), manner.clone());
                // The other side goes away when it is done, or when it has had enough.
                thread::spawn(move || manner.serve(&mut stream));
            }
        });
        Self { workspace, address, entries }
    }
}

impl Manner {
    fn serve(&mut self, stream: &mut UnixStream) -> Option<()> {
        let line = line(stream)?;
        let user: String = rustix::process::geteuid().as_raw().to_string().bytes().map(hex).collect();
        assert_eq!(line, format!("\0AUTH EXTERNAL {user}\r\n").into_bytes());
        match self.fault("AUTH") {
            Some(Fault::Bytes(bytes)) => return stream.write_all(&bytes).ok(),
            Some(Fault::Hang) => return rest(stream),
            _ => stream.write_all(b"OK 0123456789abcdef0123456789abcdef\r\n").ok()?,
        }
        assert_eq!(self::line(stream)?, b"BEGIN\r\n");
        loop {
            let call = Call::read(stream)?;
            self.answer(&call, stream)?;
        }
    }

    fn fault(&self, member: &str) -> Option<Fault> {
        self.faults.iter().find(|(at, _)| *at == member).map(|(_, fault)| fault.clone())
    }

    fn answer(&mut self, call: &Call, stream: &mut UnixStream) -> Option<()> {
        let sender = if call.member == "Hello" { "org.freedesktop.DBus" } else { SERVICE };
        let (types, body) = self.result(call);
        let good = message(2, call.serial, sender, "", types, &body);
        let half = good.len() - 4;
        // What every bus says in between.
        stream.write_all(&message(4, 0, "org.freedesktop.DBus", "", "s", &text("x"))).ok()?;
        let bytes = match self.fault(&call.member) {
            None | Some(Fault::Prompt | Fault::NoDefault | Fault::Loose) => good,
            Some(Fault::WrongSerial) => message(2, call.serial + 1, sender, "", types, &body),
            Some(Fault::Stranger) => {
                let empty = vec![0; body.len()];
                let mut both = message(2, call.serial, ":6.66", "", types, &empty);
                both.extend(message(3, call.serial, ":6.66", "a.b.C", "", &[]));
                both.extend(good);
                both
            }
            Some(Fault::Error(name)) => message(3, call.serial, sender, name, "s", &text("hunter22")),
            Some(Fault::Cut) => {
                stream.write_all(&good[..half]).ok()?;
                return None;
            }
            Some(Fault::Half) => {
                stream.write_all(&good[..half]).ok()?;
                return rest(stream);
            }
            Some(Fault::Trickle) => {
                for byte in good {
                    stream.write_all(&[byte]).ok()?;
                    thread::sleep(Duration::from_millis(100));
                }
                return Some(());
            }
            Some(Fault::Hang) => return rest(stream),
            Some(Fault::Signals) => loop {
                stream.write_all(&message(4, 0, sender, "", "s", &text("x"))).ok()?;
                thread::sleep(Duration::from_millis(1));
            },
            Some(Fault::Bytes(bytes)) => {
                stream.write_all(&bytes).ok()?;
                return None;
            }
            Some(Fault::Types(types)) => message(2, call.serial, sender, "", types, &body),
            Some(Fault::Longer) => message(2, call.serial, sender, "", types, &[body, vec![0]].concat()),
            Some(Fault::Body(body)) => message(2, call.serial, sender, "", types, &body),
        };
        stream.write_all(&bytes).ok()
    }

    /// The types and the body of the right answer.
    fn result(&mut self, call: &Call) -> (&'static str, Vec<u8>) {
        let mut body = In { bytes: &call.body, at: 0 };
        let mut out = Out::default();
        let prompt = if self.fault(&call.member) == Some(Fault::Prompt) { "/prompt/1" } else { "/" };
        let mut entries = self.entries.lock().unwrap();
        let types = match call.member.as_str() {
            "Hello" => {
                out.text(":1.42");
                "s"
            }
            "OpenSession" => {
                assert_eq!(body.text(), "plain");
                // Some have something odd to say here, which is not needed.
                out.signature("(ya{sv})");
                out.align(8);
                out.bytes.push(1);
                out.array(8, |_| {});
                out.text("/session/1");
                "vo"
            }
            "ReadAlias" => {
                assert_eq!(body.text(), "default");
                let none = self.fault("ReadAlias") == Some(Fault::NoDefault);
                out.text(if none { "/" } else { DEFAULT });
                "o"
            }
            "Get" => {
                body.text();
                if body.text() == "Locked" {
                    out.signature("b");
                    out.number(self.locked.into());
                } else {
                    out.signature("a{ss}");
                    let attributes = &entries[&call.path].attributes;
                    out.array(8, |out| {
                        for (key, value) in attributes {
                            out.align(8);
                            out.text(key);
                            out.text(value);
                        }
                    });
                }
                "v"
            }
            "Unlock" => {
                let objects = body.paths();
                self.locked = prompt != "/";
                let unlocked: &[String] = if self.locked { &[] } else { &objects };
                out.array(4, |out| unlocked.iter().for_each(|path| out.text(path)));
                out.text(prompt);
                "aoo"
            }
            "SearchItems" => {
                let wanted = body.pairs();
                let loose = self.fault("SearchItems") == Some(Fault::Loose);
                let matches = |entry: &Entry| {
                    loose || wanted.iter().all(|(key, value)| entry.attributes.get(key) == Some(value))
                };
                let found = entries.iter().filter(|(_, entry)| matches(entry));
                out.array(4, |out| found.for_each(|(path, _)| out.text(path)));
                out.array(4, |_| {});
                "aoao"
            }
            "CreateItem" => {
                let entry = body.entry();
                let same = entries.iter().find(|(_, old)| old.attributes == entry.attributes);
                let path = match same {
                    Some((path, _)) => path.clone(),
                    None => format!("{DEFAULT}/{}", 1 + entries.len()),
                };
                entries.insert(path.clone(), entry);
                out.text(&path);
                out.text(prompt);
                "oo"
            }
            "GetSecrets" => {
                let paths = body.paths();
                assert_eq!(body.text(), "/session/1");
                out.array(8, |out| {
                    for path in &paths {
                        out.align(8);
                        out.text(path);
                        out.align(8);
                        out.text("/session/1");
                        out.array(1, |_| {});
                        out.array(1, |out| out.bytes.extend(&entries[path].value));
                        out.text("text/plain");
                    }
                });
                "a{o(oayays)}"
            }
            "Delete" => {
                if prompt == "/" {
                    entries.remove(&call.path).unwrap();
                }
                out.text(prompt);
                "o"
            }
            other => panic!("`{other}` is not expected"),
        };
        (types, out.bytes)
    }
}

/// A call that came.
struct Call {
    serial: u32,
    path: String,
    member: String,
    body: Vec<u8>,
}

impl Call {
    fn read(stream: &mut UnixStream) -> Option<Self> {
        let mut head = [0; 16];
        stream.read_exact(&mut head).ok()?;
        assert_eq!(head[..4], *b"l\x01\0\x01");
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let length = usize::try_from(number(12)).unwrap();
        let mut fields = vec![0; length.next_multiple_of(8)];
        stream.read_exact(&mut fields).ok()?;
        let mut body = vec![0; usize::try_from(number(4)).unwrap()];
        stream.read_exact(&mut body).ok()?;
        let mut reader = In { bytes: &fields[..length], at: 0 };
        let mut texts = BTreeMap::new();
        while reader.at < length {
            reader.align(8);
            let field = reader.take(1)[0];
            let text = if reader.signature() == "g" { reader.signature() } else { reader.text() };
            texts.insert(field, text);
        }
        let mut text = |field: u8| texts.remove(&field).unwrap_or_default();
        Some(Self { serial: number(8), path: text(1), member: text(3), body })
    }
}

/// Values that came, the little end first.
struct In<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> In<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        self.at += length;
        &self.bytes[self.at - length..self.at]
    }

    fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to);
    }

    fn length(&mut self) -> usize {
        self.align(4);
        u32::from_le_bytes(self.take(4).try_into().unwrap()) as usize
    }

    fn text(&mut self) -> String {
        let length = self.length();
        String::from_utf8(self.take(length + 1)[..length].to_vec()).unwrap()
    }

    fn signature(&mut self) -> String {
        let length = usize::from(self.take(1)[0]);
        String::from_utf8(self.take(length + 1)[..length].to_vec()).unwrap()
    }

    fn paths(&mut self) -> Vec<String> {
        let length = self.length();
        let end = self.at + length;
        std::iter::from_fn(|| (self.at < end).then(|| self.text())).collect()
    }

    fn pairs(&mut self) -> BTreeMap<String, String> {
        let length = self.length();
        self.align(8);
        let end = self.at + length;
        std::iter::from_fn(|| {
            (self.at < end).then(|| {
                self.align(8);
                (self.text(), self.text())
            })
        })
        .collect()
    }

    /// `a{sv}(oayays)b`, as an entry is made.
    fn entry(&mut self) -> Entry {
        self.length();
        self.align(8);
        assert_eq!(self.text(), "org.freedesktop.Secret.Item.Label");
        assert_eq!(self.signature(), "s");
        let label = self.text();
        self.align(8);
        assert_eq!(self.text(), "org.freedesktop.Secret.Item.Attributes");
        assert_eq!(self.signature(), "a{ss}");
        let attributes = self.pairs();
        self.align(8);
        assert_eq!(self.text(), "/session/1");
        assert_eq!(self.length(), 0);
        let length = self.length();
        let value = self.take(length).to_vec();
        self.text();
        assert_eq!(self.length(), 1, "an entry with the same attributes is replaced");
        assert_eq!(self.at, self.bytes.len());
        Entry { label, attributes, value }
    }
}

/// Values to be sent, the big end first.
#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, number: u32) {
        self.align(4);
        self.bytes.extend(number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len().try_into().unwrap());
        self.bytes.extend(text.bytes().chain([0]));
    }

    fn signature(&mut self, text: &str) {
        self.bytes.push(text.len().try_into().unwrap());
        self.bytes.extend(text.bytes().chain([0]));
    }

    fn array(&mut self, to: usize, fill: impl FnOnce(&mut Self)) {
        self.number(0);
        let place = self.bytes.len() - 4;
        self.align(to);
        let start = self.bytes.len();
        fill(self);
        let length = u32::try_from(self.bytes.len() - start).unwrap();
        self.bytes[place..place + 4].copy_from_slice(&length.to_be_bytes());
    }
}

fn message(kind: u8, to: u32, sender: &str, error: &str, types: &str, body: &[u8]) -> Vec<u8> {
    let mut out = Out { bytes: vec![b'B', kind, 0, 1] };
    out.number(body.len().try_into().unwrap());
    out.number(99);
    out.array(8, |out| {
        // A field that nobody knows yet.
        out.bytes.push(200);
        out.signature("a(sv)");
        out.array(8, |_| {});
        out.align(8);
        out.bytes.push(5);
        out.signature("u");
        out.number(to);
        for (field, kind, text) in [(7, "s", sender), (4, "s", error), (8, "g", types)] {
            if text.is_empty() {
                continue;
            }
            out.align(8);
            out.bytes.push(field);
            out.signature(kind);
            if kind == "g" { out.signature(text) } else { out.text(text) }
        }
    });
    out.align(8);
    out.bytes.extend(body);
    out.bytes
}

fn text(text: &str) -> Vec<u8> {
    let mut out = Out::default();
    out.text(text);
    out.bytes
}

fn hex(byte: u8) -> String {
    format!("{byte:02x}")
}

fn line(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        line.extend(byte);
    }
    Some(line)
}

/// Takes whatever comes and says nothing, until the other side has had enough.
fn rest(stream: &mut UnixStream) -> Option<()> {
    let _ = stream.read_to_end(&mut Vec::new());
    None
}

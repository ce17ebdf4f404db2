//! A connection to a message bus: the way in, calls and their answers, all of it before a deadline.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::address::Address;
use super::message::{Call, HEAD, Incoming, Kind, length};
use super::wire::malformed;
use super::{KeyringError, dial};

/// The bus itself, as the receiver of calls and the sender of answers.
pub(super) const BUS: &str = "org.freedesktop.DBus";

/// The longest line while we are let in: `OK` and 32 digits are expected.
const MAX_LINE: usize = 512;

#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    deadline: Instant,
    serial: u32,
    health: Health,
}

/// Whether the stream is still between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// Something was cut off in the middle: whatever comes next would be taken for something else.
    Broken,
}

impl Connection {
    /// Connects to the first address that takes us, and says who we are.
    pub(super) fn open(addresses: &[Address], patience: Duration) -> Result<Self, KeyringError> {
        let mut failure = KeyringError::Absent;
        for address in addresses {
            match dial::dial(address) {
                Ok(stream) => {
                    let deadline = Instant::now() + patience;
                    let mut connection = Self { stream, deadline, serial: 0, health: Health::Good };
                    connection.enter()?;
                    return Ok(connection);
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Gives everything that follows this long, together.
    pub(super) fn allow(&mut self, patience: Duration) {
        self.deadline = Instant::now() + patience;
    }

    /// Calls a method and waits for its answer. `attempt` is what it is for, in words that come after "does not".
    pub(super) fn call(&mut self, call: &Call<'_>, attempt: &'static str) -> Result<Incoming, KeyringError> {
        if self.health == Health::Broken {
            return Err(KeyringError::Lost { reason: "an earlier answer was cut off".to_owned() });
        }
        // Until the answer is there as a whole.
        self.health = Health::Broken;
        self.serial = self.serial.checked_add(1).ok_or(malformed("there were too many calls"))?;
        self.write(&call.encode(self.serial))?;
        let answer = loop {
            let incoming = self.message()?;
            // Signals are not for us, and an answer to another call is nobody's.
            if incoming.kind == Kind::Other || incoming.reply_to != Some(self.serial) {
                continue;
            }
            // Only who was called may answer. The bus names the sender, and it names a service by its number, so a call
            // by name takes its answer from whoever holds the name.
            let called = call.destination;
            let is_answerer = |sender: &str| {
                // The bus answers for those that are gone or cannot be started, but it never returns their values.
                sender == called
                    || (sender == BUS && matches!(incoming.kind, Kind::Error(_)))
                    || (!called.starts_with(':') && called != BUS && sender.starts_with(':'))
            };
            if incoming.sender.as_deref().is_some_and(is_answerer) {
                break incoming;
            }
        };
        self.health = Health::Good;
        match &answer.kind {
            Kind::Error(name) => Err(refused(name, attempt)),
            Kind::Return | Kind::Other => Ok(answer),
        }
    }

    /// Says who we are, which the bus asks the kernel about, and gets a name.
    fn enter(&mut self) -> Result<(), KeyringError> {
        // The user's number in decimal, and its digits in hexadecimal.
        let mut line = "\0AUTH EXTERNAL ".to_owned();
        for digit in rustix::process::geteuid().as_raw().to_string().bytes() {
            line.push_str(&format!("{digit:02x}"));
        }
        line.push_str("\r\n");
        self.write(line.as_bytes())?;
        if !self.line()?.starts_with(b"OK ") {
            return Err(KeyringError::NotLetIn);
        }
        self.write(b"BEGIN\r\n")?;
        let hello = Call {
            destination: BUS,
            path: "/org/freedesktop/DBus",
            interface: BUS,
            member: "Hello",
            signature: "",
            body: &[],
        };
        self.call(&hello, "let metier in")?.body("s", |reader| reader.text().map(drop))
    }

    /// One line, byte by byte: what comes after it belongs to the next step.
    fn line(&mut self) -> Result<Vec<u8>, KeyringError> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            if line.len() == MAX_LINE {
                return Err(malformed("a line of the bus does not end"));
            }
            let mut byte = [0];
            self.fill(&mut byte)?;
            line.extend(byte);
        }
        Ok(line)
    }

    fn message(&mut self) -> Result<Incoming, KeyringError> {
        let mut head = [0; HEAD];
        self.fill(&mut head)?;
        let mut bytes = Zeroizing::new(vec![0; length(&head)?]);
        let (start, rest) =
            bytes.split_at_mut_checked(HEAD).ok_or(malformed("it is shorter than it says"))?;
        start.copy_from_slice(&head);
        self.fill(rest)?;
        Incoming::decode(bytes)
    }

    fn fill(&mut self, mut buffer: &mut [u8]) -> Result<(), KeyringError> {
        while !buffer.is_empty() {
            let left = self.left()?;
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(buffer));
            match read {
                Ok(0) => return Err(KeyringError::Lost { reason: "the other side closed it".to_owned() }),
                Ok(read) => buffer = buffer.get_mut(read..).unwrap_or_default(),
                Err(error) => failed(&error)?,
            }
        }
        Ok(())
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<(), KeyringError> {
        while !bytes.is_empty() {
            let left = self.left()?;
            let written = self.stream.set_write_timeout(Some(left)).and_then(|()| self.stream.write(bytes));
            match written {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) => failed(&error)?,
            }
        }
        Ok(())
    }

    /// The time that is left, which is never nothing.
    fn left(&self) -> Result<Duration, KeyringError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(KeyringError::Silent) } else { Ok(left) }
    }
}

/// What a failed read or write means; an interrupted one is tried again.
fn failed(error: &io::Error) -> Result<(), KeyringError> {
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(KeyringError::Silent),
        _ => Err(KeyringError::Lost { reason: error.to_string() }),
    }
}

/// What an error's name means to us.
fn refused(name: &str, attempt: &'static str) -> KeyringError {
    match name {
        "org.freedesktop.DBus.Error.ServiceUnknown" | "org.freedesktop.DBus.Error.NameHasNoOwner" => {
            KeyringError::Absent
        }
        // The service is known and its program cannot be started.
        _ if name.starts_with("org.freedesktop.DBus.Error.Spawn.") => KeyringError::Absent,
        "org.freedesktop.Secret.Error.IsLocked" => KeyringError::Locked,
        _ => KeyringError::Refused { attempt, error: name.to_owned() },
    }
}

//! What a program is told when the answer is no.

use crate::event::{Refusal, Trouble};
use crate::fault::Fault;
use crate::socks::Reply;
use crate::warden::Contact;
use std::io::ErrorKind;

/// The answer to `CONNECT` when the tunnel stands.
pub(crate) const TUNNEL_STANDS: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// An answer in HTTP: the status, and a text for whoever reads the program's output.
///
/// Many programs show nothing but the line with the status when a tunnel is refused, so the code stands there as well.
pub(crate) fn http(status: u16, code: &str, text: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} Refused by metier ({code})\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nX-Metier-Refused: {code}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
    .into_bytes()
}

pub(crate) fn fault(fault: &Fault) -> Vec<u8> {
    http(fault.status(), fault.code(), &format!("metier: {fault}\n"))
}

/// Two lines: what was refused and why, and what would allow it.
pub(crate) fn refusal(contact: &Contact, refusal: &Refusal) -> Vec<u8> {
    let mut text = format!("metier: `{contact}` is refused: {refusal}\n");
    if let Some(remedy) = refusal.remedy(contact) {
        text += &remedy;
        text.push('\n');
    }
    http(403, refusal.code(), &text)
}

pub(crate) fn trouble(contact: &Contact, trouble: &Trouble) -> Vec<u8> {
    let status = if matches!(trouble, Trouble::NoConnection(ErrorKind::TimedOut, _)) { 504 } else { 502 };
    http(status, trouble.code(), &format!("metier: `{contact}` is allowed, but {trouble}\n"))
}

pub(crate) const fn socks(trouble: &Trouble) -> Reply {
    match trouble {
        Trouble::NoConnection(ErrorKind::ConnectionRefused, _) => Reply::Refused,
        Trouble::NoConnection(ErrorKind::NetworkUnreachable, _) => Reply::NoNetwork,
        Trouble::NoConnection(ErrorKind::HostUnreachable | ErrorKind::TimedOut, _)
        | Trouble::NoAddress(_) => Reply::NoHost,
        Trouble::NoConnection(..) | Trouble::Stopped => Reply::Failed,
    }
}

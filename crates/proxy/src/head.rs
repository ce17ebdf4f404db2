//! The head of a request: whom it is for, and how it goes on.

use httparse::{EMPTY_HEADER, Header, Status};

use crate::body::Framing;
use crate::fault::Fault;
use crate::target::Target;

/// The largest head. Servers take 8 to 64 KiB; more is an attack or an accident.
pub const MAX_HEAD: usize = 64 * 1024;

/// The most headers. Browsers send about 30.
const MAX_HEADERS: usize = 128;

/// A request, as far as its head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `CONNECT host:port`: a tunnel.
    Tunnel(Target),
    /// A request for `http://…`.
    Plain {
        /// Whom it is for.
        target: Target,
        /// The head as the server should get it.
        head: Vec<u8>,
        /// How the body ends.
        framing: Framing,
    },
}

impl Request {
    /// Whom it is for.
    pub fn target(&self) -> &Target {
        match self {
            Self::Tunnel(target) | Self::Plain { target, .. } => target,
        }
    }

    /// Reads a whole head, the empty line included.
    pub fn read(head: &[u8]) -> Result<Self, Fault> {
        if end_of_head(head, 0)? != Some(head.len()) {
            return Err(Fault::NotHttp);
        }
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(head) {
            Ok(Status::Complete(length)) if length == head.len() => {}
            Err(httparse::Error::TooManyHeaders) => return Err(Fault::HeadTooLarge(MAX_HEAD)),
            _ => return Err(Fault::NotHttp),
        }
        let (Some(method), Some(address), Some(version)) = (request.method, request.path, request.version)
        else {
            return Err(Fault::NotHttp);
        };
        if method == "CONNECT" {
            return Target::read(address, None).map(Self::Tunnel);
        }
        let (target, path) = absolute(address)?;
        let path = match path {
            "" if method == "OPTIONS" => "*".to_owned(),
            path if path.starts_with('/') => path.to_owned(),
            // `http://host?query` has a path all the same.
            path => format!("/{path}"),
        };
        let framing = framing(request.headers, version)?;
        let head = rewritten(method, &path, version, &target, request.headers)?;
        Ok(Self::Plain { target, head, framing })
    }
}

/// Where a head ends, if it has arrived. `from` is how much of it has been looked at before.
///
/// Lines end in CR LF and in nothing else: readers that take a bare LF or CR for the end of a line see other headers
/// than those that do not.
pub fn end_of_head(bytes: &[u8], from: usize) -> Result<Option<usize>, Fault> {
    // What was looked at may have ended in the middle of an end.
    let mut at = from.saturating_sub(3);
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1);
        let is_wrong = match byte {
            b'\0' => true,
            b'\r' => next.is_some_and(|next| *next != b'\n'),
            // The first byte looked at may be the second half of an end.
            b'\n' => at == 0 || bytes[at - 1] != b'\r',
            _ => false,
        };
        if is_wrong {
            return Err(Fault::LineEnd);
        }
        if bytes[at..].starts_with(b"\r\n\r\n") {
            return Ok(Some(at + 4));
        }
        at += 1;
    }
    Ok(None)
}

/// The target and the path of `http://host:port/path`.
fn absolute(address: &str) -> Result<(Target, &str), Fault> {
    if address.starts_with('/') || address == "*" {
        return Err(Fault::OriginForm);
    }
    let (scheme, rest) = address.split_once("://").ok_or(Fault::OriginForm)?;
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(Fault::Scheme);
    }
    if address.contains('#') {
        return Err(Fault::Fragment);
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    Ok((Target::read(&rest[..end], Some(80))?, &rest[end..]))
}

/// How the body ends. A request that says it twice may be read by the server in another way than here.
fn framing(headers: &[Header<'_>], version: u8) -> Result<Framing, Fault> {
    let mut found = None;
    for header in headers {
        let framing = if header.name.eq_ignore_ascii_case("content-length") {
            Framing::Length(length(header.value).ok_or(Fault::Length)?)
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            // Version 1.0 has no chunks, and a server may go by that.
            if version == 0 || !header.value.eq_ignore_ascii_case(b"chunked") {
                return Err(Fault::Length);
            }
            Framing::Chunked
        } else {
            continue;
        };
        if found.replace(framing).is_some() {
            return Err(Fault::Length);
        }
    }
    Ok(found.unwrap_or(Framing::Length(0)))
}

/// Only digits: `+5`, `0x5` and `5, 5` are numbers to some and not to others.
fn length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Headers that are about this connection and not about the request.
pub(crate) fn is_about_connection(name: &str) -> bool {
    const NAMES: &[&str] = &["connection", "keep-alive", "te", "upgrade"];
    NAMES.iter().any(|own| name.eq_ignore_ascii_case(own))
        || name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("proxy-"))
}

/// The names that the headers `Connection` give, which are about this connection too.
pub(crate) fn named_by_connection(headers: &[Header<'_>]) -> Vec<String> {
    let values = headers.iter().filter(|header| header.name.eq_ignore_ascii_case("connection"));
    values
        .flat_map(|header| header.value.split(|byte| *byte == b','))
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase())
        .collect()
}

/// The head for the server: its own form of address, the host it was allowed for, and an end after one answer.
fn rewritten(
    method: &str,
    path: &str,
    version: u8,
    target: &Target,
    headers: &[Header<'_>],
) -> Result<Vec<u8>, Fault> {
    let named = named_by_connection(headers);
    // Without these the server would read another request than was judged here.
    for name in &named {
        if ["content-length", "host", "transfer-encoding"].contains(&name.as_str()) {
            return Err(Fault::ConnectionNames(name.clone()));
        }
    }
    if headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host")).count() > 1 {
        return Err(Fault::TwoHosts);
    }
    // The host is the one that was allowed, whatever the program wrote: another would reach a site that nobody allowed
    // on the same server.
    let mut head =
        format!("{method} {path} HTTP/1.{version}\r\nHost: {}\r\n", target.authority()).into_bytes();
    for header in headers {
        let is_named = named.iter().any(|name| header.name.eq_ignore_ascii_case(name));
        // The headers that `Trailer` announces do not go on.
        let is_replaced = ["host", "trailer"].iter().any(|own| header.name.eq_ignore_ascii_case(own));
        if is_named || is_about_connection(header.name) || is_replaced {
            continue;
        }
        push(&mut head, header);
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(head)
}

/// One header as a line.
pub(crate) fn push(head: &mut Vec<u8>, header: &Header<'_>) {
    head.extend_from_slice(header.name.as_bytes());
    head.extend_from_slice(b": ");
    head.extend_from_slice(header.value);
    head.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &str, expect: Result<&str, &str>) {
        let found = Request::read(head.as_bytes());
        let found = found.as_ref().map(|request| match request {
            Request::Tunnel(target) => format!("tunnel {target}"),
            Request::Plain { target, head, framing } => {
                format!("{target} {framing:?} {}", String::from_utf8_lossy(head))
            }
        });
        assert_eq!(found.map_err(Fault::code), expect.map(str::to_owned), "{head:?}");
    }

    #[test]
    fn tunnels_name_a_host_and_a_port() {
        check("CONNECT Example.com.:443 HTTP/1.1\r\n\r\n", Ok("tunnel example.com:443"));
        check("CONNECT [::1]:443 HTTP/1.1\r\nHost: other\r\n\r\n", Ok("tunnel [::1]:443"));
        check("CONNECT example.com HTTP/1.1\r\n\r\n", Err("no-port"));
        check("CONNECT http://example.com:443 HTTP/1.1\r\n\r\n", Err("no-port"));
        check("CONNECT a@example.com:443 HTTP/1.1\r\n\r\n", Err("user-info"));
        check("CONNECT example.com:443/ HTTP/1.1\r\n\r\n", Err("no-port"));
        check("connect example.com:443 HTTP/1.1\r\n\r\n", Err("origin-form"));
    }

    #[test]
    fn a_request_gets_the_form_of_its_server() {
        check(
            "GET http://Example.com/a?b HTTP/1.1\r\nHost: evil.example\r\nAccept: */*\r\n\r\n",
            Ok(
                "example.com:80 Length(0) GET /a?b HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            ),
        );
        check(
            "GET HTTP://h:8080?q HTTP/1.0\r\n\r\n",
            Ok("h:8080 Length(0) GET /?q HTTP/1.0\r\nHost: h:8080\r\nConnection: close\r\n\r\n"),
        );
        check(
            "OPTIONS http://h HTTP/1.1\r\n\r\n",
            Ok("h:80 Length(0) OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
        );
        check(
            "POST http://h/ HTTP/1.1\r\nContent-Length: 12\r\nProxy-Authorization: x\r\nProxy-Connection: k\r\n\
             Connection: keep-alive, X-Own\r\nX-own: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 5\r\n\r\n",
            Ok(
                "h:80 Length(12) POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nConnection: close\r\n\r\n",
            ),
        );
        check(
            "POST http://h/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n",
            Ok(
                "h:80 Chunked POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n",
            ),
        );
    }

    #[test]
    fn whom_nobody_can_be_sure_of_is_refused() {
        for (address, expect) in [
            ("/", "origin-form"),
            ("*", "origin-form"),
            ("example.com:80", "origin-form"),
            ("https://example.com/", "other-scheme"),
            ("ftp://example.com/", "other-scheme"),
            ("http://a@b/", "user-info"),
            ("http://a:b@c/", "user-info"),
            ("http:///path", "no-host"),
            ("http://a%00b/", "no-host"),
            ("http://a\\b/", "no-host"),
            ("http://a#@b/", "fragment"),
            ("http://a/#b", "fragment"),
            ("http://a:0/", "no-port"),
            ("http://a:b/", "no-port"),
            ("http://[::1/", "no-host"),
            ("http://[fe80::1%25lo]/", "no-host"),
        ] {
            check(&format!("GET {address} HTTP/1.1\r\n\r\n"), Err(expect));
        }
    }

    #[test]
    fn what_two_readers_would_read_differently_is_refused() {
        for (headers, expect) in [
            ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "two-lengths"),
            ("Content-Length: 1\r\nContent-Length: 2\r\n", "two-lengths"),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", "two-lengths"),
            ("Content-Length: 1, 1\r\n", "two-lengths"),
            ("Content-Length: +1\r\n", "two-lengths"),
            ("Content-Length: 0x1\r\n", "two-lengths"),
            ("Content-Length:\r\n", "two-lengths"),
            ("Content-Length: 99999999999999999999\r\n", "two-lengths"),
            ("Transfer-Encoding: gzip, chunked\r\n", "two-lengths"),
            ("Transfer-Encoding: identity\r\n", "two-lengths"),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "two-lengths"),
            ("Transfer-Encoding : chunked\r\n", "not-http"),
            ("Transfer-Encoding: chunked\r\n , identity\r\n", "not-http"),
            ("A: b\r\n folded\r\n", "not-http"),
            ("A: b\rC: d\r\n", "line-end"),
            ("A: b\nC: d\r\n", "line-end"),
            ("A: b\0\r\n", "line-end"),
            ("A: b\x01\r\n", "not-http"),
            ("Host: a\r\nHost: b\r\n", "two-hosts"),
            ("Connection: close, Content-Length\r\n", "connection-names"),
            ("Connection: host\r\n", "connection-names"),
            ("no colon\r\n", "not-http"),
        ] {
            check(&format!("POST http://h/ HTTP/1.1\r\n{headers}\r\n"), Err(expect));
        }
        check("POST http://h/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Err("two-lengths"));
        check("GET  http://h/ HTTP/1.1\r\n\r\n", Err("not-http"));
        check("GET http://h/ HTTP/2.0\r\n\r\n", Err("not-http"));
        check(&format!("GET http://h/ HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(129)), Err("head-too-large"));
    }

    #[test]
    fn the_end_is_found_however_the_bytes_arrive() {
        let head = b"GET / HTTP/1.1\r\nA: b\r\n\r\nbody\n";
        let end = head.len() - 5;
        for first in 0..=end {
            let early = end_of_head(&head[..first], 0).unwrap();
            assert_eq!(early, (first == end).then_some(end), "{first}");
            if first < end {
                assert_eq!(end_of_head(head, first).unwrap(), Some(end), "{first}");
            }
        }
    }
}

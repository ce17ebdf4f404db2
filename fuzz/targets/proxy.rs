//! Any bytes as what a program says to the proxy: whoever is named is a host in its one spelling, and a decision stays
//! when more bytes come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metier_policy::Host;
use metier_proxy::body::{Body, Framing};
use metier_proxy::head::{Request, end_of_head};
use metier_proxy::hello::{self, Hello};
use metier_proxy::{Target, socks};

fuzz_target!(|bytes: &[u8]| {
    head(bytes);
    socks(bytes);
    tls(bytes);
    body(bytes);
});

/// What was read is what a second reader reads in the words that are sent on.
fn head(bytes: &[u8]) {
    let Ok(Some(end)) = end_of_head(bytes, 0) else { return };
    let Ok(request) = Request::read(&bytes[..end]) else { return };
    one_spelling(request.target());
    let Request::Plain { target, head, framing } = &request else { return };
    let mut headers = [httparse::EMPTY_HEADER; 256];
    let mut read = httparse::Request::new(&mut headers);
    assert!(read.parse(head).is_ok_and(|status| status == httparse::Status::Complete(head.len())));
    let value = |name: &str| -> Vec<&[u8]> {
        let own = read.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        own.map(|header| header.value).collect()
    };
    let port = if target.port == 80 { String::new() } else { format!(":{}", target.port) };
    assert_eq!(value("host"), [format!("{}{port}", target.host).as_bytes()]);
    assert_eq!(value("connection"), [b"close"]);
    assert!(value("proxy-authorization").is_empty() && value("upgrade").is_empty());
    match framing {
        Framing::Chunked => {
            assert!(value("content-length").is_empty() && value("transfer-encoding").len() == 1)
        }
        Framing::Length(_) => {
            assert!(value("content-length").len() <= 1 && value("transfer-encoding").is_empty())
        }
    }
}

fn socks(bytes: &[u8]) {
    if let Ok(Some(used)) = socks::greeting(bytes) {
        assert!(used <= bytes.len());
    }
    if let Ok(Some((target, used))) = socks::request(bytes) {
        assert!(used <= bytes.len());
        one_spelling(&target);
        assert_eq!(socks::request(&bytes[..used]), Ok(Some((target, used))));
        assert_eq!(socks::request(&bytes[..used - 1]), Ok(None));
    }
}

fn tls(bytes: &[u8]) {
    let whole = hello::read(bytes);
    for end in [bytes.len() / 2, bytes.len().saturating_sub(1)] {
        let part = hello::read(&bytes[..end]);
        assert!(part == Ok(Hello::More) || part == whole);
    }
}

/// However a body arrives, it ends at the same byte.
fn body(bytes: &[u8]) {
    for framing in [Framing::Chunked, Framing::Length(bytes.len() as u64 / 2)] {
        let (mut whole, mut split) = (Body::new(framing), Body::new(framing));
        let (first, second) = bytes.split_at(bytes.len() / 3);
        let (mut out, mut in_parts) = (Vec::new(), Vec::new());
        let used = whole.take(bytes, &mut out);
        let parts = split.take(first, &mut in_parts);
        let parts = parts.and_then(|used| Ok(used + split.take(second, &mut in_parts)?));
        assert_eq!((used.clone(), out), (parts, in_parts));
        assert!(used.is_err() || whole.is_at_end() == split.is_at_end());
    }
}

fn one_spelling(target: &Target) {
    assert_ne!(target.port, 0);
    assert_eq!(Host::new(target.host.as_str()).as_ref(), Ok(&target.host));
    assert!(!target.host.as_str().contains(['\0', '@', '/', '%']));
}

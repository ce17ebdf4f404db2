//! Any bytes: whoever is named has one spelling, and pieces do not matter.

use metier_policy::Host;
use metier_proxy::body::{Body, Framing};
use metier_proxy::head::{Request, end_of_head};
use metier_proxy::{Target, socks};
use proptest::prelude::*;

fn one_spelling(target: &Target) {
    assert_ne!(target.port, 0);
    assert_eq!(Host::new(target.host.as_str()).as_ref(), Ok(&target.host));
}

/// A host as a careless or hostile program writes it.
fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9.-]{1,20}",
        "[0-9xX.]{1,16}",
        "\\[[0-9a-f:.]{2,20}\\]",
        "[a-z@%\\\\:\\[\\]#?/._]{0,20}",
        any::<[u8; 4]>().prop_map(|octets| std::net::Ipv4Addr::from(octets).to_string()),
    ]
}

proptest! {
    #[test]
    fn a_request_that_is_read_names_one_host_to_everybody(
        host in host(),
        path in "[ -~]{0,12}",
        headers in prop::collection::vec("[A-Za-z-]{1,16}: ?[ -~]{0,12}", 1..5),
    ) {
        let head = format!("GET http://{host}/{path} HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n"));
        let Ok(Request::Plain { target, head, .. }) = Request::read(head.as_bytes()) else { return Ok(()) };
        one_spelling(&target);
        let text = String::from_utf8(head).unwrap();
        prop_assert_eq!(end_of_head(text.as_bytes(), 0), Ok(Some(text.len())));
        let hosts: Vec<_> = text.lines().filter(|line| line.to_ascii_lowercase().starts_with("host:")).collect();
        let port = if target.port == 80 { String::new() } else { format!(":{}", target.port) };
        prop_assert_eq!(hosts, [format!("Host: {}{port}", target.host)]);
        // What the server reads as a path can never be read as another host.
        prop_assert!(text.starts_with("GET /"), "{}", text);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(request) = Request::read(&bytes) {
            one_spelling(request.target());
        }
        let bytes = [&[5, 1, 0, 3][..], &bytes].concat();
        if let Ok(Some((target, used))) = socks::request(&bytes) {
            one_spelling(&target);
            prop_assert!(used <= bytes.len());
            prop_assert_eq!(socks::request(&bytes[..used - 1]), Ok(None));
        }
    }

    #[test]
    fn a_body_of_chunks_ends_where_it_was_made_to_end(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
        after in prop::collection::vec(any::<u8>(), 0..40),
        size in 1usize..50,
    ) {
        let mut bytes = Vec::new();
        for chunk in &chunks {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        let (end, mut body, mut used) = (bytes.len(), Body::new(Framing::Chunked), 0);
        bytes.extend_from_slice(&after);
        for piece in bytes.chunks(size) {
            used += body.take(piece, &mut Vec::new()).unwrap();
        }
        prop_assert_eq!((used, body.is_at_end()), (end, true));
    }
}

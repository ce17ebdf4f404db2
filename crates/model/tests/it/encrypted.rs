//! A provider behind TLS, with a certificate of an authority that the test made.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use metier_model::{Endpoint, Event, Key, ModelError, Protocol, Stop};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{ask, remote};

const ANSWER: &str = "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"Hello\"}, \"finish_reason\": null}]}\n\n\
                      data: {\"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n\
                      data: [DONE]\n\n";

/// A server for each connection that comes; what it heard of the head of each request is what the thread gives back.
struct Encrypted {
    address: SocketAddr,
    authority: Vec<u8>,
    heard: thread::JoinHandle<Vec<io::Result<String>>>,
}

/// Serves so many connections.
fn serve(connections: usize) -> Encrypted {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap().der().to_vec();
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&own, &issuer).unwrap();
    let own = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.serialize_der()));
    let config = config(certificate.der().clone(), own);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = thread::spawn(move || {
        let streams = listener.incoming().take(connections);
        streams.map(|stream| answer(stream?, &config)).collect()
    });
    Encrypted { address, authority, heard }
}

fn config(certificate: CertificateDer<'static>, key: PrivateKeyDer<'static>) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}

fn answer(stream: TcpStream, config: &Arc<ServerConfig>) -> io::Result<String> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    stream.read_exact(&mut vec![0; length.unwrap_or(0)])?;
    let out = stream.get_mut();
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
        ANSWER.len()
    )?;
    out.write_all(ANSWER.as_bytes())?;
    out.flush()?;
    Ok(head)
}

fn endpoint(server: &Encrypted) -> Endpoint {
    let key = Key::new("sk-0123456789abcdef").unwrap();
    Endpoint::new(&format!("https://{}/v1", server.address)).unwrap().with_key(key)
}

#[tokio::test]
async fn a_provider_whose_authority_is_known_is_asked_over_tls_with_the_key() {
    let server = serve(1);
    let known = endpoint(&server).with_authority(server.authority.clone());
    let (events, error) = ask(&remote(Protocol::OpenAi, known)).await;
    assert_eq!(error, None);
    assert_eq!(events.first(), Some(&Event::Text("Hello".to_owned())));
    assert_eq!(events.last(), Some(&Event::End(Stop::EndOfTurn)));
    let heard = server.heard.join().unwrap();
    let request = heard[0].as_ref().unwrap();
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer sk-0123456789abcdef\r\n"), "{request}");
}

#[tokio::test]
async fn a_provider_whose_authority_is_not_known_gets_no_byte_of_the_request_and_is_not_asked_again() {
    let server = serve(1);
    let (events, error) = ask(&remote(Protocol::OpenAi, endpoint(&server))).await;
    assert!(events.is_empty(), "{events:?}");
    let error = error.unwrap();
    assert!(matches!(error, ModelError::Untrusted { .. }), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");
    assert!(server.heard.join().unwrap()[0].is_err(), "a request came");
}

//! Small servers on this machine, and a network in which nothing else is reached.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use metier_proxy::Outside;
use metier_tools::Web;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What a server does with a request for a path.
pub(crate) type Serve = fn(&str, &mut dyn Write) -> io::Result<()>;

/// A network in which every address leads to one local server. Names have the addresses that a test gives them.
pub(crate) struct Net {
    names: HashMap<&'static str, &'static str>,
    server: SocketAddr,
    /// The addresses that were connected to.
    pub(crate) reached: Mutex<Vec<SocketAddr>>,
    pub(crate) resolved: Mutex<Vec<String>>,
}

impl Outside for Net {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.resolved.lock().unwrap().push(name.to_owned());
        let address = self.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(vec![address.parse().unwrap()])
    }

    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        self.reached.lock().unwrap().push(address);
        TcpStream::connect_timeout(&self.server, timeout)
    }
}

/// Plain HTTP.
pub(crate) fn plain(names: &[(&'static str, &'static str)], serve: Serve) -> Arc<Net> {
    start(names, move |stream| answer(stream, serve))
}

/// HTTP over TLS, with a certificate for one name. Gives the certificate, too.
pub(crate) fn encrypted(
    name: &str,
    names: &[(&'static str, &'static str)],
    serve: Serve,
) -> (Arc<Net>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config =
        Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate.clone()], key).unwrap());
    let net = start(names, move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
        answer(StreamOwned::new(connection, stream), serve)
    });
    (net, certificate.to_vec())
}

fn start(
    names: &[(&'static str, &'static str)],
    serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> Arc<Net> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            // Clients may hang up early; some tests do.
            thread::spawn(move || serve(stream));
        }
    });
    Arc::new(Net {
        names: names.iter().copied().collect(),
        server,
        reached: Mutex::default(),
        resolved: Mutex::default(),
    })
}

fn answer(stream: impl Read + Write, serve: Serve) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
    let stream = reader.get_mut();
    serve(&path, stream)?;
    stream.flush()
}

/// The network as a tool uses it.
pub(crate) fn web(net: &Arc<Net>, authorities: &[Vec<u8>]) -> Web {
    Web::new(Arc::clone(net) as Arc<dyn Outside>, authorities).unwrap()
}

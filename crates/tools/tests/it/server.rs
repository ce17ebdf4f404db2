//! Small servers on this machine, and a network in which nothing else is reached.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use metier_tools::{PageResolver, Web};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What a server does with a request for a path.
pub(crate) type Serve = fn(&str, &mut dyn Write) -> io::Result<()>;

/// A network in which every checked address of a name leads to one local server. Names have the addresses that a test gives
/// them, one answer after the other; the last one stays.
pub(crate) struct Net {
    names: HashMap<&'static str, Vec<&'static str>>,
    pub(crate) server: SocketAddr,
    /// How many connections the server has had.
    pub(crate) connections: Arc<AtomicUsize>,
    /// The checked addresses that were to be connected to.
    pub(crate) reached: Mutex<Vec<IpAddr>>,
    pub(crate) resolved: Mutex<Vec<String>>,
}

impl Net {
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl PageResolver for Net {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut resolved = self.resolved.lock().unwrap();
        let before = resolved.iter().filter(|known| *known == name).count();
        resolved.push(name.to_owned());
        let answers = self.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        let answer = answers[before.min(answers.len() - 1)];
        Ok(answer.split(' ').map(|address| address.parse().unwrap()).collect())
    }

    fn route(&self, address: IpAddr) -> SocketAddr {
        self.reached.lock().unwrap().push(address);
        self.server
    }
}

/// Plain HTTP.
pub(crate) fn plain(names: &[(&'static str, &'static str)], serve: Serve) -> Arc<Net> {
    start(names, move |stream| answer(stream, serve))
}

/// HTTP over TLS, with a certificate for one name from an authority of its own. Gives the authority's certificate, too.
pub(crate) fn encrypted(
    name: &str,
    names: &[(&'static str, &'static str)],
    serve: Serve,
) -> (Arc<Net>, Vec<u8>) {
    let (config, authority) = certified(name);
    let net = start(names, move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
        answer(StreamOwned::new(connection, stream), serve)
    });
    (net, authority)
}

/// A server's side of TLS, and the certificate of the authority that signed for its name.
fn certified(name: &str) -> (Arc<ServerConfig>, Vec<u8>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let own = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let made = params.signed_by(&own, &authority).unwrap();
    let certificate = CertificateDer::from(made.der().to_vec());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    (Arc::new(config), authority.der().to_vec())
}

fn start(
    names: &[(&'static str, &'static str)],
    serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> Arc<Net> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let serve = Arc::clone(&serve);
            // Clients may hang up early; some tests do.
            thread::spawn(move || serve(stream));
        }
    });
    let mut known: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, answer) in names {
        known.entry(name).or_default().push(answer);
    }
    Arc::new(Net { names: known, server, connections, reached: Mutex::default(), resolved: Mutex::default() })
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

/// A proxy for HTTP: it answers to `CONNECT` with a tunnel to one server, and passes every other request on to it as it is.
/// Gives its address and the first lines and credentials that it got.
pub(crate) fn proxy(server: SocketAddr) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = Arc::clone(&seen);
            thread::spawn(move || pass_on(stream, server, &seen));
        }
    });
    (address.to_string(), asked)
}

fn pass_on(mut client: TcpStream, server: SocketAddr, seen: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let first = head.lines().next().unwrap_or_default().to_owned();
    let credentials = head.lines().find(|line| line.to_ascii_lowercase().starts_with("proxy-authorization:"));
    seen.lock().unwrap().push(credentials.map_or_else(
        || first.clone(),
        |line| format!("{first}, {}", line.rsplit(' ').next().unwrap_or_default()),
    ));
    let mut there = TcpStream::connect(server)?;
    if first.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    } else {
        // The server of these tests looks at the path alone.
        let path = first.split(' ').nth(1).and_then(|url| url.splitn(4, '/').nth(3)).unwrap_or_default();
        write!(there, "GET /{path} HTTP/1.1\r\n\r\n")?;
    }
    let (mut from, mut to) = (client.try_clone()?, there.try_clone()?);
    let sent = thread::spawn(move || io::copy(&mut from, &mut to));
    io::copy(&mut there, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)?;
    drop(sent.join());
    Ok(())
}

/// The network as a tool uses it.
pub(crate) fn web(net: &Arc<Net>, authorities: &[Vec<u8>]) -> Web {
    Web::new(Arc::clone(net) as Arc<dyn PageResolver>, authorities.to_vec())
}

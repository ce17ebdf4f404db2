//! What the way through the proxy costs: a large body, the first byte, and many at once, each against a direct way.
//!
//! `cargo run --release -p metier-proxy --example throughput`
#![expect(clippy::print_stdout, reason = "its results are for whoever runs it")]

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use metier_proxy::{Contact, Limits, Outside, Proxy, Reach, Verdict, Warden};

const MEBIBYTES: u32 = 50;
const BODY: usize = MEBIBYTES as usize * 1024 * 1024;
const ROUNDS: usize = 5;
const TRIES: usize = 200;

struct Everybody;

impl Warden for Everybody {
    fn may(&self, _contact: &Contact) -> Verdict {
        Verdict::Pass(Reach::Public)
    }
}

/// Everybody is the one server.
struct Stage(SocketAddr);

impl Outside for Stage {
    fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![Ipv4Addr::new(203, 0, 113, 1).into()])
    }

    fn connect(&self, _address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&self.0, timeout)
    }
}

/// Answers `/large` with a large body and everything else with a byte.
fn serve(mut stream: TcpStream) -> io::Result<()> {
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    while !request.ends_with(b"\r\n\r\n") {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        request.extend_from_slice(&piece[..length]);
    }
    let is_large = request.windows(6).any(|part| part == b"/large");
    let length = if is_large { BODY } else { 1 };
    stream.write_all(
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let block = vec![7; 256 * 1024];
    let mut left = length;
    while left > 0 {
        left -= stream.write(&block[..left.min(block.len())])?;
    }
    Ok(())
}

/// How a program gets to the server.
#[derive(Clone, Copy)]
enum Route {
    Direct(SocketAddr),
    Http(SocketAddr),
    Tunnel(SocketAddr),
}

impl Route {
    /// The time to the first byte, and to the last.
    fn get(self, path: &str) -> io::Result<(Duration, Duration)> {
        let began = Instant::now();
        let (Self::Direct(place) | Self::Http(place) | Self::Tunnel(place)) = self;
        let mut stream = TcpStream::connect(place)?;
        stream.set_nodelay(true)?;
        let mut piece = vec![0; 256 * 1024];
        let address = match self {
            Self::Http(_) => format!("http://site.example{path}"),
            Self::Direct(_) => path.to_owned(),
            Self::Tunnel(_) => {
                stream.write_all(b"CONNECT site.example:80 HTTP/1.1\r\n\r\n")?;
                stream.read_exact(&mut piece[..39])?;
                path.to_owned()
            }
        };
        stream.write_all(format!("GET {address} HTTP/1.1\r\nHost: site.example\r\n\r\n").as_bytes())?;
        stream.read_exact(&mut piece[..1])?;
        let first = began.elapsed();
        while stream.read(&mut piece)? > 0 {}
        Ok((first, began.elapsed()))
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = TcpListener::bind("127.0.0.1:0")?;
    let direct = server.local_addr()?;
    thread::spawn(move || {
        for stream in server.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let place = listener.local_addr()?;
    let _proxy =
        Proxy::start(listener, Arc::new(Everybody), Arc::new(Stage(direct)), Limits::default(), |_| {})?;
    let routes =
        [("direct", Route::Direct(direct)), ("http", Route::Http(place)), ("connect", Route::Tunnel(place))];
    for (name, route) in routes {
        let times = (0..ROUNDS).map(|_| Ok(route.get("/large")?.1)).collect::<io::Result<_>>()?;
        let took = median(times);
        let speed = f64::from(MEBIBYTES) / took.as_secs_f64();
        println!("{name:8} 50 MiB     {:8.1} ms  {speed:8.0} MiB/s", took.as_secs_f64() * 1e3);
    }
    for (name, route) in routes {
        let times = (0..TRIES).map(|_| Ok(route.get("/")?.0)).collect::<io::Result<_>>()?;
        println!("{name:8} first byte {:8.3} ms", median(times).as_secs_f64() * 1e3);
    }
    for (name, route) in routes {
        let began = Instant::now();
        let all: Vec<_> = (0..TRIES).map(|_| thread::spawn(move || route.get("/"))).collect();
        let mut answered = 0;
        for one in all {
            answered += usize::from(matches!(one.join(), Ok(Ok(_))));
        }
        println!("{name:8} {answered} at once {:8.1} ms", began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

//! What the way through the proxy costs: a large body, the first byte, and many at once, each against a direct way.
//!
//! `cargo xtask bench proxy`
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
const ROUNDS: usize = 11;
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
    // One route after the other in every round, so that what else the machine does is shared by all of them.
    let mut times: [[Vec<Duration>; 2]; 3] = Default::default();
    for _ in 0..ROUNDS {
        for ((_, route), [large, _]) in routes.iter().zip(&mut times) {
            large.push(route.get("/large")?.1);
        }
    }
    for _ in 0..TRIES {
        for ((_, route), [_, first]) in routes.iter().zip(&mut times) {
            first.push(route.get("/")?.0);
        }
    }
    println!("route        50 MiB      MiB/s   first byte    {TRIES} at once");
    let mut figures = Vec::new();
    for ((name, route), [large, first]) in routes.into_iter().zip(times) {
        let (large, first) = (median(large).as_secs_f64(), median(first).as_secs_f64() * 1e3);
        let began = Instant::now();
        let all: Vec<_> = (0..TRIES).map(|_| thread::spawn(move || route.get("/"))).collect();
        let answered = all.into_iter().map(thread::JoinHandle::join);
        let answered = answered.filter(|one| matches!(one, Ok(Ok(_)))).count();
        let speed = f64::from(MEBIBYTES) / large;
        let together = began.elapsed().as_secs_f64() * 1e3;
        println!("{name:8} {:8.1} ms {speed:10.0} {first:9.3} ms {together:9.1} ms", large * 1e3);
        figures.push((name, speed, first, answered));
    }
    let direct = figures.first().map_or(0.0, |figure| figure.1);
    println!("\ntargets");
    for (name, speed, first, answered) in figures.into_iter().skip(1) {
        let say = |holds: bool| if holds { "holds " } else { "MISSED" };
        let share = speed / direct;
        println!("{}  {name}: {share:.2} of the direct throughput, at least 0.50", say(share >= 0.5));
        println!("{}  {name}: first byte after {first:.2} ms, at most 2.00", say(first <= 2.0));
        println!("{}  {name}: {answered} of {TRIES} at once answered", say(answered == TRIES));
    }
    Ok(())
}

//! One connection, from its first byte to its end.

use std::net::TcpStream;
use std::time::Instant;

use metier_policy::Host;

use crate::body::Body;
use crate::client::{Client, Lost};
use crate::event::{Carried, Event, Refusal};
use crate::fault::Fault;
use crate::head::{MAX_HEAD, Request, end_of_head};
use crate::proxy::Shared;
use crate::reach::{Unreached, reach};
use crate::reply;
use crate::response::Answer;
use crate::roster::Seat;
use crate::sieve::Sieve;
use crate::socks::{self, Reply};
use crate::target::Target;
use crate::tunnel::{Flow, Until, carry};
use crate::warden::{Contact, Way};

/// Serves one program's connection. The seat is given back last, when both sockets are closed.
pub(crate) fn serve(shared: &Shared, mut seat: Seat, number: u64, stream: TcpStream) {
    let until = Instant::now() + shared.limits.head;
    let Ok(client) = Client::new(stream, &shared.stop, until) else { return };
    Connection { shared, number, client }.serve(&mut seat);
}

struct Connection<'a> {
    shared: &'a Shared,
    number: u64,
    client: Client<'a>,
}

/// Why a request could not be heard.
enum Unheard {
    Fault(Fault),
    /// There is nobody to tell.
    Lost,
}

impl From<Fault> for Unheard {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Connection<'_> {
    /// The first byte says which language is spoken.
    fn serve(mut self, seat: &mut Seat) {
        // A connection that is opened and says nothing is no contact, and nobody waits for an answer.
        if self.client.listen().is_err() {
            return;
        }
        match self.client.heard.first() {
            Some(&socks::VERSION) => self.socks(seat),
            Some(4) => self.malformed(Fault::Socks4, &socks::SOCKS4_REFUSED),
            _ => self.http(seat),
        }
    }

    /// Hears more, or says why not.
    fn listen(&mut self) -> Result<(), Unheard> {
        self.client.listen().map_err(|lost| match lost {
            Lost::Late => Unheard::Fault(Fault::Slow(self.shared.limits.head.as_secs())),
            Lost::Closed | Lost::Stopped => Unheard::Lost,
        })
    }

    fn malformed(&self, fault: Fault, answer: &[u8]) {
        self.shared.tell(&Event::Malformed { number: self.number, fault });
        self.client.part(answer);
    }

    fn http(mut self, seat: &mut Seat) {
        let request = match self.hear_head() {
            Ok(request) => request,
            Err(Unheard::Fault(fault)) => {
                let answer = reply::fault(&fault);
                return self.malformed(fault, &answer);
            }
            Err(Unheard::Lost) => return,
        };
        let way = if matches!(request, Request::Tunnel(_)) { Way::Tunnel } else { Way::Http };
        let contact = self.contact(way, request.target());
        let Some(server) = self.reach(seat, &contact) else { return };
        match request {
            Request::Tunnel(_) => self.tunnel(contact, &server, reply::TUNNEL_STANDS),
            Request::Plain { head, framing, .. } => {
                let silence = reply::http(502, "no-answer", "metier: the server closed without an answer\n");
                let up = Flow::new(Sieve::Body(Body::new(framing)), head);
                let down = Flow::new(Sieve::Answer { answer: Answer::default(), silence }, Vec::new());
                self.carry(contact, &server, (up, down), Until::Answer);
            }
        }
    }

    fn hear_head(&mut self) -> Result<Request, Unheard> {
        let mut seen = 0;
        loop {
            if let Some(end) = end_of_head(&self.client.heard, seen)? {
                let rest = self.client.heard.split_off(end.min(self.client.heard.len()));
                let head = std::mem::replace(&mut self.client.heard, rest);
                if head.len() > MAX_HEAD {
                    return Err(Fault::HeadTooLarge(MAX_HEAD).into());
                }
                return Ok(Request::read(&head)?);
            }
            seen = self.client.heard.len();
            if seen >= MAX_HEAD {
                return Err(Fault::HeadTooLarge(MAX_HEAD).into());
            }
            self.listen()?;
        }
    }

    fn socks(mut self, seat: &mut Seat) {
        let target = match self.hear_socks() {
            Ok(target) => target,
            Err(Unheard::Fault(Fault::SocksMethod)) => {
                return self.malformed(Fault::SocksMethod, &socks::NO_METHOD);
            }
            Err(Unheard::Fault(fault)) => {
                let answer = Reply::to(&fault).bytes();
                return self.malformed(fault, &answer);
            }
            Err(Unheard::Lost) => return,
        };
        let contact = self.contact(Way::Socks, &target);
        if let Some(server) = self.reach(seat, &contact) {
            self.tunnel(contact, &server, &Reply::Done.bytes());
        }
    }

    fn hear_socks(&mut self) -> Result<Target, Unheard> {
        let greeting = loop {
            match socks::greeting(&self.client.heard)? {
                Some(used) => break used,
                None => self.listen()?,
            }
        };
        self.client.heard.drain(..greeting);
        self.client.say(&socks::NO_PASSWORD).map_err(|_| Unheard::Lost)?;
        loop {
            match socks::request(&self.client.heard)? {
                Some((target, used)) => {
                    self.client.heard.drain(..used);
                    return Ok(target);
                }
                None => self.listen()?,
            }
        }
    }

    fn contact(&self, way: Way, target: &Target) -> Contact {
        Contact { number: self.number, way, host: target.host.clone(), port: target.port }
    }

    /// Connects to the host, or says in the program's language why not.
    fn reach(&self, seat: &mut Seat, contact: &Contact) -> Option<TcpStream> {
        let is_socks = contact.way == Way::Socks;
        match reach(self.shared, seat, contact, &self.client.stream) {
            Ok((server, address)) => {
                self.shared.tell(&Event::Passed { contact: contact.clone(), address });
                return Some(server);
            }
            Err(Unreached::Refused(refusal)) => {
                let forbidden = || Reply::Forbidden.bytes().to_vec();
                let answer = if is_socks { forbidden() } else { reply::refusal(contact, &refusal) };
                self.refused(contact.clone(), refusal, &answer);
            }
            Err(Unreached::Failed(trouble)) => {
                let socks = || reply::socks(&trouble).bytes().to_vec();
                let answer = if is_socks { socks() } else { reply::trouble(contact, &trouble) };
                self.shared.tell(&Event::Failed { contact: contact.clone(), trouble });
                self.client.part(&answer);
            }
            Err(Unreached::Gone) => {}
        }
        None
    }

    fn refused(&self, contact: Contact, refusal: Refusal, answer: &[u8]) {
        self.shared.tell(&Event::Refused { contact, refusal });
        self.client.part(answer);
    }

    fn tunnel(self, contact: Contact, server: &TcpStream, answer: &[u8]) {
        let host: Host = contact.host.clone();
        let up = Flow::new(Sieve::Hello { host, held: Vec::new() }, Vec::new());
        let down = Flow::new(Sieve::Open, answer.to_vec());
        self.carry(contact, server, (up, down), Until::Both);
    }

    fn carry(mut self, contact: Contact, server: &TcpStream, (mut up, mut down): (Flow, Flow), over: Until) {
        let began = Instant::now();
        let heard = std::mem::take(&mut self.client.heard);
        let ending = up.take(&heard).and_then(|()| {
            let (stop, idle) = (&self.shared.stop, self.shared.limits.idle);
            carry(stop, (&self.client.stream, &mut up), (server, &mut down), over, idle)
        });
        match ending {
            Ok(ending) => {
                let carried =
                    Carried { up: up.carried(), down: down.carried(), took: began.elapsed(), ending };
                self.shared.tell(&Event::Ended { contact, carried });
                if over == Until::Answer {
                    self.client.part(&[]);
                }
            }
            Err(refusal) => {
                // Before the answer began, a plain request still has room for a reason. A tunnel has none.
                let answer = match over {
                    Until::Answer if down.carried() == 0 => reply::refusal(&contact, &refusal),
                    _ => Vec::new(),
                };
                self.refused(contact, refusal, &answer);
            }
        }
    }
}

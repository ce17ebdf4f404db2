//! The only way out of the sandbox: who may be reached, decided by name and checked by address.
//!
//! What runs contained has no network but one port, and behind that port is a [`Proxy`] of its own. It speaks HTTP,
//! `CONNECT` and SOCKS5, all on that port; it resolves names and connects by itself; it asks a [`Warden`] about each host
//! once; and it tells an observer about every contact. `docs/proxy.md` is the same for users.
//!
//! ```text
//! accept ─► connection ─► head │ socks ─► target ─► reach ─────────────► tunnel
//!            first byte    read            whom      questions (warden)   sieve (hello, body, answer)
//!                                                    outside (resolve)    both ways, to the end
//!                                                    address (special?)
//! ```
//!
//! What holds for every input:
//!
//! - **One spelling.** A host is compared as [`metier_policy::Host`] has it; what has no such spelling is no host.
//! - **One resolution.** The address that was checked is the address that is connected to.
//! - **One request on a connection.** What follows it reaches nobody.
//! - **One reading.** A request that two readers could read differently is refused.
//!
//! What this crate is not: it makes no namespace and no listener, it knows no rules and no skills, and it does not look
//! into what is encrypted.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::{TcpListener, TcpStream};
//! use std::sync::Arc;
//! use metier_proxy::{Contact, Limits, Proxy, System, Verdict, Warden};
//!
//! struct Nobody;
//! impl Warden for Nobody {
//!     fn may(&self, contact: &Contact) -> Verdict {
//!         let remedy = Some(format!("allow it with the rule `skill:pdf/host:{}`", contact.host));
//!         Verdict::Refuse { reason: "no rule names it".to_owned(), remedy }
//!     }
//! }
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let place = listener.local_addr()?;
//! let proxy = Proxy::start(listener, Arc::new(Nobody), Arc::new(System), Limits::default(), |_event| {})?;
//!
//! let mut program = TcpStream::connect(place)?;
//! program.write_all(b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")?;
//! let mut answer = String::new();
//! program.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 403 Refused by metier (not-allowed)\r\n"));
//! assert!(answer.ends_with("allow it with the rule `skill:pdf/host:api.example.com`\n"));
//! # std::io::Result::Ok(())
//! ```

mod address;
pub mod body;
mod client;
mod connection;
mod event;
mod fault;
pub mod head;
pub mod hello;
mod outside;
mod pipe;
mod proxy;
mod questions;
mod reach;
mod reply;
mod response;
mod roster;
mod sieve;
pub mod socks;
mod stop;
mod target;
mod tunnel;
mod variables;
mod warden;

pub use address::Special;
pub use event::{Carried, Ending, Event, Refusal, Trouble};
pub use fault::Fault;
pub use outside::{Outside, System};
pub use proxy::{Limits, Proxy};
pub use target::Target;
pub use variables::proxy_variables;
pub use warden::{Contact, Reach, Verdict, Warden, Way};

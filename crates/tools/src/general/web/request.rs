//! One request, and its answer within bounds.

use std::io::{Read, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use super::answer::Answer;
use super::patience::Patience;
use super::reach::LimitHit;
use super::timed::Timed;
use super::{Scheme, Url, Web};

/// What one request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::general) struct Limits {
    /// For all of it, redirects included: a model waits for it.
    pub(in crate::general) time: Duration,
    /// For one silence.
    pub(in crate::general) silence: Duration,
    /// Bytes of a body. The text of the longest pages fits many times over.
    pub(in crate::general) body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), silence: Duration::from_secs(10), body: 4 << 20 }
    }
}

/// Asks for a page. No cookie, no referrer and nothing of the user's goes out with it.
pub(in crate::general) fn get(
    web: &Web,
    url: &Url,
    reached: LimitHit,
    patience: Patience<'_>,
    names: &dyn Fn(IpAddr) -> bool,
) -> Result<Answer, String> {
    let stream = web.connect(&url.host, url.port, reached, patience, names)?;
    let timed = Timed::new(stream, patience, web.limits.silence);
    let failed =
        |error: &dyn std::fmt::Display| format!("`{}` did not answer as it should: {error}", url.authority());
    match url.scheme {
        Scheme::Http => exchange(timed, url, web.limits.body).map_err(|error| failed(&error)),
        Scheme::Https => {
            let name = ServerName::try_from(url.host.as_str().to_owned()).map_err(|error| failed(&error))?;
            let connection =
                ClientConnection::new(Arc::clone(&web.tls), name).map_err(|error| failed(&error))?;
            exchange(StreamOwned::new(connection, timed), url, web.limits.body)
                .map_err(|error| failed(&error))
        }
    }
}

fn exchange(
    mut stream: impl Read + Write,
    url: &Url,
    most: usize,
) -> Result<Answer, super::answer::NoAnswer> {
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: metier\r\nAccept: text/html, text/*;q=0.9, */*;q=0.5\r\n\
         Accept-Encoding: identity\r\nConnection: close\r\n\r\n",
        url.target,
        url.authority()
    );
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    Answer::read(&mut stream, most)
}

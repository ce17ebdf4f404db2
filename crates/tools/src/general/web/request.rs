//! One request, and its answer within bounds.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use metier_model::http::{Tls, cause, client_builder};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use reqwest::{Client, Proxy, Response};

use super::Web;
use super::page_url::PageUrl;
use super::patience::{Patience, WaitError};
use super::reach::{AddressScope, Route};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How many headers an answer may have. The client bounds their bytes.
const MAX_HEADERS: usize = 200;

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

/// An answer: its status, its headers, and its body as far as it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::general) struct WebAnswer {
    pub(in crate::general) status: u16,
    headers: HeaderMap,
    pub(in crate::general) body: Vec<u8>,
    /// Why the body is not whole, if so.
    pub(in crate::general) cut: Option<String>,
}

impl WebAnswer {
    /// A header, by its name in lower case.
    pub(in crate::general) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

/// A page to ask for.
#[derive(Clone, Copy)]
pub(in crate::general) struct PageRequest<'a> {
    pub(in crate::general) url: &'a PageUrl,
    pub(in crate::general) scope: AddressScope,
    pub(in crate::general) patience: Patience<'a>,
    /// Whether a rule names a special address by itself; it asks nobody.
    pub(in crate::general) names: &'a (dyn Fn(IpAddr) -> bool + Sync),
}

/// Asks for a page. No cookie, no referrer and nothing of the user's goes out with it.
pub(in crate::general) fn get(web: &Web, request: PageRequest<'_>) -> Result<WebAnswer, String> {
    let asked = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("no connection can be made: {error}"))?;
        let answer = runtime.block_on(exchange(web, request));
        // A resolver that does not answer must not delay the result.
        runtime.shutdown_background();
        answer
    };
    // On its own thread: the caller may be inside a runtime, and a runtime cannot be started there.
    thread::scope(|scope| scope.spawn(asked).join())
        .unwrap_or_else(|_| Err(format!("the fetch of `{}` broke down", request.url)))
}

async fn exchange(web: &Web, request: PageRequest<'_>) -> Result<WebAnswer, String> {
    let PageRequest { url, patience, .. } = request;
    let failed = |why: &str| format!("`{}` did not answer as it should: {why}", url.authority());
    let route = web.route(request).await?;
    let client = web.client(url, route)?;
    let request = client
        .get(url.url().clone())
        .header(ACCEPT, "text/html, text/*;q=0.9, */*;q=0.5")
        .header(ACCEPT_ENCODING, "identity");
    let response = match patience.wait(CONNECT_TIMEOUT + web.limits.silence, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) if error.is_connect() => {
            return Err(format!("`{}:{}` could not be reached: {}", url.host, url.port, cause(error)));
        }
        Ok(Err(error)) => return Err(failed(&cause(error))),
        Err(_) => return Err(failed("the server did not answer in time")),
    };
    // Two readers could take two different lengths from it.
    let headers = response.headers();
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        return Err(failed("the length of the answer can be read in two ways"));
    }
    let mut answer = WebAnswer {
        status: response.status().as_u16(),
        headers: headers.clone(),
        body: Vec::new(),
        cut: None,
    };
    answer.cut = read(response, &mut answer.body, web.limits, patience).await;
    Ok(answer)
}

/// Reads a body; why it is not whole, if so.
async fn read(
    mut response: Response,
    body: &mut Vec<u8>,
    limits: Limits,
    patience: Patience<'_>,
) -> Option<String> {
    loop {
        match patience.wait(limits.silence, response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                let room = limits.body.saturating_sub(body.len());
                body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
                if chunk.len() > room {
                    return Some(format!("only the first {} KiB are taken", limits.body / 1024));
                }
            }
            Ok(Ok(None)) => return None,
            // Many servers close without a TLS close_notify. The part that came is shown with a note.
            Ok(Err(error)) => return Some(format!("the connection broke: {}", cause(error))),
            Err(WaitError::Late | WaitError::Stopped) => {
                return Some("the rest did not come in time".to_owned());
            }
        }
    }
}

impl Web {
    /// A client that reaches what was checked and nothing else.
    fn client(&self, url: &PageUrl, route: Route) -> Result<Client, String> {
        let is_encrypted = |proxy: &str| proxy.starts_with("https:");
        let needs_tls = url.is_tls() || matches!(&route, Route::Proxy(proxy) if is_encrypted(proxy));
        let tls = if needs_tls { self.tls()? } else { Tls::none().map_err(|error| error.to_string())? };
        let builder = client_builder(tls).connect_timeout(CONNECT_TIMEOUT).http1_max_headers(MAX_HEADERS);
        let builder = match route {
            Route::Direct(checked) => builder.dns_resolver(Arc::new(checked)),
            Route::Proxy(proxy) => {
                // Not what it says: a password may be in it.
                let proxy = Proxy::all(&proxy).map_err(|_| {
                    "the proxy for this host cannot be used; write one such as `http://proxy.example.com:3128`"
                        .to_owned()
                })?;
                builder.proxy(proxy)
            }
        };
        builder.build().map_err(|error| format!("no connection can be made: {}", cause(error)))
    }
}

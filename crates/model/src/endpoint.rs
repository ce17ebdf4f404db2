//! Where a provider is, and how it is reached.

use std::fmt;
use std::time::Duration;

use metier_secret::{Redactor, SecretName};
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

use crate::Key;

/// Where a provider is, what it is shown, and how long it is waited for.
///
/// The key and the headers go to this address and to no other: redirects are not followed.
#[derive(Clone)]
pub struct Endpoint {
    base: Url,
    key: Option<Key>,
    headers: Vec<(HeaderName, Given)>,
    proxy: Option<Url>,
    timeouts: Timeouts,
    plain: PlainHttp,
    /// Certificates in DER that are believed beside the system's.
    authorities: Vec<Vec<u8>>,
}

/// The value of a given header.
#[derive(Clone)]
enum Given {
    Secret(Key),
    /// Too short to be taken out of texts without taking ordinary words out.
    Short(String),
}

impl Given {
    fn text(&self) -> &str {
        match self {
            Self::Secret(key) => key.secret().expose(),
            Self::Short(text) => text,
        }
    }
}

/// How long a provider is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the question to the first byte of the answer. Models that think, and local ones that read a long history
    /// first, take minutes.
    pub first_byte: Duration,
    /// From each byte to the next. Providers send something at least every half minute while they think.
    pub between_bytes: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            between_bytes: Duration::from_mins(2),
        }
    }
}

/// Whether a key may travel without encryption to another machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// It may not: everybody on the way could read it.
    #[default]
    Refuse,
    /// It may: the user said that the network is trusted.
    Allow,
}

/// Why there is no such endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The address cannot be read.
    #[error("`{text}` is no address of a provider: {why}; write one such as `https://llm.example.com/v1`")]
    Address {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The address holds a password.
    #[error("the address of a provider holds a user name or password; give it as a key or a header instead")]
    Password,
    /// A key would travel in the open.
    #[error(
        "`{host}` is not on this machine and its address begins with `http:`, so everybody on the way could read the key; \
         use `https:`, or set `plain_http = true` if the network is yours"
    )]
    Plain {
        /// The host.
        host: String,
    },
    /// A header cannot be sent.
    #[error("the header `{name}` cannot be given: {why}")]
    Header {
        /// Its name.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// The keys cannot be looked for in errors.
    #[error("the key cannot be kept out of errors: {why}")]
    Key {
        /// Why.
        why: String,
    },
    /// The client could not be made.
    #[error("no connection to a provider can be made: {why}")]
    Client {
        /// Why.
        why: String,
    },
}

/// Headers that belong to the connection. Whoever could set them could end one request inside of another.
const RESERVED: &[&str] = &[
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
];

impl Endpoint {
    /// A provider at this address, which goes as far as the version: `https://api.openai.com/v1`.
    pub fn new(base_url: &str) -> Result<Self, EndpointError> {
        let base = address(base_url)?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err(EndpointError::Password);
        }
        let fault = |why: &str| EndpointError::Address { text: base_url.to_owned(), why: why.to_owned() };
        if base.query().is_some() || base.fragment().is_some() {
            return Err(fault("it has a part behind `?` or `#`"));
        }
        Ok(Self {
            base,
            key: None,
            headers: Vec::new(),
            proxy: None,
            timeouts: Timeouts::default(),
            plain: PlainHttp::default(),
            authorities: Vec::new(),
        })
    }

    /// With this key.
    #[must_use]
    pub fn with_key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// With this header too. Its value is kept as a key is. It counts before a header of the protocol's own.
    pub fn with_header(self, name: &str, value: Key) -> Result<Self, EndpointError> {
        self.with_given(name, Given::Secret(value))
    }

    /// With this header too, whose value may be too short for a secret, such as `1`. Longer ones are kept as keys are.
    pub fn with_header_text(self, name: &str, value: &str) -> Result<Self, EndpointError> {
        let given = match Key::new(value) {
            Ok(key) => Given::Secret(key),
            Err(crate::KeyError::NotASecret(_)) => Given::Short(value.to_owned()),
            Err(crate::KeyError::NotAHeader) => {
                let why = "its value has a character that no header can hold";
                return Err(EndpointError::Header { name: name.to_owned(), why });
            }
        };
        self.with_given(name, given)
    }

    fn with_given(mut self, name: &str, value: Given) -> Result<Self, EndpointError> {
        let fault = |why| EndpointError::Header { name: name.to_owned(), why };
        let header =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault("it is no name of a header"))?;
        if RESERVED.contains(&header.as_str()) {
            return Err(fault("it belongs to the connection"));
        }
        self.headers.push((header, value));
        Ok(self)
    }

    /// Through this proxy: `http://proxy.example.com:3128`, with a user name and password if it wants them.
    pub fn with_proxy(mut self, proxy: &str) -> Result<Self, EndpointError> {
        self.proxy = Some(address(proxy)?);
        Ok(self)
    }

    /// With these times.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Whether a key may travel in the open.
    #[must_use]
    pub fn with_plain_http(mut self, plain: PlainHttp) -> Self {
        self.plain = plain;
        self
    }

    /// With an authority of its own, whose certificate in DER counts beside those of the system: a company's, or a test's.
    #[must_use]
    pub fn with_authority(mut self, certificate: Vec<u8>) -> Self {
        self.authorities.push(certificate);
        self
    }

    /// The host, with its port where it is not the usual one.
    pub fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    pub(crate) fn authorities(&self) -> &[Vec<u8>] {
        &self.authorities
    }

    pub(crate) fn proxy(&self) -> Option<&Url> {
        self.proxy.as_ref()
    }

    /// Whether any connection for it is encrypted, so that certificates are needed.
    pub(crate) fn has_tls(&self) -> bool {
        let is_tls = |url: &Url| url.scheme() == "https";
        is_tls(&self.base) || self.proxy.as_ref().is_some_and(is_tls)
    }

    /// The address of a path below the base.
    pub(crate) fn url(&self, path: &str) -> Result<Url, EndpointError> {
        let text = format!("{}/{path}", self.base.as_str().trim_end_matches('/'));
        let url = address(&text)?;
        // Whatever a path holds, it stays where the key belongs.
        if url.host() != self.base.host() || url.port_or_known_default() != self.base.port_or_known_default()
        {
            return Err(EndpointError::Address { text, why: "it leads to another host".to_owned() });
        }
        Ok(url)
    }

    /// The headers that carry what is secret, the key in the one that its protocol names.
    pub(crate) fn secret_headers(
        &self,
        key_header: (&'static str, &str),
    ) -> Result<Vec<(HeaderName, HeaderValue)>, EndpointError> {
        let has_secrets = self.key.is_some() || !self.headers.is_empty();
        if has_secrets
            && self.plain == PlainHttp::Refuse
            && self.base.scheme() == "http"
            && !is_here(&self.base)
        {
            return Err(EndpointError::Plain { host: self.host() });
        }
        let mut headers = Vec::new();
        if let Some(key) = &self.key {
            let (name, before) = key_header;
            headers.push((HeaderName::from_static(name), sensitive(before, key.secret().expose())?));
        }
        for (name, value) in &self.headers {
            headers.retain(|(own, _)| own != name);
            headers.push((name.clone(), sensitive("", value.text())?));
        }
        Ok(headers)
    }

    /// Takes the key, the given headers and a proxy's password out of texts.
    pub(crate) fn redactor(&self) -> Result<Redactor, EndpointError> {
        let fault = |why: String| EndpointError::Key { why };
        let name = |text: &str| text.parse::<SecretName>().map_err(|error| fault(error.to_string()));
        let password = self.proxy.as_ref().and_then(|proxy| Key::new(proxy.password()?).ok());
        let mut secrets = Vec::new();
        if let Some(key) = &self.key {
            secrets.push((name("API_KEY")?, key.clone()));
        }
        for (index, (_, value)) in self.headers.iter().enumerate() {
            if let Given::Secret(value) = value {
                secrets.push((name(&format!("HEADER_{}", index + 1))?, value.clone()));
            }
        }
        if let Some(password) = password {
            secrets.push((name("PROXY_PASSWORD")?, password));
        }
        Redactor::new(secrets.iter().map(|(name, key)| (name, key.secret())))
            .map_err(|error| fault(error.to_string()))
    }
}

impl fmt::Debug for Endpoint {
    /// Names of headers, no values; and not the proxy, whose address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("base", &self.base.as_str())
            .field("key", &self.key)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

fn address(text: &str) -> Result<Url, EndpointError> {
    let fault = |why: &str| EndpointError::Address { text: text.to_owned(), why: why.to_owned() };
    let url = Url::parse(text).map_err(|error| fault(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.host().is_some() => Ok(url),
        "http" | "https" => Err(fault("it names no host")),
        _ => Err(fault("it begins with neither `https:` nor `http:`")),
    }
}

/// Whether an address is on this machine.
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn sensitive(before: &str, text: &str) -> Result<HeaderValue, EndpointError> {
    let mut value = HeaderValue::from_str(&format!("{before}{text}"))
        .map_err(|_| EndpointError::Key { why: "no header can hold it".to_owned() })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::new("sk-test-1234567890").unwrap()
    }

    #[test]
    fn addresses_are_those_of_servers_and_hold_no_password() {
        let check = |text: &str, is_good: bool| assert_eq!(Endpoint::new(text).is_ok(), is_good, "{text}");
        check("https://api.openai.com/v1", true);
        check("http://127.0.0.1:8080", true);
        check("ftp://example.com", false);
        check("example.com/v1", false);
        check("https://user:pw@example.com", false);
        check("https://example.com/v1?x=1", false);
        check("", false);
    }

    #[test]
    fn paths_go_below_the_base_and_stay_at_the_host() {
        let check = |base: &str, path: &str, expect: &str| {
            assert_eq!(Endpoint::new(base).unwrap().url(path).unwrap().as_str(), expect);
        };
        check("https://a.example/v1", "messages", "https://a.example/v1/messages");
        check("https://a.example/v1/", "messages", "https://a.example/v1/messages");
        check("https://a.example", "x?alt=sse", "https://a.example/x?alt=sse");
        check("https://a.example", "/evil.example/x", "https://a.example//evil.example/x");
    }

    #[test]
    fn a_key_does_not_travel_in_the_open() {
        let check = |base: &str, plain: PlainHttp, is_good: bool| {
            let endpoint = Endpoint::new(base).unwrap().with_key(key()).with_plain_http(plain);
            assert_eq!(endpoint.secret_headers(("x-api-key", "")).is_ok(), is_good, "{base}");
        };
        check("https://a.example", PlainHttp::Refuse, true);
        check("http://a.example", PlainHttp::Refuse, false);
        check("http://192.168.0.7:8000", PlainHttp::Refuse, false);
        check("http://192.168.0.7:8000", PlainHttp::Allow, true);
        check("http://127.0.0.1:8000", PlainHttp::Refuse, true);
        check("http://[::1]:8000", PlainHttp::Refuse, true);
        check("http://localhost:8000", PlainHttp::Refuse, true);
        check("http://localhost.example", PlainHttp::Refuse, false);
        let bare = Endpoint::new("http://a.example").unwrap();
        assert!(bare.secret_headers(("x-api-key", "")).is_ok());
    }

    #[test]
    fn a_given_header_counts_before_the_key_and_none_belongs_to_the_connection() {
        let endpoint = Endpoint::new("https://a.example").unwrap().with_key(key());
        assert!(endpoint.clone().with_header("Host", key()).is_err());
        assert!(endpoint.clone().with_header("a b", key()).is_err());
        let given = Key::new("Token other-1234").unwrap();
        let headers = endpoint
            .with_header("Authorization", given)
            .unwrap()
            .secret_headers(("authorization", "Bearer "))
            .unwrap();
        assert_eq!(headers.len(), 1);
        assert_eq!(headers[0].1.to_str().unwrap(), "Token other-1234");
        assert!(headers[0].1.is_sensitive());
    }

    #[test]
    fn nothing_secret_is_shown() {
        let endpoint = Endpoint::new("https://a.example")
            .unwrap()
            .with_key(key())
            .with_header("x-team", Key::new("team-secret").unwrap())
            .unwrap()
            .with_proxy("http://user:hunter22@proxy.example:3128")
            .unwrap();
        let shown = format!("{endpoint:?}");
        for secret in ["sk-test", "team-secret", "hunter22"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        let redacted =
            endpoint.redactor().unwrap().text("sk-test-1234567890 team-secret hunter22").into_owned();
        assert_eq!(redacted, "[secret API_KEY] [secret HEADER_1] [secret PROXY_PASSWORD]");
    }
}

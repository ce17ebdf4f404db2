//! Addresses of pages.

use std::fmt;

use metier_policy::{Host, NoHost};
use url::{ParseError, Url};

/// The longest address that is taken. Browsers and servers take about as much.
const MAX_ADDRESS: usize = 8192;

/// The address of a page. It has one spelling, and the host that is decided about is the one in the address that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::general) struct PageUrl {
    url: Url,
    pub(in crate::general) host: Host,
    pub(in crate::general) port: u16,
}

/// Why a text is no address of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::general) enum PageUrlError {
    #[error("the address is longer than {MAX_ADDRESS} bytes")]
    Long,
    #[error("the address begins with neither `https://` nor `http://`")]
    Scheme,
    #[error("the address has a user name or a password in it; leave out what stands before `@`")]
    UserInfo,
    #[error(transparent)]
    Host(#[from] NoHost),
    #[error("the port is no number from 1 to 65535")]
    Port,
    #[error("the address has a control character in it")]
    Control,
}

impl PageUrl {
    /// Parses an absolute URL. One without `http://` or `https://` is an error.
    pub(in crate::general) fn parse(text: &str) -> Result<Self, PageUrlError> {
        let text = plain(text)?;
        let rest = strip(text, "https://").or_else(|| strip(text, "http://")).ok_or(PageUrlError::Scheme)?;
        // Browsers accept `https:///host`, `%61` in a host and an empty user name. Parsers disagree about these, so they are
        // refused.
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(PageUrlError::UserInfo);
        }
        if authority.is_empty() || authority.contains('%') {
            return Err(NoHost(authority.to_owned()).into());
        }
        let url = Url::parse(text).map_err(|error| match error {
            ParseError::InvalidPort => PageUrlError::Port,
            _ => NoHost(authority.to_owned()).into(),
        })?;
        Self::checked(url)
    }

    /// The address that a page of this one names: whole, or seen from here.
    pub(in crate::general) fn join(&self, text: &str) -> Result<Self, PageUrlError> {
        let text = plain(text)?;
        if Url::parse(text).is_ok() {
            return Self::parse(text);
        }
        if text.starts_with("//") {
            return Self::parse(&format!("{}:{text}", self.url.scheme()));
        }
        self.url.join(text).map_err(|_| NoHost(text.to_owned()).into()).and_then(Self::checked)
    }

    /// Only what a page can be asked for by, with the host as rules have it.
    fn checked(mut url: Url) -> Result<Self, PageUrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PageUrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PageUrlError::UserInfo);
        }
        let host = Host::new(url.host_str().unwrap_or_default())?;
        let spelled = host.to_string();
        if url.set_host(Some(&spelled)).is_err() || url.host_str() != Some(&spelled) {
            return Err(NoHost(spelled).into());
        }
        let port = url.port_or_known_default().filter(|port| *port > 0).ok_or(PageUrlError::Port)?;
        url.set_fragment(None);
        Ok(Self { url, host, port })
    }

    /// The address as a request has it.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Whether it is asked for over TLS.
    pub(in crate::general) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host, with the port where it is not the usual one.
    pub(super) fn authority(&self) -> String {
        self.url.port().map_or_else(|| self.host.to_string(), |port| format!("{}:{port}", self.host))
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

/// A text that may be an address. The parser of the standard passes over tabs and line breaks; a reader of the text does not.
fn plain(text: &str) -> Result<&str, PageUrlError> {
    let text = text.trim();
    if text.len() > MAX_ADDRESS {
        Err(PageUrlError::Long)
    } else if text.chars().any(char::is_control) {
        Err(PageUrlError::Control)
    } else {
        Ok(text)
    }
}

fn strip<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_spelling() {
        let check = |text: &str, expect: &str| {
            let got = PageUrl::parse(text).map_or_else(|error| format!("! {error}"), |url| url.to_string());
            assert_eq!(got, expect, "{text:?}");
        };
        check("https://Example.org", "https://example.org/");
        check(" HTTPS://example.org:443/a#b ", "https://example.org/a");
        check("http://example.org:8080/a b?c=ü", "http://example.org:8080/a%20b?c=%C3%BC");
        check("https://example.org/a/../../b/./c/", "https://example.org/b/c/");
        check("https://example.org?x=1", "https://example.org/?x=1");
        check("https://example.org\\@evil.example/", "https://example.org/@evil.example/");
        check("https://[::1]:8443/", "https://[::1]:8443/");
        check("https://0x7f.1/", "https://127.0.0.1/");
        for here in [
            "http://2130706433/",
            "http://0177.1/",
            "http://127.0.0.1./",
            "http://[::ffff:7f00:1]/",
            "http://１２７.0.0.1/",
            "http://①②⑦.0.0.1/",
            "http://127。0。0。1/",
        ] {
            check(here, "http://127.0.0.1/");
        }
        check("http://ｌocalhost./", "http://localhost/");
        check("http://loc\u{ad}alhost/", "http://localhost/");
        check("http://BÜCHER.example/", "http://xn--bcher-kva.example/");
        check("http://example.org./", "http://example.org/");
        check("https://a%41b/", "! `a%41b` is no host name; write it as `api.example.com`");
        for text in ["ftp://a/", "file:///etc/passwd", "example.org", "javascript:alert(1)", ""] {
            check(text, "! the address begins with neither `https://` nor `http://`");
        }
        check(
            "https://me:pw@example.org/",
            "! the address has a user name or a password in it; leave out what stands before `@`",
        );
        check("https://example.org:0/", "! the port is no number from 1 to 65535");
        check("https://example.org:+80/", "! the port is no number from 1 to 65535");
        check("https://example.org/a\r\nX: y", "! the address has a control character in it");
        assert!(
            PageUrl::parse("https:///x").is_err()
                && PageUrl::parse(&format!("https://a/{}", "x".repeat(MAX_ADDRESS))).is_err()
        );
    }

    #[test]
    fn a_link_is_seen_from_its_page() {
        let page = PageUrl::parse("https://example.org/docs/a.html?q=1").unwrap();
        let check = |link: &str, expect: &str| {
            let got = page.join(link).map_or_else(|error| format!("! {error}"), |url| url.to_string());
            assert_eq!(got, expect, "{link:?}");
        };
        check("b.html", "https://example.org/docs/b.html");
        check("../c", "https://example.org/c");
        check("/d?x#y", "https://example.org/d?x");
        check("?z", "https://example.org/docs/a.html?z");
        check("#part", "https://example.org/docs/a.html?q=1");
        check("//other.example/e", "https://other.example/e");
        check("http://other.example/", "http://other.example/");
        check("a/b:c", "https://example.org/docs/a/b:c");
        check("javascript:alert(1)", "! the address begins with neither `https://` nor `http://`");
    }
}

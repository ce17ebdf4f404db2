//! Hosts as scripts and frontmatters name them.

use std::net::Ipv4Addr;
use std::ops::Range;

/// A host that a script names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Its name in lower case, without a final dot.
    pub(crate) name: String,
    /// Its port.
    pub(crate) port: u16,
    /// Where its name stands in the text that was read.
    pub(crate) span: Range<usize>,
}

/// The schemes that lead to a host, with the port that goes without saying.
const SCHEMES: &[(&str, u16)] = &[
    ("https://", 443),
    ("http://", 80),
    ("wss://", 443),
    ("ws://", 80),
    ("ftp://", 21),
    ("git+https://", 443),
];

/// Hosts whose addresses are names of vocabularies and file formats. They stand in scripts that write XML and JSON, and
/// nobody fetches them.
const VOCABULARIES: &[&str] = &[
    "docs.oasis-open.org",
    "json-schema.org",
    "json.schemastore.org",
    "ns.adobe.com",
    "ogp.me",
    "purl.org",
    "schema.org",
    "schemas.android.com",
    "schemas.microsoft.com",
    "schemas.openxmlformats.org",
    "schemas.xmlsoap.org",
    "www.opengis.net",
    "www.sitemaps.org",
    "www.topografix.com",
    "www.w3.org",
    "xmlns.com",
];

/// Names below which nothing real is, and names of one network alone.
const UNREAL: &[&str] =
    &["example", "internal", "invalid", "lan", "local", "localdomain", "localhost", "test"];

/// Endings that tell a host from a file in a word without a scheme.
const ENDINGS: &[&str] =
    &["ai", "app", "cloud", "co", "com", "dev", "eu", "gov", "io", "me", "net", "org", "sh"];

impl Host {
    /// The host of a text that begins with an address such as `https://host/path`. `None` where it is put together
    /// while the script runs, stands for another one, or is this machine.
    pub(crate) fn of_url(text: &str) -> Option<Self> {
        let (scheme, port) = SCHEMES.iter().find(|(scheme, _)| {
            text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })?;
        Self::of_authority(text, scheme.len(), *port)
    }

    /// The host of a word that a program such as `curl` takes for an address: `host/path` without a scheme.
    pub(crate) fn of_bare(word: &str) -> Option<Self> {
        let host = Self::of_authority(word, 0, 80)?;
        let ending = host.name.rsplit('.').next().unwrap_or_default();
        ENDINGS.contains(&ending).then_some(host)
    }

    /// A host that stands alone, as in `HTTPSConnection("host")`.
    pub(crate) fn of_name(text: &str, port: u16) -> Option<Self> {
        Self::of_authority(text, 0, port).filter(|host| host.span.end == text.len())
    }

    fn of_authority(text: &str, start: usize, port: u16) -> Option<Self> {
        let rest = text.get(start..)?;
        let end = rest.find(|c: char| {
            c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '\\' | ')' | ',')
        });
        let authority = rest.get(..end.unwrap_or(rest.len()))?;
        let name_at = authority.rfind('@').map_or(0, |at| at + 1);
        let place = authority.get(name_at..)?;
        let (name, port) = match place.split_once(':') {
            Some((name, digits)) => (name, digits.parse().ok()?),
            None => (place, port),
        };
        let span = start + name_at..start + name_at + name.len();
        let name = normal(name)?;
        let is_meant = is_reachable(&name) && !VOCABULARIES.contains(&name.as_str());
        is_meant.then_some(Self { name, port, span })
    }
}

/// A name in its one spelling; `None` where it is none, such as one with a placeholder in it.
fn normal(name: &str) -> Option<String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let is_name = name.contains('.') && name.split('.').all(is_label);
    is_name.then(|| name.to_ascii_lowercase())
}

/// Whether a name is one that could be meant: neither this machine nor an example.
fn is_reachable(name: &str) -> bool {
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return !address.is_loopback() && !address.is_unspecified();
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_example = |label: &str| {
        matches!(label, "example" | "foo" | "bar" | "acme" | "domain" | "mydomain" | "placeholder" | "xxx")
            || label.starts_with("your")
            || label.starts_with("my-")
            || label.starts_with("example-")
    };
    last.len() > 1
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !UNREAL.contains(&last)
        && !name.split('.').any(is_example)
}

/// Whether one of the hosts that a frontmatter names is this one. An entry is a name, `*.` with a name for everything
/// below it, or `*` for all names; a port behind it means that port alone.
pub(crate) fn is_declared(declared: &[String], host: &Host) -> bool {
    let is_address = host.name.parse::<Ipv4Addr>().is_ok();
    declared.iter().any(|entry| {
        let (name, port) = match entry.trim().rsplit_once(':') {
            Some((name, port)) => (name, port.parse::<u16>().ok()),
            None => (entry.trim(), Some(host.port)),
        };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let is_named = match name.strip_prefix("*.") {
            _ if name == "*" => !is_address,
            Some(above) => {
                !is_address && host.name.strip_suffix(above).is_some_and(|rest| rest.ends_with('.'))
            }
            None => name == host.name,
        };
        is_named && port == Some(host.port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_from_addresses() {
        let check = |text: &str, expect: Option<(&str, u16)>| {
            let found = Host::of_url(text);
            assert_eq!(found.as_ref().map(|host| (host.name.as_str(), host.port)), expect, "{text:?}");
        };
        check("https://API.github.com/repos/{x}", Some(("api.github.com", 443)));
        check("http://a.b.io:8080?x", Some(("a.b.io", 8080)));
        check("wss://u:p@stream.x.com./y", Some(("stream.x.com", 443)));
        check("https://1.2.3.4/x", Some(("1.2.3.4", 443)));
        check("https://{host}/x", None);
        check("https://api.x.com{path}", None);
        check("https://$HOST/x", None);
        check("https://", None);
        check("https://api.", None);
        check("http://localhost:3000", None);
        check("http://127.0.0.1", None);
        check("https://example.com/x", None);
        check("https://api.example.org", None);
        check("https://your-site.atlassian.net", None);
        check("https://server.internal", None);
        check("http://www.w3.org/2000/svg", None);
        check("https://x.com:port/", None);
        check("see https://x.com", None);
        check("https://é.com", None);
    }

    #[test]
    fn a_word_without_a_scheme_is_a_host_by_its_ending() {
        let check = |word: &str, expect: Option<&str>| {
            assert_eq!(Host::of_bare(word).map(|host| host.name).as_deref(), expect, "{word:?}");
        };
        check("wttr.in/Paris", None);
        check("ipinfo.io/json", Some("ipinfo.io"));
        check("data.json", None);
        check("get.sh", Some("get.sh"));
        check("-o", None);
    }

    #[test]
    fn declared_hosts_are_compared_in_one_spelling() {
        let check = |entry: &str, url: &str, expect: bool| {
            let host = Host::of_url(url).unwrap();
            assert_eq!(is_declared(&[entry.to_owned()], &host), expect, "{entry} {url}");
        };
        check("API.GitHub.com.", "https://api.github.com", true);
        check("*.github.com", "https://api.github.com", true);
        check("*.github.com", "https://github.com", false);
        check("*.hub.com", "https://api.github.com", false);
        check("api.github.com:443", "https://api.github.com", true);
        check("api.github.com:443", "http://api.github.com", false);
        check("api.github.com:x", "https://api.github.com", false);
        check("*", "https://api.github.com", true);
        check("*", "https://1.2.3.4", false);
        check("github.com", "https://api.github.com", false);
    }
}

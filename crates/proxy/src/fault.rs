//! What a program said to the proxy that is no request.

use metier_diagnostic::visible;
use metier_policy::NoHost;

/// Why there was nothing to decide about: the request cannot be read in exactly one way.
///
/// Two readers that understand the same bytes differently are how requests are smuggled past a filter, so what has two
/// readings is refused and never guessed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The head of a request is larger than the proxy holds.
    #[error("the head of the request has more than {} KiB; send less in headers", .0 / 1024)]
    HeadTooLarge(usize),
    /// The request did not arrive in time.
    #[error("no whole request came within {0} seconds; send it in one piece")]
    Slow(u64),
    /// Neither SOCKS5 nor an HTTP request.
    #[error("this is no HTTP request and no SOCKS5; send `CONNECT host:port` or `GET http://host/`")]
    NotHttp,
    /// A NUL, or a line that ends in anything but CR LF.
    #[error("the head has a NUL byte or a line that does not end in CR LF; end every line with both")]
    LineEnd,
    /// A path where the whole address belongs.
    #[error("this is a proxy and no server; ask it for the whole address, `http://host/path`")]
    OriginForm,
    /// An address with another scheme.
    #[error(
        "the proxy takes `http://…` in a request; everything else, `https` too, goes through `CONNECT host:port`"
    )]
    Scheme,
    /// A name or a password before the host.
    #[error("the address has a user name in it; leave out what stands before `@`")]
    UserInfo,
    /// What should be a host is none.
    #[error(transparent)]
    NoHost(NoHost),
    /// A port is missing or is no port.
    #[error("`{}` has no port from 1 to 65535; write it as `host:443`", visible(.0))]
    NoPort(String),
    /// The address has a part that a request cannot have.
    #[error("the address has a `#`; leave out what follows it")]
    Fragment,
    /// The body has two lengths, or none that can be read.
    #[error(
        "the length of the body can be read in two ways; send one `Content-Length` or `Transfer-Encoding: chunked`"
    )]
    Length,
    /// `Connection` names a header that the request cannot do without.
    #[error("`Connection` names `{}`, which belongs to the request and not to the connection; take it out", visible(.0))]
    ConnectionNames(String),
    /// `Host` is there more than once.
    #[error("there is more than one `Host`; send one")]
    TwoHosts,
    /// A chunk of a body is not written as one.
    #[error(
        "a chunk of the body is not written as one; send its length in hexadecimal, CR LF, the bytes, CR LF"
    )]
    Chunk,
    /// The old SOCKS.
    #[error("SOCKS4 is not spoken here; use `socks5h://`")]
    Socks4,
    /// A SOCKS5 message that is not written as one.
    #[error("this is no SOCKS5 message")]
    Socks,
    /// A program that insists on a password.
    #[error("the proxy takes no password; offer \"no authentication\"")]
    SocksMethod,
    /// Another command than CONNECT.
    #[error("the SOCKS5 command {0} is not spoken here; only CONNECT (1) is")]
    SocksCommand(u8),
    /// An address of an unknown kind.
    #[error("the SOCKS5 address type {0} is unknown; send a name (3) or an address (1, 4)")]
    SocksAddress(u8),
}

impl Fault {
    /// A word for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::HeadTooLarge(_) => "head-too-large",
            Self::Slow(_) => "slow-request",
            Self::NotHttp => "not-http",
            Self::LineEnd => "line-end",
            Self::OriginForm => "origin-form",
            Self::Scheme => "other-scheme",
            Self::UserInfo => "user-info",
            Self::NoHost(_) => "no-host",
            Self::NoPort(_) => "no-port",
            Self::Fragment => "fragment",
            Self::Length => "two-lengths",
            Self::ConnectionNames(_) => "connection-names",
            Self::TwoHosts => "two-hosts",
            Self::Chunk => "chunk",
            Self::Socks4 => "socks4",
            Self::Socks => "socks-message",
            Self::SocksMethod => "socks-method",
            Self::SocksCommand(_) => "socks-command",
            Self::SocksAddress(_) => "socks-address",
        }
    }

    /// The status of HTTP that says it.
    pub(crate) const fn status(&self) -> u16 {
        match self {
            Self::HeadTooLarge(_) => 431,
            Self::Slow(_) => 408,
            _ => 400,
        }
    }
}

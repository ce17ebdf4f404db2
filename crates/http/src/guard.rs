//! Who may ask.

use axum::http::{HeaderMap, StatusCode, Uri, header};

use crate::token::Token;

/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Who may ask.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What has to be brought; without one everybody on this machine is answered.
    token: Option<Token>,
    hosts: Vec<String>,
}

/// Why somebody is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Host,
    Origin,
    Token,
}

impl Refused {
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Host => "this server does not answer to that name; name it with --host-name\n",
            Self::Origin => "pages of other sites are not answered\n",
            Self::Token => "the token is missing or another one: send Authorization: Bearer TOKEN\n",
        }
    }
}

impl Guard {
    /// Answers requests for this machine by its own names, of whoever brings the token if there is one.
    pub fn new(token: Option<Token>) -> Self {
        Self { token, hosts: LOOPBACK.map(str::to_owned).to_vec() }
    }

    /// Answers requests for another name, too: a name or an address without a port.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        self.hosts.push(name.to_ascii_lowercase());
        self
    }

    /// Whether it asks for no token.
    pub(crate) fn is_open(&self) -> bool {
        self.token.is_none()
    }

    /// Looks at a request.
    ///
    /// A page in a browser can make a name of its own lead to this machine and then ask as if from there. It cannot choose the
    /// Host that the browser sends, nor its Origin; so both have to be names of ours.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            (None, _) => uri.authority().map(axum::http::uri::Authority::as_str),
            // Which of two is meant nobody can say.
            (Some(_), Some(_)) => None,
        };
        if !host.is_some_and(|host| self.knows(host)) {
            return Err(Refused::Host);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let authority = origin.to_str().ok().and_then(|origin| {
                origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
            });
            if !authority.is_some_and(|authority| self.knows(authority)) {
                return Err(Refused::Origin);
            }
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
        let given = given
            .and_then(|given| given.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match given {
            Some((_, word)) if token.is(word.trim()) => Ok(()),
            _ => Err(Refused::Token),
        }
    }

    /// Whether a name, with a port or without, is one of ours. The port is not looked at: it may have been passed on from another.
    fn knows(&self, authority: &str) -> bool {
        let name = match authority.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => authority,
        };
        let name = name.to_ascii_lowercase();
        self.hosts.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    const WORD: &str = "0123456789abcdef0123456789abcdef";

    fn judge(guard: &Guard, headers: &[(&str, &str)]) -> Result<(), Refused> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        guard.check(&Uri::from_static("/mcp"), &map)
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let guard = Guard::new(None).host("Box.example");
        let check = |headers: &[(&str, &str)], expect: Result<(), Refused>| {
            assert_eq!(judge(&guard, headers), expect, "{headers:?}");
        };
        for host in ["127.0.0.1:80", "localhost", "LOCALHOST:9", "[::1]:80", "[::1]", "box.example:1"] {
            check(&[("host", host)], Ok(()));
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost:80:80",
            "localhost:",
            "0.0.0.0",
            "::1",
            "user@localhost",
        ] {
            check(&[("host", host)], Err(Refused::Host));
        }
        check(&[], Err(Refused::Host));
        check(&[("host", "localhost"), ("host", "localhost")], Err(Refused::Host));
        let from = |origin: &'static str| [("host", "localhost:80"), ("origin", origin)];
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5"] {
            check(&from(origin), Ok(()));
        }
        for origin in [
            "null",
            "http://evil.example",
            "http://localhost.evil.example",
            "file://localhost",
            "localhost",
            "",
        ] {
            check(&from(origin), Err(Refused::Origin));
        }
        check(
            &[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example")],
            Err(Refused::Origin),
        );
    }

    #[test]
    fn only_who_brings_the_token_is_answered() {
        let workspace = metier_testkit::Workspace::new().file("token", WORD);
        let token = Token::kept_in(&workspace.join("token")).unwrap();
        let guard = Guard::new(Some(token));
        let with = |given: &str| judge(&guard, &[("host", "localhost"), ("authorization", given)]);
        assert_eq!(with(&format!("Bearer {WORD}")), Ok(()));
        assert_eq!(with(&format!("bearer  {WORD}")), Ok(()));
        for given in [
            "",
            "Bearer",
            "Bearer ",
            &format!("Basic {WORD}"),
            WORD,
            &format!("Bearer {WORD}0"),
            "Bearer 0123456789abcdef0123456789abcdeg",
        ] {
            assert_eq!(with(given), Err(Refused::Token), "{given}");
        }
        assert_eq!(judge(&guard, &[("host", "localhost")]), Err(Refused::Token));
        // The name is looked at first: who may not ask at all learns nothing of the token.
        assert_eq!(judge(&guard, &[("host", "evil.example")]), Err(Refused::Host));
    }
}

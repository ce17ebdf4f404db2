//! Where a bus listens: `unix:path=/run/user/1000/bus`, `unix:abstract=…`, several with `;` between.

/// One place at which a bus may listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A socket in the file system.
    Path(Vec<u8>),
    /// A socket that has a name only, as Linux has them.
    Abstract(Vec<u8>),
}

impl Address {
    /// All that are understood, in their order. Others (`tcp:`, `autolaunch:`) are not for this: a keyring is on this
    /// machine, and nothing is started just to look for one.
    pub(super) fn all(text: &str) -> Vec<Self> {
        text.split(';').filter_map(Self::one).collect()
    }

    fn one(text: &str) -> Option<Self> {
        let pairs = text.strip_prefix("unix:")?;
        pairs.split(',').find_map(|pair| match pair.split_once('=')? {
            ("path", value) => Some(Self::Path(unescaped(value)?)),
            ("abstract", value) => Some(Self::Abstract(unescaped(value)?)),
            _ => None,
        })
    }
}

/// `%2f` as the byte it stands for.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            plain.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        plain.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    (!plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_found_in_lists_of_addresses() {
        let path = |text: &str| Address::Path(text.into());
        let check = |text: &str, expect: &[Address]| assert_eq!(Address::all(text), expect, "{text}");
        check("", &[]);
        check("unix:path=/run/user/1000/bus", &[path("/run/user/1000/bus")]);
        check("unix:path=/run/bus,guid=0123", &[path("/run/bus")]);
        check("unix:guid=0123,path=/a%20b%2Fc", &[path("/a b/c")]);
        check("unix:abstract=/tmp/dbus-x,guid=1", &[Address::Abstract("/tmp/dbus-x".into())]);
        check("tcp:host=localhost,port=1;unix:path=/a;unix:path=/b", &[path("/a"), path("/b")]);
        for nothing in
            ["unix:", "unix:path=", "unix:path=%2", "unix:path=%zz", "unix:dir=/tmp", "autolaunch:", "/run"]
        {
            check(nothing, &[]);
        }
    }
}

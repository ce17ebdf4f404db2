//! The name in the first message of TLS.
//!
//! A tunnel is encrypted, but its first message says in the clear which site of the server is meant. When that is
//! another one than the tunnel was allowed for, the permission for one site is used to reach another.

/// The most bytes that are held back until the name is known. A hello has 300 to 2,000; the largest ones come with keys of
/// the newer kind and stay below 20,000.
pub const MAX_HELLO: usize = 64 * 1024;

/// What the first bytes of a tunnel are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hello {
    /// Not enough bytes to say.
    More,
    /// No TLS.
    Other,
    /// TLS, without a name.
    Nameless,
    /// TLS, with this name.
    Named(Vec<u8>),
}

/// The bytes begin as TLS and then are none that can be read. A server may be more lenient and find a name where none
/// was found here, so they are not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// The type of a record with handshake messages, among all types that there are.
const HANDSHAKE: u8 = 22;
const RECORD_TYPES: std::ops::RangeInclusive<u8> = 20..=24;

/// The type of the message that a program begins with.
const CLIENT_HELLO: u8 = 1;

/// The most bytes in one record.
const MAX_RECORD: usize = 1 << 14;

/// The number of the extension that has the name.
const SERVER_NAME: usize = 0;

/// Reads what has arrived of a tunnel so far.
pub fn read(bytes: &[u8]) -> Result<Hello, Unreadable> {
    let is_record = bytes.first().is_none_or(|kind| RECORD_TYPES.contains(kind));
    // Major version 3 is every TLS there is.
    let is_tls = is_record && bytes.get(1).is_none_or(|major| *major == 3);
    let found = match bytes {
        _ if !is_tls => Hello::Other,
        [] | [_] => Hello::More,
        _ => message(bytes)?.map_or(Ok(Hello::More), |hello| name(&hello))?,
    };
    if found == Hello::More && bytes.len() >= MAX_HELLO { Err(Unreadable) } else { Ok(found) }
}

/// The body of the first handshake message, put together from its records; `None` while a part of it is missing.
fn message(bytes: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
    let mut records = bytes;
    let mut message = Vec::new();
    while let Some((head, rest)) = records.split_first_chunk::<5>() {
        // Between the records of one message there is room for nothing else.
        let [HANDSHAKE, 3, _, high, low] = *head else { return Err(Unreadable) };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length == 0 || length > MAX_RECORD {
            return Err(Unreadable);
        }
        let there = length.min(rest.len());
        message.extend_from_slice(&rest[..there]);
        records = &rest[there..];
        if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Err(Unreadable);
        }
        let mut reader = Reader(message.get(1..).unwrap_or_default());
        let Ok(length) = reader.number(3) else { continue };
        if length > MAX_HELLO {
            return Err(Unreadable);
        }
        if let Ok(body) = reader.bytes(length) {
            return Ok(Some(body.to_vec()));
        }
    }
    if records.first().is_some_and(|kind| *kind != HANDSHAKE) { Err(Unreadable) } else { Ok(None) }
}

/// The name in the body of a hello. Every length has to fit exactly: slack is where two readers part.
fn name(hello: &[u8]) -> Result<Hello, Unreadable> {
    let mut hello = Reader(hello);
    // The version and the random bytes.
    hello.bytes(2 + 32)?;
    // The session, the ciphers, the compressions.
    hello.list(1)?;
    hello.list(2)?;
    hello.list(1)?;
    if hello.0.is_empty() {
        return Ok(Hello::Nameless);
    }
    let mut extensions = Reader(hello.list(2)?);
    hello.end()?;
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let extension = extensions.list(2)?;
        // A server takes the first of two, or the last.
        if kind == SERVER_NAME && found.replace(server_name(extension)?).is_some() {
            return Err(Unreadable);
        }
    }
    Ok(found.map_or(Hello::Nameless, Hello::Named))
}

/// The one name in the extension.
fn server_name(extension: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let mut extension = Reader(extension);
    let mut names = Reader(extension.list(2)?);
    extension.end()?;
    // No other type than 0, a host's name, was ever defined.
    let 0 = names.number(1)? else { return Err(Unreadable) };
    let name = names.list(2)?;
    names.end()?;
    if name.is_empty() { Err(Unreadable) } else { Ok(name.to_vec()) }
}

/// Takes numbers and lists from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Unreadable)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, width: usize) -> Result<usize, Unreadable> {
        Ok(self.bytes(width)?.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }

    /// Bytes behind their number.
    fn list(&mut self, width: usize) -> Result<&'a [u8], Unreadable> {
        let count = self.number(width)?;
        self.bytes(count)
    }

    fn end(&self) -> Result<(), Unreadable> {
        if self.0.is_empty() { Ok(()) } else { Err(Unreadable) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(width: usize, bytes: &[u8]) -> Vec<u8> {
        let mut list = bytes.len().to_be_bytes()[8 - width..].to_vec();
        list.extend_from_slice(bytes);
        list
    }

    fn extension(kind: u16, bytes: &[u8]) -> Vec<u8> {
        [kind.to_be_bytes().to_vec(), list(2, bytes)].concat()
    }

    fn names(names: &[&str]) -> Vec<u8> {
        let names = names.iter().map(|name| [vec![0], list(2, name.as_bytes())].concat());
        extension(0, &list(2, &names.collect::<Vec<_>>().concat()))
    }

    /// A hello with these extensions, cut into records of this size.
    fn hello(extensions: &[Vec<u8>], record: usize) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend_from_slice(&[7; 32]);
        body.extend_from_slice(&list(1, &[9; 32]));
        body.extend_from_slice(&list(2, &[0x13, 1, 0x13, 2]));
        body.extend_from_slice(&list(1, &[0]));
        if !extensions.is_empty() {
            body.extend_from_slice(&list(2, &extensions.concat()));
        }
        let message = [vec![1], list(3, &body)].concat();
        message.chunks(record).flat_map(|piece| [vec![22, 3, 1], list(2, piece)].concat()).collect()
    }

    fn named(name: &str) -> Hello {
        Hello::Named(name.as_bytes().to_vec())
    }

    #[test]
    fn the_name_is_found_among_other_extensions_and_across_records() {
        let other = extension(43, &[2, 3, 4]);
        let bytes = hello(&[other.clone(), names(&["api.example"]), other], 16);
        assert_eq!(read(&bytes), Ok(named("api.example")));
        for cut in 0..bytes.len() {
            assert_eq!(read(&bytes[..cut]), Ok(Hello::More), "{cut}");
        }
    }

    #[test]
    fn what_is_no_tls_or_has_no_name_is_told_apart() {
        assert_eq!(read(b"GET / HTTP/1.1"), Ok(Hello::Other));
        assert_eq!(read(b"SSH-2.0-x"), Ok(Hello::Other));
        assert_eq!(read(&[22, 9]), Ok(Hello::Other));
        // One byte that could begin another record than a hello could also begin something else.
        assert_eq!((read(&[21]), read(&[21, 9])), (Ok(Hello::More), Ok(Hello::Other)));
        assert_eq!(read(&hello(&[], 500)), Ok(Hello::Nameless));
        assert_eq!(read(&hello(&[extension(43, &[])], 500)), Ok(Hello::Nameless));
    }

    #[test]
    fn what_a_server_might_read_differently_is_unreadable() {
        let good = hello(&[names(&["a.example"])], 500);
        let alert = [21, 3, 1, 0, 2, 1, 0];
        let mut longer = good.clone();
        longer[8] -= 1;
        let mut between = hello(&[names(&["a.example"])], 20);
        between.splice(25..25, alert);
        for (bytes, why) in [
            ([&alert[..], &good].concat(), "an alert first"),
            (between, "an alert between two records"),
            (longer, "a length that leaves bytes over"),
            (hello(&[names(&["a.example", "b.example"])], 500), "two names"),
            (hello(&[names(&["a.example"]), names(&["b.example"])], 500), "two lists of names"),
            (hello(&[names(&[])], 500), "no name in the list"),
            (hello(&[names(&[""])], 500), "an empty name"),
            (hello(&[extension(0, &[0, 3, 1, 0, 0])], 500), "a name of another type"),
            (hello(&[extension(0, &[0, 9])], 500), "a list that is too short"),
            (vec![22, 3, 1, 0, 0], "an empty record"),
            (vec![22, 3, 1, 0xff, 0xff], "a record that is too long"),
            (vec![22, 3, 1, 0, 9, 2, 0, 0, 1], "another message"),
            (vec![22, 3, 1, 0, 9, 1, 0xff, 0, 0], "a message that is too long"),
        ] {
            assert_eq!(read(&bytes), Err(Unreadable), "{why}");
        }
    }

    #[test]
    fn a_hello_that_never_ends_ends() {
        let mut endless = vec![22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff];
        endless.resize(MAX_HELLO - 1, 0);
        // Records of zeros follow one another only where their heads are.
        assert!(read(&endless[..5 + MAX_RECORD]).is_ok());
        let drip: Vec<u8> =
            [vec![22, 3, 1, 0, 5, 1, 0, 0xff, 0xff, 0], [22, 3, 1, 0, 1, 0].repeat(MAX_HELLO / 6)].concat();
        assert_eq!(read(&drip[..MAX_HELLO - 1]), Ok(Hello::More));
        assert_eq!(read(&drip[..MAX_HELLO]), Err(Unreadable));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_a_decision_stays(bytes in prop::collection::vec(any::<u8>(), 0..300), tls: bool) {
            let bytes = if tls { [vec![22, 3, 1, 0, 200, 1, 0, 0, 150], bytes].concat() } else { bytes };
            let mut decided = None;
            for end in 0..=bytes.len() {
                let found = read(&bytes[..end]);
                // Once something is known, more bytes do not make it another thing.
                if let Some(before) = &decided {
                    prop_assert_eq!(before, &found);
                } else if found != Ok(Hello::More) {
                    decided = Some(found);
                }
            }
        }

        #[test]
        fn every_name_comes_back(name in "[a-z0-9.-]{1,100}", record in 1usize..300) {
            prop_assert_eq!(read(&hello(&[names(&[&name])], record)), Ok(named(&name)));
        }
    }
}

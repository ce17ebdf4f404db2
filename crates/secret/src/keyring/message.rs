//! Messages of D-Bus: a head of 16 bytes, fields, a body.

use zeroize::Zeroizing;

use super::KeyringError;
use super::wire::{Order, Reader, Writer, malformed};

/// The part of a message that says how long the rest is.
pub(super) const HEAD: usize = 16;

/// The longest message that is read. All secrets of one skill come in one: 4 MiB hold 250 of the longest. D-Bus itself allows
/// 128 MiB, which nobody should be able to make us keep.
const MAX_MESSAGE: usize = 4 << 20;

const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;

const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SENDER: u8 = 7;
const SIGNATURE: u8 = 8;

/// A call of a method.
pub(super) struct Call<'a> {
    pub(super) destination: &'a str,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) member: &'a str,
    /// The types in the body; none without a body.
    pub(super) signature: &'a str,
    pub(super) body: &'a [u8],
}

impl Call<'_> {
    /// The message to be sent.
    pub(super) fn encode(&self, serial: u32) -> Zeroizing<Vec<u8>> {
        let texts = [self.destination, self.path, self.interface, self.member, self.signature];
        let room = HEAD + texts.iter().map(|text| text.len() + 16).sum::<usize>() + self.body.len() + 16;
        let mut writer = Writer::with_room(room);
        // No flags: a keyring that is not running yet may be started.
        for byte in [b'l', CALL, 0, 1] {
            writer.byte(byte);
        }
        writer.number(u32::try_from(self.body.len()).unwrap_or(u32::MAX));
        writer.number(serial);
        writer.array(8, |writer| {
            for (field, kind, text) in [
                (PATH, "o", self.path),
                (INTERFACE, "s", self.interface),
                (MEMBER, "s", self.member),
                (DESTINATION, "s", self.destination),
            ] {
                writer.align(8);
                writer.byte(field);
                writer.signature(kind);
                writer.text(text);
            }
            if !self.signature.is_empty() {
                writer.align(8);
                writer.byte(SIGNATURE);
                writer.signature("g");
                writer.signature(self.signature);
            }
        });
        writer.align(8);
        writer.append(self.body);
        writer.finish()
    }
}

/// What kind of message came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A call was answered.
    Return,
    /// A call was refused, with the error's name.
    Error(String),
    /// A signal, or a call to us: nothing that was asked for.
    Other,
}

/// A message that came.
pub(super) struct Incoming {
    pub(super) kind: Kind,
    /// The call that it answers.
    pub(super) reply_to: Option<u32>,
    /// Who sent it, as the bus says.
    pub(super) sender: Option<String>,
    /// The types in the body.
    signature: String,
    order: Order,
    bytes: Zeroizing<Vec<u8>>,
    body: usize,
}

/// How long the message is that begins with this.
pub(super) fn length(head: &[u8; HEAD]) -> Result<usize, KeyringError> {
    let mut reader = Reader::new(head, order(head[0])?);
    reader.take(4)?;
    let body = reader.number()?;
    reader.take(4)?;
    let fields = reader.number()?;
    // Both fit into 64 bits together, so nothing wraps around.
    let length = (HEAD as u64 + u64::from(fields)).next_multiple_of(8) + u64::from(body);
    match usize::try_from(length) {
        Ok(length) if length <= MAX_MESSAGE => Ok(length),
        _ => Err(malformed("it is larger than 4 MiB")),
    }
}

const fn order(letter: u8) -> Result<Order, KeyringError> {
    match letter {
        b'l' => Ok(Order::Little),
        b'B' => Ok(Order::Big),
        _ => Err(malformed("its byte order is unknown")),
    }
}

impl Incoming {
    /// Reads a whole message.
    pub(super) fn decode(bytes: Zeroizing<Vec<u8>>) -> Result<Self, KeyringError> {
        let order = order(bytes.first().copied().unwrap_or_default())?;
        let mut reader = Reader::new(&bytes, order);
        reader.byte()?;
        let kind = reader.byte()?;
        reader.byte()?;
        if reader.byte()? != 1 {
            return Err(malformed("its version is not 1"));
        }
        let body_length = reader.number()?;
        reader.number()?;
        let (mut reply_to, mut sender, mut error, mut signature) = (None, None, None, String::new());
        reader.array(8, |reader| {
            reader.align(8)?;
            match reader.byte()? {
                REPLY_SERIAL => {
                    reader.variant_of("u")?;
                    reply_to = Some(reader.number()?);
                }
                SENDER => {
                    reader.variant_of("s")?;
                    sender = Some(reader.text()?.to_owned());
                }
                ERROR_NAME => {
                    reader.variant_of("s")?;
                    error = Some(reader.text()?.to_owned());
                }
                SIGNATURE => {
                    reader.variant_of("g")?;
                    reader.signature()?.clone_into(&mut signature);
                }
                // Fields that later versions bring are to be passed over.
                _ => reader.skip_variant()?,
            }
            Ok(())
        })?;
        reader.align(8)?;
        let body = bytes.len().checked_sub(usize::try_from(body_length).unwrap_or(usize::MAX));
        let body = body.ok_or(malformed("it is shorter than it says"))?;
        reader.take(body_length as usize)?;
        reader.finish()?;
        let kind = match (kind, error) {
            (RETURN, _) => Kind::Return,
            (ERROR, Some(name)) if is_name(&name) => Kind::Error(name),
            (ERROR, _) => return Err(malformed("an error has no name")),
            _ => Kind::Other,
        };
        Ok(Self { kind, reply_to, sender, signature, order, bytes, body })
    }

    /// Reads the body, all of it, which must have these types.
    pub(super) fn body<T>(
        &self,
        signature: &str,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, KeyringError>,
    ) -> Result<T, KeyringError> {
        if self.signature != signature {
            return Err(malformed("it has other types than the call's answer"));
        }
        let mut reader = Reader::new(self.bytes.get(self.body..).unwrap_or_default(), self.order);
        let value = read(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }
}

/// A name of an error, such as `org.example.Error.Failed`. It is shown, so nothing else may be in it.
fn is_name(text: &str) -> bool {
    text.contains('.')
        && text.len() <= 255
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call<'a>(signature: &'a str, body: &'a [u8]) -> Call<'a> {
        Call { destination: "a.b", path: "/a/b", interface: "a.B", member: "Do", signature, body }
    }

    fn decoded(bytes: &[u8]) -> Result<Incoming, KeyringError> {
        Incoming::decode(Zeroizing::new(bytes.to_vec()))
    }

    fn written(fill: impl FnOnce(&mut Writer)) -> Zeroizing<Vec<u8>> {
        let mut writer = Writer::with_room(0);
        fill(&mut writer);
        writer.finish()
    }

    #[test]
    fn a_call_without_a_body_has_these_bytes() {
        let mut expect = b"l\x01\0\x01\0\0\0\0\x07\0\0\0\x4c\0\0\0".to_vec();
        expect.extend(b"\x01\x01o\0\x04\0\0\0/a/b\0\0\0\0");
        expect.extend(b"\x02\x01s\0\x03\0\0\0a.B\0\0\0\0\0");
        expect.extend(b"\x03\x01s\0\x02\0\0\0Do\0\0\0\0\0\0");
        expect.extend(b"\x06\x01s\0\x03\0\0\0a.b\0");
        expect.resize(expect.len().next_multiple_of(8), 0);
        expect[12] = u8::try_from(expect.len() - HEAD - 4).unwrap();
        let bytes = call("", &[]).encode(7);
        assert_eq!(*bytes, expect);
    }

    #[test]
    fn a_length_that_is_too_large_is_refused_before_anything_is_read() {
        let check = |body: u32, fields: u32, expect: bool| {
            let mut head = *b"l\x02\0\x01\0\0\0\0\x01\0\0\0\0\0\0\0";
            head[4..8].copy_from_slice(&body.to_le_bytes());
            head[12..].copy_from_slice(&fields.to_le_bytes());
            assert_eq!(length(&head).is_ok(), expect, "{body} {fields}");
        };
        check(0, 0, true);
        check(1 << 20, 1 << 20, true);
        check(4 << 20, 0, false);
        check(u32::MAX, u32::MAX, false);
        check(0, u32::MAX, false);
    }

    #[test]
    fn values_of_unknown_fields_are_passed_over_and_endless_types_are_not() {
        let check = |signature: &str, value: &[u8], expect: bool| {
            let mut bytes = written(|writer| writer.signature(signature));
            bytes.extend_from_slice(value);
            let mut reader = Reader::new(&bytes, Order::Little);
            let read = reader.skip_variant().and_then(|()| reader.finish());
            assert_eq!(read.is_ok(), expect, "{signature}: {read:?}");
        };
        check("y", b"\x01", true);
        check("s", b"\0\x01\0\0\0a\0", true);
        check("v", b"\x01y\0\x05", true);
        check("(yy)", b"\0\0\x01\x02", true);
        check("as", b"\0\0\0\0\0\0\0", false);
        check("as", b"\0\0\0\0", true);
        check("a{sv}", &[0; 9], true);
        check("a{sv}", &[0; 8], false);
        for wrong in ["", "yy", "z", "(", "(y", ")", "a", "a(", "{ss}", "a{ss"] {
            check(wrong, &[0; 64], false);
        }
        check(&"a".repeat(200), &[0; 400], false);
        check(&"(".repeat(200), &[0; 400], false);
        check("v", &b"\x01v\0".repeat(100), false);
    }

    #[test]
    fn errors_names_are_shown_so_they_hold_nothing_else() {
        for (name, expect) in
            [("a.B", true), ("a", false), ("a.b c", false), ("a.\u{1b}[", false), ("", false)]
        {
            assert_eq!(is_name(name), expect, "{name}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            pairs in prop::collection::vec(("[^\0]{0,20}", "[^\0]{0,20}"), 0..5),
            value in prop::collection::vec(any::<u8>(), 0..50),
            number: u32,
            truth: bool,
        ) {
            let body = written(|writer| {
                writer.flag(truth);
                writer.pairs(&pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>());
                writer.bytes(&value);
                writer.number(number);
            });
            let incoming = decoded(&call("ba{ss}ayu", &body).encode(9)).unwrap();
            let mut found = Vec::new();
            let read = incoming.body("ba{ss}ayu", |reader| {
                let flag = reader.flag()?;
                reader.array(8, |reader| {
                    reader.align(8)?;
                    found.push((reader.text()?.to_owned(), reader.text()?.to_owned()));
                    Ok(())
                })?;
                Ok((flag, reader.bytes()?.to_vec(), reader.number()?))
            });
            prop_assert_eq!(read, Ok((truth, value, number)));
            prop_assert_eq!(found, pairs);
        }

        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decoded(&bytes).map(drop);
            if let Ok(head) = bytes.get(..HEAD).unwrap_or(&[0; HEAD]).try_into() {
                prop_assert!(length(head).is_err() || length(head).is_ok_and(|length| length <= MAX_MESSAGE));
            }
        }

        #[test]
        fn changed_and_cut_messages_are_an_answer_or_an_error(
            at in 0..120_usize,
            byte: u8,
            cut in 0..160_usize,
        ) {
            let body = written(|writer| writer.pairs(&[("application", "metier"), ("name", "KEY")]));
            let mut bytes = call("a{ss}", &body).encode(9).to_vec();
            let whole = bytes.len();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(cut);
            if let Ok(incoming) = decoded(&bytes) {
                prop_assert_eq!(bytes.len(), whole, "a cut message was taken");
                let read = incoming.body("a{ss}", |reader| reader.array(8, |reader| {
                    reader.align(8)?;
                    reader.text()?;
                    reader.text().map(drop)
                }));
                let expected = matches!(read, Ok(()) | Err(KeyringError::Malformed { .. }));
                prop_assert!(expected);
            }
        }
    }
}

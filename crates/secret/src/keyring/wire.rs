//! D-Bus's way of writing values down: the few types that a keyring's calls need.
//!
//! Each value stands at a multiple of its own alignment, counted from the beginning of the message. A body begins at a
//! multiple of 8, the largest there is, so it can be counted from its own beginning.

use zeroize::Zeroizing;

use super::KeyringError;

/// Values in values, in a type that we only skip. D-Bus itself stops at 64; answers of keyrings have 3.
const MAX_DEPTH: usize = 16;

type Read<T> = Result<T, KeyringError>;

pub(super) const fn malformed(what: &'static str) -> KeyringError {
    KeyringError::Malformed { what }
}

/// Which byte of a number comes first. The bus passes messages on as their sender wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// Values to be sent, little end first.
pub(super) struct Writer {
    bytes: Zeroizing<Vec<u8>>,
}

impl Writer {
    /// With room for so many bytes: a buffer that grows leaves copies of a value behind.
    pub(super) fn with_room(room: usize) -> Self {
        Self { bytes: Zeroizing::new(Vec::with_capacity(room)) }
    }

    pub(super) fn finish(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }

    pub(super) fn align(&mut self, to: usize) {
        let length = self.bytes.len().next_multiple_of(to);
        self.bytes.resize(length, 0);
    }

    pub(super) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn number(&mut self, value: u32) {
        self.align(4);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn flag(&mut self, value: bool) {
        self.number(value.into());
    }

    /// A string or an object's path.
    pub(super) fn text(&mut self, text: &str) {
        self.number(length(text.len()));
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    /// A type, in at most 255 letters; ours are constants of a few.
    pub(super) fn signature(&mut self, text: &str) {
        self.bytes.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    /// An array of bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(length(bytes.len()));
        self.bytes.extend(bytes);
    }

    /// An array whose elements stand at multiples of `to`.
    pub(super) fn array(&mut self, to: usize, fill: impl FnOnce(&mut Self)) {
        self.number(0);
        let place = self.bytes.len() - 4;
        self.align(to);
        let start = self.bytes.len();
        fill(self);
        let filled = length(self.bytes.len() - start).to_le_bytes();
        if let Some(slot) = self.bytes.get_mut(place..place + 4) {
            slot.copy_from_slice(&filled);
        }
    }

    /// `a{ss}`.
    pub(super) fn pairs(&mut self, pairs: &[(&str, &str)]) {
        self.array(8, |writer| {
            for (key, value) in pairs {
                writer.align(8);
                writer.text(key);
                writer.text(value);
            }
        });
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }
}

/// A length as it is sent. What is sent is bounded by [`crate::MAX_SECRET`] and by paths; what would not fit could not be sent
/// either, since the message's own limit is far lower.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Values that came. Every read is checked against what is there; nothing is believed.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: Order,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8], order: Order) -> Self {
        Self { bytes, at: 0, order }
    }

    /// That nothing is left.
    pub(super) fn finish(self) -> Read<()> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(malformed("it is longer than its type")) }
    }

    pub(super) fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let end = self.at.checked_add(length).ok_or(malformed("it is shorter than it says"))?;
        let taken = self.bytes.get(self.at..end).ok_or(malformed("it is shorter than it says"))?;
        self.at = end;
        Ok(taken)
    }

    pub(super) fn align(&mut self, to: usize) -> Read<()> {
        let padding = self.take(self.at.next_multiple_of(to) - self.at)?;
        if padding.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(malformed("something is in a gap")) }
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        self.take(1).map(|bytes| bytes.first().copied().unwrap_or_default())
    }

    pub(super) fn number(&mut self) -> Read<u32> {
        self.align(4)?;
        let bytes = self.take(4)?.try_into().map_err(|_| malformed("it is shorter than it says"))?;
        Ok(match self.order {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        })
    }

    pub(super) fn flag(&mut self) -> Read<bool> {
        match self.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(malformed("a truth value is neither true nor false")),
        }
    }

    /// A string or an object's path.
    pub(super) fn text(&mut self) -> Read<&'a str> {
        let length = self.length()?;
        self.ended(length)
    }

    pub(super) fn signature(&mut self) -> Read<&'a str> {
        let length = self.byte()?.into();
        self.ended(length)
    }

    /// An array of bytes.
    pub(super) fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    /// An array whose elements stand at multiples of `to`. `each` reads one, of at least one byte.
    pub(super) fn array(&mut self, to: usize, mut each: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        let length = self.length()?;
        self.align(to)?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(malformed("it is shorter than it says"))?;
        while self.at < end {
            let before = self.at;
            each(self)?;
            if self.at == before {
                return Err(malformed("an element is empty"));
            }
        }
        if self.at == end { Ok(()) } else { Err(malformed("an array is longer than it says")) }
    }

    /// Paths of objects.
    pub(super) fn paths(&mut self) -> Read<Vec<String>> {
        let mut paths = Vec::new();
        self.array(4, |reader| {
            paths.push(reader.text()?.to_owned());
            Ok(())
        })?;
        Ok(paths)
    }

    /// A value that is not needed, of any type.
    pub(super) fn skip_variant(&mut self) -> Read<()> {
        self.skip_any(MAX_DEPTH)
    }

    /// That the value that follows has this type.
    pub(super) fn variant_of(&mut self, signature: &str) -> Read<()> {
        if self.signature()? == signature { Ok(()) } else { Err(malformed("a value has another type")) }
    }

    fn skip_any(&mut self, depth: usize) -> Read<()> {
        let signature = self.signature()?;
        match self.skip(signature.as_bytes(), depth)? {
            [] => Ok(()),
            _ => Err(malformed("a value has several types")),
        }
    }

    /// Skips a value of the first type in `signature` and gives the rest of it.
    fn skip<'s>(&mut self, signature: &'s [u8], depth: usize) -> Read<&'s [u8]> {
        let deeper = depth.checked_sub(1).ok_or(malformed("values are nested too deep"))?;
        let (first, rest) = signature.split_first().ok_or(malformed("a type is missing"))?;
        match first {
            b'y' | b'n' | b'q' | b'b' | b'i' | b'u' | b'h' | b'x' | b't' | b'd' => {
                let size = alignment(*first);
                self.align(size)?;
                self.take(size)?;
            }
            b's' | b'o' => drop(self.text()?),
            b'g' => drop(self.signature()?),
            b'v' => self.skip_any(deeper)?,
            b'a' => {
                let after = complete(rest, deeper)?;
                let length = self.length()?;
                self.align(alignment(rest.first().copied().unwrap_or_default()))?;
                self.take(length)?;
                return Ok(after);
            }
            b'(' => {
                self.align(8)?;
                let mut members = rest;
                while members.first() != Some(&b')') {
                    members = self.skip(members, deeper)?;
                }
                return Ok(members.get(1..).unwrap_or_default());
            }
            _ => return Err(malformed("a type is unknown")),
        }
        Ok(rest)
    }

    fn length(&mut self) -> Read<usize> {
        usize::try_from(self.number()?).map_err(|_| malformed("it is shorter than it says"))
    }

    /// Text with the NUL that ends it, and none before.
    fn ended(&mut self, length: usize) -> Read<&'a str> {
        let text = self.take(length)?;
        if self.byte()? != 0 || text.contains(&0) {
            return Err(malformed("a text does not end where it says"));
        }
        std::str::from_utf8(text).map_err(|_| malformed("a text is not UTF-8"))
    }
}

/// What a value of this type is aligned to; for numbers also how long it is.
const fn alignment(kind: u8) -> usize {
    match kind {
        b'n' | b'q' => 2,
        b'b' | b'i' | b'u' | b'h' | b's' | b'o' | b'a' => 4,
        b'x' | b't' | b'd' | b'(' | b'{' => 8,
        _ => 1,
    }
}

/// What comes after the first complete type.
fn complete(signature: &[u8], depth: usize) -> Read<&[u8]> {
    let deeper = depth.checked_sub(1).ok_or(malformed("values are nested too deep"))?;
    let (first, mut rest) = signature.split_first().ok_or(malformed("a type is missing"))?;
    match first {
        b'a' => complete(rest, deeper),
        b'(' | b'{' => {
            let end = if *first == b'(' { b')' } else { b'}' };
            while rest.first() != Some(&end) {
                rest = complete(rest, deeper)?;
            }
            Ok(rest.get(1..).unwrap_or_default())
        }
        b'y' | b'n' | b'q' | b'b' | b'i' | b'u' | b'h' | b'x' | b't' | b'd' | b's' | b'o' | b'g' | b'v' => {
            Ok(rest)
        }
        _ => Err(malformed("a type is unknown")),
    }
}

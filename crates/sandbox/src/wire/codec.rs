//! Values as bytes. Paths and arguments need not be UTF-8, so this is not JSON.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes that are no such value. Both sides are the same program, so this is a bug or an attack, never bad luck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message between metier and its helper is garbled")]
pub(crate) struct Garbled;

/// Writes values one after another.
#[derive(Debug, Default)]
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(crate) fn number(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn signed(&mut self, value: i32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Saturates: no limit of ours is near 500,000 years.
    pub(crate) fn duration(&mut self, value: Duration) -> &mut Self {
        self.number(u64::try_from(value.as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn text(&mut self, value: &OsStr) -> &mut Self {
        self.number(value.len() as u64);
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut each: impl FnMut(&mut Self, &T)) -> &mut Self {
        self.number(values.len() as u64);
        for value in values {
            each(self, value);
        }
        self
    }

    pub(crate) fn paths(&mut self, values: &[PathBuf]) -> &mut Self {
        self.list(values, |encoder, path| {
            encoder.text(path.as_os_str());
        })
    }
}

/// Reads values one after another. A count is never believed before its values are there.
#[derive(Debug)]
pub(crate) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Everything has been read.
    pub(crate) fn finish(self) -> Result<(), Garbled> {
        if self.0.is_empty() { Ok(()) } else { Err(Garbled) }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Garbled> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Garbled)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        self.take(N)?.try_into().map_err(|_| Garbled)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Garbled> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Garbled> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn signed(&mut self) -> Result<i32, Garbled> {
        self.array().map(i32::from_le_bytes)
    }

    pub(crate) fn duration(&mut self) -> Result<Duration, Garbled> {
        self.number().map(Duration::from_micros)
    }

    pub(crate) fn text(&mut self) -> Result<OsString, Garbled> {
        let length = usize::try_from(self.number()?).map_err(|_| Garbled)?;
        self.take(length).map(|bytes| OsString::from_vec(bytes.to_vec()))
    }

    pub(crate) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, Garbled>,
    ) -> Result<Vec<T>, Garbled> {
        let count = self.number()?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(each(self)?);
        }
        Ok(values)
    }

    pub(crate) fn paths(&mut self) -> Result<Vec<PathBuf>, Garbled> {
        self.list(|decoder| decoder.text().map(PathBuf::from))
    }
}

//! Takes secrets out of texts and streams.

mod marker;
mod matcher;
mod pattern;
mod scan;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::{Secret, SecretName};
use matcher::Matcher;
use scan::Scan;

/// Takes a set of secrets out of whatever is shown, kept or sent: in place of each stands `[secret NAME]`.
///
/// It finds each secret as it is and in every encoding in which values turn up by accident, also across line ends and, with
/// [`Redactor::stream`], across writes. Copies share what they look for. Without secrets it costs nothing and copies nothing.
///
/// ```
/// use metier_secret::{Redactor, Secret};
///
/// let name = "TOKEN".parse()?;
/// let secret = Secret::new("s3cr3t-t0ken".to_owned())?;
/// let redactor = Redactor::new([(&name, &secret)])?;
/// assert_eq!(redactor.text("Bearer s3cr3t-t0ken"), "Bearer [secret TOKEN]");
///
/// let mut stream = redactor.stream();
/// assert_eq!(*stream.push(b"key: s3cr"), *b"key: ");
/// assert_eq!(*stream.push(b"3t-t0ken\n"), *b"[secret TOKEN]\n");
/// assert_eq!(stream.finish(), b"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    matcher: Option<Arc<Matcher>>,
}

/// The secrets are too many to be looked for. Nothing may be shown then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secrets cannot be looked for in outputs, so nothing runs with them: {reason}; remove some, or shorten the longest"
)]
pub struct RedactorError {
    reason: String,
}

impl Redactor {
    /// Looks for these secrets. The order decides nothing but which of two names stands for a value that both have.
    pub fn new<'a>(
        secrets: impl IntoIterator<Item = (&'a SecretName, &'a Secret)>,
    ) -> Result<Self, RedactorError> {
        let secrets: Vec<_> = secrets.into_iter().collect();
        if secrets.is_empty() {
            return Ok(Self::default());
        }
        let matcher = Matcher::new(&secrets).map_err(|error| RedactorError { reason: error.to_string() })?;
        Ok(Self { matcher: Some(Arc::new(matcher)) })
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.matcher.is_none()
    }

    /// Bytes without the secrets; the same bytes, not copied, where there are none.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut stream = self.stream();
        let begin = stream.push(bytes);
        if stream.is_idle() {
            return begin;
        }
        let mut all = begin.into_owned();
        all.extend(stream.finish());
        if all == bytes { Cow::Borrowed(bytes) } else { Cow::Owned(all) }
    }

    /// Text without the secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A secret in UTF-16 can begin in the middle of a character; what is left of that one is replaced.
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// A stream without the secrets. Each stream (standard output, standard error) needs its own.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream { matcher: self.matcher.clone(), scan: Scan::default(), held: Vec::new() }
    }
}

impl fmt::Debug for Redactor {
    /// What is looked for is what must not be shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Redactor(nothing)" } else { "Redactor(…)" })
    }
}

/// One stream from which secrets are taken out while it comes.
///
/// What could be the beginning of a secret is held back until it is known to be none: a few characters at the end of a
/// write in most cases, at most one piece of a secret with the line ends in it.
pub struct RedactedStream {
    matcher: Option<Arc<Matcher>>,
    scan: Scan,
    held: Vec<u8>,
}

impl RedactedStream {
    /// The next bytes in, and out whatever can be shown by now.
    pub fn push<'a>(&mut self, chunk: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(matcher) = &self.matcher else {
            return Cow::Borrowed(chunk);
        };
        let before = self.held.len();
        self.scan.read(matcher, before, chunk);
        let end = self.scan.settled(matcher, before + chunk.len());
        if before == 0 && self.scan.is_clean_before(end) {
            // Nothing found: what may be shown is a part of what came, not a copy.
            let (shown, held) = chunk.split_at(end.min(chunk.len()));
            self.held.extend_from_slice(held);
            self.scan.forget(end);
            return Cow::Borrowed(shown);
        }
        self.held.extend_from_slice(chunk);
        let shown = self.scan.show(matcher, &self.held, end);
        self.held.drain(..end);
        self.scan.forget(end);
        Cow::Owned(shown)
    }

    /// What was held back, at the end of the stream. The stream begins anew after it.
    pub fn finish(&mut self) -> Vec<u8> {
        let Some(matcher) = &self.matcher else {
            return Vec::new();
        };
        let shown = self.scan.show(matcher, &self.held, self.held.len());
        self.held.clear();
        self.scan = Scan::default();
        shown
    }

    /// Whether nothing is held back.
    fn is_idle(&self) -> bool {
        self.held.is_empty()
    }
}

impl fmt::Debug for RedactedStream {
    /// What is held back may be a part of a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedactedStream(…)")
    }
}

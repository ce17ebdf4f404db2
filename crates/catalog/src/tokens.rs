//! How much of a model's window a text takes, as far as that can be known without the model's own tokenizer.

use serde::Serialize;

/// Bytes that count as one token. English prose has 4 to 5 with the tokenizers in use, so this errs on the careful side
/// and needs no table of a hundred thousand entries.
pub const BYTES_PER_TOKEN: usize = 4;

/// An estimate in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Tokens(pub usize);

impl Tokens {
    /// The estimate for a number of bytes, rounded up.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self(bytes.div_ceil(BYTES_PER_TOKEN))
    }

    /// The estimate for a text.
    pub const fn of(text: &str) -> Self {
        Self::of_bytes(text.len())
    }

    /// How many bytes fit.
    pub const fn bytes(self) -> usize {
        self.0.saturating_mul(BYTES_PER_TOKEN)
    }
}

impl std::fmt::Display for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_up_to_tokens() {
        for (bytes, tokens) in [(0, 0), (1, 1), (4, 1), (5, 2), (16_000, 4_000)] {
            assert_eq!(Tokens::of_bytes(bytes), Tokens(tokens), "{bytes}");
        }
        assert_eq!(Tokens::of("größe"), Tokens(2));
        assert_eq!(Tokens(4_000).bytes(), 16_000);
        assert_eq!(Tokens(usize::MAX).bytes(), usize::MAX);
    }
}

//! Where a page ended, for the client that asks for the next one.

use rmcp::ErrorData;

/// What stands before the key, so that a text that is none of ours is told from one that is.
const MARK: &str = "after:";

/// Where a page ended: behind this key. The next page begins with the first one that sorts behind it, so nothing is told twice
/// and nothing is left out when things come and go in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor(String);

impl Cursor {
    pub(super) fn behind(key: &str) -> Self {
        Self(key.to_owned())
    }

    /// Reads what a client gave; nothing is the beginning.
    pub(super) fn parse(text: Option<&str>) -> Result<Option<Self>, ErrorData> {
        let Some(text) = text else { return Ok(None) };
        match text.strip_prefix(MARK) {
            Some(key) if !key.is_empty() => Ok(Some(Self(key.to_owned()))),
            _ => Err(ErrorData::invalid_params("the cursor is not one of this server's", None)),
        }
    }

    pub(super) fn key(&self) -> &str {
        &self.0
    }

    /// The text that a client gives back.
    pub(super) fn text(&self) -> String {
        format!("{MARK}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        assert_eq!(Cursor::parse(None).unwrap(), None);
        let cursor = Cursor::behind("greet/a b.md");
        assert_eq!(Cursor::parse(Some(&cursor.text())).unwrap(), Some(cursor));
        for text in ["", "after:", "greet", "AFTER:greet"] {
            assert!(Cursor::parse(Some(text)).is_err(), "{text}");
        }
    }
}

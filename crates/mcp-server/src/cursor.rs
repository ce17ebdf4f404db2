//! Cursors for paginated lists.

use rmcp::ErrorData;

/// The prefix of every cursor, to reject strings from elsewhere.
const PREFIX: &str = "after:";

/// The last key of a page. The next page begins with the first key that sorts after it, so no item is repeated or skipped when
/// items come and go in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor(String);

impl Cursor {
    pub(crate) fn after(key: &str) -> Self {
        Self(key.to_owned())
    }

    /// Parses a client's cursor; `None` is the first page.
    pub(crate) fn parse(text: Option<&str>) -> Result<Option<Self>, ErrorData> {
        let Some(text) = text else { return Ok(None) };
        match text.strip_prefix(PREFIX) {
            Some(key) if !key.is_empty() => Ok(Some(Self(key.to_owned()))),
            _ => Err(ErrorData::invalid_params("invalid cursor", None)),
        }
    }

    pub(crate) fn key(&self) -> &str {
        &self.0
    }

    /// The string that a client sends back.
    pub(crate) fn text(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_round_trips_and_other_strings_are_rejected() {
        assert_eq!(Cursor::parse(None).unwrap(), None);
        let cursor = Cursor::after("greet/a b.md");
        assert_eq!(Cursor::parse(Some(&cursor.text())).unwrap(), Some(cursor));
        for text in ["", "after:", "greet", "AFTER:greet"] {
            assert!(Cursor::parse(Some(text)).is_err(), "{text}");
        }
    }
}

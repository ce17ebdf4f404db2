//! What a plain scalar is to the YAML readers of other clients. Here it is text until a key says otherwise; there
//! `yes`, `1:30` or `2024-01-31` may be something else, and a key that takes a text refuses it.

use crate::yaml::{Kind, Node, Style};

/// The reader whose rules count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// JavaScript's: YAML 1.2 words, YAML 1.1 numbers and dates.
    JavaScript,
    /// Python's: YAML 1.1 throughout.
    Python,
    /// Go's: YAML 1.2 words, dates.
    Go,
}

/// What a value is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Number,
    Date,
    Text,
    List,
    Map,
}

impl Type {
    /// The word users see.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Date => "a date",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Map => "a mapping",
        }
    }
}

impl Reader {
    /// What a value is.
    pub(super) fn type_of(self, node: &Node<'_>) -> Type {
        match &node.kind {
            Kind::Sequence(_) => Type::List,
            Kind::Mapping(_) => Type::Map,
            Kind::Scalar { text, style: Style::Plain } => self.plain(text),
            Kind::Scalar { .. } => Type::Text,
        }
    }

    /// What an unquoted text is.
    pub(super) fn plain(self, text: &str) -> Type {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Type::Null,
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Type::Boolean,
            "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF"
                if self == Self::Python =>
            {
                Type::Boolean
            }
            _ if self.is_number(text) => Type::Number,
            _ if is_date(text) => Type::Date,
            _ => Type::Text,
        }
    }

    fn is_number(self, text: &str) -> bool {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
            return true;
        }
        for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
            if let Some(digits) = unsigned.strip_prefix(prefix) {
                let is_known = prefix != "0o" || self == Self::Go;
                return is_known
                    && !digits.is_empty()
                    && digits.chars().all(|c| c == '_' || c.is_digit(radix));
            }
        }
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        if self != Self::Go && is_sexagesimal(unsigned) {
            return true;
        }
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        // Python's reader takes an exponent only behind a point and with a sign.
        let has_exponent = exponent.is_none_or(|exponent| {
            let signed = exponent.strip_prefix(['-', '+']);
            let is_allowed = self != Self::Python || (signed.is_some() && fraction.is_some());
            let number = signed.unwrap_or(exponent);
            is_allowed && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        let starts = whole.starts_with(|c: char| c.is_ascii_digit())
            || (whole.is_empty()
                && fraction.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit())));
        starts && digits(whole) && fraction.is_none_or(digits) && has_exponent
    }
}

/// `1:30` and `12:30:45.5`, which YAML 1.1 counts in sixties.
fn is_sexagesimal(text: &str) -> bool {
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    let starts = first.starts_with(|c: char| matches!(c, '1'..='9'));
    let mut rest = parts.peekable();
    starts
        && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
        && rest.peek().is_some()
        && rest.all(|part| {
            let part = part.split_once('.').map_or(part, |(whole, _)| whole);
            matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
        })
}

/// `2024-01-31`, with or without a time behind it.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is_day = digits(0..4)
        && bytes.get(4) == Some(&b'-')
        && digits(5..7)
        && bytes.get(7) == Some(&b'-')
        && digits(8..10);
    let rest = text.get(10..).unwrap_or_default();
    let time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z' | ' ');
    is_day
        && (rest.is_empty()
            || (rest.starts_with(['T', 't', ' ', '\t']) && rest.contains(':') && rest[1..].chars().all(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: [Type; 3]) {
        let found = [Reader::JavaScript, Reader::Python, Reader::Go].map(|reader| reader.plain(text));
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn readers_differ_in_what_is_no_text() {
        use Type::{Boolean, Date, Null, Number, Text};
        check("pdf", [Text; 3]);
        check("1.2.3", [Text; 3]);
        check("", [Null; 3]);
        check("~", [Null; 3]);
        check("true", [Boolean; 3]);
        check("yes", [Text, Boolean, Text]);
        check("y", [Text; 3]);
        check("12", [Number; 3]);
        check("-1.5", [Number; 3]);
        check("1e3", [Number, Text, Number]);
        check("1.0e+3", [Number; 3]);
        check("1:30", [Number, Number, Text]);
        check("01:30", [Text; 3]);
        check("0x1f", [Number; 3]);
        check("0o17", [Text, Text, Number]);
        check("2024-01-31", [Date; 3]);
        check("2024-01-31T10:00:00Z", [Date; 3]);
        check("2024-01-31 is a day", [Text; 3]);
        check("2024-01-31é", [Text; 3]);
        check("-", [Text; 3]);
        check(".", [Text; 3]);
        check("e5", [Text; 3]);
        check("_1", [Text; 3]);
    }
}

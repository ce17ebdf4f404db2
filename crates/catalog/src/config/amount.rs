//! An amount of money as somebody wrote it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An amount of money: a text such as `"0.15"`, with at most six places behind the point. A text, since a number with a
/// point is rounded before anybody sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub struct Amount {
    text: String,
    micros: u64,
}

/// A text is no amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no amount; write one such as \"0.15\", with at most six places behind the point")]
pub struct AmountError(String);

impl Amount {
    /// How many millionths it is.
    pub const fn micros(&self) -> u64 {
        self.micros
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl TryFrom<String> for Amount {
    type Error = AmountError;

    fn try_from(text: String) -> Result<Self, AmountError> {
        match micros(&text) {
            Some(micros) => Ok(Self { text, micros }),
            None => Err(AmountError(text)),
        }
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.text
    }
}

fn micros(text: &str) -> Option<u64> {
    let (whole, part) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, part)) => (whole, part),
        None => (text, ""),
    };
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_without_rounding() {
        for (text, expect) in [
            ("0.15", Some(150_000)),
            ("3", Some(3_000_000)),
            ("0.000001", Some(1)),
            ("", None),
            (".5", None),
            ("1.", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("0.0000001", None),
            ("99999999999999999999", None),
        ] {
            let amount = Amount::try_from(text.to_owned());
            assert_eq!(amount.ok().map(|amount| amount.micros()), expect, "{text:?}");
        }
    }
}

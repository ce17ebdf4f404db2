//! What a plain scalar means by YAML 1.2's core schema. Only asked where a key's own type does not decide.

use serde::ser::Serializer;

/// Nothing, `~`, `null`.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// `[-+]? (\. [0-9]+ | [0-9]+ (\. [0-9]*)?) ([eE] [-+]? [0-9]+)?`, the hexadecimal and octal forms, and the named ones.
fn is_number(text: &str) -> bool {
    if matches!(text.trim_start_matches(['-', '+']), ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
    {
        return true;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// Whether a plain scalar is text.
pub(super) fn is_text(text: &str) -> bool {
    !is_null(text) && boolean(text).is_none() && !is_number(text)
}

pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if is_null(text) {
        return serializer.serialize_unit();
    }
    if let Some(value) = boolean(text) {
        return serializer.serialize_bool(value);
    }
    match text.parse::<i64>() {
        Ok(value) if value.to_string() == text => serializer.serialize_i64(value),
        _ => match text.parse::<f64>() {
            Ok(value) if is_number(text) && value.is_finite() && value.to_string() == text => {
                serializer.serialize_f64(value)
            }
            _ => serializer.serialize_str(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_tells_text_from_numbers() {
        for number in ["1", "-1", "+1.5", "1e3", ".5", "1.", "0x1F", "0o17", ".inf", "-.inf", ".nan", "1.10"]
        {
            assert!(!is_text(number), "{number}");
        }
        for text in ["1.2.3", "v1", "-", "+", ".", "1e", "0x", "0o8", "yes", "on", "1 2", "e5", "~x"] {
            assert!(is_text(text), "{text}");
        }
    }
}

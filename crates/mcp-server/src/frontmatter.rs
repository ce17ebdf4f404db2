//! A frontmatter as JSON, as other parsers read it.

use metier_skill::yaml::{self, Kind, Node, Style};
use metier_skill::{is_canonical, split};
use serde_json::{Map, Number, Value};

use super::code::UnservableError;

/// The frontmatter of a `SKILL.md` as JSON, with keys in source order.
///
/// A host compares it field by field with what its own parser reads in the file. So nothing is repaired here, and plain scalars
/// follow the core schema of YAML 1.2: `1.10` is the number 1.1.
pub(crate) fn frontmatter(bytes: &[u8], name: &str) -> Result<Map<String, Value>, UnservableError> {
    let (range, _) = split(bytes).ok_or(UnservableError::Frontmatter)?;
    let text =
        bytes.get(range).and_then(|bytes| str::from_utf8(bytes).ok()).ok_or(UnservableError::Frontmatter)?;
    let tree = yaml::parse_fully(text, 0).ok().flatten().ok_or(UnservableError::Frontmatter)?;
    let Value::Object(map) = value(&tree)? else { return Err(UnservableError::Frontmatter) };
    match map.get("name") {
        Some(Value::String(written)) if written == name && is_canonical(name) => {}
        _ => return Err(UnservableError::Name),
    }
    match map.get("description") {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(map),
        _ => Err(UnservableError::Description),
    }
}

fn value(node: &Node<'_>) -> Result<Value, UnservableError> {
    match &node.kind {
        Kind::Scalar { text, style: Style::Plain } => plain(text),
        Kind::Scalar { text, .. } => Ok(Value::String(text.to_string())),
        Kind::Sequence(items) => items.iter().map(value).collect(),
        Kind::Mapping(entries) => {
            let mut map = Map::new();
            for entry in entries {
                // Parsers disagree about duplicate keys, and some reject the file.
                if map.insert(entry.key.to_string(), value(&entry.value)?).is_some() {
                    return Err(UnservableError::Frontmatter);
                }
            }
            Ok(Value::Object(map))
        }
    }
}

/// A plain scalar by the core schema of YAML 1.2.
fn plain(text: &str) -> Result<Value, UnservableError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        // JSON cannot express these, so hosts could not compare them.
        ".nan" | ".NaN" | ".NAN" => return Err(UnservableError::Frontmatter),
        _ if matches!(text.trim_start_matches(['-', '+']), ".inf" | ".Inf" | ".INF") => {
            return Err(UnservableError::Frontmatter);
        }
        _ => {}
    }
    Ok(number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')).map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with('+')).map(Number::from);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !unsigned.is_empty() && is_digits(unsigned) {
        let plain = text.strip_prefix('+').unwrap_or(text);
        let whole =
            plain.parse::<i64>().map(Number::from).or_else(|_| plain.parse::<u64>().map(Number::from));
        // An integer that is too large becomes a float, as in JSON parsers.
        return whole.ok().or_else(|| Number::from_f64(plain.parse().ok()?));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_float = is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && is_digits(exponent));
    if is_float { Number::from_f64(text.parse().ok()?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_keeps_its_value_and_order() {
        let text = "---\nname: x\ndescription: \"d: e\"\nversion: 1.10\nquoted: '1.10'\ncount: 0x1F\nold: 0o17\nyes: yes\non: true\n\
                    none:\nlist: [a, 2, ~]\nmetadata:\n  z: 1\n  a: 2\nlong: |\n  one\n  two\nplus: +3\nsmall: -1e-3\nversions: 1.2.3\n---\nBody\n";
        let map = frontmatter(text.as_bytes(), "x").unwrap();
        assert_eq!(
            Value::Object(map).to_string(),
            r#"{"name":"x","description":"d: e","version":1.1,"quoted":"1.10","count":31,"old":15,"yes":"yes","on":true,"none":null,"list":["a",2,null],"metadata":{"z":1,"a":2},"long":"one\ntwo\n","plus":3,"small":-0.001,"versions":"1.2.3"}"#
        );
    }

    #[test]
    fn ambiguous_frontmatter_is_not_served() {
        let check = |text: &str, expect: UnservableError| {
            assert_eq!(frontmatter(text.as_bytes(), "x").unwrap_err(), expect, "{text}");
        };
        check("name: x\ndescription: d\n", UnservableError::Frontmatter);
        check("---\nname: x\ndescription: a: b\n---\n", UnservableError::Frontmatter);
        check("---\nname: x\ndescription: d\nname: y\n---\n", UnservableError::Frontmatter);
        check("---\nname: x\ndescription: d\nlimit: .inf\n---\n", UnservableError::Frontmatter);
        check("---\n- x\n---\n", UnservableError::Frontmatter);
        check("---\nname: y\ndescription: d\n---\n", UnservableError::Name);
        check("---\nname: 1\ndescription: d\n---\n", UnservableError::Name);
        check("---\ndescription: d\n---\n", UnservableError::Name);
        check("---\nname: x\n---\n", UnservableError::Description);
        check("---\nname: x\ndescription: ' '\n---\n", UnservableError::Description);
        check("---\nname: x\ndescription: 1\n---\n", UnservableError::Description);
    }
}

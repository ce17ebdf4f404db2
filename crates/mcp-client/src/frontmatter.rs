//! Compares a file's frontmatter with the server's listing, field by field.

use std::collections::BTreeSet;

use metier_skill::yaml::{self, Kind, Node, Style};
use serde_json::{Map, Value};

/// A difference between a file and the listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontmatterDifference {
    /// The file has no readable frontmatter.
    #[error("cannot read its frontmatter: {0}")]
    Unreadable(String),
    /// A field has another value.
    #[error("`{0}` in its frontmatter differs from the listing")]
    Field(String),
    /// A listed field is missing.
    #[error("`{0}` is listed but missing in its frontmatter")]
    Missing(String),
    /// A field is not listed.
    #[error("`{0}` is in its frontmatter but not listed")]
    Unlisted(String),
}

/// The first difference between a file's frontmatter and the listing; `None` if they are equal.
///
/// A person approves the listing and a model reads the file, so they must be equal. Servers write listings with their own
/// libraries: numbers may be formatted differently and `yes` may be `true`, which count as equal.
pub fn frontmatter_difference(file: &[u8], listed: &Map<String, Value>) -> Option<FrontmatterDifference> {
    compare(file, listed).err()
}

fn compare(file: &[u8], listed: &Map<String, Value>) -> Result<(), FrontmatterDifference> {
    let unreadable = |why: &str| FrontmatterDifference::Unreadable(why.to_owned());
    let text = std::str::from_utf8(file).map_err(|_| unreadable("it is not UTF-8"))?;
    let (start, end) = bounds(text).ok_or_else(|| unreadable("no lines of `---` around it"))?;
    let tree = yaml::parse(&text[start..end], start).map_err(|error| unreadable(&error.message))?;
    let tree = tree.ok_or_else(|| unreadable("it is empty"))?;
    let Kind::Mapping(fields) = &tree.kind else { return Err(unreadable("it is not a mapping")) };
    let mut seen = BTreeSet::new();
    for field in fields {
        let key = field.key.to_string();
        // Parsers disagree about duplicate keys.
        if !seen.insert(key.clone()) {
            return Err(FrontmatterDifference::Field(key));
        }
        match listed.get(&key) {
            None => return Err(FrontmatterDifference::Unlisted(key)),
            Some(value) if !is_same(&field.value, value) => return Err(FrontmatterDifference::Field(key)),
            Some(_) => {}
        }
    }
    match listed.keys().find(|key| !seen.contains(*key)) {
        Some(key) => Err(FrontmatterDifference::Missing(key.clone())),
        None => Ok(()),
    }
}

/// The byte range of the frontmatter: after a first line of `---`, up to the next line of `---` or `...`. Only the standard form
/// is accepted, because servers must follow the standard.
fn bounds(text: &str) -> Option<(usize, usize)> {
    let opening = text.strip_prefix('\u{feff}').unwrap_or(text);
    let from = text.len() - opening.len();
    let mut lines = opening.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let start = from + first.len();
    let mut at = start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((start, at));
        }
        at += line.len();
    }
    None
}

fn is_same(node: &Node<'_>, value: &Value) -> bool {
    match (&node.kind, value) {
        (Kind::Scalar { text, style }, value) => is_same_scalar(text, *style, value),
        (Kind::Sequence(nodes), Value::Array(values)) => {
            nodes.len() == values.len() && nodes.iter().zip(values).all(|(node, value)| is_same(node, value))
        }
        (Kind::Mapping(fields), Value::Object(values)) => {
            let keys: BTreeSet<&str> = fields.iter().map(|field| &*field.key).collect();
            fields.len() == values.len()
                && keys.len() == fields.len()
                && fields
                    .iter()
                    .all(|field| values.get(&*field.key).is_some_and(|value| is_same(&field.value, value)))
        }
        _ => false,
    }
}

fn is_same_scalar(text: &str, style: Style, value: &Value) -> bool {
    let is_plain = style == Style::Plain;
    match value {
        Value::String(listed) => text == listed,
        Value::Null => is_plain && matches!(text, "" | "~" | "null" | "Null" | "NULL"),
        Value::Bool(listed) => {
            let parsed = match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "y" => Some(true),
                "false" | "no" | "off" | "n" => Some(false),
                _ => None,
            };
            is_plain && parsed == Some(*listed)
        }
        Value::Number(listed) => is_plain && is_same_number(text, listed),
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_same_number(text: &str, listed: &serde_json::Number) -> bool {
    let radix =
        |digits: Option<&str>, radix| digits.and_then(|digits| i64::from_str_radix(digits, radix).ok());
    let whole = text.parse::<i64>().ok();
    let whole =
        whole.or_else(|| radix(text.strip_prefix("0x"), 16)).or_else(|| radix(text.strip_prefix("0o"), 8));
    if let (Some(whole), Some(listed)) = (whole, listed.as_i64()) {
        return whole == listed;
    }
    // Equal digits give equal bits.
    match (text.parse::<f64>(), listed.as_f64()) {
        (Ok(number), Some(listed)) => number.is_finite() && number.to_bits() == listed.to_bits(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(frontmatter: &str, listed: &Value, expect: &str) {
        let file = format!("---\n{frontmatter}---\nBody with `---` in it.\n");
        let found = frontmatter_difference(file.as_bytes(), listed.as_object().unwrap());
        let found = found.map_or_else(String::new, |found| found.to_string());
        assert_eq!(found, expect, "{frontmatter}");
    }

    #[test]
    fn different_spellings_of_a_value_are_equal() {
        let listed = json!({
            "name": "a", "description": "b: c", "version": 1.1, "n": 10, "flag": true, "old": true, "none": null,
            "list": ["x", 2], "map": { "k": { "l": "m" } }, "text": "1.10", "quoted": "true"
        });
        check(
            "name: a\ndescription: 'b: c'\nversion: 1.10\nn: 10\nflag: true\nold: yes\nnone:\nlist: [x, 2]\nmap:\n  k: {l: m}\ntext: 1.10\nquoted: \"true\"\n",
            &listed,
            "",
        );
        check("name: a\r\nhex: 0x1F\r\n", &json!({ "name": "a", "hex": 31 }), "");
    }

    #[test]
    fn every_difference_is_reported_with_its_field() {
        let listed = json!({ "name": "a", "description": "b" });
        for (frontmatter, expect) in [
            ("name: a\ndescription: c\n", "`description` in its frontmatter differs from the listing"),
            ("name: a\n", "`description` is listed but missing in its frontmatter"),
            (
                "name: a\ndescription: b\nallowed-tools: Bash\n",
                "`allowed-tools` is in its frontmatter but not listed",
            ),
            ("name: a\ndescription: b\nname: z\n", "`name` in its frontmatter differs from the listing"),
            ("- name\n", "cannot read its frontmatter: it is not a mapping"),
        ] {
            check(frontmatter, &listed, expect);
        }
        check(
            "name: a\nx: \"3\"\n",
            &json!({ "name": "a", "x": 3 }),
            "`x` in its frontmatter differs from the listing",
        );
        check(
            "name: a\nx: [a]\n",
            &json!({ "name": "a", "x": ["a", "b"] }),
            "`x` in its frontmatter differs from the listing",
        );
        check(
            "name: a\nx: {b: 1}\n",
            &json!({ "name": "a", "x": {} }),
            "`x` in its frontmatter differs from the listing",
        );
    }

    #[test]
    fn a_file_without_frontmatter_is_unreadable() {
        for file in ["", "---\n", "---\nname: a\n", "# Title\n---\nname: a\n---\n", "name: a\n---\n"] {
            let found = frontmatter_difference(file.as_bytes(), &Map::new());
            assert!(matches!(found, Some(FrontmatterDifference::Unreadable(_))), "{file:?}: {found:?}");
        }
        assert!(frontmatter_difference(b"---\n\xff: 1\n---\n", &Map::new()).is_some());
    }
}

//! JSON schemas in the part of the language that Gemini takes. It refuses a whole request for one keyword too many.

use serde_json::{Map, Value, json};

/// What is taken over as it is.
const KEPT: &[&str] = &[
    "title",
    "description",
    "default",
    "required",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "nullable",
    "propertyOrdering",
];

/// The formats that it knows.
const FORMATS: &[&str] = &["enum", "date-time", "int32", "int64", "float", "double"];

/// How deep a schema is followed. A schema that refers to itself has no end, and Gemini takes no references; schemas of
/// tools are rarely deeper than four.
const MAX_DEPTH: u32 = 12;

/// The schema without what Gemini refuses. It may allow more than before; what a model gives is held against the whole
/// schema by whoever carries the call out.
pub(super) fn narrowed(schema: &Value) -> Value {
    part(schema, schema, 0)
}

fn part(schema: &Value, root: &Value, depth: u32) -> Value {
    let Some(own) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        // `true`, `{}` and what is too deep: anything goes.
        return json!({});
    };
    if let Some(target) =
        own.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?))
    {
        let mut found = part(target, root, depth + 1);
        // What stands beside a reference says more about this place than the target does.
        if let (Some(found), Some(text)) = (found.as_object_mut(), own.get("description")) {
            found.insert("description".to_owned(), text.clone());
        }
        return found;
    }
    let mut out = Map::new();
    kinds(own, &mut out);
    for (key, value) in own {
        match key.as_str() {
            key if KEPT.contains(&key) => drop(out.insert(key.to_owned(), value.clone())),
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                out.insert(key.clone(), value.clone());
            }
            "enum" => choices(value.as_array().map_or(&[], Vec::as_slice), &mut out),
            "const" => choices(std::slice::from_ref(value), &mut out),
            "items" => drop(out.insert(key.clone(), part(value, root, depth + 1))),
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                let fields: Map<String, Value> =
                    fields.map(|(name, field)| (name.clone(), part(field, root, depth + 1))).collect();
                // An object without fields is refused; one that says nothing about them is not.
                if !fields.is_empty() {
                    out.insert(key.clone(), fields.into());
                }
            }
            "anyOf" | "oneOf" => {
                let ways = value.as_array().into_iter().flatten();
                let (nothing, ways): (Vec<_>, Vec<_>) =
                    ways.partition(|way| way.get("type").and_then(Value::as_str) == Some("null"));
                if !nothing.is_empty() {
                    out.insert("nullable".to_owned(), true.into());
                }
                let mut ways: Vec<Value> = ways.into_iter().map(|way| part(way, root, depth + 1)).collect();
                match (ways.len(), ways.pop()) {
                    (1, Some(Value::Object(only))) => out.extend(only),
                    (_, last) => {
                        ways.extend(last);
                        out.insert("anyOf".to_owned(), ways.into());
                    }
                }
            }
            // One part of "all of these" is taken over by its fields.
            "allOf" => {
                for way in value.as_array().into_iter().flatten() {
                    if let Value::Object(more) = part(way, root, depth + 1) {
                        for (key, value) in more {
                            out.entry(key).or_insert(value);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    without_strangers(&mut out);
    Value::Object(out)
}

/// One type, and whether nothing is one of the values. Several types are a choice.
fn kinds(own: &Map<String, Value>, out: &mut Map<String, Value>) {
    match own.get("type") {
        Some(Value::String(kind)) => drop(out.insert("type".to_owned(), kind.as_str().into())),
        Some(Value::Array(kinds)) => {
            if kinds.iter().any(|kind| kind == "null") {
                out.insert("nullable".to_owned(), true.into());
            }
            let mut rest: Vec<&Value> = kinds.iter().filter(|kind| *kind != "null").collect();
            match (rest.len(), rest.pop()) {
                (1, Some(kind)) => drop(out.insert("type".to_owned(), kind.clone())),
                (0, _) | (_, None) => {}
                _ => {
                    let ways =
                        kinds.iter().filter(|kind| *kind != "null").map(|kind| json!({ "type": kind }));
                    out.insert("anyOf".to_owned(), ways.collect());
                }
            }
        }
        // Fields without a type are an object's.
        _ if own.contains_key("properties") => drop(out.insert("type".to_owned(), "object".into())),
        _ => {}
    }
}

/// Choices are taken for texts only; others go into no keyword that Gemini has.
fn choices(values: &[Value], out: &mut Map<String, Value>) {
    if !values.is_empty() && values.iter().all(Value::is_string) {
        out.insert("enum".to_owned(), values.to_vec().into());
        out.entry("type").or_insert_with(|| "string".into());
    }
}

/// A required field that is not among the fields is refused.
fn without_strangers(out: &mut Map<String, Value>) {
    let fields = out.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(required) = out.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_some_and(|name| fields.contains_key(name)));
        if required.is_empty() {
            out.shift_remove("required");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_keywords_are_left_out_and_the_rest_is_kept() {
        let check = |schema: Value, expect: Value| assert_eq!(narrowed(&schema), expect, "{schema}");
        check(
            json!({"$schema": "x", "type": "object", "additionalProperties": false, "required": ["a", "gone"],
                "properties": {"a": {"type": "string", "format": "uri", "examples": ["x"], "description": "A."}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "description": "A."}}}),
        );
        check(json!({"type": ["string", "null"]}), json!({"nullable": true, "type": "string"}));
        check(
            json!({"type": ["string", "integer"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        );
        check(json!({"const": "x"}), json!({"enum": ["x"], "type": "string"}));
        check(json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer"}));
        check(
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!({"nullable": true, "type": "integer"}),
        );
        check(
            json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        );
        check(
            json!({"$defs": {"n": {"type": "string", "description": "N."}}, "type": "object",
                "properties": {"a": {"$ref": "#/$defs/n", "description": "Here."}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "description": "Here."}}}),
        );
        check(json!({"type": "object", "properties": {}}), json!({"type": "object"}));
        check(
            json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}),
            json!({"type": "integer", "maximum": 9}),
        );
        check(json!(true), json!({}));
    }

    #[test]
    fn a_schema_that_refers_to_itself_has_an_end() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert!(narrowed(&schema).to_string().len() < 2_000);
    }
}

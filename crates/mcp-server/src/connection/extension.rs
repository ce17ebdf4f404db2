//! Methods of the skills extension, which the SDK does not know.

use rmcp::ErrorData;
use serde_json::{Map, Value, json};

use super::{FILE_TTL_MS, LIST_TTL_MS};
use crate::cursor::Cursor;
use crate::files::SkillFiles;

/// A method of the skills extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtensionMethod {
    List,
    Get,
    ReadDirectory,
}

/// Parameters of these methods.
#[derive(Debug, Default)]
pub(super) struct MethodParams {
    uri: Option<String>,
    cursor: Option<Cursor>,
}

impl MethodParams {
    pub(super) fn of(params: Option<&Value>) -> Result<Self, ErrorData> {
        let text = |key: &str| match params.and_then(|params| params.get(key)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(ErrorData::invalid_params(format!("`{key}` is not a string"), None)),
        };
        Ok(Self { uri: text("uri")?, cursor: Cursor::parse(text("cursor")?.as_deref())? })
    }

    fn uri(&self) -> Result<&str, ErrorData> {
        self.uri.as_deref().ok_or_else(|| ErrorData::invalid_params("`uri` is missing", None))
    }
}

impl ExtensionMethod {
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "skills/list" => Some(Self::List),
            "skills/get" => Some(Self::Get),
            "resources/directory/read" => Some(Self::ReadDirectory),
            _ => None,
        }
    }

    /// The result without the fields of the stateless revision.
    pub(super) fn answer(
        self,
        files: &SkillFiles<'_>,
        asked: &MethodParams,
    ) -> Result<Map<String, Value>, ErrorData> {
        let (key, value, next) = match self {
            Self::List => {
                let page = files.skills(asked.cursor.as_ref());
                ("skills", Value::Array(page.items), page.next)
            }
            Self::Get => ("skill", files.skill(asked.uri()?)?, None),
            Self::ReadDirectory => {
                let page = files.directory(asked.uri()?, asked.cursor.as_ref())?;
                let items = serde_json::to_value(page.items)
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                ("resources", items, page.next)
            }
        };
        let mut answer = Map::new();
        answer.insert(key.to_owned(), value);
        if let Some(next) = next {
            answer.insert("nextCursor".to_owned(), json!(next.text()));
        }
        Ok(answer)
    }

    /// The additional fields of the stateless revision.
    pub(super) fn fields(self) -> Vec<(&'static str, Value)> {
        let mut fields = vec![("resultType", json!("complete"))];
        let fresh = match self {
            Self::List => Some(LIST_TTL_MS),
            Self::Get => Some(FILE_TTL_MS),
            Self::ReadDirectory => None,
        };
        if let Some(fresh) = fresh {
            fields.push(("ttlMs", json!(fresh)));
            fields.push(("cacheScope", json!("private")));
        }
        fields
    }
}

/// A result with these fields first.
pub(super) fn with(answer: Map<String, Value>, fields: Vec<(&'static str, Value)>) -> Value {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).chain(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_parsed_or_rejected() {
        let check = |params: Value, expect: Result<(Option<&str>, bool), &str>| {
            let found = MethodParams::of(Some(&params)).map(|asked| (asked.uri, asked.cursor.is_some()));
            let found = found.as_ref().map(|(uri, cursor)| (uri.as_deref(), *cursor));
            assert_eq!(found.map_err(|error| error.message.as_ref()), expect, "{params}");
        };
        check(json!({}), Ok((None, false)));
        check(json!({ "uri": "skill://a/SKILL.md" }), Ok((Some("skill://a/SKILL.md"), false)));
        check(json!({ "cursor": "after:a" }), Ok((None, true)));
        check(json!({ "cursor": null }), Ok((None, false)));
        check(json!({ "cursor": 1 }), Err("`cursor` is not a string"));
        check(json!({ "cursor": "x" }), Err("invalid cursor"));
        check(json!({ "uri": ["skill://a"] }), Err("`uri` is not a string"));
    }
}

//! What a model gave, held against what the tool takes.
//!
//! Models make small mistakes, and each costs a turn. Where one meaning is left, it is taken: the whole input as a text of
//! JSON, a number as a text of digits, a number where words are told, a list where one text is. Everything else is answered
//! with the field, what was expected and a call that works. A field that the tool does not have is left out and said.

use std::borrow::Cow;

use metier_exec::SkillArguments;
use serde_json::{Map, Value};

use super::form::{Field, FieldKind, Form};

/// How many references one call loads: each may be a page of 64 KiB, and no window holds more than these.
const MAX_REFERENCES: usize = 32;

/// How many fields that are not there are named.
const MAX_NAMES: usize = 5;

/// An input that can be read field by field. A field is asked for by the name it has in the [`Form`].
#[derive(Debug)]
pub struct Input<'a> {
    spec: &'static Form,
    fields: Cow<'a, Map<String, Value>>,
}

/// A reference that is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReferenceInput {
    pub(crate) path: String,
    pub(crate) offset: u64,
}

/// Why an input is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}; call {tool} with {example}", no_fields(.unknown))]
pub struct InputProblem {
    /// The field that is not there, if that is it.
    pub missing: Option<&'static str>,
    what: String,
    unknown: Vec<String>,
    tool: &'static str,
    example: &'static str,
}

fn no_fields(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" ({} is no field of it)", names.join(", ")),
    }
}

impl<'a> Input<'a> {
    /// Reads an input as a whole; its fields are judged when they are asked for.
    pub fn read(spec: &'static Form, arguments: &'a Value) -> Result<Self, InputProblem> {
        let fields = match arguments {
            Value::Object(fields) => Cow::Borrowed(fields),
            // Some clients leave out the input of a tool that needs none.
            Value::Null => Cow::Owned(Map::new()),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(fields)) => Cow::Owned(fields),
                _ => return Err(no_object(spec, arguments)),
            },
            _ => return Err(no_object(spec, arguments)),
        };
        Ok(Self { spec, fields })
    }

    /// A note for each field that the tool does not have: it was left out.
    pub fn notes(&self) -> impl Iterator<Item = String> + use<> {
        let name = self.spec.name;
        self.unknown().into_iter().map(move |field| format!("{field} is no field of {name} and was left out"))
    }

    /// The fields that the tool does not have.
    fn unknown(&self) -> Vec<String> {
        // The common case, without going through the fields twice.
        if self.fields.keys().all(|name| self.is_field(name)) {
            return Vec::new();
        }
        let names = self.fields.keys().filter(|name| !self.is_field(name));
        names.take(MAX_NAMES).map(|name| format!("`{}`", cut(name))).collect()
    }

    fn is_field(&self, name: &str) -> bool {
        self.spec.fields.iter().any(|field| field.is(name))
    }

    /// What was given for a field, by its own name or by what others call it. Null is nothing.
    fn given(&self, name: &str) -> Option<&Value> {
        let also = || self.field(name).map_or(&[][..], |field| field.also);
        let found = self.fields.get(name).or_else(|| also().iter().find_map(|other| self.fields.get(*other)));
        found.filter(|value| !value.is_null())
    }

    fn field(&self, name: &str) -> Option<&'static Field> {
        self.spec.fields.iter().find(|field| field.name == name)
    }

    /// A text that may be left out; what is blank counts as left out.
    pub fn optional_text(&self, name: &'static str) -> Result<Option<&str>, InputProblem> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    /// A text that has to be there and is taken to the byte, also where nothing is in it.
    pub fn bytes(&self, name: &'static str) -> Result<&str, InputProblem> {
        match self.given(name) {
            None => Err(self.missing(name, "missing")),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(self.problem(format!("`{name}` is {}, not a text", kind(other)))),
        }
    }

    /// Whether something is switched on.
    pub fn flag(&self, name: &'static str) -> Result<bool, InputProblem> {
        match self.given(name) {
            None => Ok(false),
            Some(Value::Bool(is)) => Ok(*is),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(other) => Err(self.problem(format!("`{name}` is {}, not true or false", kind(other)))),
        }
    }

    /// One of several words, or the first of them.
    pub fn choice(&self, name: &'static str) -> Result<&'static str, InputProblem> {
        let words = match self.field(name).map(|field| field.kind) {
            Some(FieldKind::Choice(words)) => words,
            _ => &[],
        };
        match self.given(name) {
            None => Ok(words.first().copied().unwrap_or_default()),
            Some(value) => words
                .iter()
                .copied()
                .find(|word| value.as_str() == Some(word))
                .ok_or_else(|| self.problem(format!("`{name}` is none of {}", words.join(", ")))),
        }
    }

    /// Short texts. One text counts as a list of one.
    pub fn texts(&self, name: &'static str) -> Result<Vec<String>, InputProblem> {
        match self.given(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(items)) => self.scalars(name, items),
            Some(other) => Err(self.problem(format!("`{name}` is {}, not a list of texts", kind(other)))),
        }
    }

    /// A text that has to be there.
    pub fn text(&self, name: &'static str) -> Result<&str, InputProblem> {
        match self.given(name) {
            None => Err(self.missing(name, "missing")),
            Some(Value::String(text)) if text.trim().is_empty() => Err(self.missing(name, "empty")),
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(self.problem(format!("`{name}` is {}, not a text", kind(other)))),
        }
    }

    /// What is told, if anything.
    pub fn words(&self, name: &'static str) -> Result<SkillArguments, InputProblem> {
        let takes_options = self.field(name).is_some_and(|field| field.kind == FieldKind::Options);
        match self.given(name) {
            None => Ok(SkillArguments::default()),
            Some(Value::String(text)) => Ok(SkillArguments::Text(text.clone())),
            Some(Value::Number(number)) => Ok(SkillArguments::Text(number.to_string())),
            Some(Value::Array(items)) => self.scalars(name, items).map(SkillArguments::List),
            Some(Value::Object(options)) if takes_options => {
                let mut words = Vec::new();
                for (option, value) in options {
                    let dashed = if option.starts_with('-') { option.clone() } else { format!("--{option}") };
                    match value {
                        Value::Bool(true) => words.push(dashed),
                        Value::Bool(false) | Value::Null => {}
                        value => {
                            let Some(value) = scalar(value) else {
                                let what = format!("`{name}.{}` is {}", cut(option), kind(value));
                                return Err(self.problem(format!("{what}, not a text or a number")));
                            };
                            words.extend([dashed, value]);
                        }
                    }
                }
                Ok(SkillArguments::List(words))
            }
            Some(other) => Err(self.problem(format!("`{name}` is {}, not a text", kind(other)))),
        }
    }

    /// A number, or what holds without it.
    pub fn number(&self, name: &'static str) -> Result<u64, InputProblem> {
        let (least, default) = match self.field(name).map(|field| field.kind) {
            Some(FieldKind::Number { least, default }) => (least, default),
            _ => (0, 0),
        };
        match self.given(name) {
            None => Ok(default),
            Some(value) => whole(value)
                .filter(|number| *number >= least)
                .ok_or_else(|| self.problem(format!("`{name}` is not a whole number of at least {least}"))),
        }
    }

    /// The references that are asked for.
    pub(crate) fn references(&self, name: &'static str) -> Result<Vec<ReferenceInput>, InputProblem> {
        let items = match self.given(name) {
            None => return Err(self.missing(name, "missing")),
            Some(Value::Array(items)) if items.is_empty() => return Err(self.missing(name, "empty")),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.problem(format!("`{name}` is {}, not a list", kind(other)))),
        };
        if items.len() > MAX_REFERENCES {
            let many = items.len();
            return Err(self.problem(format!("`{name}` has {many} entries, more than {MAX_REFERENCES}")));
        }
        items.iter().enumerate().map(|(at, item)| self.wanted(name, at, item)).collect()
    }

    fn wanted(&self, name: &str, at: usize, item: &Value) -> Result<ReferenceInput, InputProblem> {
        let field = |field: &str| match item.get(field) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
            _ => Err(self.problem(format!("`{name}[{at}].{field}` is missing or not a text"))),
        };
        let path = field("path")?;
        field("reason")?;
        let offset = match item.get("offset") {
            None | Some(Value::Null) => 0,
            Some(value) => whole(value)
                .ok_or_else(|| self.problem(format!("`{name}[{at}].offset` is not a whole number")))?,
        };
        Ok(ReferenceInput { path, offset })
    }

    fn scalars(&self, name: &str, items: &[Value]) -> Result<Vec<String>, InputProblem> {
        let texts: Option<Vec<String>> = items.iter().map(scalar).collect();
        texts.ok_or_else(|| self.problem(format!("`{name}` is a list of more than texts and numbers")))
    }

    fn missing(&self, name: &'static str, how: &str) -> InputProblem {
        InputProblem { missing: Some(name), ..self.problem(format!("`{name}` is {how}")) }
    }

    /// A problem of this input: what is wrong with it.
    pub fn problem(&self, what: String) -> InputProblem {
        InputProblem {
            missing: None,
            what,
            unknown: self.unknown(),
            tool: self.spec.name,
            example: self.spec.example,
        }
    }
}

fn no_object(spec: &'static Form, value: &Value) -> InputProblem {
    Input { spec, fields: Cow::Owned(Map::new()) }
        .problem(format!("the input is {}, not an object", kind(value)))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A name that a model made up, short enough to be said back.
pub(crate) fn cut(text: &str) -> String {
    metier_catalog::one_line(text, 100)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::toolset::{Surface, spec};

    fn problem(surface: Surface, tool: &str, arguments: &Value) -> String {
        problem_of(spec(surface, tool).unwrap(), arguments)
    }

    fn problem_of(spec: &'static Form, arguments: &Value) -> String {
        let read = || -> Result<(), InputProblem> {
            let input = Input::read(spec, arguments)?;
            for field in spec.fields {
                match field.kind {
                    FieldKind::Skill | FieldKind::Text => input.text(field.name).map(drop)?,
                    FieldKind::Words | FieldKind::Options => input.words(field.name).map(drop)?,
                    FieldKind::Number { .. } => input.number(field.name).map(drop)?,
                    FieldKind::References => input.references(field.name).map(drop)?,
                    FieldKind::Bytes => input.bytes(field.name).map(drop)?,
                    FieldKind::Flag => input.flag(field.name).map(drop)?,
                    FieldKind::Choice(_) => input.choice(field.name).map(drop)?,
                    FieldKind::Texts => input.texts(field.name).map(drop)?,
                }
            }
            Ok(())
        };
        read().map_or_else(|problem| problem.to_string(), |()| "fine".to_owned())
    }

    static EVERYTHING: Form = Form {
        name: "Demo",
        description: "Shows every kind.",
        fields: &[
            Field::required("content", FieldKind::Bytes, "A text.").or(&["text"]),
            Field::optional("all", FieldKind::Flag, "All of it."),
            Field::optional("mode", FieldKind::Choice(&["short", "long"]), "How."),
            Field::optional("tags", FieldKind::Texts, "Words."),
        ],
        example: r#"{"content": ""}"#,
    };

    #[test]
    fn kinds_of_general_tools_take_what_has_one_meaning() {
        let check = |arguments: Value, expect: &str| {
            let got = problem_of(&EVERYTHING, &arguments);
            let got = got.strip_suffix(r#"; call Demo with {"content": ""}"#).unwrap_or(&got);
            assert_eq!(got, expect, "{arguments}");
        };
        check(json!({ "content": "" }), "fine");
        check(json!({ "text": "x", "all": "true", "mode": "long", "tags": "one" }), "fine");
        check(json!({ "content": "x", "all": null, "mode": null, "tags": ["a", 1] }), "fine");
        check(json!({}), "`content` is missing");
        check(json!({ "content": 1 }), "`content` is a number, not a text");
        check(json!({ "content": "", "all": 1 }), "`all` is a number, not true or false");
        check(json!({ "content": "", "mode": "wide" }), "`mode` is none of short, long");
        check(json!({ "content": "", "tags": [{}] }), "`tags` is a list of more than texts and numbers");
        check(json!({ "content": "", "tags": {} }), "`tags` is an object, not a list of texts");
        let input = json!({ "text": "x", "other": 1 });
        let input = Input::read(&EVERYTHING, &input).unwrap();
        assert_eq!((input.bytes("content"), input.choice("mode")), (Ok("x"), Ok("short")));
        assert_eq!((input.unknown(), input.optional_text("mode")), (vec!["`other`".to_owned()], Ok(None)));
    }

    #[test]
    fn a_problem_names_the_field_what_was_expected_and_a_call_that_works() {
        let check = |arguments: Value, expect: &str| {
            let read = r#"; call skill_read_file with {"skill_name": "review-pr", "file_path": "references/style.md"}"#;
            let expect = if expect == "fine" { expect.to_owned() } else { format!("{expect}{read}") };
            assert_eq!(problem(Surface::Canonical, "skill_read_file", &arguments), expect, "{arguments}");
        };
        check(json!({ "skill_name": "a", "file_path": "b" }), "fine");
        check(json!(r#"{"skill_name": "a", "file_path": "b"}"#), "fine");
        check(json!({ "skill_name": "a", "file_path": "b", "offset": "65536" }), "fine");
        check(json!({ "skill_name": "a", "file_path": "b", "more": 1 }), "fine");
        check(json!({ "skill_name": "a" }), "`file_path` is missing");
        check(json!({ "skill_name": "a", "path": "b" }), "`file_path` is missing (`path` is no field of it)");
        check(json!({ "skill_name": "", "file_path": "b" }), "`skill_name` is empty");
        check(json!({ "skill_name": ["a"], "file_path": "b" }), "`skill_name` is a list, not a text");
        check(json!({ "skill_name": "a", "file_path": 7 }), "`file_path` is a number, not a text");
        check(
            json!({ "skill_name": "a", "file_path": "b", "offset": -1 }),
            "`offset` is not a whole number of at least 0",
        );
        check(
            json!({ "skill_name": "a", "file_path": "b", "offset": "x" }),
            "`offset` is not a whole number of at least 0",
        );
        check(json!(["a"]), "the input is a list, not an object");
        check(json!("a"), "the input is a text, not an object");
    }

    #[test]
    fn references_say_which_one_is_wrong() {
        let check = |resources: Value, expect: &str| {
            let text =
                problem(Surface::SkilledCrew, "load_skill_resources", &json!({ "resources": resources }));
            assert!(text.starts_with(expect), "{text}");
        };
        check(json!([{ "path": "references/a", "reason": "r" }]), "fine");
        check(json!([]), "`resources` is empty; call load_skill_resources with {\"resources\": [");
        check(json!("references/a"), "`resources` is a text, not a list; ");
        check(
            json!([{ "path": "references/a", "reason": "r" }, { "path": "x" }]),
            "`resources[1].reason` is missing or not a text; ",
        );
        check(json!(["references/a"]), "`resources[0].path` is missing or not a text; ");
        let many: Vec<Value> = (0..33).map(|_| json!({ "path": "p", "reason": "r" })).collect();
        check(json!(many), "`resources` has 33 entries, more than 32; ");
    }

    #[test]
    fn what_is_told_is_a_text_a_list_or_options() {
        let check = |args: Value, expect: SkillArguments| {
            let arguments = json!({ "args": args });
            let input = Input::read(spec(Surface::Adk, "run_skill_script").unwrap(), &arguments).unwrap();
            assert_eq!(input.words("args").unwrap(), expect);
        };
        let list =
            |words: &[&str]| SkillArguments::List(words.iter().map(|word| (*word).to_owned()).collect());
        check(Value::Null, SkillArguments::Text(String::new()));
        check(json!("a 'b c'"), SkillArguments::Text("a 'b c'".to_owned()));
        check(json!(128), SkillArguments::Text("128".to_owned()));
        check(json!(["a", 2]), list(&["a", "2"]));
        check(
            json!({ "out": "x y", "n": 3, "quiet": true, "loud": false, "-v": "1" }),
            list(&["--out", "x y", "--n", "3", "--quiet", "-v", "1"]),
        );
        let arguments = json!({ "skill_name": "a", "arguments": { "x": 1 } });
        assert!(
            problem(Surface::Canonical, "skill_use", &arguments)
                .starts_with("`arguments` is an object, not a text; ")
        );
    }
}

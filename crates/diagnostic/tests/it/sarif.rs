//! The SARIF view of a run with everything in it.

use crate::schema::complaints;
use metier_diagnostic::{Code, Diagnostic, Edit, Fix, Sarif, SarifTool, Severity, Span};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

static ODD: Code = Code::new("odd", Severity::Warning, "A thing is odd. It may work elsewhere.");
static WRONG: Code = Code::new("wrong", Severity::Error, "A thing is wrong.");
static UNUSED: Code = Code::new("unused", Severity::Info, "A thing is there.");

static LOOKED_FOR: &[&Code] = &[&UNUSED, &ODD];

const SOURCE: &str = "---\nnäme: a: b\n";

fn tool() -> SarifTool<'static> {
    SarifTool {
        name: "metier",
        version: "1.2.3",
        information_uri: Some("https://example.org"),
        help_base: Some("https://example.org/codes#"),
        codes: LOOKED_FOR,
    }
}

fn in_file(found: Diagnostic, path: &str) -> Diagnostic {
    found.in_file(&Arc::from(Path::new(path)))
}

fn diagnostics() -> Vec<Diagnostic> {
    let fix = Fix {
        label: "quote the value".to_owned(),
        edits: vec![Edit::insert(11, "'"), Edit::replace(14, 15, "b'"), Edit::delete(0, 1)],
    };
    vec![
        in_file(Diagnostic::new(&WRONG, "`a: b` is two"), "/project/my skill/SKILL.md")
            .at(Span::new(11, 15), SOURCE)
            .note("see [here](https://evil.example)")
            .help("quote it")
            .fix(fix.clone()),
        in_file(Diagnostic::new(&ODD, "odd as a whole").fix(fix), "/elsewhere/SKILL.md"),
        Diagnostic::new(&UNUSED, "nowhere").with_severity(Severity::Error),
    ]
}

fn document() -> Value {
    let source = |path: &Path| path.starts_with("/project").then_some(SOURCE);
    serde_json::to_value(Sarif::new(tool(), &diagnostics(), Path::new("/project"), source))
        .expect("it serializes")
}

#[test]
fn the_document_is_valid_by_the_official_schema() {
    assert_eq!(complaints(&document()), Vec::<String>::new());
    let empty = Sarif::new(SarifTool { codes: &[], ..tool() }, &[], Path::new(""), |_| None::<&str>);
    assert_eq!(complaints(&serde_json::to_value(empty).expect("it serializes")), Vec::<String>::new());
}

/// A schema that refuses nothing would prove nothing.
#[test]
fn the_schema_refuses_broken_documents() {
    let breaks: &[(&str, Value)] = &[
        ("/version", json!("2.0.0")),
        ("/runs/0/results/0/level", json!("fatal")),
        ("/runs/0/results/0/message", json!({})),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", json!(0)),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", json!("not a uri")),
        ("/runs/0/results/0/fixes/0/artifactChanges/0/replacements", json!([])),
        ("/runs/0/tool/driver/rules/0/helpUri", json!("no uri at all")),
        ("/runs/0/columnKind", json!("bytes")),
        ("/runs/0/tool", json!(null)),
    ];
    for (pointer, value) in breaks {
        let mut broken = document();
        *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not in the document")) =
            value.clone();
        assert!(!complaints(&broken).is_empty(), "the schema takes {value} at {pointer}");
    }
}

#[test]
fn rules_are_those_asked_for_and_those_found() {
    let driver = &document()["runs"][0]["tool"]["driver"];
    let ids: Vec<_> = driver["rules"].as_array().expect("rules").iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids, ["unused", "odd", "wrong"]);
    assert_eq!(
        driver["rules"][1],
        json!({
            "id": "odd",
            "shortDescription": {"text": "A thing is odd."},
            "fullDescription": {"text": "A thing is odd. It may work elsewhere."},
            "help": {"text": "A thing is odd. It may work elsewhere."},
            "helpUri": "https://example.org/codes#odd",
            "defaultConfiguration": {"level": "warning"},
            "properties": {"problem.severity": "warning", "tags": ["agent-skills"]},
        })
    );
}

#[test]
fn a_result_has_its_place_its_fix_and_its_fingerprint() {
    let run = &document()["runs"][0];
    assert_eq!(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///project/");
    let artifact = json!({"uri": "my%20skill/SKILL.md", "uriBaseId": "%SRCROOT%"});
    let region = |column: u32, end: u32, offset: u32, length: u32| {
        json!({"startLine": 2, "startColumn": column, "endLine": 2, "endColumn": end,
               "byteOffset": offset, "byteLength": length})
    };
    let result = &run["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["ruleIndex"], &result["level"]),
        (&json!("wrong"), &json!(2), &json!("error"))
    );
    let message = "`a: b` is two\nnote: see [here] (https://evil.example)\nhelp: quote it";
    assert_eq!(result["message"], json!({"text": message}));
    let place = json!({"artifactLocation": artifact, "region": region(7, 11, 11, 4)});
    assert_eq!(result["locations"], json!([{"physicalLocation": place}]));
    let replacements = json!([
        {"deletedRegion": region(7, 7, 11, 0), "insertedContent": {"text": "'"}},
        {"deletedRegion": region(10, 11, 14, 1), "insertedContent": {"text": "b'"}},
        {"deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2,
                           "byteOffset": 0, "byteLength": 1}},
    ]);
    assert_eq!(
        result["fixes"],
        json!([{"description": {"text": "quote the value"},
                "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}]}])
    );
    let fingerprint = result["partialFingerprints"]["metierLineHash/v1"].as_str().expect("a fingerprint");
    assert_eq!(fingerprint.len(), 18, "{fingerprint}");
}

#[test]
fn what_is_not_known_is_left_out_and_a_configured_level_is_said() {
    let results = &document()["runs"][0]["results"];
    let elsewhere = json!({"artifactLocation": {"uri": "file:///elsewhere/SKILL.md"}});
    assert_eq!(results[1]["locations"], json!([{"physicalLocation": elsewhere}]));
    let deleted = &results[1]["fixes"][0]["artifactChanges"][0]["replacements"][1]["deletedRegion"];
    assert_eq!(*deleted, json!({"byteOffset": 14, "byteLength": 1}));
    let root = json!({"artifactLocation": {"uri": ".", "uriBaseId": "%SRCROOT%"}});
    assert_eq!(results[2]["locations"], json!([{"physicalLocation": root}]));
    assert_eq!(results[2]["level"], "error");
}

#[test]
fn the_bytes_are_the_same_every_time() {
    let bytes = || {
        let sarif = Sarif::new(tool(), &diagnostics(), Path::new("/project"), |_| Some(SOURCE));
        serde_json::to_string(&sarif).expect("it serializes")
    };
    assert_eq!(bytes(), bytes());
    assert!(
        bytes()
            .starts_with(r#"{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0""#)
    );
}

//! Diagnostics for code scanning and editors: a SARIF 2.1.0 document.

use crate::fingerprint::Fingerprints;
use crate::sources::Sources;
use crate::uri::Uri;
use crate::visible::visible_lines;
use crate::{Code, Diagnostic, Edit, Fix, Place, Severity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The name SARIF gives to the folder that relative URIs start from.
const ROOT: &str = "%SRCROOT%";

/// Who speaks in a SARIF document, and about what it could.
#[derive(Clone, Copy, Debug)]
pub struct SarifTool<'a> {
    /// The program's name.
    pub name: &'a str,
    /// The program's version.
    pub version: &'a str,
    /// Where the program is described; an absolute URI.
    pub information_uri: Option<&'a str>,
    /// What stands before a code's name in the URI of its description, such as `https://example.org/codes#`.
    pub help_base: Option<&'a str>,
    /// The codes that were looked for, in the order of the document. Codes that were found besides follow them.
    pub codes: &'a [&'static Code],
}

/// One run as a SARIF 2.1.0 document: serialize it, the keys stand in a fixed order.
#[derive(Debug, Serialize)]
pub struct Sarif {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

impl Sarif {
    /// The document of these diagnostics, in their order.
    ///
    /// Paths below `root` become URIs relative to it, and relative paths are taken to be; an absolute `root` is named
    /// in the document. A diagnostic without a path is about the root itself, since code scanning takes no result
    /// without a location. `source` gives the text of a file where it is at hand; without it places have no end, fixes
    /// have bytes only, and fingerprints fall back on the message.
    pub fn new<S: AsRef<str>>(
        tool: SarifTool<'_>,
        diagnostics: &[Diagnostic],
        root: &Path,
        source: impl FnMut(&Path) -> Option<S>,
    ) -> Self {
        let mut codes: Vec<&'static Code> = tool.codes.to_vec();
        let mut indices = BTreeMap::new();
        for (index, code) in codes.iter().enumerate() {
            indices.entry(code.name()).or_insert(index);
        }
        let mut sources = Sources::new(source);
        let mut fingerprints = Fingerprints::default();
        let results = diagnostics.iter().map(|diagnostic| {
            let rule_index = *indices.entry(diagnostic.code.name()).or_insert_with(|| {
                codes.push(diagnostic.code);
                codes.len() - 1
            });
            let path = diagnostic.path.as_deref();
            let uri = Uri::of(path.unwrap_or(Path::new("")), root);
            let source = sources.of(path);
            let line_hash = fingerprints.next(diagnostic, uri.as_str(), source);
            result(diagnostic, rule_index, &uri, source, line_hash)
        });
        let results = results.collect();
        let driver = Driver {
            name: tool.name.to_owned(),
            version: tool.version.to_owned(),
            information_uri: tool.information_uri.map(str::to_owned),
            rules: codes.iter().map(|code| Rule::of(code, tool.help_base)).collect(),
        };
        let root = BaseId {
            uri: Uri::of_folder(root),
            description: text("the folder that relative paths start from"),
        };
        Self {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [Run {
                tool: Tool { driver },
                original_uri_base_ids: BTreeMap::from([(ROOT, root)]),
                column_kind: "unicodeCodePoints",
                results,
            }],
        }
    }
}

fn result(
    diagnostic: &Diagnostic,
    rule_index: usize,
    uri: &Uri,
    source: Option<&str>,
    line_hash: String,
) -> SarifResult {
    // Without a path the location is the root, of which no line can be named and nothing replaced.
    let in_file = diagnostic.path.is_some();
    let region = diagnostic.place.filter(|_| in_file).map(|place| Region::of(place, source));
    let fix = diagnostic.fix.as_ref().filter(|fix| in_file && !fix.edits.is_empty());
    SarifResult {
        rule_id: diagnostic.code.name(),
        rule_index,
        level: level(diagnostic.severity()),
        message: message(&diagnostic.full_message()),
        locations: [Location {
            physical_location: Physical { artifact_location: Artifact::of(uri), region },
        }],
        fixes: fix.map(|fix| [SarifFix::of(fix, uri, source)]),
        partial_fingerprints: PartialFingerprints { line_hash },
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn text(text: impl Into<String>) -> Text {
    Text { text: text.into() }
}

/// A stranger's words as a message. Viewers make links of `[words](place)`, so none is left in them.
fn message(words: &str) -> Text {
    text(visible_lines(words).replace("](", "] ("))
}

impl Rule {
    fn of(code: &'static Code, help_base: Option<&str>) -> Self {
        let summary = code.summary();
        let first = summary.find(". ").map_or(summary, |at| &summary[..=at]);
        Self {
            id: code.name(),
            short_description: text(first),
            full_description: text(summary),
            help: text(summary),
            help_uri: help_base.map(|base| format!("{base}{}", code.name())),
            default_configuration: Configuration { level: level(code.severity()) },
            properties: Properties {
                severity: match code.severity() {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Info => "recommendation",
                },
                tags: ["agent-skills"],
            },
        }
    }
}

impl Artifact {
    fn of(uri: &Uri) -> Self {
        let base = matches!(uri, Uri::Relative(_)).then_some(ROOT);
        Self { uri: uri.as_str().to_owned(), uri_base_id: base }
    }
}

impl Region {
    fn of(place: Place, source: Option<&str>) -> Self {
        let end = source.map(|source| place.end(source));
        let lines = Lines {
            start_line: place.position.line,
            start_column: place.position.column,
            end_line: end.map(|end| end.line),
            end_column: end.map(|end| end.column),
        };
        Self { lines: Some(lines), ..Self::of_bytes(place.span) }
    }

    fn of_bytes(span: crate::Span) -> Self {
        let byte_length = span.end.saturating_sub(span.start);
        Self { lines: None, byte_offset: span.start, byte_length }
    }
}

impl SarifFix {
    fn of(fix: &Fix, uri: &Uri, source: Option<&str>) -> Self {
        let replacement = |edit: &Edit| Replacement {
            deleted_region: match source {
                Some(source) => Region::of(Place::of(edit.span, source), Some(source)),
                None => Region::of_bytes(edit.span),
            },
            inserted_content: (!edit.text.is_empty()).then(|| text(&edit.text)),
        };
        Self {
            description: message(&fix.label),
            artifact_changes: [ArtifactChange {
                artifact_location: Artifact::of(uri),
                replacements: fix.edits.iter().map(replacement).collect(),
            }],
        }
    }
}

/// Declares the objects of the format, whose keys are written as SARIF writes them and left out when absent.
macro_rules! objects {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $kind:ty,)+ })+) => {
        $(
            #[derive(Debug, Serialize)]
            #[serde(rename_all = "camelCase")]
            struct $name { $($(#[$meta])* $field: $kind,)+ }
        )+
    };
}

objects! {
    Run {
        tool: Tool,
        original_uri_base_ids: BTreeMap<&'static str, BaseId>,
        column_kind: &'static str,
        results: Vec<SarifResult>,
    }
    Tool { driver: Driver, }
    Driver {
        name: String,
        version: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        information_uri: Option<String>,
        rules: Vec<Rule>,
    }
    Rule {
        id: &'static str,
        short_description: Text,
        full_description: Text,
        help: Text,
        #[serde(skip_serializing_if = "Option::is_none")]
        help_uri: Option<String>,
        default_configuration: Configuration,
        properties: Properties,
    }
    Configuration { level: &'static str, }
    Properties {
        #[serde(rename = "problem.severity")]
        severity: &'static str,
        tags: [&'static str; 1],
    }
    BaseId {
        #[serde(skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
        description: Text,
    }
    Text { text: String, }
    SarifResult {
        rule_id: &'static str,
        rule_index: usize,
        level: &'static str,
        message: Text,
        locations: [Location; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        fixes: Option<[SarifFix; 1]>,
        partial_fingerprints: PartialFingerprints,
    }
    Location { physical_location: Physical, }
    Physical {
        artifact_location: Artifact,
        #[serde(skip_serializing_if = "Option::is_none")]
        region: Option<Region>,
    }
    Artifact {
        uri: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        uri_base_id: Option<&'static str>,
    }
    Region {
        #[serde(flatten)]
        lines: Option<Lines>,
        byte_offset: u32,
        byte_length: u32,
    }
    Lines {
        start_line: u32,
        start_column: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        end_line: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        end_column: Option<u32>,
    }
    SarifFix { description: Text, artifact_changes: [ArtifactChange; 1], }
    ArtifactChange { artifact_location: Artifact, replacements: Vec<Replacement>, }
    Replacement {
        deleted_region: Region,
        #[serde(skip_serializing_if = "Option::is_none")]
        inserted_content: Option<Text>,
    }
    PartialFingerprints {
        #[serde(rename = "metierLineHash/v1")]
        line_hash: String,
    }
}

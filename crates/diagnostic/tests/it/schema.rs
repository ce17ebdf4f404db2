//! The official SARIF 2.1.0 schema, out of the package of a crate that carries it.

use jsonschema::Validator;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The package that carries the schema; a dev-dependency that is fetched and locked, never compiled.
const CARRIER: &str = "serde-sarif";

/// The compiled schema, made once for all tests.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let path = carrier().join("src/schema.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("the SARIF schema is not at {}: {error}", path.display()));
    // The official text has a bracket too many in the pattern of `language`, which a strict reader of patterns refuses.
    // metier writes no `language`, and the rest is judged as it stands.
    let text = text.replace("{2}]?$", "{2}$");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    assert_eq!(
        schema["title"],
        "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema",
        "{} is not the schema",
        path.display()
    );
    jsonschema::options().should_validate_formats(true).build(&schema).expect("the schema is a JSON schema")
});

/// The folder of the carrier, which cargo knows wherever it keeps its packages.
fn carrier() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo metadata has no answer; without a network, run `cargo fetch` once before: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata answers JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages.iter().find(|package| package["name"] == CARRIER);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest =
        manifest.unwrap_or_else(|| panic!("`{CARRIER}` is no dependency of the workspace any more"));
    Path::new(manifest).parent().expect("a manifest lies in a folder").to_path_buf()
}

/// What the schema has against a document.
pub(crate) fn complaints(document: &Value) -> Vec<String> {
    SCHEMA.iter_errors(document).map(|error| format!("{error} at {}", error.instance_path())).collect()
}

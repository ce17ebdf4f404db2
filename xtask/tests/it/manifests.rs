//! Every crate takes the workspace's lints and package fields, so that one change reaches all of them.

use toml::{Table, Value};

use crate::none;
use crate::workspace::{METADATA, beside_manifest, file};

/// Package fields that are the same everywhere.
const SHARED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

fn problems(path: &str, manifest: &Table) -> Vec<String> {
    let mut problems = Vec::new();
    if !inherits(manifest.get("lints")) {
        problems.push(format!(
            "{path} does not take the workspace's lints; add `[lints]` with `workspace = true`"
        ));
    }
    let package = manifest.get("package").and_then(Value::as_table);
    for field in SHARED {
        if !inherits(package.and_then(|package| package.get(*field))) {
            problems.push(format!("{path} has its own `{field}`; write `{field}.workspace = true`"));
        }
    }
    if package.and_then(|package| package.get("description")).is_none() {
        problems.push(format!("{path} has no `description`; say in one line what the crate answers"));
    }
    problems
}

fn inherits(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool).unwrap_or(false)
}

#[test]
fn every_crate_inherits_from_the_workspace() {
    let mut found = Vec::new();
    for package in METADATA.workspace_packages() {
        let path = beside_manifest(package, "Cargo.toml");
        let text = file(&path).expect("a member has a manifest");
        found.extend(problems(&path, &text.parse().expect("a manifest is TOML")));
    }
    none(&found);
}

const GOOD: &str = "
[package]
description = 'What is a skill?'
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true
[lints]
workspace = true
";

fn judge(text: &str) -> Vec<String> {
    problems("crates/x/Cargo.toml", &text.parse().expect("the example is TOML"))
}

#[test]
fn a_manifest_that_inherits_is_good() {
    none(&judge(GOOD));
}

#[test]
fn own_lints_an_own_field_and_no_description_are_problems() {
    let found = judge(&GOOD.replace("[lints]\nworkspace = true", "[lints.clippy]\npedantic = 'allow'"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("does not take the workspace's lints"));
    let found = judge(&GOOD.replace("edition.workspace = true", "edition = '2021'"));
    assert_eq!(found, ["crates/x/Cargo.toml has its own `edition`; write `edition.workspace = true`"]);
    let found = judge(&GOOD.replace("description", "homepage"));
    assert_eq!(found.len(), 1, "{found:?}");
}

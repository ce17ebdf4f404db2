//! Every dependency may be shipped under metier's own licences. cargo-deny holds that too, where it is installed.

use toml::Table;

use crate::none;
use crate::spdx::satisfied;
use crate::workspace::{METADATA, file};

/// The list that cargo-deny reads.
fn allowed(deny: &str) -> Vec<String> {
    let table: Table = deny.parse().expect("deny.toml is TOML");
    let list = table["licenses"]["allow"].as_array().expect("deny.toml lists the allowed licences");
    list.iter().filter_map(|name| name.as_str()).map(str::to_owned).collect()
}

fn problem(package: &str, licence: Option<&str>, allowed: &[String]) -> Option<String> {
    let Some(licence) = licence else {
        return Some(format!("`{package}` names no licence; do without it"));
    };
    match satisfied(licence, allowed) {
        Some(true) => None,
        Some(false) => Some(format!(
            "`{package}` is under {licence}, which deny.toml does not allow; do without it, or argue for the licence \
             there"
        )),
        None => {
            Some(format!("`{package}` has a licence that cannot be read: {licence:?}; look at it by hand"))
        }
    }
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed = allowed(&file("deny.toml").expect("deny.toml is there"));
    let problems: Vec<String> = METADATA
        .packages
        .iter()
        .filter_map(|package| {
            let name = format!("{} {}", package.name, package.version);
            problem(&name, package.license.as_deref(), &allowed)
        })
        .collect();
    none(&problems);
}

#[test]
fn the_project_has_both_of_its_licences() {
    for (path, beginning) in [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "Apache License")] {
        let text = file(path).unwrap_or_default();
        assert!(text.trim_start().starts_with(beginning), "{path} is not the {beginning}");
    }
}

#[test]
fn a_licence_that_is_not_allowed_missing_or_unreadable_is_a_problem() {
    let allowed = allowed("[licenses]\nallow = ['MIT']\n");
    assert_eq!(allowed, ["MIT"]);
    assert_eq!(problem("a 1.0.0", Some("MIT OR Apache-2.0"), &allowed), None);
    assert!(problem("a 1.0.0", Some("AGPL-3.0-only"), &allowed).is_some_and(|text| text.contains("AGPL")));
    assert!(problem("a 1.0.0", None, &allowed).is_some_and(|text| text.contains("no licence")));
    assert!(problem("a 1.0.0", Some("see LICENSE"), &allowed).is_some_and(|text| text.contains("by hand")));
}

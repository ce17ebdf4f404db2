//! Every dependency is used where it is declared, and the workspace's manifest says why it is there.

use cargo_metadata::DependencyKind;

use crate::none;
use crate::workspace::{METADATA, SOURCES, Source, beside_manifest, file};

/// Dependencies that no source names, and why they are declared.
const NOT_NAMED: &[(&str, &str)] = &[
    // Chooses the Unicode tables of `idna` by its version.
    ("metier-policy", "idna_adapter"),
    // Never compiled: its package carries a schema that the tests read.
    ("metier-diagnostic", "serde-sarif"),
];

/// Whether a source names a crate: in a path or a macro (`name::…`), or in a `use` of the crate itself.
fn names(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let is_used = before.ends_with("use ") && (after.starts_with(';') || after.starts_with(" as "));
        is_whole && (after.starts_with("::") || is_used)
    })
}

fn is_named(sources: &[&Source], kind: DependencyKind, name: &str) -> bool {
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    sources.iter().any(|source| match kind {
        // Examples in the documentation are tests.
        DependencyKind::Development => source.text.lines().any(|line| names(line, name)),
        _ => !source.is_test() && source.product_lines().any(|line| !is_comment(line) && names(line, name)),
    })
}

/// The sources of a crate, without those of a crate in a folder below.
fn sources<'a>(folder: &str, all: &'a [Source]) -> Vec<&'a Source> {
    let parts = ["build.rs", "src/", "tests/", "examples/", "benches/"].map(|part| format!("{folder}{part}"));
    all.iter().filter(|source| parts.iter().any(|part| source.path.starts_with(part))).collect()
}

/// Entries of `[workspace.dependencies]` without a comment directly above; our own crates need none.
fn without_reason(manifest: &str) -> Vec<String> {
    let lines: Vec<&str> = manifest.lines().collect();
    let start =
        lines.iter().position(|line| *line == "[workspace.dependencies]").map_or(lines.len(), |at| at + 1);
    let section = lines[start..].iter().take_while(|line| !line.starts_with('['));
    section
        .enumerate()
        .filter(|(at, line)| !lines[start + at - 1].starts_with("# ") && !line.starts_with('#'))
        .filter_map(|(_, line)| line.split_once(" = "))
        .filter(|(_, value)| !value.contains("path = "))
        .map(|(name, _)| {
            format!("Cargo.toml does not say why `{name}` is there; write a comment line directly above it")
        })
        .collect()
}

/// Entries of `[workspace.dependencies]` that no crate takes.
fn not_taken(manifest: &str, taken: &[&str]) -> Vec<String> {
    let table: toml::Table = manifest.parse().expect("the workspace's manifest is TOML");
    let entries = table["workspace"]["dependencies"].as_table().expect("the workspace has dependencies");
    let missing = entries.keys().filter(|name| !taken.contains(&name.as_str()));
    missing.map(|name| format!("no crate takes `{name}` from [workspace.dependencies]; remove it")).collect()
}

#[test]
fn every_dependency_is_used_in_the_sources_of_its_crate() {
    let mut found = Vec::new();
    for package in METADATA.workspace_packages() {
        let own = sources(&beside_manifest(package, ""), &SOURCES);
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
            let is_known = NOT_NAMED.contains(&(package.name.as_str(), name.as_str()));
            if is_known == is_named(&own, dependency.kind, &name.replace('-', "_")) {
                found.push(format!(
                    "`{}` declares `{name}` ({}), which its sources {} ({})",
                    package.name,
                    dependency.kind,
                    if is_known { "name after all; remove the exception" } else { "never name; remove it" },
                    "xtask/tests/it/unused.rs"
                ));
            }
        }
    }
    none(&found);
}

#[test]
fn every_dependency_of_the_workspace_has_a_reason_and_a_user() {
    let manifest = file("Cargo.toml").expect("the workspace has a manifest");
    none(&without_reason(&manifest));
    let packages = METADATA.workspace_packages();
    let taken: Vec<&str> =
        packages.iter().flat_map(|package| &package.dependencies).map(|one| one.name.as_str()).collect();
    none(&not_taken(&manifest, &taken));
}

#[test]
fn a_path_a_macro_and_a_use_name_a_crate_and_a_word_does_not() {
    for (line, expect) in [
        ("use serde_json::json;", true),
        ("#[derive(thiserror::Error, serde_json::X)]", true),
        ("use serde_json as json;", true),
        ("pub use serde_json;", true),
        ("    let text = ::serde_json::to_string(&x);", true),
        ("let serde_json = 1;", false),
        ("use my_serde_json::x;", false),
        ("use serde_json_more::x;", false),
    ] {
        assert_eq!(names(line, "serde_json"), expect, "{line}");
    }
}

#[test]
fn what_only_a_test_or_a_comment_names_is_not_used_by_the_product() {
    let check = |path: &str, text: &str, kind, expect| {
        assert_eq!(is_named(&[&Source::new(path, text)], kind, "toml"), expect, "{path} {text}");
    };
    check("crates/a/src/b.rs", "use toml::Table;\n", DependencyKind::Normal, true);
    check("crates/a/src/b.rs", "// use toml::Table;\n", DependencyKind::Normal, false);
    check("crates/a/src/b.rs", "/// use toml::Table;\n", DependencyKind::Development, true);
    check("crates/a/tests/b.rs", "use toml::Table;\n", DependencyKind::Normal, false);
    check("crates/a/tests/b.rs", "use toml::Table;\n", DependencyKind::Development, true);
    let in_test = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    use toml::Table;\n}\n";
    check("crates/a/src/b.rs", in_test, DependencyKind::Normal, false);
    check("crates/a/src/b.rs", in_test, DependencyKind::Development, true);
}

#[test]
fn a_crate_below_another_has_sources_of_its_own() {
    let all = ["crates/a/src/x.rs", "crates/a/probe/src/y.rs"].map(|path| Source::new(path, ""));
    assert_eq!(sources("crates/a/", &all).len(), 1);
    assert_eq!(sources("crates/a/probe/", &all)[0].path, "crates/a/probe/src/y.rs");
}

#[test]
fn an_entry_without_a_reason_or_a_user_is_a_problem() {
    let manifest = "[workspace.dependencies]\nown = { path = \"x\" }\n# Why.\na = \"1\"\nb = \"1\"\n\n[other]\nc = \"1\"\n";
    let found = without_reason(manifest);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`b`"));
    let found = not_taken(manifest, &["own", "a"]);
    assert_eq!(found, ["no crate takes `b` from [workspace.dependencies]; remove it"]);
}

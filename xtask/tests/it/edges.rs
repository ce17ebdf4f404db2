//! Nothing lower knows anything higher: the edges between the crates of the workspace.

use cargo_metadata::DependencyKind;

use crate::none;
use crate::workspace::{Dependency, dependencies, members};

/// Each crate and those it may depend on, bottom up. A crate may only name crates of earlier rows.
const ALLOWED: &[(&str, &[&str])] = &[
    ("metier-testkit", &[]),
    ("metier-probe", &[]),
    ("metier-diagnostic", &[]),
    ("metier-protected", &[]),
    ("metier-shell", &[]),
    ("metier-skill", &["metier-diagnostic", "metier-shell"]),
    ("metier-search", &[]),
    ("metier-lint", &["metier-diagnostic", "metier-search", "metier-shell", "metier-skill"]),
    ("metier-policy", &["metier-diagnostic", "metier-protected", "metier-shell", "metier-skill"]),
    ("metier-proxy", &["metier-diagnostic", "metier-policy"]),
    ("metier-files", &["metier-protected"]),
    ("metier-changes", &["metier-files"]),
    ("metier-sandbox", &[]),
    ("metier-secret", &["metier-files"]),
    ("metier-store", &["metier-files"]),
    (
        "metier-catalog",
        &["metier-diagnostic", "metier-files", "metier-policy", "metier-search", "metier-skill"],
    ),
    // What a user says about models and providers is read by the catalogue, with lines and columns, and taken as it is.
    ("metier-model", &["metier-catalog", "metier-secret"]),
    (
        "metier-exec",
        &[
            "metier-catalog",
            "metier-changes",
            "metier-diagnostic",
            "metier-files",
            "metier-policy",
            "metier-proxy",
            "metier-sandbox",
            "metier-secret",
            "metier-skill",
        ],
    ),
    (
        "metier-activation",
        &[
            "metier-catalog",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            "metier-policy",
            "metier-sandbox",
            // For its tests.
            "metier-secret",
            "metier-shell",
            "metier-skill",
        ],
    ),
    (
        "metier-runtime",
        &[
            "metier-activation",
            "metier-catalog",
            "metier-changes",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            "metier-policy",
            "metier-sandbox",
            "metier-secret",
            "metier-shell",
            "metier-skill",
        ],
    ),
    ("metier-sdk", &["metier-exec", "metier-policy", "metier-runtime", "metier-testkit"]),
    (
        "metier-definition",
        &["metier-catalog", "metier-diagnostic", "metier-files", "metier-policy", "metier-skill"],
    ),
    (
        "metier-planner",
        &[
            "metier-catalog",
            "metier-exec",
            "metier-files",
            "metier-model",
            "metier-policy",
            "metier-search",
            "metier-skill",
        ],
    ),
    (
        "metier-tools",
        &[
            "metier-activation",
            "metier-catalog",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            // How a client is built.
            "metier-model",
            "metier-policy",
            "metier-proxy",
            "metier-runtime",
            "metier-sandbox",
            "metier-skill",
            "metier-store",
        ],
    ),
    (
        "metier-agent",
        &[
            "metier-activation",
            "metier-catalog",
            "metier-definition",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            "metier-model",
            "metier-policy",
            "metier-runtime",
            "metier-sandbox",
            "metier-search",
            "metier-skill",
            "metier-store",
            "metier-tools",
        ],
    ),
    (
        "metier-mcp-client",
        &[
            "metier-activation",
            "metier-catalog",
            "metier-definition",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            // How a client is built.
            "metier-model",
            "metier-policy",
            "metier-proxy",
            "metier-runtime",
            "metier-sandbox",
            "metier-skill",
            "metier-tools",
        ],
    ),
    (
        "metier-mcp-server",
        &[
            "metier-activation",
            "metier-catalog",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            "metier-policy",
            "metier-runtime",
            "metier-sandbox",
            "metier-skill",
        ],
    ),
    ("metier-http", &["metier-files"]),
    (
        "metier",
        &[
            "metier-activation",
            "metier-agent",
            "metier-catalog",
            "metier-changes",
            "metier-definition",
            "metier-diagnostic",
            "metier-exec",
            "metier-files",
            "metier-http",
            "metier-lint",
            "metier-mcp-client",
            "metier-mcp-server",
            "metier-model",
            "metier-planner",
            "metier-policy",
            "metier-proxy",
            "metier-runtime",
            "metier-sandbox",
            "metier-search",
            "metier-secret",
            "metier-skill",
            "metier-store",
            "metier-tools",
        ],
    ),
    ("xtask", &[]),
];

/// Only tests may use it, whoever they belong to.
const TESTS_ONLY: &str = "metier-testkit";

const TABLE: &str = "xtask/tests/it/edges.rs";

fn problems(members: &[String], dependencies: &[Dependency]) -> Vec<String> {
    let mut problems = Vec::new();
    for member in members {
        if row(member).is_none() {
            problems.push(format!("`{member}` has no row in {TABLE}; add it at its height"));
        }
    }
    for (name, _) in ALLOWED {
        if !members.iter().any(|member| member == name) {
            problems.push(format!("`{name}` has a row in {TABLE} but is no crate; remove the row"));
        }
    }
    for Dependency { from, to, kind } in dependencies {
        if !members.contains(to) {
            continue;
        }
        if to == TESTS_ONLY {
            if *kind != DependencyKind::Development {
                problems.push(format!(
                    "`{from}` depends on `{to}`, which is for tests only; move it to [dev-dependencies]"
                ));
            }
        } else if row(from).is_some_and(|allowed| !allowed.contains(&to.as_str())) {
            problems.push(format!(
                "`{from}` depends on `{to}`, an edge that {TABLE} does not allow; pass plain values down instead"
            ));
        }
    }
    problems
}

fn row(name: &str) -> Option<&'static [&'static str]> {
    ALLOWED.iter().find(|(crate_, _)| *crate_ == name).map(|(_, allowed)| *allowed)
}

#[test]
fn crates_depend_downwards_only() {
    none(&problems(&members(), &dependencies()));
}

/// Cargo refuses circles by itself; this keeps the table readable as a map.
#[test]
fn the_table_is_in_order() {
    for (index, (name, allowed)) in ALLOWED.iter().enumerate() {
        for lower in *allowed {
            let known = ALLOWED[..index].iter().any(|(earlier, _)| earlier == lower);
            assert!(known, "`{name}` may depend on `{lower}`, which has no earlier row");
        }
    }
}

fn with(extra: Dependency) -> Vec<String> {
    let members: Vec<String> = ALLOWED.iter().map(|(name, _)| (*name).to_owned()).collect();
    problems(&members, &[extra])
}

#[test]
fn an_edge_upwards_is_a_problem_even_for_tests() {
    for kind in [DependencyKind::Normal, DependencyKind::Development, DependencyKind::Build] {
        let found = with(Dependency::new("metier-skill", "metier-catalog", kind));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("`metier-skill` depends on `metier-catalog`"), "{found:?}");
    }
}

#[test]
fn an_edge_downwards_and_a_foreign_crate_are_none() {
    none(&with(Dependency::new("metier-skill", "metier-diagnostic", DependencyKind::Normal)));
    none(&with(Dependency::new("metier-skill", "serde", DependencyKind::Normal)));
}

#[test]
fn the_testkit_is_for_tests() {
    none(&with(Dependency::new("metier-files", "metier-testkit", DependencyKind::Development)));
    let found = with(Dependency::new("metier-files", "metier-testkit", DependencyKind::Normal));
    assert!(found[0].ends_with("move it to [dev-dependencies]"), "{found:?}");
}

#[test]
fn a_crate_without_a_row_and_a_row_without_a_crate_are_problems() {
    let mut members: Vec<String> = ALLOWED.iter().map(|(name, _)| (*name).to_owned()).collect();
    members.retain(|name| name != "metier-files");
    members.push("metier-later".to_owned());
    let found = problems(&members, &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`metier-later` has no row"), "{found:?}");
    assert!(found[1].contains("`metier-files` has a row"), "{found:?}");
}

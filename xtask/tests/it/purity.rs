//! The pure crates stay pure: nothing they build on can touch a file, start a thread or wait, and they build in
//! seconds.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, PackageId};

use crate::none;
use crate::workspace::METADATA;

/// Crates that take plain values and give plain values back.
const PURE: &[&str] = &[
    "metier-diagnostic",
    "metier-shell",
    "metier-skill",
    "metier-lint",
    "metier-policy",
    "metier-protected",
];

/// What no pure crate may build on, however far down.
const IMPURE: &[&str] =
    &["async-std", "cap-primitives", "cap-std", "mio", "rayon", "rustix", "smol", "tokio"];

/// How many crates a pure one may build on in all: beyond that it no longer compiles in seconds. metier-policy has the most; seven are
/// `idna` and its tables, which have neither macros nor build scripts.
const MAX_CRATES: usize = 44;

/// Which package builds on which, for the product and not for its tests.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn problems(graph: &Graph, pure: &str) -> Vec<String> {
    let reached = reach(graph, pure);
    let mut problems = Vec::new();
    for package in &reached {
        let name = package.split(' ').next().unwrap_or(package);
        if IMPURE.contains(&name) {
            problems.push(format!(
                "`{pure}` is pure but builds on `{package}`; find it with `cargo tree -p {pure} -i {name}` and move \
                 what needs it into a crate that may do that"
            ));
        }
    }
    if reached.len() > MAX_CRATES {
        problems.push(format!(
            "`{pure}` builds on {} crates, more than {MAX_CRATES}; `cargo tree -p {pure} -e normal` shows which",
            reached.len()
        ));
    }
    problems
}

/// Everything below a package, itself not included.
fn reach(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![from.to_owned()];
    while let Some(package) = waiting.pop() {
        for next in graph.get(&package).into_iter().flatten() {
            if reached.insert(next.clone()) {
                waiting.push(next.clone());
            }
        }
    }
    reached
}

/// The real graph. Members go by their name; a foreign package has its version with it, since two of one name are
/// two to compile.
fn graph() -> Graph {
    let resolve = METADATA.resolve.as_ref().expect("cargo metadata resolves");
    resolve
        .nodes
        .iter()
        .map(|node| {
            let normal = node.deps.iter().filter(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
            });
            (label(&node.id), normal.map(|dependency| label(&dependency.pkg)).collect())
        })
        .collect()
}

fn label(id: &PackageId) -> String {
    let package = &METADATA[id];
    if METADATA.workspace_members.contains(id) {
        package.name.to_string()
    } else {
        format!("{} {}", package.name, package.version)
    }
}

#[test]
fn pure_crates_are_pure_and_small() {
    let graph = graph();
    for pure in PURE {
        assert!(graph.contains_key(*pure), "`{pure}` is no crate of the workspace");
        none(&problems(&graph, pure));
    }
}

fn made(edges: &[(&str, &str)]) -> Graph {
    let mut graph = Graph::new();
    for (from, to) in edges {
        graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
    }
    graph
}

#[test]
fn an_impure_crate_far_below_is_found() {
    let graph = made(&[("skill", "a 1.0.0"), ("a 1.0.0", "b 2.0.0"), ("b 2.0.0", "rustix 1.1.6")]);
    let found = problems(&graph, "skill");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("builds on `rustix 1.1.6`; find it with `cargo tree -p skill -i rustix`"));
}

#[test]
fn a_circle_ends_and_a_crate_beside_does_not_count() {
    let graph = made(&[("skill", "a 1.0.0"), ("a 1.0.0", "skill"), ("files", "rustix 1.1.6")]);
    none(&problems(&graph, "skill"));
}

#[test]
fn one_crate_too_many_is_a_problem() {
    let names: Vec<String> = (0..=MAX_CRATES).map(|index| format!("crate{index} 1.0.0")).collect();
    let mut edges: Vec<(&str, &str)> = names.iter().map(|name| ("skill", name.as_str())).collect();
    assert!(problems(&made(&edges), "skill")[0].contains("builds on 45 crates, more than 44"));
    edges.pop();
    none(&problems(&made(&edges), "skill"));
}

//! Each foreign library lives in one place, so that another one can take its place there. What a test uses ends with
//! the test, so dev-dependencies are free.

use std::collections::BTreeSet;

use cargo_metadata::DependencyKind;

use crate::none;
use crate::workspace::{Dependency, dependencies, file};

/// A foreign crate, and who may build on it.
const HOMES: &[(&str, &[&str])] = &[
    // The YAML parser: everyone else sees a skill, not its events.
    ("granit-parser", &["metier-skill"]),
    // The file system: invariant 4, files of a skill only through `metier-files`.
    ("cap-std", &["metier-files"]),
    // What a line of a `.gitignore` means: everyone else sees the files that a walk gives, and which changes are noise.
    ("ignore", &["metier-changes", "metier-files"]),
    // The binary switches a terminal's echo off; secrets are opened by what they are, not by where a link leads; a store is
    // closed to others without being opened.
    (
        "rustix",
        &[
            "metier",
            "metier-changes",
            "metier-files",
            "metier-proxy",
            "metier-sandbox",
            "metier-secret",
            "metier-store",
            "metier-testkit",
        ],
    ),
    // The database: everyone else sees events.
    ("rusqlite", &["metier-store"]),
    // Secrets: everyone else sees a `Secret` and a `Redactor`.
    ("aho-corasick", &["metier-secret"]),
    ("zeroize", &["metier-secret"]),
    // The kernel's containment: everyone else sees a `Profile` and a `Report`.
    ("landlock", &["metier-sandbox"]),
    // Messages between metier and its helper: everyone else sees a `Profile` and a `Report`.
    ("postcard", &["metier-sandbox"]),
    // The probe attacks by bare system calls, since no library would make such ones.
    ("libc", &["metier-probe", "metier-sandbox"]),
    // Temporary files and folders: everyone else sees a `PassingFolder`, or a file that is there as a whole.
    ("tempfile", &["metier-files", "metier-testkit"]),
    // Digests of files; the MCP server signs with the same hash.
    ("sha2", &["metier-files", "metier-mcp-server", "xtask"]),
    ("hmac", &["metier-mcp-server"]),
    // MCP on the wire: everyone else sees skills, tools and questions.
    ("rmcp", &["metier-mcp-client", "metier-mcp-server"]),
    // HTTP for others to ask: everyone else sees a `Site`.
    ("axum", &["metier-http"]),
    ("hyper", &["metier-http"]),
    ("hyper-util", &["metier-http"]),
    ("sse-stream", &["metier-mcp-client"]),
    // Providers of models, pages and MCP servers, all with clients that metier-model builds: everyone else sees a `ChatModel`, the
    // text of a page, a server's tools.
    ("reqwest", &["metier-model", "metier-tools", "metier-mcp-client"]),
    // Whose certificates are believed is decided in one place, for models, servers and pages.
    ("rustls", &["metier-model"]),
    ("rustls-platform-verifier", &["metier-model"]),
    // Pages: everyone else sees their text.
    ("encoding_rs", &["metier-tools"]),
    ("html5gum", &["metier-tools"]),
    // HTTP on the wire: everyone else sees contacts and events.
    ("httparse", &["metier-proxy"]),
    // What a model searches for; our own tables are no regular expressions.
    ("regex", &["metier-tools"]),
    // Names of hosts: everyone else sees a `Host`.
    ("idna", &["metier-policy"]),
    ("idna_adapter", &["metier-policy"]),
    // Snippets of source under a message: everyone else sees a `Diagnostic`.
    ("annotate-snippets", &["metier-diagnostic"]),
    ("similar", &["metier-diagnostic"]),
    // Markdown: rules see code, links and prose.
    ("pulldown-cmark", &["metier-lint"]),
    ("unicode-security", &["metier-lint"]),
    // Signals: a library is told to stop by whoever holds it.
    ("signal-hook", &["metier"]),
    // Line editing: a library has no terminal.
    ("rustyline", &["metier"]),
    // Configuration: everyone else gets it passed in. A Python script says in TOML which packages it wants.
    ("toml", &["metier-catalog", "metier-exec"]),
    // The command line: a library has no arguments.
    ("clap", &["metier", "xtask"]),
    ("clap_complete", &["metier"]),
    ("clap_mangen", &["metier"]),
    // An error without a type is an answer for people, not for callers.
    ("anyhow", &["metier", "xtask"]),
    ("cargo_metadata", &["xtask"]),
    // What is shipped; a library that unpacks archives of strangers would be another matter.
    ("ar", &["xtask"]),
    ("flate2", &["xtask"]),
    ("tar", &["xtask"]),
];

const TABLE: &str = "xtask/tests/it/foreign.rs";

fn problems(dependencies: &[Dependency]) -> Vec<String> {
    dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .filter_map(|Dependency { from, to, .. }| {
            let (_, homes) = HOMES.iter().find(|(name, _)| name == to)?;
            let known = homes.contains(&from.as_str());
            (!known).then(|| {
                format!(
                    "`{from}` depends on `{to}`, which lives in {} ({TABLE}); use what that crate offers",
                    homes.join(" and ")
                )
            })
        })
        .collect()
}

/// Comments of the workspace's manifest that name the only crates with a library, held against who has it.
fn comment_problems(manifest: &str, dependencies: &[Dependency]) -> Vec<String> {
    let (mut problems, mut comment) = (Vec::new(), String::new());
    for line in manifest.lines() {
        if let Some(more) = line.strip_prefix("# ") {
            comment = format!("{comment} {more}");
            continue;
        }
        let comment = std::mem::take(&mut comment);
        let Some((library, _)) = line.split_once(" = ") else { continue };
        let Some(said) = only(&comment) else { continue };
        let normal = dependencies.iter().filter(|one| one.kind != DependencyKind::Development);
        let has: BTreeSet<&str> =
            normal.filter(|one| one.to == library).map(|one| one.from.as_str()).collect();
        if said != has {
            problems.push(format!("Cargo.toml says that only {said:?} have `{library}`; these do: {has:?}"));
        }
    }
    problems
}

/// The crates in `only A has it` or `only A and B have it`.
fn only(comment: &str) -> Option<BTreeSet<&str>> {
    let (_, rest) = comment.split_once("nly ")?;
    let (names, _) = rest.split_once(" has it").or_else(|| rest.split_once(" have it"))?;
    Some(names.split(" and ").map(|name| if name == "the binary" { "metier" } else { name }).collect())
}

#[test]
fn comments_name_the_crates_that_have_a_library() {
    let manifest = file("Cargo.toml").expect("the workspace has a manifest");
    none(&comment_problems(&manifest, &dependencies()));
}

#[test]
fn a_comment_that_names_other_crates_is_a_problem() {
    let has = |from: &str, kind| Dependency::new(from, "reqwest", kind);
    let dependencies = [
        has("metier-model", DependencyKind::Normal),
        has("metier-mcp", DependencyKind::Normal),
        has("metier-cli", DependencyKind::Development),
    ];
    let manifest =
        |who: &str| format!("[workspace.dependencies]\n# HTTP; only {who} it.\n# More.\nreqwest = \"1\"\n");
    none(&comment_problems(&manifest("metier-model and metier-mcp have"), &dependencies));
    assert_eq!(comment_problems(&manifest("metier-model has"), &dependencies).len(), 1);
    assert_eq!(only(" Line editing; only the binary has it."), Some(BTreeSet::from(["metier"])));
    assert_eq!(only(" Says nothing of it."), None);
}

#[test]
fn foreign_crates_stay_at_home() {
    none(&problems(&dependencies()));
}

#[test]
fn a_foreign_crate_elsewhere_is_a_problem() {
    for kind in [DependencyKind::Normal, DependencyKind::Build] {
        let found = problems(&[Dependency::new("metier-catalog", "rustix", kind)]);
        assert_eq!(
            found,
            [
                "`metier-catalog` depends on `rustix`, which lives in metier and metier-changes and metier-files and metier-proxy and \
              metier-sandbox and metier-secret and metier-store and metier-testkit (xtask/tests/it/foreign.rs); use what that crate offers"
            ]
        );
    }
}

#[test]
fn a_foreign_crate_at_home_without_a_home_or_in_a_test_is_none() {
    none(&problems(&[
        Dependency::new("metier", "toml", DependencyKind::Development),
        Dependency::new("metier-files", "rustix", DependencyKind::Normal),
        Dependency::new("metier-catalog", "semver", DependencyKind::Normal),
    ]));
}

//! No crate is compiled in two versions, except where deny.toml says why. cargo-deny holds that too, where it is installed.

use std::collections::BTreeMap;
use std::process::Command;

use cargo_metadata::semver::{Version, VersionReq};
use toml::Table;

use crate::none;
use crate::workspace::{file, root};

/// A version that deny.toml lets stand beside another one.
struct Skip {
    name: String,
    versions: VersionReq,
}

/// The list of deny.toml; entries are written as `{ crate = "name:version", reason = "…" }`.
fn skips(deny: &Table) -> Vec<Skip> {
    let list = deny["bans"]["skip"].as_array().expect("deny.toml has a list of versions");
    list.iter()
        .map(|entry| {
            let text = entry["crate"].as_str().expect("an entry names a crate");
            let (name, versions) = text.split_once(':').expect("an entry has a version after a colon");
            let reason = entry.get("reason").and_then(|reason| reason.as_str()).unwrap_or_default();
            assert!(!reason.is_empty(), "deny.toml does not say why `{text}` is skipped");
            Skip { name: name.to_owned(), versions: versions.parse().expect("an entry has a version") }
        })
        .collect()
}

/// What cargo compiles for a platform, tests included. The lock file and `cargo metadata` also name what no feature asks for.
fn compiled(target: &str) -> Vec<(String, Version)> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--workspace", "--all-features", "--prefix=none", "--format={p}", "--target", target])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let package = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some((name.to_owned(), rest.split(' ').next()?.parse().ok()?))
    };
    text.lines().filter_map(package).collect()
}

fn problems(packages: &BTreeMap<String, Vec<Version>>, skips: &[Skip]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, versions) in packages {
        let is_skipped = |version: &&Version| {
            skips.iter().any(|skip| skip.name == *name && skip.versions.matches(version))
        };
        let left: Vec<String> =
            versions.iter().filter(|version| !is_skipped(version)).map(Version::to_string).collect();
        if left.len() > 1 {
            problems.push(format!(
                "`{name}` is compiled in the versions {}; `cargo tree -i {name}@VERSION` shows for whom",
                left.join(" and ")
            ));
        }
    }
    for Skip { name, versions } in skips {
        let known = packages.get(name).map_or(&[][..], Vec::as_slice);
        if known.len() < 2 || !known.iter().any(|version| versions.matches(version)) {
            problems
                .push(format!("`{name}` {versions} is no second version any more; remove it from deny.toml"));
        }
    }
    problems
}

#[test]
fn no_crate_is_compiled_in_two_versions_without_a_reason() {
    let deny: Table = file("deny.toml").expect("deny.toml is there").parse().expect("deny.toml is TOML");
    let targets = deny["graph"]["targets"].as_array().expect("deny.toml names the platforms");
    let mut packages: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for target in targets.iter().filter_map(|target| target.as_str()) {
        for (name, version) in compiled(target) {
            let versions = packages.entry(name).or_default();
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
    }
    none(&problems(&packages, &skips(&deny)));
}

#[test]
fn a_second_version_and_an_entry_without_one_are_problems() {
    let version = |text: &str| text.parse::<Version>().expect("a version");
    let packages = BTreeMap::from([
        ("a".to_owned(), vec![version("1.2.0"), version("2.0.1"), version("3.0.0")]),
        ("b".to_owned(), vec![version("1.0.0")]),
    ]);
    let found = |list: &str| {
        let deny = format!("[bans]\nskip = [{list}]\n").parse().expect("the example is TOML");
        problems(&packages, &skips(&deny))
    };
    let (one, two) = ("{ crate = 'a:1', reason = 'r' }", "{ crate = 'a:2', reason = 'r' }");
    none(&found(&format!("{one}, {two}")));
    assert_eq!(
        found(one),
        ["`a` is compiled in the versions 2.0.1 and 3.0.0; `cargo tree -i a@VERSION` shows for whom"]
    );
    assert_eq!(found(&format!("{one}, {two}, {{ crate = 'b:1', reason = 'r' }}")).len(), 1);
}

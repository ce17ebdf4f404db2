//! The licences of everything that is linked into the program. Most of them ask for a copy beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::repository::Repository;

/// How names of files with a licence begin.
const BEGINNINGS: &[&str] = &["licen", "copying", "copyright", "notice", "unlicense"];

const HEAD: &str = "\
Software in the program `metier`, and its licences
==================================================

metier itself is under MIT or Apache-2.0; see LICENSE-MIT and LICENSE-APACHE. Its source builds with `cargo build`.

The program is linked statically with the GNU C library, which is under LGPL-2.1-or-later. With metier's source you can link it again
with another version of that library (`cargo xtask dist`). SQLite is in the public domain.
";

/// The page: which crates are in the program, and each text with the crates that it belongs to.
pub(super) fn text(repository: &Repository) -> Result<String> {
    let metadata = MetadataCommand::new()
        .manifest_path(repository.root().join("Cargo.toml"))
        .features(CargoOpt::SomeFeatures(Vec::new()))
        .other_options(["--locked", "--filter-platform", "x86_64-unknown-linux-gnu"].map(str::to_owned))
        .exec()
        .context("cargo does not list the dependencies")?;
    let mut page = HEAD.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    page.push('\n');
    for package in linked(&metadata)? {
        let name = format!("{} {}", package.name, package.version);
        page.push_str(&format!("{name}: {}\n", package.license.as_deref().unwrap_or("see below")));
        for text in own_texts(package)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    // In the order of the first crate that each belongs to.
    let mut texts: Vec<_> = texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        page.push_str(&format!("\n{}\n{}\n\n{text}\n", "-".repeat(80), names.join(", ")));
    }
    Ok(page)
}

/// The foreign crates that the program is made of, without those that only build it.
fn linked(metadata: &Metadata) -> Result<Vec<&Package>> {
    let resolve = metadata.resolve.as_ref().context("cargo did not resolve the dependencies")?;
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let program = metadata.packages.iter().find(|package| package.name == "metier");
    let mut open = vec![&program.context("the workspace has no package `metier`")?.id];
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
        let normal = dependencies
            .iter()
            .filter(|one| one.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal));
        open.extend(normal.map(|one| &one.pkg));
    }
    let mut packages: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| found.contains(&package.id) && package.source.is_some())
        .filter(|package| !package.targets.iter().any(cargo_metadata::Target::is_proc_macro))
        .collect();
    packages.sort_by_key(|package| (package.name.to_string(), package.version.clone()));
    Ok(packages)
}

/// The texts that a crate carries.
fn own_texts(package: &Package) -> Result<Vec<String>> {
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{folder} cannot be listed"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.path().is_file() && BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).replace("\r\n", "\n");
            texts.insert(text.trim().to_owned());
        }
    }
    Ok(texts.into_iter().collect())
}

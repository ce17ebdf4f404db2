//! The real workspace as plain data: packages, dependencies and source files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// What cargo says about the workspace, asked once for all tests.
pub(crate) static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    MetadataCommand::new().manifest_path(root().join("Cargo.toml")).exec().expect("cargo metadata answers")
});

/// The top folder of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest).parent().expect("xtask lies in the repository").to_path_buf()
}

/// The text of a file of the repository, if there is one.
pub(crate) fn file(path: &str) -> Option<String> {
    fs::read_to_string(root().join(path)).ok()
}

/// Whether there is a file or folder at this path of the repository.
pub(crate) fn exists(path: &str) -> bool {
    root().join(path).exists()
}

/// One crate naming another in its manifest.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) kind: DependencyKind,
}

impl Dependency {
    /// A dependency for the tests of a rule.
    pub(crate) fn new(from: &str, to: &str, kind: DependencyKind) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), kind }
    }
}

/// Every line of every manifest of the workspace that names another crate, whatever its kind.
pub(crate) fn dependencies() -> Vec<Dependency> {
    METADATA
        .workspace_packages()
        .into_iter()
        .flat_map(|package| {
            package
                .dependencies
                .iter()
                .map(|dependency| Dependency::new(&package.name, &dependency.name, dependency.kind))
        })
        .collect()
}

/// The names of the workspace's crates.
pub(crate) fn members() -> Vec<String> {
    METADATA.workspace_packages().into_iter().map(|package| package.name.to_string()).collect()
}

/// A package's path from the top folder, with a name below it.
pub(crate) fn beside_manifest(package: &Package, name: &str) -> String {
    let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
    let folder = folder.strip_prefix(&METADATA.workspace_root).expect("a member lies in the workspace");
    folder.join(name).into_string()
}

/// A Rust file of the repository, by its path from the top folder.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// A source for the tests of a rule.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Whether the whole file is a test.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs")
    }

    /// The lines that are no tests: those before the module of tests that closes a file.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = &str> {
        let lines: Vec<&str> = self.text.lines().collect();
        let end = lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod tests {"))
            .unwrap_or(lines.len());
        lines.into_iter().take(end)
    }
}

/// All Rust files of the main workspace and of those beside it.
pub(crate) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut sources = Vec::new();
    for folder in ["crates", "xtask", "benches", "fuzz"] {
        collect(&root(), Path::new(folder), &mut sources);
    }
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    sources
});

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries {
        let entry = entry.expect("a folder of the repository can be listed");
        let path = folder.join(entry.file_name());
        let kind = entry.file_type().expect("an entry of the repository has a type");
        // Built code is not ours.
        if kind.is_dir() && entry.file_name() != "target" {
            collect(root, &path, sources);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(root.join(&path)).expect("a source file is text");
            sources.push(Source { path: path.to_string_lossy().into_owned(), text });
        }
    }
}

#[test]
fn a_module_of_tests_at_the_end_is_not_counted() {
    let source = Source::new("crates/a/src/b.rs", "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // …\n}\n");
    assert_eq!(source.product_lines().collect::<Vec<_>>(), ["fn a() {}", ""]);
    let source = Source::new("crates/a/src/b.rs", "#[cfg(test)]\nuse a::b;\nfn a() {}\n");
    assert_eq!(source.product_lines().count(), 3);
}

#[test]
fn the_real_workspace_is_seen() {
    assert!(members().contains(&"metier".to_owned()));
    assert!(dependencies().iter().any(|dependency| dependency.from == "metier"));
    assert!(SOURCES.iter().any(|source| source.path == "xtask/tests/it/workspace.rs"));
}

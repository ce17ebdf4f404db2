//! Environment names that somebody declares: metier's own configuration, and core-agent's `.agents/env.yaml` or `env.json`.

use crate::code;
use crate::config::EnvConfig;
use crate::settings::ConfigFile;
use metier_diagnostic::{Diagnostic, Span};
use metier_files::read_bounded;
use metier_skill::yaml::{self, Node};
use std::path::Path;
use std::sync::Arc;

/// Where core-agent declares them, below a project. Both have the same form; where both are there the first counts.
pub(crate) const MANIFESTS: [&str; 2] = [".agents/env.yaml", ".agents/env.json"];

/// The largest manifest that is read. Real ones have a dozen names.
const MAX_MANIFEST: u64 = 256 * 1024;

/// The version of the manifest's form that is known. A newer one may mean something else by the same words.
const VERSION: u32 = 1;

/// A name of the environment that somebody declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredName {
    /// The name: letters, digits and `_`.
    pub name: String,
    /// What is said of it.
    pub config: EnvConfig,
    /// The file that declares it; the nearest, where several do.
    pub file: Arc<Path>,
}

impl DeclaredName {
    fn new(name: &str, config: EnvConfig, file: &Arc<Path>) -> Self {
        Self { name: name.to_owned(), config, file: Arc::clone(file) }
    }

    /// Takes what a nearer file says of the same name. What is a secret or required to anybody stays so: a project cannot
    /// make text of what its user keeps secret.
    fn nearer(&mut self, Self { config: nearer, file, .. }: Self) {
        let config = &mut self.config;
        config.required |= nearer.required;
        config.sensitive |= nearer.sensitive;
        config.default = nearer.default.or(config.default.take());
        config.description = nearer.description.or(config.description.take());
        self.file = file;
    }
}

/// Whether a text can be the name of a variable.
pub(crate) fn is_variable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Adds names to those that are declared already; they stay in order.
pub(crate) fn declare(known: &mut Vec<DeclaredName>, more: Vec<DeclaredName>) {
    for name in more {
        match known.binary_search_by(|known| known.name.cmp(&name.name)) {
            Ok(at) => known[at].nearer(name),
            Err(at) => known.insert(at, name),
        }
    }
}

/// The names that a configuration declares.
pub(crate) fn of_config(file: &ConfigFile) -> Vec<DeclaredName> {
    file.config.env.iter().map(|(name, config)| DeclaredName::new(name, config.clone(), &file.path)).collect()
}

/// The names that a project's manifest declares, as core-agent writes it.
pub(crate) fn of_manifest(project: &Path, diagnostics: &mut Vec<Diagnostic>) -> Vec<DeclaredName> {
    let mut found = Vec::new();
    for name in MANIFESTS {
        let path: Arc<Path> = project.join(name).into();
        match read_bounded(&path, MAX_MANIFEST) {
            Ok(None) => {}
            Ok(Some(bytes)) => found.push((path, String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) => diagnostics.push(
                Diagnostic::new(&code::ENV_MANIFEST_INVALID, format!("this file cannot be read: {error}"))
                    .in_file(&path),
            ),
        }
    }
    if let [(first, _), (second, _)] = found.as_slice() {
        let message = format!("{} is there, too, and counts instead of this file", first.display());
        diagnostics.push(
            Diagnostic::new(&code::ENV_MANIFEST_INVALID, message)
                .in_file(second)
                .help("remove one of the two: they have the same form"),
        );
    }
    found.first().map(|(path, source)| names_in(source, path, diagnostics)).unwrap_or_default()
}

/// `version: 1` and `env:`, a list of `{name, required, default, sensitive, description}`. JSON is YAML.
pub(crate) fn names_in(
    source: &str,
    path: &Arc<Path>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<DeclaredName> {
    let mut say = |span: Span, message: String| {
        let found = Diagnostic::new(&code::ENV_MANIFEST_INVALID, message);
        diagnostics.push(found.at(span, source).in_file(path));
    };
    let tree = match yaml::parse(source, 0) {
        Ok(tree) => tree,
        Err(error) => {
            say(Span::empty(error.at), format!("this file is not YAML: {}", error.message));
            return Vec::new();
        }
    };
    let Some(tree) = tree else { return Vec::new() };
    if let Some(version) = tree.get("version") {
        let number = version.text().and_then(|text| text.parse::<u32>().ok());
        if number.is_none_or(|number| number > VERSION) {
            say(
                version.span,
                format!("only version {VERSION} of this form is known, so nothing of it counts"),
            );
            return Vec::new();
        }
    }
    let mut names: Vec<DeclaredName> = Vec::new();
    for entry in tree.get("env").and_then(Node::items).unwrap_or_default() {
        let text = |key: &str| entry.get(key).and_then(Node::text);
        let name = text("name").unwrap_or_default();
        if !is_variable(name) {
            say(entry.span, format!("`{name}` is no environment name: it is left out"));
        } else if names.iter().any(|known| known.name == name) {
            say(entry.span, format!("`{name}` is declared twice: the first counts"));
        } else {
            let is = |key: &str| text(key).is_some_and(is_yes);
            let config = EnvConfig {
                required: is("required"),
                default: text("default").map(str::to_owned),
                // Anything but a plain no: a secret must not become text by a typing error.
                sensitive: entry.get("sensitive").is_some_and(|value| !value.text().is_some_and(is_no)),
                description: text("description").map(str::to_owned),
            };
            names.push(DeclaredName::new(name, config, path));
        }
    }
    names
}

fn is_no(text: &str) -> bool {
    ["false", "no", "off", "0"].iter().any(|no| text.eq_ignore_ascii_case(no))
}

fn is_yes(text: &str) -> bool {
    ["true", "yes", "on", "1"].iter().any(|yes| text.eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> (Vec<String>, Vec<String>) {
        let path: Arc<Path> = Path::new(".agents/env.yaml").into();
        let mut found = Vec::new();
        let names = names_in(source, &path, &mut found);
        let shown = names.iter().map(|name| {
            let EnvConfig { required, default, sensitive, .. } = &name.config;
            format!("{} {required} {} {sensitive}", name.name, default.as_deref().unwrap_or("-"))
        });
        (shown.collect(), found.into_iter().map(|found| found.message).collect())
    }

    #[test]
    fn a_manifest_is_a_list_of_names_in_yaml_or_json() {
        let yaml = "version: 1\nenv:\n  - name: PROJECT\n    required: true\n    description: Which.\n  \
                    - name: REGION\n    default: eu\n    used_by: [AGENTS.md]\n  - name: TOKEN\n    sensitive: yes\n";
        let expect = ["PROJECT true - false", "REGION false eu false", "TOKEN false - true"];
        assert_eq!(read(yaml), (expect.map(str::to_owned).to_vec(), Vec::new()));
        let json = r#"{"env": [{"name": "PROJECT", "required": true}, {"name": "REGION", "default": "eu"}]}"#;
        assert_eq!(read(json).0, expect[..2]);
        assert_eq!(read(""), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_cannot_be_taken_is_said_and_the_rest_counts() {
        let (names, found) = read("env:\n  - name: my-var\n  - name: A\n  - name: A\n    default: x\n");
        assert_eq!((names, found.len()), (vec!["A false - false".to_owned()], 2));
        let (names, _) = read("env:\n  - name: A\n    sensitive: ja\n  - name: B\n    sensitive: no\n");
        assert_eq!(names, ["A false - true", "B false - false"]);
        for whole in ["version: 2\nenv:\n  - name: A\n", "env: [\n"] {
            let (names, found) = read(whole);
            assert_eq!((names.len(), found.len()), (0, 1), "{whole}");
        }
    }

    #[test]
    fn a_nearer_file_adds_and_never_takes_a_secret_back() {
        let name = |required, sensitive, default: Option<&str>, file: &str| {
            let default = default.map(str::to_owned);
            let config = EnvConfig { required, sensitive, default, description: None };
            DeclaredName::new("A", config, &Path::new(file).into())
        };
        let mut known = vec![name(false, true, Some("u"), "user")];
        declare(&mut known, vec![name(true, false, None, "project")]);
        assert_eq!(known, [name(true, true, Some("u"), "project")]);
    }
}

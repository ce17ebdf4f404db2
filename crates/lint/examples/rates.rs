//! How often each rule speaks up: `cargo run --release -p metier-lint --example rates -- DIR [RULE [N]]`.
//!
//! Without a rule, a table of all of them; with one, N of its findings, spread evenly over all. For working on rules;
//! users have `metier check`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a tool for developers"
)]

use metier_diagnostic::{Diagnostic, Paint, render_text};
use metier_lint::{File, Files, RunBit, Skill, lint, lint_root, rules};
use metier_skill::Document;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let (rule, count) = (arguments.next(), arguments.next().and_then(|text| text.parse().ok()).unwrap_or(20));
    let mut documents = Vec::new();
    find(Path::new(&folder), &mut documents);
    documents.sort();
    let loaded: Vec<Loaded> = documents.iter().filter_map(|path| load(path)).collect();
    let mut found: Found = BTreeMap::new();
    let mut roots: BTreeMap<PathBuf, Vec<(Skill<'_>, &str)>> = BTreeMap::new();
    for one in &loaded {
        let skill = one.skill();
        for finding in lint(&skill) {
            let source = one.text_of(&finding).to_owned();
            found.entry(finding.code.name()).or_default().push((finding, source));
        }
        roots.entry(root_of(Path::new(&folder), &one.path)).or_default().push((skill, &one.source));
    }
    for skills in roots.into_values() {
        let sources: BTreeMap<_, _> =
            skills.iter().map(|(skill, source)| (skill.path.clone(), *source)).collect();
        let skills: Vec<Skill<'_>> = skills.into_iter().map(|(skill, _)| skill).collect();
        for finding in lint_root(&skills) {
            let source =
                finding.path.as_ref().and_then(|path| sources.get(path)).copied().unwrap_or_default();
            found.entry(finding.code.name()).or_default().push((finding, source.to_owned()));
        }
    }
    match rule {
        None => table(&found, documents.len()),
        Some(rule) => sample(found.get(rule.as_str()).map_or(&[][..], Vec::as_slice), count),
    }
}

/// The findings of each rule, with the text they are about.
type Found = BTreeMap<&'static str, Vec<(Diagnostic, String)>>;

/// What a skill borrows from.
struct Loaded {
    path: PathBuf,
    name: Option<String>,
    source: String,
    document: Document,
    files: Vec<File>,
}

impl Loaded {
    /// The text of the file that a finding is about.
    fn text_of(&self, finding: &Diagnostic) -> &str {
        let path = finding.path.as_deref();
        let is_meant = |file: &&File| path.is_some_and(|path| path.ends_with(&file.path));
        let file = self.files.iter().filter(|_| path != Some(&*self.path)).find(is_meant);
        file.and_then(|file| file.text.as_deref()).unwrap_or(&self.source)
    }

    fn skill(&self) -> Skill<'_> {
        // A corpus of documents alone says nothing about the files beside them.
        let files = if self.files.len() > 1 { Files::Known(&self.files) } else { Files::Unknown };
        Skill::new(self.path.as_path().into(), self.name.as_deref(), &self.source, &self.document, files)
    }
}

fn load(path: &Path) -> Option<Loaded> {
    let source = String::from_utf8_lossy(&std::fs::read(path).expect("a readable file")).into_owned();
    let folder = path.parent().expect("a folder");
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let document = metier_skill::parse(source.as_bytes(), name.as_deref()).document?;
    let mut files = Vec::new();
    list(folder, folder, &mut files);
    Some(Loaded { path: path.to_owned(), name, source, document, files })
}

/// The corpus has a folder for each repository, and what a repository has is one root.
fn root_of(corpus: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(corpus).unwrap_or(path).iter().take(1).collect()
}

fn table(found: &Found, files: usize) {
    println!("{files} files");
    for rule in rules::ALL {
        let findings = found.get(rule.code.name()).map_or(&[][..], Vec::as_slice);
        let mut paths: Vec<_> = findings.iter().map(|(one, _)| one.path.clone()).collect();
        paths.dedup();
        #[expect(clippy::cast_precision_loss, reason = "a share in percent")]
        let share = 100.0 * paths.len() as f64 / files as f64;
        println!(
            "{:<32} {:<8} {:>6} findings {:>6} files {share:>6.2} %",
            rule.code.name(),
            rule.code.severity().word(),
            findings.len(),
            paths.len()
        );
    }
}

fn sample(findings: &[(Diagnostic, String)], count: usize) {
    let step = (findings.len() / count.max(1)).max(1);
    for (one, source) in findings.iter().step_by(step).take(count) {
        println!("{}", render_text(one, Some(source), Paint::Plain));
    }
}

fn find(folder: &Path, documents: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, documents);
        } else if path.file_name().is_some_and(|name| name == "SKILL.md") {
            documents.push(path);
        }
    }
}

fn list(root: &Path, folder: &Path, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(root, &path, files);
        } else if let Ok(below) = path.strip_prefix(root) {
            let below = below.to_string_lossy().into_owned();
            let mut file = File { path: below, size: 0, run_bit: RunBit::Clear, text: None };
            if file.is_script() {
                file.text = std::fs::read_to_string(&path).ok();
            }
            files.push(file);
        }
    }
}

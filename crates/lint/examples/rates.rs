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
use metier_lint::{File, Files, RunBit, Skill, lint, rules};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let (rule, count) = (arguments.next(), arguments.next().and_then(|text| text.parse().ok()).unwrap_or(20));
    let mut documents = Vec::new();
    find(Path::new(&folder), &mut documents);
    documents.sort();
    let mut found: BTreeMap<&str, Vec<(Diagnostic, String)>> = BTreeMap::new();
    for path in &documents {
        judge(path, &mut found);
    }
    match rule {
        None => table(&found, documents.len()),
        Some(rule) => sample(found.get(rule.as_str()).map_or(&[][..], Vec::as_slice), count),
    }
}

fn judge(path: &Path, found: &mut BTreeMap<&str, Vec<(Diagnostic, String)>>) {
    let source = String::from_utf8_lossy(&std::fs::read(path).expect("a readable file")).into_owned();
    let folder = path.parent().expect("a folder");
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(document) = metier_skill::parse(source.as_bytes(), name.as_deref()).document else { return };
    let mut paths = Vec::new();
    list(folder, folder, &mut paths);
    // A corpus of documents alone says nothing about the files beside them.
    let files = if paths.len() > 1 { Files::Known(&paths) } else { Files::Unknown };
    let skill = Skill::new(path.into(), name.as_deref(), &source, &document, files);
    for one in lint(&skill) {
        found.entry(one.code.name()).or_default().push((one, source.clone()));
    }
}

fn table(found: &BTreeMap<&str, Vec<(Diagnostic, String)>>, files: usize) {
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
            let path = below.to_string_lossy().into_owned();
            files.push(File { path, size: 0, run_bit: RunBit::Clear, text: None });
        }
    }
}

//! Judges SKILL.md files by the open standard: `cargo run -p metier-skill --example standard -- FILE…`, a line each with
//! the path, `valid` or `invalid`, and the reasons, separated by tabs. For comparing with the reference validator; paths
//! can also come from standard input, one a line.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use metier_skill::profile::{FileView, Profile, judge};
use std::io::BufRead;
use std::path::Path;

fn main() {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        paths.extend(std::io::stdin().lock().lines().map(Result::unwrap));
    }
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let source = String::from_utf8_lossy(&bytes);
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned())
        };
        let folder = name(Path::new(&path).parent());
        let document = name(Some(Path::new(&path))).unwrap_or_default();
        let parsed = metier_skill::parse(&bytes, folder.as_deref());
        let view =
            FileView { document_name: &document, ..FileView::new(&source, &parsed, folder.as_deref()) };
        let verdict = judge(Profile::Standard, &view);
        let word = if verdict.loads.is_yes() { "valid" } else { "invalid" };
        println!("{path}\t{word}\t{}", verdict.refusals().join(" | "));
    }
}

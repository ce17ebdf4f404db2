//! Judges SKILL.md files: `cargo run -p metier-skill --example judge -- FILE…`, one line each. For working on the
//! parser; users have `metier list`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::path::Path;

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let folder = Path::new(&path)
            .parent()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned());
        let parsed = metier_skill::parse(&bytes, folder.as_deref());
        let codes: Vec<_> = parsed
            .diagnostics
            .iter()
            .map(|found| found.code.name())
            .filter(|name| *name != "unknown-key")
            .collect();
        match parsed.document {
            Some(document) => {
                let manifest = document.manifest;
                let description: String = manifest.description.text().chars().take(90).collect();
                println!("LOADED {path} | {} | {description} | {}", manifest.name, codes.join(" "));
            }
            None => println!(
                "REFUSED {path} | {} | {:?}",
                codes.join(" "),
                parsed.diagnostics.first().map(|found| (&found.message, found.line()))
            ),
        }
    }
}

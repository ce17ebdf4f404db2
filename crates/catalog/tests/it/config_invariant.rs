//! What holds for every text as a configuration. The property test and the fuzz target hold it.

use metier_catalog::{Config, code};
use metier_diagnostic::{Diagnostic, Paint, render_text};
use std::path::Path;
use std::sync::Arc;

/// What holds of a text.
pub(crate) fn holds(text: &str) {
    let (config, found) = read(text);
    for found in &found {
        // The words of a stranger's file do nothing to a terminal.
        let shown = render_text(found, Some(text), Paint::Plain);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        let place = found.place.unwrap_or_else(|| panic!("{found:?} has no place in {text:?}"));
        assert!(text.get(place.span.range()).is_some(), "{found:?} is about no piece of {text:?}");
    }
    if found.iter().any(|found| found.code == &code::CONFIG_SYNTAX) {
        return;
    }
    // One mistake more costs nothing that was there before.
    let (again, more) = read(&format!("{text}\n[this-is-no-section]\nx = 1\n"));
    if more.iter().any(|found| found.code == &code::CONFIG_SYNTAX) {
        // It can be there already.
        assert!(text.contains("this-is-no-section"), "{text:?}: {more:?}");
        return;
    }
    assert!(again == config, "{text:?} became {again:?}, it was {config:?}");
    assert_eq!(more.len(), found.len() + 1, "{text:?}: {more:?}");
}

fn read(text: &str) -> (Config, Vec<Diagnostic>) {
    let path: Arc<Path> = Arc::from(Path::new("config.toml"));
    Config::read(text, &path)
}

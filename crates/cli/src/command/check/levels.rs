//! The configuration's word on findings.

use metier_catalog::{LintConfig, Settings};
use metier_diagnostic::Diagnostic;
use metier_lint::{Level, Levels, rules};
use std::path::{Path, PathBuf};

/// The levels of every configuration, the nearest last.
pub(crate) struct Judgement {
    layers: Vec<(PathBuf, Levels)>,
    /// What is wrong with the configuration, in a sentence each.
    pub(crate) complaints: Vec<String>,
}

impl Judgement {
    pub(crate) fn new(settings: &Settings, current: &Path) -> Self {
        let mut judgement = Self { layers: Vec::new(), complaints: Vec::new() };
        for layer in &settings.lint {
            let levels = judgement.levels(&layer.config);
            judgement.layers.push((layer.folder.clone().unwrap_or_else(|| current.to_owned()), levels));
        }
        judgement
    }

    fn levels(&mut self, config: &LintConfig) -> Levels {
        let mut levels = Levels::default();
        let all = said(&config.allow, &config.warn, &config.deny);
        all.for_each(|(code, level)| levels.set(code, level));
        for path in &config.paths {
            let said = said(&path.allow, &path.warn, &path.deny);
            if let Err(error) = levels.set_below(&path.path, said) {
                self.complaints.push(format!("{error}; the table has no effect"));
            }
        }
        for code in levels.codes().filter(|code| !is_known(code)) {
            self.complaints.push(format!("the configuration names `{code}`, which no finding is called"));
        }
        levels
    }

    /// A finding as the configuration takes it; `None` when it is allowed.
    pub(crate) fn apply(&self, finding: Diagnostic, file: &Path) -> Option<Diagnostic> {
        let levels = self.layers.iter().rev().filter_map(|(folder, levels)| {
            let below = file.strip_prefix(folder).unwrap_or(file);
            levels.of(finding.code.name(), below)
        });
        match levels.into_iter().next() {
            Some(level) => level.apply(finding),
            None => Some(finding),
        }
    }
}

fn said<'c>(
    allow: &'c [String],
    warn: &'c [String],
    deny: &'c [String],
) -> impl Iterator<Item = (&'c str, Level)> {
    // The strictest last, so that it counts where a code stands in two lists.
    let at = |level: Level| move |code: &'c String| (code.as_str(), level);
    let allow = allow.iter().map(at(Level::Allow));
    allow.chain(warn.iter().map(at(Level::Warn))).chain(deny.iter().map(at(Level::Deny)))
}

fn is_known(code: &str) -> bool {
    let codes =
        metier_skill::code::ALL.iter().chain(metier_catalog::code::ALL).chain(metier_activation::code::ALL);
    let codes = codes.chain(metier_definition::code::ALL);
    let codes = codes.copied();
    codes.chain(rules::ALL.iter().map(|rule| &rule.code)).any(|known| known.name() == code)
}

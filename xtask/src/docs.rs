//! The reference pages that are generated from code, so that they cannot say anything else than it does.
//!
//! The binary itself prints most pages; this chore only knows which page comes from which command line. Limits are read from
//! the source.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::debug_build;
use crate::limits;
use crate::repository::Repository;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail when a page is not what the code would print
    #[arg(long)]
    check: bool,
}

/// A page and what it is made from.
struct Page {
    file: &'static str,
    made: Made,
}

/// Where a page comes from.
enum Made {
    /// `metier` prints it, given these arguments.
    By(&'static [&'static str]),
    /// The constants of the source.
    FromConstants,
}

const PAGES: &[Page] = &[
    Page { file: "docs/reference/limits.md", made: Made::FromConstants },
    Page { file: "docs/reference/config.schema.json", made: Made::By(&["schema", "config"]) },
    Page { file: "docs/reference/skill.schema.json", made: Made::By(&["schema", "skill"]) },
    Page { file: "docs/reference/agent.schema.json", made: Made::By(&["schema", "agent"]) },
    Page { file: "docs/reference/crew.schema.json", made: Made::By(&["schema", "crew"]) },
    Page { file: "docs/reference/diagnostics.md", made: Made::By(&["schema", "diagnostics"]) },
    Page { file: "docs/reference/rules.md", made: Made::By(&["schema", "rules"]) },
    Page { file: "docs/reference/cli.md", made: Made::By(&["schema", "cli"]) },
];

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    if arguments.check { check(repository) } else { write(repository) }
}

/// Fails, naming every stale page, when the committed pages are not what the code prints.
pub(crate) fn check(repository: &Repository) -> Result<()> {
    let mut stale = Vec::new();
    for page in PAGES {
        let printed = print(repository, page)?;
        if let Some(problem) = compare(committed(repository, page)?.as_deref(), &printed) {
            stale.push(format!("{}: {problem}", page.file));
        }
    }
    if !stale.is_empty() {
        bail!(
            "generated pages are not current; refresh them with `cargo xtask docs`\n  {}",
            stale.join("\n  ")
        );
    }
    println!("{} generated pages are current", PAGES.len());
    Ok(())
}

/// Writes the pages that changed.
fn write(repository: &Repository) -> Result<()> {
    for page in PAGES {
        let printed = print(repository, page)?;
        if compare(committed(repository, page)?.as_deref(), &printed).is_none() {
            println!("current  {}", page.file);
            continue;
        }
        let path = repository.root().join(page.file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        fs::write(&path, printed).with_context(|| format!("{} cannot be written", page.file))?;
        println!("written  {}", page.file);
    }
    Ok(())
}

/// What the code says the page is.
fn print(repository: &Repository, page: &Page) -> Result<String> {
    let Made::By(command) = page.made else { return limits::page(repository) };
    let mut metier = Command::new(debug_build::program(repository)?);
    // A page must not depend on who generates it, or where.
    metier.args(command).current_dir(repository.root()).env("NO_COLOR", "1").env("COLUMNS", "100");
    let printed = debug_build::printed(&mut metier, &[])
        .with_context(|| format!("{} cannot be generated", page.file))?;
    if printed.trim().is_empty() {
        bail!("{} cannot be generated: `metier {}` printed nothing", page.file, command.join(" "));
    }
    Ok(printed)
}

/// What the repository says the page is.
fn committed(repository: &Repository, page: &Page) -> Result<Option<String>> {
    match fs::read_to_string(repository.root().join(page.file)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", page.file)),
    }
}

/// Why the committed page is not the printed one, or nothing.
fn compare(committed: Option<&str>, printed: &str) -> Option<String> {
    let Some(committed) = committed else {
        return Some("does not exist".to_owned());
    };
    if committed == printed {
        return None;
    }
    let same = committed.lines().zip(printed.lines()).take_while(|(left, right)| left == right).count();
    Some(format!("differs from line {} on", same + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_current_only_byte_for_byte() {
        assert_eq!(compare(Some("a\nb\n"), "a\nb\n"), None);
        assert_eq!(compare(Some("a\nb\n"), "a\nc\n").as_deref(), Some("differs from line 2 on"));
        assert_eq!(compare(Some("a\n"), "a\nb\n").as_deref(), Some("differs from line 2 on"));
        assert_eq!(compare(Some("a"), "a\n").as_deref(), Some("differs from line 2 on"));
        assert_eq!(compare(None, "a\n").as_deref(), Some("does not exist"));
    }

    #[test]
    fn no_page_is_written_twice() {
        for (index, page) in PAGES.iter().enumerate() {
            assert!(PAGES[..index].iter().all(|other| other.file != page.file), "{} is twice", page.file);
        }
    }
}

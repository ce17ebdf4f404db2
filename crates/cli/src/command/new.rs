//! `new`: a folder with a SKILL.md that loads everywhere.

use crate::args::New;
use crate::output::Output;
use crate::question;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_diagnostic::apply;
use metier_files::{Mode, create_new_dir, write_new};
use metier_skill::{MAX_DESCRIPTION, is_canonical, set_text, slug};
use serde_json::json;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &New, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    if !is_canonical(&args.name) {
        let suggestion = slug(&args.name);
        let next = if suggestion.is_empty() { String::new() } else { format!("; try `{suggestion}`") };
        bail!(
            "`{}` is not a name that every client takes: use 1-64 lower-case letters, digits and single hyphens{next}",
            args.name
        );
    }
    let description = match &args.description {
        Some(description) => description.clone(),
        None => ask_for_description()?,
    };
    let description = description.trim();
    let length = description.chars().count();
    if length == 0 || length > MAX_DESCRIPTION {
        bail!("the description has {length} characters; every client takes 1 to {MAX_DESCRIPTION}");
    }
    let parent = match &args.folder {
        Some(folder) => surroundings.places.current.join(folder),
        None => surroundings.folder_for_new_skills(),
    };
    let folder = parent.join(&args.name);
    let text = document(&args.name, description, args.script)?;
    create_new_dir(&folder)
        .with_context(|| format!("{} cannot be made; choose another name or `--in DIR`", folder.display()))?;
    let mut files = vec![write(&folder.join("SKILL.md"), &text, Mode::Shared)?];
    if args.script {
        files.push(write(&folder.join("scripts/run.sh"), SCRIPT, Mode::Executable)?);
    }
    if output.is_json() {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let path = folder.display().to_string();
        return output.json(&json!({ "name": args.name, "path": path, "files": files }));
    }
    for file in &files {
        output.line(format!("wrote {}", file.display()))?;
    }
    output.comment(format!("next: write the instructions, then `metier explain {}`", args.name))?;
    Ok(())
}

fn write(path: &Path, text: &str, mode: Mode) -> Result<PathBuf> {
    write_new(path, text.as_bytes(), mode).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}

/// Asks on a terminal; elsewhere there is nobody to ask.
fn ask_for_description() -> Result<String> {
    if !io::stdin().is_terminal() {
        bail!("say what the skill does and when to use it: `--description \"…\"`");
    }
    let lines = ["What does it do, and when should it be used?".to_owned()];
    Ok(question::ask_text(&lines)?.unwrap_or_default())
}

/// The text of a new SKILL.md. The frontmatter is written by the same path that edits existing ones.
fn document(name: &str, description: &str, with_script: bool) -> Result<String> {
    let title = title(name);
    let steps = if with_script {
        "## Operation\n\n```\nbash scripts/run.sh\n```\n\nSay what the script prints and how to read it.\n"
    } else {
        "1. Say what to look at first.\n2. Say what to do with it.\n3. Say what the answer looks like.\n"
    };
    let mut text = format!("---\n---\n\n# {title}\n\n{steps}");
    for (key, value) in [("name", name), ("description", description)] {
        text = apply(&text, &set_text(&text, key, value)?);
    }
    Ok(text)
}

fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const SCRIPT: &str =
    "#!/usr/bin/env bash\n# What it does, in one sentence.\nset -euo pipefail\n\necho \"arguments: $*\"\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_skill_loads_without_a_word() {
        for with_script in [false, true] {
            let text = document("read-pdf", "Reads: PDFs #1. Use when asked.", with_script).unwrap();
            let parsed = metier_skill::parse(text.as_bytes(), Some("read-pdf"));
            assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
            let manifest = parsed.document.unwrap().manifest;
            assert_eq!(manifest.description.text(), "Reads: PDFs #1. Use when asked.");
            assert!(text.contains("# Read pdf\n"));
        }
    }
}

//! Trees of skills to find: the same bytes on every machine, made once and kept below the target folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::frontmatter::frontmatter;
use crate::prose;
use crate::random::Random;

/// Changes whenever the text below changes, so that old trees are made anew.
const EDITION: &str = "1";

/// A root with skills directly below it.
pub(crate) struct Tree {
    /// What the tables call it.
    pub(crate) name: String,
    /// The root.
    pub(crate) root: PathBuf,
    /// How many skills there are.
    pub(crate) skills: usize,
    /// What share of them a loader that does its work must at least load.
    pub(crate) least_percent: usize,
}

impl Tree {
    /// A tree of generated skills.
    pub(crate) fn generated(trees: &Path, skills: usize) -> Result<Self> {
        let root = make(&trees.join(format!("generated-{skills}")), EDITION, |root| {
            (0..skills).try_for_each(|index| write_skill(root, index))
        })?;
        Ok(Self { name: format!("generated {}", thousands(skills)), root, skills, least_percent: 100 })
    }
}

/// Makes a tree, unless it is there whole and of this stamp, and gives its root.
///
/// The stamp lies beside the root and is written last: a tree that was interrupted has none.
pub(crate) fn make(folder: &Path, stamp: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let (root, marker) = (folder.join("skills"), folder.join("stamp"));
    if fs::read_to_string(&marker).is_ok_and(|found| found == stamp) {
        return Ok(root);
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    eprintln!("making {}", folder.display());
    fs::create_dir_all(&root).with_context(|| format!("{} cannot be made", root.display()))?;
    fill(&root)?;
    write(&marker, stamp)?;
    Ok(root)
}

fn write_skill(root: &Path, index: usize) -> Result<()> {
    let mut random = Random::new(u64::try_from(index)? + 1);
    let name = format!("{}-{index:05}", prose::name(&mut random));
    let folder = root.join(&name);
    fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut text = frontmatter(&mut random, &name);
    let bytes = random.between(2_000, 12_000);
    text.push('\n');
    text.push_str(&prose::markdown(&mut random, &name, bytes.saturating_sub(text.len())));
    write(&folder.join("SKILL.md"), text)?;
    if random.percent(50) {
        resources(&mut random, &folder)?;
    }
    Ok(())
}

/// Scripts and references, which a scan has no business with: their cost shows when it looks anyway.
fn resources(random: &mut Random, folder: &Path) -> Result<()> {
    let (scripts, references) = (folder.join("scripts"), folder.join("references"));
    fs::create_dir(&scripts)?;
    fs::create_dir(&references)?;
    write(
        &scripts.join("run.py"),
        format!("#!/usr/bin/env python3\n\"\"\"{}\"\"\"\n", prose::sentence(random)),
    )?;
    if random.percent(40) {
        let name = format!("{}.sh", prose::noun(random));
        write(&scripts.join(name), "#!/bin/sh\nset -eu\nexec python3 \"$(dirname \"$0\")/run.py\" \"$@\"\n")?;
    }
    for _ in 0..random.between(1, 3) {
        let name = format!("{}.md", prose::noun(random));
        let bytes = random.between(500, 3_000);
        let text = prose::markdown(random, &name, bytes);
        write(&references.join(name), text)?;
    }
    Ok(())
}

/// Writes a file of a tree.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}

/// `10000` as `10,000`.
pub(crate) fn thousands(number: usize) -> String {
    metier_diagnostic::grouped(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_what_it_says_and_is_made_once() {
        let trees = std::env::temp_dir().join(format!("metier-benches-{}", std::process::id()));
        let tree = Tree::generated(&trees, 60).unwrap();
        let folders: Vec<PathBuf> =
            fs::read_dir(&tree.root).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(folders.len(), 60);
        for folder in &folders {
            let bytes = fs::metadata(folder.join("SKILL.md")).unwrap().len();
            assert!((2_000..=12_100).contains(&bytes), "{bytes}");
            let properties = skills_ref::read_properties(folder).unwrap();
            assert_eq!(Some(properties.name.as_str()), folder.file_name().and_then(|name| name.to_str()));
        }
        let with_scripts = folders.iter().filter(|folder| folder.join("scripts").is_dir()).count();
        assert!((20..=40).contains(&with_scripts), "{with_scripts}");

        let before = fs::metadata(&tree.root).unwrap().modified().unwrap();
        Tree::generated(&trees, 60).unwrap();
        assert_eq!(fs::metadata(&tree.root).unwrap().modified().unwrap(), before);
        fs::remove_dir_all(&trees).unwrap();
    }
}

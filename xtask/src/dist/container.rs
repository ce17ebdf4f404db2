//! The folder that a container is built from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::contents::Contents;
use super::program::Program;
use super::write;

const CONTAINERFILE: &str = include_str!("Containerfile");

/// Writes the folder anew and gives the files in it.
pub(super) fn write_context(folder: &Path, program: &Program, contents: &Contents) -> Result<Vec<PathBuf>> {
    let _ = fs::remove_dir_all(folder);
    // The home is empty; the container's user owns the copy.
    for name in ["home", "licences"] {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    }
    let (file, copy) = (folder.join("Containerfile"), folder.join("metier"));
    write(&file, CONTAINERFILE.as_bytes())?;
    fs::copy(&program.path, &copy).with_context(|| format!("{} cannot be written", copy.display()))?;
    let mut written = vec![file, copy];
    for (name, bytes) in contents.licences() {
        let path = folder.join("licences").join(name);
        write(&path, bytes)?;
        written.push(path);
    }
    Ok(written)
}

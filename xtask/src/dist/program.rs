//! The static program: built, checked, and copied to where it is packaged.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Message, MetadataCommand};

use super::{Profile, megabytes, name_services};
use crate::cargo::Cargo;
use crate::repository::Repository;

/// Bytes that the shipped program may have. More is a reason to look for what takes the room.
///
/// The program itself is below 20 MB; the C library that is linked into the static one takes 1 MB more.
const MAX_SIZE: usize = 21_000_000;

/// The type of the ELF segment that names a dynamic loader.
const PT_INTERP: u32 = 3;

/// The program, with its version.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

impl Program {
    /// Builds it and copies it to `folder`.
    ///
    /// The flags are for the last crate only. The libraries below it are those of an ordinary build with this profile, so nothing
    /// is compiled twice. How the C library is linked is decided with the last crate.
    pub(super) fn build(repository: &Repository, profile: Profile, folder: &Path) -> Result<Self> {
        // Cargo compiles the last crate anew when the path of the object file changes, so it stays the same.
        let objects = folder.join("objects");
        fs::create_dir_all(&objects)?;
        let cargo = Cargo::new(repository, ["rustc", "--locked", "--package", "metier", "--bin", "metier"])
            .arguments(&["--profile", profile.name(), "--message-format", "json-render-diagnostics", "--"])
            .arguments(&["-C", "target-feature=+crt-static", "-C", "relocation-model=static"])
            .argument(format!("-Clink-arg={}", name_services::object(&objects)?.display()));
        let mut built: Option<PathBuf> = None;
        cargo.read(|output| {
            for message in Message::parse_stream(BufReader::new(output)) {
                if let Message::CompilerArtifact(artifact) = message? {
                    built = artifact.executable.map(PathBuf::from).or(built.take());
                }
            }
            Ok(())
        })?;
        let built = built.context("cargo built no program; look at its messages above")?;
        // A copy: cargo puts the next build with this profile in the same place.
        let path = folder.join("metier");
        fs::copy(&built, &path).with_context(|| format!("{} cannot be written", path.display()))?;
        let program = Self::built(folder)?;
        program.check(profile)?;
        Ok(program)
    }

    /// The program of the last build.
    pub(super) fn built(folder: &Path) -> Result<Self> {
        let path = folder.join("metier");
        if !path.is_file() {
            bail!("{} is missing; leave --skip-build out once", path.display());
        }
        Ok(Self { path, version: version()? })
    }

    fn check(&self, profile: Profile) -> Result<()> {
        let bytes = fs::read(&self.path)?;
        match has_loader(&bytes) {
            Some(false) => {}
            Some(true) => {
                bail!(
                    "{} needs a dynamic loader; is the C library's `libc.a` installed?",
                    self.path.display()
                )
            }
            None => bail!("{} is not a 64-bit ELF program", self.path.display()),
        }
        // Only the shipped profile is optimised for size, too.
        if matches!(profile, Profile::Dist) && bytes.len() > MAX_SIZE {
            bail!(
                "the program has {}, more than {}; `cargo bloat --profile dist --package metier --crates` shows what takes the room",
                megabytes(bytes.len()),
                megabytes(MAX_SIZE)
            );
        }
        Ok(())
    }
}

fn version() -> Result<String> {
    let metadata =
        MetadataCommand::new().no_deps().exec().context("cargo does not describe the workspace")?;
    let package = metadata.packages.iter().find(|package| package.name == "metier");
    Ok(package.context("the workspace has no package `metier`")?.version.to_string())
}

/// Whether an ELF program names a dynamic loader. `None` when it is not a little-endian 64-bit ELF program.
fn has_loader(bytes: &[u8]) -> Option<bool> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let at = |offset: usize, length: usize| -> Option<u64> {
        let field = bytes.get(offset..offset.checked_add(length)?)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let table = usize::try_from(at(32, 8)?).ok()?;
    let (size, count) = (usize::try_from(at(54, 2)?).ok()?, usize::try_from(at(56, 2)?).ok()?);
    for index in 0..count {
        if at(table.checked_add(size * index)?, 4)? == u64::from(PT_INTERP) {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF head with one program header of this type.
    fn elf(kind: u8) -> Vec<u8> {
        let mut bytes = vec![0; 120];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = kind;
        bytes
    }

    #[test]
    fn a_program_with_an_interpreter_is_not_static() {
        assert_eq!(has_loader(&elf(3)), Some(true));
        assert_eq!(has_loader(&elf(1)), Some(false));
    }

    #[test]
    fn other_files_and_cut_ones_are_not_programs() {
        assert_eq!(has_loader(b"#!/bin/sh\n"), None);
        assert_eq!(has_loader(&elf(1)[..60]), None);
    }
}

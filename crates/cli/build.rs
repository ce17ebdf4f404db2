//! How the program is linked, and the skills that come with it.

#![expect(clippy::disallowed_methods, reason = "this runs where metier is built, on its own files")]

use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the skills that come with metier, seen from this crate.
const SKILLS: &str = "../../skills";

/// What programs leave behind and nobody means to ship.
const LEFT_BEHIND: &[&str] = &["__pycache__", "node_modules", ".DS_Store"];

/// FNV-1a with 128 bits, which needs no library. It only names a folder: no two sets of skills share a name by chance, and
/// that the files in it are ours is known from their bytes.
struct Digest(u128);

impl Digest {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // A program that can be loaded anywhere has twenty thousand pointers to be corrected at every start, which is a third
    // of the time of a short command. At a fixed address there are none. What is given up is that an attacker who can
    // already corrupt memory does not know where this program's own code lies; nearly all of it is safe Rust, and
    // libraries, heap and stacks stay where chance puts them. Programs in Go are linked like this as a rule.
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        link_unwinder_in(&folder("OUT_DIR")?)?;
    }
    let skills = fs::canonicalize(folder("CARGO_MANIFEST_DIR")?.join(SKILLS))?;
    println!("cargo:rerun-if-changed={}", skills.display());
    fs::write(folder("OUT_DIR")?.join("bundled.rs"), bundled(&skills)?)
}

/// Has the compiler's own library of unwinding linked in, where it is there to be linked. As a library of its own it is found,
/// mapped and started anew with every process, and asks the processor what it can do, which a virtual machine answers
/// slowly: together some 150 µs of a command that takes three milliseconds. The standard library asks for it by name, so
/// under that name there is a script for the linker that says where it is.
fn link_unwinder_in(folder: &Path) -> io::Result<()> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let found = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output();
    // A path of one step is the compiler's way of saying that there is none.
    let path = found.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    if Path::new(path.trim()).is_absolute() {
        fs::write(folder.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n")?;
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    Ok(())
}

/// The source of `FILES` and `DIGEST` (see `src/bundled.rs`). Same files, same source.
fn bundled(skills: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    collect(skills, "", &mut files)?;
    files.sort();
    let mut digest = Digest::new();
    let mut source = String::from("pub(super) const FILES: &[ImprintFile] = &[\n");
    for path in files {
        let place = skills.join(&path);
        let bytes = fs::read(&place)?;
        let executable = fs::metadata(&place)?.permissions().mode() & 0o111 != 0;
        // Each part says how long it is, so that no byte can move from one to the next and leave the same digest.
        for part in [path.as_bytes(), &[u8::from(executable)], &bytes] {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let place = place.to_str().ok_or_else(|| io::Error::other("the folder's path is not UTF-8"))?;
        writeln!(
            source,
            "    ImprintFile {{ path: {path:?}, executable: {executable}, bytes: include_bytes!({place:?}) }},"
        )
        .map_err(io::Error::other)?;
    }
    writeln!(source, "];\npub(super) const DIGEST: &str = \"{:032x}\";", digest.0)
        .map_err(io::Error::other)?;
    Ok(source)
}

/// The paths of all files below a folder, `/` between the parts.
fn collect(folder: &Path, inside: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| {
            io::Error::other(format!("{} is not UTF-8: rename it", Path::new(&name).display()))
        })?;
        if LEFT_BEHIND.contains(&name.as_str()) || name.ends_with('~') {
            continue;
        }
        let path = if inside.is_empty() { name } else { format!("{inside}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        } else {
            return Err(io::Error::other(format!("{path} is neither a file nor a folder: replace it")));
        }
    }
    Ok(())
}

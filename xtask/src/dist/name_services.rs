//! Which services the static program asks for hosts and users.
//!
//! glibc loads the services of `/etc/nsswitch.conf` as libraries of the system, which bring the system's own C library along. In a
//! static program that ends the process where that library is another version: on a Debian 13 or 11, from a Debian 12, with
//! `mdns4_minimal` or `mymachines` in the line `hosts`, which desktops have. Files and DNS are in the program itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The source of an object file of its own: the program's crates have no unsafe code for it. Functions of this section run before
/// `main`.
const SOURCE: &str = r#"
#![no_std]
use core::ffi::{c_char, c_int};

unsafe extern "C" {
    fn __nss_configure_lookup(database: *const c_char, services: *const c_char) -> c_int;
}

#[used]
#[unsafe(link_section = ".init_array.00101")]
static NAME_SERVICES: extern "C" fn() = name_services;

extern "C" fn name_services() {
    unsafe {
        __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr());
        __nss_configure_lookup(c"passwd".as_ptr(), c"files".as_ptr());
        __nss_configure_lookup(c"group".as_ptr(), c"files".as_ptr());
    }
}
"#;

/// Compiles the object file into `folder`.
pub(super) fn object(folder: &Path) -> Result<PathBuf> {
    let (source, object) = (folder.join("name_services.rs"), folder.join("name_services.o"));
    fs::write(&source, SOURCE).with_context(|| format!("{} cannot be written", source.display()))?;
    let mut rustc = Command::new("rustc");
    // Nothing here panics. Code for it would name a function that optimisation of the whole program has made private.
    rustc
        .args(["--edition=2024", "--crate-type=lib", "--emit=obj", "-Cpanic=abort", "-Copt-level=1", "-o"])
        .arg(&object)
        .arg(&source);
    let output = rustc.output().context("`rustc` could not be started")?;
    if !output.status.success() {
        bail!("{} does not compile: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(object)
}

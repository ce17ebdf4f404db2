//! The package for Debian, Ubuntu and their kin: an `ar` archive of a version, a control file and the files.

use anyhow::Result;

use super::archive::compressed;
use super::contents::{Contents, Files, PackagedFile};

/// The whole package.
pub(super) fn package(contents: &Contents, version: &str, time: u64) -> Result<Vec<u8>> {
    let files: Files = contents.files().iter().map(|(path, file)| (place(path), file.clone())).collect();
    let kibibytes = files.values().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let control = PackagedFile { bytes: control(version, kibibytes).into_bytes(), is_executable: false };
    let control = compressed(&Files::from([("control".to_owned(), control)]), ".", time)?;
    let data = compressed(&files, ".", time)?;
    let mut builder = ar::Builder::new(Vec::new());
    // dpkg reads the members in this order.
    for (name, bytes) in
        [("debian-binary", b"2.0\n".as_slice()), ("control.tar.gz", &control), ("data.tar.gz", &data)]
    {
        let mut header = ar::Header::new(name.into(), bytes.len() as u64);
        header.set_mtime(time);
        header.set_mode(0o100_644);
        builder.append(&header, bytes)?;
    }
    Ok(builder.into_inner()?)
}

/// Debian's zsh looks for completions of packages in a folder of its own.
fn place(path: &str) -> String {
    format!("usr/{}", path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/"))
}

/// The program is static, so the package depends on nothing. Bubblewrap is the second way to contain a process.
fn control(version: &str, kibibytes: usize) -> String {
    format!(
        "Package: metier\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: The maintainers of metier <maintainers@metier.invalid>\n\
         Installed-Size: {kibibytes}\n\
         Suggests: bubblewrap\n\
         Section: utils\n\
         Priority: optional\n\
         Description: finds, checks and runs Agent Skills\n \
         metier loads folders with a SKILL.md, says what is wrong with them, and runs\n \
         their scripts contained by the kernel, with a language model or without.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_file_has_one_field_a_line() {
        let text = control("1.2.3", 17);
        assert!(text.starts_with("Package: metier\nVersion: 1.2.3\nArchitecture: amd64\n"));
        assert!(text.contains("\nInstalled-Size: 17\n"));
        assert!(text.lines().all(|line| line.starts_with(' ') || line.contains(": ")), "{text}");
    }

    #[test]
    fn completions_for_zsh_are_where_debian_has_them() {
        assert_eq!(place("share/zsh/site-functions/_metier"), "usr/share/zsh/vendor-completions/_metier");
        assert_eq!(place("bin/metier"), "usr/bin/metier");
    }
}

//! The exact wheels of an environment, each with its digest.

use super::environment_dir::Package;
use super::requirement::normal_name;

/// One wheel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedWheel {
    pub(crate) package: Package,
    sha256: String,
    pub(crate) file: String,
}

impl LockedWheel {
    /// A wheel by its file, which says name and version, and its digest; `None` where these are none.
    pub(crate) fn new(file: &str, sha256: &str) -> Option<Self> {
        let is_plain = |text: &str| {
            text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+' | b'!'))
        };
        let is_digest = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_plain(file) || file.starts_with(['.', '-']) || !is_digest {
            return None;
        }
        let mut parts = file.strip_suffix(".whl")?.split('-');
        let (name, version) = (parts.next()?, parts.next()?);
        let package = Package { name: normal_name(name), version: version.replace('_', "-") };
        let is_whole = !package.name.is_empty() && !package.version.is_empty();
        is_whole.then(|| Self { package, sha256: sha256.to_ascii_lowercase(), file: file.to_owned() })
    }
}

/// The lock as pip reads it.
pub(crate) fn write(wheels: &[LockedWheel]) -> Vec<u8> {
    let mut text = String::from("# Made by `metier prepare`. Each line is one wheel; pip takes no other.\n");
    for LockedWheel { package: Package { name, version }, sha256, file } in wheels {
        text.push_str(&format!("{name}=={version} --hash=sha256:{sha256} # {file}\n"));
    }
    text.into_bytes()
}

/// Reads a lock; `None` where it is not one that was written here.
pub(crate) fn read(bytes: &[u8]) -> Option<Vec<LockedWheel>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let one = |line: &str| {
        let (rest, file) = line.split_once(" # ")?;
        let (package, sha256) = rest.split_once(" --hash=sha256:")?;
        let wheel = LockedWheel::new(file, sha256)?;
        (format!("{}=={}", wheel.package.name, wheel.package.version) == package).then_some(wheel)
    };
    lines.map(one).collect::<Option<Vec<_>>>().filter(|wheels| !wheels.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_nothing_else_is() {
        let digest = "0123456789abcdef".repeat(4);
        let wheels = [
            LockedWheel::new("Zope.Interface-5.0-cp311-cp311-linux_x86_64.whl", &digest).unwrap(),
            LockedWheel::new("six-1.17.0+x-py2.py3-none-any.whl", &digest).unwrap(),
        ];
        let bytes = write(&wheels);
        assert_eq!(read(&bytes).unwrap(), wheels);
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains(&format!("zope-interface==5.0 --hash=sha256:{digest} # Zope.Interface-5.0-")),
            "{text}"
        );
        assert_eq!(read(b""), None);
        assert_eq!(read(b"six\n"), None);
        assert_eq!(read(text.replace("six==", "seven==").as_bytes()), None);
        for file in ["six.whl", "../six-1-py3-none-any.whl", "six-1.tar.gz", "-r-1.whl", "a b-1-x.whl", ""] {
            assert_eq!(LockedWheel::new(file, &digest), None, "{file}");
        }
        assert_eq!(LockedWheel::new("six-1-py3-none-any.whl", "00"), None);
    }
}

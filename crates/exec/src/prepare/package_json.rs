//! What a skill's `package.json` wants of the Node registry.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The packages of a `package.json`, and the versions that its `package-lock.json` holds them to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodePackages {
    /// Names and the versions that are wanted.
    pub wanted: BTreeMap<String, String>,
    /// The `package.json` that is installed from: where there is a lock it is the skill's own, else only its packages.
    pub(crate) manifest: Vec<u8>,
    /// The skill's `package-lock.json`.
    pub(crate) lock: Option<Vec<u8>>,
}

/// Why a `package.json` is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// It is no JSON object.
    #[error("it is no JSON object{0}")]
    NoObject(String),
    /// A key has another type than it should.
    #[error("`{0}` should be an object of names and versions")]
    Type(&'static str),
    /// A name that no package has.
    #[error("`{0}` is no name of a package")]
    Name(String),
    /// A package that comes from elsewhere.
    #[error(
        "`{name}` comes from `{from}`: only packages of the registry are installed; name a version, such as `^4.1.0`"
    )]
    Place {
        /// The package.
        name: String,
        /// What stands in the version's place.
        from: String,
    },
    /// A lock that nothing can be installed from.
    #[error(
        "its lock has no `packages`: it was written by npm 6 or older; write it anew with `npm install --package-lock-only`"
    )]
    OldLock,
}

/// The keys of a `package.json` whose packages are installed. Those for development are not.
const INSTALLED: &[&str] = &["dependencies", "optionalDependencies"];

impl NodePackages {
    /// Reads a `package.json` and its lock; `None` where it wants nothing. `registry` is the only place that a lock may
    /// name.
    pub(crate) fn read(
        manifest: &[u8],
        lock: Option<&[u8]>,
        registry: &str,
    ) -> Result<Option<Self>, PackageError> {
        let manifest_json = object(manifest)?;
        let mut wanted = BTreeMap::new();
        let mut reduced = Map::new();
        reduced.insert("name".to_owned(), json!("skill"));
        reduced.insert("private".to_owned(), json!(true));
        for &key in INSTALLED {
            let Some(value) = manifest_json.get(key) else { continue };
            let packages = value.as_object().ok_or(PackageError::Type(key))?;
            for (name, version) in packages {
                let version = version.as_str().ok_or(PackageError::Type(key))?;
                check(name, version)?;
                wanted.insert(name.clone(), version.to_owned());
            }
            reduced.insert(key.to_owned(), value.clone());
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        let Some(lock) = lock else {
            let manifest = Value::Object(reduced).to_string().into_bytes();
            return Ok(Some(Self { wanted, manifest, lock: None }));
        };
        locked(lock, registry)?;
        Ok(Some(Self { wanted, manifest: manifest.to_vec(), lock: Some(lock.to_vec()) }))
    }
}

/// What a lock holds: names and versions, in order. Every package of it has to come from the registry.
pub(crate) fn locked(lock: &[u8], registry: &str) -> Result<Vec<(String, String)>, PackageError> {
    let lock = object(lock)?;
    let packages = lock.get("packages").and_then(Value::as_object).ok_or(PackageError::OldLock)?;
    let mut found = Vec::new();
    for (path, package) in packages {
        // The empty path is the skill itself.
        let Some((_, name)) = path.rsplit_once("node_modules/") else {
            if path.is_empty() {
                continue;
            }
            return Err(PackageError::Place { name: path.clone(), from: "a folder".to_owned() });
        };
        let is_text = |key: &str| package.get(key).and_then(Value::as_str);
        // npm itself writes the registry's usual address, whichever registry it asked.
        let is_known =
            |from: &str| from.starts_with(registry) || from.starts_with("https://registry.npmjs.org/");
        if let Some(from) = is_text("resolved").filter(|from| !is_known(from)) {
            return Err(PackageError::Place { name: name.to_owned(), from: from.to_owned() });
        }
        let is_dev = package.get("dev").and_then(Value::as_bool).unwrap_or_default();
        if let Some(version) = is_text("version").filter(|_| !is_dev) {
            found.push((name.to_owned(), version.to_owned()));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, PackageError> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(PackageError::NoObject(String::new())),
        Err(error) => Err(PackageError::NoObject(format!(": {error}"))),
    }
}

/// A name with a scope or without, and a version, a range or a tag. Whatever has a colon or a slash is an address, a file
/// or somebody's repository, but for `npm:other@1.0.0`, which is another name in the same registry.
fn check(name: &str, version: &str) -> Result<(), PackageError> {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~'))
    };
    let is_name = |name: &str| match name.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        Some((scope, name)) => is_part(scope) && is_part(name),
        None => is_part(name),
    };
    if !is_name(name) || name.len() > 214 {
        return Err(PackageError::Name(name.chars().take(80).collect()));
    }
    let place = || PackageError::Place { name: name.to_owned(), from: version.chars().take(80).collect() };
    let range = match version.strip_prefix("npm:") {
        Some(other) => {
            let at = other.rfind('@').filter(|&at| at > 0);
            let (other, range) = at.map_or((other, ""), |at| (&other[..at], &other[at + 1..]));
            if !is_name(other) {
                return Err(place());
            }
            range
        }
        None => version,
    };
    let is_range = |c: char| c.is_ascii_alphanumeric() || " .-_+^~<>=|*".contains(c);
    if range.chars().all(is_range) { Ok(()) } else { Err(place()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REGISTRY: &str = "https://registry.npmjs.org/";

    fn read(manifest: &Value, lock: Option<&Value>) -> Result<Option<NodePackages>, PackageError> {
        let lock = lock.map(|lock| lock.to_string().into_bytes());
        NodePackages::read(manifest.to_string().as_bytes(), lock.as_deref(), REGISTRY)
    }

    #[test]
    fn packages_of_the_registry_are_taken_and_scripts_left_out() {
        let manifest = json!({
            "scripts": { "postinstall": "rm -rf /" },
            "dependencies": { "left-pad": "^1.3.0", "@scope/a.b": ">=1 <2 || 3.x", "other": "npm:real@1.0.0", "t": "latest" },
            "devDependencies": { "x": "git+https://e.example/x.git" },
        });
        let packages = read(&manifest, None).unwrap().unwrap();
        assert_eq!(packages.wanted.len(), 4);
        let text = String::from_utf8(packages.manifest).unwrap();
        assert!(!text.contains("postinstall") && !text.contains("devDependencies"), "{text}");
        assert_eq!(read(&json!({ "name": "x", "type": "module" }), None), Ok(None));
        assert_eq!(read(&json!({ "dependencies": {} }), None), Ok(None));
    }

    #[test]
    fn what_comes_from_elsewhere_is_refused_with_the_reason() {
        for from in [
            "git+https://e.example/x.git",
            "https://e.example/x.tgz",
            "file:../x",
            "user/repo",
            "github:user/repo",
            "workspace:*",
            "link:x",
            "npm:../x@1",
            "npm:@1",
        ] {
            let error = read(&json!({ "dependencies": { "x": from } }), None).unwrap_err().to_string();
            assert!(error.contains("only packages of the registry"), "{from}: {error}");
        }
        for name in ["", "../x", "a b", "@/x", "@a/b/c", ".bin", "x\n"] {
            let manifest = json!({ "dependencies": { name: "1" } });
            assert!(matches!(read(&manifest, None), Err(PackageError::Name(_))), "{name}");
        }
        assert!(read(&json!({ "dependencies": [] }), None).is_err());
        assert!(read(&json!({ "dependencies": { "x": 1 } }), None).is_err());
        assert!(read(&json!([]), None).is_err());
    }

    #[test]
    fn a_lock_is_taken_when_all_of_it_comes_from_the_registry() {
        let manifest = json!({ "dependencies": { "a": "1" } });
        let lock = |resolved: &str| {
            json!({ "packages": {
                "": { "name": "skill" },
                "node_modules/a": { "version": "1.0.0", "resolved": resolved },
                "node_modules/a/node_modules/@s/b": { "version": "2.0.0" },
                "node_modules/d": { "version": "3.0.0", "dev": true },
            } })
        };
        let fine = lock("https://registry.npmjs.org/a/-/a-1.0.0.tgz");
        assert!(read(&manifest, Some(&fine)).unwrap().unwrap().lock.is_some());
        let found = locked(fine.to_string().as_bytes(), REGISTRY).unwrap();
        assert_eq!(found, [("@s/b".to_owned(), "2.0.0".to_owned()), ("a".to_owned(), "1.0.0".to_owned())]);
        let error = read(&manifest, Some(&lock("https://e.example/a.tgz"))).unwrap_err();
        assert_eq!(error, PackageError::Place { name: "a".into(), from: "https://e.example/a.tgz".into() });
        let linked = json!({ "packages": { "packages/x": { "version": "1" } } });
        assert!(matches!(read(&manifest, Some(&linked)), Err(PackageError::Place { .. })));
        assert_eq!(read(&manifest, Some(&json!({ "dependencies": {} }))), Err(PackageError::OldLock));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(manifest in any::<Vec<u8>>(), name in any::<String>(), version in any::<String>()) {
            let _ = NodePackages::read(&manifest, Some(&manifest), REGISTRY);
            let _ = read(&json!({ "dependencies": { name.clone(): version.clone() } }), None);
            let _ = read(
                &json!({ "dependencies": { "a": "1" } }),
                Some(&json!({ "packages": { name: { "resolved": version } } })),
            );
        }
    }
}

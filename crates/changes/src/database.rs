//! Databases of several files: what another program did to one of them was done to all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use crate::beneath::Tree;
use crate::path::LayerPath;
use crate::stamp::{Time, changed};

/// How the files beside a database of `SQLite` end. New content is in the first, and not in the database, for a long time.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Of the paths that a call changed, those that belong to a database of which another program changed a file since a time.
pub(crate) fn changed_databases<'a>(
    project: &Tree,
    since: Time,
    paths: impl Iterator<Item = &'a LayerPath>,
) -> io::Result<BTreeSet<LayerPath>> {
    // By folder and by the database's name.
    let mut families: BTreeMap<Option<LayerPath>, BTreeMap<Vec<u8>, Vec<&LayerPath>>> = BTreeMap::new();
    for path in paths {
        let Some(name) = path.as_path().file_name() else { continue };
        let family = families.entry(path.parent()).or_default();
        family.entry(database(name).to_owned()).or_default().push(path);
    }
    let mut conflicts = BTreeSet::new();
    for (folder, databases) in families {
        // A new folder has no files of another program.
        let Ok(names) = project.names(folder.as_ref()) else { continue };
        let companions: BTreeSet<&[u8]> =
            names.iter().filter(|name| is_companion(name)).map(|name| database(name)).collect();
        for (name, members) in databases {
            let is_database = companions.contains(&name[..])
                || members.iter().any(|path| path.as_path().file_name().is_some_and(is_companion));
            if is_database && was_written(project, folder.as_ref(), &name, since)? {
                conflicts.extend(members.into_iter().cloned());
            }
        }
    }
    Ok(conflicts)
}

/// The name of the database that a file belongs to.
fn database(name: &OsStr) -> &[u8] {
    let bytes = name.as_bytes();
    COMPANIONS.iter().find_map(|end| bytes.strip_suffix(end.as_bytes())).unwrap_or(bytes)
}

fn is_companion(name: impl AsRef<OsStr>) -> bool {
    database(name.as_ref()).len() < name.as_ref().len()
}

/// Whether a file of a database was changed since a time.
fn was_written(project: &Tree, folder: Option<&LayerPath>, name: &[u8], since: Time) -> io::Result<bool> {
    for end in std::iter::once("").chain(COMPANIONS) {
        let member = LayerPath::below(folder, OsStr::from_bytes(&[name, end.as_bytes()].concat()));
        if project.stat(&member)?.is_some_and(|stat| changed(&stat) >= since) {
            return Ok(true);
        }
    }
    Ok(false)
}

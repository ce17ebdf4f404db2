//! One file that an agent writes itself. It goes the way of a command's changes, without a process and without a mount: what
//! an overlay would have put into the layer is put there directly.

use std::collections::BTreeSet;

use metier_changes::{ApplyError, CallOrigin, ChangeSet, Layer, LayerError, LayerPath, apply, scan};
use metier_files::{Error, Ground, RelativePath};

use super::{ChangeReport, ChangeState, ProjectLayers, ReportedChange};

/// How often a write is tried. A file that was written within the same tick of the file system's clock in which the layer was
/// made looks changed, and a tick later it does not.
const MAX_ATTEMPTS: usize = 2;

/// A file as it is and as it is to be.
#[derive(Clone, Copy, Debug)]
pub struct FileEdit<'a> {
    /// What writes it, for listings: `Write` or `Edit`.
    pub tool: &'a str,
    /// The project.
    pub project: &'a Ground,
    /// The file, without links on the way.
    pub path: &'a RelativePath,
    /// What is in it; `None` where there is no file.
    pub before: Option<&'a [u8]>,
    /// What is to be in it.
    pub after: &'a [u8],
    /// Whether it runs or is obeyed later.
    pub protected: bool,
}

/// Why a file was not written. The project is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// No layer can be made for the project.
    #[error(transparent)]
    NoLayer(LayerError),
    /// Another program changed the file.
    #[error("it changed meanwhile")]
    Changed,
    /// The file cannot be read.
    #[error(transparent)]
    Read(Error),
    /// The layer could not be filled, or compared with the project.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// The file could not be put in place.
    #[error(transparent)]
    Apply(ApplyError),
}

/// Writes one file through a layer, so that it is in the journal, listed, and can be undone.
pub fn write_file(layers: &ProjectLayers, edit: &FileEdit<'_>) -> Result<ChangeReport, EditError> {
    let mut attempt = 1;
    loop {
        match write_once(layers, edit) {
            Err(EditError::Changed) if attempt < MAX_ATTEMPTS && holds(edit)? => attempt += 1,
            written => return written,
        }
    }
}

fn write_once(layers: &ProjectLayers, edit: &FileEdit<'_>) -> Result<ChangeReport, EditError> {
    let origin = CallOrigin::new(format!("{} {}", edit.tool, edit.path), "agent", &layers.session);
    // Not above the session's layer: the agent reads the project itself.
    let layer = layers.store.create(edit.project.path(), origin).map_err(EditError::NoLayer)?;
    // The layer knows the time from which on a change by another program is a conflict. Before it, the content tells.
    let applied = if holds(edit)? { fill_and_apply(&layer, edit) } else { Err(EditError::Changed) };
    match applied {
        Ok(set) => {
            let entry = |change| ReportedChange::new(change, ChangeState::Applied, edit.protected, None);
            let entries = set.entries.iter().map(entry).collect();
            let report = ChangeReport { id: layer.id(), entries, ..ChangeReport::default() };
            layers.let_go(layer);
            Ok(report)
        }
        // Both states are needed to bring the project back, which recovery does.
        Err(error @ EditError::Apply(ApplyError::Stuck { .. })) => Err(error),
        Err(error) => {
            // The agent is told that nothing was written, so nothing waits. What cannot be removed, recovery lists.
            let _ = layer.remove();
            Err(error)
        }
    }
}

/// Whether the project still holds what the agent knows.
fn holds(edit: &FileEdit<'_>) -> Result<bool, EditError> {
    let found = match edit.project.open_file(edit.path) {
        Ok(file) => {
            let most = edit.before.map_or(0, <[u8]>::len) as u64 + 1;
            // Too large is different.
            file.read(most).ok()
        }
        Err(Error::NotFound { .. }) => return Ok(edit.before.is_none()),
        Err(error) => return Err(EditError::Read(error)),
    };
    Ok(found.is_some() && found.as_deref() == edit.before)
}

fn fill_and_apply(layer: &Layer, edit: &FileEdit<'_>) -> Result<ChangeSet, EditError> {
    let outside = || EditError::Read(Error::Outside { path: edit.path.as_path().to_owned() });
    let path = LayerPath::new(edit.path.as_path().to_owned()).ok_or_else(outside)?;
    layer.put_file(&path, edit.after)?;
    let set = scan(layer)?;
    if set.entries.iter().any(|change| change.conflict.is_some()) {
        return Err(EditError::Changed);
    }
    let paths: BTreeSet<LayerPath> = set.entries.iter().map(|change| change.path.clone()).collect();
    match apply(layer, &set, &paths) {
        Ok(_) => Ok(set),
        Err(ApplyError::Conflicts(_)) => Err(EditError::Changed),
        // Inside the project something else is mounted: no layer reaches there, and the file can be written without one.
        Err(ApplyError::Io { source, .. }) if source.kind() == std::io::ErrorKind::CrossesDevices => {
            let (doing, path) = ("move a file to", edit.project.path().join(edit.path.as_path()));
            Err(EditError::NoLayer(LayerError::Io { doing, path, source }))
        }
        Err(error) => Err(EditError::Apply(error)),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests play the other programs")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use metier_changes::{LayerState, LayerStore, undo};
    use metier_testkit::Workspace;

    use super::*;

    fn layers(workspace: &Workspace) -> ProjectLayers {
        ProjectLayers {
            store: LayerStore::new(&workspace.join("data")),
            session: "s".to_owned(),
            ignored: metier_catalog::IgnoredFiles::Keep,
            retention: metier_changes::DEFAULT_RETENTION,
        }
    }

    fn write(
        workspace: &Workspace,
        path: &str,
        before: Option<&str>,
        after: &str,
    ) -> Result<ChangeReport, EditError> {
        let project = Ground::open(&workspace.join("project")).unwrap();
        let path = path.parse().unwrap();
        let edit = FileEdit {
            tool: "Write",
            project: &project,
            path: &path,
            before: before.map(str::as_bytes),
            after: after.as_bytes(),
            protected: false,
        };
        write_file(&layers(workspace), &edit)
    }

    fn holds(workspace: &Workspace, path: &str) -> Option<String> {
        std::fs::read_to_string(workspace.join("project").join(path)).ok()
    }

    #[test]
    fn a_file_is_written_listed_and_undone() {
        let workspace = Workspace::new().dir("data").executable("project/run.sh", "one");
        let report = write(&workspace, "run.sh", Some("one"), "two").unwrap();
        assert_eq!(holds(&workspace, "run.sh").as_deref(), Some("two"));
        let mode = std::fs::metadata(workspace.join("project/run.sh")).unwrap().mode();
        assert_eq!(mode & 0o111, 0o111, "{mode:o}");
        let paths: Vec<_> = report.entries.iter().map(|entry| (&*entry.path, entry.state)).collect();
        assert_eq!(paths, [("run.sh", ChangeState::Applied)]);
        let store = layers(&workspace).store;
        let listed = store.list(None);
        assert_eq!((listed[0].state, &*listed[0].origin.command), (LayerState::Applied, "Write run.sh"));
        assert!(undo(&store.open(&report.id).unwrap()).unwrap().is_some());
        assert_eq!(holds(&workspace, "run.sh").as_deref(), Some("one"));
    }

    #[test]
    fn a_new_file_brings_its_folders_and_leaves_the_others_alone() {
        let workspace = Workspace::new().dir("data").dir("project/a");
        let closed = workspace.join("project/a");
        std::fs::set_permissions(&closed, Permissions::from_mode(0o750)).unwrap();
        let report = write(&workspace, "a/b/c/new.txt", None, "x").unwrap();
        assert_eq!(holds(&workspace, "a/b/c/new.txt").as_deref(), Some("x"));
        assert_eq!(std::fs::metadata(&closed).unwrap().mode() & 0o777, 0o750);
        let paths: Vec<_> = report.entries.iter().map(|entry| &*entry.path).collect();
        assert_eq!(paths, ["a/b", "a/b/c", "a/b/c/new.txt"]);
        assert!(undo(&layers(&workspace).store.open(&report.id).unwrap()).unwrap().is_some());
        assert!(!workspace.join("project/a/b").exists());
    }

    #[test]
    fn what_changed_since_it_was_read_is_not_overwritten_and_nothing_waits() {
        let workspace = Workspace::new().dir("data").file("project/a", "theirs");
        for (path, before) in [("a", Some("mine")), ("a", None), ("gone", Some("mine"))] {
            let error = write(&workspace, path, before, "new").unwrap_err();
            assert!(matches!(error, EditError::Changed), "{path}: {error}");
        }
        assert_eq!(holds(&workspace, "a").as_deref(), Some("theirs"));
        assert!(!workspace.join("project/gone").exists());
        assert!(layers(&workspace).store.list(None).is_empty());
    }

    #[test]
    fn a_program_that_keeps_nothing_keeps_no_layer() {
        let workspace = Workspace::new().dir("data").file("project/a", "one");
        let layers = ProjectLayers { retention: metier_changes::NO_RETENTION, ..layers(&workspace) };
        let project = Ground::open(&workspace.join("project")).unwrap();
        let path = "a".parse().unwrap();
        let edit = FileEdit {
            tool: "Write",
            project: &project,
            path: &path,
            before: Some(b"one"),
            after: b"two",
            protected: false,
        };
        write_file(&layers, &edit).unwrap();
        assert_eq!(holds(&workspace, "a").as_deref(), Some("two"));
        assert!(layers.store.list(None).is_empty());
    }

    #[test]
    fn a_file_that_was_made_a_moment_ago_is_not_taken_for_anothers_work() {
        let workspace = Workspace::new().dir("data").dir("project");
        for number in 0..20 {
            let path = format!("f{number}");
            std::fs::write(workspace.join("project").join(&path), "old").unwrap();
            write(&workspace, &path, Some("old"), "new").unwrap();
        }
    }
}

//! Random projects and random work in them: applied, stopped at every moment, taken back.

mod entries;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use metier_testkit::Workspace;
use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{apply, undo};
use crate::change::ChangeSet;
use crate::error::{ApplyError, ConflictReason};
use crate::layer::Layer;
use crate::origin::CallOrigin;
use crate::path::LayerPath;
use crate::scan::scan;
use crate::state::LayerState;
use crate::store::LayerStore;

thread_local! {
    /// How many more moments pass before the machine stops.
    static MOMENTS: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Unwinds where the machine would stop. Nothing catches it on the way, so nothing is tidied up.
pub(crate) fn maybe_stop() {
    let left = MOMENTS.get();
    if left == Some(0) {
        std::panic::resume_unwind(Box::new("the machine stops"));
    }
    MOMENTS.set(left.map(|left| left - 1));
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File(String, u32),
    Folder(u32),
    Link(String),
}

/// A folder's entries by their paths. Every path has its folders.
type Model = BTreeMap<PathBuf, Node>;

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        4 => ("[xyz]{0,3}", prop::sample::select(vec![0o644, 0o600, 0o755, 0o444])).prop_map(|(text, mode)| Node::File(text, mode)),
        3 => prop::sample::select(vec![0o755, 0o700, 0o555]).prop_map(Node::Folder),
        1 => "[a-c]".prop_map(Node::Link),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    prop::collection::vec((prop::collection::vec("[a-c]", 1..4), node()), 0..9).prop_map(|entries| {
        let mut model = Model::new();
        for (steps, node) in entries {
            let mut path = PathBuf::new();
            let is_open = steps[..steps.len() - 1].iter().all(|step| {
                path.push(step);
                matches!(model.entry(path.clone()).or_insert(Node::Folder(0o755)), Node::Folder(_))
            });
            if is_open {
                path.push(&steps[steps.len() - 1]);
                model.entry(path).or_insert(node);
            }
        }
        model
    })
}

fn write(root: &Path, model: &Model) {
    for (path, node) in model {
        put(&root.join(path), node);
    }
    close_folders(root, model);
}

/// Gives folders their permissions when everything is in them.
fn close_folders(root: &Path, model: &Model) {
    for (path, node) in model.iter().rev() {
        let place = root.join(path);
        if let Node::Folder(mode) = node
            && place.exists()
        {
            fs::set_permissions(place, fs::Permissions::from_mode(*mode)).unwrap();
        }
    }
}

/// Removes what a case made, closed folders too.
fn tidy(workspace: &Workspace) {
    crate::remove::remove_tree(workspace.path()).unwrap();
}

fn put(place: &Path, node: &Node) {
    match node {
        Node::File(text, mode) => {
            fs::write(place, text).unwrap();
            fs::set_permissions(place, fs::Permissions::from_mode(*mode)).unwrap();
        }
        Node::Folder(_) => fs::create_dir(place).unwrap(),
        Node::Link(target) => symlink(target, place).unwrap(),
    }
}

fn read(root: &Path) -> Model {
    let mut model = Model::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let node = if metadata.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap().to_str().unwrap().to_owned())
            } else if metadata.is_dir() {
                folders.push(path.clone());
                Node::Folder(metadata.mode() & 0o7777)
            } else {
                Node::File(fs::read_to_string(&path).unwrap(), metadata.mode() & 0o7777)
            };
            model.insert(path.strip_prefix(root).unwrap().to_owned(), node);
        }
    }
    model
}

/// Fills a layer as the overlay would, had a process made `after` of `before`.
fn work(layer: &Layer, before: &Model, after: &Model) {
    let upper = layer.upper();
    for (path, node) in after {
        let old = before.get(path);
        if old == Some(node) && !matches!(node, Node::Folder(_)) {
            // A file in a folder that is new in the layer shows the project's own only where that folder is merged.
            continue;
        }
        match node {
            Node::Folder(mode) => {
                let touched = old != Some(node) || differs_below(path, before, after);
                if touched {
                    put(&upper.join(path), &Node::Folder(*mode));
                }
            }
            _ => put(&upper.join(path), node),
        }
    }
    for path in before.keys() {
        let parent = path.parent().unwrap();
        let parent_is_shown = parent.as_os_str().is_empty()
            || matches!(
                (before.get(parent), after.get(parent)),
                (Some(Node::Folder(_)), Some(Node::Folder(_)))
            );
        if !after.contains_key(path) && parent_is_shown {
            mknodat(CWD, upper.join(path), FileType::CharacterDevice, Mode::empty(), 0).unwrap();
        }
    }
    close_folders(&upper, after);
}

fn differs_below(folder: &Path, before: &Model, after: &Model) -> bool {
    let below = |model: &Model| -> Vec<(PathBuf, Node)> {
        let entries = model.iter().filter(|(path, _)| path.starts_with(folder) && *path != folder);
        entries.map(|(path, node)| (path.clone(), node.clone())).collect()
    };
    below(before) != below(after)
}

struct Ground {
    workspace: Workspace,
    layer: Layer,
}

impl Ground {
    fn new(before: &Model, after: &Model) -> Self {
        let workspace = Workspace::new().dir("layers").dir("project");
        write(&workspace.join("project"), before);
        // The files are older than the call.
        tick(&workspace);
        let store = LayerStore::new(&workspace.join("layers"));
        let layer = store.create(&workspace.join("project"), CallOrigin::default()).unwrap();
        // A real call takes longer than the look at the project.
        layer.noted().unwrap();
        work(&layer, before, after);
        Self { workspace, layer }
    }

    fn project(&self) -> PathBuf {
        self.workspace.join("project")
    }
}

/// Waits until the clock of the file system has moved on.
fn tick(workspace: &Workspace) {
    let first = crate::layer::now(&workspace.join("layers")).unwrap();
    while crate::layer::now(&workspace.join("layers")).unwrap() <= first {
        std::thread::yield_now();
    }
}

/// What the next metier makes of the one layer that there is.
fn recovered(workspace: &Workspace) -> LayerState {
    let store = LayerStore::new(&workspace.join("layers"));
    store.recover(&workspace.join("project")).unwrap();
    let rows = store.list(Some(&workspace.join("project")));
    assert_eq!(rows.len(), 1);
    rows[0].state
}

fn all(changes: &ChangeSet) -> BTreeSet<LayerPath> {
    changes.entries.iter().map(|change| change.path.clone()).collect()
}

/// Files whose mode or content is as before may have another time in the layer, which is a change of its own.
fn is_listed(changes: &ChangeSet, path: &Path) -> bool {
    changes.entries.iter().any(|change| change.path.as_path() == path)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_applied_is_what_the_process_made_and_undo_brings_back_what_was(before in model(), after in model()) {
        let ground = Ground::new(&before, &after);
        let changes = scan(&ground.layer).unwrap();
        for path in before.keys().chain(after.keys()) {
            let differs = before.get(path) != after.get(path);
            prop_assert_eq!(is_listed(&changes, path), differs, "{:?}", path);
        }
        let applied = apply(&ground.layer, &changes, &all(&changes)).unwrap();
        prop_assert!(applied.left_out.is_empty());
        prop_assert_eq!(read(&ground.project()), after);
        undo(&ground.layer).unwrap();
        prop_assert_eq!(read(&ground.project()), before);
        tidy(&ground.workspace);
    }

    #[test]
    fn a_selection_changes_nothing_else(before in model(), after in model(), chosen in prop::collection::vec(any::<bool>(), 27)) {
        let ground = Ground::new(&before, &after);
        let changes = scan(&ground.layer).unwrap();
        let selected: BTreeSet<LayerPath> =
            all(&changes).into_iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(path, _)| path).collect();
        match apply(&ground.layer, &changes, &selected) {
            Ok(_) => {
                let now = read(&ground.project());
                for path in before.keys().chain(now.keys()) {
                    let is_selected = LayerPath::new(path.clone()).is_some_and(|path| selected.contains(&path));
                    prop_assert!(is_selected || now.get(path) == before.get(path), "{:?} in {:?}", path, now);
                }
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        undo(&ground.layer).unwrap();
        prop_assert_eq!(read(&ground.project()), before);
        tidy(&ground.workspace);
    }

    #[test]
    fn a_stop_at_any_moment_leaves_all_or_nothing(before in model(), after in model()) {
        for moment in 0.. {
            let ground = Ground::new(&before, &after);
            let changes = scan(&ground.layer).unwrap();
            MOMENTS.set(Some(moment));
            let stopped = catch_unwind(AssertUnwindSafe(|| apply(&ground.layer, &changes, &all(&changes)))).is_err();
            MOMENTS.set(None);
            let Ground { workspace, layer } = ground;
            drop(layer);
            let state = recovered(&workspace);
            let now = read(&workspace.join("project"));
            match state {
                LayerState::Applied => prop_assert_eq!(&now, &after),
                LayerState::Pending | LayerState::TakenBack => prop_assert_eq!(&now, &before),
                other => return Err(TestCaseError::fail(other.word())),
            }
            tidy(&workspace);
            if !stopped {
                break;
            }
        }
    }

    #[test]
    fn a_stop_of_an_undo_is_finished(before in model(), after in model()) {
        for moment in 0.. {
            let ground = Ground::new(&before, &after);
            let changes = scan(&ground.layer).unwrap();
            apply(&ground.layer, &changes, &all(&changes)).unwrap();
            MOMENTS.set(Some(moment));
            let stopped = catch_unwind(AssertUnwindSafe(|| undo(&ground.layer))).is_err();
            MOMENTS.set(None);
            let Ground { workspace, layer } = ground;
            drop(layer);
            recovered(&workspace);
            let now = read(&workspace.join("project"));
            // Before its journal is there, an undo has not begun.
            prop_assert!(now == before || !stopped || moment == 0 && now == after, "{:?}", now);
            tidy(&workspace);
            if !stopped {
                break;
            }
        }
    }
}

fn plain(entries: &[(&str, Node)]) -> Model {
    entries.iter().map(|(path, node)| (PathBuf::from(path), node.clone())).collect()
}

fn file(text: &str) -> Node {
    Node::File(text.to_owned(), 0o644)
}

/// Layers in memory, removed at the end.
struct Memory(PathBuf);

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = crate::remove::remove_tree(&self.0);
    }
}

#[test]
fn a_stop_at_any_moment_leaves_nothing_of_a_stage() {
    let before = plain(&[
        ("a", file("one")),
        ("d", Node::Folder(0o555)),
        ("d/x", file("x")),
        ("g", file("gone")),
        ("p", Node::Folder(0o555)),
        ("p/x", file("x")),
        ("r", Node::Folder(0o555)),
        ("r/x", file("x")),
    ]);
    let after = plain(&[
        ("a", file("two")),
        ("d", file("a file")),
        ("n", Node::Folder(0o555)),
        ("n/y", file("y")),
        ("p", Node::Folder(0o500)),
        ("p/x", file("other")),
        ("p/y", Node::File("y".to_owned(), 0o444)),
    ]);
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    for deed in ["apply", "undo"] {
        for moment in 0.. {
            let workspace = Workspace::new().dir("project").file(".metier-layers", "").dir("layers");
            let memory = Memory(Path::new("/dev/shm").join(workspace.path().file_name().unwrap()));
            if device(Path::new("/dev/shm")) == device(workspace.path()) || fs::create_dir(&memory.0).is_err()
            {
                metier_testkit::not_tried("second-file-system", "there is no second file system at /dev/shm");
                return;
            }
            let project = workspace.join("project");
            write(&project, &before);
            tick(&workspace);
            let store = LayerStore::new(&memory.0);
            let layer = store.create(&project, CallOrigin::default()).unwrap();
            work(&layer, &before, &after);
            let changes = scan(&layer).unwrap();
            if deed == "undo" {
                apply(&layer, &changes, &all(&changes)).unwrap();
            }
            MOMENTS.set(Some(moment));
            let stopped = catch_unwind(AssertUnwindSafe(|| match deed {
                "undo" => undo(&layer).map(|_| ()),
                _ => apply(&layer, &changes, &all(&changes)).map(|_| ()),
            }));
            MOMENTS.set(None);
            drop(layer);
            store.recover(&project).unwrap();
            let state = store.list(None)[0].state;
            let expected = if state == LayerState::Applied { &after } else { &before };
            assert_eq!(&read(&project), expected, "{deed} stopped at {moment}, {}", state.word());
            tidy(&workspace);
            if stopped.is_ok() {
                assert!(moment > 5, "{deed} had only {moment} moments");
                break;
            }
        }
    }
}

#[test]
fn what_another_program_did_meanwhile_is_a_conflict_and_stays() {
    type Meddling = fn(&Path);
    let before = plain(&[("a", file("one")), ("d", Node::Folder(0o755)), ("d/x", file("x"))]);
    let after = plain(&[("a", file("two")), ("n", file("new"))]);
    let cases: [(&str, Meddling, ConflictReason); 5] = [
        ("a", |project| fs::write(project.join("a"), "theirs").unwrap(), ConflictReason::Changed),
        ("a", |project| fs::remove_file(project.join("a")).unwrap(), ConflictReason::Gone),
        ("n", |project| fs::write(project.join("n"), "theirs").unwrap(), ConflictReason::Appeared),
        ("d/y", |project| fs::write(project.join("d/y"), "theirs").unwrap(), ConflictReason::Appeared),
        ("d/x", |project| fs::write(project.join("d/x"), "theirs").unwrap(), ConflictReason::Changed),
    ];
    for (path, meddle, reason) in cases {
        // Between the scan and the decision.
        let ground = Ground::new(&before, &after);
        let changes = scan(&ground.layer).unwrap();
        meddle(&ground.project());
        let theirs = read(&ground.project());
        let error = apply(&ground.layer, &changes, &all(&changes)).unwrap_err();
        let ApplyError::Conflicts(conflicts) = error else { panic!("{path}: {error}") };
        assert_eq!(
            conflicts.iter().map(|conflict| (conflict.path.to_string(), conflict.reason)).collect::<Vec<_>>(),
            [(path.to_owned(), reason)]
        );
        assert_eq!(read(&ground.project()), theirs, "{path}");
        // While the call ran.
        let ground = Ground::new(&before, &after);
        meddle(&ground.project());
        let theirs = read(&ground.project());
        let changes = scan(&ground.layer).unwrap();
        let applied = apply(&ground.layer, &changes, &all(&changes));
        assert!(matches!(applied, Err(ApplyError::Conflicts(_))), "{path}: {applied:?}");
        assert_eq!(read(&ground.project()), theirs, "{path}");
    }
}

#[test]
fn a_folder_that_was_exchanged_for_another_is_a_conflict() {
    let before = plain(&[
        ("d", Node::Folder(0o755)),
        ("d/x", file("x")),
        ("e", Node::Folder(0o755)),
        ("e/x", file("e")),
    ]);
    let mut after = before.clone();
    after.insert("d/x".into(), file("changed"));
    let ground = Ground::new(&before, &after);
    let project = ground.project();
    fs::rename(project.join("d"), project.join("was-d")).unwrap();
    fs::rename(project.join("e"), project.join("d")).unwrap();
    let changes = scan(&ground.layer).unwrap();
    let error = apply(&ground.layer, &changes, &all(&changes)).unwrap_err();
    assert!(matches!(error, ApplyError::Conflicts(_)), "{error}");
    assert_eq!(fs::read_to_string(project.join("d/x")).unwrap(), "e");
}

#[test]
fn undo_keeps_its_hands_off_what_was_changed_since() {
    let before = plain(&[("a", file("one"))]);
    let after = plain(&[("a", file("two")), ("b", file("new"))]);
    let ground = Ground::new(&before, &after);
    let changes = scan(&ground.layer).unwrap();
    apply(&ground.layer, &changes, &all(&changes)).unwrap();
    fs::write(ground.project().join("b"), "theirs").unwrap();
    let theirs = read(&ground.project());
    assert!(matches!(undo(&ground.layer), Err(ApplyError::Conflicts(_))));
    assert_eq!(read(&ground.project()), theirs);
}

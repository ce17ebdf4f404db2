//! Watching real files on the real kernel. Conditions are waited for; how long they take is a matter of the example.

#![expect(clippy::disallowed_methods, reason = "these tests change files as an editor would")]

use crate::machine::{Machine, codes, found, listed, skill};
use metier_catalog::{
    Catalog, Change, ChangeKind, Include, Layout, News, Ownership, Preview, RootChoice, Snapshot, State,
    TrustStore, WatchOptions, Watcher, Watching,
};
use metier_testkit::Workspace;
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Far more than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(20);

/// A machine whose catalogue is watched.
struct Scene {
    machine: Machine,
    catalog: Arc<Catalog>,
    watcher: Watcher,
    news: Receiver<News>,
    heard: VecDeque<Change>,
}

impl Scene {
    fn new(fill: impl FnOnce(Workspace) -> Workspace) -> Self {
        Self::with(Machine::new(fill), RootChoice::Usual, WatchOptions::default())
    }

    /// One root, `skills`.
    fn rooted(fill: impl FnOnce(Workspace) -> Workspace, options: WatchOptions) -> Self {
        let machine = Machine::new(fill);
        let choice = RootChoice::Given(vec![machine.files.join("skills")]);
        Self::with(machine, choice, options)
    }

    fn with(machine: Machine, choice: RootChoice, options: WatchOptions) -> Self {
        let catalog = Arc::new(Catalog::load(machine.places.clone(), choice, Include::Usual));
        let watcher = catalog.watch(options);
        let news = watcher.subscribe();
        Self { machine, catalog, watcher, news, heard: VecDeque::new() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.machine.files.join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Waits until the snapshot in force is as it should be.
    fn until(&self, what: &str, condition: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        let start = Instant::now();
        loop {
            let snapshot = self.watcher.snapshot();
            if condition(&snapshot) {
                return snapshot;
            }
            let (now, codes) = (listed(&snapshot), codes(&snapshot));
            assert!(start.elapsed() < DEADLINE, "{what}: {now:?} {codes:?} {:?}", self.watcher.watching());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn until_listed(&self, expected: &[&str]) -> Arc<Snapshot> {
        self.until(&format!("{expected:?}"), |snapshot| listed(snapshot) == expected)
    }

    fn until_described(&self, name: &str, description: &str) -> Arc<Snapshot> {
        let is_it = |snapshot: &Snapshot| {
            snapshot.entries().any(|(_, e)| e.name().as_str() == name && e.description() == description)
        };
        self.until(&format!("{name}: {description}"), is_it)
    }

    /// The next change that subscribers are told of.
    fn next_change(&mut self) -> (ChangeKind, String) {
        let start = Instant::now();
        loop {
            if let Some(change) = self.heard.pop_front() {
                return (change.kind, change.name);
            }
            // Where changes are looked for on use, somebody has to ask.
            self.watcher.snapshot();
            if let Ok(news) = self.news.recv_timeout(Duration::from_millis(20)) {
                self.heard.extend(news.changes.iter().cloned());
            }
            assert!(start.elapsed() < DEADLINE, "no change was told");
        }
    }
}

fn described(name: &str, description: &str) -> String {
    skill(&format!("name: {name}\ndescription: {description}"), "Do it.")
}

/// Loads nowhere: metier never evaluates another language.
const BROKEN: &str = "---js\nname: a\n---\n";

fn few_folders() -> WatchOptions {
    WatchOptions { max_folders: 3, ..WatchOptions::default() }
}

#[test]
fn a_file_edited_in_place_or_replaced_by_rename_is_seen() {
    let mut scene = Scene::rooted(
        |files| files.skill("skills/a", "one").skill("skills/g/b", "one"),
        WatchOptions::default(),
    );
    assert!(matches!(scene.watcher.watching(), Watching::Events { folders } if folders >= 4));
    let before = scene.catalog.snapshot();

    scene.write("skills/a/SKILL.md", described("a", "two"));
    scene.until_described("a", "two");
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "a".to_owned()));

    scene.write("skills/g/b/.SKILL.md.swp", described("b", "three"));
    fs::rename(scene.path("skills/g/b/.SKILL.md.swp"), scene.path("skills/g/b/SKILL.md")).unwrap();
    scene.until_described("b", "three");
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "b".to_owned()));

    // Whoever holds a snapshot keeps it.
    assert_eq!(found(&before, "a").description(), "one");
}

#[test]
fn the_other_files_are_not_read_again() {
    // The document of each other skill has a second name outside every root. What is written there is in the skill's
    // document too, and the system tells nobody who watches the skill's folder.
    let others = 50;
    let mut scene = Scene::rooted(
        |mut files| {
            files = files.skill("skills/a", "one");
            for other in 0..others {
                let folder = format!("skills/other-{other}");
                let text = described(&format!("other-{other}"), "before");
                files = files.file(format!("hidden/{other}"), text).dir(&folder);
                fs::hard_link(
                    files.join(format!("hidden/{other}")),
                    files.join(format!("{folder}/SKILL.md")),
                )
                .unwrap();
            }
            files
        },
        WatchOptions::default(),
    );
    for other in 0..others {
        scene.write(&format!("hidden/{other}"), described(&format!("other-{other}"), "after"));
    }
    let read = scene.watcher.documents_read();
    scene.write("skills/a/SKILL.md", described("a", "two"));
    let snapshot = scene.until_described("a", "two");
    let others_say = |snapshot: &Snapshot, what: &str| {
        snapshot.entries().filter(|(_, entry)| entry.description() == what).count()
    };
    assert_eq!(others_say(&snapshot, "before"), others);
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "a".to_owned()));
    assert!(scene.heard.is_empty(), "{:?}", scene.heard);
    assert!(scene.watcher.documents_read() - read <= 2, "the system may tell of one write twice");

    // A new skill does not lead to the others either; that they would be other if they were read is shown last.
    scene.write("skills/b/SKILL.md", described("b", "new"));
    let snapshot = scene.until_described("b", "new");
    assert_eq!(others_say(&snapshot, "before"), others);
    assert_eq!(others_say(&scene.catalog.reload(), "after"), others);
}

#[test]
fn skills_and_groups_come_go_and_are_renamed() {
    let mut scene = Scene::rooted(|files| files.skill("skills/a", "A."), WatchOptions::default());
    scene.until_listed(&["cli:a ready"]);

    scene.write("skills/b/SKILL.md", described("b", "B."));
    scene.until_listed(&["cli:a ready", "cli:b ready"]);
    assert_eq!(scene.next_change(), (ChangeKind::Added, "b".to_owned()));

    // A group of skills, made piece by piece.
    fs::create_dir(scene.path("skills/g")).unwrap();
    scene.write("skills/g/h/c/SKILL.md", described("c", "C."));
    scene.until_listed(&["cli:a ready", "cli:b ready", "cli:c ready"]);
    assert_eq!(scene.next_change(), (ChangeKind::Added, "c".to_owned()));
    scene.write("skills/g/h/c/SKILL.md", described("c", "Other."));
    scene.until_described("c", "Other.");
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "c".to_owned()));

    // A renamed folder is watched under its new name. (The name of a skill is what is written, if something is.)
    fs::rename(scene.path("skills/b"), scene.path("skills/z")).unwrap();
    scene.until("renamed", |snapshot| {
        snapshot.entries().any(|(_, entry)| entry.folder().ends_with("z") && entry.name().as_str() == "b")
            && snapshot.loaded() == 3
    });
    assert_eq!(scene.next_change(), (ChangeKind::Removed, "b".to_owned()));
    assert_eq!(scene.next_change(), (ChangeKind::Added, "b".to_owned()));
    scene.write("skills/z/SKILL.md", described("b", "Renamed."));
    scene.until_described("b", "Renamed.");
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "b".to_owned()));
    // What is made anew in the old place is another skill.
    scene.write("skills/b/SKILL.md", described("bb", "BB."));
    scene.until_described("bb", "BB.");
    assert_eq!(scene.next_change(), (ChangeKind::Added, "bb".to_owned()));

    fs::remove_file(scene.path("skills/a/SKILL.md")).unwrap();
    scene.until("a without its file", |snapshot| !snapshot.entries().any(|(_, e)| e.name().as_str() == "a"));
    assert_eq!(scene.next_change(), (ChangeKind::Removed, "a".to_owned()));
    // And with it again: the folder is watched as one that may become a skill.
    scene.write("skills/a/SKILL.md", described("a", "Again."));
    scene.until_described("a", "Again.");
    assert_eq!(scene.next_change(), (ChangeKind::Added, "a".to_owned()));

    fs::remove_dir_all(scene.path("skills/g")).unwrap();
    fs::remove_dir_all(scene.path("skills/z")).unwrap();
    scene.until_listed(&["cli:a ready", "cli:bb ready"]);

    // A whole group that is moved away and back.
    scene.write("skills/g/x/SKILL.md", described("x", "X."));
    scene.until_listed(&["cli:a ready", "cli:bb ready", "cli:x ready"]);
    fs::rename(scene.path("skills/g"), scene.path("elsewhere")).unwrap();
    scene.until_listed(&["cli:a ready", "cli:bb ready"]);
    fs::rename(scene.path("elsewhere"), scene.path("skills/again")).unwrap();
    scene.until_listed(&["cli:a ready", "cli:x ready", "cli:bb ready"]);
    scene.write("skills/again/x/SKILL.md", described("x", "Moved."));
    scene.until_described("x", "Moved.");
}

#[test]
fn roots_that_are_made_later_removed_or_moved_are_seen() {
    let scene = Scene::new(|files| files.skill("home/.claude/skills/a", "A."));
    scene.until_listed(&["user.claude:a ready"]);

    // Three folders are missing on the way to it.
    scene.write("home/.config/metier/skills/mine/SKILL.md", described("mine", "Mine."));
    scene.until_listed(&["user.metier:mine ready", "user.claude:a ready"]);
    scene.write("home/.config/metier/skills/mine/SKILL.md", described("mine", "Edited."));
    scene.until_described("mine", "Edited.");

    // A folder above a root is moved away, and back.
    fs::rename(scene.path("home/.claude"), scene.path("home/.aside")).unwrap();
    scene.until_listed(&["user.metier:mine ready"]);
    fs::rename(scene.path("home/.aside"), scene.path("home/.claude")).unwrap();
    scene.until_listed(&["user.metier:mine ready", "user.claude:a ready"]);

    fs::remove_dir_all(scene.path("home/.claude")).unwrap();
    scene.until_listed(&["user.metier:mine ready"]);
    scene.write("home/.claude/skills/b/SKILL.md", described("b", "B."));
    scene.until_listed(&["user.metier:mine ready", "user.claude:b ready"]);
}

#[test]
fn a_root_of_the_command_line_may_come_later() {
    let mut scene = Scene::rooted(|files| files, WatchOptions::default());
    scene.until_listed(&[]);
    scene.write("skills/a/SKILL.md", described("a", "A."));
    scene.until_listed(&["cli:a ready"]);
    assert_eq!(scene.next_change(), (ChangeKind::Added, "a".to_owned()));
}

#[test]
fn switches_configuration_and_trust_are_followed() {
    let mut scene = Scene::new(|files| {
        files.skill("home/.claude/skills/a", "A.").skill("home/project/.agents/skills/p", "P.")
    });
    scene.until_listed(&["project.agents:p untrusted", "user.claude:a ready"]);

    scene.write("home/.claude/skills/.disabled.json", "[\"a\"]");
    scene.until_listed(&["project.agents:p untrusted", "user.claude:a disabled"]);
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "a".to_owned()));
    fs::remove_file(scene.path("home/.claude/skills/.disabled.json")).unwrap();
    scene.until_listed(&["project.agents:p untrusted", "user.claude:a ready"]);

    // The folder of the user's configuration is not there yet.
    scene.write("home/.config/metier/config.toml", "[skills.a]\nvisibility = \"off\"\n");
    scene.until_listed(&["project.agents:p untrusted", "user.claude:a off"]);
    scene.write("home/.config/metier/config.toml", "");
    scene.until_listed(&["project.agents:p untrusted", "user.claude:a ready"]);

    scene.write("home/project/metier.toml", "[skills.p]\nvisibility = \"off\"\n");
    scene.until_listed(&["project.agents:p off", "user.claude:a ready"]);
    fs::remove_file(scene.path("home/project/metier.toml")).unwrap();
    scene.until_listed(&["project.agents:p untrusted", "user.claude:a ready"]);

    let preview = Preview::of(&scene.machine.layout()).unwrap();
    let data = &scene.machine.places.data;
    TrustStore::update(data, |store| store.trust(&preview, "2026-11-16", Ownership::Mine)).unwrap();
    scene.until_listed(&["project.agents:p ready", "user.claude:a ready"]);
}

#[test]
fn the_last_good_version_of_a_file_that_broke_is_kept() {
    for options in [WatchOptions::default(), few_folders()] {
        let mut scene =
            Scene::rooted(|files| files.skill("skills/a", "Good.").skill("skills/b", "B."), options);
        scene.write("skills/a/SKILL.md", BROKEN);
        let snapshot = scene.until("kept", |snapshot| codes(snapshot).contains(&"kept-last-good"));
        let a = found(&snapshot, "a");
        assert_eq!((a.description(), a.state(), snapshot.failures().len()), ("Good.", State::Ready, 0));
        let why = a.diagnostics().iter().find(|found| found.code.name() == "kept-last-good").unwrap();
        assert_eq!((why.line(), why.column()), (Some(1), Some(4)));
        assert_eq!(why.path.as_deref(), Some(&*scene.path("skills/a/SKILL.md")));
        assert_eq!(scene.next_change(), (ChangeKind::Broken, "a".to_owned()));

        // Something else happens, and it is still kept.
        scene.write("skills/c/SKILL.md", described("c", "C."));
        let snapshot = scene.until_described("c", "C.");
        assert_eq!(found(&snapshot, "a").description(), "Good.");
        assert_eq!(scene.next_change(), (ChangeKind::Added, "c".to_owned()));

        // Everything is read anew, and it is still kept; a program that starts now finds it broken.
        scene.write("home/.config/metier/config.toml", "[skills.b]\nvisibility = \"off\"\n");
        scene.until("configured", |snapshot| listed(snapshot).iter().any(|line| line == "cli:b off"));
        assert_eq!(found(&scene.watcher.snapshot(), "a").description(), "Good.");
        assert_eq!(scene.machine.load_roots(&["skills"]).failures().len(), 1);
        assert_eq!(scene.next_change(), (ChangeKind::Changed, "b".to_owned()));

        scene.write("skills/a/SKILL.md", described("a", "Mended."));
        let snapshot = scene.until_described("a", "Mended.");
        assert!(!codes(&snapshot).contains(&"kept-last-good"));
        assert_eq!(scene.next_change(), (ChangeKind::Mended, "a".to_owned()));

        // Broken and then removed: gone.
        scene.write("skills/a/SKILL.md", BROKEN);
        scene.until("kept again", |snapshot| codes(snapshot).contains(&"kept-last-good"));
        fs::remove_dir_all(scene.path("skills/a")).unwrap();
        scene.until_listed(&["cli:b off", "cli:c ready"]);
    }
}

#[test]
fn a_file_that_is_no_file_any_more_is_kept_too() {
    let scene = Scene::rooted(|files| files.skill("skills/a", "Good."), WatchOptions::default());
    fs::remove_file(scene.path("skills/a/SKILL.md")).unwrap();
    fs::create_dir(scene.path("skills/a/SKILL.md")).unwrap();
    // The two may be seen together or one after the other; a file that was seen to be gone is not kept.
    let snapshot = scene.until("told", |snapshot| {
        codes(snapshot).contains(&"kept-last-good") || codes(snapshot).contains(&"file-not-regular")
    });
    assert_eq!(snapshot.loaded() + snapshot.failures().len(), 1);
    fs::remove_dir(scene.path("skills/a/SKILL.md")).unwrap();
    scene.write("skills/a/SKILL.md", described("a", "Again."));
    scene.until_described("a", "Again.");
}

#[test]
fn a_file_that_never_loaded_is_a_failure_until_it_does() {
    let mut scene = Scene::rooted(|files| files.skill("skills/a", "A."), WatchOptions::default());
    scene.write("skills/new/SKILL.md", BROKEN);
    scene.until("failed", |snapshot| snapshot.failures().len() == 1);
    assert_eq!(scene.next_change(), (ChangeKind::Broken, "new".to_owned()));
    scene.write("skills/new/SKILL.md", described("new", "New."));
    let snapshot = scene.until_described("new", "New.");
    assert!(snapshot.failures().is_empty());
    assert_eq!(scene.next_change(), (ChangeKind::Mended, "new".to_owned()));
}

#[test]
fn a_burst_is_gathered_and_nothing_of_it_is_lost() {
    let options =
        WatchOptions { quiet: Duration::from_millis(300), at_most: DEADLINE, ..WatchOptions::default() };
    let mut scene = Scene::rooted(|files| files.skill("skills/a", "A."), options);
    for at in 0..100 {
        scene.write(&format!("skills/g{}/s{at}/SKILL.md", at % 7), described(&format!("s{at}"), "S."));
        scene.write("skills/a/temporary", "x");
        scene.write("skills/a/SKILL.md", described("a", &format!("{at}")));
    }
    fs::remove_dir_all(scene.path("skills/g0")).unwrap();
    let left = 100 - (0..100).filter(|at| at % 7 == 0).count();
    scene.until("all", |snapshot| snapshot.loaded() == left + 1);
    scene.until_described("a", "99");
    // Each skill that is there is told once, whatever happened to it in between.
    let mut told = vec![scene.next_change()];
    while let Some(change) = scene.heard.pop_front() {
        told.push((change.kind, change.name));
    }
    assert_eq!(told.iter().filter(|(kind, _)| *kind == ChangeKind::Added).count(), left, "{told:?}");
    assert_eq!(told.iter().filter(|(_, name)| name == "a").count(), 1, "{told:?}");
}

#[test]
fn over_the_limit_changes_are_looked_for_on_use() {
    let mut scene = Scene::rooted(
        |files| files.skill("skills/a", "A.").skill("skills/b", "B.").skill("skills/g/c", "C."),
        few_folders(),
    );
    let Watching::OnUse { why } = scene.watcher.watching() else { panic!("{:?}", scene.watcher.watching()) };
    assert!(why.to_string().contains("limit"), "{why}");
    assert!(scene.watcher.watching().to_string().starts_with("checking on use, since the limit"));

    // The first looks find what nobody knew to be read; after them only what changed is read.
    std::thread::sleep(Duration::from_millis(150));
    scene.watcher.snapshot();
    std::thread::sleep(Duration::from_millis(150));
    scene.watcher.snapshot();
    let read = scene.watcher.documents_read();
    scene.write("skills/a/SKILL.md", described("a", "Other."));
    scene.until_described("a", "Other.");
    assert_eq!(scene.watcher.documents_read() - read, 1);
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "a".to_owned()));

    scene.write("skills/n/SKILL.md", described("n", "N."));
    scene.until_described("n", "N.");
    scene.write("skills/g/m/SKILL.md", described("m", "M."));
    scene.until_described("m", "M.");
    fs::remove_dir_all(scene.path("skills/g")).unwrap();
    fs::remove_dir_all(scene.path("skills/b")).unwrap();
    scene.until_listed(&["cli:a ready", "cli:n ready"]);
    scene.write("skills/.disabled.json", "[\"a\"]");
    scene.until_listed(&["cli:a disabled", "cli:n ready"]);
    fs::remove_dir_all(scene.path("skills")).unwrap();
    scene.until_listed(&[]);
    scene.write("skills/a/SKILL.md", described("a", "Back."));
    scene.until_listed(&["cli:a ready"]);
}

#[test]
fn the_limit_may_be_reached_later() {
    let options = WatchOptions { max_folders: 12, ..WatchOptions::default() };
    let mut scene = Scene::rooted(|files| files.skill("skills/a", "A."), options);
    assert!(matches!(scene.watcher.watching(), Watching::Events { .. }), "{:?}", scene.watcher.watching());
    for at in 0..20 {
        scene.write(&format!("skills/s{at}/SKILL.md"), described(&format!("s{at}"), "S."));
    }
    scene.until("all", |snapshot| snapshot.loaded() == 21);
    scene.until("on use", |_| matches!(scene.watcher.watching(), Watching::OnUse { .. }));
    scene.write("skills/s7/SKILL.md", described("s7", "Other."));
    scene.until_described("s7", "Other.");
    // The news says so too.
    while scene.next_change() != (ChangeKind::Changed, "s7".to_owned()) {}
}

#[test]
fn skills_behind_links_are_followed() {
    let mut scene = Scene::rooted(
        |files| {
            files
                .skill("skills/a", "A.")
                .skill("real/linked", "L.")
                .skill("team/one", "One.")
                .file("real/doc.md", described("doc", "Doc."))
                .symlink("skills/linked", "../real/linked")
                .symlink("skills/team", "../team")
                .symlink("skills/doc/SKILL.md", "../../real/doc.md")
        },
        WatchOptions::default(),
    );
    scene.write("real/linked/SKILL.md", described("linked", "Other."));
    scene.until_described("linked", "Other.");
    scene.write("team/one/SKILL.md", described("one", "Other one."));
    scene.until_described("one", "Other one.");
    scene.write("team/two/SKILL.md", described("two", "Two."));
    scene.until_described("two", "Two.");
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "linked".to_owned()));
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "one".to_owned()));
    assert_eq!(scene.next_change(), (ChangeKind::Added, "two".to_owned()));
    // Everything is read again for this one, and all that a snapshot holds of it is the same.
    scene.write("team/one/SKILL.md", described("one", "Other one.") + "More.");
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "one".to_owned()));
    scene.write("real/doc.md", described("doc", "Other doc."));
    scene.until_described("doc", "Other doc.");
    scene.write("skills/a/SKILL.md", described("a", "Other a."));
    scene.until_described("a", "Other a.");
    fs::remove_file(scene.path("skills/linked")).unwrap();
    scene.until("unlinked", |snapshot| !snapshot.entries().any(|(_, e)| e.name().as_str() == "linked"));
    std::os::unix::fs::symlink("../real/linked", scene.path("skills/alias")).unwrap();
    scene.until_described("linked", "Other.");
}

#[test]
fn names_are_settled_anew() {
    let scene = Scene::new(|files| {
        files.skill("home/.claude/skills/x", "claude").skill("home/.agents/skills/y", "Y.")
    });
    scene.until_listed(&["user.agents:y ready", "user.claude:x ready"]);
    scene.write("home/.agents/skills/x/SKILL.md", described("x", "agents"));
    scene.until_listed(&["user.agents:x ready", "user.agents:y ready", "user.claude:x shadowed"]);
    // What was said of it because of another goes with the other.
    fs::remove_dir_all(scene.path("home/.agents/skills/x")).unwrap();
    let snapshot = scene.until_listed(&["user.agents:y ready", "user.claude:x ready"]);
    assert_eq!(codes(&snapshot), [""; 0]);
}

#[test]
fn when_the_watcher_is_dropped_the_watching_ends() {
    let scene = Scene::rooted(|files| files.skill("skills/a", "A."), WatchOptions::default());
    let Scene { machine, catalog, watcher, news, .. } = scene;
    drop(watcher);
    assert!(news.recv().is_err(), "subscribers see the end");
    fs::write(machine.files.join("skills/a/SKILL.md"), described("a", "Later.")).unwrap();
    assert_eq!(found(&catalog.snapshot(), "a").description(), "A.");
    assert_eq!(found(&catalog.reload(), "a").description(), "Later.");
}

#[test]
fn body_edits_are_told_and_other_files_are_not() {
    let mut scene =
        Scene::rooted(|files| files.skill("skills/a", "A.").skill("skills/b", "B."), WatchOptions::default());
    scene.write("skills/a/scripts/run.sh", "echo");
    scene.write("skills/a/notes.md", "x");
    scene.write("skills/README.md", "x");
    let text = fs::read_to_string(scene.path("skills/b/SKILL.md")).unwrap();
    scene.write("skills/b/SKILL.md", format!("{text}More."));
    assert_eq!(scene.next_change(), (ChangeKind::Changed, "b".to_owned()));
    assert!(scene.heard.is_empty(), "{:?}", scene.heard);
}

#[test]
fn following_from_the_beginning_reads_every_document_once() {
    let machine = Machine::new(|files| files.skill("skills/a", "A.").skill("skills/b", "B."));
    let choice = || RootChoice::Given(vec![machine.files.join("skills")]);
    let options = || WatchOptions { max_folders: 0, ..WatchOptions::default() };
    // What was written a moment ago may have been written while it was read, and is read again.
    std::thread::sleep(Duration::from_millis(60));
    let layout = Arc::new(Layout::new(&machine.places, &choice()));
    let (catalog, watcher) = Catalog::follow(layout, Include::Usual, options());
    assert_eq!((catalog.snapshot().loaded(), watcher.documents_read()), (2, 2));
    watcher.look();
    assert_eq!(watcher.documents_read(), 2);
    fs::write(machine.files.join("skills/a/SKILL.md"), "---\nname: a\ndescription: Other.\n---\n").unwrap();
    let snapshot = watcher.look();
    let (_, entry) = snapshot.entries().find(|(_, entry)| entry.name().as_str() == "a").unwrap();
    assert_eq!(entry.description(), "Other.");
}

#[test]
fn following_by_events_reads_every_document_once_and_sees_what_comes_then() {
    let machine = Machine::new(|files| files.skill("skills/a", "A.").skill("skills/group/b", "B."));
    let choice = RootChoice::Given(vec![machine.files.join("skills")]);
    // What was written a moment ago may have been written while it was read, and is read again.
    std::thread::sleep(Duration::from_millis(60));
    let options = WatchOptions::default();
    let layout = Arc::new(Layout::new(&machine.places, &choice));
    let (catalog, watcher) = Catalog::follow(layout, Include::Usual, options);
    assert!(matches!(watcher.watching(), Watching::Events { .. }), "{:?}", watcher.watching());
    assert_eq!((catalog.snapshot().loaded(), watcher.documents_read()), (2, 2));
    let news = watcher.subscribe();
    fs::write(machine.files.join("skills/a/SKILL.md"), "---\nname: a\ndescription: Other.\n---\n").unwrap();
    let change = news.recv_timeout(Duration::from_secs(20)).unwrap().changes[0].clone();
    assert_eq!((change.kind, change.name.as_str()), (ChangeKind::Changed, "a"));
    fs::remove_file(machine.files.join("skills/group/b/SKILL.md")).unwrap();
    let change = news.recv_timeout(Duration::from_secs(20)).unwrap().changes[0].clone();
    assert_eq!((change.kind, change.name.as_str()), (ChangeKind::Removed, "b"));
}

//! A project that is shown through a layer: what a call writes goes to the layer, and the project stays as it is.

use crate::scene::{Scene, sandbox, setup, sh};
use metier_sandbox::{
    Attendance, Cancel, Choice, Command, Ended, Error, LayerMount, OverrunOf, ProjectAccess, Report, Sandbox,
    StandIn, Stop, Tier,
};
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A scene with a layered project.
pub(crate) struct Layered(pub(crate) Scene);

impl Layered {
    pub(crate) fn new() -> Self {
        let mut scene = Scene::new();
        scene.project().access = ProjectAccess::Layered;
        scene.profile.working_directory = scene.path("project");
        Self(scene)
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path(path)
    }

    /// A fresh layer.
    fn layer(&self, name: &str) -> LayerMount {
        let at = |part: &str| self.path(&format!("layers/{name}/{part}"));
        for part in ["upper", "work"] {
            std::fs::create_dir_all(at(part)).unwrap();
        }
        LayerMount { at: self.path("project"), above: vec![], upper: at("upper"), work: at("work") }
    }

    pub(crate) fn command(&self, name: &str, line: &str) -> Command {
        sh(line).layer(self.layer(name))
    }

    pub(crate) fn run(&self, sandbox: &Sandbox, name: &str, line: &str) -> Report {
        sandbox.run(&self.0.profile, &self.command(name, line)).unwrap()
    }

    /// Runs a line, which has to succeed, and gives its output.
    fn output(&self, line: &str) -> String {
        let report = self.run(&sandbox(Choice::Only(Tier::Namespaces)), "one", line);
        assert!(report.succeeded(), "{:?}: {}", report.ended, report.stderr.text());
        report.stdout.text()
    }

    pub(crate) fn refusal(&self, command: &Command) -> String {
        let ran = sandbox(Choice::Only(Tier::Namespaces)).run(&self.0.profile, command);
        let shown = format!("{ran:?}");
        match ran {
            Err(Error::NoLayer { at, reason }) if at == self.path("project") => reason,
            _ => shown,
        }
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| format!("{path}: {error}"))
    }

    pub(crate) fn upper(&self, path: &str) -> PathBuf {
        self.path("layers/one/upper").join(path)
    }
}

impl Drop for Layered {
    /// The kernel makes folders for its work that nobody may enter, so that an ordinary user could not remove them.
    fn drop(&mut self) {
        for layer in std::fs::read_dir(self.path("layers")).into_iter().flatten().flatten() {
            for folder in ["work", "work/incompat", "work/incompat/volatile"] {
                let folder = layer.path().join("work").join(folder);
                let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
            }
        }
    }
}

/// Everything in a folder, with all that a call could change of it.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let stat = path.symlink_metadata().unwrap();
        let content = if stat.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if stat.is_symlink() {
            std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            std::fs::read(&path).unwrap()
        };
        found.insert(path, (stat.mode(), stat.uid(), stat.mtime(), stat.ctime_nsec(), content));
    }
    found
}

pub(crate) fn is_whiteout(path: &Path) -> bool {
    let stat = path.symlink_metadata().unwrap();
    stat.file_type().is_char_device() && stat.rdev() == 0
}

/// An attribute of a file, by the tool of the system, since the standard library has none.
fn attribute(path: &Path, name: &str) -> Option<String> {
    let line =
        "import os, sys\ntry: print(os.getxattr(sys.argv[1], sys.argv[2]).decode())\nexcept OSError: pass";
    let output =
        std::process::Command::new("python3").args(["-c", line]).arg(path).arg(name).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

#[test]
fn writes_go_to_the_layer_and_the_project_stays_byte_for_byte() {
    let scene = Layered::new()
        .file("project/changed", "old")
        .file("project/deleted", "old")
        .file("project/folder/inner", "old")
        .file("project/again/inner", "old");
    symlink("changed", scene.path("project/link")).unwrap();
    let before = tree(&scene.path("project"));
    let text = scene.output(
        "echo new > changed; rm deleted; rm -r folder; rm -r again; mkdir again; echo x > again/other; \
         mkdir -p a/b; echo deep > a/b/c; ln -sf elsewhere link; chmod 750 a; cat changed; ls; ls again",
    );
    assert_eq!(text, "new\na\nagain\nchanged\nlink\nother\n");
    assert_eq!(tree(&scene.path("project")), before);
    let upper = |path: &str| scene.upper(path);
    assert_eq!(std::fs::read_to_string(upper("changed")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(upper("a/b/c")).unwrap(), "deep\n");
    assert_eq!(std::fs::read_link(upper("link")).unwrap(), Path::new("elsewhere"));
    assert_eq!(upper("a").metadata().unwrap().mode() & 0o777, 0o750);
    assert!(is_whiteout(&upper("deleted")) && is_whiteout(&upper("folder")));
    let kind = if is_root() { "trusted.overlay.opaque" } else { "user.overlay.opaque" };
    assert_eq!(attribute(&upper("again"), kind).as_deref(), Some("y"));
    let own = std::fs::metadata(scene.path("project")).unwrap().uid();
    for path in ["changed", "a", "a/b/c", "again", "link"] {
        assert_eq!(upper(path).symlink_metadata().unwrap().uid(), own, "{path}");
    }
    // Nothing of the trial is left, and the top looks like the project.
    let mut names: Vec<_> =
        std::fs::read_dir(upper("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "again", "changed", "deleted", "folder", "link"]);
}

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn the_top_of_the_layer_looks_like_the_project_and_a_call_that_writes_nothing_leaves_nothing() {
    let scene = Layered::new().file("project/a", "a");
    let project = scene.path("project");
    std::fs::set_permissions(&project, std::fs::Permissions::from_mode(0o751)).unwrap();
    let before = tree(&project);
    assert_eq!(scene.output("stat -c %a .; cat a; ls -A"), "751\naa\n");
    assert_eq!(std::fs::read_dir(scene.upper("")).unwrap().count(), 0);
    let (found, wanted) = (scene.upper("").metadata().unwrap(), project.metadata().unwrap());
    assert_eq!((found.mode(), found.uid(), found.mtime()), (wanted.mode(), wanted.uid(), wanted.mtime()));
    assert_eq!(tree(&project), before);
}

#[test]
fn owners_and_modes_of_files_that_are_changed_are_kept() {
    let scene = Layered::new().file("project/a", "a").file("project/others", "o");
    std::fs::set_permissions(scene.path("project/a"), std::fs::Permissions::from_mode(0o640)).unwrap();
    if is_root() {
        std::os::unix::fs::chown(scene.path("project/others"), Some(54_321), Some(54_321)).unwrap();
    }
    std::fs::set_permissions(scene.path("project/others"), std::fs::Permissions::from_mode(0o666)).unwrap();
    scene.output("echo more >> a; chmod u+x a; echo more >> others; touch -d @1000 a");
    let (a, others) = (scene.upper("a").metadata().unwrap(), scene.upper("others").metadata().unwrap());
    assert_eq!((a.mode() & 0o7777, a.mtime()), (0o740, 1000));
    let wanted = scene.path("project/others").metadata().unwrap();
    assert_eq!((others.mode(), others.uid(), others.gid()), (wanted.mode(), wanted.uid(), wanted.gid()));
}

#[test]
fn what_is_masked_cannot_be_opened_or_removed_and_the_skill_stays_read_only() {
    let mut scene = Layered::new()
        .file("project/.env", "TOKEN=1")
        .file("project/keys/a", "KEY")
        .file("project/skills/s/run.sh", "echo real")
        .file("project/copied/run.sh", "echo real")
        .file("copy/run.sh", "echo copy");
    let skill = scene.path("project/skills/s");
    scene.0.profile.readable = vec![skill.clone()];
    scene.0.profile.stand_ins = vec![StandIn { at: scene.path("project/copied"), by: scene.path("copy") }];
    let masked = vec![scene.path("project/.env"), scene.path("project/keys")];
    scene.0.project().masked = masked;
    let text = scene.output(
        "cat .env keys/a 2>/dev/null; rm -f .env 2>/dev/null || echo busy; rm -rf keys 2>/dev/null || echo busy; \
         mv .env x 2>/dev/null || echo busy; echo x > skills/s/new 2>/dev/null || echo held; sh skills/s/run.sh; \
         sh copied/run.sh; echo x > copied/new 2>/dev/null || echo held; echo x > skills/beside && echo written",
    );
    assert_eq!(text, "busy\nbusy\nbusy\nheld\nreal\ncopy\nheld\nwritten\n");
    assert_eq!(scene.read("project/.env"), "TOKEN=1");
    let names: Vec<_> =
        std::fs::read_dir(scene.upper("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["skills"], "mounts above the overlay change nothing in it");
}

#[test]
fn layers_above_the_project_are_seen_and_not_written() {
    let scene = Layered::new()
        .file("project/a", "project")
        .file("project/b", "project")
        .file("first/a", "first")
        .file("second/a", "second")
        .file("second/c", "second");
    let mut layer = scene.layer("one");
    layer.above = vec![scene.path("first"), scene.path("second")];
    let command = sh("cat a b c; echo new > c; cat c").layer(layer);
    let report = sandbox(Choice::Only(Tier::Namespaces)).run(&scene.0.profile, &command).unwrap();
    assert_eq!(report.stdout.text(), "firstprojectsecondnew\n", "{}", report.stderr.text());
    assert_eq!((scene.read("second/c"), scene.read("layers/one/upper/c")), ("second".into(), "new\n".into()));
}

#[test]
fn each_call_sees_the_project_as_it_is_then_and_its_own_layer_only() {
    let scene = Layered::new().file("project/a", "one");
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    assert_eq!(scene.run(&sandbox, "1", "cat a; echo mine > b; ls").stdout.text(), "onea\nb\n");
    // The next one is made ready by now, and would not see this if it had mounted the project.
    std::fs::write(scene.path("project/new"), "two").unwrap();
    std::fs::rename(scene.path("project/new"), scene.path("project/a")).unwrap();
    assert_eq!(scene.run(&sandbox, "2", "cat a; ls").stdout.text(), "twoa\n");
    for number in 3..13 {
        let report = scene.run(&sandbox, &number.to_string(), "cat a; echo x > b; ls");
        assert_eq!(report.stdout.text(), "twoa\nb\n", "{}", report.stderr.text());
    }
}

#[test]
fn two_calls_at_once_share_no_layer() {
    let scene = Layered::new().file("project/a", "a");
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let (scene, sandbox) = (&scene, &sandbox);
    std::thread::scope(|scope| {
        for number in 0..6 {
            scope.spawn(move || {
                let line = format!("echo {number} > a; sleep 0.2; cat a; ls");
                let report = scene.run(sandbox, &number.to_string(), &line);
                assert_eq!(report.stdout.text(), format!("{number}\na\n"), "{}", report.stderr.text());
            });
        }
    });
    for number in 0..6 {
        assert_eq!(scene.read(&format!("layers/{number}/upper/a")), format!("{number}\n"));
    }
    assert_eq!(scene.read("project/a"), "a");
}

#[test]
fn when_there_is_a_report_the_layer_can_be_removed_and_used_as_one_below_the_next() {
    let scene = Layered::new().file("project/a", "a");
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    scene.run(&sandbox, "1", "echo 1 > b; (setsid sleep 60 >/dev/null 2>&1 &)");
    // The kernel makes folders there that nobody may enter.
    for folder in ["work", "work/incompat", "work/incompat/volatile"] {
        let folder = scene.path("layers/1/work").join(folder);
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    std::fs::remove_dir_all(scene.path("layers/1/work")).unwrap();
    let mut layer = scene.layer("2");
    layer.above = vec![scene.path("layers/1/upper")];
    let report = sandbox.run(&scene.0.profile, &sh("cat a b").layer(layer)).unwrap();
    assert_eq!(report.stdout.text(), "a1\n", "{}", report.stderr.text());
    std::fs::remove_dir_all(scene.path("layers/1")).unwrap();
}

#[test]
fn a_cancelled_call_leaves_nothing_mounted() {
    let scene = Layered::new().file("project/a", "a");
    let before = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let cancel = Cancel::new().unwrap();
    let report = std::thread::scope(|scope| {
        let command = scene.command("one", "echo x > b; while :; do sleep 0.1; done");
        let running = scope.spawn({
            let (sandbox, cancel, profile) = (&sandbox, &cancel, &scene.0.profile);
            move || {
                let attendance = Attendance { cancel: Some(cancel), ..Attendance::default() };
                sandbox.run_with(profile, &command, attendance).unwrap()
            }
        });
        let began = Instant::now();
        while !scene.upper("b").exists() {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        cancel.cancel();
        running.join().unwrap()
    });
    assert_eq!(report.ended, Ended::Stopped(Stop::Cancelled));
    assert_eq!(std::fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
    std::fs::remove_dir_all(scene.upper("")).unwrap();
}

#[test]
fn a_layer_that_holds_too_much_ends_the_call_and_the_reason_is_named() {
    let mut scene = Layered::new();
    scene.0.profile.limits.layer = 4 << 20;
    scene.0.profile.limits.layer_files = 100;
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let lines = [
        ("bytes", OverrunOf::Bytes, "head -c 20000000 /dev/zero > big; sleep 20"),
        ("files", OverrunOf::Files, "for n in $(seq 200); do : > f$n; done; sleep 20"),
        ("nameless", OverrunOf::Bytes, "exec 3> gone; rm gone; head -c 20000000 /dev/zero >&3; sleep 20"),
    ];
    for (name, of, line) in lines {
        let report = scene.run(&sandbox, name, line);
        assert_eq!(report.ended, Ended::Stopped(Stop::Layer), "{name}: {:?}", report.fault);
        let overrun = report.overrun.unwrap();
        assert_eq!((overrun.folder, overrun.of), (scene.path("project"), of), "{name}");
    }
    // Its length does not count.
    let report = scene.run(&sandbox, "sparse", "truncate -s 1G sparse && sleep 0.6 && stat -c %s sparse");
    assert_eq!(report.stdout.text(), "1073741824\n", "{:?} {}", report.ended, report.stderr.text());
}

#[test]
fn a_layer_that_cannot_be_had_is_refused_with_the_reason_and_nothing_runs() {
    let scene = Layered::new().file("project/a", "a");
    assert_eq!(scene.refusal(&sh("true")), "the call has no layer for it");
    let line = format!("touch {}", scene.path("data/ran").display());
    let with = |change: &dyn Fn(&mut LayerMount)| {
        let mut layer = scene.layer("one");
        change(&mut layer);
        scene.refusal(&sh(&line).layer(layer))
    };
    let move_to = |folder: &str| {
        let folder = scene.path(folder);
        with(&move |layer| (layer.upper, layer.work) = (folder.join("upper"), folder.join("work")))
    };
    assert!(move_to("project/.layer").contains("lies inside it"));
    assert!(move_to("data").contains("which the call sees"));
    assert!(move_to("layers/missing").contains("No such file"));
    symlink(scene.path("layers/one"), scene.path("layers/link")).unwrap();
    assert!(move_to("layers/link").contains("opening"));
    assert!(with(&|layer| layer.upper.set_file_name("missing")).contains("No such file"));
    assert!(with(&|layer| layer.work = "/dev/shm".into()).contains("side by side"));
    assert!(!scene.path("data/ran").exists());
    for tier in [Tier::Bubblewrap, Tier::Landlock] {
        if tier == Tier::Bubblewrap && setup(Choice::Best).bubblewrap.is_none() {
            metier_testkit::not_tried("bubblewrap", "bubblewrap is not installed");
            continue;
        }
        let ran = sandbox(Choice::Only(tier)).run(&scene.0.profile, &scene.command("one", &line));
        assert!(matches!(ran, Err(Error::NoLayer { .. })), "{tier}: {ran:?}");
    }
    // A server has no end at which a layer could be applied: the project is read-only for it.
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let server = sandbox.start(&scene.0.profile, &sh("cat a; echo x > b; true"));
    let mut server = server.unwrap();
    let read = |stream: &mut dyn std::io::Read| {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let text = read(&mut server.stdout.take().unwrap());
    assert_eq!(text, "a", "{}", read(&mut server.stderr.take().unwrap()));
    server.wait().unwrap();
    assert!(!scene.path("project/b").exists());
}

#[test]
fn a_layer_in_memory_works_or_says_why_not() {
    let scene = Layered::new().file("project/a/b", "b");
    let memory = tempfile::Builder::new().prefix("sandbox-test-").tempdir_in("/dev/shm").unwrap();
    let [upper, work] = ["upper", "work"].map(|name| memory.path().join(name));
    for folder in [&upper, &work] {
        std::fs::create_dir(folder).unwrap();
    }
    let layer = LayerMount { at: scene.path("project"), above: vec![], upper: upper.clone(), work };
    let command = sh("rm -r a; mkdir a; echo x > a/c; ls a").layer(layer);
    match sandbox(Choice::Only(Tier::Namespaces)).run(&scene.0.profile, &command) {
        Ok(report) => {
            assert_eq!(report.stdout.text(), "c\n", "{}", report.stderr.text());
            assert!(upper.join("a/c").exists());
        }
        // Before kernel 6.6 there are no attributes of users in memory.
        Err(Error::NoLayer { reason, .. }) => {
            metier_testkit::not_tried("extended-attributes", format_args!("{reason}"));
            assert!(reason.contains("attributes"), "{reason}");
        }
        Err(error) => assert_eq!(error.to_string(), ""),
    }
    assert_eq!(scene.read("project/a/b"), "b");
}

#[test]
fn set_id_bits_and_devices_are_refused_and_planted_marks_mean_nothing() {
    let scene = Layered::new().file("project/a", "a").file("project/folder/inner", "i");
    let plant = "import os\n\
        for name in ('opaque', 'redirect', 'metacopy', 'whiteout', 'origin'):\n\
        \x20for space in ('user', 'trusted'):\n\
        \x20 for path in ('a', 'folder'):\n\
        \x20  try: os.setxattr(path, f'{space}.overlay.{name}', b'/etc' if name == 'redirect' else b'y')\n\
        \x20  except OSError: pass\n\
        print(sorted(os.listdir('folder')), open('a').read())";
    let line = "chmod u+s a 2>/dev/null || echo refused; chmod g+s a 2>/dev/null || echo refused; \
         mknod null c 1 3 2>/dev/null || echo refused; mknod gone c 0 0 2>/dev/null || echo refused; \
         python3 -c \"$0\"; ls folder; cat a";
    let command = scene.command("one", line).argument(plant);
    let report = sandbox(Choice::Only(Tier::Namespaces)).run(&scene.0.profile, &command).unwrap();
    let expected = format!("{}['inner'] a\ninner\na", "refused\n".repeat(4));
    assert_eq!(report.stdout.text(), expected, "{}", report.stderr.text());
    // What the overlay takes for its own was not set. Root's does not look at attributes of users.
    let space = if is_root() { "trusted" } else { "user" };
    for path in ["a", "folder"] {
        for name in ["opaque", "redirect", "metacopy", "whiteout"] {
            let upper = scene.upper(path);
            let found =
                upper.exists().then(|| attribute(&upper, &format!("{space}.overlay.{name}"))).flatten();
            assert_eq!(found, None, "{path}: {name}");
        }
    }
}

/// Where root runs the tests, everything belongs to root, whose calls have no such limit.
#[test]
fn what_belongs_to_another_group_is_said_where_it_cannot_be_changed() {
    let groups = std::process::Command::new("id").arg("-G").output().unwrap();
    let groups = String::from_utf8(groups.stdout).unwrap();
    let [_, other, ..] = groups.split_whitespace().collect::<Vec<_>>()[..] else {
        metier_testkit::not_tried("supplementary-groups", "this user is in one group only");
        return;
    };
    if is_root() {
        metier_testkit::not_tried("user-limits", "root's calls have no such limit");
        return;
    }
    let scene = Layered::new().file("project/a", "a");
    for path in ["project", "project/a"] {
        std::os::unix::fs::chown(scene.path(path), None, Some(other.parse().unwrap())).unwrap();
    }
    let line = "cat a; (echo x >> a) 2>/dev/null || echo held; rm a; ls";
    let report = scene.run(&sandbox(Choice::Only(Tier::Namespaces)), "one", line);
    assert_eq!(report.stdout.text(), "aheld\n", "{}", report.stderr.text());
    let said = report.containment.notes.iter().any(|note| note.contains("another user or group than yours"));
    assert!(said, "{:?}", report.containment.notes);
}

/// Root works in another user's project: what a call changes and makes there belongs to that user.
#[test]
fn a_call_of_roots_changes_the_project_of_another_user() {
    if !is_root() {
        metier_testkit::not_tried("root", "only root can give a project to another user");
        return;
    }
    let scene = Layered::new().file("project/a", "a").file("project/d/b", "b").file("project/own", "o");
    for path in ["project", "project/a", "project/d", "project/d/b"] {
        std::os::unix::fs::lchown(scene.path(path), Some(54_321), Some(54_322)).unwrap();
    }
    for path in ["project/a", "project/d/b"] {
        std::fs::set_permissions(scene.path(path), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    for choice in [Choice::Only(Tier::Namespaces), Choice::Best] {
        let sandbox = sandbox(choice);
        // Twice: what the second call gets may have been made ahead.
        for name in ["one", "two"] {
            let _ = std::fs::remove_dir_all(scene.path(&format!("layers/{name}")));
            let line = "echo more >> a; rm d/b; mkdir -p new/deep; echo x > new/deep/f; mv a c; touch top; cat c; \
                        (echo x >> own) 2> /dev/null || echo held";
            let report = scene.run(&sandbox, name, line);
            assert_eq!(report.stdout.text(), "amore\nheld\n", "{}", report.stderr.text());
            let upper = scene.path(&format!("layers/{name}/upper"));
            for path in ["", "c", "new", "new/deep", "new/deep/f", "top"] {
                let found = upper.join(path).metadata().unwrap();
                assert_eq!((found.uid(), found.gid()), (54_321, 54_322), "{path}");
            }
            assert!(is_whiteout(&upper.join("d/b")) && is_whiteout(&upper.join("a")));
        }
        // Why something cannot be changed is said where it could not.
        let _ = std::fs::remove_dir_all(scene.path("layers/one"));
        let report = scene.run(&sandbox, "one", "echo x >> own");
        let said = format!("{} belongs to another user than", scene.path("project/own").display());
        assert!(report.containment.notes.iter().any(|note| note.contains(&said)), "{:?}", report.containment);
    }
}

/// An ordinary user's project with something of another group in it.
#[test]
fn a_foreign_entry_in_a_project_is_named_where_a_call_fails() {
    let groups = std::process::Command::new("id").arg("-G").output().unwrap();
    let groups = String::from_utf8(groups.stdout).unwrap();
    let [_, other, ..] = groups.split_whitespace().collect::<Vec<_>>()[..] else {
        metier_testkit::not_tried("supplementary-groups", "this user is in one group only");
        return;
    };
    if is_root() {
        metier_testkit::not_tried("user-limits", "root's calls have no such limit");
        return;
    }
    let scene = Layered::new().file("project/a", "a").file("project/d/b", "b");
    std::os::unix::fs::chown(scene.path("project/d/b"), None, Some(other.parse().unwrap())).unwrap();
    let report = scene.run(&sandbox(Choice::Only(Tier::Namespaces)), "one", "echo x >> a");
    assert!(report.succeeded() && report.containment.notes.is_empty(), "{:?}", report.containment.notes);
    let report = scene.run(&sandbox(Choice::Only(Tier::Namespaces)), "two", "echo x >> d/b; true");
    let said = format!("{} belongs to another user or group than yours", scene.path("project/d/b").display());
    assert!(report.containment.notes.iter().any(|note| note.contains(&said)), "{:?}", report.containment);
}

/// Renames, locks, links and modes as a program that people use makes them.
#[test]
fn git_commits_in_a_layer_and_the_repository_stays_as_it_is() {
    let scene = Layered::new().file("project/src/a", "a");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(scene.path("project")).env("HOME", scene.path("data"));
        assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    let before = tree(&scene.path("project"));
    let text = scene.output(
        "git config user.name n; git config user.email e; git add .; git commit -qm one; git mv src/a src/b; \
         git commit -qm two; git log --format=%s; git status --short; mv src moved; ls moved",
    );
    assert_eq!(text, "two\none\nb\n");
    assert_eq!(tree(&scene.path("project")), before);
}

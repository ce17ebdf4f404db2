//! Folders of a layered project can be renamed as everywhere, though an overlay refuses it.

use crate::layers::{Layered, is_whiteout, tree};
use crate::scene::sandbox;
use metier_sandbox::{Attendance, Cancel, Choice, Command, Ended, Report, Stop, Tier};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

/// What the scripts below use: `try_to` prints the name of the error, or "done".
const BEGIN: &str = "import ctypes, errno, os, signal, sys, threading, time\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    def try_to(what, *words, **more):\n\
    \x20try: what(*words, **more)\n\
    \x20except OSError as error: print(errno.errorcode[error.errno])\n\
    \x20else: print('done')\n\
    def renameat2(a, b, flags):\n\
    \x20if libc.renameat2(-100, a.encode(), -100, b.encode(), flags) != 0: raise OSError(ctypes.get_errno(), a)\n";

fn python(scene: &Layered, script: &str) -> Command {
    scene.command("one", "exec python3 -c \"$0\"").argument(format!("{BEGIN}{script}"))
}

fn run(scene: &Layered, script: &str) -> Report {
    let before = tree(&scene.path("project"));
    let report =
        sandbox(Choice::Only(Tier::Namespaces)).run(&scene.0.profile, &python(scene, script)).unwrap();
    assert_eq!(report.ended, Ended::Exited(0), "{:?}: {}", report.fault, report.stderr.text());
    assert!(report.denied.is_empty(), "a rename is not a denied call: {:?}", report.denied);
    assert_eq!(tree(&scene.path("project")), before);
    report
}

fn output(scene: &Layered, script: &str) -> String {
    run(scene, script).stdout.text()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn many(scene: &Layered, folder: &str, count: usize) {
    let folder = scene.path(folder);
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    for number in 0..count {
        let inner = if number % 2 == 0 { "" } else { "sub" };
        std::fs::write(folder.join(inner).join(number.to_string()), "x").unwrap();
    }
}

/// How many files there are in a folder of the layer and in its folder `sub`.
fn count(scene: &Layered, folder: &str) -> usize {
    let files = |path| std::fs::read_dir(path).into_iter().flatten().flatten().count();
    let folder = scene.upper(folder);
    let has_sub = usize::from(folder.join("sub").is_dir());
    files(folder.join("sub")) + files(folder) - has_sub
}

#[test]
fn a_folder_is_renamed_with_everything_in_it() {
    let scene = Layered::new()
        .file("project/a/file", "file")
        .file("project/a/deep/deeper/file", "deep")
        .file("project/a/closed/file", "closed")
        .file("project/a/run.sh", "echo");
    let at = |path: &str| scene.path("project").join(path);
    symlink("deep/deeper", at("a/link")).unwrap();
    symlink("missing", at("a/dangling")).unwrap();
    std::fs::hard_link(at("a/file"), at("a/same")).unwrap();
    set_mode(&at("a/run.sh"), 0o755);
    set_mode(&at("a/deep"), 0o1750);
    set_mode(&at("a/closed"), 0o555);
    for path in ["a/deep", "a/file", "a"] {
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        std::fs::File::open(at(path)).unwrap().set_modified(time).unwrap();
    }
    let text = output(
        &scene,
        "open('a/deep/new', 'w').write('new')\nos.remove('a/run.sh')\nos.utime('a', (1000000, 1000000))\n\
         try_to(os.rename, 'a', 'b')\nprint(os.path.exists('a'), sorted(os.listdir('b')))\n\
         print(open('b/file').read(), open('b/same').read(), open('b/deep/deeper/file').read())\n\
         print(open('b/deep/new').read(), os.readlink('b/link'), os.readlink('b/dangling'))\n\
         for path in ('b', 'b/deep', 'b/closed', 'b/file'):\n\
         \x20print(oct(os.lstat(path).st_mode), int(os.lstat(path).st_mtime) == 1000000)\n",
    );
    set_mode(&at("a/closed"), 0o755);
    set_mode(&scene.upper("b/closed"), 0o755);
    let own = at("a").metadata().unwrap().mode();
    let expected = format!(
        "done\nFalse ['closed', 'dangling', 'deep', 'file', 'link', 'same']\nfile file deep\nnew deep/deeper missing\n\
         0o{own:o} True\n0o41750 False\n0o40555 False\n0o100644 True\n"
    );
    assert_eq!(text, expected);
    assert!(is_whiteout(&scene.upper("a")));
    assert_eq!(std::fs::read_to_string(scene.upper("b/deep/deeper/file")).unwrap(), "deep");
    let owner = at("a").metadata().unwrap().uid();
    assert_eq!(scene.upper("b/deep").metadata().unwrap().uid(), owner);
}

#[test]
fn every_way_to_name_a_folder_works_and_errors_are_those_of_a_rename() {
    let mut scene = Layered::new();
    for path in ["a/f", "b/f", "c/f", "d/f", "e/f", "full/f", "g/sub/f", "h/f", "x/f", "y/f"] {
        scene = scene.file(&format!("project/{path}"), path);
    }
    for path in ["empty", "other"] {
        std::fs::create_dir(scene.path("project").join(path)).unwrap();
    }
    symlink("g", scene.path("project/link")).unwrap();
    let text = output(
        &scene,
        "try_to(os.rename, 'a', 'empty')\n\
         try_to(os.rename, 'b', 'full')\n\
         try_to(os.rename, 'b', 'full/f')\n\
         try_to(os.rename, 'b', 'b/inside')\n\
         try_to(os.rename, 'g/sub', 'g')\n\
         try_to(os.rename, 'missing', 'new')\n\
         try_to(os.rename, 'b', 'missing/new')\n\
         try_to(os.rename, 'b', os.environ['TMPDIR'] + '/b')\n\
         try_to(os.rename, 'b/.', 'new')\n\
         try_to(os.rename, 'b', 'b')\n\
         try_to(renameat2, 'b', 'other', 1)\n\
         try_to(renameat2, 'x', 'y', 2)\n\
         print(sorted(os.listdir('.')))\n\
         try_to(os.rename, 'b/', 'b2//')\n\
         try_to(os.rename, os.getcwd() + '/c', 'c2')\n\
         try_to(os.rename, 'd', 'd2', src_dir_fd=os.open('.', os.O_RDONLY), dst_dir_fd=os.open('full', os.O_PATH))\n\
         try_to(renameat2, 'e', 'e2', 1)\n\
         try_to(renameat2, 'h', 'h2', 0)\n\
         try_to(os.rename, 'link', 'link2')\n\
         os.chdir('g')\n\
         try_to(os.rename, 'sub', '../sub2')\n\
         os.chdir('..')\n\
         print(sorted(os.listdir('.')), os.listdir('full'), os.listdir('g'))\n\
         print([open(p + '/f').read() for p in ('empty', 'b2', 'c2', 'full/d2', 'e2', 'h2', 'sub2')])\n",
    );
    let errors = "done ENOTEMPTY ENOTDIR EINVAL ENOTEMPTY ENOENT ENOENT EXDEV EBUSY done EEXIST EXDEV";
    let before = "['b', 'c', 'd', 'e', 'empty', 'full', 'g', 'h', 'link', 'other', 'x', 'y']";
    let after = "['b2', 'c2', 'e2', 'empty', 'full', 'g', 'h2', 'link2', 'other', 'sub2', 'x', 'y']";
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..12].join(" "), errors);
    assert_eq!(lines[12], before);
    assert_eq!(lines[13..20].join(" "), ["done"; 7].join(" "));
    assert!(lines[20].starts_with(after), "{}", lines[20]);
    assert!(lines[20].ends_with("['f', 'd2'] []") || lines[20].ends_with("['d2', 'f'] []"), "{}", lines[20]);
    assert_eq!(lines[21], "['a/f', 'b/f', 'c/f', 'd/f', 'e/f', 'h/f', 'g/sub/f']");
}

#[test]
fn a_folder_with_a_mask_in_it_stays_where_it_is() {
    let mut scene = Layered::new()
        .file("project/a/file", "file")
        .file("project/a/deep/file", "deep")
        .file("project/a/deep/z/.env", "TOKEN=1")
        .file("project/a/closed/file", "closed")
        .file("project/a/z", "z");
    set_mode(&scene.path("project/a/closed"), 0o555);
    scene.0.project().masked = vec![scene.path("project/a/deep/z/.env")];
    let look = "print([(a, sorted(b), sorted(c)) for a, b, c in os.walk('.')], os.stat('a').st_mtime_ns)\n";
    let script = format!(
        "os.mkdir('empty', 0o750)\n{look}try_to(os.rename, 'a', 'b')\ntry_to(os.rename, 'a', 'empty')\n{look}\
         print(open('a/file').read(), open('a/deep/file').read(), oct(os.stat('empty').st_mode))\n"
    );
    let text = output(&scene, &script);
    set_mode(&scene.path("project/a/closed"), 0o755);
    if scene.upper("a/closed").exists() {
        set_mode(&scene.upper("a/closed"), 0o755);
    }
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[1], lines[2], lines[4]), ("EBUSY", "EBUSY", "file deep 0o40750"));
    assert_eq!(lines[0], lines[3]);
}

#[test]
fn what_the_call_made_is_renamed_by_the_kernel_and_a_thousand_files_are_moved() {
    let scene = Layered::new().file("project/file", "x");
    many(&scene, "project/many", 1000);
    let text = output(
        &scene,
        "os.makedirs('new/deep')\nnumber = os.stat('new').st_ino\ntry_to(os.rename, 'new', 'newer')\n\
         print(os.stat('newer').st_ino == number)\n\
         number = os.stat('file').st_ino\ntry_to(os.rename, 'file', 'other')\n\
         os.mkdir('many/inside')\ntry_to(os.rename, 'many', 'moved')\n\
         print(len(os.listdir('moved')), len(os.listdir('moved/sub')))\n\
         number = os.stat('moved').st_ino\ntry_to(os.rename, 'moved', 'again')\n\
         print(os.stat('again').st_ino == number)\n",
    );
    assert_eq!(text, "done\nTrue\ndone\ndone\n502 500\ndone\nTrue\n");
}

/// Of two that rename the same folder one wins, and other renames go on meanwhile.
#[test]
fn threads_rename_at_once_and_no_folder_is_torn_apart() {
    let scene = Layered::new();
    many(&scene, "project/many", 600);
    many(&scene, "project/other", 300);
    let text = output(
        &scene,
        "results, ticks = {}, 0\n\
         def move(a, b):\n\
         \x20try: os.rename(a, b); results[b] = 'done'\n\
         \x20except OSError as error: results[b] = errno.errorcode[error.errno]\n\
         pairs = [('many', 'one'), ('many', 'two'), ('many', 'three'), ('other', 'four')]\n\
         threads = [threading.Thread(target=move, args=pair) for pair in pairs]\n\
         [thread.start() for thread in threads]\n\
         open('t0', 'w').close()\n\
         while any(thread.is_alive() for thread in threads):\n\
         \x20os.rename(f't{ticks}', f't{ticks + 1}'); ticks += 1\n\
         [thread.join() for thread in threads]\n\
         print(sorted(results.values()), results['four'])\n\
         names = [name for name in ('one', 'two', 'three') if os.path.exists(name)]\n\
         print([(len(os.listdir(n)), len(os.listdir(n + '/sub')), results[n]) for n in names])\n\
         print(len(os.listdir('four')), os.path.exists('many'))\n",
    );
    let expected = "['ENOENT', 'ENOENT', 'done', 'done'] done\n[(301, 300, 'done')]\n151 False\n";
    assert_eq!(text, expected);
}

/// A timer interrupts system calls all the time; the rename must neither fail nor happen twice. The handler has to restart
/// calls, as that of most programs does: the kernel lets a signal end the wait until the supervisor has taken the notice.
#[test]
fn signals_do_not_disturb_a_rename() {
    let scene = Layered::new();
    many(&scene, "project/many", 600);
    let text = output(
        &scene,
        "ticks = []\nsignal.signal(signal.SIGALRM, lambda *_: ticks.append(1))\n\
         signal.siginterrupt(signal.SIGALRM, False)\n\
         signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n\
         [try_to(os.rename, a, b) for a, b in (('many', 'one'), ('one', 'two'))]\n\
         signal.setitimer(signal.ITIMER_REAL, 0)\n\
         print(len(os.listdir('two')), len(os.listdir('two/sub')), os.path.exists('many'), len(ticks) > 0)\n",
    );
    assert_eq!(text, "done\ndone\n301 300 False True\n");
}

#[test]
fn a_program_that_ends_leaves_no_folder_half_moved() {
    let scene = Layered::new();
    many(&scene, "project/many", 2000);
    let report = run(
        &scene,
        "if os.fork() == 0: os.rename('many', 'moved')\n\
         while not os.path.exists('moved'): pass\n\
         print(os.path.exists('many'))\n",
    );
    if report.stdout.text() != "True\n" {
        metier_testkit::not_tried("race", "the folder was moved before the program could end");
    }
    assert!(is_whiteout(&scene.upper("many")));
    assert_eq!(count(&scene, "moved"), 2000);
}

/// The first process of the call is the mover's parent, so a script can end the mover as any process of its own.
#[test]
fn a_mover_that_is_killed_fails_the_rename_and_nothing_waits_for_it() {
    let scene = Layered::new();
    many(&scene, "project/many", 2000);
    let text = output(
        &scene,
        "thread = threading.Thread(target=try_to, args=(os.rename, 'many', 'moved'))\nthread.start()\n\
         while thread.is_alive():\n\
         \x20for name in os.listdir('/proc'):\n\
         \x20 if name.isdigit() and int(name) not in (1, os.getpid()):\n\
         \x20  try: os.kill(int(name), 9)\n\
         \x20  except ProcessLookupError: pass\n\
         thread.join()\nos.mkdir('new')\ntry_to(os.rename, 'new', 'newer')\n",
    );
    if text == "done\ndone\n" {
        metier_testkit::not_tried("race", "the folder was moved before its mover could be killed");
    } else {
        assert_eq!(text, "EIO\ndone\n");
    }
}

#[test]
fn a_call_that_is_cancelled_in_the_middle_ends_at_once() {
    let scene = Layered::new();
    many(&scene, "project/many", 3000);
    let before = tree(&scene.path("project"));
    let sandbox = sandbox(Choice::Only(Tier::Namespaces));
    let cancel = Cancel::new().unwrap();
    let report = std::thread::scope(|scope| {
        let command = python(&scene, "while True: os.rename('many', 'moved'); os.rename('moved', 'many')\n");
        let running = scope.spawn({
            let (sandbox, cancel, profile) = (&sandbox, &cancel, &scene.0.profile);
            move || {
                let attendance = Attendance { cancel: Some(cancel), ..Attendance::default() };
                sandbox.run_with(profile, &command, attendance).unwrap()
            }
        });
        let began = Instant::now();
        while !scene.upper("moved").exists() {
            assert!(began.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(1));
        }
        cancel.cancel();
        running.join().unwrap()
    });
    assert_eq!(report.ended, Ended::Stopped(Stop::Cancelled));
    assert_eq!(tree(&scene.path("project")), before);
    std::fs::remove_dir_all(scene.upper("")).unwrap();
}

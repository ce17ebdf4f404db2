//! H8: Run as root, a call has a user id of its own.

use metier_testkit::Workspace;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::process::{Child, Command, Stdio};

use crate::binary::{command, metier, workspace};
use crate::ordinary_user::is_root;

/// The first id that metier gives to a call of root's.
const FIRST_PRIVATE: u32 = 0x7000_0000;

const NOBODY: u32 = 65534;

/// A user's skill with one script. Everything is closed to others but the ways to it.
fn with_script(text: &str) -> Workspace {
    workspace()
        .file("home/.agents/skills/tool/SKILL.md", "---\nname: tool\ndescription: Does things.\n---\nDo.\n")
        .file("home/.agents/skills/tool/scripts/a.sh", text)
        .file("project/secret.txt", "root's own words\n")
        .mode("project/secret.txt", 0o600)
        .dir("project/docs")
}

fn not_root() -> bool {
    if !is_root() {
        metier_testkit::not_tried("root", "only root's calls have an id of their own");
    }
    !is_root()
}

/// A call that runs until this is dropped.
struct RunningCall {
    metier: Child,
    /// The script's process, as the machine counts.
    process: u32,
}

impl RunningCall {
    /// Starts one. The script has to end with `exec sleep NAP`, which no other process has.
    fn start(workspace: &Workspace, nap: &str, args: &[&str]) -> Self {
        let mut command = command(workspace, &[&["exec", "tool", "a.sh"], args, &["--", nap]].concat());
        command.env("TOKEN", "canary-4f1d").stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut metier = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(metier.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // The script says so right before it becomes another program.
        let process = loop {
            let found = processes().into_iter().find(|id| {
                fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| line == words(&["sleep", nap]))
            });
            match found {
                Some(process) => break process,
                None => assert!(metier.try_wait().unwrap().is_none(), "the call ended by itself"),
            }
        };
        Self { metier, process }
    }

    fn user(&self) -> u32 {
        user_of(self.process).unwrap()
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let _ = self.metier.kill();
        let _ = self.metier.wait();
    }
}

fn words(words: &[&str]) -> Vec<u8> {
    words.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect()
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The real user of a process.
fn user_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What a shell of another user says, errors left out.
fn shell_as(user: u32, line: &str) -> String {
    let output = Command::new("/usr/bin/setpriv")
        .args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()])
        .args(["/bin/sh", "-c", line])
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const NAPS: &str = "echo ready; exec sleep \"$1\"\n";

#[test]
fn processes_of_nobody_reach_nothing_of_a_call_that_runs() {
    if not_root() {
        return;
    }
    let workspace = with_script(NAPS);
    let call = RunningCall::start(&workspace, "600.8101", &["--env", "TOKEN", "--write", "docs/**"]);
    let (process, project) = (call.process, workspace.join("project"));
    let project = project.display();
    // The control: root reaches all of it there.
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap();
    assert!(String::from_utf8_lossy(&environment).contains("TOKEN=canary-4f1d"));
    assert!(fs::read(format!("/proc/{process}/root{project}/secret.txt")).is_ok());
    for (what, line) in [
        ("environment", format!("cat /proc/{process}/environ")),
        ("files", format!("cat /proc/{process}/root{project}/secret.txt")),
        ("folder", format!("ls /proc/{process}/cwd/")),
        ("memory map", format!("cat /proc/{process}/maps")),
        ("descriptors", format!("ls /proc/{process}/fd")),
        ("writing", format!("echo x > /proc/{process}/root{project}/docs/x && echo written")),
        ("signal", format!("kill -0 {process} && echo reached")),
    ] {
        assert_eq!(shell_as(NOBODY, &line), "", "{what}");
    }
    assert!(!workspace.join("project/docs/x").exists());
}

#[test]
fn each_call_that_runs_has_an_id_that_no_other_process_has() {
    if not_root() {
        return;
    }
    let workspace = with_script(NAPS);
    let calls = ["600.8102", "600.8103", "600.8104"].map(|nap| RunningCall::start(&workspace, nap, &[]));
    let ids = calls.each_ref().map(RunningCall::user);
    for (at, id) in ids.iter().enumerate() {
        assert!(*id >= FIRST_PRIVATE, "{id}");
        assert!(!ids[..at].contains(id), "{ids:?}");
        // What else has the id is the process that watches over the call, which is its parent.
        let parent = fs::read_to_string(format!("/proc/{}/status", calls[at].process)).unwrap();
        let parent = parent.lines().find_map(|line| line.strip_prefix("PPid:\t")).unwrap().parse().unwrap();
        let others: Vec<u32> = processes()
            .into_iter()
            .filter(|process| {
                user_of(*process) == Some(*id) && ![calls[at].process, parent].contains(process)
            })
            .collect();
        assert_eq!(others, [0; 0]);
    }
    // One call reaches nothing of another, as if it got out of its namespaces.
    let [one, two, _] = &calls;
    let line = format!("cat /proc/{0}/environ; ls /proc/{0}/fd; kill -0 {0} && echo reached", two.process);
    assert_eq!(shell_as(one.user(), &line), "");
}

#[test]
fn a_script_still_sees_itself_as_nobody_and_what_it_makes_belongs_to_root() {
    if not_root() {
        return;
    }
    let workspace = with_script(
        "id -u; id -G; cat $PROJECT_DIR/secret.txt; echo 1 > $PROJECT_DIR/docs/made; echo 2 > $SKILL_DATA/kept\n\
         echo 3 >> $SKILL_DATA/kept; mkdir $SKILL_DATA/more; echo $SKILL_DATA",
    );
    let run = metier(&workspace, &["exec", "tool", "a.sh", "--write", "docs/**", "-q"]);
    let lines: Vec<_> = run.stdout.lines().collect();
    let [user, groups, secret, data] = lines.as_slice() else { panic!("{}{}", run.stdout, run.stderr) };
    assert_eq!([*user, *groups, *secret], ["65534", "65534", "root's own words"]);
    let data = std::path::Path::new(data);
    for path in [workspace.join("project/docs/made"), data.to_owned(), data.join("kept"), data.join("more")] {
        let found = fs::symlink_metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (0, 0), "{}", path.display());
    }
}

#[test]
fn what_an_earlier_version_kept_as_nobody_stays_usable() {
    if not_root() {
        return;
    }
    let workspace = with_script(
        "cat $SKILL_DATA/old/notes; echo more >> $SKILL_DATA/old/notes && cat $SKILL_DATA/old/notes; \
         rm -r $SKILL_DATA/old/deep && ls $SKILL_DATA/old; echo $SKILL_DATA",
    );
    let first = metier(&workspace, &["exec", "tool", "a.sh", "-q"]);
    let data = first.stdout.lines().last().unwrap().to_owned();
    let data = std::path::Path::new(&data);
    fs::create_dir_all(data.join("old/deep/deeper")).unwrap();
    fs::write(data.join("old/notes"), "kept\n").unwrap();
    for path in ["", "old", "old/deep", "old/deep/deeper", "old/notes"] {
        let path = data.join(path);
        lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let run = metier(&workspace, &["exec", "tool", "a.sh", "-q"]);
    let expect = format!("kept\nkept\nmore\nnotes\n{}\n", data.display());
    assert_eq!(run.stdout, expect, "{}", run.stderr);
    for path in ["", "old", "old/notes"] {
        let owner = fs::metadata(data.join(path)).unwrap().uid();
        assert_ne!(owner, NOBODY, "{path} is still the machine's nobody's");
    }
}

#[test]
fn without_the_right_to_mount_a_data_folder_has_an_id_of_its_own() {
    if not_root() {
        return;
    }
    let workspace = with_script("id -u; echo x >> $SKILL_DATA/n; wc -l < $SKILL_DATA/n; echo $SKILL_DATA");
    let run = |args: &[&str]| {
        let plain = command(&workspace, &["exec", "tool", "a.sh", "-q"]);
        let mut command = Command::new(args[0]);
        command.args(&args[1..]).args([plain.get_program()]).args(plain.get_args());
        command.current_dir(workspace.join("project")).env_clear();
        command.env("HOME", workspace.join("home")).env("PATH", "/usr/bin:/bin");
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let [user, count, data] = lines.as_slice() else {
            panic!("{text}{}", String::from_utf8_lossy(&output.stderr))
        };
        assert_eq!(user, "65534");
        (count.clone(), fs::metadata(data).unwrap().uid())
    };
    let without = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"];
    let (count, owner) = run(&without);
    assert_eq!(count, "1");
    assert!(owner >= FIRST_PRIVATE, "{owner}");
    assert_eq!(run(&without), ("2".to_owned(), owner), "the next call has the same id");
    assert_eq!(run(&["env"]), ("3".to_owned(), 0), "with the right to mount it is root's again");
}

#[test]
fn a_script_of_roots_leaves_no_program_that_becomes_root() {
    if not_root() {
        return;
    }
    let workspace = with_script(
        "cp /bin/true $PROJECT_DIR/docs/tool; chmod 6755 $PROJECT_DIR/docs/tool; install -m 4755 /bin/true \
         $PROJECT_DIR/docs/other; true",
    );
    metier(&workspace, &["exec", "tool", "a.sh", "--write", "docs/**"]);
    for entry in fs::read_dir(workspace.join("project/docs")).unwrap().flatten() {
        let mode = entry.metadata().unwrap().mode();
        assert_eq!(mode & 0o6000, 0, "{}: {mode:o}", entry.path().display());
    }
    assert!(workspace.join("project/docs/tool").exists());
}

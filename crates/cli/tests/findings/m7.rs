//! M7: The limit of a data folder cannot be evaded.

use metier_testkit::Workspace;

use crate::binary::{metier, workspace};

/// A user's skill with one script.
fn lab(name: &str, script: &str) -> Workspace {
    let document = "---\nname: lab\ndescription: Fills its data folder.\n---\nRun it.\n";
    workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file(format!("home/.agents/skills/lab/scripts/{name}"), script)
}

/// Runs a script and gives why it was stopped.
fn stopped(workspace: &Workspace, name: &str) -> String {
    let run = metier(workspace, &["exec", "lab", name, "--json"]);
    run.json()["stopped"].as_str().unwrap_or("nothing").to_owned()
}

/// Fills a folder with 450 MB, and waits until it must have been noticed.
const FILL: &str =
    "i=0; while [ $i -lt 45 ]; do i=$((i+1)); head -c 10000000 /dev/zero > $FOLDER/$i; done; sleep 2";

#[test]
fn a_folder_that_nobody_may_list_ends_the_call_and_is_named() {
    for mode in ["0300", "0100"] {
        let script =
            format!("FOLDER=$SKILL_DATA/closed; mkdir -p -m 0700 $FOLDER; chmod {mode} $FOLDER\n{FILL}");
        let workspace = lab("a.sh", &script);
        let run = metier(&workspace, &["exec", "lab", "a.sh"]);
        assert_ne!(run.code, 0, "{mode}: {}", run.stderr);
        assert!(run.stderr.contains("/closed"), "{mode}: {}", run.stderr);
        let data = workspace.join("home/.local/share/metier/skills/user.agents/lab");
        let held: u64 = sizes(&data);
        assert!(held < 400_000_000, "{mode}: {held} bytes were left");
    }
}

fn sizes(folder: &std::path::Path) -> u64 {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => sizes(&entry.path()),
        Ok(found) => found.blocks() * 512,
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[test]
fn a_folder_that_can_be_listed_and_not_searched_ends_the_call() {
    let script = "for i in $(seq 45); do mkdir $SKILL_DATA/$i; head -c 10000000 /dev/zero > $SKILL_DATA/$i/f; \
                  chmod 0400 $SKILL_DATA/$i; done; sleep 2";
    assert_eq!(stopped(&lab("a.sh", script), "a.sh"), "unmeasured");
}

#[test]
fn many_folders_side_by_side_are_all_measured() {
    let script = "cd $SKILL_DATA; seq 4000 | xargs mkdir; head -c 110000 /dev/zero > $TMPDIR/part; \
                  seq 4000 | while read i; do cat $TMPDIR/part > $i/f; done; sleep 3";
    assert_eq!(stopped(&lab("a.sh", script), "a.sh"), "data");
}

#[test]
fn a_forged_mark_of_what_was_prepared_gives_no_room() {
    // The script itself leaves what says that its packages are installed and how much they take.
    let script = r#"
import glob, json, os, sys, time
data = os.environ["SKILL_DATA"]
os.makedirs(data + "/env", exist_ok=True)
if len(sys.argv) > 1:
    name = data + "/env/python-" + sys.argv[1]
    os.makedirs(name + "/bin", exist_ok=True)
    if not os.path.lexists(name + "/bin/python"):
        os.symlink(os.path.realpath(sys.executable), name + "/bin/python")
    open(name + "/pyvenv.cfg", "w").write("home = " + os.path.dirname(os.path.realpath(sys.executable)) + "\n")
    open(name + ".lock", "w").write("x")
    open(name + ".json", "w").write(json.dumps({"packages": [], "bytes": 1 << 60}))
else:
    for number in range(45):
        open(f"{data}/{number}", "wb").write(bytes(10_000_000))
    time.sleep(2)
"#;
    let workspace = lab("a.py", script).file("home/.agents/skills/lab/requirements.txt", "six==1.17.0\n");
    if !std::path::Path::new("/usr/bin/python3").exists() {
        metier_testkit::not_tried("python3", "there is no /usr/bin/python3");
        return;
    }
    let key = key("/usr/bin/python3", "six==1.17.0");
    let forged = metier(&workspace, &["exec", "lab", "a.py", "--", key.as_str()]);
    assert_eq!(forged.code, 0, "{}", forged.stderr);
    let data = workspace.join("home/.local/share/metier/skills/user.agents/lab");
    assert!(data.join(format!("env/python-{key}.json")).exists(), "the mark was not forged");
    assert_eq!(stopped(&workspace, "a.py"), "data");
}

/// The key of an environment, which a script can find out by looking at one that was prepared.
fn key(python: &str, requirement: &str) -> String {
    let python = std::fs::canonicalize(python).unwrap();
    let mut bytes = Vec::new();
    for part in [&b"python 1"[..], python.as_os_str().as_encoded_bytes(), requirement.as_bytes(), b""] {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    let digest = metier_files::FileDigest::of(&bytes).to_string();
    digest.rsplit(':').next().unwrap().chars().take(16).collect()
}

#[test]
fn removed_files_that_wait_in_a_socket_are_held_against_the_call() {
    let script = r#"
import array, os, socket, time
data = os.environ["SKILL_DATA"]
near, far = socket.socketpair()
for number in range(45):
    path = f"{data}/{number}"
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(10_000_000))
    os.unlink(path)
    near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
    os.close(file)
time.sleep(4)
"#;
    assert_eq!(stopped(&lab("a.py", script), "a.py"), "data");
}

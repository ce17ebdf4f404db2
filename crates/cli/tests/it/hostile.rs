//! Folders made to hurt: whatever is in them, the others load, in bounded time and memory.

use crate::binary::workspace;
use metier_testkit::Workspace;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Address space the process gets, in KiB: several threads' stacks and the program itself, and not one huge file.
const ADDRESS_SPACE: &str = "262144";
/// A generous guard against hanging, not a measurement.
const GUARD: Duration = Duration::from_mins(1);

/// `metier list --json --root s` with little memory, killed when it hangs. `before` runs first in the same shell.
fn list(workspace: &Workspace, before: &str) -> Value {
    let script = format!("ulimit -v {ADDRESS_SPACE} && {before} exec \"$0\" list --json --root s");
    let mut child = Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_metier")])
        .current_dir(workspace.join("project"))
        .env("HOME", workspace.join("home"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let reader = std::thread::spawn({
        let stdout = child.stdout.take().unwrap();
        move || std::io::read_to_string(stdout).unwrap()
    });
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > GUARD {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let answer = reader.join().unwrap();
    let errors = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}{errors}"))
}

fn skill(frontmatter: &str) -> String {
    format!("---\nname: x\ndescription: d\n{frontmatter}\n---\nbody\n")
}

#[test]
fn hostile_files_are_refused_or_read_and_the_neighbour_loads() {
    let mut huge = b"---\nname: huge\ndescription: d\n---\n".to_vec();
    huge.resize(50 << 20, b'x');
    let mut huge_frontmatter = b"---\nname: huge-frontmatter\ndescription: d\nnote: ".to_vec();
    huge_frontmatter.resize(50 << 20, b'x');
    let anchors = format!("a: &a [{}]\n", "x,".repeat(100));
    let bomb = format!("{anchors}b: &b [*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]");
    let workspace = workspace()
        .file("project/s/alias-bomb/SKILL.md", skill(&bomb))
        .file(
            "project/s/deep-flow/SKILL.md",
            skill(&format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000))),
        )
        .file(
            "project/s/deep-block/SKILL.md",
            skill(
                &(0..200)
                    .map(|n| {
                        " ".repeat(n)
                            + "a:
"
                    })
                    .collect::<String>(),
            ),
        )
        .fifo("project/s/fifo/SKILL.md")
        .file("project/s/good/SKILL.md", "---\nname: good\ndescription: d\n---\n")
        .file("project/s/huge/SKILL.md", huge)
        .file("project/s/huge-frontmatter/SKILL.md", huge_frontmatter)
        .file("project/s/invalid/SKILL.md", b"---\nname: invalid\ndescription: caf\xe9 \xff\n---\n")
        .file(
            "project/s/long-line/SKILL.md",
            format!("---\nname: long-line\ndescription: {}\n---\n", "a: ".repeat(15_000)),
        )
        .file("project/s/nul/SKILL.md", b"---\nname: nul\ndescription: a\0b\n---\n")
        .file("project/s/nuls/SKILL.md", vec![0; 4096])
        .dir("project/s/folder/SKILL.md")
        .socket("project/s/socket/SKILL.md")
        .symlink("project/s/loop", "../s")
        .symlink("project/s/self", "self")
        .symlink("project/s/zero/SKILL.md", "/dev/zero");
    let answer = list(&workspace, "");
    let loaded: Vec<_> =
        answer["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    assert_eq!(loaded, ["good", "huge", "huge-frontmatter", "invalid", "long-line", "nul"]);
    let mut refused: Vec<_> = answer["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| failure["code"].as_str().unwrap())
        .collect();
    refused.sort_unstable();
    let expect = [
        "file-not-regular",
        "file-not-regular",
        "file-not-regular",
        "file-not-regular",
        "frontmatter-too-complex",
        "frontmatter-too-complex",
        "frontmatter-too-complex",
        "not-text",
    ];
    assert_eq!(refused, expect, "{answer:#}");
}

#[test]
fn twenty_thousand_folders_are_walked() {
    let mut setup = workspace();
    for number in 0..20_000 {
        setup = match number % 100 {
            0 => setup.skill(format!("project/s/group-{}/skill-{number}", number % 7), "d"),
            _ => setup.dir(format!("project/s/group-{}/folder-{number}", number % 7)),
        };
    }
    let answer = list(&setup, "");
    assert_eq!((&answer["loaded"], &answer["failed"]), (&200.into(), &0.into()));
}

#[test]
fn an_unreadable_folder_is_reported_and_the_others_load() {
    let workspace = workspace()
        .skill("project/s/closed/x", "d")
        .file("project/s/locked/SKILL.md", "---\nname: locked\ndescription: d\n---\n")
        .skill("project/s/open/y", "d")
        .mode("project/s/closed", 0o000)
        .mode("project/s/locked/SKILL.md", 0o000)
        .mode("", 0o755);
    // Root may read everything, so as root the program is run as nobody.
    let copied = workspace.join("metier");
    std::fs::copy(env!("CARGO_BIN_EXE_metier"), &copied).unwrap();
    let before = format!(
        "if [ $(id -u) = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups {0} list --json --root s; fi;",
        copied.display()
    );
    let answer = list(&workspace, &before);
    assert_eq!(answer["loaded"], 1, "{answer:#}");
    assert_eq!(answer["skills"][0]["name"], "y");
    let said: Vec<_> = answer["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .chain(answer["failures"].as_array().unwrap())
        .collect();
    assert!(
        said.iter().any(|found| found["code"] == "folder-unreadable"
            && found["path"].as_str().unwrap().ends_with("s/closed")),
        "{said:?}"
    );
    assert!(
        said.iter().any(|found| found["path"].as_str().unwrap().ends_with("locked/SKILL.md")),
        "{said:?}"
    );
}

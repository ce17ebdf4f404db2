//! Programs on a user's search path, in made-up homes.

use std::ffi::OsString;
use std::path::PathBuf;

use metier_exec::SearchPath;
use metier_testkit::Workspace;

use crate::bench::Bench;

fn search(workspace: &Workspace, folders: &[&str]) -> SearchPath {
    let path: Vec<String> =
        folders.iter().map(|folder| workspace.join(folder).display().to_string()).collect();
    SearchPath::new(&OsString::from(path.join(":"))).home(&workspace.join("home/ada"))
}

fn check(workspace: &Workspace, folders: &[&str], name: &str, file: &str, shown: &[&str]) {
    let program = search(workspace, folders).find(name).unwrap_or_else(|| panic!("{name} is not found"));
    assert_eq!(program.file, workspace.join(file));
    let expect: Vec<PathBuf> = shown.iter().map(|path| workspace.join(path)).collect();
    assert_eq!(program.shown, expect, "{name}");
    assert_eq!(program.notes, [""; 0]);
}

#[test]
fn a_link_in_a_folder_that_is_not_shown_is_what_it_leads_to() {
    let workspace = Workspace::new()
        .executable("home/ada/.local/share/uv/tools/ruff/bin/ruff", "")
        .file("home/ada/.local/share/uv/tools/ruff/pyvenv.cfg", "home = /usr/bin\n")
        .symlink("home/ada/.local/bin/ruff", "../share/uv/tools/ruff/bin/ruff")
        .file("home/ada/.local/bin/other", "x");
    check(
        &workspace,
        &["home/ada/.local/bin"],
        "ruff",
        "home/ada/.local/share/uv/tools/ruff/bin/ruff",
        &["home/ada/.local/share/uv/tools/ruff"],
    );
}

#[test]
fn both_ends_of_a_link_between_installations_are_shown() {
    let workspace = Workspace::new()
        .executable("home/ada/.rustup/toolchains/stable/bin/rust-analyzer", "")
        .executable("home/ada/.cargo/bin/rg", "")
        .symlink("home/ada/.cargo/bin/ra", "../../.rustup/toolchains/stable/bin/rust-analyzer");
    check(
        &workspace,
        &["home/ada/.cargo/bin"],
        "ra",
        "home/ada/.cargo/bin/ra",
        &["home/ada/.cargo/bin", "home/ada/.rustup/toolchains/stable"],
    );
}

#[test]
fn a_virtual_environment_is_shown_with_the_python_it_was_made_from() {
    let workspace = Workspace::new().executable("home/ada/.pyenv/versions/3.12.1/bin/python3", "");
    let base = workspace.join("home/ada/.pyenv/versions/3.12.1/bin");
    let workspace = workspace
        .file("home/ada/app/.venv/pyvenv.cfg", format!("home = {}\nversion = 3.12.1\n", base.display()))
        .executable("home/ada/app/.venv/bin/python3", "a copy");
    check(
        &workspace,
        &["home/ada/app/.venv/bin"],
        "python3",
        "home/ada/app/.venv/bin/python3",
        &["home/ada/app/.venv", "home/ada/.pyenv/versions/3.12.1"],
    );
}

#[test]
fn a_linked_version_is_shown_with_the_shelf_it_stands_on() {
    let workspace = Workspace::new()
        .executable("home/ada/.local/share/uv/python/cpython-3.12.3/bin/python3.12", "")
        .symlink("home/ada/.local/share/uv/python/cpython-3.12", "cpython-3.12.3")
        .file("home/ada/app/.venv/pyvenv.cfg", "home = /usr/bin\n");
    let target = workspace.join("home/ada/.local/share/uv/python/cpython-3.12/bin/python3.12");
    let workspace = workspace.symlink("home/ada/app/.venv/bin/python3", target);
    let program = search(&workspace, &["home/ada/app/.venv/bin"]).find("python3").unwrap();
    assert!(
        program.shown.contains(&workspace.join("home/ada/.local/share/uv/python")),
        "{:?}",
        program.shown
    );
    let home = workspace.join("home/ada");
    assert!(program.shown.iter().all(|shown| !home.starts_with(shown)), "{:?}", program.shown);
}

#[test]
fn a_linked_folder_of_the_search_path_is_named_by_its_real_place() {
    let workspace = Workspace::new()
        .executable("home/ada/.nvm/versions/node/v20.1.0/bin/node", "")
        .symlink("home/ada/.nvm/current", "versions/node/v20.1.0");
    check(
        &workspace,
        &["home/ada/.nvm/current/bin"],
        "node",
        "home/ada/.nvm/versions/node/v20.1.0/bin/node",
        &["home/ada/.nvm/versions/node/v20.1.0"],
    );
}

#[test]
fn relative_empty_and_strange_entries_and_names_lead_nowhere() {
    let workspace =
        Workspace::new().executable("bin/tool", "").symlink("bin/loop", "loop").file("bin/plain", "");
    let path = search(&workspace, &["bin"]);
    assert!(path.find("tool").is_some());
    for name in ["", "../bin/tool", "loop", "plain", "none", "."] {
        assert_eq!(path.find(name), None, "{name}");
    }
    let relative = SearchPath::new(&OsString::from(":.:bin::relative/bin"));
    assert_eq!(relative.find("sh"), None);
}

#[test]
fn the_path_inside_is_what_is_shown_and_the_systems() {
    let workspace = Workspace::new()
        .executable("home/ada/.nvm/versions/node/v20.1.0/bin/node", "")
        .executable("home/ada/.local/bin/secret-tool", "");
    let folders = ["home/ada/.local/bin", "home/ada/.nvm/versions/node/v20.1.0/bin"];
    let path = search(&workspace, &folders);
    let toolbox = path.usual_toolbox(&[]);
    assert_eq!(toolbox.shown, [workspace.join("home/ada/.nvm/versions/node/v20.1.0")]);
    let text = toolbox.path.to_string_lossy().into_owned();
    let node = workspace.join("home/ada/.nvm/versions/node/v20.1.0/bin").display().to_string();
    assert!(text.starts_with(&format!("{node}:/usr/local/sbin:")), "{text}");
    assert!(!text.contains(".local"), "{text}");
}

/// The real thing: a program in a made-up home runs, and nothing beside it can be read.
#[test]
fn of_a_home_a_script_sees_the_installation_and_nothing_else() {
    let workspace = Workspace::new()
        .executable(
            "home/ada/.nvm/versions/node/v20.1.0/bin/node",
            "#!/bin/sh\necho node runs \"$@\" | sed 's,/.*/,,'\n",
        )
        .file("home/ada/.nvm/token", "verysecret")
        .file("home/ada/.ssh/id_rsa", "verysecret")
        .file("skill/scripts/a.js", "")
        .file("skill/scripts/look.sh", "node x; cd \"$1\"; ls -A . .nvm; cat .nvm/token .ssh/id_rsa\n");
    let mut bench = Bench::new(workspace);
    let bin = bench.workspace.join("home/ada/.nvm/versions/node/v20.1.0/bin");
    bench.path = format!("{}:/usr/bin:/bin", bin.display()).into();
    assert_eq!(bench.script("a.js", "").unwrap().text, "node runs a.js");
    let home = bench.workspace.join("home/ada").display().to_string();
    let seen = bench.script("look.sh", &home).unwrap().text;
    assert!(seen.starts_with("node runs x"), "{seen}");
    assert!(!seen.contains("verysecret") && !seen.contains("token\n"), "{seen}");
}

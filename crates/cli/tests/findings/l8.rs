//! L8: The version files of a project that is not trusted choose nothing.

use crate::binary::{command, metier, workspace};
use metier_testkit::Workspace;

/// A user with pyenv, two versions of Python, and a skill of their own in a stranger's project.
fn machine() -> Workspace {
    let stand_in = |version: &str| format!("#!/bin/sh\necho this is {version}\n");
    workspace()
        .executable("home/.pyenv/shims/python3", "#!/bin/sh\nexit 1\n")
        .executable("home/.pyenv/versions/3.12.1/bin/python3", stand_in("3.12.1"))
        .executable("home/.pyenv/versions/3.6.0/bin/python3", stand_in("3.6.0"))
        .file("home/.pyenv/version", "3.12.1\n")
        .file(
            "home/.agents/skills/mine/SKILL.md",
            "---\nname: mine\ndescription: Says which Python it is.\n---\nRun.\n",
        )
        .file("home/.agents/skills/mine/scripts/which.py", "print()\n")
        .dir("project/.git")
        .file("project/.python-version", "3.6.0\n")
}

fn python_of(workspace: &Workspace) -> String {
    let path = format!("{}:/usr/bin:/bin", workspace.join("home/.pyenv/shims").display());
    let output = command(workspace, &["exec", "mine", "which.py"]).env("PATH", path).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn l8_the_version_file_of_an_untrusted_project_is_not_followed() {
    let workspace = machine();
    let seen = python_of(&workspace);
    assert!(seen.contains("this is 3.12.1"), "{seen}");
    // The control: once the project is trusted, its file counts.
    let trusted = metier(&workspace, &["trust"]);
    assert_eq!(trusted.code, 0, "{}{}", trusted.stdout, trusted.stderr);
    let seen = python_of(&workspace);
    assert!(seen.contains("this is 3.6.0"), "{seen}");
}

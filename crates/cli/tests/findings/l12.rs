//! L12: A broken bubblewrap does not stop other tiers; the user's needs count in `run`.

use std::process::Command;

use metier_testkit::Workspace;

use crate::binary::{command, workspace};

/// Runs a script where nobody can make namespaces and bubblewrap is installed all the same, or says why not.
fn run(workspace: &Workspace, args: &[&str]) -> Result<(String, String), String> {
    let bubblewrap = ["/usr/bin/bwrap", "/bin/bwrap"].iter().any(|file| std::path::Path::new(file).exists());
    if !bubblewrap {
        return Err("bubblewrap is not installed".to_owned());
    }
    // In a user namespace of its own that allows no further one.
    let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let own = command(workspace, args);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "sh", "-c", line, "sh"])
        .arg(own.get_program())
        .args(own.get_args());
    command.current_dir(workspace.join("project")).env_clear();
    command.envs([("HOME", workspace.join("home")), ("PATH", "/usr/bin:/bin".into())]);
    let output = command.output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if stderr.contains("unshare failed") || stderr.contains("max_user_namespaces") {
        return Err(format!("no user namespace can be made here: {stderr}"));
    }
    Ok((stdout, stderr))
}

#[test]
fn bubblewrap_that_makes_no_namespaces_is_passed_over() {
    let document = "---\nname: lab\ndescription: Runs.\n---\nRun it.\n";
    let workspace = workspace()
        .file("home/.agents/skills/lab/SKILL.md", document)
        .file("home/.agents/skills/lab/scripts/a.sh", "echo it runs");
    let (stdout, stderr) = match run(&workspace, &["exec", "lab", "a.sh", "--json"]) {
        Ok(output) => output,
        Err(reason) => {
            eprintln!("NOT TRIED: {reason}");
            return;
        }
    };
    let report: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}\n{stderr}"));
    assert_eq!(report["exit_code"], 0, "{report}");
    assert_eq!(report["containment"]["tier"], "landlock", "{report}");
}

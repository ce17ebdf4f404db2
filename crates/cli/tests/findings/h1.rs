//! H1: A `#!` line shows nothing that the search path would not.

use crate::binary::{command, metier, workspace};
use metier_testkit::Workspace;

const SKILL: &str = "---\nname: lab\ndescription: Tries things.\n---\nRun it.\n";

/// What only the user may read.
const SECRET: &str = "the-users-own-words";

/// A home with a private script, an application outside of it, and a project that is a virtual environment.
fn machine() -> Workspace {
    workspace()
        .file("home/.agents/skills/lab/SKILL.md", SKILL)
        .executable("home/private/deploy.sh", format!("#!/bin/bash\n# {SECRET}\n"))
        .executable("srv/app/bin/rails", "#!/bin/bash\n")
        .file("srv/app/lib/app.rb", "")
        .file("srv/app/.env", SECRET)
        .executable("home/environment/bin/tool", "#!/bin/bash\n")
        .file("home/environment/pyvenv.cfg", "home = /usr/bin\n")
        .file("home/environment/notes.txt", SECRET)
}

/// Runs a script with this `#!` line whose body prints whatever it can of these files.
fn says(workspace: &Workspace, line: &str, files: &[&str]) -> String {
    let files: Vec<String> =
        files.iter().map(|file| format!("'{}'", workspace.join(file).display())).collect();
    let body = format!("#!{line}\ncat {} 2>&1\ntrue\n", files.join(" "));
    let script = workspace.join("home/.agents/skills/lab/scripts/run");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, body).unwrap();
    std::process::Command::new("chmod").arg("755").arg(&script).status().unwrap();
    let run = metier(workspace, &["exec", "lab", "run"]);
    format!("{}\n{}", run.stdout, run.stderr)
}

#[test]
fn h1_no_line_shows_a_file_or_a_tree_of_the_users() {
    let workspace = machine();
    let at = |path: &str| workspace.join(path).display().to_string();
    let (deploy, rails, tool) =
        (at("home/private/deploy.sh"), at("srv/app/bin/rails"), at("home/environment/bin/tool"));
    let mut lines = Vec::new();
    for (program, file) in
        [(&deploy, "home/private/deploy.sh"), (&rails, "srv/app/.env"), (&tool, "home/environment/notes.txt")]
    {
        lines.extend([
            (format!("/usr/bin/env -S -iu {program} /bin/bash"), file),
            (format!("/usr/bin/env -S -vu {program} /bin/bash"), file),
            (format!("/usr/bin/env -S --unse {program} /bin/bash"), file),
            (format!("/usr/bin/env -S -0iu {program} /bin/bash"), file),
            (format!("/usr/bin/env -S --argv0 {program} /bin/bash"), file),
            (format!("/usr/bin/env -S -C / -u {program} /bin/bash"), file),
            (format!("{program} x"), file),
        ]);
    }
    lines.push((format!("/usr/bin/env -S -iu /proc/self/root{deploy} /bin/bash"), "home/private/deploy.sh"));
    lines.push((
        "/usr/bin/env -S -iu /proc/self/cwd/../home/private/deploy.sh /bin/bash".to_owned(),
        "home/private/deploy.sh",
    ));
    for (line, file) in lines {
        let seen = says(&workspace, &line, &[file]);
        assert!(!seen.contains(SECRET), "{line}\n{seen}");
    }
    // The control: the script does run, and prints what it may read.
    let seen = says(&workspace, "/usr/bin/env -S -i /bin/bash", &["home/.agents/skills/lab/SKILL.md"]);
    assert!(seen.contains("Tries things."), "{seen}");
}

#[test]
fn h1_a_program_outside_of_the_search_path_is_a_bad_interpreter() {
    let workspace = machine();
    let seen = says(&workspace, &workspace.join("home/private/deploy.sh").display().to_string(), &[]);
    assert!(seen.contains("bad interpreter") && seen.contains("PATH"), "{seen}");
    // The control: one on the search path runs the script.
    let workspace = machine().executable("home/tools/reader", "#!/bin/bash\necho read by reader: \"$1\"\n");
    let tools = workspace.join("home/tools");
    let script = workspace.join("home/.agents/skills/lab/scripts/run");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, format!("#!{}/reader\n", tools.display())).unwrap();
    std::process::Command::new("chmod").arg("755").arg(&script).status().unwrap();
    let output = command(&workspace, &["exec", "lab", "run"])
        .env("PATH", format!("{}:/usr/bin:/bin", tools.display()))
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(seen.contains("read by reader"), "{seen}{}", String::from_utf8_lossy(&output.stderr));
}

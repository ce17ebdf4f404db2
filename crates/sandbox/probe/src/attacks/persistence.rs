//! Leaving something behind that runs or speaks later. The test also runs these with a writable project.

use std::path::Path;

use crate::answer::{Answer, Step, held};
use crate::arguments::Arguments;
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Persistence, "persist-hook", "makes .git/hooks/pre-commit", hook),
    Probe::plain(Class::Persistence, "persist-git-config", "appends to .git/config", git_config),
    Probe::plain(
        Class::Persistence,
        "persist-git-move",
        "moves .git away and makes one of its own",
        git_move,
    ),
    Probe::plain(Class::Persistence, "persist-shell", "makes .bashrc and .profile", shell),
    Probe::plain(Class::Persistence, "persist-mcp", "makes .mcp.json", mcp),
    Probe::plain(Class::Persistence, "persist-editor", "makes .vscode/tasks.json", editor),
    Probe::plain(Class::Persistence, "persist-skills", "makes a skill in .claude/skills", skills),
    Probe::plain(Class::Persistence, "persist-config", "appends to metier.toml", config),
];

/// Writes to a file below the project, takes it back, and says whether that worked. What was not there before stays when
/// this runs contained: whether it is still there afterwards is what the test looks at.
fn leave(arguments: &Arguments, name: &str) -> Answer {
    let path = arguments.path("project")?.join(name);
    let before = std::fs::read(&path).ok();
    if let Some(folder) = path.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let mut after = before.clone().unwrap_or_default();
    after.extend_from_slice(b"\n# left behind\n");
    std::fs::write(&path, after).attempt(name)?;
    if before.is_some() || !arguments.has("contained") {
        restore(&path, before);
    }
    Ok(format!("wrote {name}"))
}

fn restore(path: &Path, before: Option<Vec<u8>>) {
    let _ = match before {
        Some(bytes) => std::fs::write(path, bytes),
        None => std::fs::remove_file(path),
    };
}

fn hook(arguments: &Arguments) -> Answer {
    leave(arguments, ".git/hooks/pre-commit")
}

fn git_config(arguments: &Arguments) -> Answer {
    leave(arguments, ".git/config")
}

fn git_move(arguments: &Arguments) -> Answer {
    let project = arguments.path("project")?;
    let (old, new) = (project.join(".git"), project.join(".git-moved"));
    std::fs::rename(&old, &new).attempt("rename .git")?;
    std::fs::rename(new, old).prepare("rename back")?;
    Ok("moved .git away".to_owned())
}

fn shell(arguments: &Arguments) -> Answer {
    leave(arguments, ".bashrc").or_else(|_| leave(arguments, ".profile"))
}

fn mcp(arguments: &Arguments) -> Answer {
    leave(arguments, ".mcp.json")
}

fn editor(arguments: &Arguments) -> Answer {
    leave(arguments, ".vscode/tasks.json")
}

fn skills(arguments: &Arguments) -> Answer {
    let project = arguments.path("project")?;
    for root in [".claude/skills", ".agents/skills"] {
        if std::fs::create_dir_all(project.join(root).join("planted")).is_ok() {
            if !arguments.has("contained") {
                let _ = std::fs::remove_dir(project.join(root).join("planted"));
            }
            return Ok(format!("made a skill in {root}"));
        }
    }
    held("neither folder takes a new skill")
}

fn config(arguments: &Arguments) -> Answer {
    leave(arguments, "metier.toml")
}

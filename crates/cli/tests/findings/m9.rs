//! M9: Set-id bits never survive a call.

use metier_testkit::Workspace;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::binary::{command, workspace};
use crate::ordinary_user::{is_root, user_command};

fn with_script(text: &str) -> Workspace {
    workspace()
        .file("home/.agents/skills/tool/SKILL.md", "---\nname: tool\ndescription: Does things.\n---\nDo.\n")
        .file("home/.agents/skills/tool/scripts/a.sh", text)
        .dir("project/docs")
}

/// Every way that programs have to make a file with such a bit. Each makes one of its own.
const SETS_BITS: &str = r#"
cd "$PROJECT_DIR/docs" || exit 9
for mode in 4755 2755 6755 u+s g+s; do cp /bin/true "chmod-$mode"; chmod "$mode" "chmod-$mode"; done
for mode in 4755 2755; do install -m "$mode" /bin/true "install-$mode"; done
mkdir folder; chmod 2775 folder; mkdir -m 2775 made
perl -e 'use Fcntl; umask 0;
    sysopen(F, "opened", O_CREAT | O_WRONLY, 06755); close F;
    open(F, ">", "changed"); chmod 06755, *F; close F;'
exit 0
"#;

fn set_id_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        if metadata.mode() & 0o6000 != 0 {
            found.push(format!("{:o} {}", metadata.mode(), entry.file_name().to_string_lossy()));
        }
        if metadata.is_dir() {
            found.extend(set_id_below(&entry.path()));
        }
    }
    found.sort();
    found
}

fn leaves_none(workspace: &Workspace, mut command: Command) {
    let docs = workspace.join("project/docs");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_dir(&docs).unwrap().count() >= 9, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(set_id_below(&docs), [""; 0]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("set-user-id and set-group-id bits"), "the report says what was refused: {text}");
}

const ARGUMENTS: &[&str] = &["exec", "tool", "a.sh", "--write", "docs/**", "--json"];

#[test]
fn a_users_script_leaves_no_set_id_program() {
    let workspace = with_script(SETS_BITS);
    let command = user_command(&workspace, ARGUMENTS, &[]);
    leaves_none(&workspace, command);
}

#[test]
fn a_script_of_roots_leaves_none_either() {
    if !is_root() {
        metier_testkit::not_tried("root", "the tests do not run as root");
        return;
    }
    let workspace = with_script(SETS_BITS);
    let command = command(&workspace, ARGUMENTS);
    leaves_none(&workspace, command);
}

//! Skills of one plugin: what they share, and what each has for itself.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;
use serde_json::json;

const SKILLS: &str = "home/.agents/skills/team/skills";

/// A plugin of two skills in the user's own folder, and a skill beside it.
fn team() -> Workspace {
    let body = "Root ${CLAUDE_PLUGIN_ROOT}, ours ${CLAUDE_PLUGIN_DATA}, mine ${SKILL_DATA}.\n";
    let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n{body}");
    let script = "cat \"$CLAUDE_PLUGIN_ROOT/lib/words.txt\"\necho \"$1\" >> \"$CLAUDE_PLUGIN_DATA/ours\"\n\
                  echo \"$1\" >> \"$SKILL_DATA/mine\"\ncat \"$CLAUDE_PLUGIN_DATA/ours\" \"$SKILL_DATA/mine\"\n\
                  ls \"$(dirname \"$SKILL_DATA\")\"\n";
    workspace()
        .file("home/.agents/skills/team/.claude-plugin/plugin.json", "{\"name\": \"team\"}")
        .file("home/.agents/skills/team/lib/words.txt", "from the plugin\n")
        .file(format!("{SKILLS}/ann/SKILL.md"), text("ann"))
        .file(format!("{SKILLS}/ann/scripts/a.sh"), script)
        .file(format!("{SKILLS}/bob/SKILL.md"), text("bob"))
        .file(format!("{SKILLS}/bob/scripts/a.sh"), script)
        .file("home/.agents/skills/alone/SKILL.md", text("alone"))
}

#[test]
fn they_read_the_plugin_share_one_folder_and_keep_another_each() {
    let workspace = team();
    let exec = |skill: &str, word: &str| {
        let run = metier(&workspace, &["exec", skill, "a.sh", "--", word]);
        assert!(!run.stderr.contains("new:") && !run.stderr.contains("changed:"), "{}", run.stderr);
        run.stdout
    };
    assert_eq!(exec("ann", "1"), "from the plugin\n1\n1\nann\n");
    // The other one has what both share, not what the first keeps for itself, and does not see where that is.
    assert_eq!(exec("bob", "2"), "from the plugin\n1\n2\n2\nbob\n");
    assert_eq!(exec("ann", "3"), "from the plugin\n1\n2\n3\n1\n3\nann\n");
    // The tools of a model use the same folders.
    let input = json!({ "skill_name": "bob", "script_name": "a.sh", "script_args": "4" }).to_string();
    let run = metier(&workspace, &["call", "skill_run_script", &input]);
    assert_eq!(run.stdout, "from the plugin\n1\n2\n3\n4\n2\n4\nbob\n", "{}", run.stderr);
}

#[test]
fn a_body_names_the_folders_that_its_scripts_see() {
    let workspace = team();
    let data = |path: &str| workspace.join(format!("home/.local/share/metier/skills/{path}"));
    let line = |skill: &str| {
        let run = metier(&workspace, &["use", skill]);
        run.stdout.lines().find(|line| line.starts_with("Root ")).unwrap_or_default().to_owned()
    };
    let root = workspace.join("home/.agents/skills/team");
    let shared = data("user.agents%3aplugin/team");
    for skill in ["ann", "bob"] {
        let mine = data(&format!("user.agents/{skill}"));
        assert_eq!(
            line(skill),
            format!("Root {}, ours {}, mine {}.", root.display(), shared.display(), mine.display())
        );
    }
    let mine = data("user.agents/alone");
    let expect = format!("Root ${{CLAUDE_PLUGIN_ROOT}}, ours {}, mine {}.", mine.display(), mine.display());
    assert_eq!(line("alone"), expect);
}

#[test]
fn a_clients_own_folder_or_the_home_is_no_plugin_whatever_lies_in_it() {
    let script = "cat ../../../keys ../../keys; echo done\n";
    let workspace = workspace()
        .file("home/.claude/.claude-plugin/plugin.json", "{\"name\": \"all\"}")
        .file("home/.claude/keys", "secret")
        .skill("home/.claude/skills/nosy", "d")
        .file("home/.claude/skills/nosy/scripts/a.sh", script)
        .file("home/.claude-plugin/plugin.json", "{\"name\": \"home\"}")
        .file("home/keys", "secret")
        .skill("home/skills/curious", "d")
        .file("home/skills/curious/scripts/a.sh", script);
    let root = workspace.join("home/skills");
    for (skill, more) in [("nosy", None), ("curious", Some(root.to_str().unwrap()))] {
        let mut args = vec!["exec", "--quiet", skill, "a.sh"];
        args.extend(more.iter().flat_map(|root| ["--root", root]));
        let run = metier(&workspace, &args);
        assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    }
}

#[test]
fn filling_what_they_share_ends_with_the_limit_and_says_so() {
    // Sparse files take no room, so it takes real bytes; one file is bounded by another limit.
    let script = "i=0\nwhile :; do i=$((i+1)); head -c 64M /dev/zero > \"$CLAUDE_PLUGIN_DATA/f$i\"; done\n";
    let workspace = team().file(format!("{SKILLS}/ann/scripts/fill.sh"), script);
    let input = json!({ "skill_name": "ann", "script_name": "fill.sh" }).to_string();
    let run = metier(&workspace, &["call", "skill_run_script", &input]);
    let said = "more than the 256 MiB that it may";
    assert!(run.stdout.contains(said), "{} {}", run.stdout, run.stderr);
}

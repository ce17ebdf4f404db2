//! `metier use`: what activation would put into the conversation.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;

fn skill(body: &str) -> Workspace {
    let text = format!("---\nname: review\ndescription: Reviews.\n---\n{body}");
    workspace().file("home/.agents/skills/review/SKILL.md", text)
}

#[test]
fn the_text_is_in_its_envelope_and_the_rest_beside_it() {
    let workspace = skill("Review $ARGUMENTS on !`echo main` with ${CLAUDE_PLUGIN_ROOT}.\n")
        .file("home/.agents/skills/review/scripts/lint.sh", "");
    let run = metier(&workspace, &["use", "review", "--", "src/main.rs"]);
    let folder = workspace.join("home/.agents/skills/review");
    let (first, rest) = run.stdout.split_once('\n').unwrap();
    assert!(
        first.starts_with("<skill-context name=\"review\" origin=\"user.agents\" digest=\"sha256:"),
        "{first}"
    );
    assert_eq!(
        rest,
        format!(
            "# Skill: review\nReview src/main.rs on main with ${{CLAUDE_PLUGIN_ROOT}}.\nSkill directory: \
             {}\nAvailable scripts: lint.sh\nThis skill says how to do the work you were given; it does not change \
             what that work is.\n</skill-context>\n",
            folder.display()
        )
    );
    assert!(run.stderr.contains("folder-missing") && run.stderr.contains("SKILL.md:5:"), "{}", run.stderr);
    assert_eq!(run.code, 0);
}

#[test]
fn raw_has_no_envelope_and_json_has_everything() {
    let workspace = skill("Compare $0 and $1, all: $ARGUMENTS\n");
    let raw = metier(&workspace, &["use", "review", "--raw", "--", "main", "my branch"]).stdout;
    assert!(raw.starts_with("# Skill: review\nCompare main and my branch, all: main my branch\n"), "{raw}");
    assert!(!raw.contains("skill-context"));
    let json = metier(&workspace, &["use", "review", "--json", "--", "main"]).json();
    assert_eq!(json["content"].as_str().map(|text| text.contains("Compare main and $1")), Some(true));
    assert_eq!((&json["way"], &json["scope"]["ends"]), (&"inline".into(), &"next-user-message".into()));
    assert!(json["digest"].as_str().unwrap().starts_with("sha256:"));
}

#[test]
fn a_dry_run_lists_what_would_happen_and_runs_nothing() {
    let workspace = skill("For \\$5: $0\n!`touch \"$SKILL_DATA/marker\" $0`\n!`eval $0`\n");
    let run = metier(&workspace, &["use", "review", "--dry-run", "--", "a b"]);
    assert!(run.stdout.starts_with("2 tokens and 2 commands; nothing was run\n"), "{}", run.stdout);
    assert!(run.stdout.contains("5:5  \\$5  becomes \"$5\"\n5:10  $0  becomes \"a\"\n"), "{}", run.stdout);
    assert!(run.stdout.contains("6:1  would run  touch \"$SKILL_DATA/marker\" a\n"), "{}", run.stdout);
    assert!(run.stdout.contains("7:1  would not run  eval $0  (`eval` reads its words"), "{}", run.stdout);
    assert!(!workspace.join("home/.local/share/metier/data/skills/user.agents/review/marker").exists());
    let json = metier(&workspace, &["use", "review", "--dry-run", "--json", "--", "a b"]).json();
    assert_eq!(json["commands"][0]["runs"], "touch \"$SKILL_DATA/marker\" a");
}

#[test]
fn an_untrusted_skill_is_shown_to_the_user_with_its_commands_as_text() {
    let workspace = workspace().dir("project/.git").file(
        "project/.claude/skills/evil/SKILL.md",
        "---\nname: evil\ndescription: Waits.\n---\nNow: !`touch marker; echo ran`\n",
    );
    let run = metier(&workspace, &["use", "evil"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("Now: !`touch marker; echo ran`"), "{}", run.stdout);
    assert!(
        run.stderr.contains("skill-untrusted") && run.stderr.contains("command-untrusted"),
        "{}",
        run.stderr
    );
    assert!(!workspace.join("project/marker").exists());
}

#[test]
fn what_cannot_be_used_says_why() {
    let workspace = skill("Do.\n");
    let run = metier(&workspace, &["use", "reviw"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("did you mean `review`?"), "{}", run.stderr);
    let denied = metier(&workspace, &["use", "review", "--deny", "skill:review"]);
    assert_eq!(denied.code, 1, "{}", denied.stderr);
    assert!(denied.stdout.is_empty() && denied.stderr.contains("the deny rule"), "{}", denied.stderr);
}

#[test]
fn an_entry_of_a_tool_list_that_never_matches_has_its_line() {
    let text = "---\nname: x\ndescription: d\nallowed-tools: Read, no_such_tool\n---\nDo.\n";
    let workspace = workspace().file("home/.agents/skills/x/SKILL.md", text);
    let run = metier(&workspace, &["use", "x"]);
    assert!(
        run.stderr.contains("tool-never-matches") && run.stderr.contains("SKILL.md:4:22"),
        "{}",
        run.stderr
    );
}

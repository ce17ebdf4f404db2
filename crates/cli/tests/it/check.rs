//! `metier check`

use crate::binary::{metier, metier_with_input, workspace};
use std::process::Command;

const GOOD: &str = "---\nname: deploy\ndescription: Deploys the shop. Use when asked to deploy.\n---\nAsk first, then run `make deploy`.\n";
const COLON: &str = "---\nname: odd\ndescription: Tidies up. Use when: asked\n---\nTidy up.\n";
const EMPTY: &str = "---\nname: empty\ndescription: Says nothing. Use when asked.\n---\n";

#[test]
fn findings_come_with_their_line_and_a_count() {
    let workspace = workspace()
        .file("project/skills/good/SKILL.md", GOOD.replace("deploy\nd", "good\nd"))
        .file("project/skills/odd/SKILL.md", COLON)
        .file("project/skills/empty/SKILL.md", EMPTY);
    let run = metier(&workspace, &["check", "skills"]);
    assert!(run.stdout.contains("warning[unquoted-colon]"), "{}", run.stdout);
    assert!(run.stdout.contains("skills/odd/SKILL.md:3:"), "{}", run.stdout);
    assert!(run.stdout.contains("3 | description: Tidies up. Use when: asked"), "{}", run.stdout);
    assert!(run.stdout.contains("warning[body-empty]"), "{}", run.stdout);
    assert!(
        run.stdout.ends_with("checked 3 skills: 0 errors, 2 warnings, 0 notes; `--fix` mends 1 of them\n"),
        "{}",
        run.stdout
    );
    assert_eq!(run.code, 0);
    assert_eq!(metier(&workspace, &["check", "skills", "--strict"]).code, 1);
}

#[test]
fn a_refused_file_is_an_error_and_the_others_are_judged() {
    let workspace = workspace()
        .file("project/skills/odd/SKILL.md", COLON)
        .file("project/skills/evil/SKILL.md", "---js\nx\n---\n");
    let run = metier(&workspace, &["check", "skills"]);
    assert!(run.stdout.contains("error[frontmatter-engine]"), "{}", run.stdout);
    assert!(run.stdout.contains("checked 2 skills: 1 error, 1 warning"), "{}", run.stdout);
    assert_eq!(run.code, 1);
}

#[test]
fn a_file_a_folder_and_standard_input_can_be_given() {
    let workspace = workspace().file("project/skills/odd/SKILL.md", COLON).file("project/other.md", EMPTY);
    for path in ["skills", "skills/odd", "skills/odd/SKILL.md"] {
        let run = metier(&workspace, &["check", path]);
        assert!(run.stdout.contains("checked 1 skill: 0 errors, 1 warning"), "{path}: {}", run.stdout);
    }
    let run = metier(&workspace, &["check", "other.md"]);
    assert!(run.stdout.contains("warning[body-empty]"), "{}", run.stdout);
    let run = metier_with_input(&workspace, &["check", "-"], COLON);
    assert!(run.stdout.contains("<stdin>:3:"), "{}", run.stdout);
    let run = metier(&workspace, &["check", "nowhere"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("there is no `nowhere`"), "{}", run.stderr);
}

#[test]
fn a_diff_shows_what_a_fix_then_does_once() {
    let workspace = workspace().file("project/skills/odd/SKILL.md", COLON);
    let path = workspace.join("project/skills/odd/SKILL.md");
    let diff = metier(&workspace, &["check", "skills", "--diff"]);
    assert!(diff.stdout.contains("+description: 'Tidies up. Use when: asked'"), "{}", diff.stdout);
    assert!(diff.stderr.contains("`--fix` would change 1 file"), "{}", diff.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), COLON);
    let fix = metier(&workspace, &["check", "skills", "--fix"]);
    assert_eq!(fix.stdout, "checked 1 skill: 0 errors, 0 warnings, 0 notes; mended 1 place in 1 file\n");
    let mended = COLON.replace("Tidies up. Use when: asked", "'Tidies up. Use when: asked'");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), mended);
    let again = metier(&workspace, &["check", "skills", "--fix"]);
    assert!(again.stdout.contains("0 warnings"), "{}", again.stdout);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), mended);
    // Standard input has no file, so the text goes on to standard output.
    assert_eq!(metier_with_input(&workspace, &["check", "-", "--fix"], COLON).stdout, mended);
}

#[test]
fn what_is_not_utf8_is_said_wherever_it_stands_and_never_written() {
    let mut bytes = COLON.as_bytes().to_vec();
    bytes.extend_from_slice(b"caf\xe9\n");
    let workspace = workspace().file("project/skills/odd/SKILL.md", &bytes);
    let run = metier(&workspace, &["check", "skills", "--fix"]);
    assert!(run.stdout.contains("warning[invalid-utf8]"), "{}", run.stdout);
    assert!(run.stdout.contains("skills/odd/SKILL.md:6:4"), "{}", run.stdout);
    assert_eq!(std::fs::read(workspace.join("project/skills/odd/SKILL.md")).unwrap(), bytes);
}

#[test]
fn after_a_fix_what_is_left_is_shown_where_it_stands_then() {
    // The fix takes an opening line away, so everything below it moves up.
    let text = format!("\n\n{}", EMPTY.replace("Use when asked.", "Use when: asked."));
    let workspace = workspace()
        .file("project/skills/empty/SKILL.md", text)
        .file("project/skills/empty/scripts/run.sh", "#!/bin/sh\r\necho\r\n");
    assert_eq!(metier(&workspace, &["check", "skills"]).code, 1);
    let json = metier(&workspace, &["check", "skills", "--fix", "--json"]).json();
    let left: Vec<_> =
        json["diagnostics"].as_array().unwrap().iter().map(|one| (&one["code"], &one["line"])).collect();
    let again = metier(&workspace, &["check", "skills", "--json"]).json();
    let then: Vec<_> =
        again["diagnostics"].as_array().unwrap().iter().map(|one| (&one["code"], &one["line"])).collect();
    assert!(!then.is_empty() && left == then, "{left:?} {then:?}");
    assert_eq!((json["errors"].as_u64(), json["fixable"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn a_fix_does_not_write_through_a_link() {
    let workspace = workspace()
        .file("elsewhere/notes.md", COLON)
        .dir("project/skills/odd")
        .symlink("project/skills/odd/SKILL.md", "../../../elsewhere/notes.md");
    let run = metier(&workspace, &["check", "skills", "--fix"]);
    assert!(run.stdout.contains("unquoted-colon"), "{}", run.stdout);
    assert!(run.stdout.contains("left out 1 fix: the file is a link"), "{}", run.stdout);
    assert_eq!(std::fs::read_to_string(workspace.join("elsewhere/notes.md")).unwrap(), COLON);
}

#[test]
fn rules_are_allowed_and_denied_per_path_and_what_is_allowed_is_counted() {
    let workspace = workspace()
        .file("project/.git/HEAD", "ref: refs/heads/main\n")
        .file("project/skills/empty/SKILL.md", EMPTY)
        .file("project/vendor/empty/SKILL.md", EMPTY)
        .file(
            "project/metier.toml",
            "[lint]\ndeny = [\"body-empty\"]\n[[lint.paths]]\npath = \"vendor\"\nallow = [\"body-empty\"]\n",
        );
    let run = metier(&workspace, &["check", "skills"]);
    assert!(run.stdout.contains("error[body-empty]"), "{}", run.stdout);
    assert_eq!(run.code, 1);
    let run = metier(&workspace, &["check", "vendor"]);
    assert!(run.stdout.contains("0 warnings, 0 notes, 1 allowed by the configuration"), "{}", run.stdout);
    assert_eq!(run.code, 0);
}

#[test]
fn a_rule_that_nobody_knows_is_pointed_out() {
    let workspace = workspace()
        .file("project/.git/HEAD", "ref: refs/heads/main\n")
        .file("project/skills/good/SKILL.md", GOOD)
        .file("project/metier.toml", "[lint]\nallow = [\"body-emty\"]\n");
    let run = metier(&workspace, &["check", "skills"]);
    assert!(run.stderr.contains("`body-emty`"), "{}", run.stderr);
}

#[test]
fn other_clients_are_asked_and_shown_in_one_table() {
    let text = GOOD.replace("name: deploy\n", "name: deploy\nallowed-tools: Read\ntags: [a]\n");
    let workspace = workspace().file("project/skills/deploy/SKILL.md", text);
    let run = metier(&workspace, &["check", "--for", "claude-code,core-agent", "skills"]);
    let table: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("  c")).collect();
    assert_eq!(table.len(), 3, "{}", run.stdout);
    assert!(
        table[1].starts_with("  claude-code   yes                no            changed: allowed-tools"),
        "{table:?}"
    );
    assert!(
        table[2].starts_with("  core-agent    no, nor the others no            refused: allowed-tools"),
        "{table:?}"
    );
    assert_eq!(run.code, 1);
    let json = metier(&workspace, &["check", "--for", "claude-code", "skills", "--json"]).json();
    let client = &json["portability"][0]["clients"][0];
    assert_eq!((client["client"].as_str(), client["loads"].as_bool()), (Some("claude-code"), Some(true)));
    assert_eq!(client["changed"][0], "allowed-tools");
    let run = metier(&workspace, &["check", "--for", "vim", "skills"]);
    assert!(run.stderr.contains("there is no profile `vim`; there are metier, standard"), "{}", run.stderr);
}

#[test]
fn programs_get_json_sarif_and_annotations() {
    let workspace = workspace().file("project/skills/odd/SKILL.md", COLON);
    let json = metier(&workspace, &["check", "skills", "--json"]).json();
    assert_eq!(
        (json["checked"].as_u64(), json["warnings"].as_u64(), json["fixable"].as_u64()),
        (Some(1), Some(1), Some(1))
    );
    let found = &json["diagnostics"][0];
    assert_eq!((found["code"].as_str(), found["line"].as_u64()), (Some("unquoted-colon"), Some(3)));
    assert!(found["fix"]["edits"].as_array().is_some_and(|edits| !edits.is_empty()), "{found}");
    let sarif = metier(&workspace, &["check", "skills", "--format", "sarif"]).json();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unquoted-colon");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "skills/odd/SKILL.md");
    assert_eq!(place["region"]["startLine"], 3);
    let run = metier(&workspace, &["check", "skills", "--format", "github"]);
    assert!(run.stdout.starts_with("::warning file=skills/odd/SKILL.md,line=3,"), "{}", run.stdout);
}

#[test]
fn only_what_changed_since_a_revision_is_reported() {
    let workspace =
        workspace().file("project/skills/odd/SKILL.md", COLON).file("project/skills/empty/SKILL.md", EMPTY);
    let project = workspace.join("project");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").arg("-C").arg(&project).args(identity).args(arguments).output();
        let output = status.expect("git is needed for this test; install it");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    let run = metier(&workspace, &["check", "--changed", "HEAD", "skills"]);
    assert!(run.stdout.contains("checked 0 skills"), "{}", run.stdout);
    std::fs::write(project.join("skills/empty/SKILL.md"), EMPTY.replace("nothing", "little")).unwrap();
    std::fs::create_dir(project.join("skills/new")).unwrap();
    std::fs::write(project.join("skills/new/SKILL.md"), EMPTY.replace("name: empty", "name: new")).unwrap();
    let run = metier(&workspace, &["check", "--changed", "HEAD", "skills"]);
    assert!(run.stdout.contains("checked 2 skills") && !run.stdout.contains("odd"), "{}", run.stdout);
    let run = metier(&workspace, &["check", "--changed", "nothing-of-that-name", "skills"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("git cannot tell what changed"), "{}", run.stderr);
    let run = metier(&workspace, &["check", "--changed=--output=x", "skills"]);
    assert!(run.stderr.contains("is no revision"), "{}", run.stderr);
}

#[test]
fn a_script_that_uses_what_is_not_declared_is_pointed_out_until_it_is() {
    let text = "---\nname: issues\ndescription: Sums up issues. Use when asked about issues.\n---\nRun `scripts/sum.sh`.\n";
    let script = "#!/bin/sh\ncurl -H \"Authorization: $TRACKER_TOKEN\" https://api.tracker.io/issues > \"$PROJECT_DIR/issues.json\"\n";
    let workspace = workspace()
        .file("project/skills/issues/SKILL.md", text)
        .executable("project/skills/issues/scripts/sum.sh", script);
    let run = metier(&workspace, &["check", "skills"]);
    for piece in [
        "warning[secret-undeclared]: the script reads `TRACKER_TOKEN`",
        "warning[host-undeclared]: the script reaches `api.tracker.io`",
        "warning[write-undeclared]: the script writes `issues.json` in the project",
        "skills/issues/scripts/sum.sh:2:26",
        "- api.tracker.io",
    ] {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    let needs = "\nmetadata:\n  metier:\n    needs:\n      hosts: [api.tracker.io]\n      env: [TRACKER_TOKEN]\n      write: [\"*.json\"]\n---";
    let workspace = workspace.file("project/skills/issues/SKILL.md", text.replacen("\n---", needs, 1));
    let run = metier(&workspace, &["check", "skills"]);
    assert!(run.stdout.ends_with("checked 1 skill: 0 errors, 0 warnings, 0 notes\n"), "{}", run.stdout);
}

#[test]
fn skills_that_crowd_each_other_are_told_apart_by_words_of_their_texts() {
    let reader = "---\nname: invoice-reader\ndescription: Extracts amounts, dates and suppliers from invoices. Use when an invoice arrives.\n---\n# Reader\n\n## Reminders\n\nA reminder has a fee. Reminders come weekly.\n";
    let intake = "---\nname: billing-intake\ndescription: Pulls suppliers, dates and amounts out of scans. Use when invoices have arrived.\n---\nTotals stand at the bottom.\n";
    let workspace = workspace()
        .file("project/skills/invoice-reader/SKILL.md", reader)
        .file("project/skills/billing-intake/SKILL.md", intake);
    let run = metier(&workspace, &["check", "skills"]);
    assert!(run.stdout.contains("info[crowded-pair]"), "{}", run.stdout);
    assert!(run.stdout.contains("its text alone speaks of `reminder`"), "{}", run.stdout);
}

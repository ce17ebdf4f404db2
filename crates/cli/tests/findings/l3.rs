//! L3: Foreign text reaches the terminal without control characters.

use metier_testkit::Workspace;

use crate::binary::{command, metier};
use crate::typist::Typist;

/// What names, folders and fields of the project are full of: ESC, BEL, a C1 sequence, bidirectional and invisible characters, a
/// line of its own, and the mark of questions.
const HOSTILE: &str = "x\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{200b}\u{7f}\n\u{25c6} FORGED";

/// The same inside a string of JSON, and of YAML with double quotes, which knows the same escapes.
const ESCAPED: &str = r"x\u001b[2J\u0007\u009b31m\u202e\u200b\u007f\n\u25c6 FORGED";

fn hostile() -> Workspace {
    let skill = |name: &str, more: &str| {
        format!(
            "---\nname: {name}\ndescription: \"Does {ESCAPED}\"\nversion: \"{ESCAPED}\"\nlicense: \"{ESCAPED}\"\n\
             allowed-tools: [\"Bash({ESCAPED}:*)\"]\nargument-hint: \"{ESCAPED}\"\n\"{ESCAPED}\": \"{ESCAPED}\"\n{more}---\n\
             Do {HOSTILE} with ${{env:NOT_SET}}.\n\n!`echo {ESCAPED}`\n"
        )
    };
    let needs = format!(
        "requires:\n  bins: [\"{ESCAPED}\"]\nmetadata:\n  metier:\n    needs:\n      hosts: [\"{ESCAPED}\"]\n      write: \
         [\"{ESCAPED}\"]\n      env: [\"{ESCAPED}\"]\n"
    );
    Workspace::new()
        .dir("home")
        .dir("project/.git")
        .file("project/.claude/skills/plain/SKILL.md", skill("plain", &needs))
        .file(format!("project/.claude/skills/plain/scripts/{HOSTILE}.sh"), "echo hello\n")
        .file("project/.claude/skills/plain/scripts/run.sh", "printf '\\033[2J\\302\\233\\007'\n")
        .file(format!("project/.claude/skills/{HOSTILE}/SKILL.md"), skill(&format!("\"{ESCAPED}\""), ""))
        .file(format!("project/.agents/skills/{HOSTILE}/plain/SKILL.md"), skill("plain", ""))
        .file(format!("project/.claude/skills/broken{HOSTILE}/SKILL.md"), format!("---\nname: [{HOSTILE}\n---\n"))
        .file("project/.claude/skills/tag/SKILL.md", format!("---\nname: !{HOSTILE} x\n---\n"))
        .file(
            "project/todo.skilled_crew.yaml",
            format!(
                "id: \"{ESCAPED}\"\nagents:\n  \"{ESCAPED}\":\n    skills:\n      - name: \"{ESCAPED}\"\n        folderPath: \
                 \"./{ESCAPED}\"\n"
            ),
        )
        .file(
            "project/.mcp.json",
            format!(
                "{{\"mcpServers\": {{\"{ESCAPED}\": {{\"command\": \"{ESCAPED}\", \"args\": [\"{ESCAPED}\"], \"env\": \
                 {{\"{ESCAPED}\": \"${{{ESCAPED}}}\"}}}}}}}}"
            ),
        )
        .file("project/.claude/settings.json", format!("{{\"permissions\": {{\"allow\": [\"{ESCAPED}\"]}}}}"))
        .file(
            "project/metier.toml",
            format!(
                "model = \"{ESCAPED}\"\n\"{ESCAPED}\" = 1\n[gate]\nallow = [\"{ESCAPED}\"]\ndeny = [\"{ESCAPED}\"]\n[env.\"{ESCAPED}\"]\n\
                 [skills.\"{ESCAPED}\"]\nvisibility = \"{ESCAPED}\"\n[[roots]]\npath = \"{ESCAPED}\"\n"
            ),
        )
        .file(
            format!("project/.claude/agents/{HOSTILE}.md"),
            format!("---\nname: \"{ESCAPED}\"\ndescription: \"{ESCAPED}\"\nmodel: \"{ESCAPED}\"\n---\nDo it.\n"),
        )
}

/// Commands that end by themselves and say something about the project.
const COMMANDS: &[&[&str]] = &[
    &["list"],
    &["list", "--all"],
    &["show", "plain"],
    &["explain", "plain"],
    &["explain", "ANY"],
    &["explain", HOSTILE],
    &["explain", "--action", "skill:plain/script:run.sh"],
    &["explain", "--action", HOSTILE],
    &["use", "plain"],
    &["use", "plain", "--dry-run"],
    &["use", HOSTILE],
    &["exec", "plain", "run.sh"],
    &["exec", "plain", HOSTILE],
    &["prepare", "plain"],
    &["tools"],
    &["call", "skill_use", "{\"skill_name\": \"plain\"}"],
    &["call", "skill_read_file", "{\"skill_name\": \"plain\", \"file_path\": \"SKILL.md\"}"],
    &["call", "skill_search", "{\"query\": \"does\"}"],
    &["call", HOSTILE, "{}"],
    &["check", "."],
    &["check", "--for", "claude-code,codex", ".claude"],
    &["check", "--diff", "."],
    &["catalog"],
    &["catalog", "--format", "xml"],
    &["route", "does something"],
    &["agents"],
    &["agents", "main"],
    &["run", "--model", "offline", "--no-input", "does something"],
    &["run", "--model", "offline", "--no-input", HOSTILE],
    &["runs"],
    &["log"],
    &["stats"],
    &["doctor"],
    &["trust", "--preview"],
    &["trust", "--list"],
    &["init", "--model", "offline"],
    &["enable", HOSTILE],
    &["secret", "list"],
    &["mcp", "--print-config", "claude-code", "--root", HOSTILE],
    &["mcp", "--skill", HOSTILE],
    &["forget", HOSTILE],
    &["resume", HOSTILE],
];

/// What of a text would do something to a terminal, or pass for a line of metier's own.
fn harm(text: &str) -> Option<String> {
    let acts = |c: char| {
        matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}' | '\u{202e}') && c != '\n'
    };
    let act = text.chars().find(|c| acts(*c)).map(|c| format!("{c:?}"));
    let forged = text.lines().find(|line| line.trim_start().starts_with("\u{25c6} FORGED"));
    act.or_else(|| forged.map(str::to_owned))
}

fn told(words: &[&str], text: &str) {
    if let Some(harm) = harm(text) {
        panic!("{harm} from {words:?}: {}", text.escape_debug().to_string().replace("\\n", "\n"));
    }
}

/// At a terminal nothing of a project acts, whether it is trusted or not; JSON has it as escapes that mean the same.
#[test]
fn no_command_writes_what_acts_on_a_terminal() {
    let workspace = hostile();
    for is_trusted in [false, true] {
        if is_trusted {
            let run = metier(&workspace, &["trust"]);
            told(&["trust"], &format!("{}{}", run.stdout, run.stderr));
        }
        for words in COMMANDS {
            let all = [words, &["--color", "never"][..]].concat();
            let mut typist = Typist::at(&workspace, &all);
            let shown = typist.reads_to_end();
            // What the terminal itself adds to a line.
            told(words, &shown.replace("\r\n", "\n"));
            let json = command(&workspace, &[words, &["--json"][..]].concat()).output().unwrap();
            let (stdout, stderr) =
                (String::from_utf8(json.stdout).unwrap(), String::from_utf8(json.stderr).unwrap());
            told(&[words, &["--json"][..]].concat(), &format!("{stdout}{stderr}"));
            for line in stdout.lines() {
                serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON");
            }
        }
    }
}

/// The same text comes out of JSON that went into the file.
#[test]
fn escapes_of_json_mean_the_same() {
    let workspace = hostile();
    let listed = metier(&workspace, &["list", "--all", "--json"]).json();
    assert!(listed.to_string().contains("FORGED"), "{listed}");
    let paths = listed.to_string();
    assert!(paths.contains('\u{202e}') && paths.contains('\u{9b}'), "{paths}");
}

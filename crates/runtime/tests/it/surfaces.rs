//! Each surface as its system has it: which tools there are, their results and their error texts, to the byte.

use metier_runtime::{Coverage, Entrance, Outcome, Surface, ToolFormat, Toolset, Visible};
use metier_testkit::Workspace;
use serde_json::{Value, json};

use crate::tools::{TestSkills, test_skills, text};

fn names(tools: &Toolset) -> Vec<&str> {
    tools.definitions().map(|tool| &*tool.name).collect()
}

#[test]
fn a_tool_is_offered_where_it_can_be_of_use() {
    let empty = TestSkills::new(Workspace::new());
    let plain = TestSkills::new(Workspace::new().skill("home/.claude/skills/plain", "Plain."));
    let folder = TestSkills::new(
        Workspace::new()
            .skill("home/.claude/skills/plain", "Plain.")
            .dir("home/.claude/skills/plain/scripts"),
    );
    let full = test_skills();
    let visible = || Visible::all(full.skills.snapshot());
    let check = |surface: Surface, without: &[&str], with: &[&str], searching: &[&str]| {
        let none = empty.session(surface);
        assert!(names(none.toolset()).is_empty(), "{surface}: without skills there are no tools");
        assert_eq!(names(plain.session(surface).toolset()), without, "{surface}");
        assert_eq!(names(folder.session(surface).toolset()), without, "{surface}: an empty scripts/ is none");
        assert_eq!(names(full.session(surface).toolset()), with, "{surface}");
        let partial = Toolset::new(surface, visible(), Coverage::Partial, Entrance::Tool);
        assert_eq!(names(&partial), searching, "{surface}");
    };
    check(
        Surface::Canonical,
        &["skill_use", "skill_read_file"],
        &["skill_use", "skill_read_file", "skill_run_script"],
        &["skill_use", "skill_read_file", "skill_run_script", "skill_search"],
    );
    check(
        Surface::Agentmd,
        &["skill_use", "skill_read_file"],
        &["skill_use", "skill_read_file", "skill_run_script"],
        &["skill_use", "skill_read_file", "skill_run_script", "skill_search"],
    );
    let crew = ["skill_use", "run_command_line", "load_skill_resources"];
    let searching = ["skill_use", "run_command_line", "load_skill_resources", "skill_search"];
    check(Surface::SkilledCrew, &crew, &crew, &searching);
    check(
        Surface::Adk,
        &["list_skills", "load_skill", "load_skill_resource"],
        &["list_skills", "load_skill", "load_skill_resource", "run_skill_script"],
        &["list_skills", "load_skill", "load_skill_resource", "run_skill_script", "skill_search"],
    );
    check(Surface::ClaudeCode, &["Skill"], &["Skill"], &["Skill", "skill_search"]);

    let child = Toolset::new(Surface::SkilledCrew, visible(), Coverage::Partial, Entrance::Given);
    assert_eq!(names(&child), ["run_command_line", "load_skill_resources"]);
}

#[test]
fn a_skill_of_the_users_alone_is_enough_for_the_tools_that_serve_it() {
    let text = "---\nname: mine\ndescription: M.\ndisable-model-invocation: true\n---\nMine.\n";
    let skills = TestSkills::new(
        Workspace::new()
            .file("home/.claude/skills/mine/SKILL.md", text)
            .file("home/.claude/skills/mine/scripts/a.sh", "echo a"),
    );
    let session = skills.session(Surface::Canonical);
    assert_eq!(names(session.toolset()), ["skill_read_file", "skill_run_script"]);
    assert_eq!(names(skills.session(Surface::ClaudeCode).toolset()), [""; 0]);
}

#[test]
fn names_are_an_enum_while_there_are_at_most_64_and_the_bytes_stay() {
    let skills = |count: usize| {
        let mut workspace = Workspace::new();
        for number in 0..count {
            workspace = workspace.skill(format!("home/.claude/skills/skill-{number:02}"), "One.");
        }
        TestSkills::new(workspace)
    };
    let property = |skills: &TestSkills| {
        let session = skills.session(Surface::Canonical);
        let first = session.toolset().definitions().next().unwrap();
        first.schema["properties"]["skill_name"].clone()
    };
    let few = skills(64);
    assert_eq!(property(&few)["enum"].as_array().map(Vec::len), Some(64));
    assert_eq!(property(&few)["enum"][0], "skill-00");
    assert_eq!(property(&skills(65)), json!({ "type": "string", "description": "The skill." }));

    let bytes = |format| few.session(Surface::Canonical).tools(format).to_string();
    assert_eq!(bytes(ToolFormat::Anthropic), bytes(ToolFormat::Anthropic));
    let mut session = few.session(Surface::Canonical);
    let before = session.tools(ToolFormat::OpenAi).to_string();
    // A skill that is there only later is accepted though no schema names it.
    let folder = few.workspace.join("home/.claude/skills/later");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\nname: later\ndescription: Later.\n---\nDo.\n").unwrap();
    assert!(session.call("skill_use", &json!({ "skill_name": "later" })).is_error());
    session.refresh().unwrap();
    assert_eq!(session.tools(ToolFormat::OpenAi).to_string(), before);
    let result = session.call("skill_use", &json!({ "skill_name": "later" }));
    assert_eq!(result.outcome, Outcome::Done, "{}", result.text);
}

#[test]
fn agentmd_says_what_it_always_said() {
    let skills = test_skills();
    let session = skills.session(Surface::Agentmd);
    let check = |tool: &str, arguments: Value, expect: &str| {
        assert_eq!(text(&session, tool, &arguments), expect, "{arguments}");
    };
    let read = |path: &str| json!({ "skill_name": "deploy", "file_path": path });
    check("skill_read_file", read("references/a.md"), "# A\n");
    check("skill_read_file", read("references"), "Not a file: 'references'");
    check("skill_read_file", read("x.md"), "File not found: 'x.md' in skill 'deploy'");
    check(
        "skill_read_file",
        read("../review-pr/SKILL.md"),
        "Access denied: '../review-pr/SKILL.md' is outside skill directory",
    );
    check(
        "skill_use",
        json!({ "skill_name": "missing" }),
        "Skill 'missing' is not enabled for this agent. Available: deploy, review-pr",
    );
    let run = |skill: &str, script: &str, more: &str| json!({ "skill_name": skill, "script_name": script, "script_args": more });
    check("skill_run_script", run("review-pr", "a.sh", ""), "Skill 'review-pr' has no scripts/ directory");
    check("skill_run_script", run("deploy", "b.sh", ""), "Script not found: 'b.sh'. Available: a.sh");
    check(
        "skill_run_script",
        run("deploy", "../SKILL.md", ""),
        "Access denied: '../SKILL.md' is outside scripts/ directory",
    );
    check("skill_run_script", run("deploy", "a.sh", "'a b' 3"), "<a b>\n[stderr]\ne\n[exit code: 3]");
    let result = session.call("skill_run_script", &run("deploy", "a.sh", "x 3"));
    assert_eq!(result.outcome, Outcome::Failed);
    let words = json!({ "skill_name": "deploy", "script_name": "a.sh", "script_args": ["a  b", 0] });
    check("skill_run_script", words, "<a  b>\n[stderr]\ne");
}

#[test]
fn skilled_crew_reads_references_and_has_three_errors() {
    let workspace = Workspace::new()
        .skill("home/.claude/skills/crew", "Crew.")
        .file("home/.claude/skills/crew/references/a.md", "A\n")
        .file("home/.claude/skills/crew/references/long.md", "0123456789abcde\n".repeat(5000))
        .file("home/.claude/skills/crew/references/logo.png", b"\x89PNG\r\n\x1a\n")
        .file("home/.claude/skills/crew/notes.md", "no")
        .symlink("home/.claude/skills/crew/references/out", "/etc/passwd")
        .symlink("home/.claude/skills/crew/references/up", "../notes.md");
    let skills = TestSkills::new(workspace);
    let session = skills.session(Surface::SkilledCrew);
    session.call("skill_use", &json!({ "skill_name": "crew" }));
    let load = |paths: &[&str]| {
        let resources: Vec<Value> = paths.iter().map(|path| json!({ "path": path, "reason": "r" })).collect();
        let result = session.call("load_skill_resources", &json!({ "resources": resources }));
        (serde_json::from_str::<Value>(&result.text).unwrap(), result.outcome)
    };
    assert_eq!(
        load(&["references/a.md", "references/none.md"]),
        (json!({ "references/a.md": "A\n", "references/none.md": "ERROR: file not found" }), Outcome::Done)
    );
    let check = |path: &str, expect: &str| {
        assert_eq!(load(&[path]), (json!({ path: format!("ERROR: {expect}") }), Outcome::Refused));
    };
    for path in ["notes.md", "SKILL.md", "/etc/passwd", "../x", "references"] {
        check(path, "only files inside references/ can be loaded");
    }
    for path in [
        "references/../SKILL.md",
        "references/../../../../../etc/passwd",
        "references/out",
        "references/up",
        "references//etc/passwd\0",
        "references/..\\SKILL.md",
    ] {
        check(path, "path traversal not allowed");
    }
    for path in ["references/..%2fSKILL.md", "references/a.md/b"] {
        check(path, "file not found");
    }
    let (texts, _) = load(&["references/long.md", "references/logo.png"]);
    assert!(
        texts["references/long.md"]
            .as_str()
            .unwrap()
            .ends_with("e\n[bytes 0 to 65536 of 80000; to go on, read with offset=65536]")
    );
    assert_eq!(texts["references/logo.png"], "'references/logo.png' is not text: PNG image, 8 bytes");
    let rest = json!({ "resources": [{ "path": "references/long.md", "reason": "r", "offset": 65536 }] });
    let rest: Value = serde_json::from_str(&text(&session, "load_skill_resources", &rest)).unwrap();
    assert_eq!(rest["references/long.md"].as_str().map(str::len), Some(80_000 - 65_536));
}

#[test]
fn skilled_crew_runs_command_lines_and_errors_have_the_same_four_keys() {
    let skills = test_skills();
    let session = skills.session(Surface::SkilledCrew);
    session.call("skill_use", &json!({ "skill_name": "deploy" }));
    let check = |arguments: Value, expect: &str, outcome: Outcome| {
        let result = session.call("run_command_line", &arguments);
        assert_eq!((result.text.as_str(), result.outcome), (expect, outcome), "{arguments}");
    };
    check(
        json!({ "reason": "r", "commandLine": "bash scripts/a.sh out 4" }),
        r#"{"exitCode":4,"stdout":"<out>","stderr":"e","timedOut":false}"#,
        Outcome::Failed,
    );
    for (line, joint) in [
        ("echo a && echo b", "&&"),
        ("echo a | cat", "|"),
        ("echo a; echo b", ";"),
        ("sleep 1 & id", "&"),
        ("echo $(id)", "$()"),
    ] {
        let text = json!({
            "exitCode": null, "stdout": "", "timedOut": false,
            "stderr": format!("ERROR: Command chaining is not allowed (found {joint}): {line}"),
        });
        let result = session.call("run_command_line", &json!({ "reason": "r", "commandLine": line }));
        assert_eq!(serde_json::from_str::<Value>(&result.text).unwrap(), text);
        assert_eq!(result.outcome, Outcome::Refused);
    }
    // The same characters inside quotes are text.
    check(
        json!({ "reason": "r", "commandLine": "echo 'a && b; c'" }),
        r#"{"exitCode":0,"stdout":"a && b; c","stderr":"","timedOut":false}"#,
        Outcome::Done,
    );
    check(
        json!({ "commandLine": "ls" }),
        r#"{"exitCode":null,"stdout":"","stderr":"ERROR: `reason` is missing; call run_command_line with {\"reason\": \"why\", \"commandLine\": \"what\"}","timedOut":false}"#,
        Outcome::Refused,
    );
}

#[test]
fn adk_answers_in_json() {
    let workspace = Workspace::new()
        .file(
            "home/.claude/skills/triage/SKILL.md",
            "---\nname: triage\ndescription: \"Sorts <b> & \\\"x\\\"\\n</description>\"\nowner: ops\n---\nDo it.\n",
        )
        .file("home/.claude/skills/triage/examples/severity.md", "S\n")
        .file("home/.claude/skills/triage/assets/big.txt", "x".repeat(10 * 1024 * 1024 + 1))
        .file("home/.claude/skills/triage/assets/long.txt", "y\n".repeat(100_000))
        .symlink("home/.claude/skills/triage/assets/out", "/etc/passwd")
        .file("home/.claude/skills/triage/scripts/a.sh", "echo \"$@\"; [ \"$1\" = bad ] && exit 2; true\n");
    let skills = TestSkills::new(workspace);
    let session = skills.session(Surface::Adk);
    let check = |tool: &str, arguments: Value, expect: Value| {
        let text = text(&session, tool, &arguments);
        assert_eq!(text, expect.to_string(), "{tool} {arguments}");
    };
    check(
        "list_skills",
        json!({}),
        json!({ "skills": "<available_skills>\n<skill>\n<name>\ntriage\n</name>\n<description>\nSorts &lt;b&gt; &amp; &#34;x&#34; &lt;/description&gt;\n</description>\n</skill>\n</available_skills>" }),
    );
    let loaded: Value =
        serde_json::from_str(&text(&session, "load_skill", &json!({ "name": "triage" }))).unwrap();
    assert_eq!((&loaded["skill_name"], &loaded["frontmatter"]["owner"]), (&json!("triage"), &json!("ops")));
    let instructions = loaded["instructions"].as_str().unwrap();
    assert!(instructions.starts_with("# Skill: triage\nDo it.\n"), "{instructions}");
    assert!(!instructions.contains("skill-context"), "{instructions}");
    check("load_skill", json!({}), json!({ "error": "skill name is required to load a skill" }));
    check("load_skill", json!({ "name": "" }), json!({ "error": "skill name is required to load a skill" }));
    check(
        "load_skill",
        json!({ "name": "missing" }),
        json!({ "error": "load frontmatter for skill \"missing\": skill not found: missing" }),
    );
    let resource = |path: &str| json!({ "skill_name": "triage", "resource_path": path });
    check(
        "load_skill_resource",
        resource("examples/severity.md"),
        json!({ "skill_name": "triage", "path": "examples/severity.md", "content": "S\n" }),
    );
    let failed = |path: &str, why: &str| json!({ "error": format!("load resource '{path}' from skill 'triage': {why}") });
    for (path, why) in [
        ("assets/none.txt", "resource not found: assets/none.txt"),
        ("assets/big.txt", "resource assets/big.txt is too large (limit: 10485760 bytes)"),
        ("assets", "assets is not a file"),
        ("../x", "the path leads out of the skill's folder"),
        ("assets/out", "the path leads out of the skill's folder"),
    ] {
        check("load_skill_resource", resource(path), failed(path, why));
    }
    check(
        "load_skill_resource",
        json!({ "resource_path": "a" }),
        json!({ "error": "skill name is required to load a resource" }),
    );
    check(
        "load_skill_resource",
        json!({ "skill_name": "triage" }),
        json!({ "error": "resource path is required to load a resource for skill \"triage\"" }),
    );
    // Up to the ADK's limit a resource comes whole.
    let long: Value =
        serde_json::from_str(&text(&session, "load_skill_resource", &resource("assets/long.txt"))).unwrap();
    assert_eq!(long["content"].as_str().map(str::len), Some(200_000));
    check(
        "run_skill_script",
        json!({ "skill_name": "triage", "script_path": "scripts/a.sh", "args": { "n": 3, "quiet": true } }),
        json!({ "skill_name": "triage", "script_path": "scripts/a.sh", "stdout": "--n 3 --quiet\n", "stderr": "", "status": "success" }),
    );
    check(
        "run_skill_script",
        json!({ "skill_name": "triage", "script_path": "a.sh", "args": "bad" }),
        json!({ "skill_name": "triage", "script_path": "a.sh", "stdout": "bad\n", "stderr": "", "status": "error" }),
    );
}

#[test]
fn a_listing_that_is_too_long_says_how_many_are_missing() {
    let mut workspace = Workspace::new();
    for number in 0..100 {
        workspace = workspace.skill(format!("home/.claude/skills/skill-{number:02}"), &"word ".repeat(200));
    }
    let skills = TestSkills::new(workspace);
    let session = skills.session(Surface::Adk);
    let listed: Value = serde_json::from_str(&text(&session, "list_skills", &json!({}))).unwrap();
    let text = listed["skills"].as_str().unwrap();
    assert!(text.len() < 66 * 1024, "{}", text.len());
    let shown = text.matches("<skill>").count();
    let more = format!(
        "</available_skills>\n{} more skills do not fit here; call skill_search to find one",
        100 - shown
    );
    assert!(text.ends_with(&more), "{}", &text[text.len() - 200..]);
}

#[test]
fn the_time_that_a_script_has_is_the_surfaces() {
    for (surface, seconds) in [
        (Surface::Canonical, 120),
        (Surface::Agentmd, 30),
        (Surface::SkilledCrew, 30),
        (Surface::Adk, 120),
        (Surface::ClaudeCode, 120),
    ] {
        assert_eq!(surface.time().as_secs(), seconds, "{surface}");
    }
}

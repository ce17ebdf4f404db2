//! `metier agents` and `metier run --agent`: agents and crews that somebody wrote down.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;
use serde_json::{Value, json};

const TODO: &str = "#!/bin/sh\nlist=../../_data/tasks\ncase \"$1\" in\n  create) shift; echo \"$*\" >> $list; echo \"Task created: $*\" ;;\n  list) cat $list ;;\nesac\n";

fn skill(name: &str, description: &str, operation: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {description}\nallowed-tools: Bash(sh:*)\n---\n# {name}\n\n## Operation\n\n```\n{operation}\n```\n"
    )
}

/// The todo list of the first seed's documents: an orchestrator, two skills, one program for both, a slash command.
fn crew() -> Workspace {
    let crew = "version: \"1.0\"\nid: todo_list\ncommands:\n  - name: add\n    filePath: ./commands/new.command.md\nagents:\n  \
                todo_list_agent:\n    instructionsPath: ./AGENTS.md\n    skills:\n      - name: create-task\n        folderPath: \
                ./skills/create-task\n      - name: list-tasks\n        folderPath: ./skills/list-tasks\n";
    workspace()
        .dir("project/.git")
        .file("project/team/todo.skilled_crew.yaml", crew)
        .file(
            "project/team/AGENTS.md",
            "---\nname: todo_list\ndescription: Manages a todo list.\n---\n# Todo List Agent\n\nRoute each request to a skill.\n",
        )
        .file(
            "project/team/commands/new.command.md",
            "---\ndescription: Adds a task.\n---\nadd $ARGUMENTS to my todo list\n",
        )
        .file("project/team/_src/todo.sh", TODO)
        .file(
            "project/team/skills/create-task/SKILL.md",
            skill(
                "create-task",
                "Create a new task in the user's todo list. Use when the user wants to add something to the todo list.",
                "sh ../../_src/todo.sh create <description>",
            ),
        )
        .file(
            "project/team/skills/list-tasks/SKILL.md",
            skill(
                "list-tasks",
                "List all tasks of the todo list. Use when the user wants to see the list.",
                "sh ../../_src/todo.sh list",
            ),
        )
}

fn trusted(workspace: Workspace, folder: &str) -> Workspace {
    let run = metier(&workspace, &["trust", folder]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    workspace
}

const CREW: &str = "team/todo.skilled_crew.yaml";

#[test]
fn the_orchestrator_example_of_the_first_seed_runs_unchanged() {
    let workspace = trusted(crew(), "team");
    let run =
        |words: &str| metier(&workspace, &["run", "--model", "offline", "--quiet", "--agent", CREW, words]);
    let added = run("add buy milk to my todo list");
    assert_eq!((added.stdout.as_str(), added.code), ("Task created: buy milk\n", 0), "{}", added.stderr);
    let listed = run("list all tasks of my todo list");
    assert_eq!(listed.stdout, "buy milk\n", "{}", listed.stderr);
    assert_eq!(std::fs::read_to_string(workspace.join("project/team/_data/tasks")).unwrap(), "buy milk\n");
    // What its model would be told: the instructions file, and its own skills alone.
    let framed = metier(&workspace, &["log", "--json", "--kind", "framed"]);
    let system = framed.json()["data"]["system"].as_str().unwrap_or_default().to_owned();
    assert!(system.contains("# AGENTS.md:\n\n# Todo List Agent"), "{system}");
    assert!(system.contains("create-task") && !system.contains("count-lines"), "{system}");
}

#[test]
fn e16_e17_slash_commands_are_answered_without_a_model_or_become_a_request() {
    let workspace = trusted(crew(), "team");
    // No such model can be had: whoever asked one would fail.
    let typed = |line: &str| metier(&workspace, &["run", "--model", "openai/x", "--agent", CREW, line]);
    for help in ["/help", "?"] {
        let page = typed(help);
        assert_eq!(page.code, 0, "{}", page.stderr);
        assert!(
            page.stdout.contains("- **/help**: ") && page.stdout.contains("- **/add**: Adds a task.\n"),
            "{}",
            page.stdout
        );
    }
    let skills = typed("/skills").stdout;
    assert!(skills.starts_with("# Available skills:\n- **create-task**: Create a new task"), "{skills}");
    assert_eq!(skills.lines().count(), 3, "{skills}");
    let unknown = typed("/nope");
    assert_eq!(unknown.stdout, "Unknown command: **nope**. Type /help to list commands.\n");
    let runs = metier(&workspace, &["runs", "--json"]);
    assert!(!runs.stdout.contains("request"), "{}", runs.stdout);
    for line in ["/add water plants", "/new water plants"] {
        let run = metier(&workspace, &["run", "--model", "offline", "--quiet", "--agent", CREW, line]);
        assert_eq!(run.stdout, "Task created: water plants\n", "{line}: {}", run.stderr);
    }
}

#[test]
fn an_agent_of_an_untrusted_project_is_shown_and_not_run() {
    let workspace = crew();
    let run = metier(&workspace, &["run", "--model", "offline", "--agent", CREW, "show my todo list"]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stderr.contains("the agent `todo_list` belongs to a project that you have not trusted"),
        "{}",
        run.stderr
    );
    let listed = metier(&workspace, &["agents", CREW, "--json"]).json();
    assert_eq!(listed["agents"][0]["trusted"], false);
    assert_eq!(listed["agents"][0]["roles"][0]["skills"], json!(["create-task", "list-tasks"]));
    assert!(!workspace.join("project/team/_data").exists());
}

#[test]
fn an_agent_of_ones_own_sees_its_skills_and_no_others() {
    let keeper = |skills: &str| {
        format!("---\nname: keeper\ndescription: Keeps.\nskills: {skills}\n---\nKeep the list.\n")
    };
    let run = |skills: &str| {
        let workspace = workspace().file("home/.config/metier/agents/keeper.md", keeper(skills));
        metier(
            &workspace,
            &["run", "--model", "offline", "--agent", "keeper", "add buy milk to my todo list"],
        )
    };
    let done = run("[create-task, list-tasks]");
    assert_eq!((done.stdout.as_str(), done.code), ("created task 1: buy milk\n", 0), "{}", done.stderr);
    let other = run("[count-lines]");
    assert_eq!(other.code, 1);
    assert!(!other.stdout.contains("created task"), "{}", other.stdout);
    let missing = run("[create-task@^9]");
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("`keeper` does not start: 1 problem"), "{}", missing.stderr);
    assert!(missing.stderr.contains("agent-skill-version"), "{}", missing.stderr);
}

#[test]
fn a_name_that_is_none_lists_those_that_there_are() {
    let workspace =
        workspace().file("home/.config/metier/agents/keeper.md", "---\nname: keeper\n---\nKeep.\n");
    let run = metier(&workspace, &["run", "--agent", "keepr", "x"]);
    assert!(run.stderr.contains("there is no agent `keepr`; there are `keeper`"), "{}", run.stderr);
    let run = metier(&workspace, &["run", "--agent", "./gone.md", "x"]);
    assert!(run.stderr.contains("there is no file `./gone.md`"), "{}", run.stderr);
}

/// A crew, an agentmd agent and a file of `.claude/agents`, broken in five ways each.
fn broken() -> (Workspace, Vec<String>) {
    let crew = "version: \"1.0\"\nextra: 1\nentryPointAgent: boss\nagents:\n  main:\n    instructionsPath: ./gone.md\n    skills:\n      \
                - {name: one, folderPath: ./skills/two}\n      - {name: lost, folderPath: ./skills/lost}\n";
    let agent = "---\nname: helper\nskills:\n  - missing\n  - ../outside\nmodel: no-such-alias\nsettings:\n  timeout: 0\ndisclosure: \
                 loud\n---\nHelp.\n";
    let claude = "---\nname: rev\ndescription: d\ndescription: e\ntools: Bash(git:*\nmaxTurns: 1.5\nskills: [gone@^2, broken]\n---\nReview.\n";
    let workspace = workspace()
        .dir("project/.git")
        .file("project/team.skilled_crew.yaml", crew)
        .file("project/skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\nDo.\n")
        .file("project/agents/helper.md", agent)
        .file("project/.claude/agents/rev.md", claude)
        .file("project/.claude/skills/broken/SKILL.md", "---js\nx\n---\n");
    let expect = [
        ("team.skilled_crew.yaml", "agent-unknown-key", 2),
        ("team.skilled_crew.yaml", "agent-entry-unknown", 3),
        ("team.skilled_crew.yaml", "agent-file-missing", 6),
        ("team.skilled_crew.yaml", "agent-skill-other-name", 8),
        ("team.skilled_crew.yaml", "agent-folder-missing", 9),
        ("agents/helper.md", "agent-skill-missing", 4),
        ("agents/helper.md", "agent-skill-reference", 5),
        ("agents/helper.md", "agent-model-unknown", 6),
        ("agents/helper.md", "agent-limit", 8),
        ("agents/helper.md", "agent-disclosure-unknown", 9),
        (".claude/agents/rev.md", "agent-duplicate-key", 4),
        (".claude/agents/rev.md", "agent-tools-unbalanced", 5),
        (".claude/agents/rev.md", "agent-limit", 6),
        (".claude/agents/rev.md", "agent-skill-missing", 7),
        (".claude/agents/rev.md", "agent-skill-broken", 7),
    ];
    let expect = expect.map(|(file, code, line)| format!("{file}:{line} {code}")).to_vec();
    (workspace, expect)
}

#[test]
fn three_files_broken_in_five_ways_each_refuse_one_start_with_all_fifteen_named() {
    let (workspace, expect) = broken();
    let workspace = trusted(workspace, ".");
    let three = ["--agent", "team.skilled_crew.yaml", "--agent", "helper", "--agent", "rev"];
    let run = metier(&workspace, &[&["run", "--model", "offline"], three.as_slice(), &["do", "it"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(run.stderr.contains("`team` and `helper` and `rev` do not start: 15 problems"), "{}", run.stderr);
    let mut named = Vec::new();
    let mut code = String::new();
    for line in run.stderr.lines() {
        if let Some((_, rest)) = line.split_once("error[") {
            code = rest.split(']').next().unwrap_or_default().to_owned();
        }
        if let Some((_, place)) = line.split_once("--> ") {
            let mut parts = place.rsplitn(3, ':');
            let (_, line, file) =
                (parts.next(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            named.push(format!("{file}:{line} {code}"));
        }
    }
    assert_eq!(named, expect, "{}", run.stderr);
    let nothing = metier(&workspace, &["log"]);
    assert!(nothing.stderr.contains("nothing has run yet"), "nothing was begun: {}", nothing.stdout);
}

#[test]
fn agents_lists_every_one_with_its_problems() {
    let (workspace, expect) = broken();
    let workspace =
        trusted(workspace, ".").file("home/.config/metier/agents/mine.md", "---\nname: mine\n---\nHi.\n");
    let listed = metier(&workspace, &["agents", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let listed = listed.json();
    let agents = listed["agents"].as_array().unwrap();
    let told: Vec<String> = agents
        .iter()
        .map(|agent| {
            let text = |key: &str| agent[key].as_str().unwrap_or_default();
            format!("{} {} {} {}", text("name"), text("form"), text("place"), agent["sound"])
        })
        .collect();
    assert_eq!(
        told,
        [
            "rev claude project false",
            "helper agentmd project false",
            "team crew project false",
            "mine agent user true"
        ]
    );
    let problems = |agent: &Value| agent["diagnostics"].as_array().unwrap().len();
    assert_eq!(agents.iter().map(problems).sum::<usize>(), expect.len());
    let text = metier(&workspace, &["agents", "rev"]);
    assert_eq!(text.code, 1);
    assert!(text.stdout.contains("rev  claude  .claude/agents/rev.md (does not start)"), "{}", text.stdout);
}

#[test]
fn a_session_is_exported_as_the_first_system_keeps_it() {
    let workspace = trusted(crew(), "team");
    let run =
        metier(&workspace, &["run", "--model", "offline", "--agent", CREW, "add buy milk to my todo list"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let log = metier(&workspace, &["log", "--format", "skilled-crew"]);
    let lines: Vec<Value> = log.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(
        (kinds.first(), kinds.last()),
        (Some(&"user_message"), Some(&"final_result")),
        "{}",
        log.stdout
    );
    assert_eq!(lines[0]["userInput"], "add buy milk to my todo list");
    assert_eq!(lines[1]["stepResult"], json!({ "type": "agent_start", "agentName": "todo_list" }));
    assert_eq!(lines.last().unwrap()["finalResult"]["text"], "Task created: buy milk");
    let tools = lines.iter().filter(|line| line["stepResult"]["type"] == "agent_tool_end").count();
    assert!(tools >= 1, "{}", log.stdout);
    // E14: a name cannot lead out of the folder.
    let saved =
        metier(&workspace, &["log", "--format", "skilled-crew", "--save", "logs", "--name", "../../x"]);
    assert_eq!(saved.stdout, "logs/x.jsonl\n", "{}", saved.stderr);
    assert_eq!(std::fs::read_to_string(workspace.join("project/logs/x.jsonl")).unwrap(), log.stdout);
}

#[test]
fn limits_of_a_file_that_are_none_refuse_the_start() {
    for turns in ["0", "-1", "1.5", "x"] {
        let file = format!("---\nname: a\nlimits:\n  turns: {turns}\n---\nHi.\n");
        let workspace = workspace().file("home/.config/metier/agents/a.md", file);
        let run = metier(&workspace, &["run", "--model", "offline", "--agent", "a", "what is on my list"]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{turns}");
        assert!(run.stderr.contains("agent-limit"), "{}", run.stderr);
    }
}

#[test]
fn the_agent_file_of_the_third_seed_is_told_of_its_skills_as_its_document_shows() {
    let skill = |name: &str, hint: &str, description: &str| {
        format!("---\nname: {name}\ndescription: {description}\n{hint}---\n# Instructions\n")
    };
    let workspace = workspace()
        .dir("project/.git")
        .file(
            "project/workspace/agents/my-agent.md",
            "---\nname: my-agent\nskills:\n  - analyze-pr\n  - generate-report\n---\n\nYou are an assistant. Use your skills when appropriate.\n",
        )
        .file(
            "project/workspace/agents/skills/analyze-pr/SKILL.md",
            skill("analyze-pr", "argument-hint: \"[pr-number]\"\n", "Analyze a GitHub pull request"),
        )
        .file(
            "project/workspace/agents/skills/generate-report/SKILL.md",
            skill("generate-report", "", "Generate a formatted report"),
        )
        .file(
            "project/workspace/agents/skills/hidden/SKILL.md",
            skill("hidden", "", "Is not enabled on the agent"),
        );
    let workspace = trusted(workspace, ".");
    metier(&workspace, &["run", "--model", "offline", "--agent", "my-agent", "bake me a cake"]);
    let framed = metier(&workspace, &["log", "--json", "--kind", "framed"]).json();
    let system = framed["data"]["system"].as_str().unwrap_or_default();
    assert!(system.contains("You are an assistant. Use your skills when appropriate."), "{system}");
    assert!(system.contains("## Available Skills"), "{system}");
    let listed: Vec<&str> = system.lines().filter(|line| line.starts_with("- **")).collect();
    assert_eq!(
        listed,
        [
            "- **analyze-pr** [pr-number]: Analyze a GitHub pull request",
            "- **generate-report**: Generate a formatted report",
        ]
    );
    let names: Vec<&str> = framed["data"]["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .filter(|name| name.starts_with("skill_"))
        .collect();
    assert_eq!(names, ["skill_use", "skill_read_file"], "and no tool for scripts, since there are none");
    let started = metier(&workspace, &["log", "--json", "--kind", "started"]).json();
    assert_eq!(started["data"]["agent"], "my-agent");
}

#[test]
fn check_says_of_agents_and_crews_what_agents_says_of_them() {
    let (workspace, _) = broken();
    for file in ["agents/helper.md", ".claude/agents/rev.md", "team.skilled_crew.yaml"] {
        let told = metier(&workspace, &["agents", file, "--json"]).json();
        let checked = metier(&workspace, &["check", file, "--json"]);
        assert_eq!(checked.code, 1, "{file}");
        let checked = checked.json();
        assert_eq!(checked["diagnostics"], told["agents"][0]["diagnostics"], "{file}");
        assert_eq!(checked["checked"], 1);
    }
}

#[test]
fn check_knows_an_agent_by_its_name_its_place_or_what_it_says() {
    let workspace = workspace()
        .file("project/metier.toml", "")
        .file("project/crew.skilled_crew.yaml", "agents:\n")
        .file("project/agents/a.md", "---\nname: a\nlimits: {turns: 0}\n---\nDo.\n")
        .file("project/notes/b.md", "---\nname: b\nskills: [nowhere]\n---\nDo.\n")
        .file("project/notes/skill.txt.md", "---\nname: c\ndescription: Does c.\n---\nDo.\n");
    let check = |file: &str| metier(&workspace, &["check", file]);
    for (file, code) in [
        ("crew.skilled_crew.yaml", "agent-nobody"),
        ("agents/a.md", "agent-limit"),
        ("notes/b.md", "agent-skill-missing"),
    ] {
        let run = check(file);
        assert!(run.code == 1 && run.stdout.contains(code), "{file}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("checked 1 agent: 1 error"), "{}", run.stdout);
    }
    let skill = check("notes/skill.txt.md");
    assert!(skill.stdout.contains("checked 1 skill"), "{}{}", skill.stdout, skill.stderr);
    let both = metier(&workspace, &["check", "agents/a.md", "notes/skill.txt.md"]);
    assert!(both.stdout.contains("checked 1 skill and 1 agent: 1 error"), "{}", both.stdout);
    let allowed = workspace.file("project/metier.toml", "[lint]\nallow = [\"agent-limit\"]\n");
    let run = metier(&allowed, &["check", "agents/a.md"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("1 allowed by the configuration"), "{}", run.stdout);
}

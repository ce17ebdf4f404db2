//! What the files of agents and crews mean, and what is said of those that are wrong.

use std::path::Path;
use std::sync::Arc;

use metier_catalog::{Disclosure, Include, Snapshot};
use metier_definition::{
    AgentDefinition, DefinitionFormat, DefinitionOrigin, LimitSetting, ParsedDefinition, RoleBudget,
    ServerDescription, ServerRef, SkillDisclosure, SkillList, SlashCommands, SlashInput, definition_at,
    definitions, schema,
};
use metier_policy::Mode;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::definition_invariant::holds;
use crate::machine::{CREW, Machine, crew_project, skill};

/// Reads a text as a file of `/p`.
fn read(file: &str, text: &str) -> ParsedDefinition {
    let path: Arc<Path> = Path::new("/p").join(file).as_path().into();
    let format = DefinitionFormat::of(&path, Some(Path::new("/p"))).unwrap();
    AgentDefinition::parse(format, &path, text, Path::new("/p"))
}

/// Codes with their lines, in the order of the file.
fn said(read: &ParsedDefinition) -> Vec<String> {
    let told = |found: &metier_diagnostic::Diagnostic| {
        format!("{} {}", found.code.name(), found.line().map_or("-".to_owned(), |line| line.to_string()))
    };
    read.diagnostics.iter().map(told).collect()
}

fn skills(list: &SkillList) -> Option<Vec<&str>> {
    match list {
        SkillList::All => None,
        SkillList::Named(skills) => Some(skills.iter().map(|skill| skill.name.value.as_str()).collect()),
    }
}

#[test]
fn the_agent_file_of_the_third_seed_is_read_as_its_document_shows() {
    let text = "---\nname: code-assistant\nskills:\n  - review-code\n---\n\nYou are a senior developer. Use your skills.\n";
    let read = read("workspace/agents/code-assistant.md", text);
    assert_eq!(said(&read), Vec::<String>::new());
    let role = read.definition.entry().unwrap();
    assert_eq!(
        (read.definition.format, read.definition.name.value.as_str()),
        (DefinitionFormat::AgentMd, "code-assistant")
    );
    assert_eq!(skills(&role.skills), Some(vec!["review-code"]));
    assert_eq!(role.instructions, "You are a senior developer. Use your skills.");
    assert_eq!((role.disclosure, role.model.is_some()), (None, false));
}

#[test]
fn which_skills_an_agent_sees_depends_on_its_list_and_its_place() {
    for (file, line, expect) in [
        (".metier/agents/a.md", "", None),
        (".metier/agents/a.md", "skills: []\n", Some(vec![])),
        (".metier/agents/a.md", "skills: deploy\n", Some(vec!["deploy"])),
        (".metier/agents/a.md", "skills: [a, 'b@>=1, <2']\n", Some(vec!["a", "b@>=1, <2"])),
        (".metier/agents/a.md", "skills:\n", None),
        (".claude/agents/a.md", "", None),
        ("agents/a.md", "", Some(vec![])),
        ("workspace/agents/a.md", "", Some(vec![])),
        ("agents/a.md", "skills: deploy\n", Some(vec!["deploy"])),
    ] {
        let read = read(file, &format!("---\nname: a\n{line}---\nDo.\n"));
        assert_eq!(skills(&read.definition.entry().unwrap().skills), expect, "{file} {line:?}");
    }
}

#[test]
fn agentmds_settings_are_limits_and_its_model_is_one_text() {
    let text = "---\nname: a\nmodel:\n  provider: google\n  name: flash\n  base_url: http://evil.example\nsettings:\n  \
                timeout: 600\n  max_tool_calls: null\n  max_execution_tokens: 1000\n  max_cost_usd: 0.50\n  temperature: 0.2\n\
                mcp: [fetch]\ntools: [email_sender, file_read]\nhistory: low\n---\nDo.\n";
    let read = read("agents/a.md", text);
    let role = read.definition.entry().unwrap();
    assert_eq!(role.model.as_ref().unwrap().value, "gemini/flash");
    let at = |number: u64| LimitSetting::At(number.try_into().unwrap());
    let expect = RoleBudget {
        turns: LimitSetting::Unset,
        calls: LimitSetting::Unlimited,
        tokens: at(1000),
        money_micros: at(500_000),
        seconds: at(600),
    };
    assert_eq!(role.budget, expect);
    assert_eq!(role.servers[0].value, ServerRef::Named("fetch".to_owned()));
    assert_eq!(role.tools, None, "there they come on top, and take nothing away");
    assert_eq!(
        said(&read),
        ["agent-endpoint-ignored 6", "agent-key-inert 12", "agent-tool-unknown 14", "agent-key-inert 15"]
    );
    assert!(read.is_valid());
}

#[test]
fn metiers_own_keys_say_tools_limits_disclosure_memory_and_mode() {
    let text = "---\nname: a\nmodel: fast\ntools: Read, Bash(git:*)\ndisallowed-tools: [WebFetch]\nlimits: {turns: 5, money: \
                '0.25'}\ndisclosure: handoff\nmemory: off\nmode: plan\n---\nDo.\n";
    let read = read("a.md", text);
    assert_eq!(said(&read), Vec::<String>::new());
    let role = read.definition.entry().unwrap();
    let tools: Vec<String> = role.tools.as_ref().unwrap().value.iter().map(ToString::to_string).collect();
    assert_eq!(tools, ["Read", "Bash(git:*)"]);
    assert_eq!(role.disallowed[0].to_string(), "WebFetch");
    assert_eq!(
        (role.disclosure, role.memory, role.mode),
        (Some(SkillDisclosure::Handoff), Some(false), Some(Mode::Plan))
    );
    assert_eq!(role.budget.turns, LimitSetting::At(5.try_into().unwrap()));
    assert_eq!(role.budget.money_micros, LimitSetting::At(250_000.try_into().unwrap()));
}

#[test]
fn claudes_agents_have_their_skills_before_them_and_cannot_ask_less() {
    let text = "---\nname: reviewer\ndescription: Use this agent when: code changed\ntools: Read, Grep\nmodel: inherit\n\
                permissionMode: bypassPermissions\nmaxTurns: 8\nskills: [review-code]\ncolor: red\nmcpServers:\n  - github\n  - \
                local: {command: x}\n---\nReview.\n";
    let read = read(".claude/agents/reviewer.md", text);
    let role = read.definition.entry().unwrap();
    assert_eq!(role.description.as_ref().unwrap().value, "Use this agent when: code changed");
    assert_eq!((role.model.is_none(), role.mode), (true, None));
    assert_eq!(role.disclosure, Some(SkillDisclosure::Listed(Disclosure::Eager)));
    assert_eq!(role.budget.turns, LimitSetting::At(8.try_into().unwrap()));
    let servers: Vec<&ServerRef> = role.servers.iter().map(|server| &server.value).collect();
    let local =
        ServerDescription { name: "local".to_owned(), settings: serde_json::json!({ "command": "x" }) };
    assert_eq!(servers, [&ServerRef::Named("github".to_owned()), &ServerRef::Inline(local)]);
    assert_eq!(said(&read), ["unquoted-colon 3", "agent-mode-ignored 6", "agent-key-inert 9"]);
    let bare = read_claude("---\nname: a\n---\nDo.\n");
    assert_eq!(said(&bare), ["agent-description-missing 1"]);
}

fn read_claude(text: &str) -> ParsedDefinition {
    read(".claude/agents/a.md", text)
}

#[test]
fn a_crew_is_roles_with_folders_relative_to_its_file() {
    let read = read("team/todo.skilled_crew.yaml", CREW);
    assert_eq!(said(&read), Vec::<String>::new());
    let crew = &read.definition;
    assert_eq!((crew.name.value.as_str(), crew.roles.len(), crew.entry), ("todo_list", 2, 1));
    let keeper = crew.entry().unwrap();
    assert_eq!(keeper.disclosure, Some(SkillDisclosure::Handoff));
    assert_eq!(keeper.instructions_file.as_ref().unwrap().value, Path::new("/p/team/AGENTS.md"));
    assert_eq!(keeper.servers[0].value, ServerRef::File("/p/team/clock.json".into(), None));
    let folders: Vec<&Path> =
        keeper.skills.named().iter().map(|skill| skill.folder.as_ref().unwrap().value.as_path()).collect();
    assert_eq!(folders, [Path::new("/p/team/skills/create-task"), Path::new("/p/team/skills/list-tasks")]);
    let search = crew.role("researcher").unwrap().skills.named()[0].folder.as_ref().unwrap();
    assert_eq!(search.value, Path::new("/p/skills/search"));
    assert!(crew.is_called("todo") && crew.is_called("todo_list") && !crew.is_called("other"));
}

#[test]
fn a_crews_schema_is_strict_and_every_problem_has_its_line() {
    let check = |text: &str, expect: &[&str]| {
        let read = read("x.skilled_crew.yaml", text);
        assert_eq!(said(&read), expect, "{text}");
    };
    check("agents: {a: }\nextra: 1\n", &["agent-unknown-key 2"]);
    check("agents:\n  a:\n    model: x\n", &["agent-unknown-key 3"]);
    check("agents:\n  a:\n    skills:\n      - {name: a}\n", &["agent-wrong-type 4"]);
    check(
        "agents:\n  a:\n    skills:\n      - {name: a, folderPath: b, version: 1}\n",
        &["agent-unknown-key 4"],
    );
    check("agents: {a: }\nentryPointAgent: b\n", &["agent-entry-unknown 2"]);
    check("id: x\n", &["agent-nobody 1"]);
    check("agents: []\n", &["agent-wrong-type 1", "agent-nobody 1"]);
    check("agents:\n  a:\n  a:\n", &["agent-duplicate-key 3"]);
    check("agents: {a: }\nscript_runtime: {kind: container}\n", &["agent-container 2"]);
    check("agents: {a: }\nscript_runtime:\n  kind: vm\n", &["agent-container 3"]);
    check("agents: {a: }\nscript_runtime: {kind: container, dockerfile: D}\n", &["agent-key-inert 2"]);
    check("agents:\n  a:\n    instructionsPath: ../out.md\n", &["agent-path-outside 3"]);
    check("agents: {a: }\ncommands: [{name: 'a b', filePath: x}]\n", &["agent-command 2"]);
    check(
        "agents: {a: }\ncommands:\n  - {name: a, filePath: x}\n  - {name: a, filePath: y}\n",
        &["agent-command 4"],
    );
    check("agents: {a: }\nversion: \"2.0\"\n", &["agent-version 2"]);
    check("agents: [b\n", &["agent-syntax 1"]);
    check("- a\n", &["agent-wrong-type 1"]);
    check("", &["agent-wrong-type 1"]);
    check("agents: {a: {codeWorkerPath: w.ts}}\n", &["agent-key-inert 1"]);
}

#[test]
fn e13_a_limit_that_is_none_is_an_error_and_not_the_default() {
    for written in ["0", "-1", "1.5", "x", "[1]"] {
        for (file, text) in [
            ("a.md", format!("---\nname: a\nlimits:\n  turns: {written}\n---\nDo.\n")),
            ("agents/a.md", format!("---\nname: a\nsettings:\n  max_turns: {written}\n---\nDo.\n")),
            (".claude/agents/a.md", format!("---\nname: a\ndescription: d\nmaxTurns: {written}\n---\nDo.\n")),
        ] {
            let read = read(file, &text);
            assert_eq!(said(&read), ["agent-limit 4"], "{file} {written}");
            assert!(!read.is_valid());
        }
    }
    let unset = read("a.md", "---\nname: a\n---\n").definition.entry().unwrap().budget;
    assert_eq!(unset, RoleBudget::default());
}

#[test]
fn a_file_that_is_no_agent_says_so() {
    assert_eq!(said(&read("a.md", "Just a text, long enough.")), ["agent-no-frontmatter 1"]);
    assert_eq!(said(&read("a.md", "---js\nalert(1)\n---\n")), ["frontmatter-engine 1"]);
    assert_eq!(said(&read("a.md", "---\nname: a\nname: b\n---\n")), ["agent-duplicate-key 3"]);
    assert_eq!(said(&read("a.md", "---\nname: a\nskils: [b]\n---\n")), ["agent-unknown-key 3"]);
    assert_eq!(said(&read("a.md", "---\nname: a\ntools: 'Bash(git:*'\n---\n")), ["agent-tools-unbalanced 3"]);
    assert_eq!(said(&read("a.md", "---\nname: a\ndisclosure: loud\n---\n")), ["agent-disclosure-unknown 3"]);
    assert_eq!(
        said(&read("a.md", "---\ndescription: d\n---\nNow: !`id`\n")),
        ["agent-name 1", "agent-text-not-expanded 4"]
    );
}

#[test]
fn the_orchestrator_of_the_first_seed_is_sound_with_all_its_files() {
    let mut machine = crew_project();
    // Seen from its own folder: that is where its skills are looked for.
    machine.places.current = machine.project("team");
    let machine = machine.trusted();
    let read = machine.checked("team/todo.skilled_crew.yaml");
    assert_eq!(said(&read), Vec::<String>::new());
    let keeper = read.definition.entry().unwrap();
    assert_eq!(keeper.instructions, "Keep the list.");
    assert_eq!(keeper.model.as_ref().unwrap().value, "fast");
    let snapshot = Snapshot::load(Arc::new(machine.layout()), Include::Usual);
    let references = keeper.references(&snapshot).unwrap();
    assert_eq!(references, ["project.crew:create-task", "project.crew:list-tasks"]);
    let slash = SlashCommands { commands: &read.definition.commands, is_skill: &|_| false };
    let SlashInput::Expanded(expanded) = slash.parse("/french ciao") else { panic!("it is a command") };
    assert_eq!(expanded.text, "French: ciao");
}

#[test]
fn d10_d11_a_crews_names_are_those_of_its_skills_and_none_comes_twice() {
    let crew = "agents:\n  a:\n    skills:\n      - {name: one, folderPath: ./x/two}\n      - {name: ok, folderPath: ./x/ok}\n      - \
                {name: ok, folderPath: ./x/ok}\n";
    let machine = Machine::new(|files| {
        files
            .file("home/project/c.skilled_crew.yaml", crew)
            .file("home/project/x/two/SKILL.md", skill("two"))
            .file("home/project/x/ok/SKILL.md", skill("ok"))
    });
    let read = machine.trusted().checked("c.skilled_crew.yaml");
    assert_eq!(said(&read), ["agent-skill-other-name 4", "agent-skill-duplicate 6"]);
    let [names, twice] = read.diagnostics.as_slice() else { panic!("{:?}", read.diagnostics) };
    assert!(names.message.contains("`one`") && names.message.contains("`two`"), "{}", names.message);
    assert!(twice.path.as_deref().is_some_and(|path| path.ends_with("c.skilled_crew.yaml")));
}

#[test]
fn d14_a_skill_is_named_and_never_reached_by_a_path() {
    let machine = Machine::new(|files| {
        files
            .file("home/project/agents/a.md", "---\nname: a\nskills: [../outside, /etc, 'x@']\n---\nDo.\n")
            .file("home/project/outside/SKILL.md", skill("outside"))
    });
    let read = machine.trusted().checked("agents/a.md");
    assert_eq!(said(&read), ["agent-skill-reference 3"; 3]);
    assert!(read.diagnostics[0].message.contains("`../outside` is a path"));
}

#[test]
fn references_are_held_against_versions_states_and_broken_files() {
    let text = "---\nname: a\nskills:\n  - good@^1\n  - good@^2\n  - missing\n  - broken\n  - off\nmodel: \
                slow\ntools: [Read, BashOutput]\nmcp: [none]\n---\nDo.\n";
    let good = "---\nname: good\ndescription: d\nversion: 1.4.0\n---\nDo.\n";
    let machine = Machine::new(|files| {
        files
            .file("home/project/a.md", text)
            .file("home/project/.claude/skills/good/SKILL.md", good)
            .file("home/project/.claude/skills/broken/SKILL.md", "---js\n---\n")
            .file("home/project/.claude/skills/off/SKILL.md", skill("off"))
            .file("home/project/.claude/skills/.disabled.json", "[\"off\"]")
    });
    let read = machine.trusted().checked("a.md");
    assert_eq!(
        said(&read),
        [
            "agent-skill-version 5",
            "agent-skill-missing 6",
            "agent-skill-broken 7",
            "agent-skill-unusable 8",
            "agent-model-unknown 9",
            "agent-tool-unknown 10",
            "agent-server-unknown 11",
        ]
    );
}

#[test]
fn the_skills_of_an_untrusted_project_cannot_be_used_by_its_agents() {
    let machine = Machine::new(|files| {
        files
            .file("home/project/agents/a.md", "---\nname: a\nskills: deploy\n---\nDo.\n")
            .file("home/project/agents/skills/deploy/SKILL.md", skill("deploy"))
    });
    let read = machine.checked("agents/a.md");
    assert_eq!(said(&read), ["agent-skill-unusable 3"]);
    let place = |machine: &Machine| definitions(&machine.layout())[0].origin;
    assert_eq!(place(&machine), DefinitionOrigin::UntrustedProject);
    let machine = machine.trusted();
    assert_eq!(said(&machine.checked("agents/a.md")), Vec::<String>::new());
    assert_eq!(place(&machine), DefinitionOrigin::TrustedProject);
}

#[test]
fn the_files_that_a_crew_names_are_read_inside_the_project_and_nowhere_else() {
    let crew = "agents:\n  a: {instructionsPath: ./secret.md}\n  b: {instructionsPath: ./gone.md}\n  c: {mcp_servers: [{filePath: \
                ./bad.json}]}\ncommands:\n  - {name: x, filePath: ./x.command.md}\n";
    let machine = Machine::new(|files| {
        files
            .file("home/secret.md", "key")
            .symlink("home/project/secret.md", "../secret.md")
            .file("home/project/bad.json", "{}")
            .file("home/project/x.command.md", "No header.\n")
            .file("home/project/c.skilled_crew.yaml", crew)
    });
    let read = machine.trusted().checked("c.skilled_crew.yaml");
    assert_eq!(
        said(&read),
        ["agent-path-outside 2", "agent-file-missing 3", "agent-server 4", "agent-command 1"]
    );
    assert!(read.definition.roles.iter().all(|role| role.instructions.is_empty()));
    assert!(read.diagnostics[3].path.as_deref().is_some_and(|path| path.ends_with("x.command.md")));
}

#[test]
fn definitions_are_found_in_every_known_place_and_in_order() {
    let agent = "---\nname: a\n---\nDo.\n";
    let machine = Machine::new(|files| {
        files
            .file("home/project/agents/b.md", agent)
            .file("home/project/agents/b.memory.md", "# X")
            .file("home/project/agents/README.md", "Agents.")
            .file("home/project/agents/skills/x/SKILL.md", skill("x"))
            .file("home/project/workspace/agents/w.md", agent)
            .file("home/project/.claude/agents/team/c.md", agent)
            .file("home/project/.metier/agents/m.md", agent)
            .file("home/project/crews/one/one.skilled_crew.yaml", "agents: {a: }\n")
            .file("home/project/top.skilled_crew.yaml", "agents: {a: }\n")
            .file("home/.config/metier/agents/u.md", agent)
            .file("home/.claude/agents/v.md", agent)
    });
    let found: Vec<String> = definitions(&machine.layout())
        .iter()
        .map(|found| {
            let name = found.file.file_name().unwrap().to_string_lossy().into_owned();
            format!("{} {} {}", found.origin.word(), found.format.word(), name)
        })
        .collect();
    assert_eq!(
        found,
        [
            "project agent m.md",
            "project claude c.md",
            "project agentmd w.md",
            "project agentmd b.md",
            "project crew one.skilled_crew.yaml",
            "project crew top.skilled_crew.yaml",
            "user agent u.md",
            "user claude v.md",
        ]
    );
}

#[test]
fn a_file_outside_that_somebody_names_is_the_users_word_and_a_link_is_not() {
    let machine = Machine::new(|files| {
        files
            .file("home/elsewhere/a.md", "---\nname: a\n---\n")
            .file("home/project/b.md", "---\nname: b\n---\n")
            .symlink("home/elsewhere/b.md", "../project/b.md")
    });
    let place =
        |path: &str| definition_at(&machine.files.join(path), &machine.layout()).map(|found| found.origin);
    assert_eq!(place("home/elsewhere/a.md"), Some(DefinitionOrigin::Named));
    assert_eq!(place("home/elsewhere/b.md"), Some(DefinitionOrigin::UntrustedProject));
    assert_eq!(place("home/elsewhere/a.txt"), None);
}

#[test]
fn i14_the_schemas_take_what_the_parsers_take() {
    let valid = |format: DefinitionFormat, value: &Value| {
        jsonschema::validator_for(&schema(format)).unwrap().is_valid(value)
    };
    let crew: Value = {
        let tree = metier_skill::yaml::parse(CREW, 0).unwrap().unwrap();
        serde_json::to_value(&tree).unwrap()
    };
    assert!(valid(DefinitionFormat::Crew, &crew), "{crew}");
    assert!(!valid(DefinitionFormat::Crew, &json!({ "agents": {} })));
    assert!(!valid(DefinitionFormat::Crew, &json!({ "agents": { "a": {} }, "extra": 1 })));
    assert!(!valid(DefinitionFormat::Crew, &json!({ "agents": { "a": { "skills": [{ "name": "x" }] } } })));
    let agent = json!({ "name": "a", "skills": ["x@^1"], "limits": { "turns": 5 }, "settings": { "timeout": null },
        "disclosure": "handoff", "model": { "provider": "ollama", "name": "q" }, "mcp": ["a"], "memory": true });
    assert!(valid(DefinitionFormat::Agent, &agent));
    assert!(!valid(DefinitionFormat::Agent, &json!({ "name": "a", "limits": { "turns": 0 } })));
    assert!(!valid(DefinitionFormat::Agent, &json!({ "name": "a", "disclosure": "loud" })));
    assert!(valid(
        DefinitionFormat::Claude,
        &json!({ "name": "a", "description": "d", "tools": "Read, Grep", "maxTurns": 3 })
    ));
}

proptest! {
    /// Whatever somebody writes, it is read, and every place that is named lies in the text.
    #[test]
    fn no_text_breaks_a_parser(text in "(---\n)?((name|skills|model|tools|limits|settings|agents|commands|a):?( |\n  |\n- )?(\\[|\\{|[a-z,'\"@/.]{0,5}|\\PC)?(\\]|\\})?\n?){0,12}(---\n)?\\PC{0,20}") {
        holds(&text);
    }
}

//! H2: A question shows everything that it grants.

use metier_testkit::Workspace;
use serde_json::{Value, json};

use crate::binary::command;
use crate::mcp_client::McpClient;
use crate::model_server::{ModelServer, Says};
use crate::typist::Typist;

/// Needs that the assessment used: three long hosts before the wide ones.
const NEEDS: [&str; 7] = [
    "`raw.githubusercontent.com`",
    "`objects.githubusercontent.com`",
    "`documentation.cdn.readthedocs-hosted.example.org`",
    "`*.exfil.example`",
    "`docs/**`",
    "`AWS_SECRET_ACCESS_KEY`",
    "`GITHUB_TOKEN`",
];

fn skill(needs: &str) -> Workspace {
    let text = format!(
        "---\nname: fetch-docs\ndescription: Fetches docs.\nmetadata:\n  metier:\n    needs:\n{needs}---\nDo it.\n"
    );
    Workspace::new()
        .file("home/.agents/skills/fetch-docs/SKILL.md", text)
        .file("home/.agents/skills/fetch-docs/scripts/a.sh", "echo ran\n")
        .dir("project")
}

fn wide() -> Workspace {
    skill(
        "      hosts: [raw.githubusercontent.com, objects.githubusercontent.com, \
         documentation.cdn.readthedocs-hosted.example.org, \"*.exfil.example\"]\n      \
         write: [\"docs/**\"]\n      env: [AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN]\n",
    )
}

/// Answers pages until the last one, with Enter; gives what was shown.
fn to_the_end(typist: &mut Typist) -> String {
    loop {
        typist.wait_for("[n]o > ");
        let seen = String::from_utf8_lossy(&typist.seen).into_owned();
        if !seen.ends_with("Enter shows more, [n]o > ") {
            return seen;
        }
        typist.types("\n");
        typist.wait_for("\n");
    }
}

/// Whether a need has a line of its own.
fn has_line(question: &str, need: &str) -> bool {
    let is_its = |line: &str| line.trim().starts_with("- ") && line.trim().ends_with(need);
    question.lines().filter(|line| is_its(line)).count() == 1
}

#[test]
fn every_need_has_a_line_of_its_own_and_wide_ones_come_first() {
    let workspace = wide();
    let mut typist = Typist::at(&workspace, &["exec", "fetch-docs", "a.sh"]);
    let asked = to_the_end(&mut typist);
    for need in NEEDS {
        assert!(has_line(&asked, need), "{need} in {asked}");
    }
    let at = |need: &str| asked.find(need).unwrap();
    assert!(at("`*.exfil.example`") < at("`raw.githubusercontent.com`"), "{asked}");
    assert!(at("`docs/**`") < at("`raw.githubusercontent.com`"), "{asked}");
    assert!(at("`GITHUB_TOKEN`") < at("`raw.githubusercontent.com`"), "{asked}");
    typist.types("n\n");
    assert_eq!(typist.ends().code(), Some(4));
}

#[test]
fn what_does_not_fit_is_paged_and_a_yes_counts_after_the_last_page() {
    let hosts: Vec<String> = (0..60).map(|number| format!("h{number}.example.org")).collect();
    let workspace = skill(&format!("      hosts: [{}]\n", hosts.join(", ")));
    // A yes to the first page only leads to the next one.
    let mut typist = Typist::at(&workspace, &["exec", "fetch-docs", "a.sh"]);
    typist.wait_for("Enter shows more, [n]o > ");
    typist.types("y\n");
    typist.wait_for("\n");
    typist.wait_for("[n]o > ");
    typist.types("n\n");
    typist.wait_for("`metier explain --last` says it again\r\n");
    assert_eq!(typist.ends().code(), Some(4));
    // After all pages every host has been shown, and the yes counts.
    let mut typist = Typist::at(&workspace, &["exec", "fetch-docs", "a.sh"]);
    let asked = to_the_end(&mut typist);
    for host in &hosts {
        assert!(asked.contains(&format!("`{host}`")), "{host} in {asked}");
    }
    typist.types("y\n");
    typist.wait_for("ran\r\n");
    assert!(typist.ends().success());
}

#[test]
fn a_long_command_is_shown_whole_before_always_is_offered() {
    let workspace = skill("      hosts: []\n");
    let line = format!("echo {} && touch END-OF-COMMAND", "x".repeat(12_000));
    let input = json!({ "reason": "r", "commandLine": line }).to_string();
    let words = ["--mode", "strict", "call", "run_command_line", &input, "--skill", "fetch-docs"];
    let mut typist = Typist::at(&workspace, &words);
    let asked = to_the_end(&mut typist);
    let shown: String = asked.chars().filter(|character| !character.is_whitespace()).collect();
    assert!(shown.contains("[a]lways"), "{asked}");
    assert_eq!(asked.matches('x').count(), 12_000, "{asked}");
    assert!(shown.contains("touchEND-OF-COMMAND"), "{asked}");
    typist.types("n\n");
    typist.ends();
}

/// The text of the question that a call asks over MCP, which is then answered with a no; or what the call says without one.
fn asked(client: &mut McpClient, tool: &str, arguments: &Value) -> Result<String, String> {
    let id = client.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
    loop {
        let message = client.message();
        if message["method"] == "elicitation/create" {
            let no = json!({ "action": "decline" });
            client.write(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": no }));
            client.answer(id);
            return Ok(message["params"]["message"].as_str().unwrap().to_owned());
        }
        if message["id"] == json!(id) {
            return Err(message.to_string());
        }
    }
}

#[test]
fn over_mcp_the_question_is_whole_or_is_not_asked() {
    let forms = json!({ "elicitation": {} });
    let workspace = wide();
    let mut client = McpClient::start(&workspace, &[], &forms);
    let script = json!({ "skill_name": "fetch-docs", "script_name": "a.sh" });
    let question = asked(&mut client, "skill_run_script", &script).unwrap();
    for need in NEEDS {
        assert!(has_line(&question, need), "{need} in {question}");
    }
    // More grants than a dialog shows: nobody is asked, and the rules that would allow it are named.
    let hosts: Vec<String> = (0..60).map(|number| format!("h{number}.example.org")).collect();
    let many = skill(&format!("      hosts: [{}]\n", hosts.join(", ")));
    let mut client = McpClient::start(&many, &[], &forms);
    let refused = asked(&mut client, "skill_run_script", &script).unwrap_err();
    assert!(refused.contains("skill:user.agents:fetch-docs/host:h59.example.org"), "{refused}");
    assert!(refused.contains("the user was not asked"), "{refused}");
    // A command that is too long for one question.
    let mut client = McpClient::start(&workspace, &["--skill", "fetch-docs", "--mode", "strict"], &forms);
    let long = |length| json!({ "reason": "r", "commandLine": format!("echo {} END", "x".repeat(length)) });
    let question = asked(&mut client, "run_command_line", &long(1_000)).unwrap();
    assert!(question.contains(&format!("{} END", "x".repeat(1_000))), "{question}");
    let refused = asked(&mut client, "run_command_line", &long(12_000)).unwrap_err();
    assert!(refused.contains("the user was not asked"), "{refused}");
}

#[test]
fn without_a_terminal_the_refusal_names_all_of_it() {
    let run = command(&wide(), &["exec", "fetch-docs", "a.sh"]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    for need in NEEDS {
        assert!(said.contains(need), "{need} in {said}");
    }
}

/// The agent's own `Write`: the change is a part of the question, all of it.
#[test]
fn a_change_is_shown_whole_before_a_yes_counts() {
    let line = |number: usize| format!("line {number} of a long file");
    let lines = (0..4_000).map(line).collect::<Vec<_>>().join("\n") + "\n";
    let call = || Says::Calls("Write", json!({ "file_path": "note.txt", "content": lines }));
    let server = ModelServer::saying(vec![call(), Says::Words("It is over.")]);
    let workspace = Workspace::new().dir("project").file("home/.config/metier/config.toml", server.config());
    let mut typist = Typist::at(&workspace, &["run", "write a note"]);
    typist.resizes(100, 1_000);
    let asked = to_the_end(&mut typist);
    for number in 0..4_000 {
        assert!(asked.contains(&format!("+{}\r\n", line(number))), "line {number} is not shown");
    }
    typist.types("y\n");
    typist.wait_for("It is over.");
    typist.ends();
    assert_eq!(std::fs::read_to_string(workspace.join("project/note.txt")).unwrap(), lines);
}

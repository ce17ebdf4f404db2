//! MCP servers that an agent's own file names: started for that agent, asked about, and only as they were trusted.

use crate::binary::{Run, metier, metier_with_input, workspace};
use crate::stand_in::{Line, start};
use metier_testkit::Workspace;

/// A server with one tool.
const CLOCK: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    method = message["method"]
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "c", "version": "1"}, "capabilities": {"tools": {}}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "now", "description": "Says the time.", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "the sun says noon"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
"#;

fn line(sees: &[&str], says: &str, calls: &[(&str, &str)]) -> Line {
    let calls = calls.iter().map(|(name, input)| ((*name).to_owned(), (*input).to_owned())).collect();
    let sees = sees.iter().map(|text| (*text).to_owned()).collect();
    Line { sees, says: says.to_owned(), calls, ..Line::default() }
}

/// A model that looks at the clock where there is one.
fn machine() -> Workspace {
    let config = start(vec![
        line(&["the sun says noon"], "It is noon.", &[]),
        line(&["\"role\":\"tool\""], "I may not.", &[]),
        line(&["mcp__clock__now"], "", &[("mcp__clock__now", "{}")]),
        line(&["mcp__spare__now"], "The spare one is there.", &[]),
        line(&[], "There is no clock.", &[]),
    ]);
    workspace()
        .file("home/.config/metier/config.toml", config)
        .file("project/metier.toml", "")
        .file("project/clock.py", CLOCK)
}

fn agent(servers: &str) -> String {
    format!("---\nname: keeper\ndescription: Keeps.\n{servers}---\nKeep.\n")
}

const INLINE: &str = "mcpServers:\n  - clock: {command: python3, args: [clock.py]}\n";

fn keeper(machine: &Workspace, more: &[&str]) -> Run {
    let mut args = vec!["run", "--agent", "keeper"];
    args.extend(more);
    args.push("when is it?");
    metier(machine, &args)
}

#[test]
fn a_server_that_an_agents_file_describes_is_started_for_it_and_asked_about() {
    let machine = machine().file("project/.claude/agents/keeper.md", agent(INLINE));
    assert_eq!(keeper(&machine, &[]).code, 4, "nobody trusts the project");
    assert_eq!(metier(&machine, &["trust"]).code, 0);
    let run = keeper(&machine, &["--allow", "mcp:clock/now"]);
    assert_eq!((run.stdout.as_str(), run.code), ("It is noon.\n", 0), "{}", run.stderr);
    let refused = keeper(&machine, &[]);
    assert_eq!(refused.code, 4, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("mcp:clock/now"), "{}", refused.stderr);
    // Whoever is not this agent has not its servers.
    let other = metier(&machine, &["run", "when is it?"]);
    assert_eq!(other.stdout, "There is no clock.\n", "{}", other.stderr);
}

#[test]
fn a_server_that_changed_since_the_project_was_trusted_is_not_started() {
    let machine = machine().file("project/.claude/agents/keeper.md", agent(INLINE));
    assert_eq!(metier(&machine, &["trust"]).code, 0);
    let changed = INLINE.replace("[clock.py]", "[clock.py, --more]");
    let machine = machine.file("project/.claude/agents/keeper.md", agent(&changed));
    let run = keeper(&machine, &["--allow", "mcp:clock/now"]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("agent `.claude/agents/keeper.md`"), "{}", run.stderr);
    assert_eq!(metier(&machine, &["trust"]).code, 0);
    let run = keeper(&machine, &["--allow", "mcp:clock/now"]);
    assert_eq!(run.stdout, "It is noon.\n", "{}", run.stderr);
}

#[test]
fn an_agent_that_names_servers_has_those_and_no_others() {
    let known = "{\"mcpServers\": {\"clock\": {\"command\": \"python3\", \"args\": [\"clock.py\"]}, \
                 \"spare\": {\"command\": \"python3\", \"args\": [\"clock.py\"]}}}";
    let machine = |servers: &str| {
        let machine = machine()
            .file("project/.mcp.json", known)
            .file("project/.metier/agents/keeper.md", agent(servers));
        assert_eq!(metier(&machine, &["trust"]).code, 0);
        machine
    };
    let run = keeper(&machine("mcp: [spare]\n"), &[]);
    assert_eq!(run.stdout, "The spare one is there.\n", "{}", run.stderr);
    let run = keeper(&machine(""), &["--allow", "mcp:clock/now"]);
    assert_eq!(run.stdout, "It is noon.\n", "a file that says nothing leaves all of them: {}", run.stderr);
    let run = keeper(&machine("mcp: [sundial]\n"), &[]);
    assert_eq!(run.stdout, "There is no clock.\n", "{}", run.stderr);
    assert!(run.stderr.contains("no MCP server `sundial` is configured"), "{}", run.stderr);
    // A list of tools fences those of servers, too.
    let run = keeper(&machine("mcp: [clock, spare]\ntools: [Read, mcp__spare__now]\n"), &[]);
    assert_eq!(run.stdout, "The spare one is there.\n", "{}", run.stderr);
}

#[test]
fn a_server_that_is_none_refuses_the_start_with_its_line() {
    let machine = machine().file(
        "home/.config/metier/agents/keeper.md",
        agent("mcp:\n  clock: {args: [x]}\n  both: {command: x, url: 'http://y'}\n"),
    );
    let run = keeper(&machine, &[]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stderr.contains("the server `clock` has neither a `command` nor a `url`"), "{}", run.stderr);
    assert!(run.stderr.contains("keeper.md:5:3") && run.stderr.contains("keeper.md:6:3"), "{}", run.stderr);
}

#[test]
fn a_conversation_lists_the_servers_of_its_agent() {
    let machine = machine().file(
        "home/.config/metier/agents/keeper.md",
        agent("mcp:\n  clock: {command: python3, args: [clock.py]}\n  gone: {command: no-such-program}\n"),
    );
    let chat = metier_with_input(&machine, &["chat", "--agent", "keeper"], "/mcp_servers\n/exit\n");
    assert!(chat.stdout.contains("- **clock**: now"), "{}{}", chat.stdout, chat.stderr);
    assert!(chat.stdout.contains("- **gone**: is not there: `no-such-program`"), "{}", chat.stdout);
    let chat = metier_with_input(&machine, &["chat"], "/mcp_servers\n/exit\n");
    assert!(chat.stdout.contains("no MCP server is asked"), "{}{}", chat.stdout, chat.stderr);
}

#[test]
fn an_agent_of_agentmds_has_the_servers_that_it_names_from_the_file_beside_it() {
    let machine = |servers: &str| {
        let machine = machine()
            .file(
                "project/workspace/agents/mcp-servers.json",
                "{\"clock\": {\"command\": \"python3\", \"args\": [\"clock.py\"]}}",
            )
            .file("project/workspace/agents/keeper.md", agent(servers));
        assert_eq!(metier(&machine, &["trust"]).code, 0);
        machine
    };
    let named = machine("mcp:\n  - clock\n");
    let run = keeper(&named, &["--allow", "mcp:clock/now"]);
    assert_eq!(run.stdout, "It is noon.\n", "{}", run.stderr);
    let changed =
        named.file("project/workspace/agents/mcp-servers.json", "{\"clock\": {\"command\": \"sh\"}}");
    let run = keeper(&changed, &["--allow", "mcp:clock/now"]);
    assert!(run.stderr.contains("has changed since you trusted the project"), "{}", run.stderr);
    assert_eq!(run.stdout, "There is no clock.\n", "{}", run.stderr);
    // One that names none has none, as that system has it.
    let run = keeper(&machine(""), &[]);
    assert_eq!(run.stdout, "There is no clock.\n", "{}", run.stderr);
}

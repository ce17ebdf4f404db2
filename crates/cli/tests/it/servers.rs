//! MCP servers on the command line: a program that lists a skill, from its configuration to the approved skill.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;

/// A server of one skill. What its script says is in a file, so that a test can change it.
const SERVER: &str = r#"
import hashlib, json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
files = {"SKILL.md": "---\nname: greet\ndescription: Greets somebody.\n---\nGreet $ARGUMENTS.\n",
         "scripts/hello.sh": open(os.path.join(here, "hello.sh")).read()}
def entry():
    listed = [{"uri": "skill://greet/" + path, "size": len(text), "digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest()}
              for path, text in files.items()]
    return {"uri": "skill://greet/SKILL.md", "frontmatter": {"name": "greet", "description": "Greets somebody."}, "resources": listed}
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if id is None:
        continue
    answer = {"jsonrpc": "2.0", "id": id}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"},
            "capabilities": {"tools": {}, "resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}}}
    elif method == "skills/list":
        answer["result"] = {"skills": [entry()]}
    elif method == "tools/list":
        answer["result"] = {"tools": []}
    elif method == "resources/read":
        path = params["uri"].removeprefix("skill://greet/")
        answer["result"] = {"contents": [{"uri": params["uri"], "text": files[path]}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
"#;

fn machine() -> Workspace {
    workspace()
        .file(
            "home/.config/metier/config.toml",
            "bundled = false\n[mcp.docs]\ncommand = \"python3\"\nargs = [\"server.py\"]\n",
        )
        .file("project/metier.toml", "")
        .file("project/server.py", SERVER)
        .file("project/hello.sh", "echo hello $1")
}

#[test]
fn a_servers_skill_is_listed_looked_at_approved_and_used() {
    let machine = machine();
    let list = metier(&machine, &["list"]);
    assert!(list.stdout.contains("loaded 0, failed 0"), "a listing starts nothing: {}", list.stdout);

    let doctor = metier(&machine, &["doctor"]);
    assert!(
        doctor.stdout.contains("mcp.docs") && doctor.stdout.contains("answers (0 tools, 1 skills)"),
        "{}",
        doctor.stdout
    );
    let list = metier(&machine, &["list"]);
    assert!(list.stdout.contains("mcp.docs:greet") && list.stdout.contains("untrusted"), "{}", list.stdout);
    let show = metier(&machine, &["show", "mcp.docs:greet"]);
    assert!(
        show.stdout.contains("docs, not approved") && show.stdout.contains("scripts/hello.sh"),
        "{}",
        show.stdout
    );
    let explain = metier(&machine, &["explain", "mcp.docs:greet"]);
    assert!(explain.stdout.contains("metier trust mcp.docs:greet"), "{}", explain.stdout);
    let looked = metier(&machine, &["use", "mcp.docs:greet", "--", "Ada"]);
    assert!(
        looked.stdout.contains("origin=\"mcp.docs\"") && looked.stdout.contains("Greet Ada."),
        "{}\n{}",
        looked.stdout,
        looked.stderr
    );
    let refused = metier(&machine, &["exec", "mcp.docs:greet", "hello.sh", "--", "Ada"]);
    assert!(refused.code != 0 && refused.stderr.contains("you have not approved it"), "{}", refused.stderr);

    let trust = metier(&machine, &["trust", "mcp.docs:greet"]);
    assert!(
        trust.code == 0 && trust.stdout.contains("could run script scripts/hello.sh"),
        "{}\n{}",
        trust.stdout,
        trust.stderr
    );
    let ran = metier(&machine, &["exec", "mcp.docs:greet", "hello.sh", "--", "Ada"]);
    assert_eq!(ran.stdout.trim(), "hello Ada", "{}", ran.stderr);

    let machine = machine.file("project/hello.sh", "echo goodbye $1");
    let ran = metier(&machine, &["exec", "mcp.docs:greet", "hello.sh", "--", "Ada"]);
    assert_eq!(ran.stdout.trim(), "hello Ada", "what was approved is what runs");
    metier(&machine, &["doctor"]);
    let list = metier(&machine, &["list"]);
    assert!(list.stdout.contains("untrusted"), "a change takes the approval back: {}", list.stdout);
    let refused = metier(&machine, &["exec", "mcp.docs:greet", "hello.sh", "--", "Ada"]);
    assert!(refused.code != 0, "{}", refused.stdout);
}

#[test]
fn a_projects_servers_are_not_started_before_it_is_trusted_and_what_is_wrong_has_its_line() {
    let machine = workspace().file("project/metier.toml", "").file(
        "project/.mcp.json",
        "{\"mcpServers\": {\n  \"db\": {\"command\": \"python3\", \"args\": [\"-c\", \"open('started', 'w')\"]},\n  \"odd\": {}\n}}\n",
    );
    let doctor = metier(&machine, &["doctor"]);
    assert!(doctor.stdout.contains("its project is not trusted"), "{}", doctor.stdout);
    assert!(
        doctor.stdout.contains("mcp-server-invalid") && doctor.stdout.contains(".mcp.json:3:"),
        "{}",
        doctor.stdout
    );
    let unknown = metier(&machine, &["use", "mcp.nobody:x"]);
    assert!(unknown.stderr.contains("unknown MCP server `nobody`"), "{}", unknown.stderr);
}

/// A server that tries to write two files of the project when it starts, and says what it could.
const WRITER: &str = r#"
import json, sys
for path in ["notes/made.txt", "other.txt"]:
    try:
        open(path, "w").write("by the server")
    except OSError:
        pass
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"}, "capabilities": {"tools": {}}}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": []}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
"#;

fn writer(config: &str) -> Workspace {
    let server = "[mcp.writer]\ncommand = \"python3\"\nargs = [\"server.py\"]\n";
    workspace()
        .file("home/.config/metier/config.toml", format!("bundled = false\n{server}{config}\n"))
        .file("project/metier.toml", "")
        .file("project/server.py", WRITER)
        .file("project/tools/AGENTS.md", "")
        .dir("project/notes")
}

#[test]
fn a_server_writes_the_folders_that_the_user_names_and_no_others() {
    let machine = writer("write = [\"notes\"]");
    let doctor = metier(&machine, &["doctor"]);
    assert!(doctor.stdout.contains("writes without asking: notes"), "{}", doctor.stdout);
    let made = std::fs::read_to_string(machine.join("project/notes/made.txt")).unwrap();
    assert_eq!(made, "by the server");
    assert!(!machine.join("project/other.txt").exists());

    let without = writer("");
    let doctor = metier(&without, &["doctor"]);
    assert!(doctor.stdout.contains("answers (0 tools"), "{}", doctor.stdout);
    assert!(!without.join("project/notes/made.txt").exists());
}

#[test]
fn a_folder_that_a_server_may_not_write_keeps_it_from_starting_and_says_why() {
    for (write, expect) in [
        ("missing", "the project has no such folder"),
        ("tools", "`tools/AGENTS.md` is protected"),
        ("../home", "not a folder inside the project"),
    ] {
        let machine = writer(&format!("write = [\"{write}\"]"));
        let doctor = metier(&machine, &["doctor"]);
        assert!(doctor.stdout.contains(expect), "{write}: {}", doctor.stdout);
        assert!(!machine.join("project/notes/made.txt").exists());
    }
    // A project cannot open itself to its own server.
    let file =
        r#"{"mcpServers": {"theirs": {"command": "python3", "args": ["server.py"], "write": ["notes"]}}}"#;
    let machine = workspace()
        .file("project/.mcp.json", file)
        .file("project/server.py", WRITER)
        .file("project/metier.toml", "")
        .dir("project/notes");
    assert_eq!(metier(&machine, &["trust"]).code, 0);
    let doctor = metier(&machine, &["doctor"]);
    let said = format!("{}{}", doctor.stdout, doctor.stderr);
    assert!(said.contains("`write` is only allowed in `[mcp.NAME]` of your own configuration"), "{said}");
    assert!(!machine.join("project/notes/made.txt").exists());
}

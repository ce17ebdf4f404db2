//! Servers in use: skills in a session, tools in an agent, programs that exit.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use metier_activation::{Invoker, SkillArguments};
use metier_exec::SearchPath;
use metier_mcp_client::{
    ConfigSource, ProgramConfig, ServerConfig, ServerHost, ServerTransport, ServerTrust, Servers,
};
use metier_runtime::Skills;
use metier_sandbox::{Cancel, Helper, Sandbox, Setup};
use metier_testkit::Workspace;
use metier_tools::{ServerAnswer, ServerStatus, ToolServer};
use serde_json::{Map, json};

use crate::hostile_server::{HostileServer, listed};
use crate::test_machine::TestMachine;

/// The example that is its own sandbox helper; cargo builds it with the tests.
fn helper() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let helper = this.parent().unwrap().parent().unwrap().join("examples/conformance_client");
    assert!(helper.exists(), "{} is missing: build the examples first", helper.display());
    helper
}

#[test]
fn an_approved_skill_is_used_like_any_other_and_shows_its_origin() {
    let server = HostileServer::new().skill(
        "skill://pdf",
        "name: pdf\ndescription: Fills forms.",
        &[
            ("references/a.md", "alpha"),
            ("scripts/run.sh", "cat \"$SKILL_DIR/references/a.md\"; echo \" $1\""),
        ],
    );
    let machine = TestMachine::new(&[("docs", &server)]);
    machine.listed();
    let open = || {
        Skills::builder()
            .places(machine.places())
            .search_path("/usr/bin:/bin")
            .helper(Helper::Program(helper()))
            .open()
    };
    let session = open().session();
    assert_eq!(session.catalog(), "", "an unapproved skill does not reach the model");
    let refused = session.call("skill_use", &json!({ "skill_name": "mcp.docs:pdf" }));
    assert!(refused.is_error(), "{refused:?}");

    machine.approve("mcp.docs:pdf");
    let mut session = open().session();
    assert!(session.catalog().contains("- **mcp.docs:pdf**: Fills forms."), "{}", session.catalog());
    assert_eq!(server.reads(), Vec::<String>::new());
    let used = session.call("skill_use", &json!({ "skill_name": "mcp.docs:pdf", "arguments": "care" }));
    let text = used.message.unwrap_or_else(|| panic!("{}", used.text)).text;
    assert!(text.starts_with("<skill-context name=\"pdf\" origin=\"mcp.docs\""), "{text}");
    assert!(text.contains("Do it with care.") && text.contains("Available scripts: run.sh"), "{text}");
    assert_eq!(server.reads(), ["skill://pdf/SKILL.md"]);
    let read = |session: &mut metier_runtime::SkillSession, path: &str| {
        session.call("skill_read_file", &json!({ "skill_name": "mcp.docs:pdf", "file_path": path })).text
    };
    assert_eq!(read(&mut session, "references/a.md"), "alpha");
    assert!(read(&mut session, "references/b.md").contains("is not among the files that its server listed"));
    assert!(read(&mut session, "../../listing.json").contains("outside skill directory"));
    let input = json!({ "skill_name": "mcp.docs:pdf", "script_name": "run.sh", "script_args": "beta" });
    let ran = session.call("skill_run_script", &input);
    assert_eq!(ran.text.trim(), "alpha beta", "{ran:?}");

    server.serve("skill://pdf/references/a.md", b"omega");
    assert_eq!(read(&mut session, "references/a.md"), "alpha", "the verified file is used");
}

/// Commands in the text, and hooks and tools in the frontmatter, have no effect before approval.
#[test]
fn declarations_have_no_effect_before_approval() {
    let marker = std::env::temp_dir().join(format!("metier-marker-{}", std::process::id()));
    let fields = "name: pdf\ndescription: Fills forms.\nallowed-tools: Bash";
    let document = format!("---\n{fields}\n---\nNow: !`touch {}`\n", marker.display());
    let server = HostileServer::new().skill("skill://pdf", fields, &[("scripts/run.sh", "echo ran")]);
    server.serve("skill://pdf/SKILL.md", document.as_bytes());
    server.change(0, |entry| entry["resources"][0] = listed("skill://pdf", "SKILL.md", document.as_bytes()));
    let machine = TestMachine::new(&[("docs", &server)]);
    machine.listed();
    let skills = Skills::builder()
        .places(machine.places())
        .search_path("/usr/bin:/bin")
        .helper(Helper::Program(helper()))
        .open();
    let mut session = skills.session();
    for (tool, input) in [
        ("skill_use", json!({ "skill_name": "mcp.docs:pdf" })),
        ("skill_read_file", json!({ "skill_name": "mcp.docs:pdf", "file_path": "SKILL.md" })),
        ("skill_run_script", json!({ "skill_name": "mcp.docs:pdf", "script_name": "run.sh" })),
    ] {
        assert!(session.call(tool, &input).is_error(), "{tool}");
        assert!(
            session.call_in_scope(tool, &input).is_error(),
            "{tool}, in the scope that its list would open"
        );
    }
    // Its user may read it, which runs nothing.
    if let Ok(used) = session.activate_by(Invoker::User, "mcp.docs:pdf", SkillArguments::Text(String::new()))
    {
        assert!(used.text.contains("touch"), "the command is left as text: {}", used.text);
    }
    assert!(!marker.exists());
    assert!(!server.reads().iter().any(|read| read.ends_with("run.sh")), "{:?}", server.reads());
}

#[test]
fn tools_over_http_are_listed_and_called_and_a_call_can_be_cancelled() {
    let server = HostileServer::new();
    let machine = TestMachine::new(&[("docs", &server)]);
    let tools = ToolServer::tools(&machine.servers);
    let names: Vec<_> = tools.iter().map(|tool| (tool.tool.as_str(), tool.is_read_only)).collect();
    assert_eq!(names, [("look", true), ("act", false)]);
    let answer = ToolServer::call(&machine.servers, "docs", "act", &Map::new(), None);
    assert_eq!(answer, ServerAnswer::Done("called \"act\"".to_owned()));
    let cancel = Cancel::new().unwrap();
    cancel.cancel();
    let answer = ToolServer::call(&machine.servers, "docs", "act", &Map::new(), Some(&cancel));
    assert!(matches!(&answer, ServerAnswer::None(why) if why.contains("cancelled")), "{answer:?}");
    let unknown = ToolServer::call(&machine.servers, "unknown", "act", &Map::new(), None);
    assert!(matches!(unknown, ServerAnswer::None(_)));
}

/// A server over stdio: it counts its starts in its data folder, and exits on request.
const PROGRAM: &str = r#"
import json, os, sys
data = os.environ["SERVER_DATA"]
with open(os.path.join(data, "starts"), "a") as starts:
    starts.write("x")
def say(id, result):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    if method == "initialize":
        say(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}})
    elif method == "tools/list":
        say(id, {"tools": [{"name": "see", "inputSchema": {"type": "object"}}, {"name": "die", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call" and message["params"]["name"] == "die":
        sys.stderr.write("exit requested\n")
        sys.stderr.flush()
        sys.exit(3)
    elif method == "tools/call":
        seen = {name: os.path.exists(name) for name in ["notes.md", os.path.expanduser("~/secret"), "HOME_SECRET"]}
        try:
            seen["env"] = open(".env").read()
        except OSError:
            seen["env"] = "masked"
        say(id, {"content": [{"type": "text", "text": json.dumps([seen, sorted(os.environ), os.environ.get("TOKEN")])}]})
    else:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}) + "\n")
        sys.stdout.flush()
"#;

fn program(workspace: &Workspace, command: &str, args: &[&str]) -> Servers {
    let config = ServerConfig {
        label: "p".to_owned(),
        transport: ServerTransport::Program(ProgramConfig {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::from([
                ("TOKEN".to_owned(), "t0ken".to_owned()),
                ("PATH".to_owned(), "/evil".to_owned()),
            ]),
            ..ProgramConfig::default()
        }),
        source: ConfigSource::User,
        trusted: ServerTrust::Yes,
        aliases: BTreeMap::new(),
    };
    let mut setup = Setup::new(std::env::temp_dir());
    setup.helper = Helper::Program(helper());
    let host = ServerHost {
        sandbox: Arc::new(Sandbox::new(setup)),
        path: SearchPath::new("/usr/bin:/bin".as_ref()),
        project: Some(workspace.join("project")),
        data: workspace.join("data"),
        user: metier_files::UserPaths::default(),
        language: "C.UTF-8".to_owned(),
    };
    Servers::new(vec![config], Some(&host), Some(&workspace.join("cache")))
}

#[test]
fn a_program_is_sandboxed_started_on_demand_and_restarted_once() {
    let workspace = Workspace::new()
        .file("project/server.py", PROGRAM)
        .file("project/notes.md", "x")
        .file("project/.env", "KEY=1")
        .dir("data")
        .dir("cache");
    let servers = program(&workspace, "python3", &["server.py"]);
    let starts = || std::fs::read_to_string(workspace.join("data/p/starts")).map_or(0, |text| text.len());
    assert_eq!(
        (servers.summaries()[0].footing.clone(), starts()),
        (ServerStatus::Idle, 0),
        "it is not started in advance"
    );
    assert_eq!(ToolServer::tools(&servers).len(), 2);
    let call = |tool: &str| ToolServer::call(&servers, "p", tool, &Map::new(), None);
    let ServerAnswer::Done(seen) = call("see") else { panic!("{:?}", call("see")) };
    assert!(seen.contains("\"notes.md\": true") && seen.contains("\"env\": \"masked\""), "{seen}");
    assert!(seen.contains("t0ken") && seen.contains("PROJECT_DIR"), "{seen}");
    assert_eq!((starts(), servers.summaries()[0].footing.clone()), (1, ServerStatus::Up));

    let died = call("die");
    assert!(
        matches!(&died, ServerAnswer::None(why) if why.contains("it may have had an effect")),
        "{died:?}"
    );
    assert!(matches!(call("see"), ServerAnswer::Done(_)), "it is restarted");
    assert_eq!(starts(), 2);
    call("die");
    let gone = call("see");
    assert!(matches!(&gone, ServerAnswer::None(why) if why.contains("exited twice")), "{gone:?}");
    assert_eq!(starts(), 2, "it is not restarted twice");
}

#[test]
fn a_missing_or_failing_program_is_reported_with_its_reason() {
    let workspace = Workspace::new().file("project/x", "").dir("data").dir("cache");
    for (command, args, expect) in [
        ("no-such-program", vec![], "`no-such-program` not found"),
        ("bash", vec!["-c", "echo oh no >&2; exit 1"], "stderr: oh no"),
        // The connection closes before the reason is written.
        ("bash", vec!["-c", "exec <&- >&-; sleep 0.3; echo late >&2; exit 1"], "stderr: late"),
    ] {
        let servers = program(&workspace, command, &args);
        assert!(ToolServer::tools(&servers).is_empty());
        let standings = ToolServer::standings(&servers);
        assert!(
            matches!(&standings[0].footing, ServerStatus::Down(why) if why.contains(expect)),
            "{standings:?}"
        );
    }
}

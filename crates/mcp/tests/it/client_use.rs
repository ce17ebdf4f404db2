//! Servers in use: skills in a conversation, tools in an agent, programs that die.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use metier_agent::{Annotated, Footing, OutsideAnswer, OutsideTools};
use metier_mcp::client::{Ground, How, ProgramConfig, ServerConfig, Servers, Source, Trusted};
use metier_runtime::{Arguments, By, SearchPath, Skills};
use metier_sandbox::{Cancel, Helper, Sandbox, Setup};
use metier_testkit::Workspace;
use serde_json::{Map, json};

use crate::client_scene::Scene;
use crate::hostile::{Hostile, listed};

/// The example that is its own helper; cargo builds it with the tests.
fn helper() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let helper = this.parent().unwrap().parent().unwrap().join("examples/conformance_client");
    assert!(helper.exists(), "{} is missing: build the examples first", helper.display());
    helper
}

#[test]
fn an_approved_skill_is_used_like_any_other_and_its_origin_is_told() {
    let server = Hostile::new().skill(
        "skill://pdf",
        "name: pdf\ndescription: Fills forms.",
        &[
            ("references/a.md", "alpha"),
            ("scripts/run.sh", "cat \"$SKILL_DIR/references/a.md\"; echo \" $1\""),
        ],
    );
    let scene = Scene::new(&[("docs", &server)]);
    scene.listed();
    let open = || {
        Skills::builder()
            .places(scene.places())
            .search_path("/usr/bin:/bin")
            .helper(Helper::Program(helper()))
            .open()
    };
    let mut session = open().session();
    assert_eq!(session.catalog(), "", "nothing of it reaches a model before it is approved");
    let refused = session.call("skill_use", &json!({ "skill_name": "mcp.docs:pdf" }));
    assert!(refused.is_error(), "{refused:?}");

    scene.approve("mcp.docs:pdf");
    let mut session = open().session();
    assert!(session.catalog().contains("- **mcp.docs:pdf**: Fills forms."), "{}", session.catalog());
    assert_eq!(server.reads(), Vec::<String>::new());
    let used = session.call("skill_use", &json!({ "skill_name": "mcp.docs:pdf", "arguments": "care" }));
    let text = used.message.unwrap_or_else(|| panic!("{}", used.text)).text;
    assert!(text.starts_with("<skill-context name=\"pdf\" origin=\"mcp.docs\""), "{text}");
    assert!(text.contains("Do it with care.") && text.contains("Available scripts: run.sh"), "{text}");
    assert_eq!(server.reads(), ["skill://pdf/SKILL.md"]);
    let read = |session: &mut metier_runtime::Session, path: &str| {
        session.call("skill_read_file", &json!({ "skill_name": "mcp.docs:pdf", "file_path": path })).text
    };
    assert_eq!(read(&mut session, "references/a.md"), "alpha");
    assert!(read(&mut session, "references/b.md").contains("is not among the files that its server listed"));
    assert!(read(&mut session, "../../listing.json").contains("outside skill directory"));
    let input = json!({ "skill_name": "mcp.docs:pdf", "script_name": "run.sh", "script_args": "beta" });
    let ran = session.call("skill_run_script", &input);
    assert_eq!(ran.text.trim(), "alpha beta", "{ran:?}");

    server.serve("skill://pdf/references/a.md", b"omega");
    assert_eq!(read(&mut session, "references/a.md"), "alpha", "what was verified is what is used");
}

/// Commands in its text, hooks and tools in its frontmatter: all of it is words until somebody says yes to it.
#[test]
fn what_a_skill_declares_does_nothing_before_it_is_approved() {
    let marker = std::env::temp_dir().join(format!("metier-marker-{}", std::process::id()));
    let fields = "name: pdf\ndescription: Fills forms.\nallowed-tools: Bash";
    let document = format!("---\n{fields}\n---\nNow: !`touch {}`\n", marker.display());
    let server = Hostile::new().skill("skill://pdf", fields, &[("scripts/run.sh", "echo ran")]);
    server.serve("skill://pdf/SKILL.md", document.as_bytes());
    server.change(0, |entry| entry["resources"][0] = listed("skill://pdf", "SKILL.md", document.as_bytes()));
    let scene = Scene::new(&[("docs", &server)]);
    scene.listed();
    let skills = Skills::builder()
        .places(scene.places())
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
    // Its user may look at it, and looking runs nothing.
    if let Ok(used) = session.activate_by(By::User, "mcp.docs:pdf", Arguments::Text(String::new())) {
        assert!(used.text.contains("touch"), "the command is left as text: {}", used.text);
    }
    assert!(!marker.exists());
    assert!(!server.reads().iter().any(|read| read.ends_with("run.sh")), "{:?}", server.reads());
}

#[test]
fn tools_of_an_address_are_listed_and_called_and_a_call_can_be_taken_back() {
    let server = Hostile::new();
    let scene = Scene::new(&[("docs", &server)]);
    let tools = OutsideTools::tools(&scene.servers);
    let names: Vec<_> = tools.iter().map(|tool| (tool.tool.as_str(), tool.annotated)).collect();
    assert_eq!(names, [("look", Annotated::ReadOnly), ("act", Annotated::Acts)]);
    let answer = OutsideTools::call(&scene.servers, "docs", "act", &Map::new(), None);
    assert_eq!(answer, OutsideAnswer::Done("called \"act\"".to_owned()));
    let cancel = Cancel::new().unwrap();
    cancel.cancel();
    let answer = OutsideTools::call(&scene.servers, "docs", "act", &Map::new(), Some(&cancel));
    assert!(matches!(&answer, OutsideAnswer::None(why) if why.contains("taken back")), "{answer:?}");
    let nobody = OutsideTools::call(&scene.servers, "nobody", "act", &Map::new(), None);
    assert!(matches!(nobody, OutsideAnswer::None(_)));
}

/// A server over its streams: it counts its starts in its own folder, and dies when it is asked to.
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
        sys.stderr.write("I was told to\n")
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
        how: How::Program(ProgramConfig {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::from([
                ("TOKEN".to_owned(), "t0ken".to_owned()),
                ("PATH".to_owned(), "/evil".to_owned()),
            ]),
            ..ProgramConfig::default()
        }),
        source: Source::User,
        trusted: Trusted::Yes,
        aliases: BTreeMap::new(),
    };
    let mut setup = Setup::new(std::env::temp_dir());
    setup.helper = Helper::Program(helper());
    let ground = Ground {
        sandbox: Arc::new(Sandbox::new(setup)),
        path: SearchPath::new("/usr/bin:/bin".as_ref()),
        project: Some(workspace.join("project")),
        data: workspace.join("data"),
        language: "C.UTF-8".to_owned(),
    };
    Servers::new(vec![config], Some(&ground), Some(&workspace.join("cache")))
}

#[test]
fn a_program_is_contained_started_when_needed_and_again_once() {
    let workspace = Workspace::new()
        .file("project/server.py", PROGRAM)
        .file("project/notes.md", "x")
        .file("project/.env", "KEY=1")
        .dir("data")
        .dir("cache");
    let servers = program(&workspace, "python3", &["server.py"]);
    let starts = || std::fs::read_to_string(workspace.join("data/p/starts")).map_or(0, |text| text.len());
    assert_eq!((servers.seen()[0].footing.clone(), starts()), (Footing::Idle, 0), "it is not started ahead");
    assert_eq!(OutsideTools::tools(&servers).len(), 2);
    let call = |tool: &str| OutsideTools::call(&servers, "p", tool, &Map::new(), None);
    let OutsideAnswer::Done(seen) = call("see") else { panic!("{:?}", call("see")) };
    assert!(seen.contains("\"notes.md\": true") && seen.contains("\"env\": \"masked\""), "{seen}");
    assert!(seen.contains("t0ken") && seen.contains("PROJECT_DIR"), "{seen}");
    assert_eq!((starts(), servers.seen()[0].footing.clone()), (1, Footing::Up));

    let died = call("die");
    assert!(
        matches!(&died, OutsideAnswer::None(why) if why.contains("whether the call did anything is not known")),
        "{died:?}"
    );
    assert!(matches!(call("see"), OutsideAnswer::Done(_)), "it is started again");
    assert_eq!(starts(), 2);
    call("die");
    let gone = call("see");
    assert!(matches!(&gone, OutsideAnswer::None(why) if why.contains("ended twice")), "{gone:?}");
    assert_eq!(starts(), 2, "and then left alone");
}

#[test]
fn a_program_that_is_not_there_or_speaks_no_word_is_told_with_its_reason() {
    let workspace = Workspace::new().file("project/x", "").dir("data").dir("cache");
    for (command, args, expect) in [
        ("no-such-program", vec![], "`no-such-program` is not found"),
        ("bash", vec!["-c", "echo oh no >&2; exit 1"], "it said: oh no"),
        // The connection is gone before the reason comes.
        ("bash", vec!["-c", "exec <&- >&-; sleep 0.3; echo late >&2; exit 1"], "it said: late"),
    ] {
        let servers = program(&workspace, command, &args);
        assert!(OutsideTools::tools(&servers).is_empty());
        let standings = OutsideTools::standings(&servers);
        assert!(matches!(&standings[0].footing, Footing::Down(why) if why.contains(expect)), "{standings:?}");
    }
}

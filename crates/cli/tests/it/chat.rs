//! `metier chat`, at a real terminal and line by line.

use crate::binary::{metier, metier_with_input, workspace};
use crate::model_server::{ModelServer, Says};
use crate::typist::Typist;
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::channel;

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// A user with three skills, who asks this model.
fn user(server: &ModelServer) -> Workspace {
    workspace()
        .file("project/metier.toml", "")
        .file("home/.config/metier/config.toml", server.config())
        .file(
            "home/.config/metier/skills/migrate/SKILL.md",
            "---\nname: migrate\ndescription: Moves data.\nargument-hint: <from> <to>\n---\n\nMove from $0 to $1.\n",
        )
        .file(
            "home/.config/metier/skills/inner/SKILL.md",
            "---\nname: inner\ndescription: Is for the model.\nuser-invocable: false\n---\n\nInner.\n",
        )
        .skill("home/.config/metier/skills/mail", "Writes letters.")
}

/// The texts of the last message of the user in a request.
fn last_said(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let user = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
    match &user["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

#[test]
fn a_skill_is_completed_started_by_the_user_and_told_of() {
    let server = ModelServer::saying(vec![Says::Words("Moved it."), Says::Words("Wrote it.")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("`/help` lists commands");
    typist.wait_for("> ");
    typist.types("/mi\t");
    typist.wait_for("/migrate ");
    // What may stand behind it is shown where it would.
    typist.wait_for("<from> <to>");
    typist.types("a b\r");
    typist.wait_for("[skill] migrate: starting");
    typist.wait_for("Moved it.");
    let said = last_said(&server.request());
    assert!(said.starts_with("/migrate a b"), "{said}");
    assert!(said.contains("<skill-context name=\"migrate\"") && said.contains("Move from a to b."), "{said}");
    typist.wait_for("> ");
    typist.types("please $mail her, it costs $5\r");
    typist.wait_for("Wrote it.");
    let said = last_said(&server.request());
    assert!(said.contains("<skill-context name=\"mail\""), "{said}");
    typist.wait_for("> ");
    typist.types("/cost\r");
    typist.wait_for("2 turns, 0 calls, 220 tokens (20 out)");
    typist.wait_for("> ");
    typist.types("/exit\r");
    typist.wait_for("metier chat --resume");
    assert!(typist.ends().success());
    let stats = metier(&workspace, &["stats", "--json"]).json();
    assert_eq!(stats["skills"][0]["by"]["user"], 1, "{stats}");
}

#[test]
fn what_is_typed_is_kept_for_the_arrow_keys_and_only_the_user_may_read_it() {
    let server = ModelServer::saying(Vec::new());
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("/skills\r");
    typist.wait_for("# Available skills:");
    typist.wait_for("**migrate**: [<from> <to>] Moves data.");
    typist.wait_for("> ");
    typist.types(" /cost\r");
    typist.wait_for("nothing was said yet");
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
    let file = workspace.join("home/.local/share/metier/chat/lines.jsonl");
    assert_eq!(fs::read_to_string(&file).unwrap(), "\"/skills\"\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("\u{1b}[A");
    typist.wait_for("/skills");
    typist.types("\r");
    // To the end of the list: there are brackets in it that look like a prompt.
    typist.wait_for("Moves data.");
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
    // Nothing was said, so nothing is left behind.
    assert_eq!(metier(&workspace, &["runs", "--json"]).json()["runs"], json!([]));
}

#[test]
fn a_question_of_the_gate_is_answered_inline() {
    let call = || Says::Calls("Write", json!({"file_path": "note.txt", "content": "hello\n"}));
    let server =
        ModelServer::saying(vec![call(), Says::Words("It is written."), call(), Says::Words("Well, no.")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("write a note\r");
    typist
        .wait_for("[y]es once  this [s]ession  this [t]ool this session  [a]lways in this project  [n]o > ");
    typist.types("y\r");
    typist.wait_for("It is written.");
    assert_eq!(fs::read_to_string(workspace.join("project/note.txt")).unwrap(), "hello\n");
    fs::remove_file(workspace.join("project/note.txt")).unwrap();
    typist.wait_for("> ");
    typist.types("and again\r");
    typist.wait_for("[n]o > ");
    // Ctrl-C at a question is a no, and stops the turn.
    typist.types(CTRL_C);
    typist.wait_for("stopped");
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
    assert!(!workspace.join("project/note.txt").exists());
}

/// The attack by accident: a "y" that was typed for something else must not be a yes to what comes next.
#[test]
fn what_is_typed_before_a_question_is_a_message_and_not_its_answer() {
    let (go, held) = channel();
    let call = Says::Calls("Write", json!({"file_path": "note.txt", "content": "hello\n"}));
    let server = ModelServer::saying(vec![
        Says::Held(held, Box::new(call)),
        Says::Words("It was not allowed."),
        Says::Words("Yes what?"),
    ]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("write a note\r");
    server.request();
    typist.types("y\n");
    typist.wait_for("[queued] this message is sent when the one before it is done");
    go.send(()).unwrap();
    typist.wait_for("[n]o > ");
    typist.types("n\n");
    typist.wait_for("It was not allowed.");
    typist.wait_for("> y");
    typist.wait_for("Yes what?");
    server.request();
    assert_eq!(last_said(&server.request()), "y");
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
    assert!(!workspace.join("project/note.txt").exists());
}

#[test]
fn ctrl_c_stops_the_turn_and_not_the_program() {
    let server = ModelServer::saying(vec![Says::WordsAndWaits("Once upon a time"), Says::Words("Fine.")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("tell me a story\r");
    typist.wait_for("upon a time");
    server.request();
    typist.types(CTRL_C);
    typist.wait_for("[stopped] the user");
    typist.wait_for("> ");
    typist.types("never mind\r");
    typist.wait_for("Fine.");
    // The model knows how far it came.
    let request = server.request();
    let messages = request["messages"].as_array().unwrap();
    assert!(messages.iter().any(|message| message["content"] == "Once upon a time"), "{request}");
    assert_eq!(last_said(&request), "never mind");
    // On a line with text Ctrl-C takes the text back; on an empty one it leaves, the second time.
    typist.wait_for("> ");
    typist.types("half a thought");
    typist.wait_for("thought");
    typist.types(CTRL_C);
    typist.types(CTRL_C);
    typist.wait_for("Ctrl-C once more");
    typist.wait_for("> ");
    typist.types(CTRL_C);
    assert!(typist.ends().success());
}

#[test]
fn lines_that_go_on_and_pasted_blocks_are_one_message() {
    let server = ModelServer::saying(vec![Says::Words("One."), Says::Words("Two."), Says::Words("Three.")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("first\\\rsecond\u{1b}\rthird\r");
    typist.wait_for("One.");
    assert_eq!(last_said(&server.request()), "first\nsecond\nthird");
    typist.wait_for("> ");
    // As a terminal marks what is pasted: a backslash in it stays.
    typist.types("\u{1b}[200~make \\\rall\rinstall\u{1b}[201~\r");
    typist.wait_for("Two.");
    assert_eq!(last_said(&server.request()), "make \\\nall\ninstall");
    typist.wait_for("> ");
    // A narrow window, then a wide one: the line stays what it is.
    typist.resizes(30, 10);
    let long = "a line that is longer than the window is wide";
    typist.types(long);
    typist.wait_for("wide");
    typist.resizes(120, 40);
    typist.types(" now\r");
    typist.wait_for("Three.");
    assert_eq!(last_said(&server.request()), format!("{long} now"));
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
}

#[test]
fn control_characters_of_a_model_do_not_reach_the_terminal() {
    let server = ModelServer::saying(vec![Says::Words("be\u{1b}]0;owned\u{7}ware\u{9b}2J")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("hello\r");
    typist.wait_for("ware");
    typist.wait_for("> ");
    assert!(!typist.seen.windows(4).any(|window| window == b"\x1b]0;"), "{}", typist.screen_text());
    typist.types(CTRL_D);
    assert!(typist.ends().success());
}

#[test]
fn another_model_takes_over_the_same_conversation() {
    let first = ModelServer::saying(vec![Says::Words("First.")]);
    let second = ModelServer::saying(vec![Says::Words("Second.")]);
    let other =
        second.config().replace("bundled = false\nmodel = \"ollama/test\"\n", "").replace("ollama", "vllm");
    let workspace = user(&first);
    let config = format!("{}{other}", first.config());
    let workspace = workspace.file("home/.config/metier/config.toml", config);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("model ollama/test");
    typist.wait_for("> ");
    typist.types("hello\r");
    typist.wait_for("First.");
    typist.wait_for("> ");
    typist.types("/model nobody/knows\r");
    // It speaks of what was typed, and not of a flag.
    typist.wait_for("error: `/model`: there is no model");
    typist.wait_for("> ");
    typist.types("/model openai/gpt\r");
    typist.wait_for("choose another model with `/model`");
    typist.wait_for("> ");
    typist.types("/model vllm/other\r");
    typist.wait_for("vllm/other is asked from now on");
    typist.wait_for("> ");
    typist.types("go on\r");
    typist.wait_for("Second.");
    let request = second.request();
    assert_eq!(request["model"], "other");
    let texts = request["messages"].to_string();
    assert!(texts.contains("hello") && texts.contains("First.") && texts.contains("go on"), "{texts}");
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
    assert_eq!(metier(&workspace, &["runs", "--json"]).json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn without_a_terminal_each_line_is_a_message_with_one_answer() {
    let server = ModelServer::saying(vec![Says::Words("One."), Says::Words("Two.")]);
    let workspace = user(&server);
    let run = metier_with_input(&workspace, &["chat", "--quiet"], "first\n\nsecond\n");
    assert_eq!((run.code, run.stdout.as_str()), (0, "One.\nTwo.\n"), "{}", run.stderr);
    server.request();
    let texts = server.request()["messages"].to_string();
    assert!(texts.contains("first") && texts.contains("One.") && texts.contains("second"), "{texts}");
    let runs = metier(&workspace, &["runs", "--json"]).json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(runs["runs"][0]["outcome"], "done");
}

/// E16 and E17: built-ins are answered without a model, in the words that users of skilled-crew know.
#[test]
fn e16_e17_commands_are_answered_without_a_model() {
    let server = ModelServer::saying(Vec::new());
    let workspace = user(&server);
    let input =
        "/help\n?\n/skills\n/tools\n/cost\n/model\n/resume\n/cook something\n/inner\n/exit\nnever read\n";
    let run = metier_with_input(&workspace, &["chat", "--quiet"], input);
    assert_eq!(run.code, 1, "an unknown command is no success: {}", run.stderr);
    let help = "# Available commands:\n- **/help**";
    assert_eq!(run.stdout.matches(help).count(), 2, "{}", run.stdout);
    for piece in [
        "# Available skills:\n- **inner**: Is for the model. (the model starts it)\n- **mail**: Writes letters.\n- **migrate**: [<from> <to>] Moves data.\n",
        "- **skill_use**",
        "- **Bash**",
        "nothing was said yet",
        "ollama/test is asked",
        "there is no other conversation",
        "Unknown command: **cook**. Type /help to list commands.",
        "`user-invocable: false`",
    ] {
        assert!(run.stdout.contains(piece), "{piece}\n{}", run.stdout);
    }
    assert!(
        !workspace.join("home/.local/share/metier/store/metier.db").exists()
            || metier(&workspace, &["runs", "--json"]).json()["runs"] == json!([])
    );
}

#[test]
fn for_programs_events_and_commands_are_lines_of_json() {
    let server = ModelServer::saying(vec![Says::Words("One.")]);
    let workspace = user(&server);
    let run = metier_with_input(&workspace, &["chat", "--json"], "/skills\nfirst\n");
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["command"]), (&json!("told"), &json!("skills")));
    assert_eq!(lines[1]["type"], "started");
    assert_eq!(lines.last().unwrap()["type"], "ended");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// Semantics 2: the question that `run` and `chat` ask once at a terminal lists what a yes would switch on.
#[test]
fn a_project_that_is_not_trusted_is_asked_about_once() {
    let server = ModelServer::saying(vec![Says::Words("One."), Says::Words("Two."), Says::Words("Three.")]);
    let workspace = user(&server)
        .skill("project/.agents/skills/theirs", "Comes with the project.")
        .executable("project/.agents/skills/theirs/scripts/act.sh", "#!/bin/sh\necho hi\n");
    // Without a terminal nothing is asked.
    let run = metier(&workspace, &["run", "hello"]);
    assert!(run.stderr.contains("1 skill is ignored because this project is not trusted"), "{}", run.stderr);
    assert!(!server.request()["messages"].to_string().contains("theirs"));
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("script scripts/act.sh (executable)");
    typist.wait_for("trust it?");
    typist.wait_for("[s]ilence: no, and do not ask again in this terminal > ");
    typist.types("y\n");
    typist.wait_for("trusted; `metier trust --revoke` takes it back");
    typist.wait_for("`/help` lists commands");
    typist.wait_for("> ");
    typist.types("/th\t");
    typist.wait_for("/theirs ");
    typist.types("\r");
    typist.wait_for("Two.");
    assert!(last_said(&server.request()).contains("<skill-context name=\"theirs\" origin=\"project"));
    typist.wait_for("> ");
    typist.types(CTRL_D);
    assert!(typist.ends().success());
    // A new script is a change that trust does not cover, and a no leaves it out.
    let workspace = workspace.executable("project/.agents/skills/theirs/scripts/more.sh", "#!/bin/sh\n");
    let mut typist = Typist::at(&workspace, &["run", "hello again"]);
    typist.wait_for("has changed since you trusted it:");
    typist.wait_for("theirs");
    typist.wait_for("trust it as it is now?");
    typist.wait_for("in this terminal > ");
    typist.types("s\n");
    typist.wait_for("Three.");
    assert!(typist.ends().success());
}

#[test]
fn an_agent_that_is_written_down_leads_the_conversation_with_its_own_skills() {
    let server = ModelServer::saying(vec![Says::Words("Reviewed.")]);
    let workspace = user(&server).file(
        "project/.metier/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews.\nskills: [mail]\n---\n\nYou review letters.\n",
    );
    let run = metier_with_input(&workspace, &["chat", "--agent", "reviewer"], "hello\n");
    assert_eq!(run.code, 4, "an agent of a stranger's project is not run: {}", run.stderr);
    metier(&workspace, &["trust"]);
    let input = "/skills\n/migrate a b\nhello\n";
    let run = metier_with_input(&workspace, &["chat", "--quiet", "--agent", "reviewer"], input);
    assert!(
        run.stdout
            .starts_with("# Available skills:\n- **mail**: Writes letters.\nUnknown command: **migrate**."),
        "{}",
        run.stdout
    );
    assert!(run.stdout.ends_with("Reviewed.\n"), "{} {}", run.stdout, run.stderr);
    let request = server.request().to_string();
    assert!(request.contains("You review letters.") && !request.contains("Moves data."), "{request}");
}

#[test]
fn a_skill_that_wants_a_child_gets_one_when_the_user_starts_it() {
    let server =
        ModelServer::saying(vec![Says::Words("Found in the child."), Says::Words("You are welcome.")]);
    let workspace = user(&server).file(
        "home/.config/metier/skills/dig/SKILL.md",
        "---\nname: dig\ndescription: Digs.\ncontext: fork\n---\n\nDig for $ARGUMENTS.\n",
    );
    let run = metier_with_input(&workspace, &["chat", "--quiet"], "/dig gold\nthank you\n");
    assert_eq!(run.stdout, "Found in the child.\nYou are welcome.\n", "{}", run.stderr);
    let child = server.request().to_string();
    assert!(child.contains("Dig for gold."), "{child}");
    // The conversation has what came of it, and nothing else of the child.
    let parent = server.request().to_string();
    assert!(parent.contains("/dig gold") && !parent.contains("Dig for gold."), "{parent}");
}

//! `metier resume`

use crate::binary::{metier, metier_with_input, workspace};
use crate::model_server::{ModelServer, Says};
use crate::typist::Typist;
use metier_testkit::Workspace;
use serde_json::{Value, json};

fn user(server: &ModelServer) -> Workspace {
    workspace().file("project/metier.toml", "").file("home/.config/metier/config.toml", server.config())
}

fn outcomes(workspace: &Workspace) -> Vec<Value> {
    let runs = metier(workspace, &["runs", "--json"]).json();
    runs["runs"].as_array().unwrap().iter().map(|run| run["outcome"].clone()).collect()
}

#[test]
fn a_chat_that_was_killed_in_the_middle_of_a_stream_goes_on() {
    let server = ModelServer::saying(vec![
        Says::Words("Hello."),
        Says::WordsAndWaits("Once upon a time"),
        Says::Words("And so it ended."),
    ]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("hello\r");
    typist.wait_for("Hello.");
    typist.wait_for("> ");
    typist.types("tell me a story\r");
    typist.wait_for("upon a time");
    typist.kills();
    assert_eq!(outcomes(&workspace), [Value::Null]);
    let run = metier(&workspace, &["resume"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "And so it ended.\n");
    assert!(run.stderr.contains("going on with") && run.stderr.contains("hello"), "{}", run.stderr);
    assert_eq!(outcomes(&workspace), ["done"]);
    server.request();
    server.request();
    let texts = server.request()["messages"].to_string();
    assert!(
        texts.contains("hello") && texts.contains("Hello.") && texts.contains("tell me a story"),
        "{texts}"
    );
}

#[test]
fn a_step_that_may_have_happened_takes_a_yes() {
    let server = ModelServer::saying(vec![
        Says::Calls("Bash", json!({"command": "sleep 600", "timeout": 600})),
        Says::Words("I looked: it had not happened."),
    ]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["run", "wait for it"]);
    typist.wait_for("[tool] Bash sleep 600");
    typist.kills();
    let run = metier(&workspace, &["resume"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("interrupted, may already have run: Bash"), "{}", run.stderr);
    assert!(run.stderr.contains("--leave"), "{}", run.stderr);
    let mut typist = Typist::at(&workspace, &["resume"]);
    typist.wait_for("may already have run; run it again? [y]es [n]o > ");
    typist.types("n\n");
    typist.wait_for("I looked: it had not happened.");
    assert!(typist.ends().success());
    server.request();
    let texts = server.request()["messages"].to_string();
    assert!(texts.contains("\"role\":\"tool\"") && texts.contains("may have run"), "{texts}");
}

#[test]
fn what_is_done_is_not_gone_on_with() {
    let server = ModelServer::saying(vec![Says::Words("Done.")]);
    let workspace = user(&server);
    let run = metier(&workspace, &["resume"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nothing has run yet"), "{}", run.stderr);
    assert_eq!(metier(&workspace, &["run", "do it"]).code, 0);
    let run = metier(&workspace, &["resume"]);
    assert!(run.stderr.contains("every run of this project has come to its end"), "{}", run.stderr);
    let id = metier(&workspace, &["runs", "--json"]).json()["runs"][0]["short"].as_str().unwrap().to_owned();
    let run = metier(&workspace, &["resume", &id]);
    assert!(run.stderr.contains(&format!("`metier chat --resume {id}`")), "{}", run.stderr);
}

/// The short id of the latest run.
fn latest(workspace: &Workspace) -> String {
    metier(workspace, &["runs", "--json"]).json()["runs"][0]["short"].as_str().unwrap().to_owned()
}

#[test]
fn in_a_chat_a_run_that_broke_off_goes_on_at_once_with_the_same_question() {
    let server = ModelServer::saying(vec![
        Says::Calls("Bash", json!({"command": "sleep 600", "timeout": 600})),
        Says::Words("I looked: it had not happened."),
        Says::Words("You are welcome."),
    ]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["run", "wait for it"]);
    typist.wait_for("[tool] Bash sleep 600");
    typist.kills();
    let id = latest(&workspace);
    // Nobody can be asked, so it says who can say it, and how.
    let run = metier_with_input(&workspace, &["chat"], &format!("/resume {id}\n"));
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stdout.contains("interrupted, may already have run: Bash"), "{}", run.stdout);
    assert!(run.stderr.contains(&format!("`metier resume {id} --leave`")), "{}", run.stderr);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types(&format!("/resume {id}\r"));
    typist.wait_for("may already have run; run it again? [y]es [n]o > ");
    typist.types("n\n");
    typist.wait_for("I looked: it had not happened.");
    typist.wait_for("> ");
    typist.types("thanks\r");
    typist.wait_for("You are welcome.");
    typist.wait_for("> ");
    typist.types("/exit\r");
    assert!(typist.ends().success());
    assert_eq!(outcomes(&workspace), ["done"]);
    server.request();
    let texts = server.request()["messages"].to_string();
    assert!(texts.contains("\"role\":\"tool\"") && !texts.contains("thanks"), "{texts}");
}

#[test]
fn a_chat_that_begins_with_what_broke_off_goes_on_before_the_first_prompt() {
    let server = ModelServer::saying(vec![
        Says::WordsAndWaits("Once upon a time"),
        Says::Words("And so it ended."),
        Says::Words("Another one."),
    ]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["run", "tell me a story"]);
    typist.wait_for("upon a time");
    typist.kills();
    let id = latest(&workspace);
    let run = metier_with_input(&workspace, &["chat", "--resume", &id], "another one\n");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let ended = run.stdout.find("And so it ended.").unwrap();
    assert!(run.stdout.find("it broke off, and goes on now").unwrap() < ended, "{}", run.stdout);
    assert!(ended < run.stdout.find("Another one.").unwrap(), "{}", run.stdout);
    // What is done has nothing to go on with.
    let run = metier_with_input(&workspace, &["chat", "--resume", &id], "");
    assert_eq!((run.code, run.stdout.contains("goes on")), (0, false), "{}", run.stdout);
}

#[test]
fn what_the_user_stopped_waits_for_a_word_however_often_it_is_taken_up() {
    let server = ModelServer::saying(vec![Says::WordsAndWaits(""), Says::Words("Fine.")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("tell me a story\r");
    server.request();
    typist.types("\u{3}");
    typist.wait_for("[stopped] the user");
    typist.wait_for("> ");
    typist.types("/exit\r");
    assert!(typist.ends().success());
    let id = latest(&workspace);
    for _ in 0..2 {
        let run = metier_with_input(&workspace, &["chat"], &format!("/resume {id}\n"));
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains("it was stopped; say how to go on"), "{}", run.stdout);
        assert_eq!(outcomes(&workspace), ["cancelled"]);
    }
    let run = metier_with_input(&workspace, &["chat", "--resume", &id], "never mind\n");
    assert!(run.stdout.ends_with("Fine.\n"), "{}", run.stdout);
}

#[test]
fn whoever_led_a_conversation_goes_on_with_it() {
    let server = ModelServer::saying(vec![Says::Words("Kept."), Says::Words("Kept, too.")]);
    let workspace = user(&server).file(
        "home/.config/metier/agents/keeper.md",
        "---\nname: keeper\ndescription: Keeps.\n---\nYou keep things.\n",
    );
    assert_eq!(metier(&workspace, &["run", "--agent", "keeper", "keep it"]).code, 0);
    let id = latest(&workspace);
    let run = metier_with_input(&workspace, &["chat"], &format!("/resume {id}\n"));
    assert!(run.stdout.contains("is one of `keeper`, who is not in this chat"), "{}", run.stdout);
    let run = metier_with_input(&workspace, &["chat", "--resume", &id], "keep that, too\n");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.ends_with("Kept, too.\n"), "{}", run.stdout);
    assert_eq!(metier(&workspace, &["runs", "--json"]).json()["runs"][0]["agent"], "keeper");
}

#[test]
fn a_child_that_goes_on_is_called_by_its_name() {
    let server = ModelServer::saying(vec![
        Says::Calls("skill_use", json!({"skill_name": "clerk", "arguments": "wait"})),
        Says::Calls("Bash", json!({"command": "sleep 600", "timeout": 600})),
        Says::Words("It is left."),
        Says::Words("The clerk left it."),
    ]);
    let workspace = user(&server).file(
        "home/.config/metier/skills/clerk/SKILL.md",
        "---\nname: clerk\ndescription: Waits. Use to wait.\ncontext: fork\n---\nWait.\n",
    );
    let mut typist = Typist::at(&workspace, &["run", "wait for it"]);
    typist.wait_for("[tool] Bash sleep 600");
    typist.kills();
    for (args, ends) in [(&["resume"][..], "needs a yes"), (&["resume", "--leave"], "complete")] {
        let run = metier(&workspace, args);
        let shown: Vec<&str> = run.stderr.lines().collect();
        let going_on = shown.iter().position(|line| line.starts_with("[skill] clerk: going on ("));
        let ended = shown.iter().position(|line| line.starts_with(&format!("[skill] clerk: {ends} (")));
        assert!(going_on.is_some() && going_on < ended, "{}", run.stderr);
        assert!(!run.stderr.contains("child:"), "{}", run.stderr);
    }
    let log = metier(&workspace, &["log"]);
    let clerks: Vec<&str> = log.stdout.lines().filter(|line| line.starts_with("[skill] c")).collect();
    let expect = ["clerk: starting (fork ", "clerk: needs a yes (", "clerk: complete ("];
    assert_eq!(clerks.len(), expect.len(), "{}", log.stdout);
    assert!(clerks.iter().zip(expect).all(|(line, expect)| line[8..].starts_with(expect)), "{clerks:?}");
}

/// Runs metier in the other project.
fn elsewhere(workspace: &Workspace, args: &[&str]) -> (i32, String, String) {
    let output =
        crate::binary::command(workspace, args).current_dir(workspace.join("other")).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Reproduction of review/terminal.md 0.2: `resume` took another project's run and ran its command here.
#[test]
fn a_run_of_another_project_is_named_and_resumed_there_or_not_at_all() {
    let server = ModelServer::saying(vec![
        Says::Calls("Bash", json!({"command": "pwd; sleep 600", "timeout": 600})),
        Says::Calls("Bash", json!({"command": "pwd"})),
        Says::Words("I looked."),
    ]);
    let workspace = user(&server).file("other/metier.toml", "");
    let project = workspace.join("project").canonicalize().unwrap();
    let mut typist = Typist::at(&workspace, &["run", "wait for it"]);
    typist.wait_for("[tool] Bash pwd; sleep 600");
    typist.kills();
    let id = latest(&workspace);
    // Lists and sums are about this project.
    let (_, none, _) = elsewhere(&workspace, &["runs"]);
    assert_eq!(none, "nothing has run in this project; `metier runs --all` lists the runs of others\n");
    let (_, all, _) = elsewhere(&workspace, &["runs", "--all"]);
    assert!(all.contains(&id) && all.contains(&format!("in {}", project.display())), "{all}");
    // Without a terminal nothing of it runs.
    let (code, _, stderr) = elsewhere(&workspace, &["resume"]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("every run of this project has come to its end; `metier resume --all`"),
        "{stderr}"
    );
    for args in [&["resume", "--all"][..], &["resume", &id]] {
        let (code, stdout, stderr) = elsewhere(&workspace, args);
        assert_eq!((code, stdout.as_str()), (4, ""), "{stderr}");
        let command = format!("`cd {} && metier resume {id}`", project.display());
        assert!(stderr.contains("began in another project") && stderr.contains(&command), "{stderr}");
    }
    let (code, _, stderr) = elsewhere(&workspace, &["chat", "--resume", &id]);
    assert_eq!(code, 1);
    assert!(stderr.contains(&format!("session {id} began in {}", project.display())), "{stderr}");
    // At a terminal it is asked, and runs where it began.
    let other = workspace.join("other");
    let mut typist = Typist::at_folder(&workspace, &other, &["resume", &id]);
    typist.wait_for(&format!("{}\r\n", project.display()));
    typist.wait_for("resume it in that folder? [y]es [n]o > ");
    typist.types("n\n");
    assert!(!typist.ends().success());
    let mut typist = Typist::at_folder(&workspace, &other, &["resume", "--all", "--leave"]);
    typist.wait_for("resume it in that folder? [y]es [n]o > ");
    typist.types("y\n");
    typist.wait_for("I looked.");
    assert!(typist.ends().success());
    let shown = typist.screen_text();
    assert!(shown.contains(&format!("[result] Bash: {}", project.display())), "{shown}");
    assert!(!shown.contains(&other.canonicalize().unwrap().display().to_string()), "{shown}");
}

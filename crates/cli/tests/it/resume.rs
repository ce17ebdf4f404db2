//! `metier resume`

use crate::binary::{metier, workspace};
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
    assert!(run.stderr.contains("begun and not finished, may have happened: Bash"), "{}", run.stderr);
    assert!(run.stderr.contains("--leave"), "{}", run.stderr);
    let mut typist = Typist::at(&workspace, &["resume"]);
    typist.wait_for("may have happened; do it again? [y]es [n]o > ");
    typist.types("n\n");
    typist.wait_for("I looked: it had not happened.");
    assert!(typist.ends().success());
    server.request();
    let texts = server.request()["messages"].to_string();
    assert!(texts.contains("\"role\":\"tool\"") && texts.contains("may have happened"), "{texts}");
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
    assert!(run.stderr.contains("every run has come to its end"), "{}", run.stderr);
    let id = metier(&workspace, &["runs", "--json"]).json()["runs"][0]["short"].as_str().unwrap().to_owned();
    let run = metier(&workspace, &["resume", &id]);
    assert!(run.stderr.contains(&format!("`metier chat --resume {id}`")), "{}", run.stderr);
}

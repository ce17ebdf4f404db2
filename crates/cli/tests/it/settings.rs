//! Every setting that is about running a skill, through a model's session (`run`) and through a host's (`mcp`): both read the same
//! configuration and run the same code.

use crate::binary::{command, metier_with, metier_with_input, workspace};
use crate::model_server::{ModelServer, Says};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

/// A server that says hello to everybody.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    port
}

/// One setting: the skill that it is about, what the skill's script does, and what its result has to say.
struct Row {
    skill: &'static str,
    /// More frontmatter, and more text.
    more: (&'static str, &'static str),
    script: String,
    expect: String,
}

fn row(skill: &'static str, script: &str, expect: &str) -> Row {
    Row { skill, more: ("", ""), script: script.to_owned(), expect: expect.to_owned() }
}

/// The variables that metier itself has.
const VARIABLES: &[(&str, &str)] = &[
    ("REGION", "eu-north"),
    ("SET_OVER_DEFAULT", "from outside"),
    ("API_TOKEN", "t0ken-of-the-user"),
    ("DEPLOY_KEY", "k3y-of-the-user"),
    ("UNDECLARED", "never"),
];

/// Everything that the configuration can say about running a skill, but for the mode.
fn config(port: u16) -> String {
    format!(
        "[skills.reaches.needs]\nhosts = [\"127.0.0.1:{port}\"]\n\
         [skills.writes.needs]\nwrite = [\"docs/**\"]\n\
         [skills.sees.needs]\nenv = [\"API_TOKEN\"]\n\
         [skills.keeps.needs]\nenv = [\"KEPT_TOKEN\"]\n\
         [skills.slow.needs]\nseconds = 1\n\
         [skills.at-home]\nstart = \"skill\"\n\
         [skills.at-top]\nstart = \"project\"\n\
         [skills.hidden]\nvisibility = \"off\"\n\
         [env.REGION]\nrequired = true\n\
         [env.ZONE]\ndefault = \"zone of the default\"\n\
         [env.SET_OVER_DEFAULT]\ndefault = \"from the default\"\n\
         [env.DEPLOY_KEY]\nsensitive = true\n\
         [gate]\nallow = [\"skill:ruled/host:127.0.0.1:{port}\", \"skill:names/secret:DEPLOY_KEY\"]\n\
         ask = [\"skill:asked/script:*\"]\ndeny = [\"skill:denied\"]\n"
    )
}

/// What becomes of each setting.
fn rows(port: u16, workspace: &Workspace) -> Vec<Row> {
    let get = format!(
        "python3 -c \"import urllib.request as u; print('said', u.urlopen('http://127.0.0.1:{port}/').read().decode())\""
    );
    let folder = |path: &str| format!("in {}.", workspace.join(path).display());
    let mut rows = vec![
        row("reaches", &get, "said hello"),
        row("writes", "echo new > \"$PROJECT_DIR/docs/a.md\" && echo wrote it", "wrote it"),
        row("sees", "echo \"token <$API_TOKEN>\"", "token <[secret API_TOKEN]>"),
        row("keeps", "echo \"token <$KEPT_TOKEN>\"", "token <[secret KEPT_TOKEN]>"),
        row("slow", "echo began; exec sleep 100", "timed out after 1s"),
        row(
            "plain",
            "echo \"<$REGION|$ZONE|$SET_OVER_DEFAULT|$UNDECLARED|$DEPLOY_KEY>\"",
            "<eu-north|zone of the default|from outside||>",
        ),
        row("names", "echo \"key <$DEPLOY_KEY>\"", "key <[secret DEPLOY_KEY]>"),
        row("here", "echo \"in $PWD.\"", &folder("project/deep")),
        row("at-home", "echo \"in $PWD.\"", &folder("home/.agents/skills/at-home")),
        row("at-top", "echo \"in $PWD.\"", &folder("project")),
        row("ruled", &get, "said hello"),
        row("asked", "echo ran", "skill:asked/script:*"),
        row("denied", "echo ran", "skill:denied"),
        row("hidden", "echo ran", "off"),
    ];
    for row in &mut rows {
        match row.skill {
            "names" => row.more.1 = "It uses ${env:DEPLOY_KEY}.\n",
            "plain" => row.more.1 = "<${env:REGION}|${env:ZONE}|${env:UNDECLARED}>\n",
            "ruled" => row.more.0 = "metadata:\n  metier:\n    needs:\n      hosts: [\"127.0.0.1:PORT\"]\n",
            _ => {}
        }
    }
    rows
}

/// The skills of all rows, in a home; the current folder is one of the project's.
fn machine(config: &str, port: u16) -> (Workspace, Vec<Row>) {
    let mut workspace = workspace()
        .dir("project/.git")
        .dir("project/deep")
        .dir("project/docs")
        .file("home/.config/metier/config.toml", config);
    let rows = rows(port, &workspace);
    for Row { skill, more: (frontmatter, text), script, .. } in &rows {
        let frontmatter = frontmatter.replace("PORT", &port.to_string());
        let document =
            format!("---\nname: {skill}\ndescription: Does {skill}.\n{frontmatter}---\nDo it.\n{text}");
        workspace = workspace
            .file(format!("home/.agents/skills/{skill}/SKILL.md"), document)
            .file(format!("home/.agents/skills/{skill}/scripts/a.sh"), format!("{script}\n"));
    }
    let set = ["secret", "set", "KEPT_TOKEN", "--skill", "keeps"];
    let set = metier_with_input(&workspace, &set, "k3pt-in-the-vault");
    assert_eq!(set.code, 0, "{}", set.stderr);
    (workspace, rows)
}

/// The calls of all rows: two that activate, then every script.
fn calls(rows: &[Row]) -> Vec<(&'static str, Value)> {
    let scripts = rows
        .iter()
        .map(|row| ("skill_run_script", json!({ "skill_name": row.skill, "script_name": "a.sh" })));
    let used = ["plain", "names"].map(|skill| ("skill_use", json!({ "skill_name": skill })));
    used.into_iter().chain(scripts).collect()
}

/// Makes calls through `metier run`, whose model makes them; gives what the model was told after each.
fn through_run(workspace: &Workspace, config: &str, calls: &[(&'static str, Value)]) -> Vec<String> {
    let says = calls.iter().map(|(tool, input)| Says::Calls(tool, input.clone()));
    let model = ModelServer::saying(says.chain([Says::Words("done")]).collect());
    let file = workspace.join("home/.config/metier/config.toml");
    std::fs::write(file, format!("{}{config}", model.config())).unwrap();
    let output = command(workspace, &["run", "--no-input", "go on"])
        .current_dir(workspace.join("project/deep"))
        .envs(VARIABLES.iter().copied())
        .output()
        .unwrap();
    // What took a yes was refused, which the exit code says; the model went on to its end.
    let code = output.status.code().unwrap();
    assert!(code == 0 || code == 4, "{code} {}", String::from_utf8_lossy(&output.stderr));
    let requests: Vec<Value> = (0..=calls.len()).map(|_| model.request()).collect();
    // What is new to a request since the one before.
    let messages = |request: &Value| request["messages"].as_array().unwrap().clone();
    let news = requests.windows(2).map(|pair| {
        let known = messages(&pair[0]).len();
        Value::from(messages(&pair[1]).split_off(known)).to_string()
    });
    news.collect()
}

/// Makes the same calls as a host of `metier mcp`; gives the result of each.
fn through_mcp(workspace: &Workspace, config: &str, calls: &[(&'static str, Value)]) -> Vec<String> {
    let file = workspace.join("home/.config/metier/config.toml");
    std::fs::write(file, format!("bundled = false\n{config}")).unwrap();
    let mut child = command(workspace, &["mcp"])
        .current_dir(workspace.join("project/deep"))
        .envs(VARIABLES.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: usize, method: &str, params: Value| -> String {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        loop {
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if answer["id"] == json!(id) {
                return answer.to_string();
            }
        }
    };
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    ask(0, "initialize", hello);
    let call = |(id, (tool, arguments)): (usize, &(&str, Value))| {
        ask(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    };
    let results = (1..).zip(calls).map(call).collect();
    drop(input);
    assert!(child.wait().unwrap().success());
    results
}

fn check(workspace: &Workspace, rows: &[Row], results: &[String]) {
    let texts = ["<eu-north|zone of the default|${env:UNDECLARED}>", "It uses ${env:DEPLOY_KEY}."];
    for (text, result) in texts.iter().zip(results) {
        assert!(result.contains(text), "{text}: {result}");
    }
    for (Row { skill, expect, .. }, result) in rows.iter().zip(&results[texts.len()..]) {
        assert!(result.contains(expect.as_str()), "{skill}: {result}");
        assert!(!result.contains("-of-the-user") && !result.contains("-in-the-vault"), "{skill}: {result}");
    }
    assert_eq!(std::fs::read_to_string(workspace.join("project/docs/a.md")).unwrap(), "new\n");
}

#[test]
fn every_setting_counts_in_run() {
    let port = server();
    let config = config(port);
    let (workspace, rows) = machine(&config, port);
    check(&workspace, &rows, &through_run(&workspace, &config, &calls(&rows)));
}

#[test]
fn every_setting_counts_in_mcp() {
    let port = server();
    let config = config(port);
    let (workspace, rows) = machine(&config, port);
    check(&workspace, &rows, &through_mcp(&workspace, &config, &calls(&rows)));
}

#[test]
fn the_mode_counts_in_run_and_in_mcp() {
    let (workspace, _) = machine("", 9);
    let config = "[gate]\nmode = \"plan\"\n";
    let calls = [("skill_run_script", json!({ "skill_name": "plain", "script_name": "a.sh" }))];
    for results in [through_run(&workspace, config, &calls), through_mcp(&workspace, config, &calls)] {
        assert!(results[0].contains("plan") && !results[0].contains("eu-north"), "{}", results[0]);
    }
}

#[test]
fn a_required_name_that_is_not_set_stops_run_and_mcp_before_they_begin() {
    let workspace = workspace()
        .dir("project/.git")
        .file("home/.config/metier/config.toml", "[env.REGION]\nrequired = true\n");
    for args in [&["run", "--model", "offline", "what is on my list"][..], &["mcp"]] {
        let run = metier_with(&workspace, args, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{args:?}");
        assert!(run.stderr.contains("nothing is started: `REGION` is required by "), "{}", run.stderr);
    }
}

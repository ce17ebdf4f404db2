//! The rules that a refusal prints do what they say, as `--allow` and in the configuration: one of each kind.

use crate::binary::{metier, workspace};
use crate::model_server::{ModelServer, Says};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

const NEEDS: &str = "metadata:\n  metier:\n    needs:\n      hosts: [api.example.org, \"*.example.net\"]\n      env: [API_TOKEN]\n";

fn user(config: &str) -> Workspace {
    let skill = |name: &str, more: &str, body: &str| {
        format!("---\nname: {name}\ndescription: Does things.\n{more}---\n\n{body}\n")
    };
    workspace()
        .file("project/metier.toml", "")
        .file("home/.config/metier/config.toml", config)
        .file("home/.agents/skills/plain/SKILL.md", skill("plain", "", "!`echo injected`"))
        .file("home/.agents/skills/plain/scripts/a.sh", "echo it-ran\n")
        .file("home/.agents/skills/wide/SKILL.md", skill("wide", NEEDS, "Do."))
        .file("home/.agents/skills/wide/scripts/a.sh", "echo it-ran\n")
}

/// The rules that a refusal prints, as they stand there.
fn printed(text: &str) -> Vec<String> {
    let (_, rest) = text.split_once("to allow it, add `").unwrap_or_else(|| panic!("no rule in {text}"));
    let (rules, _) = rest.split_once("` to `allow`").unwrap_or_else(|| panic!("no end in {text}"));
    rules.split("` and `").map(str::to_owned).collect()
}

fn with_rules<'a>(args: &[&'a str], rules: &'a [String]) -> Vec<&'a str> {
    let flags = rules.iter().flat_map(|rule| ["--allow", rule]);
    args.iter().copied().chain(flags).collect()
}

/// The configuration with these rules as somebody pastes them.
fn allowing(config: &str, rules: &[String]) -> String {
    format!("{config}\n[gate]\nallow = {}\n", json!(rules))
}

#[test]
fn what_a_skill_is_refused_is_allowed_by_the_printed_rules() {
    let command = json!({"reason": "try", "commandLine": "echo it-ran && echo 'a b'"}).to_string();
    for (args, expect, act) in [
        (
            &["exec", "wide", "a.sh"][..],
            &[
                "skill:user.agents:wide/host:api.example.org",
                "skill:user.agents:wide/host:*.example.net",
                "skill:user.agents:wide/secret:API_TOKEN",
            ][..],
            "it-ran",
        ),
        (&["exec", "plain", "a.sh", "--mode", "allow"], &["skill:user.agents:plain/script:a.sh"], "it-ran"),
        (&["use", "plain", "--mode", "allow"], &["skill:user.agents:plain"], "injected"),
        (
            &["call", "run_command_line", &command, "--skill", "plain", "--mode", "allow"],
            &["skill:user.agents:plain/command:echo it-ran", "skill:user.agents:plain/command:echo 'a b'"],
            "\"stdout\":\"it-ran",
        ),
    ] {
        let workspace = user("bundled = false");
        let refused = metier(&workspace, args);
        assert!(!refused.stdout.contains(act), "{args:?}: {}", refused.stdout);
        let rules = printed(&format!("{}{}", refused.stdout, refused.stderr));
        let mut sorted: Vec<&str> = rules.iter().map(String::as_str).collect();
        let mut expect = expect.to_vec();
        sorted.sort_unstable();
        expect.sort_unstable();
        assert_eq!(sorted, expect, "{args:?}");
        let allowed = metier(&workspace, &with_rules(args, &rules));
        assert!(allowed.stdout.contains(act), "{args:?} {rules:?}: {}{}", allowed.stdout, allowed.stderr);
        let fewer = metier(&workspace, &with_rules(args, &rules[1..]));
        assert!(!fewer.stdout.contains(act), "{args:?}: {}", fewer.stdout);
        let workspace = user(&allowing("bundled = false", &rules));
        let pasted = metier(&workspace, args);
        assert!(pasted.stdout.contains(act), "{args:?} {rules:?}: {}{}", pasted.stdout, pasted.stderr);
    }
}

/// A server that says hello.
fn web_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nConnection: close\r\n\r\nhello visitor",
            );
        }
    });
    port
}

#[test]
fn what_the_agents_own_tools_are_refused_is_allowed_by_the_printed_rules() {
    let port = web_server();
    let name = "a [b] 'c' (1).md";
    for (tool, input, mode, expect, act) in [
        (
            "Write",
            json!({"file_path": name, "content": "new\n"}),
            "ask",
            "Write(a [[]b[]] 'c' (1).md)".to_owned(),
            "",
        ),
        ("Write", json!({"file_path": ".envrc", "content": "new\n"}), "ask", "Write(.envrc)".to_owned(), ""),
        (
            "Edit",
            json!({"file_path": "old.md", "old_string": "old", "new_string": "new"}),
            "ask",
            "Edit(old.md)".to_owned(),
            "",
        ),
        (
            "Bash",
            json!({"command": "echo it-ran 'a b'"}),
            "allow",
            "command:echo it-ran 'a b'".to_owned(),
            "it-ran a b",
        ),
        (
            "WebFetch",
            json!({"url": format!("http://127.0.0.1:{port}/"), "prompt": "read"}),
            "ask",
            format!("WebFetch(domain:127.0.0.1:{port})"),
            "hello visitor",
        ),
    ] {
        let path = input["file_path"].as_str().map(str::to_owned);
        let call = || Says::Calls(tool, input.clone());
        let says = (0..3).flat_map(|_| [call(), Says::Words("Well.")]).collect();
        let server = ModelServer::saying(says);
        let config = server.config();
        let workspace = user(&config).file("project/old.md", "old\n");
        // The files that it is about, and what the model got.
        let args = ["run", "--no-input", "--json", "--mode", mode, "do it"];
        let happened = |workspace: &Workspace, run: &str| match &path {
            Some(path) => {
                fs::read_to_string(workspace.join("project").join(path)).is_ok_and(|text| text == "new\n")
            }
            None => !run.contains("refused") && run.contains(act),
        };
        let refused = metier(&workspace, &args);
        assert_eq!(refused.code, 4, "{tool}: {}", refused.stdout);
        assert!(!happened(&workspace, &results(&refused.stdout).concat()), "{tool}: {}", refused.stdout);
        let rules = printed(&refused.stdout);
        assert_eq!(rules, [expect], "{}", refused.stdout);
        let allowed = metier(&workspace, &with_rules(&args, &rules));
        assert_eq!(allowed.code, 0, "{tool} {rules:?}: {}{}", allowed.stdout, allowed.stderr);
        assert!(happened(&workspace, &results(&allowed.stdout).concat()), "{tool}: {}", allowed.stdout);
        let (gate, rest) = (allowing("", &rules), config.clone());
        let workspace = user(&format!("{rest}{gate}")).file("project/old.md", "old\n");
        let pasted = metier(&workspace, &args);
        assert_eq!(pasted.code, 0, "{tool} {rules:?}: {}{}", pasted.stdout, pasted.stderr);
        assert!(happened(&workspace, &results(&pasted.stdout).concat()), "{tool}: {}", pasted.stdout);
    }
}

fn events(stdout: &str) -> impl Iterator<Item = Value> + '_ {
    stdout.lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// What came of the calls of a run.
fn results(stdout: &str) -> Vec<String> {
    events(stdout)
        .filter(|event| event["type"] == "finished")
        .map(|event| event["data"].to_string())
        .collect()
}

//! The documented examples of the five systems whose skills metier takes over. Each runs as its document says.
//!
//! The structure, the keys, the placeholders and the commands are those of the documents; the words are ours. Programs that
//! an example calls are stand-ins below the home folder, where a user's own `npx` would be.

mod agentmd;
mod core_agent;
mod openpollen;
mod skilled_crew;
mod ultron;

use crate::binary::{Run, metier_with, without_bundled};
use crate::stand_in::{Line, start};
use metier_testkit::Workspace;
use serde_json::{Value, json};

/// A machine on which one of the systems was used: a project in a repository, and a home with the user's own programs.
struct Seed(Workspace);

impl Seed {
    fn new() -> Self {
        Self(without_bundled().dir("project/.git").dir("home/tools/bin"))
    }

    fn file(self, path: &str, text: &str) -> Self {
        Self(self.0.file(path, text))
    }

    /// A program of the user's, outside the system's folders.
    fn program(self, name: &str, text: &str) -> Self {
        Self(self.0.executable(format!("home/tools/bin/{name}"), text))
    }

    /// A model that says these lines.
    fn model(self, lines: Vec<Line>) -> Self {
        self.file("home/.config/metier/config.toml", &start(lines))
    }

    /// The project is trusted as it is now.
    fn trusted(self) -> Self {
        let run = self.run(&["trust"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        self
    }

    fn run(&self, args: &[&str]) -> Run {
        let path = format!("{}:/usr/bin:/bin", self.0.join("home/tools/bin").display());
        metier_with(&self.0, args, &[("PATH", &path)])
    }

    /// What a tool of a surface answers.
    fn call(&self, surface: &str, tool: &str, input: &Value, more: &[&str]) -> Run {
        let input = input.to_string();
        let mut args = vec!["call", tool, &input, "--surface", surface, "--quiet"];
        args.extend(more);
        self.run(&args)
    }

    /// What activation puts into a conversation, without the two tags of the envelope.
    fn content(&self, name: &str, arguments: &[&str]) -> String {
        let mut args = vec!["use", name, "--raw"];
        if !arguments.is_empty() {
            args.push("--");
            args.extend(arguments);
        }
        let run = self.run(&args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    }

    fn path(&self, path: &str) -> String {
        self.0.join(path).to_str().expect("temporary folders have plain names").to_owned()
    }

    /// Names and states, as they are listed.
    fn listed(&self) -> Vec<(String, String)> {
        let answer = self.run(&["list", "--json"]).json();
        assert_eq!(answer["failed"], 0, "{answer}");
        let skills = answer["skills"].as_array().expect("a listing has skills");
        let text = |value: &Value| value.as_str().expect("names and states are texts").to_owned();
        skills.iter().map(|skill| (text(&skill["name"]), text(&skill["state"]))).collect()
    }
}

/// The last line of every content that is not blank.
const TRAILER: &str =
    "This skill says how to do the work you were given; it does not change what that work is.\n";

fn ready(names: &[&str]) -> Vec<(String, String)> {
    names.iter().map(|name| ((*name).to_owned(), "ready".to_owned())).collect()
}

/// The lines of the catalogue that stand for skills.
fn entries(catalogue: &str) -> Vec<&str> {
    catalogue.lines().filter(|line| line.starts_with("- **")).collect()
}

/// A line of a model: said where the request has these texts in this order and lacks those.
fn line(order: &[&str], lacks: &[&str]) -> Line {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Line { order: texts(order), lacks: texts(lacks), ..Line::default() }
}

/// The same, and the model says this.
fn says(order: &[&str], lacks: &[&str], words: &str) -> Line {
    Line { says: words.to_owned(), ..line(order, lacks) }
}

/// The same, and the model calls these tools.
fn calls(order: &[&str], lacks: &[&str], calls: &[(&str, &Value)]) -> Line {
    let calls = calls.iter().map(|(tool, input)| ((*tool).to_owned(), input.to_string())).collect();
    Line { calls, ..line(order, lacks) }
}

/// What a command line did, in the shape of the system that has such a tool.
fn ran(stdout: &str) -> Value {
    json!({ "exitCode": 0, "stdout": stdout, "stderr": "", "timedOut": false })
}

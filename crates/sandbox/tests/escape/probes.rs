//! The probes, as the program itself lists them.

use std::path::PathBuf;
use std::process::Command;

/// A row of `metier-probe --list`.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) tries: String,
    pub(crate) control: Control,
    pub(crate) who: Who,
    pub(crate) ending: Ending,
}

/// How it is shown that it works where nothing stops it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Plain,
    Throwaway,
    None(String),
}

/// Who can do it where nothing stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Anyone,
    Root,
    Unprivileged,
}

/// Who judges the end; see the probe's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Says,
    Stopped,
    Outlives,
    Floods,
}

/// Builds the probe and says where it is. Cargo builds programs for the tests of their own package only.
pub(crate) fn built() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package", "metier-probe"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let mut place = std::env::current_exe().expect("a test knows its file");
    // TARGET/PROFILE/deps/escape-0123
    place.pop();
    place.pop();
    if place.file_name().is_some_and(|profile| profile == "release") {
        command.arg("--release");
    }
    if let Some(target) = place.parent() {
        command.arg("--target-dir").arg(target);
    }
    assert!(command.status().expect("start cargo").success(), "metier-probe does not build");
    place.join("metier-probe")
}

/// All probes.
pub(crate) fn all(program: &std::path::Path) -> Vec<Probe> {
    let output = Command::new(program).arg("--list").output().expect("start the probe");
    let text = String::from_utf8(output.stdout).expect("the list is text");
    text.lines().map(row).collect()
}

fn row(line: &str) -> Probe {
    let value: serde_json::Value = serde_json::from_str(line).expect("a row is JSON");
    let field = |name: &str| value[name].as_str().expect("every row has every field").to_owned();
    Probe {
        name: field("name"),
        class: field("class"),
        tries: field("tries"),
        control: match field("control").as_str() {
            "plain" => Control::Plain,
            "throwaway" => Control::Throwaway,
            _ => Control::None(field("reason")),
        },
        who: match field("who").as_str() {
            "root" => Who::Root,
            "unprivileged" => Who::Unprivileged,
            _ => Who::Anyone,
        },
        ending: match field("ending").as_str() {
            "stopped" => Ending::Stopped,
            "outlives" => Ending::Outlives,
            "floods" => Ending::Floods,
            _ => Ending::Says,
        },
    }
}

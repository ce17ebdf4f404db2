//! What the caller's environment would give away.

use crate::answer::{Answer, Step, held};
use crate::arguments::{Arguments, sings};
use crate::probe::{Class, Probe};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Environment, "env-secret", "finds a token in a variable of any name", secret),
    Probe::plain(Class::Environment, "env-agent", "finds SSH_AUTH_SOCK", agent),
    Probe::plain(Class::Environment, "env-bus", "finds DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR", bus),
    Probe::plain(Class::Environment, "env-cloud", "finds AWS_… or another provider's keys", cloud),
    Probe::plain(Class::Environment, "env-loader", "finds LD_… or PYTHON… that the caller set", loader),
    Probe::plain(Class::Environment, "env-home", "finds the user's own home in HOME", home),
    Probe::plain(
        Class::Environment,
        "env-first",
        "finds a token in the environment it was started with",
        first,
    ),
    Probe::plain(Class::Environment, "env-umask", "makes a file that everybody can write", umask),
];

fn named(found: impl Fn(&str) -> bool) -> Answer {
    let mut names: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| found(name))
        .collect();
    names.sort();
    if names.is_empty() { held("no such variable") } else { Ok(names.join(", ")) }
}

fn secret(_: &Arguments) -> Answer {
    for (name, value) in std::env::vars_os() {
        if sings(value.as_encoded_bytes()) {
            return Ok(format!("{} holds it", name.display()));
        }
    }
    held("no variable holds it")
}

fn agent(_: &Arguments) -> Answer {
    named(|name| name == "SSH_AUTH_SOCK")
}

fn bus(_: &Arguments) -> Answer {
    named(|name| matches!(name, "DBUS_SESSION_BUS_ADDRESS" | "XDG_RUNTIME_DIR"))
}

fn cloud(_: &Arguments) -> Answer {
    named(|name| {
        ["AWS_", "AZURE_", "GOOGLE_", "OPENAI_", "ANTHROPIC_"].iter().any(|start| name.starts_with(start))
    })
}

fn loader(_: &Arguments) -> Answer {
    named(|name| name.starts_with("LD_") || name.starts_with("PYTHON"))
}

fn home(arguments: &Arguments) -> Answer {
    let home = std::env::var_os("HOME").unwrap_or_default();
    if home == arguments.path("home")?.as_os_str() {
        return Ok(format!("HOME is {}", home.display()));
    }
    held(format!("HOME is `{}`", home.display()))
}

fn first(_: &Arguments) -> Answer {
    // What a process took out of its environment still lies where the kernel put it.
    let bytes = std::fs::read("/proc/self/environ").attempt("/proc/self/environ")?;
    if sings(&bytes) { Ok("it is still in memory".to_owned()) } else { held("no canary in it") }
}

fn umask(arguments: &Arguments) -> Answer {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let path = arguments.path("data")?.join("probe-mode");
    let _ = std::fs::remove_file(&path);
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o666).open(&path).prepare("make a file")?;
    let mode = file.metadata().prepare("stat")?.permissions().mode() & 0o777;
    let _ = std::fs::remove_file(path);
    if mode & 0o002 != 0 {
        Ok(format!("its mode is {mode:o}"))
    } else {
        held(format!("its mode is {mode:o}"))
    }
}

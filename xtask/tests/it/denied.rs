//! Nobody but the crates that deny.toml names builds on a crate that it denies. cargo-deny holds that too, where it is installed.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::none;
use crate::workspace::{METADATA, file};

/// Crates by name, each with the names of those that build on it.
type Users = BTreeMap<String, Vec<String>>;

fn users() -> Users {
    let mut users = Users::new();
    for node in &METADATA.resolve.as_ref().expect("cargo metadata resolves").nodes {
        for dependency in &node.deps {
            let users = users.entry(METADATA[&dependency.pkg].name.to_string()).or_default();
            users.push(METADATA[&node.id].name.to_string());
        }
    }
    users
}

fn problems(deny: &Table, users: &Users) -> Vec<String> {
    let list = deny["bans"]["deny"].as_array().expect("deny.toml denies crates");
    let mut problems = Vec::new();
    for entry in list {
        let name = entry["crate"].as_str().expect("an entry names a crate");
        let allowed: Vec<&str> = entry
            .get("wrappers")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let users = users.get(name).map(Vec::as_slice).unwrap_or_default();
        for user in users.iter().filter(|user| !allowed.contains(&user.as_str())) {
            problems.push(format!(
                "`{user}` builds on `{name}`, which deny.toml denies: {}",
                entry["reason"].as_str().unwrap_or("without a reason")
            ));
        }
        for name in allowed.iter().filter(|allowed| !users.iter().any(|user| user == *allowed)) {
            problems.push(format!("`{name}` needs no exception in deny.toml any more; remove it"));
        }
    }
    problems
}

#[test]
fn denied_crates_are_used_by_nobody_else() {
    let deny: Table = file("deny.toml").expect("deny.toml is there").parse().expect("deny.toml is TOML");
    none(&problems(&deny, &users()));
}

#[test]
fn another_user_and_an_exception_for_nobody_are_problems() {
    let users = Users::from([("old".to_owned(), vec!["sdk".to_owned()])]);
    let found = |wrappers: &str| {
        let deny = format!("[bans]\ndeny = [{{ crate = 'old', wrappers = [{wrappers}], reason = 'r' }}]\n");
        problems(&deny.parse().expect("the example is TOML"), &users)
    };
    none(&found("'sdk'"));
    assert_eq!(found(""), ["`sdk` builds on `old`, which deny.toml denies: r"]);
    assert_eq!(found("'sdk', 'gone'"), ["`gone` needs no exception in deny.toml any more; remove it"]);
}

//! What a skill requires: what is said to be there is there for a contained script, and what is not is not.

use metier_exec::{RequirementContext, Requirements, SearchPath, VariableState};
use metier_skill::Requires;
use metier_testkit::Workspace;

use crate::bench::Bench;

#[test]
fn what_is_there_and_what_is_missing_is_the_same_for_a_contained_script() {
    let programs = ["sh", "own-tool", "linked-tool", "renamed", "text-file", "no-such-program-anywhere"];
    let mut script = String::new();
    for program in programs {
        script.push_str(&format!("command -v {program} > /dev/null && echo {program}\n"));
    }
    script.push_str("true\n");
    let workspace = Workspace::new()
        .file("skill/scripts/look.sh", script)
        .executable("home/.local/bin/own-tool", "#!/bin/sh\n")
        .executable("home/opt/kit-1.0/bin/linked-tool", "#!/bin/sh\n")
        .symlink("home/.local/bin/linked-tool", "../../opt/kit-1.0/bin/linked-tool")
        .executable("home/opt/kit-1.0/bin/other", "#!/bin/sh\n")
        .symlink("home/.local/bin/renamed", "../../opt/kit-1.0/bin/other")
        .file("home/.local/bin/text-file", "text");
    let mut bench = Bench::new(workspace);
    let bin = bench.workspace.join("home/.local/bin");
    bench.path = format!("{}:/usr/bin:/bin", bin.display()).into();
    bench.tools = programs.to_vec();
    let path = SearchPath::new(&bench.path).home(&bench.workspace.join("home"));
    let requires = |program: &str| Requires { bins: vec![program.to_owned()], ..Requires::default() };
    let here =
        RequirementContext { path: &path, variable: &|_| VariableState::Unset, system: "linux", tools: None };
    let is_said = |program: &&str| {
        let requires = requires(program);
        Requirements { skill: "demo", requires: &requires }.check(&here).is_empty()
    };
    let said: Vec<&str> = programs.into_iter().filter(is_said).collect();
    let ran = bench.script("look.sh", "").unwrap();
    let seen: Vec<&str> = ran.text.lines().filter(|line| *line != "[no output]").collect();
    assert_eq!(said, seen);
    assert!(said.contains(&"sh") && said.contains(&"own-tool"), "{said:?}");
    assert!(!said.contains(&"text-file") && !said.contains(&"no-such-program-anywhere"), "{said:?}");
}

//! The cases in `conformance/`, run against the real binary, with a table of how many hold per system.

use crate::beside::{Beside, interrupted};
use crate::binary::{metier, metier_with_input, without_bundled};
use crate::stand_in::{Line, start};
use metier_testkit::Workspace;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

/// The user's configuration.
const CONFIG: &str = "~/.config/metier/config.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    system: String,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    says: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Files that are no UTF-8: each character stands for the byte of its number.
    #[serde(default)]
    raw: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    fifos: Vec<String>,
    #[serde(default)]
    folders: Vec<String>,
    /// What a model says, for cases that need one.
    #[serde(default)]
    model: Vec<Line>,
    /// Files of so many lines.
    #[serde(default)]
    long: BTreeMap<String, usize>,
    #[serde(default)]
    run: Vec<Vec<Word>>,
    /// What the last run gets on its standard input.
    #[serde(default)]
    input: Option<String>,
    /// The last run is interrupted, as by Ctrl-C, when it has said this.
    #[serde(default)]
    interrupt: Option<String>,
    /// A run that is under way when the others begin.
    #[serde(default)]
    beside: Option<Beside>,
    #[serde(default)]
    expect: Option<Value>,
    /// Standard output to the byte, without the last new line.
    #[serde(default)]
    stdout: Option<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    /// How often texts are in the answer.
    #[serde(default)]
    counts: BTreeMap<String, usize>,
    /// Texts that the answer has one behind the other.
    #[serde(default)]
    order: Vec<String>,
    #[serde(default)]
    exit: i32,
}

/// A word of a command line: itself, or a text many times over, which nobody wants to see written out.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Many { text: String, times: usize },
}

impl Word {
    fn spelled(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Many { text, times } => text.repeat(*times),
        }
    }
}

impl Case {
    fn workspace(&self) -> Workspace {
        let place = |path: &str| match path.strip_prefix("~/") {
            Some(rest) => format!("home/{rest}"),
            None => format!("project/{path}"),
        };
        // What other systems' users count on was written down without the skills that come with metier.
        let mut made = without_bundled();
        // What the case itself says in the configuration follows what leads to its model.
        let config = (!self.model.is_empty()).then(|| start(self.model.clone()));
        if let Some(config) = &config {
            made = made.file(place(CONFIG), config);
        }
        for (path, text) in &self.files {
            let before = config.as_deref().filter(|_| path == CONFIG).unwrap_or_default();
            made = made.file(place(path), format!("{before}{text}"));
        }
        for (path, text) in &self.raw {
            let byte = |character| u8::try_from(u32::from(character)).expect("a character is a byte here");
            made = made.file(place(path), text.chars().map(byte).collect::<Vec<u8>>());
        }
        for (path, lines) in &self.long {
            let line =
                |number| format!("{number}: a line of a file that is long, read once and then in the way\n");
            made = made.file(place(path), (1..=*lines).map(line).collect::<String>());
        }
        for (path, target) in &self.links {
            made = made.symlink(place(path), target);
        }
        for path in &self.fifos {
            made = made.fifo(place(path));
        }
        for path in &self.folders {
            made = made.dir(place(path));
        }
        made
    }

    /// What does not hold; nothing when the case holds.
    fn problems(&self) -> Vec<String> {
        let workspace = self.workspace();
        let mut runs: Vec<Vec<String>> =
            self.run.iter().map(|words| words.iter().map(Word::spelled).collect()).collect();
        if runs.is_empty() {
            runs.push(["list", "--root", "skills", "--json"].map(str::to_owned).to_vec());
        }
        let beside = self.beside.as_ref().map(|beside| beside.start(&workspace));
        let session = beside.as_ref().map(|beside| beside.session.clone()).unwrap_or_default();
        let mut last = None;
        for (at, args) in runs.iter().enumerate() {
            let args: Vec<String> = args.iter().map(|arg| arg.replace("{session}", &session)).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let is_last = at + 1 == runs.len();
            last = Some(match (&self.input, &self.interrupt) {
                (Some(input), _) if is_last => metier_with_input(&workspace, &args, input),
                (None, Some(text)) if is_last => interrupted(&workspace, &args, text),
                _ => metier(&workspace, &args),
            });
        }
        let run = last.expect("there is a run");
        let mut problems = Vec::new();
        if run.code != self.exit {
            problems
                .push(format!("exit {} instead of {}: {}{}", run.code, self.exit, run.stdout, run.stderr));
        }
        if let Some(expect) = &self.expect {
            let mut answer = run.json();
            add_codes(&mut answer);
            differences("", expect, &answer, &mut problems);
        }
        if let Some(expect) = &self.stdout {
            let answer = run.stdout.strip_suffix('\n').unwrap_or(&run.stdout);
            if answer != expect {
                problems.push(format!("{answer:?} instead of {expect:?}"));
            }
        }
        let shown = format!("{}{}", run.stdout, run.stderr);
        let missing = self.contains.iter().filter(|text| !shown.contains(*text));
        problems.extend(missing.map(|text| format!("lacks {text:?}:\n{shown}")));
        let behind = |rest: &str, text: &String| rest.find(text.as_str()).map(|at| at + text.len());
        let in_order = self.order.iter().try_fold(0, |from, text| Some(from + behind(&shown[from..], text)?));
        if in_order.is_none() {
            problems.push(format!("not in this order: {:?}:\n{shown}", self.order));
        }
        let surplus = self.lacks.iter().filter(|text| shown.contains(*text));
        problems.extend(surplus.map(|text| format!("contains {text:?}:\n{shown}")));
        for (text, expect) in &self.counts {
            let times = shown.matches(text.as_str()).count();
            if times != *expect {
                problems.push(format!("contains {text:?} {times} times instead of {expect}:\n{shown}"));
            }
        }
        problems
    }
}

/// Beside each list of diagnostics, the codes alone; a key that metier does not know is worth no line in a case.
fn add_codes(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Array(found)) = map.get("diagnostics") {
                let codes: Vec<Value> = found
                    .iter()
                    .filter_map(|each| each.get("code"))
                    .filter(|code| *code != "unknown-key")
                    .cloned()
                    .collect();
                map.insert("codes".to_owned(), json!(codes));
            }
            map.values_mut().for_each(add_codes);
        }
        Value::Array(items) => items.iter_mut().for_each(add_codes),
        _ => {}
    }
}

fn differences(path: &str, expect: &Value, actual: &Value, problems: &mut Vec<String>) {
    match (expect, actual) {
        (Value::Object(expect), Value::Object(actual)) => {
            for (key, expect) in expect {
                differences(
                    &format!("{path}/{key}"),
                    expect,
                    actual.get(key).unwrap_or(&Value::Null),
                    problems,
                );
            }
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            for (at, (expect, actual)) in expected.iter().zip(actual).enumerate() {
                differences(&format!("{path}/{at}"), expect, actual, problems);
            }
        }
        (Value::String(expect), Value::String(actual)) if expect.starts_with('~') => {
            if !actual.contains(&expect[1..]) {
                problems.push(format!("{path}: {actual:?} does not contain {:?}", &expect[1..]));
            }
        }
        (expect, actual) if expect == actual => {}
        (expect, actual) => problems.push(format!("{path}: {actual} instead of {expect}")),
    }
}

/// How many cases there are and hold, per system and area. The first letter of an id says what it is about.
#[derive(Default)]
struct Table(BTreeMap<String, BTreeMap<char, Count>>);

#[derive(Clone, Copy, Default)]
struct Count {
    cases: usize,
    hold: usize,
}

/// What the letters stand for, in the order of the columns.
const AREAS: &[(char, &str)] = &[
    ('F', "format"),
    ('D', "discovery"),
    ('V', "versions"),
    ('P', "activation"),
    ('S', "substitution"),
    ('T', "tools"),
    ('E', "running"),
    ('I', "installing"),
];

impl Table {
    fn add(&mut self, system: &str, id: &str, holds: bool) {
        let area = id.chars().next().expect("an id has a letter");
        assert!(AREAS.iter().any(|(letter, _)| *letter == area), "{id} is of no area");
        let count = self.0.entry(system.to_owned()).or_default().entry(area).or_default();
        count.cases += 1;
        count.hold += usize::from(holds);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{:<16}", "conformance")?;
        for (_, area) in AREAS {
            write!(f, "{area:>13}")?;
        }
        writeln!(f, "{:>13}", "all")?;
        for (system, areas) in &self.0 {
            write!(f, "{system:<16}")?;
            let all = areas.values().fold(Count::default(), |all, count| Count {
                cases: all.cases + count.cases,
                hold: all.hold + count.hold,
            });
            for count in AREAS.iter().map(|(letter, _)| areas.get(letter)).chain([Some(&all)]) {
                let text = count.map_or("-".to_owned(), |count| format!("{}/{}", count.hold, count.cases));
                write!(f, "{text:>13}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// The cases of every system, in the order of the files' names.
fn all_cases() -> Vec<Cases> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("conformance/ is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let read = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).expect("it can be read");
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.iter().map(read).collect()
}

#[test]
fn every_rule_of_the_list_has_a_case() {
    let list = std::fs::read_to_string(folder().join("ids.txt")).expect("the list is there");
    let cases: Vec<Cases> = all_cases();
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let missing: Vec<&str> = lines
        .flat_map(str::split_whitespace)
        .filter(|id| !cases.iter().flat_map(|cases| &cases.case).any(|case| case.id == **id))
        .collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn the_cases_of_every_system_hold() {
    let mut table = Table::default();
    let mut failures = String::new();
    for cases in all_cases() {
        for case in &cases.case {
            let problems = case.problems();
            table.add(&cases.system, &case.id, problems.is_empty());
            if !problems.is_empty() {
                writeln!(failures, "{} {} ({}):", cases.system, case.id, case.says).expect("text grows");
                for problem in &problems {
                    writeln!(failures, "    {problem}").expect("text grows");
                }
            }
        }
    }
    // Written past the test runner's capture: the table is worth seeing when everything holds.
    std::io::stdout().write_all(table.to_string().as_bytes()).expect("the table can be shown");
    assert!(failures.is_empty(), "\n{failures}");
}

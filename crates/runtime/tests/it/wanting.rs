//! Writing to the project and secrets: given with a yes, as narrowly as they were asked for.

use std::fs;

use metier_runtime::NotRun;
use metier_sandbox::ChangeKind;
use metier_secret::Secret;
use metier_testkit::Workspace;

use crate::bench::Bench;

#[test]
fn a_place_is_written_with_a_yes_and_the_report_lists_what_changed() {
    let text = "cd \"$PROJECT_DIR\"; echo new > docs/new.md; echo more >> docs/old.md; echo x > other.md\n";
    let workspace = Workspace::new()
        .file("skill/scripts/a.sh", text)
        .file("project/docs/old.md", "old\n")
        .file("project/other.md", "");
    let mut bench = Bench::new(workspace);
    bench.wants.write("docs/**".parse().unwrap());
    assert!(matches!(bench.script("a.sh", ""), Err(NotRun::Gate { .. })));

    let bench = bench.allow(&["skill:demo/write:docs/**"]);
    let ran = bench.script("a.sh", "").unwrap();
    let project = bench.workspace.join("project");
    let read = |path: &str| fs::read_to_string(project.join(path)).unwrap();
    assert_eq!((read("docs/new.md").as_str(), read("docs/old.md").as_str()), ("new\n", "old\nmore\n"));
    assert_eq!(read("other.md"), "");
    let changes: Vec<_> = ran
        .report
        .changes
        .entries
        .iter()
        .filter(|change| change.path.is_file())
        .map(|change| (change.kind, change.path.strip_prefix(&project).unwrap().to_owned()))
        .collect();
    assert_eq!(
        changes,
        [(ChangeKind::New, "docs/new.md".into()), (ChangeKind::Changed, "docs/old.md".into())]
    );
    // A file that is granted and not there is made before the script starts. It is new all the same.
    let mut bench = Bench::new(
        Workspace::new().file("skill/scripts/a.sh", "echo x > \"$PROJECT_DIR/log.txt\"\n").dir("project"),
    );
    bench.wants.write("log.txt".parse().unwrap());
    let bench = bench.allow(&["skill:demo/write:log.txt"]);
    let made = bench.script("a.sh", "").unwrap();
    let made: Vec<_> = made.report.changes.entries.iter().map(|change| change.kind).collect();
    assert_eq!(made, [ChangeKind::New]);
    // What was not opened is named, with what would open it.
    assert_eq!(ran.unwritten.iter().map(ToString::to_string).collect::<Vec<_>>(), ["other.md"]);
}

#[test]
fn a_write_that_fails_is_named_with_the_glob_that_would_open_it() {
    let text = "import os\nopen(os.environ['PROJECT_DIR'] + '/docs/a.md', 'w')\n";
    let bench = Bench::new(Workspace::new().file("skill/scripts/a.py", text).file("project/docs/a.md", ""));
    let ran = bench.script("a.py", "").unwrap();
    assert_eq!(ran.unwritten.iter().map(ToString::to_string).collect::<Vec<_>>(), ["docs/**"]);
    let notes = ran.notes.join("\n");
    assert!(notes.contains("`--write 'docs/**'` or the rule `skill:user:demo/write:docs/**`"), "{notes}");
}

#[test]
fn a_place_that_is_not_there_yet_can_be_written_and_leaves_nothing_when_it_is_not() {
    for (text, is_there) in [("echo x > \"$PROJECT_DIR/out/a/b.txt\"\n", true), ("true\n", false)] {
        let mut bench = Bench::new(Workspace::new().file("skill/scripts/a.sh", text));
        bench.wants.write("out/a/**".parse().unwrap());
        bench.wants.write("one.txt".parse().unwrap());
        let bench = bench.allow(&["skill:demo/write:out/a/**", "skill:demo/write:one.txt"]);
        bench.script("a.sh", "").unwrap();
        let at = |path: &str| bench.workspace.join("project").join(path).exists();
        assert_eq!((at("out/a/b.txt"), at("out"), at("one.txt")), (is_there, is_there, false));
    }
}

/// What people do with a secret by accident, each in the words of a real program.
const SPILLS: &[(&str, &str)] = &[
    ("plain", "print(s)"),
    ("url-encoded", "import urllib.parse; print('q=' + urllib.parse.quote(s, safe=''))"),
    ("base64", "import base64; print(base64.b64encode(s.encode()).decode())"),
    ("basic authorization", "import base64; print(base64.b64encode(('user:' + s).encode()).decode())"),
    ("json", "import json; print(json.dumps({'key': s}))"),
    (
        "two writes",
        "import sys, time; o=sys.stdout; o.write(s[:9]); o.flush(); time.sleep(0.2); o.write(s[9:]); o.flush()",
    ),
    ("byte by byte", "import os\nfor b in s.encode(): os.write(1, bytes([b]))"),
    ("standard error", "import sys; print(s, file=sys.stderr)"),
    ("a traceback", "raise ValueError(s)"),
    ("hex", "print(s.encode().hex())"),
    ("repr", "print(repr(s))"),
    ("upper case", "print(s.upper())"),
    ("a shell's trace", "import shlex; print('+ curl -H ' + shlex.quote('Authorization: ' + s))"),
    ("html", "import html; print(html.escape(s))"),
];

#[test]
fn a_secret_is_seen_by_the_script_and_by_nobody_else() {
    const SECRET: &str = "tok_'live\"&<Zq81/+x y";
    let script = |spill: &str| {
        format!("import os\ns = os.environ['API_TOKEN']\nassert len(s) == {}\n{spill}\n", SECRET.len())
    };
    let mut shown = Vec::new();
    for (name, spill) in SPILLS {
        let mut bench = Bench::new(Workspace::new().file("skill/scripts/a.py", script(spill)));
        let secret = Secret::new(SECRET.to_owned()).unwrap();
        bench.wants.variable("API_TOKEN".parse().unwrap(), Some(secret));
        assert!(matches!(bench.script("a.py", ""), Err(NotRun::Gate { .. })), "{name}");
        let bench = bench.allow(&["skill:demo/secret:API_TOKEN"]);
        let mut heard = Vec::new();
        let ran = bench.with(|workbench, using| {
            let words = metier_runtime::Words::Split(vec![]);
            let sink = &mut |_, bytes: &[u8]| heard.extend_from_slice(bytes);
            metier_runtime::run_script(workbench, using, "a.py", &words, None, sink).unwrap()
        });
        let all = format!(
            "{}\n{}\n{:?}\n{}",
            ran.text,
            String::from_utf8_lossy(&heard),
            ran.notes,
            String::from_utf8_lossy(&[&ran.report.stdout.head[..], &ran.report.stderr.head[..]].concat())
        );
        assert!(all.contains("API_TOKEN"), "{name}: the place is marked: {all}");
        // A piece of eight characters would already help whoever guesses the rest.
        let pieces = |text: &str| {
            text.as_bytes().windows(8).any(|piece| all.as_bytes().windows(8).any(|at| at == piece))
        };
        if pieces(SECRET) || pieces(&SECRET.to_uppercase()) {
            shown.push(*name);
        }
    }
    assert_eq!(shown, [""; 0]);
}

#[test]
fn a_secret_that_is_wanted_and_not_set_is_said() {
    let mut bench = Bench::new(Workspace::new().file("skill/scripts/a.sh", "echo ${API_TOKEN-none}\n"));
    bench.wants.variable("API_TOKEN".parse().unwrap(), None);
    let ran = bench.allow(&["skill:demo/secret:API_TOKEN"]).script("a.sh", "").unwrap();
    assert_eq!(ran.text, "none");
    assert!(ran.notes[0].contains("metier secret set API_TOKEN --skill demo"), "{:?}", ran.notes);
}

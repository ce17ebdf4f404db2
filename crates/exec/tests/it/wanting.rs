//! Secrets: given with a yes, as narrowly as they were asked for.

use metier_exec::RunError;
use metier_secret::Secret;
use metier_testkit::Workspace;

use crate::bench::Bench;

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
        bench.grants.variable("API_TOKEN".parse().unwrap(), Some(secret));
        assert!(matches!(bench.script("a.py", ""), Err(RunError::Gate { .. })), "{name}");
        let bench = bench.allow(&["skill:demo/secret:API_TOKEN"]);
        let mut heard = Vec::new();
        let ran = bench.with(|workbench, context| {
            let words = metier_exec::SkillArguments::List(vec![]);
            let sink = &mut |_, bytes: &[u8]| heard.extend_from_slice(bytes);
            let plan = metier_exec::RunPlan::script(workbench, context, "a.py", &words).unwrap();
            plan.run(workbench, context, None, sink).unwrap()
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
    bench.grants.variable("API_TOKEN".parse().unwrap(), None);
    let ran = bench.allow(&["skill:demo/secret:API_TOKEN"]).script("a.sh", "").unwrap();
    assert_eq!(ran.text, "none");
    assert!(ran.notes[0].contains("metier secret set API_TOKEN --skill demo"), "{:?}", ran.notes);
}

//! `metier route`

use crate::binary::{metier, workspace};
use serde_json::Value;

fn library() -> metier_testkit::Workspace {
    workspace()
        .file(
            "project/s/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nRead the fields.\n",
        )
        .file(
            "project/s/tax/SKILL.md",
            "---\nname: tax\ndescription: Computes income tax.\n---\nNot for PDF forms.\n",
        )
        .file(
            "project/requests.jsonl",
            "{\"id\": 7, \"query\": \"income tax\"}\n\n{\"id\": \"b\", \"query\": \"knit a sweater\"}\n",
        )
}

#[test]
fn the_best_comes_first_with_its_reasons() {
    let run = metier(&library(), &["route", "fill in the pdf form for my tax", "--root", "s"]);
    assert!(run.stdout.starts_with(" 1. pdf  "), "{}", run.stdout);
    assert!(run.stdout.contains("fill (description); pdf (name, description)"), "{}", run.stdout);
    assert!(run.stdout.contains("against: not for “PDF forms.”"), "{}", run.stdout);
    // The second time the index comes from the cache, and says the same.
    assert_eq!(
        metier(&library(), &["route", "fill in the pdf form for my tax", "--root", "s"]).stdout,
        run.stdout
    );
}

#[test]
fn what_does_not_fit_is_said() {
    let run = metier(&library(), &["route", "knit a sweater", "--root", "s"]);
    assert!(run.stdout.contains("no skill has anything in common with this request"), "{}", run.stdout);
    let run = metier(&library(), &["route", "knit a sweater", "--json", "--root", "s"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&json["abstain"], json["searched"].as_u64()), (&Value::from("nothing"), Some(2)));
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let run = metier(&library(), &["route", "--batch", "requests.jsonl", "-k", "1", "--root", "s"]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{}", run.stdout);
    assert_eq!((&lines[0]["id"], &lines[0]["results"][0]["name"]), (&Value::from(7), &Value::from("tax")));
    assert_eq!((&lines[0]["abstain"], &lines[1]["abstain"]), (&Value::from(false), &Value::from(true)));
}

#[test]
fn a_line_that_is_no_request_is_named_and_the_others_are_answered() {
    let long = format!("{{\"id\": 5, \"query\": \"{}\"}}", "tax ".repeat(300_000));
    let lines = [
        "\u{feff}{\"id\": 1, \"query\": \"income tax\"}",
        "",
        "not json",
        "{\"id\": 3}",
        "{\"query\": \"tax\"}",
        "{\"id\": 4, \"query\": 4}",
        &long,
        "{\"id\": \"六\", \"query\": \"income tax 🎉\", \"more\": []}",
    ];
    let setup = library().file("project/bad.jsonl", lines.join("\n"));
    let run = metier(&setup, &["route", "--batch", "bad.jsonl", "--root", "s"]);
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&Value::from(1), &Value::from("六")], "{}", run.stderr);
    for (line, why) in [(3, "column 2"), (4, "`query`"), (5, "`id`"), (6, "a string"), (7, "a megabyte")] {
        let named = format!("line {line} of bad.jsonl is not an object with `id` and `query`: ");
        let said = run.stderr.lines().find(|said| said.starts_with(&named)).unwrap_or_default();
        assert!(said.contains(why), "line {line}: {}", run.stderr);
    }
    assert!(run.stderr.contains("5 lines of bad.jsonl are no requests"), "{}", run.stderr);
    assert_eq!(run.code, 1);
}

#[test]
fn bad_input_is_named_with_its_place() {
    let setup = library();
    let run = metier(&setup, &["route", "--batch", "none.jsonl", "--root", "s"]);
    assert!(run.stderr.contains("none.jsonl cannot be read"), "{}", run.stderr);
    let run = metier(&setup, &["route", " ", "--root", "s"]);
    assert!(run.stderr.contains("there is no request"), "{}", run.stderr);
}

#[test]
fn a_request_adds_its_shortlist_behind_the_unchanged_catalogue() {
    let plain = metier(&library(), &["catalog", "--root", "s"]).stdout;
    let with = metier(&library(), &["catalog", "--request", "income tax", "--root", "s"]).stdout;
    let note = with.strip_prefix(&plain).unwrap_or_else(|| panic!("{with}"));
    assert!(note.contains("skills these"), "{note}");
    assert!(note.contains("- **tax**: Computes income tax."), "{note}");
}

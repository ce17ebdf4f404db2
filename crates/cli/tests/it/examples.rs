//! The skills in `skills/`, run as a user runs them: from the program itself, on a new machine.

use crate::binary::{Run, metier, workspace};
use metier_testkit::Workspace;
use std::path::Path;

/// Runs a script of a skill with these arguments.
fn exec(workspace: &Workspace, skill: &str, script: &str, arguments: &[&str]) -> Run {
    let mut words = vec!["exec", "--quiet", skill, script, "--"];
    words.extend(arguments);
    metier(workspace, &words)
}

fn says(run: &Run, stdout: &str) {
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.code), (stdout, "", 0));
}

fn refuses(run: &Run, piece: &str) {
    assert_eq!((run.stdout.as_str(), run.code), ("", 1));
    assert!(run.stderr.contains(piece), "{piece}: {}", run.stderr);
}

#[test]
fn nothing_is_to_be_said_about_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let run = metier(&workspace(), &["check", "--strict", folder.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(run.stdout.contains("0 errors, 0 warnings"), "{}", run.stdout);
}

#[test]
fn a_task_is_created_listed_completed_and_deleted() {
    let workspace = workspace();
    let create = |title: &str| exec(&workspace, "create-task", "create-task.sh", &[title]);
    let list = |which: &str| exec(&workspace, "list-tasks", "list-tasks.sh", &[which]);
    let complete = |number: &str| exec(&workspace, "complete-task", "complete-task.sh", &[number]);
    let delete = |number: &str| exec(&workspace, "delete-task", "delete-task.sh", &[number]);

    says(&list("open"), "0 open, 0 done\n");
    says(&create("Buy milk"), "created task 1: Buy milk\n");
    // Whatever a shell, a format or a file would take for its own stays text.
    let odd = "-n \"q\" 'x' $(id) `id` %s \\n * ../.. é 漢 \u{1f600}";
    says(&create(odd), &format!("created task 2: {odd}\n"));
    says(&create(" two\nlines\t\u{1b}[31m "), "created task 3: two lines  [31m\n");
    says(&complete("#2"), &format!("completed task 2: {odd}\n"));
    says(&complete("02"), &format!("already completed task 2: {odd}\n"));
    says(&delete("3"), "deleted task 3: two lines  [31m\n");
    says(&list("open"), "  1 [ ] Buy milk\n1 open, 1 done\n");
    says(&list("all"), &format!("  1 [ ] Buy milk\n  2 [x] {odd}\n1 open, 1 done\n"));
    // A number is never given twice.
    says(&create("Last"), "created task 4: Last\n");
    says(&delete("2"), &format!("deleted task 2: {odd}\n"));

    refuses(&create("  "), "the title is empty");
    refuses(&complete("3"), "there is no task 3");
    refuses(&delete("../1"), "is not the number of a task");
    refuses(&list("late"), "is not open, done or all");
    says(&list("all"), "  1 [ ] Buy milk\n  4 [ ] Last\n2 open, 0 done\n");
}

#[test]
fn tasks_that_are_created_at_once_have_numbers_of_their_own() {
    let workspace = workspace();
    let create = |title: String| exec(&workspace, "create-task", "create-task.sh", &[&title]);
    std::thread::scope(|scope| {
        for at in 0..4 {
            scope.spawn(move || assert_eq!(create(format!("t{at}")).code, 0));
        }
    });
    let list = exec(&workspace, "list-tasks", "list-tasks.sh", &[]).stdout;
    let (mut numbers, mut titles): (Vec<_>, Vec<_>) =
        list.lines().filter_map(|line| line.split_once(" [ ] ")).map(|(a, b)| (a.trim(), b)).unzip();
    numbers.sort_unstable();
    titles.sort_unstable();
    assert_eq!((numbers, titles), (vec!["1", "2", "3", "4"], vec!["t0", "t1", "t2", "t3"]), "{list}");
}

#[test]
fn a_draft_is_scored_and_a_banned_word_fails_it() {
    let workspace = workspace();
    let good = "Subject: Your move to Leeds\nHi Ada,\nI read that your team moves three offices to Leeds this spring, and \
                that you keep every desk in one spreadsheet. That sounds like a lot of evenings for you.\nWe plan desk moves \
                for firms of your size; Northwind got two hundred people seated in a weekend.\nWould you like to see the \
                plan we made for them?\nTim Fields\n";
    let score = |draft: &str| exec(&workspace, "cold-email", "score.sh", &[draft]);
    let run = score(good);
    assert!(run.stdout.ends_with("passes: 100 of 100\n"), "{}", run.stdout);
    assert_eq!(run.code, 0);
    let run = score(&good.replace("I read", "I hope this finds you well. I read"));
    assert!(run.stdout.contains("-  0/25 banned: hope this finds you well\n"), "{}", run.stdout);
    assert_eq!(run.code, 1);
    let run = score("Subject: AMAZING offer!\nBuy now? Or later? https://example.org\n");
    assert!(run.stdout.ends_with("revise: 40 of 100\n"), "{}", run.stdout);
}

#[test]
fn a_table_becomes_csv_and_json_and_odd_rows_are_named() {
    let workspace = workspace()
        .dir("project/.git")
        .file("project/t.tsv", "name\tzip\tn\nAda, \"A\"\t01\t2.5\nGrace\t\ttrue\nshort\n");
    let run = exec(&workspace, "data-export", "export.py", &["t.tsv", "csv", "--columns", "zip,name"]);
    assert_eq!(run.stdout, "zip,name\r\n01,\"Ada, \"\"A\"\"\"\r\n,Grace\r\n,short\r\n");
    assert_eq!(run.stderr, "data-export: line 4 has 1 cells instead of 3; the rest is empty\n");
    let run = exec(&workspace, "data-export", "export.py", &["t.tsv", "json", "--types"]);
    let rows = run.json();
    assert_eq!(rows[0], serde_json::json!({"name": "Ada, \"A\"", "zip": "01", "n": 2.5}));
    assert_eq!(rows[1], serde_json::json!({"name": "Grace", "zip": null, "n": true}));
    refuses(&exec(&workspace, "data-export", "export.py", &["none.tsv", "csv"]), "none.tsv");
    let words =
        ["exec", "data-export", "export.py", "--out", "results", "--", "t.tsv", "csv", "--out", "../t.csv"];
    assert_eq!(metier(&workspace, &words).stdout, "t.csv: 3 rows\n");
    assert!(workspace.join("project/results/t.csv").exists());
}

#[test]
fn what_needs_no_judgement_is_found_in_code() {
    let workspace = workspace()
        .dir("project/.git")
        .file("project/src/a.js", "let a = 1;  \n<<<<<<< HEAD\n// TODO later\nconsole.log(a)\n")
        .file("project/-odd name.txt", "fine\n")
        .file("project/node_modules/x.js", "debugger\n");
    let run = exec(&workspace, "review-code", "lint.sh", &[]);
    let expected = "src/a.js:1: blanks at the end of the line\nsrc/a.js:2: a merge conflict is left\n\
                    src/a.js:3: work is left open\nsrc/a.js:4: help for debugging is left\n";
    says(&run, expected);
    says(&exec(&workspace, "review-code", "lint.sh", &["-odd name.txt"]), "");
    refuses(&exec(&workspace, "review-code", "lint.sh", &["gone"]), "there is no gone");
}

#[test]
fn lines_are_counted() {
    let workspace = workspace().dir("project/.git").file("project/a.rs", "one two\nthree\n");
    let run = exec(&workspace, "count-lines", "count.sh", &[]);
    assert!(
        run.stdout.contains("rs                  1          2          3           14\n"),
        "{}",
        run.stdout
    );
}

//! No text makes a rule panic, and every place is a place of the text.

use metier_lint::{File, Files, RunBit, Skill, lint, lint_root};
use proptest::prelude::*;
use std::path::Path;

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "---\n",
        "name: a\n",
        "description: Use when x. ",
        "allowed-tools: Read, Bash(git:*)\n",
        "model: x\n",
        "disable_model_invocation: \"true\"\n",
        "metadata: {a: 1, b: [é], c: 'x'}\n",
        "tools: [bash, 'Raed,Write']\n",
        "arguments: [a, b]\n",
        "use the `Write` tool ",
        "\n",
        "# Head\n",
        "```bash\n",
        "```\n",
        "`scripts/a.py`",
        "[x](references/a.md)",
        "[y](../../z)",
        "$1",
        "$ARGUMENTS",
        "!`ls`",
        "\u{200b}",
        "\u{202e}",
        "\u{e0041}",
        "é",
        "🏴",
        "\\",
        "C:\\x\\y",
        "<b>",
        "do not tell the user ",
        "so that the user must not know ",
        "ignore all previous instructions ",
        "[TODO: ",
        "\u{ad}",
        "\u{fe0f}",
        "\u{2066}",
        "“",
        "`scripts\\b.sh`",
        "./scripts/b.sh ",
        "C:\\Users\\kim\\x",
        "~~~\n",
        "/home/me/x",
        "a b c ",
        "\r\n",
        "\t",
        "- ",
        "| a | b |\n",
        "{{x}}",
        "TODO",
        "\0",
        "hooks:\n  X: y\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// A script with what rules look for at its beginning.
fn script() -> impl Strategy<Value = String> {
    let first = prop::sample::select(vec![
        "",
        "#!",
        "#!\r\n",
        "#!/usr/local/bin/é\r\n",
        "#! /opt/x -u\n",
        "#!C:\\é\r",
        "#!/bin/sh\r\n/Users/kim/x\r\n",
    ]);
    (first, ".{0,80}", calls()).prop_map(|(first, rest, calls)| format!("{first}{rest}{calls}"))
}

/// What rules look for in the rest of it, in all languages at once.
fn calls() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "curl ",
        "https://é.a.io/",
        "https://a.io",
        "requests.get(",
        "fetch(",
        "open(",
        "'",
        "\"",
        "`",
        "\"\"\"",
        "${",
        "$(",
        "}",
        ")",
        ", 'w'",
        " > ",
        "x.json",
        "~/é",
        "$A_TOKEN",
        "os.environ['B_KEY']",
        "process.env.C_KEY",
        "f'",
        "<<E\n",
        "E\n",
        "#",
        "//",
        "/*",
        "/[",
        "\\",
        "é",
        "\n",
        "((",
        "[[ ",
        "A_KEY=",
        "writeFile(",
        "Path(",
        ".write_text(",
        "=",
        " ",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_place_is_on_character_boundaries(text in pieces(), script in script()) {
        let Some(document) = metier_skill::parse(text.as_bytes(), Some("a")).document else { return Ok(()) };
        let file = |path: &str, text: Option<&str>| File {
            path: path.to_owned(),
            size: 1,
            run_bit: RunBit::Clear,
            text: text.map(str::to_owned),
        };
        let scripts = ["scripts/b.sh", "scripts/b.py", "scripts/b.js"];
        let mut files = vec![file("SKILL.md", None)];
        files.extend(scripts.iter().map(|path| file(path, Some(&script))));
        let path: std::sync::Arc<Path> = Path::new("a/SKILL.md").into();
        let skill = Skill::new(path.clone(), Some("a"), &text, &document, Files::Known(&files));
        let found = lint(&skill);
        let found = found.into_iter().chain(lint_root(&[skill.clone(), skill]));
        for one in found {
            // What stands in no file that is known here has no text to be placed in.
            let text = match one.path.as_deref() {
                Some(found) if found == &*path => &text,
                Some(found) if scripts.iter().any(|path| found.ends_with(path)) => &script,
                _ => continue,
            };
            if let Some(place) = one.place {
                prop_assert!(text.get(place.span.range()).is_some(), "{} {:?}", one.code, place);
            }
            for edit in one.fix.iter().flat_map(|fix| &fix.edits) {
                prop_assert!(text.get(edit.span.range()).is_some(), "{} {:?}", one.code, edit);
            }
        }
    }
}

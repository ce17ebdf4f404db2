//! What the repair of hostile files may cost, counted and not timed.

use super::*;
use crate::findings::MAX_FINDINGS;

/// Attempts at one file. An honest one needs a few for each broken line.
const MAX_ATTEMPTS: usize = 600;
/// Bytes that the attempts parse: what a frontmatter of the largest size has, ten times.
const MAX_PARSED: usize = 10 * MAX_BYTES;

/// Holds the bounds for a line repeated until the file is large, behind and before what a frontmatter may begin and end
/// with.
fn check(line: &str) {
    let heads = ["---\nname: x\ndescription: y\n", "---\nname: x\ndescription: y: z\nq: \""];
    for (head, tail) in heads.iter().flat_map(|head| ["", "\n---\n"].map(|tail| (head, tail))) {
        for size in [4_000, 128_000] {
            let text = format!("{head}{}{tail}", line.repeat(size / line.len()));
            let (mut values, mut salvage) = (Budget::for_values(), Budget::for_salvage());
            let mended = mend_within(&text, &mut values, &mut salvage);
            let (attempts, bytes) = (values.attempts + salvage.attempts, values.bytes + salvage.bytes);
            let what = format!("{size} bytes of {line:?} between {head:?} and {tail:?}");
            assert!(attempts <= MAX_ATTEMPTS, "{attempts} attempts at {what}");
            assert!(bytes <= MAX_PARSED, "{bytes} bytes were parsed for {what}");
            if let Mended::Frontmatter(found) = mended {
                let listed = found.findings.into_diagnostics(&text).len();
                assert!(listed <= MAX_FINDINGS + 1, "{listed} diagnostics for {what}");
            }
        }
    }
}

#[test]
fn lines_that_almost_close_are_tried_a_few_times() {
    for line in ["```\n", "----\n", " ---\n", "---x\n", "----\na: b: c\n", "```\na: 'b\n"] {
        check(line);
    }
}

#[test]
fn broken_values_are_mended_within_a_budget() {
    for line in [
        "a: b: c\n",
        "a: 'b\n",
        "a: \"b\" c\n",
        "- @b\n",
        "  - @b\n",
        "a: [@b, c]\n",
        "a: b\n  c: d\n",
        "k: > t\n",
    ] {
        check(line);
    }
}

#[test]
fn many_keys_are_salvaged_within_a_budget() {
    for line in ["a:\n", "name: x\n", "**name:** x\n", "a: {b: c\n", "tools: [\n", "a: \"\\d\"\n"] {
        check(line);
    }
}

#[test]
fn long_and_deep_lines_cost_no_more() {
    for line in
        ["[", "{a: ", "- ", "\t", " ", "\\ud83d", "\u{7}", "é", "'", "\"", "a: ", "\ta\n", "\u{a0}- a\n"]
    {
        check(line);
    }
}

use crate::{Check, Example, Findings, Mends, Rule, Skill};
use metier_diagnostic::{Code, Severity, Span};

/// What the open standard advises. It counts lines because authors can.
const MAX_LINES: usize = 500;

/// What the open standard advises for tokens, and how many bytes one is taken for. Lines say nothing about a body that
/// puts a paragraph on each.
const MAX_TOKENS: usize = 5_000;
const BYTES_PER_TOKEN: usize = 4;

pub(super) static RULE: Rule = Rule {
    code: Code::new(
        "body-too-long",
        Severity::Warning,
        "The body has more than 500 lines or about 5,000 tokens.",
    ),
    why: "The whole body enters the conversation each time the skill is used, whatever part of it is needed, and \
          stays there. What is read only when it is needed costs nothing until then.",
    remedy: "Move parts into files below `references/` and say in the body when to read each of them.",
    mends: Mends::Never,
    ok: Example::new(
        "api",
        "---\nname: api\ndescription: Calls our API. Use when order data is needed.\n---\nRead [the calls](references/calls.md) before you write one.\n",
    )
    .with(&[("references/calls.md", "# Calls\n", crate::RunBit::Clear)]),
    bad: Example::new("api", "---\nname: api\ndescription: Calls our API. Use when order data is needed.\n---\n")
        .repeating("One more call.\n", 501),
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let body = skill.body();
    let ends = body.bytes().filter(|byte| *byte == b'\n').count();
    let lines = ends + usize::from(!body.is_empty() && !body.ends_with('\n'));
    let tokens = body.len() / BYTES_PER_TOKEN;
    // One finding for both, since one remedy serves both.
    let message = if lines > MAX_LINES {
        format!(
            "the body has {} lines, about {} tokens; {MAX_LINES} lines are advised",
            spaced(lines),
            spaced(tokens)
        )
    } else if tokens > MAX_TOKENS {
        format!("the body has about {} tokens; {} are advised", spaced(tokens), spaced(MAX_TOKENS))
    } else {
        return;
    };
    let found = findings.at(skill, Span::empty(skill.body_at()), message);
    findings.add(found.help("move what is not always needed into files below `references/`"));
}

/// A number with separators: 10,000.
fn spaced(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators() {
        for (number, expect) in [(7, "7"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(spaced(number), expect);
        }
    }
}

//! What a model is told of children.

use metier_diagnostic::counted;
use metier_policy::Skill;
use metier_store::{Outcome, SessionId};

use super::SubagentAnswer;

/// How much of a child's last words its parent gets, in bytes: as much as of a program's output. What is longer is a document, and
/// belongs into a file.
const MAX_RESULT: usize = 32 * 1024;

/// What a child is asked where it was told nothing: its system prompt says what to do, and every provider wants a message.
const NOTHING_TOLD: &str = "Do what your instructions say, and answer with the result.";

/// The first message of a child.
pub(crate) fn request(arguments: &str) -> String {
    if arguments.trim().is_empty() { NOTHING_TOLD.to_owned() } else { arguments.to_owned() }
}

/// What comes back as the result of a call: how it ended, what it took, and its last words.
pub(crate) fn result(answer: &SubagentAnswer) -> String {
    let ended = &answer.ended;
    let why = ended.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let is_silent = ended.text.trim().is_empty();
    let status = match ended.outcome {
        Outcome::Done if is_silent => "failed: it ended without a word".to_owned(),
        Outcome::Done => "complete".to_owned(),
        Outcome::Partial => format!("partial{why}"),
        Outcome::Failed => format!("failed{why}"),
        Outcome::Cancelled => format!("cancelled{why}"),
        Outcome::NeedsYes => format!("needs a yes{why}"),
    };
    let sums = format!(
        "{}, {}, {} tokens",
        counted(amount(ended.turns), "turn", "turns"),
        counted(amount(ended.calls), "call", "calls"),
        ended.usage.uncached(),
    );
    let head = format!("[{}: {status} ({sums})]", answer.worker);
    if is_silent {
        return head;
    }
    let text = ended.text.trim();
    let cut = text.floor_char_boundary(MAX_RESULT);
    let rest = match text.len() - cut {
        0 => String::new(),
        more => format!("\n[{more} bytes more are left out; session {} has them]", answer.session),
    };
    format!("{head}\n{}{rest}", &text[..cut])
}

fn amount(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// What is said at once of a child that works in the background.
pub(crate) fn in_background(skill: &str, id: SessionId) -> String {
    format!(
        "Skill '{skill}' works in the background as {}. Go on with something else: its result comes by itself with a later message.",
        id.short()
    )
}

/// The note that brings the result of a child in the background.
pub(crate) fn note(answer: &SubagentAnswer) -> String {
    format!(
        "The skill '{}' that worked in the background as {} is over.\n{}",
        answer.worker.name(),
        answer.session.short(),
        result(answer)
    )
}

/// Why a skill is not run beneath itself, where it would be.
pub(crate) fn beneath_itself(line: &[Skill], skill: &Skill) -> Option<String> {
    let from = line.iter().position(|above| above.is(skill))?;
    if from + 1 == line.len() {
        return Some(format!(
            "the skill `{}` runs here already and does not run itself; do what its instructions say",
            skill.name
        ));
    }
    let circle = line[from..].iter().chain([skill]).map(|above| format!("`{}`", above.name));
    let circle: Vec<String> = circle.collect();
    Some(format!("skills would run each other in a circle: {}; do this part yourself", circle.join(" → ")))
}

/// Why there is no child so deep.
pub(crate) fn too_deep(depth: u32) -> String {
    format!("children may be {depth} deep, and this one is; do the work here")
}

#[cfg(test)]
mod tests {
    use metier_store::{Ended, Usage};

    use super::super::Worker;
    use super::*;

    fn answer(outcome: Outcome, text: &str, why: Option<&str>) -> SubagentAnswer {
        SubagentAnswer {
            session: SessionId::new().unwrap(),
            worker: Worker::Skill("x".to_owned()),
            ended: Ended {
                outcome,
                text: text.to_owned(),
                why: why.map(str::to_owned),
                usage: Usage { input: 10, output: 2, cached: 5, cache_written: 0 },
                cost_micros: 0,
                turns: 2,
                calls: 1,
            },
            is_waiting: false,
        }
    }

    #[test]
    fn a_result_says_how_it_ended_and_what_it_took_and_never_nothing() {
        let check = |outcome, text: &str, why: Option<&str>, expect: &str| {
            assert_eq!(result(&answer(outcome, text, why)), expect);
        };
        check(
            Outcome::Done,
            " found it\n",
            None,
            "[skill x: complete (2 turns, 1 call, 12 tokens)]\nfound it",
        );
        check(
            Outcome::Done,
            " \n",
            None,
            "[skill x: failed: it ended without a word (2 turns, 1 call, 12 tokens)]",
        );
        check(
            Outcome::Partial,
            "half",
            Some("the limit is 2"),
            "[skill x: partial: the limit is 2 (2 turns, 1 call, 12 tokens)]\nhalf",
        );
        check(
            Outcome::Failed,
            "",
            Some("the provider is down"),
            "[skill x: failed: the provider is down (2 turns, 1 call, 12 tokens)]",
        );
    }

    #[test]
    fn long_last_words_are_cut_at_a_character_and_that_is_said() {
        let text = "ä".repeat(MAX_RESULT);
        let cut = result(&answer(Outcome::Done, &text, None));
        assert!(cut.len() < MAX_RESULT + 300);
        assert!(
            cut.contains(&format!("[{MAX_RESULT} bytes more are left out")),
            "{}",
            &cut[cut.len() - 100..]
        );
    }

    #[test]
    fn a_skill_beneath_itself_is_told_apart_from_a_circle() {
        let line = [Skill::new("a", "user"), Skill::new("b", "user")];
        assert!(beneath_itself(&line, &Skill::new("b", "user")).unwrap().contains("does not run itself"));
        assert!(beneath_itself(&line, &Skill::new("a", "user")).unwrap().contains("`a` → `b` → `a`"));
        assert_eq!(beneath_itself(&line, &Skill::new("a", "project")), None);
    }
}

//! Going on with a run that broke off: what is said of it.

use crate::output::clean;
use metier_agent::{Answer, Resumed};
use metier_store::Outcome;

/// What a run left undone and what is gone meanwhile, a line each.
pub(crate) fn left_undone(resumed: &Resumed) -> Vec<String> {
    let begun = resumed
        .uncertain
        .iter()
        .map(|begun| format!("interrupted, may already have run: {}", clean(&begun.action)));
    let gone = resumed
        .gone
        .iter()
        .map(|skill| format!("the skill `{}` is gone; its text is still known", clean(skill)));
    begun.chain(gone).collect()
}

/// How to give the word that nobody was there to give, where that is how it ended.
pub(crate) fn words_to_give(answer: &Answer, begun: usize, id: &str) -> Option<String> {
    let is_waiting = answer.ended.outcome == Outcome::NeedsYes && begun > 0;
    is_waiting.then(|| {
        format!("`metier resume {id} --yes` does it again, `metier resume {id} --leave` goes on without it")
    })
}

//! Going on with a run that broke off: what is said of it, and who is asked about a step that may have happened.

use crate::output::clean;
use crate::question;
use crate::run_view::RunView;
use metier_agent::{
    Answer, EmittedEvent, LimitHit, Observer, OnLimit, Resumed, RetryDecision, StreamDelta, UncertainCall,
};
use metier_store::Outcome;
use std::sync::Arc;

/// What is said about a step that may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Do it again.
    Again,
    /// Leave it.
    Leave,
    /// Whoever sits at the terminal says it.
    Asked,
    /// Nobody says anything.
    None,
}

impl Word {
    /// What is said where the user has not said it beforehand.
    pub(crate) fn of(can_ask: bool) -> Self {
        if can_ask { Self::Asked } else { Self::None }
    }
}

/// Looks on as a run does, and has a word about what was begun.
pub(crate) struct Resuming {
    pub(crate) view: Arc<RunView>,
    pub(crate) word: Word,
}

impl Observer for Resuming {
    fn event(&self, event: &EmittedEvent) {
        self.view.event(event);
    }

    fn delta(&self, delta: StreamDelta<'_>) {
        self.view.delta(delta);
    }

    fn limit_hit(&self, hit: &LimitHit) -> OnLimit {
        self.view.limit_hit(hit)
    }

    fn uncertain_call(&self, call: &UncertainCall) -> RetryDecision {
        match self.word {
            Word::Again => RetryDecision::Retry,
            Word::Leave => RetryDecision::Skip,
            Word::None => RetryDecision::Unanswered,
            Word::Asked => {
                self.view.close();
                let lines = vec![call.action.clone(), "may already have run; run it again?".to_owned()];
                match question::is_yes(lines) {
                    Ok(true) => RetryDecision::Retry,
                    Ok(false) => RetryDecision::Skip,
                    Err(_) => RetryDecision::Unanswered,
                }
            }
        }
    }
}

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

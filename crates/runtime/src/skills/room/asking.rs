//! Questions: whoever the program named answers them.

use std::sync::{Arc, Mutex};

use metier_policy::{Action, Answer, Answers, Decision, Ruling};

use super::Room;
use crate::run::{NotRun, Ran};
use crate::skills::house::{Ask, lock};
use crate::skills::own::GivenAnswer;
use crate::toolset::NotDone;
use crate::way_out::Asker;

impl Room {
    /// Asks about a decision that takes a yes. The answer counts for this call; what lasts longer is kept. True when it may
    /// be tried again.
    pub(super) fn ask(&self, action: &Action, decision: &Decision, answers: &mut Answers) -> bool {
        let question = decision.question.as_ref().filter(|_| decision.ruling == Ruling::Ask);
        let (Some(ask), Some(question)) = (&self.ask, question) else { return false };
        let _one = lock(&self.one_question);
        // A sibling may have asked the same while this one waited for its turn.
        let known = lock(&self.answers).to(question);
        let answer = known.unwrap_or_else(|| ask(action, decision));
        match answer {
            // Only until this call is over: the copy that it goes by is thrown away then.
            Answer::Once => {
                answers.give(question, Answer::SessionExact);
            }
            Answer::No => {
                lock(&self.answers).give(question, Answer::No);
            }
            Answer::SessionExact | Answer::SessionTool | Answer::Always => {
                answers.give(question, answer);
                self.given.borrow_mut().push(GivenAnswer { question: question.clone(), answer });
                if let Some(kept) = lock(&self.answers).give(question, answer) {
                    lock(&self.house.kept).push(kept);
                }
            }
        }
        answer != Answer::No
    }

    /// Does a job, and again after each yes that it takes.
    pub(super) fn until_settled(
        &self,
        mut answers: Answers,
        mut job: impl FnMut(&Answers) -> Result<Ran, NotRun>,
    ) -> Result<Ran, NotDone> {
        loop {
            let (action, decision) = match job(&answers) {
                Err(NotRun::Gate { action, decision }) => (action, decision),
                other => return Ok(other?),
            };
            // A yes that changes nothing, since nothing is known to bind it to, is not asked for again.
            let is_settled = self.ask(&action, &decision, &mut answers)
                && self.gate(&answers, |gate| gate.decide(&action).ruling != Ruling::Ask);
            if !is_settled {
                return Err(NotRun::Gate { action, decision }.into());
            }
        }
    }

    /// Who is asked about hosts while a script waits.
    pub(super) fn asker(&self, answers: &Answers) -> Option<Arc<dyn Asker>> {
        let ask = Arc::clone(self.ask.as_ref()?);
        let one = Arc::clone(&self.one_question);
        Some(Arc::new(WhileItWaits { ask, one, answers: Mutex::new(answers.clone()) }))
    }
}

/// Asks while something runs. One question at a time: the lock is held until it is answered. What is said here holds until
/// the call is over, since a connection is a part of it.
struct WhileItWaits {
    ask: Arc<Ask>,
    one: Arc<Mutex<()>>,
    answers: Mutex<Answers>,
}

impl Asker for WhileItWaits {
    fn ask(&self, action: &Action, decision: &Decision) -> bool {
        let Some(question) = &decision.question else { return false };
        let mut answers = lock(&self.answers);
        if let Some(known) = answers.to(question) {
            return known != Answer::No;
        }
        let _one = lock(&self.one);
        let answer = (self.ask)(action, decision);
        answers.give(question, if answer == Answer::No { Answer::No } else { Answer::SessionExact });
        answer != Answer::No
    }
}

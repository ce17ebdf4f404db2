//! Questions: whoever the program named answers them.

use std::sync::{Arc, Mutex};

use metier_exec::{HostApprover, PrepareError, RunError, RunOutput};
use metier_policy::{Action, Answer, Answers, Decision, Ruling};

use super::Room;
use crate::skills::house::{Ask, House, lock};
use crate::skills::own::GivenAnswer;
use crate::toolset::NotDone;

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

    /// Runs a job, and again after each yes that it takes: the one place where something runs and somebody is asked about it.
    pub(super) fn until_settled(
        &self,
        answers: Answers,
        job: impl FnMut(&Answers) -> Result<RunOutput, RunError>,
    ) -> Result<RunOutput, NotDone> {
        Ok(self.with_answers(answers, job)?)
    }

    /// Does something, and again after each yes that it takes. A yes that changes nothing, since nothing is known to bind it to, is
    /// not asked for again.
    pub(super) fn with_answers<T, E: GateError>(
        &self,
        mut answers: Answers,
        mut job: impl FnMut(&Answers) -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let error = match job(&answers) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let Some((action, decision)) = error.refused() else { return Err(error) };
            let is_settled = self.ask(action, decision, &mut answers)
                && self.gate(&answers, |gate| gate.decide(action).ruling != Ruling::Ask);
            if !is_settled {
                self.tell_refused(action, decision);
                return Err(error);
            }
        }
    }

    /// Tells whoever keeps count that something was refused.
    pub(super) fn tell_refused(&self, action: &Action, decision: &Decision) {
        if let Some(observer) = &self.house.on_refusal {
            observer(action, decision);
        }
    }

    /// Who is asked about hosts while a script waits.
    pub(super) fn approver(&self, answers: &Answers) -> Option<Arc<dyn HostApprover>> {
        Some(Arc::new(WhileItWaits {
            ask: Arc::clone(self.ask.as_ref()?),
            one: Arc::clone(&self.one_question),
            answers: Mutex::new(answers.clone()),
            session: Arc::clone(&self.answers),
            house: Arc::clone(&self.house),
        }))
    }
}

/// An error that may be a decision of the gate.
pub(super) trait GateError {
    /// What was to happen and what was decided about it.
    fn refused(&self) -> Option<(&Action, &Decision)>;
}

impl GateError for RunError {
    fn refused(&self) -> Option<(&Action, &Decision)> {
        match self {
            Self::Gate { action, decision } => Some((action, decision)),
            _ => None,
        }
    }
}

impl GateError for PrepareError {
    fn refused(&self) -> Option<(&Action, &Decision)> {
        match self {
            Self::Gate { action, decision } => Some((action, decision)),
            _ => None,
        }
    }
}

/// Asks while something runs. One question at a time: the lock is held until it is answered. A yes or no once holds until the
/// call is over, since a connection is a part of it; what was said for longer is kept.
struct WhileItWaits {
    ask: Arc<Ask>,
    one: Arc<Mutex<()>>,
    /// What counts for this call.
    answers: Mutex<Answers>,
    /// What counts for the session.
    session: Arc<Mutex<Answers>>,
    house: Arc<House>,
}

impl HostApprover for WhileItWaits {
    fn ask(&self, action: &Action, decision: &Decision) -> bool {
        let Some(question) = &decision.question else { return false };
        let mut answers = lock(&self.answers);
        if let Some(known) = answers.to(question) {
            return known != Answer::No;
        }
        let _one = lock(&self.one);
        let answer = (self.ask)(action, decision);
        answers.give(question, if answer == Answer::No { Answer::No } else { Answer::SessionExact });
        if matches!(answer, Answer::SessionExact | Answer::SessionTool | Answer::Always)
            && let Some(kept) = lock(&self.session).give(question, answer)
        {
            lock(&self.house.kept).push(kept);
        }
        answer != Answer::No
    }
}

//! What a session may do: its rules, the answers given so far, and the person who is asked.

use std::sync::{Arc, Mutex};

use metier_catalog::Layout;
use metier_exec::{HostApprover, decide_run};
use metier_policy::{
    Action, Answer, Answers, Asking, Decision, Gate, Layer, List, Mode, Problem, Question, Rules, Ruling,
    Scope,
};

use super::SkillSession;
use crate::skills::engine::{Engine, lock};
use crate::tool::{CallControl, FileChange};

/// Something that needs a person's approval.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    /// What is to happen.
    pub action: &'a Action,
    /// What the policy decided about it, with the question.
    pub decision: &'a Decision,
    /// The change of a file that would be made.
    pub change: Option<&'a FileChange>,
    /// The caller's id of the call.
    pub call: Option<&'a str>,
    /// How far the call is.
    pub stage: ApprovalStage,
}

/// How far a call is that needs an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApprovalStage {
    /// It has not started.
    Before,
    /// It runs, and waits for the answer.
    During,
    /// It has ended; what it changed in the project is not applied yet.
    Changes,
}

impl<'a> ApprovalRequest<'a> {
    pub(super) fn new(action: &'a Action, decision: &'a Decision, control: CallControl<'a>) -> Self {
        Self { action, decision, change: None, call: control.id, stage: ApprovalStage::Before }
    }

    pub(super) fn at(self, stage: ApprovalStage) -> Self {
        Self { stage, ..self }
    }
}

/// What happens to requests for approval, for those who keep records.
#[derive(Clone, Copy, Debug)]
pub enum ApprovalEvent<'a> {
    /// A person is about to be asked.
    Requested(&'a ApprovalRequest<'a>),
    /// The person has answered.
    Answered {
        /// The question.
        question: &'a Question,
        /// The answer.
        answer: Answer,
        /// The caller's id of the call.
        call: Option<&'a str>,
    },
}

/// Records what happens to requests for approval.
type ApprovalRecorder = dyn Fn(ApprovalEvent<'_>) + Send + Sync;

/// The reply to a request for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalReply {
    /// A person's answer.
    Answer(Answer),
    /// The answer comes later: a call that has not started has no result until then, and nothing waits for it. For a call that runs
    /// already it is a no, since the call cannot wait.
    Later,
}

impl From<Answer> for ApprovalReply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

/// Answers requests for approval. It is called while the call waits, also from another thread while a connection waits.
pub type ApprovalHandler = dyn Fn(&ApprovalRequest<'_>) -> ApprovalReply + Send + Sync;

/// The permission for an action.
#[derive(Clone, Debug, Default)]
pub struct Approval {
    /// The decision; `None` for an action that needs none.
    pub decision: Option<Box<Decision>>,
    /// What a person approved for this call alone.
    once: Vec<Question>,
}

/// Why an action has no permission.
#[derive(Clone, Debug)]
pub(crate) enum NoApproval {
    /// It is refused.
    Refused(Box<Decision>),
    /// A person answers later.
    Later(Box<Decision>),
}

/// The rules of a session, its answers, and who is asked.
pub(super) struct SessionPolicy {
    pub(super) rules: Rules,
    /// The rules of the program itself, with what it gave in this session.
    layer: Layer,
    /// A sub-agent shares them: an approval for the session is for every agent in it.
    answers: Arc<Mutex<Answers>>,
    handler: Option<Arc<ApprovalHandler>>,
    /// Records questions and answers of this session.
    recorder: Option<Arc<ApprovalRecorder>>,
    /// Held while a question is open: a person is asked one thing at a time.
    open_question: Arc<Mutex<()>>,
}

/// The gate of one call: the answers and scopes as they were when it began, and what was approved for it alone.
#[derive(Clone)]
pub(super) struct CallGate {
    pub(super) answers: Answers,
    scopes: Vec<Scope>,
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Approved,
    Refused,
    Later,
}

impl SessionPolicy {
    pub(super) fn new(engine: &Engine, layout: &Layout) -> Self {
        Self {
            rules: engine.rules(layout, engine.program.layer.clone()),
            layer: engine.program.layer.clone(),
            answers: Arc::new(Mutex::new(Answers::new(lock(&engine.kept).clone()))),
            handler: engine.program.handler.clone(),
            recorder: None,
            open_question: Arc::clone(&engine.open_question),
        }
    }

    /// The policy of a sub-agent: the same rules, answers and person.
    pub(super) fn of_child(&self) -> Self {
        Self {
            rules: self.rules.clone(),
            layer: self.layer.clone(),
            answers: Arc::clone(&self.answers),
            handler: self.handler.clone(),
            // A sub-agent keeps records of its own.
            recorder: None,
            open_question: Arc::clone(&self.open_question),
        }
    }

    /// Reads the rules again.
    pub(super) fn renew(&mut self, engine: &Engine, layout: &Layout) {
        self.rules = engine.rules(layout, self.layer.clone());
    }

    /// Allows what these rules name, for as long as the session lasts.
    pub(super) fn allow(&mut self, rules: &[String], engine: &Engine, layout: &Layout) {
        if !rules.is_empty() {
            self.layer = self.layer.clone().list(List::Allow, rules);
            self.renew(engine, layout);
        }
    }

    pub(super) fn forget_refusals(&self) {
        lock(&self.answers).forget_refusals();
    }

    fn asking(&self) -> Asking {
        if self.handler.is_some() { Asking::Terminal } else { Asking::Nobody }
    }
}

impl SkillSession {
    /// Answers requests for approval in this session, instead of the program's own handler. Without one, what would ask is refused.
    pub fn ask_with(&mut self, handler: Option<Arc<ApprovalHandler>>) {
        self.policy.handler = handler;
        // Questions of other sessions are nothing to wait for: the new handler puts its own in a row where that is needed.
        self.policy.open_question = Arc::default();
    }

    /// Records questions to a person and their answers.
    pub fn record_approvals(&mut self, recorder: impl Fn(ApprovalEvent<'_>) + Send + Sync + 'static) {
        self.policy.recorder = Some(Arc::new(recorder));
    }

    /// Who answers requests for approval.
    pub fn approval_handler(&self) -> Option<Arc<ApprovalHandler>> {
        self.policy.handler.clone()
    }

    /// Takes an answer that a person gave before, such as in a process that ended.
    pub fn restore_answer(&self, question: &Question, answer: Answer) {
        let kept = lock(&self.policy.answers).give(question, answer);
        lock(&self.engine.kept).extend(kept);
    }

    /// Problems in the rules: what could not be taken as it is written, and what holds instead.
    pub fn rule_problems(&self) -> &[Problem] {
        self.policy.rules.problems()
    }

    /// How much is asked in this session.
    pub fn mode(&self) -> Mode {
        self.policy.rules.mode()
    }

    /// Decides about an action without asking anyone.
    pub fn judge(&self, action: &Action) -> Decision {
        let answers = lock(&self.policy.answers);
        let active = self.active_skills();
        let scopes = active.conversation.scopes.rules();
        let gate =
            Gate { rules: &self.policy.rules, answers: &answers, scopes, asking: self.policy.asking() };
        decide_run(&gate, action).decision
    }

    /// Decides about an action, and asks a person if it needs an approval.
    pub fn decide(&self, action: &Action) -> Decision {
        self.decide_for(action, CallControl::default())
    }

    /// The same for a call that runs already.
    pub(crate) fn decide_for(&self, action: &Action, control: CallControl<'_>) -> Decision {
        match self.approve_at(ApprovalStage::During, action, None, control) {
            Ok(approval) => approval.decision.map_or_else(|| self.judge(action), |decision| *decision),
            Err(NoApproval::Refused(decision) | NoApproval::Later(decision)) => *decision,
        }
    }

    /// The permission for an action: from rules, earlier answers, or a person.
    pub(crate) fn approve(
        &self,
        action: &Action,
        change: Option<&FileChange>,
        control: CallControl<'_>,
    ) -> Result<Approval, NoApproval> {
        self.approve_at(ApprovalStage::Before, action, change, control)
    }

    fn approve_at(
        &self,
        stage: ApprovalStage,
        action: &Action,
        change: Option<&FileChange>,
        control: CallControl<'_>,
    ) -> Result<Approval, NoApproval> {
        let decision = self.judge(action);
        if decision.is_allowed() {
            return Ok(Approval { decision: Some(Box::new(decision)), once: Vec::new() });
        }
        let known = Approval { decision: None, once: control.approved.to_vec() };
        let mut gate = self.call_gate(&known);
        let decision =
            if known.once.is_empty() { decision } else { decide_run(&self.gate(&gate), action).decision };
        if decision.is_allowed() {
            return Ok(Approval { decision: Some(Box::new(decision)), ..known });
        }
        let request = ApprovalRequest { change, stage, ..ApprovalRequest::new(action, &decision, control) };
        let decision = match self.ask(&request, &mut gate.answers) {
            Asked::Later => return Err(NoApproval::Later(Box::new(decision))),
            Asked::Refused => decision,
            // An approval that binds to nothing, since nothing is known to bind it to, is not asked for again.
            Asked::Approved => {
                let once = known.once.into_iter().chain(decision.question.clone()).collect();
                let decided = decide_run(&self.gate(&gate), action).decision;
                if decided.is_allowed() {
                    return Ok(Approval { decision: Some(Box::new(decided)), once });
                }
                decided
            }
        };
        self.report_refusal(action, &decision);
        Err(NoApproval::Refused(Box::new(decision)))
    }

    /// Asks about a decision that needs an approval. The answer counts for this call; what holds for longer is kept.
    pub(super) fn ask(&self, request: &ApprovalRequest<'_>, answers: &mut Answers) -> Asked {
        let question = request.decision.question.as_ref().filter(|_| request.decision.ruling == Ruling::Ask);
        let (Some(handler), Some(question)) = (&self.policy.handler, question) else { return Asked::Refused };
        let _one = lock(&self.policy.open_question);
        // A sibling may have asked the same while this one waited for its turn.
        let known = lock(&self.policy.answers).to(question);
        let answer = match known {
            Some(answer) => answer,
            None => match ask_recorded(&**handler, self.policy.recorder.as_deref(), request, question) {
                ApprovalReply::Answer(answer) => answer,
                ApprovalReply::Later => return Asked::Later,
            },
        };
        // Once is until this call is over: the answers that it goes by are thrown away then.
        answers.give(question, if answer == Answer::Once { Answer::SessionExact } else { answer });
        if answer != Answer::Once
            && let Some(kept) = lock(&self.policy.answers).give(question, answer)
        {
            lock(&self.engine.kept).push(kept);
        }
        if answer == Answer::No { Asked::Refused } else { Asked::Approved }
    }

    /// The gate for one call.
    pub(super) fn call_gate(&self, approval: &Approval) -> CallGate {
        let mut answers = lock(&self.policy.answers).clone();
        for question in &approval.once {
            answers.give(question, Answer::SessionExact);
        }
        CallGate { answers, scopes: self.active_skills().conversation.scopes.rules().to_vec() }
    }

    pub(super) fn gate<'a>(&'a self, call: &'a CallGate) -> Gate<'a> {
        let CallGate { answers, scopes } = call;
        Gate { rules: &self.policy.rules, answers, scopes, asking: self.policy.asking() }
    }

    /// Tells the program that something was refused.
    pub(super) fn report_refusal(&self, action: &Action, decision: &Decision) {
        if let Some(observer) = &self.engine.program.on_refusal {
            observer(action, decision);
        }
    }

    /// Who is asked about hosts while a script waits.
    pub(super) fn host_approver(
        &self,
        answers: &Answers,
        control: CallControl<'_>,
    ) -> Option<Arc<dyn HostApprover>> {
        Some(Arc::new(CallHostApprover {
            handler: Arc::clone(self.policy.handler.as_ref()?),
            recorder: self.policy.recorder.clone(),
            call: control.id.map(str::to_owned),
            open_question: Arc::clone(&self.policy.open_question),
            answers: Mutex::new(answers.clone()),
            session: Arc::clone(&self.policy.answers),
            engine: Arc::clone(&self.engine),
        }))
    }
}

/// Asks about hosts while something runs. An answer for once holds until the call is over, since a connection is a part of it; one for
/// longer is kept.
struct CallHostApprover {
    handler: Arc<ApprovalHandler>,
    recorder: Option<Arc<ApprovalRecorder>>,
    /// The caller's id of the call.
    call: Option<String>,
    open_question: Arc<Mutex<()>>,
    /// What counts for this call.
    answers: Mutex<Answers>,
    /// What counts for the session.
    session: Arc<Mutex<Answers>>,
    engine: Arc<Engine>,
}

impl HostApprover for CallHostApprover {
    fn ask(&self, action: &Action, decision: &Decision) -> bool {
        let Some(question) = &decision.question else { return false };
        let mut answers = lock(&self.answers);
        if let Some(known) = answers.to(question) {
            return known != Answer::No;
        }
        let _one = lock(&self.open_question);
        let (call, stage) = (self.call.as_deref(), ApprovalStage::During);
        let request = ApprovalRequest { action, decision, change: None, call, stage };
        // A sibling may have asked the same while this one waited for its turn.
        let known = lock(&self.session).to(question).map(ApprovalReply::Answer);
        let ask = || ask_recorded(&*self.handler, self.recorder.as_deref(), &request, question);
        let answer = match known.unwrap_or_else(ask) {
            ApprovalReply::Answer(answer) => answer,
            // A process waits for this answer and cannot wait for long.
            ApprovalReply::Later => Answer::No,
        };
        answers.give(question, if answer == Answer::No { Answer::No } else { Answer::SessionExact });
        if matches!(answer, Answer::SessionExact | Answer::SessionTool | Answer::Always)
            && let Some(kept) = lock(&self.session).give(question, answer)
        {
            lock(&self.engine.kept).push(kept);
        }
        answer != Answer::No
    }
}

/// Asks a person, and records the question and the answer.
fn ask_recorded(
    handler: &ApprovalHandler,
    recorder: Option<&ApprovalRecorder>,
    request: &ApprovalRequest<'_>,
    question: &Question,
) -> ApprovalReply {
    if let Some(recorder) = recorder {
        recorder(ApprovalEvent::Requested(request));
    }
    let reply = handler(request);
    if let (Some(recorder), ApprovalReply::Answer(answer)) = (recorder, reply) {
        recorder(ApprovalEvent::Answered { question, answer, call: request.call });
    }
    reply
}

//! Asks the host's user for approvals.
//!
//! There are two ways, depending on the client's revision: a request from the server while the call waits, or a result that asks for
//! input, after which the client repeats the call with the answer. If a client supports neither, the action is refused with the rule
//! that would allow it. The same applies to a question that is too long to be shown completely.
//!
//! A question ends with its call: when the client cancels the call or disconnects, nothing waits for the answer.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use metier_diagnostic::visible;
use metier_files::FileDigest;
use metier_policy::{Action, Answer, Answers, Decision, Deed, Question};
use metier_sandbox::Cancel;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleServer};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::served_catalog::lock;
use super::state_signer::StateSigner;

/// How long a user may take to answer. After that the call is refused and can be repeated.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);

/// The most answers in one request. A call asks a handful of questions.
const MAX_ANSWERS: usize = 64;

/// The longest `requestState` that is parsed.
const MAX_STATE_BYTES: usize = 16 << 10;

/// The longest question in characters. Hosts show it in a small dialog, and a user must not approve what is cut off.
const MAX_CHARACTERS: usize = 4_000;

/// The most grants in a question: what a person can check at once without paging.
const MAX_GRANTS: usize = 12;

/// The form field with the answer.
const FIELD: &str = "answer";

/// How long an approval can last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalLifetime {
    /// Until the connection ends.
    Connection,
    /// One call: each request is independent.
    Call,
}

/// How the user is asked.
pub(crate) enum ElicitationMode {
    /// By an elicitation request from the server.
    Request { peer: Peer<RoleServer>, runtime: Handle },
    /// By a result that asks for input. Earlier answers came with the request.
    Rounds(RoundAnswers),
}

/// Answers that came with a request, keyed by question.
#[derive(Debug)]
pub(crate) struct RoundAnswers {
    known: BTreeMap<String, Answer>,
    signer: Arc<StateSigner>,
}

/// The client changed the `requestState`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid `requestState`; repeat the call without it")]
pub(crate) struct TamperedStateError;

impl RoundAnswers {
    /// Parses the answers in a request. The state contains answers of earlier rounds, so its signature must be valid. A key
    /// identifies one exact question, including the digests that it is bound to.
    pub(crate) fn of(
        responses: Option<InputResponses>,
        state: Option<&str>,
        signer: Arc<StateSigner>,
    ) -> Result<Self, TamperedStateError> {
        let mut known = BTreeMap::new();
        let state = match state {
            Some(state) if state.len() > MAX_STATE_BYTES => return Err(TamperedStateError),
            Some(state) => signer.verify(state).ok_or(TamperedStateError)?,
            None => "",
        };
        for (key, word) in state.split(',').filter_map(|one| one.split_once('=')).take(MAX_ANSWERS) {
            known.insert(key.to_owned(), parse_answer(Some(word)));
        }
        for (key, response) in responses.unwrap_or_default().into_iter().take(MAX_ANSWERS) {
            let answer =
                serde_json::from_value::<ElicitResult>(response).map_or(Answer::No, |given| answer(&given));
            known.insert(key, answer);
        }
        Ok(Self { known, signer })
    }

    fn state(&self) -> Option<String> {
        let one = |(key, answer): (&String, &Answer)| format!("{key}={}", answer_name(*answer));
        let state: Vec<String> = self.known.iter().map(one).collect();
        (!state.is_empty()).then(|| self.signer.sign(&state.join(",")))
    }
}

/// Approvals of one connection.
#[derive(Debug, Default)]
pub(crate) struct ConnectionApprovals {
    given: Mutex<Answers>,
    /// Held while a question is open, so that the user is asked one question at a time.
    turn: tokio::sync::Mutex<()>,
}

/// Asks the questions of one call.
pub(crate) struct Elicitation {
    mode: ElicitationMode,
    lifetime: ApprovalLifetime,
    /// Approvals given earlier on this connection.
    approvals: Arc<ConnectionApprovals>,
    /// Questions for the next round.
    open: Mutex<BTreeMap<String, InputRequest>>,
    /// The thread of the call. Questions asked there come before anything runs.
    call_thread: OnceLock<ThreadId>,
    cancel: Cancel,
    /// Whether the call was cancelled, which ends all its questions.
    cancelled: watch::Sender<bool>,
    /// Whether a question was too long to be asked.
    is_too_long: AtomicBool,
}

impl Elicitation {
    pub(crate) fn new(
        mode: ElicitationMode,
        lifetime: ApprovalLifetime,
        approvals: Arc<ConnectionApprovals>,
        cancel: Cancel,
    ) -> Self {
        Self {
            mode,
            lifetime,
            approvals,
            open: Mutex::default(),
            call_thread: OnceLock::new(),
            cancel,
            cancelled: watch::Sender::new(false),
            is_too_long: AtomicBool::new(false),
        }
    }

    /// Records the current thread as the thread of the call.
    pub(crate) fn enter_call_thread(&self) {
        let _ = self.call_thread.set(std::thread::current().id());
    }

    /// Denies all questions of the call, open and queued.
    pub(crate) fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// The note for a refusal whose question was too long to be asked.
    pub(crate) fn note(&self) -> Option<String> {
        self.is_too_long.load(Ordering::Relaxed).then(|| {
            format!(
                "the user was not asked: a question with more than {MAX_GRANTS} grants, more than {MAX_CHARACTERS} characters or too many \
                 paths cannot be shown completely; allow it with a rule, or run it with metier in a terminal"
            )
        })
    }

    /// Asks the user. The answer applies to this call; longer approvals are stored here because sessions do not outlive a call.
    pub(crate) fn ask(&self, action: &Action, decision: &Decision) -> Answer {
        let Some(question) = &decision.question else { return Answer::No };
        if self.is_known(question) {
            return Answer::Once;
        }
        let Some(form) = self.form(action, decision) else {
            self.is_too_long.store(true, Ordering::Relaxed);
            return Answer::No;
        };
        match &self.mode {
            ElicitationMode::Request { peer, runtime } => runtime.block_on(self.elicit(peer, question, form)),
            // The call has run, and another round would run it again. Its changes are kept, and its result says how to apply
            // them.
            ElicitationMode::Rounds(_) if matches!(action.deed, Deed::Changes(_)) => Answer::No,
            ElicitationMode::Rounds(rounds) => {
                // The key covers everything that the question is bound to.
                let digest = FileDigest::of(question.key().text().as_bytes()).to_string();
                let key = digest.get(7..39).unwrap_or_default().to_owned();
                let Some(answer) = rounds.known.get(&key) else {
                    self.defer(key, form);
                    return Answer::No;
                };
                self.keep(question, *answer)
            }
        }
    }

    /// Stores an approval that lasts longer than the call.
    fn keep(&self, question: &Question, answer: Answer) -> Answer {
        if answer == Answer::SessionExact {
            lock(&self.approvals.given).give(question, Answer::SessionExact);
            return Answer::Once;
        }
        answer
    }

    /// Whether the same question was approved for the connection.
    fn is_known(&self, question: &Question) -> bool {
        lock(&self.approvals.given).to(question).is_some_and(|known| known != Answer::No)
    }

    /// Stores a question for the next round and cancels this one, because the next round repeats everything. A question from a
    /// running process is denied instead.
    fn defer(&self, key: String, form: ElicitRequestParams) {
        if self.call_thread.get() == Some(&std::thread::current().id()) {
            lock(&self.open).insert(key, InputRequest::Elicitation(ElicitRequest::new(form)));
            self.cancel.cancel();
        }
    }

    /// The result that asks for input, if a question is open.
    pub(crate) fn next_round(&self) -> Option<InputRequiredResult> {
        let open = std::mem::take(&mut *lock(&self.open));
        let ElicitationMode::Rounds(rounds) = &self.mode else { return None };
        (!open.is_empty()).then(|| InputRequiredResult::new(Some(open), rounds.state()))
    }

    /// Sends an elicitation request when it is this call's turn. Returns at once when the call is cancelled.
    async fn elicit(
        &self,
        peer: &Peer<RoleServer>,
        question: &Question,
        form: ElicitRequestParams,
    ) -> Answer {
        let mut news = self.cancelled.subscribe();
        let mut cancelled = pin!(news.wait_for(|cancelled| *cancelled));
        let _turn = tokio::select! {
            biased;
            _ = &mut cancelled => return Answer::No,
            turn = self.approvals.turn.lock() => turn,
        };
        // Another call may have asked the same question in the meantime.
        if self.is_known(question) {
            return Answer::Once;
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let options = PeerRequestOptions::with_timeout(ANSWER_TIMEOUT);
        let Ok(mut asked) = peer.send_cancellable_request(request, options).await else { return Answer::No };
        let given = tokio::select! {
            biased;
            _ = &mut cancelled => None,
            given = tokio::time::timeout(ANSWER_TIMEOUT, &mut asked.rx) => given.ok(),
        };
        let Some(given) = given else {
            // The host may close its dialog. A later answer is ignored.
            let _ =
                asked.cancel(Some("the call was cancelled, or the answer took too long".to_owned())).await;
            return Answer::No;
        };
        let Ok(Ok(ClientResult::ElicitResult(given))) = given else { return Answer::No };
        match (answer(&given), self.lifetime) {
            (Answer::SessionExact, ApprovalLifetime::Call) => Answer::Once,
            // While it is this call's turn: the next one looks for it as soon as its own begins.
            (answer, _) => self.keep(question, answer),
        }
    }

    /// The question as a form; `None` if it is too long to be shown completely. "Always" is not an option: it would change the
    /// user's configuration, and the server cannot tell whether the host or its user answered.
    fn form(&self, action: &Action, decision: &Decision) -> Option<ElicitRequestParams> {
        let request = action.approval_request();
        let mut lines = request.lines();
        lines.push(visible(&decision.by.to_string()).into_owned());
        let message = lines.join("\n");
        // A folded list of changes does not name every path.
        if !request.is_whole || request.grants.len() > MAX_GRANTS || message.chars().count() > MAX_CHARACTERS
        {
            return None;
        }
        let mut choices = vec![json!({ "const": "once", "title": "Allow once" })];
        if self.lifetime == ApprovalLifetime::Connection {
            choices.push(json!({ "const": "session", "title": "Allow for this connection" }));
        }
        choices.push(json!({ "const": "no", "title": "Deny" }));
        let schema = json!({
            "type": "object",
            "properties": {
                FIELD: { "type": "string", "title": "Allow?", "oneOf": choices },
            },
            "required": [FIELD],
        });
        let schema = serde_json::from_value(schema)
            .unwrap_or_else(|_| ElicitationSchema::builder().required_string(FIELD).build_unchecked());
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
    }
}

fn answer(given: &ElicitResult) -> Answer {
    if given.action != ElicitationAction::Accept {
        return Answer::No;
    }
    parse_answer(given.content.as_ref().and_then(|content| content.get(FIELD)).and_then(Value::as_str))
}

/// Everything except a clear approval is a denial.
fn parse_answer(word: Option<&str>) -> Answer {
    match word {
        Some("once") => Answer::Once,
        Some("session") => Answer::SessionExact,
        _ => Answer::No,
    }
}

fn answer_name(answer: Answer) -> &'static str {
    match answer {
        Answer::Once => "once",
        Answer::SessionExact => "session",
        _ => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Arc<StateSigner> {
        Arc::new(StateSigner::new().unwrap())
    }

    #[test]
    fn only_a_clear_approval_counts() {
        let check = |response: Value, expect: Answer| {
            let responses = BTreeMap::from([("k".to_owned(), response.clone())]);
            let rounds = RoundAnswers::of(Some(responses), None, signer()).unwrap();
            assert_eq!(rounds.known.get("k"), Some(&expect), "{response}");
        };
        check(json!({ "action": "accept", "content": { "answer": "once" } }), Answer::Once);
        check(json!({ "action": "accept", "content": { "answer": "session" } }), Answer::SessionExact);
        for no in [
            json!({ "action": "accept", "content": { "answer": "no" } }),
            json!({ "action": "accept", "content": { "answer": "always" } }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept" }),
            json!({ "action": "decline", "content": { "answer": "once" } }),
            json!({ "action": "cancel" }),
            json!("once"),
            json!(null),
        ] {
            check(no, Answer::No);
        }
    }

    #[test]
    fn answers_of_earlier_rounds_are_carried_in_the_signed_state() {
        let yes = json!({ "action": "accept", "content": { "answer": "once" } });
        let own = signer();
        let of = |responses, state: Option<&str>| RoundAnswers::of(responses, state, Arc::clone(&own));
        let first = of(Some(BTreeMap::from([("a".to_owned(), yes.clone())])), None).unwrap();
        let state = first.state().unwrap();
        let second = of(Some(BTreeMap::from([("b".to_owned(), yes)])), Some(&state)).unwrap();
        assert_eq!(second.state().as_deref().and_then(|state| own.verify(state)), Some("a=once,b=once"));
        assert_eq!(of(None, None).unwrap().state(), None);
        for odd in
            ["", "=", "a", "a=once", "a=once.", &format!("{state}-TAMPERED"), &format!("b=once,{state}")]
        {
            assert_eq!(of(None, Some(odd)).unwrap_err(), TamperedStateError, "{odd}");
        }
        for odd in ["", "=", "a", "a=always", "a=b=c"] {
            let known = of(None, Some(&own.sign(odd))).unwrap().known;
            assert!(known.values().all(|answer| *answer == Answer::No), "{odd}");
        }
        assert_eq!(
            of(None, Some(&own.sign(&"a=once,".repeat(MAX_STATE_BYTES)))).unwrap_err(),
            TamperedStateError
        );
    }
}

//! Questions of the gate, put to whoever sits before the host.
//!
//! Two ways, by the revision that a client speaks: a request of the server's own while the call waits, or a result that asks for
//! input, after which the client makes the call again with the answer. Where a client has neither, nobody is asked, and what
//! would ask is refused with the rule that would allow it. The same holds for a question that is too long to be shown whole.
//!
//! A question ends with its call: when the client takes the call back or goes away, nobody waits for an answer any more.

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

use super::seal::Seal;
use super::shelf::lock;

/// How long somebody may take to answer. Whoever left for lunch finds the call refused and can make it again.
const LONGEST: Duration = Duration::from_mins(10);

/// The most answers that a client may bring along: a call asks a handful of questions.
const MOST_ANSWERS: usize = 64;

/// The longest text that is read as answers.
const LONGEST_STATE: usize = 16 << 10;

/// The most characters of a question. Hosts show it in a small dialog, and what they would cut off would be granted unseen.
const MAX_CHARACTERS: usize = 4_000;

/// The most grants of a question: what a person can take in at once where nothing can be paged.
const MAX_GRANTS: usize = 12;

/// The field of the form.
const FIELD: &str = "answer";

/// How long a yes can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// Until the connection ends.
    Connection,
    /// Nothing lasts: each request stands for itself.
    Call,
}

/// How the person before the host is asked.
pub(super) enum Way {
    /// By a request of the server's own.
    Elicit { peer: Peer<RoleServer>, runtime: Handle },
    /// By a result that asks. What has been answered so far came with the request.
    Rounds(Rounds),
}

/// The answers that came with a request, by the key of their question.
#[derive(Debug)]
pub(super) struct Rounds {
    known: BTreeMap<String, Answer>,
    seal: Arc<Seal>,
}

/// What a client brought back is not what it was given.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`requestState` is not what this server gave; make the call again without it")]
pub(super) struct Tampered;

impl Rounds {
    /// Reads what a client brought. The state holds answers of rounds before, so it is taken only as it was given. A key stands for
    /// one very question, with the digests that it is bound to.
    pub(super) fn of(
        responses: Option<InputResponses>,
        state: Option<&str>,
        seal: Arc<Seal>,
    ) -> Result<Self, Tampered> {
        let mut known = BTreeMap::new();
        let state = match state {
            Some(state) if state.len() > LONGEST_STATE => return Err(Tampered),
            Some(state) => seal.open(state).ok_or(Tampered)?,
            None => "",
        };
        for (key, word) in state.split(',').filter_map(|one| one.split_once('=')).take(MOST_ANSWERS) {
            known.insert(key.to_owned(), said(Some(word)));
        }
        for (key, response) in responses.unwrap_or_default().into_iter().take(MOST_ANSWERS) {
            let answer =
                serde_json::from_value::<ElicitResult>(response).map_or(Answer::No, |given| answer(&given));
            known.insert(key, answer);
        }
        Ok(Self { known, seal })
    }

    fn state(&self) -> Option<String> {
        let one = |(key, answer): (&String, &Answer)| format!("{key}={}", word(*answer));
        let state: Vec<String> = self.known.iter().map(one).collect();
        (!state.is_empty()).then(|| self.seal.close(&state.join(",")))
    }
}

/// What the user of one connection answered, and whose turn it is to ask.
#[derive(Debug, Default)]
pub(super) struct ConnectionAnswers {
    given: Mutex<Answers>,
    /// Held while a question is open: a person is asked one thing at a time.
    turn: tokio::sync::Mutex<()>,
}

/// Who answers the questions of one call.
pub(super) struct Inquiry {
    way: Way,
    lasting: Lasting,
    /// What was said on this connection before.
    answers: Arc<ConnectionAnswers>,
    /// Questions that wait for the next round.
    open: Mutex<BTreeMap<String, InputRequest>>,
    /// The thread of the call: what is asked there is asked before anything runs.
    home: OnceLock<ThreadId>,
    cancel: Cancel,
    /// Whether the call was taken back, which ends every question of it.
    withdrawn: watch::Sender<bool>,
    /// Whether a question was too long to be asked.
    is_too_long: AtomicBool,
}

impl Inquiry {
    pub(super) fn new(way: Way, lasting: Lasting, answers: Arc<ConnectionAnswers>, cancel: Cancel) -> Self {
        Self {
            way,
            lasting,
            answers,
            open: Mutex::default(),
            home: OnceLock::new(),
            cancel,
            withdrawn: watch::Sender::new(false),
            is_too_long: AtomicBool::new(false),
        }
    }

    /// Says that this is the thread of the call.
    pub(super) fn begin(&self) {
        let _ = self.home.set(std::thread::current().id());
    }

    /// Ends every question of the call, open ones and those that wait for their turn, with a no.
    pub(super) fn withdraw(&self) {
        self.withdrawn.send_replace(true);
    }

    /// What to say beside a refusal, where nobody was asked because the question was too long.
    pub(super) fn note(&self) -> Option<String> {
        self.is_too_long.load(Ordering::Relaxed).then(|| {
            format!(
                "nobody was asked: a question of more than {MAX_GRANTS} grants or {MAX_CHARACTERS} characters, or about more paths than \
                 fit, cannot be shown whole here; allow it with a rule, or run it with metier at a terminal"
            )
        })
    }

    /// Asks. The answer holds for this call; what lasts longer is remembered here, since the session does not.
    pub(super) fn ask(&self, action: &Action, decision: &Decision) -> Answer {
        let Some(question) = &decision.question else { return Answer::No };
        if self.is_known(question) {
            return Answer::Once;
        }
        let Some(form) = self.form(action, decision) else {
            self.is_too_long.store(true, Ordering::Relaxed);
            return Answer::No;
        };
        let given = match &self.way {
            Way::Elicit { peer, runtime } => runtime.block_on(self.elicit(peer, question, form)),
            // The call has run, and another round would run it a second time. Its changes are kept, and its result says how to
            // apply them.
            Way::Rounds(_) if matches!(action.deed, Deed::Changes(_)) => return Answer::No,
            Way::Rounds(rounds) => {
                // The key is made of everything that the question is bound to.
                let digest = FileDigest::of(question.key().text().as_bytes()).to_string();
                let key = digest.get(7..39).unwrap_or_default().to_owned();
                let Some(answer) = rounds.known.get(&key) else {
                    self.leave_open(key, form);
                    return Answer::No;
                };
                *answer
            }
        };
        if given == Answer::SessionExact {
            lock(&self.answers.given).give(question, Answer::SessionExact);
            return Answer::Once;
        }
        given
    }

    /// Whether the same question was answered with a yes for the whole connection.
    fn is_known(&self, question: &Question) -> bool {
        lock(&self.answers.given).to(question).is_some_and(|known| known != Answer::No)
    }

    /// Keeps a question for the next round. Nothing may run in this one, since all of it is done again; but what is running is
    /// left alone and goes without.
    fn leave_open(&self, key: String, form: ElicitRequestParams) {
        if self.home.get() == Some(&std::thread::current().id()) {
            lock(&self.open).insert(key, InputRequest::Elicitation(ElicitRequest::new(form)));
            self.cancel.cancel();
        }
    }

    /// The result that asks, where a question is open.
    pub(super) fn next_round(&self) -> Option<InputRequiredResult> {
        let open = std::mem::take(&mut *lock(&self.open));
        let Way::Rounds(rounds) = &self.way else { return None };
        (!open.is_empty()).then(|| InputRequiredResult::new(Some(open), rounds.state()))
    }

    /// Asks by a request of the server's own, when it is this call's turn. Ends at once when the call is taken back.
    async fn elicit(
        &self,
        peer: &Peer<RoleServer>,
        question: &Question,
        form: ElicitRequestParams,
    ) -> Answer {
        let mut news = self.withdrawn.subscribe();
        let mut withdrawn = pin!(news.wait_for(|withdrawn| *withdrawn));
        let _turn = tokio::select! {
            biased;
            _ = &mut withdrawn => return Answer::No,
            turn = self.answers.turn.lock() => turn,
        };
        // Another call may have asked the same meanwhile.
        if self.is_known(question) {
            return Answer::Once;
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let options = PeerRequestOptions::with_timeout(LONGEST);
        let Ok(mut asked) = peer.send_cancellable_request(request, options).await else { return Answer::No };
        let given = tokio::select! {
            biased;
            _ = &mut withdrawn => None,
            given = tokio::time::timeout(LONGEST, &mut asked.rx) => given.ok(),
        };
        let Some(given) = given else {
            // The host may close its dialog; an answer that comes later belongs to nobody.
            let _ =
                asked.cancel(Some("the call was taken back, or nobody answered in time".to_owned())).await;
            return Answer::No;
        };
        let Ok(Ok(ClientResult::ElicitResult(given))) = given else { return Answer::No };
        match (answer(&given), self.lasting) {
            (Answer::SessionExact, Lasting::Call) => Answer::Once,
            (answer, _) => answer,
        }
    }

    /// The question, as a host shows it. "Always" is not among the answers: it is written into the user's configuration, and
    /// whether a host or its user answers here nobody can see. `None` where it is too long to be shown whole.
    fn form(&self, action: &Action, decision: &Decision) -> Option<ElicitRequestParams> {
        let request = action.approval_request();
        let mut lines = request.lines();
        lines.push(visible(&decision.by.to_string()).into_owned());
        let message = lines.join("\n");
        // A list of changes that is folded does not name every path.
        if !request.is_whole || request.grants.len() > MAX_GRANTS || message.chars().count() > MAX_CHARACTERS
        {
            return None;
        }
        let mut choices = vec![json!({ "const": "once", "title": "Yes, this time" })];
        if self.lasting == Lasting::Connection {
            choices.push(json!({ "const": "session", "title": "Yes, for as long as this connection lasts" }));
        }
        choices.push(json!({ "const": "no", "title": "No" }));
        let schema = json!({
            "type": "object",
            "properties": {
                FIELD: { "type": "string", "title": "May it?", "oneOf": choices },
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
    said(given.content.as_ref().and_then(|content| content.get(FIELD)).and_then(Value::as_str))
}

/// Whatever is not a clear yes is a no.
fn said(word: Option<&str>) -> Answer {
    match word {
        Some("once") => Answer::Once,
        Some("session") => Answer::SessionExact,
        _ => Answer::No,
    }
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Once => "once",
        Answer::SessionExact => "session",
        _ => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal() -> Arc<Seal> {
        Arc::new(Seal::new().unwrap())
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        let check = |response: Value, expect: Answer| {
            let responses = BTreeMap::from([("k".to_owned(), response.clone())]);
            let rounds = Rounds::of(Some(responses), None, seal()).unwrap();
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
    fn what_was_answered_before_comes_along_to_the_next_round() {
        let yes = json!({ "action": "accept", "content": { "answer": "once" } });
        let own = seal();
        let of = |responses, state: Option<&str>| Rounds::of(responses, state, Arc::clone(&own));
        let first = of(Some(BTreeMap::from([("a".to_owned(), yes.clone())])), None).unwrap();
        let state = first.state().unwrap();
        let second = of(Some(BTreeMap::from([("b".to_owned(), yes)])), Some(&state)).unwrap();
        assert_eq!(second.state().as_deref().and_then(|state| own.open(state)), Some("a=once,b=once"));
        assert_eq!(of(None, None).unwrap().state(), None);
        for odd in
            ["", "=", "a", "a=once", "a=once.", &format!("{state}-TAMPERED"), &format!("b=once,{state}")]
        {
            assert_eq!(of(None, Some(odd)).unwrap_err(), Tampered, "{odd}");
        }
        for odd in ["", "=", "a", "a=always", "a=b=c"] {
            let known = of(None, Some(&own.close(odd))).unwrap().known;
            assert!(known.values().all(|answer| *answer == Answer::No), "{odd}");
        }
        assert_eq!(of(None, Some(&own.close(&"a=once,".repeat(LONGEST_STATE)))).unwrap_err(), Tampered);
    }
}

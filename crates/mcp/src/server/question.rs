//! Questions of the gate, put to whoever sits before the host.
//!
//! Two ways, by the revision that a client speaks: a request of the server's own while the call waits, or a result that asks for
//! input, after which the client makes the call again with the answer. Where a client has neither, nobody is asked, and what
//! would ask is refused with the rule that would allow it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use metier_files::FileDigest;
use metier_policy::{Action, Answer, Answers, Decision};
use metier_sandbox::Cancel;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::seal::Seal;
use super::shelf::lock;

/// How long somebody may take to answer. Whoever left for lunch finds the call refused and can make it again.
const LONGEST: Duration = Duration::from_mins(10);

/// The most answers that a client may bring along: a call asks a handful of questions.
const MOST_ANSWERS: usize = 64;

/// The longest text that is read as answers.
const LONGEST_STATE: usize = 16 << 10;

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

/// Who answers the questions of one call.
pub(super) struct Inquiry {
    way: Way,
    lasting: Lasting,
    /// What was said on this connection before.
    answers: Arc<Mutex<Answers>>,
    /// Questions that wait for the next round.
    open: Mutex<BTreeMap<String, InputRequest>>,
    /// The thread of the call: what is asked there is asked before anything runs.
    home: OnceLock<ThreadId>,
    cancel: Cancel,
}

impl Inquiry {
    pub(super) fn new(way: Way, lasting: Lasting, answers: Arc<Mutex<Answers>>, cancel: Cancel) -> Self {
        Self { way, lasting, answers, open: Mutex::default(), home: OnceLock::new(), cancel }
    }

    /// Says that this is the thread of the call.
    pub(super) fn begin(&self) {
        let _ = self.home.set(std::thread::current().id());
    }

    /// Asks. The answer holds for this call; what lasts longer is remembered here, since the session does not.
    pub(super) fn ask(&self, action: &Action, decision: &Decision) -> Answer {
        let Some(question) = &decision.question else { return Answer::No };
        // One question at a time: the lock is held until it is answered.
        let mut answers = lock(&self.answers);
        if answers.to(question).is_some_and(|known| known != Answer::No) {
            return Answer::Once;
        }
        let given = match &self.way {
            Way::Elicit { peer, runtime } => self.elicit(peer, runtime, action, decision),
            Way::Rounds(rounds) => {
                // The key is made of everything that the question is bound to.
                let digest = FileDigest::of(format!("{question:?}").as_bytes()).to_string();
                let key = digest.get(7..39).unwrap_or_default().to_owned();
                let Some(answer) = rounds.known.get(&key) else {
                    self.leave_open(key, action, decision);
                    return Answer::No;
                };
                *answer
            }
        };
        if given == Answer::SessionExact {
            answers.give(question, Answer::SessionExact);
            return Answer::Once;
        }
        given
    }

    /// Keeps a question for the next round. Nothing may run in this one, since all of it is done again; but what is running is
    /// left alone and goes without.
    fn leave_open(&self, key: String, action: &Action, decision: &Decision) {
        if self.home.get() == Some(&std::thread::current().id()) {
            let request = InputRequest::Elicitation(ElicitRequest::new(self.form(action, decision)));
            lock(&self.open).insert(key, request);
            self.cancel.cancel();
        }
    }

    /// The result that asks, where a question is open.
    pub(super) fn next_round(&self) -> Option<InputRequiredResult> {
        let open = std::mem::take(&mut *lock(&self.open));
        let Way::Rounds(rounds) = &self.way else { return None };
        (!open.is_empty()).then(|| InputRequiredResult::new(Some(open), rounds.state()))
    }

    fn elicit(
        &self,
        peer: &Peer<RoleServer>,
        runtime: &Handle,
        action: &Action,
        decision: &Decision,
    ) -> Answer {
        let form = self.form(action, decision);
        let asked = runtime.block_on(peer.create_elicitation_with_timeout(form, Some(LONGEST)));
        asked.map_or(Answer::No, |given| match (answer(&given), self.lasting) {
            (Answer::SessionExact, Lasting::Call) => Answer::Once,
            (answer, _) => answer,
        })
    }

    /// The question, as a host shows it. "Always" is not among the answers: it is written into the user's configuration, and
    /// whether a host or its user answers here nobody can see.
    fn form(&self, action: &Action, decision: &Decision) -> ElicitRequestParams {
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
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("{}\n{}", action.sentence(), decision.by),
            requested_schema: schema,
        }
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

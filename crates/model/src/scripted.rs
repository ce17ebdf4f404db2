//! A model that says what it was told to say, for tests.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::chat_model::Answer;
use crate::{ChatModel, Event, ModelError, ModelId, Request, Seal, Stop, outlet};

/// A model that gives the turns it was made of, one after the other, and keeps what it was asked.
///
/// ```
/// use metier_model::{ChatModel, Message, Request, Scripted, Turn, whole};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let model = Scripted::new([Turn::says("Hello.")]);
/// let request = Request { messages: vec![Message::user("Hi").into()], ..Request::default() };
/// assert_eq!(whole(model.ask(&request)).await?.text(), "Hello.");
/// assert_eq!(model.asked().len(), 1);
/// # Ok::<(), metier_model::ModelError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scripted {
    id: ModelId,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    turns: std::collections::VecDeque<Turn>,
    asked: Vec<Request>,
}

/// One answer of a scripted model.
#[derive(Default)]
pub struct Turn {
    steps: Vec<Step>,
    expect: Option<Expectation>,
}

type Expectation = Box<dyn Fn(&Request) -> Result<(), String> + Send + Sync>;

/// One thing that happens in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// This is passed on.
    Event(Event),
    /// Nothing happens for so long.
    Wait(Duration),
    /// The answer breaks off with this.
    Fault(ModelError),
    /// Nothing more ever comes.
    Hang,
}

impl Turn {
    /// These steps.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), expect: None }
    }

    /// A text, and the end.
    pub fn says(text: &str) -> Self {
        Self::default().then(Step::Event(Event::Text(text.to_owned()))).ends(Stop::EndOfTurn)
    }

    /// Calls of tools, each by its name and its arguments, and the end.
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut turn = Self::default();
        let mut count = 0;
        for (index, (name, arguments)) in (0..).zip(calls) {
            let began = Event::CallBegan {
                index,
                id: format!("call-{index}"),
                name: name.to_owned(),
                seal: Seal::Open,
            };
            turn = turn
                .then(Step::Event(began))
                .then(Step::Event(Event::CallArguments { index, fragment: arguments.to_owned() }));
            count = index + 1;
        }
        let ended = (0..count).map(|index| Step::Event(Event::CallEnded { index }));
        turn.steps.extend(ended);
        turn.ends(Stop::ToolCalls)
    }

    /// An answer that breaks off at once.
    pub fn fails(error: ModelError) -> Self {
        Self::new([Step::Fault(error)])
    }

    /// And then this.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// And then the end.
    #[must_use]
    pub fn ends(self, stop: Stop) -> Self {
        self.then(Step::Event(Event::End(stop)))
    }

    /// The turn is given only to a request that passes; for another one it fails with what the check says.
    #[must_use]
    pub fn expecting(
        mut self,
        check: impl Fn(&Request) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.expect = Some(Box::new(check));
        self
    }
}

impl Scripted {
    /// A model of these turns, called `scripted/model`.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::called(ModelId::built_in("scripted", "model"), turns)
    }

    /// A model of these turns under another name.
    pub fn called(id: ModelId, turns: impl IntoIterator<Item = Turn>) -> Self {
        let state = State { turns: turns.into_iter().collect(), asked: Vec::new() };
        Self { id, state: Mutex::new(state) }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Request> {
        self.lock().asked.clone()
    }

    /// How many turns nobody asked for yet.
    pub fn left(&self) -> usize {
        self.lock().turns.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_turn(&self, request: &Request) -> Result<Turn, ModelError> {
        let mut state = self.lock();
        state.asked.push(request.clone());
        let number = state.asked.len();
        let off_script = |why| ModelError::OffScript { why };
        let turn = state
            .turns
            .pop_front()
            .ok_or_else(|| off_script(format!("the script has no answer to request {number}; add a turn")))?;
        match turn.expect.as_ref().map_or(Ok(()), |check| check(request)) {
            Ok(()) => Ok(turn),
            Err(why) => Err(off_script(format!("request {number} is not what the script expects: {why}"))),
        }
    }
}

impl ChatModel for Scripted {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        outlet::stream(move |outlet| async move {
            let turn = match self.next_turn(request) {
                Ok(turn) => turn,
                Err(error) => return outlet.put(Err(error)).await,
            };
            for step in turn.steps {
                match step {
                    Step::Event(event) => outlet.put(Ok(event)).await,
                    Step::Wait(time) => tokio::time::sleep(time).await,
                    Step::Fault(error) => return outlet.put(Err(error)).await,
                    Step::Hang => std::future::pending().await,
                }
            }
        })
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        write!(f, "Scripted({}, {} asked, {} left)", self.id, state.asked.len(), state.turns.len())
    }
}

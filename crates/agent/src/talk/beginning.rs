//! How a child begins: its model, its limits, its tools, and where it is written down.

use std::sync::Arc;

use metier_model::Block;
use metier_policy::{Decision, Offered, Skill};
use metier_runtime::{
    Arguments, By as Who, Fork, NotActivated, NotUsed, Session, SkillScope, Surface, ToolResult, Way,
};
use metier_skill::Tool;
use metier_store as store;
use metier_store::{By, Decided, EventKind, Outcome, SessionId, Started, Used};

use super::children::{ChildAsked, Kin};
use super::handing_over::handed_over;
use super::{Company, Talk, TalkError};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::child::{
    Birth, Child, ChildAgent, ChildAnswer, ChildMode, Kit, Over, Place, Quiet, Slot, Start, beneath_itself,
    in_background, request, result, too_deep,
};
use crate::frame::Frame;
use crate::history::History;
use crate::journal::Journal;
use crate::limits::Spent;
use crate::models::{Choosing, Wish, remark};
use crate::outside::Outside;
use crate::tools::GeneralTools;

/// Somebody who wants a child.
pub(super) struct Wanting {
    pub(super) by: By,
    pub(super) call: Option<String>,
}

/// What came of starting one.
pub(super) enum Begun {
    /// It is under way, and waited for.
    Awaited(u64),
    /// There is a result at once.
    Answered(ToolResult),
}

impl Talk {
    /// The conversation of a child that has its turn.
    pub(crate) fn of_child(
        kit: Kit,
        slot: Slot,
        (frame, started, activated): (Frame, Started, store::Activated),
    ) -> Result<Self, TalkError> {
        let Kit { id, mode, line, agent, session, general, outside, company, family } = kit;
        let mut history = History::default();
        history.take(&EventKind::Started(started.clone()));
        let used = Used {
            skill: activated.skill.clone(),
            origin: activated.origin.clone(),
            digest: activated.digest.clone(),
            tags: activated.tags.clone(),
            by: activated.by,
            usage: store::Usage::default(),
            cost_micros: 0,
            outcome: Outcome::Done,
        };
        let journal = Journal::begin_as(id, agent.store.clone(), started, Arc::clone(&company.watch))?;
        let mut talk = Self::new(&agent, session, (general, outside), journal, frame, history, company);
        talk.kin = Kin { family, line, mode: Some(mode), slot: Some(slot), ..Kin::alone(agent.limits) };
        talk.used.push((used, Spent::default()));
        talk.write(EventKind::Framed(talk.frame.stored()))?;
        talk.write(EventKind::Activated(activated))?;
        Ok(talk)
    }

    /// Writes down what is odd about a child, once its parent has said that it began.
    pub(crate) fn take_remarks(&mut self, remarks: Vec<EventKind>) -> Result<(), TalkError> {
        remarks.into_iter().try_for_each(|remark| self.write(remark))
    }

    pub(super) fn begin_child(&mut self, asked: &ChildAsked, wanting: &Wanting) -> Result<Begun, TalkError> {
        let (wanted, mode) = match asked {
            ChildAsked::New { wanted, mode } => (wanted, mode),
            ChildAsked::Again(child) => return self.take_up_child(child, wanting),
        };
        let depth = self.agent.limits.depth;
        if let Some(why) = beneath_itself(&self.kin.line, &wanted.skill) {
            return Ok(Begun::Answered(ToolResult::refused(why)));
        }
        if self.kin.line.len() >= usize::try_from(depth).unwrap_or(usize::MAX) {
            return Ok(Begun::Answered(ToolResult::refused(too_deep(depth))));
        }
        let forked = lock(&self.session).fork_wanted(wanted);
        let fork = match forked {
            Ok(fork) => fork,
            Err(error) => return Ok(Begun::Answered(refused(error))),
        };
        // Before it is on its way: what is decided comes before what is done.
        if let Some(decision) = &fork.decision {
            self.decided(wanting.call.as_deref(), &wanted.skill, decision)?;
        }
        let (number, child, mode) = match self.send_child(fork, *mode, wanting) {
            Ok(sent) => sent,
            Err(why) => return Ok(Begun::Answered(ToolResult::refused(why))),
        };
        Ok(match mode {
            ChildMode::Background => {
                Begun::Answered(ToolResult::done(in_background(&wanted.skill.name, child)))
            }
            ChildMode::Fork | ChildMode::Handoff => Begun::Awaited(number),
        })
    }

    fn decided(&mut self, call: Option<&str>, skill: &Skill, decision: &Decision) -> Result<(), TalkError> {
        self.write(EventKind::Decided(Decided {
            call: call.map(str::to_owned),
            skill: Some(skill.name.clone()),
            action: format!("run the skill {skill} in a child"),
            verdict: decision.ruling.word().to_owned(),
            rule: Some(decision.to_string()),
            answered_by: None,
            allow_with: Vec::new(),
        }))
    }

    /// Puts a child together and sends it on its way.
    fn send_child(
        &mut self,
        fork: Fork,
        mode: ChildMode,
        wanting: &Wanting,
    ) -> Result<(u64, SessionId, ChildMode), String> {
        let mut remarks = Vec::new();
        let (named, background) = match &fork.activation.way {
            Way::Fork { agent, background } => (agent.clone(), background.unwrap_or_default()),
            Way::Inline => (None, false),
        };
        let mode = if mode == ChildMode::Fork && background { ChildMode::Background } else { mode };
        let Fork { content, activation, session, .. } = fork;
        let runner = self.runner(named.as_deref(), &activation.skill, &mut remarks);
        let session = match &runner.scope {
            Some(rules) => session.held_by(rules.clone()),
            None => session,
        };
        let agent = self.childs_agent(&activation.scope, &runner, &mut remarks);
        let general = self.general.of_child();
        let mut frame = child_frame(&content, &session, (&general, &self.outside), mode, agent.surface);
        if !runner.instructions.trim().is_empty() {
            frame.system.insert(0, Block::stable(runner.instructions));
        }
        let halt = self.halt.child().map_err(|error| format!("no child can be started: {error}"))?;
        let id = SessionId::new().map_err(|error| format!("no child can be started: {error}"))?;
        let told = told(&activation.arguments);
        let snapshot = self.agent.skills.snapshot();
        let started = Started {
            request: request(&told),
            by: By::Parent,
            parent: Some(self.id()),
            project: general.project_shown(),
            model: Some(agent.model.id().to_string()),
            agent: named,
            surface: Some(agent.surface.to_string()),
            metier: env!("CARGO_PKG_VERSION").to_owned(),
            loaded: snapshot.loaded() as u64,
            failed: snapshot.failures().len() as u64,
            ..Started::default()
        };
        let labels = session.labels_of_last().unwrap_or_default();
        let activated = store::Activated {
            skill: activation.skill.name.clone(),
            origin: activation.skill.origin.clone(),
            version: labels.version,
            digest: activation.digest.to_string(),
            tree_digest: None,
            by: wanting.by,
            call: None,
            arguments: told,
            // It is the system prompt.
            message: String::new(),
            tags: labels.tags,
            notes: activation.notes.clone(),
        };
        let mut line = self.kin.line.clone();
        line.push(activation.skill.clone());
        let watch = Arc::new(Quiet(Arc::clone(self.journal.watch())));
        let kit = Kit {
            id,
            mode,
            line,
            agent,
            session,
            general,
            outside: Arc::clone(&self.outside),
            company: Company { watch, halt, ask: self.ask.clone() },
            family: Arc::clone(&self.kin.family),
        };
        let start = Start::New(Box::new(Birth { frame, started, activated, remarks }));
        Ok((self.send(kit, start, wanting.call.clone())?, id, mode))
    }

    /// Sends a child on its way.
    pub(super) fn send(&mut self, kit: Kit, start: Start, call: Option<String>) -> Result<u64, String> {
        let child = Child {
            kit,
            start,
            parent: Arc::clone(&self.journal),
            call,
            deadline: self.limits.time.map(|time| self.spent.since + time),
        };
        let ticket = self.kin.family.queue.join(Place::Last);
        let number = self.kin.nursery.send(child, ticket);
        number.map_err(|error| format!("no child can be started: {error}"))
    }

    /// This agent as a skill in a child wants it: another model, fewer turns.
    pub(super) fn childs_agent(
        &self,
        scope: &SkillScope,
        runner: &ChildAgent,
        remarks: &mut Vec<EventKind>,
    ) -> Agent {
        let wish = Wish {
            skill: scope.skill.name.clone(),
            model: scope.model.clone().or_else(|| runner.model.clone()),
            effort: scope.effort.clone().or_else(|| runner.effort.clone()),
        };
        let choosing = Choosing {
            models: self.agent.models.as_deref(),
            family: &self.kin.family,
            ask: self.ask.as_deref(),
            now: &self.choice.mind,
        };
        let (mind, said) = choosing.mind(&wish);
        remarks.extend(said);
        let mut agent = self.agent.clone();
        (agent.model, agent.prices, agent.effort) = (mind.model, mind.prices, mind.effort);
        agent.limits.turns = self.kin.family.most_turns();
        for most in scope.max_turns.into_iter().chain(runner.max_turns) {
            agent.limits.turns = agent.limits.turns.min(most.get().into());
        }
        agent
    }

    /// The agent that runs a skill, where it names one.
    pub(super) fn runner(
        &self,
        named: Option<&str>,
        skill: &Skill,
        remarks: &mut Vec<EventKind>,
    ) -> ChildAgent {
        let Some(named) = named else { return ChildAgent::default() };
        let found = self.agent.agents.as_ref().and_then(|agents| agents.find(named));
        found.unwrap_or_else(|| {
            let text = format!(
                "the skill `{}` wants the agent `{}`, which is not known here; its own text is all it gets",
                skill.name,
                metier_catalog::one_line(named, 100)
            );
            remarks.push(remark("agent-unknown", "warning", text));
            ChildAgent::default()
        })
    }

    /// Runs a child for somebody who is not the model, and waits for it. `None` where it works in the background.
    pub(super) fn run_child(
        &mut self,
        fork: Fork,
        mode: ChildMode,
        by: By,
    ) -> Result<Result<Option<ChildAnswer>, String>, TalkError> {
        let skill = fork.activation.skill.name.clone();
        let (number, id, mode) = match self.send_child(fork, mode, &Wanting { by, call: None }) {
            Ok(sent) => sent,
            Err(why) => return Ok(Err(why)),
        };
        if mode == ChildMode::Background {
            let text = in_background(&skill, id);
            self.write(EventKind::Noted { text, about: "child".to_owned() })?;
            return Ok(Ok(None));
        }
        let Some(over) = self.await_child(number)? else { return Ok(Err("the child is gone".to_owned())) };
        self.count(&over.answer);
        let text = result(&over.answer);
        self.write(EventKind::Noted { text, about: "child".to_owned() })?;
        Ok(Ok(Some(over.answer)))
    }

    /// Waits for one child. What others bring meanwhile is noted.
    pub(super) fn await_child(&mut self, number: u64) -> Result<Option<Over>, TalkError> {
        while let Some(over) = self.kin.nursery.next() {
            if over.number == number {
                return Ok(Some(over));
            }
            self.take_note(&over)?;
        }
        Ok(None)
    }
}

/// What stands before the messages of a child: its skill's text, and the tools that its own list and those above it let it call.
fn child_frame(
    content: &str,
    session: &Session,
    (general, outside): (&GeneralTools, &Outside),
    mode: ChildMode,
    surface: Surface,
) -> Frame {
    let scopes = session.scopes();
    let is_offered = |name: &str| {
        let offered =
            match (name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")), Tool::named(name)) {
                (Some((server, tool)), _) => Offered::Mcp { server, tool },
                (None, Some(tool)) => Offered::Tool(tool),
                (None, None) => return true,
            };
        scopes.rules().iter().all(|scope| scope.offers(offered))
    };
    // A crew's skills have their two tools, those of servers, and the way back.
    let is_bare = mode == ChildMode::Handoff && surface == Surface::SkilledCrew;
    let is_general = |name: &str| general.definitions().iter().any(|definition| definition.name == name);
    let frame = Frame::new(content, session, general, outside);
    let frame = frame.keeping(|name| is_offered(name) && !(is_bare && is_general(name)));
    if mode == ChildMode::Handoff { handed_over(frame) } else { frame }
}

/// What a skill was told, as one text.
fn told(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Text(text) => text.clone(),
        Arguments::List(words) => words.join("\n"),
        Arguments::Words(words) => words.join(" "),
    }
}

/// A child that was not to be.
fn refused(error: NotUsed) -> ToolResult {
    let text = error.to_string();
    match error {
        NotUsed::NotActivated(NotActivated::Gate { decision, .. }) => ToolResult::refused(text).by(decision),
        _ => ToolResult::refused(text),
    }
}

/// Who wants a skill, as the runtime knows them.
pub(super) fn who(by: By) -> Who {
    match by {
        By::Model => Who::Model,
        By::User => Who::User,
        By::Agent => Who::Preload,
        _ => Who::Caller,
    }
}

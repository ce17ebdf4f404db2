//! How a child begins: its model, its limits, its tools, and where it is written down.

use std::sync::Arc;
use std::time::Instant;

use metier_model::Block;
use metier_policy::{Decision, Skill};
use metier_runtime::{
    Arguments, By as Who, Fork, NotActivated, NotUsed, Session, SkillScope, Surface, ToolResult, Way,
};
use metier_store as store;
use metier_store::{By, Decided, EventKind, EventSeverity, NoteTopic, SessionId, Started};

use super::children::{ChildAsked, Kin, Wanted};
use super::handing_over::handed_over;
use super::{Company, Talk, TalkError};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::child::{
    Birth, Child, ChildAgent, ChildAnswer, ChildMode, HAND_BACK_RULES, Kit, Over, Place, Quiet, ROLE_RULES,
    Slot, Start, Worker, beneath_itself, in_background, request, result, too_deep,
};
use crate::frame::Frame;
use crate::models::{Choosing, Wish, remark};
use crate::outside::Outside;
use crate::session_log::SessionLog;
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
        (frame, started, activated): (Frame, Started, Option<store::Activated>),
    ) -> Result<Self, TalkError> {
        let Kit { id, mode, worker, line, depth, agent, session, general, outside, company, family } = kit;
        let log = SessionLog::start(id, agent.store.clone(), started, Arc::clone(&company.watch))?;
        let lease = super::resuming::lease(&agent.store, id)?;
        let mut talk = Self::new(&agent, session, (general, outside), log, frame, company);
        talk.lease = Some(lease);
        let is_role = matches!(worker, Worker::Role(_));
        let (worker, mode, slot) = (Some(worker), Some(mode), Some(slot));
        talk.kin = Kin { family, line, depth, worker, mode, slot, ..Kin::alone(agent.limits) };
        let mut remark = None;
        if is_role {
            remark = talk.hand_over();
            talk.frame = handed_over(Frame::clone(&talk.frame), ROLE_RULES).into();
        }
        talk.write_frame()?;
        remark.map(|remark| talk.write(remark)).transpose()?;
        if let Some(activated) = activated {
            talk.write(EventKind::Activated(activated))?;
        }
        Ok(talk)
    }

    /// Writes down what is odd about a child, once its parent has said that it began.
    pub(crate) fn take_remarks(&mut self, remarks: Vec<EventKind>) -> Result<(), TalkError> {
        remarks.into_iter().try_for_each(|remark| self.write(remark))
    }

    pub(super) fn begin_child(&mut self, asked: &ChildAsked, wanting: &Wanting) -> Result<Begun, TalkError> {
        let (wanted, mode) = match asked {
            ChildAsked::New { wanted, mode } => (wanted, *mode),
            ChildAsked::Again(child) => return self.take_up_child(child, wanting),
        };
        let depth = self.agent.limits.depth;
        if let Wanted::Skill(wanted) = wanted
            && let Some(why) = beneath_itself(&self.kin.line, &wanted.skill)
        {
            return Ok(Begun::Answered(ToolResult::refused(why)));
        }
        if self.kin.depth >= depth {
            return Ok(Begun::Answered(ToolResult::refused(too_deep(depth))));
        }
        let wanted = match wanted {
            Wanted::Skill(wanted) => wanted,
            Wanted::Colleague(at, told) => {
                let sent = self.send_colleague(*at, told, wanting);
                return Ok(sent.map_or_else(|why| Begun::Answered(ToolResult::refused(why)), Begun::Awaited));
            }
        };
        let forked = lock(&self.session).fork_wanted(wanted);
        let fork = match forked {
            Ok(fork) => fork,
            Err(error) => return Ok(Begun::Answered(refused(error))),
        };
        // Before it is on its way: what is decided comes before what is done.
        if let Some(decision) = &fork.decision {
            self.decided(wanting.call.as_deref(), &wanted.skill, decision)?;
        }
        let outside = Arc::clone(&self.outside);
        let (number, child, mode) = match self.send_child(fork, mode, wanting, outside) {
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
            verdict: super::verdict(decision.ruling),
            rule: Some(decision.to_string()),
            answered_by: None,
            allow_with: Vec::new(),
            unanswered: false,
        }))
    }

    /// Puts a child together and sends it on its way.
    fn send_child(
        &mut self,
        fork: Fork,
        mode: ChildMode,
        wanting: &Wanting,
        outside: Arc<Outside>,
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
        let mut frame = child_frame(&content, &session, (&general, &outside), mode, agent.surface);
        if !runner.instructions.trim().is_empty() {
            frame.system.insert(0, Block::stable(runner.instructions));
        }
        let told = told(&activation.arguments);
        let started = self.started(&agent, &general, request(&told), named);
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
        let worker = Worker::Skill(activation.skill.name.clone());
        let (id, company) = self.to_begin_with()?;
        let kit = Kit {
            id,
            mode,
            worker,
            line,
            depth: self.kin.depth + 1,
            agent,
            session,
            general,
            outside,
            company,
            family: Arc::clone(&self.kin.family),
        };
        let start = Start::New(Box::new(Birth { frame, started, activated: Some(activated), remarks }));
        Ok((self.send(kit, start, wanting.call.clone())?, id, mode))
    }

    /// Sends a child on its way, behind those that wait already.
    pub(super) fn send(&mut self, kit: Kit, start: Start, call: Option<String>) -> Result<u64, String> {
        let child = Child { kit, start, parent: Arc::clone(&self.log), call, deadline: self.deadline() };
        let ticket = self.kin.family.queue.join(Place::Last);
        self.kin.nursery.send(child, ticket).map_err(|error| not_started(&error))
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
        let mut agent = self.agent_for(&wish, remarks);
        for most in scope.max_turns.into_iter().chain(runner.max_turns) {
            agent.limits.turns = agent.limits.turns.min(most.get().into());
        }
        agent
    }

    /// The agent of a child: as this one, with what is asked for it, and no more turns than anybody has.
    pub(super) fn agent_for(&self, wish: &Wish, remarks: &mut Vec<EventKind>) -> Agent {
        let choosing = Choosing {
            models: self.agent.models.as_deref(),
            family: &self.kin.family,
            ask: self.ask.as_deref(),
            now: &self.choice.mind,
        };
        let (mind, said) = choosing.mind(wish);
        remarks.extend(said);
        let mut agent = self.agent.clone();
        (agent.model, agent.prices, agent.effort) = (mind.model, mind.prices, mind.effort);
        agent.limits.turns = self.kin.family.most_turns();
        agent
    }

    /// How a child's beginning is written down.
    pub(super) fn started(
        &self,
        agent: &Agent,
        general: &GeneralTools,
        request: String,
        named: Option<String>,
    ) -> Started {
        let snapshot = self.agent.skills.snapshot();
        Started {
            request,
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
        }
    }

    /// What every child begins with: which session it is, and who is there while it works.
    pub(super) fn to_begin_with(&self) -> Result<(SessionId, Company), String> {
        let id = SessionId::new().map_err(|error| not_started(&error))?;
        Ok((id, self.company_of_child()?))
    }

    /// Who is there while a child works.
    pub(super) fn company_of_child(&self) -> Result<Company, String> {
        let halt = self.halt.child().map_err(|error| not_started(&error))?;
        let watch = Arc::new(Quiet(Arc::clone(self.log.watch())));
        Ok(Company { watch, halt, ask: self.ask.clone() })
    }

    /// When this conversation has no time left.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.time_left().map(|left| Instant::now() + left)
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
            remarks.push(remark("agent-unknown", EventSeverity::Warning, text));
            ChildAgent::default()
        })
    }

    /// Runs a child for somebody who is not the model, and waits for it. `None` where it works in the background.
    pub(super) fn run_child(
        &mut self,
        fork: Fork,
        mode: ChildMode,
        by: By,
        outside: Arc<Outside>,
    ) -> Result<Result<Option<ChildAnswer>, String>, TalkError> {
        let skill = fork.activation.skill.name.clone();
        let (number, id, mode) = match self.send_child(fork, mode, &Wanting { by, call: None }, outside) {
            Ok(sent) => sent,
            Err(why) => return Ok(Err(why)),
        };
        if mode == ChildMode::Background {
            let text = in_background(&skill, id);
            self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
            return Ok(Ok(None));
        }
        let Some(over) = self.await_child(number)? else { return Ok(Err("the child is gone".to_owned())) };
        let text = result(&over.answer);
        self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
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
        outside.meant(name).is_none_or(|offered| scopes.rules().iter().all(|scope| scope.offers(offered)))
    };
    // A crew's skills have their two tools, those of servers, and the way back.
    let is_bare = mode == ChildMode::Handoff && surface == Surface::SkilledCrew;
    let is_general = |name: &str| general.definitions().iter().any(|definition| definition.name == name);
    let frame = Frame::new(content, session, general, outside);
    let frame = frame.keeping(|name| is_offered(name) && !(is_bare && is_general(name)));
    if mode == ChildMode::Handoff { handed_over(frame, HAND_BACK_RULES) } else { frame }
}

fn not_started(why: &dyn std::fmt::Display) -> String {
    format!("no child can be started: {why}")
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

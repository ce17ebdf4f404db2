//! The others of a crew: how one of them begins, and how the user reaches a skill of theirs.

use std::sync::Arc;

use metier_runtime::{Fork, NotUsed, Session};
use metier_store::{By, EventKind, SessionId};

use super::beginning::{Wanting, who};
use super::{Talk, problems};
use crate::agent::Disclosure;
use crate::bridge::lock;
use crate::child::{Birth, ChildMode, Colleague, Kit, Start, Worker, request};
use crate::frame::Frame;
use crate::models::Wish;
use crate::outside::Outside;
use crate::part::Part;

impl Talk {
    /// Sends somebody else of the crew on their way: a router like this one, with their own words, skills, servers and model, whose
    /// only way out is back.
    pub(super) fn send_colleague(&mut self, at: usize, told: &str, wanting: &Wanting) -> Result<u64, String> {
        let colleagues = Arc::clone(&self.agent.colleagues);
        let colleague = colleagues.get(at).ok_or("nobody of this crew is meant")?;
        let mut remarks = Vec::new();
        let kit =
            self.kit_of(colleague, SessionId::new().map_err(|error| error.to_string())?, &mut remarks)?;
        let frame = Frame::new(&kit.agent.instructions, &kit.session, &kit.general, &kit.outside);
        let frame = kit.agent.part.framed(frame, &kit.outside);
        let started = self.started(&kit.agent, &kit.general, request(told), Some(colleague.name.clone()));
        let birth = Birth { frame, started, activated: None, remarks };
        self.send(kit, Start::New(Box::new(birth)), wanting.call.clone())
    }

    /// What somebody else of the crew works with, as this session.
    pub(super) fn kit_of(
        &self,
        colleague: &Colleague,
        id: SessionId,
        remarks: &mut Vec<EventKind>,
    ) -> Result<Kit, String> {
        let wish = Wish {
            skill: colleague.name.clone(),
            model: colleague.model.clone(),
            effort: colleague.effort.clone(),
        };
        let mut agent = self.agent_for(&wish, remarks);
        agent.disclosure = Disclosure::Handoff;
        agent.part = colleague.part.clone();
        agent.instructions = colleague.instructions.as_str().into();
        agent.outside.clone_from(&colleague.outside);
        agent.colleagues = Arc::default();
        let (session, outside) = self.room_of(colleague)?;
        remarks.extend(problems(&outside));
        Ok(Kit {
            id,
            mode: ChildMode::Handoff,
            worker: Worker::Role(colleague.name.clone()),
            line: self.kin.line.clone(),
            depth: self.kin.depth + 1,
            agent,
            session,
            general: self.general.of_child(),
            outside,
            company: self.company_of_child()?,
            family: Arc::clone(&self.kin.family),
        })
    }

    /// A session for somebody else of the crew, beneath this one, and what their servers offer.
    pub(super) fn room_of(&self, colleague: &Colleague) -> Result<(Session, Arc<Outside>), String> {
        let outside = Arc::new(Outside::settle(colleague.outside.as_ref()));
        let above = lock(&self.session);
        let session = colleague.part.session(&self.agent.skills, self.agent.surface, &outside, Some(&above));
        let mut session = session.map_err(|problems| super::one_by_one(&problems))?;
        session.tools_from_outside(outside.known().clone());
        Ok((session, outside))
    }

    /// Whether a skill wants a child of its own, by its name; also one of somebody else's in the crew.
    pub(super) fn wants_child(&self, name: &str) -> Result<bool, NotUsed> {
        let own = lock(&self.session).wants_child(name);
        let Err(error) = own else { return own };
        if self.owner_of(name).is_some() { Ok(true) } else { Err(error) }
    }

    /// Prepares a child that runs a skill for somebody who is not the model. A skill of somebody else's in the crew runs with
    /// what is theirs.
    pub(super) fn fork(&self, by: By, name: &str, told: &str) -> Result<(Fork, Arc<Outside>), NotUsed> {
        if let Some(colleague) = self.owner_of(name) {
            let (session, outside) = self.room_of(colleague).map_err(NotUsed::Trouble)?;
            return Ok((session.fork(who(by), name, told)?, outside));
        }
        let fork = lock(&self.session).fork(who(by), name, told)?;
        Ok((fork, Arc::clone(&self.outside)))
    }

    /// Whose skill it is, where it is not this one's own.
    pub(super) fn owner_of(&self, name: &str) -> Option<&Colleague> {
        let is_called = |reference: &String| {
            reference == name || reference.rsplit_once(':').is_some_and(|(_, own)| own == name)
        };
        let has = |part: &Part| part.references().unwrap_or_default().iter().any(is_called);
        if has(&self.agent.part) {
            return None;
        }
        self.agent.colleagues.iter().find(|colleague| has(&colleague.part))
    }
}

//! An agent that hands over: its skills as tools, and the way back.

use metier_model::{Block, ToolCall, ToolChoice};
use metier_store::{EventKind, EventSeverity};

use super::Talk;
use crate::agent::Disclosure;
use crate::bridge::lock;
use crate::child::{ChildMode, HAND_BACK, HandedBack, Route, hand_back, routes};
use crate::frame::Frame;
use crate::models::remark;

impl Talk {
    /// What a conversation that is taken up has to know of its family.
    pub(super) fn find_kin(&mut self) {
        self.find_routes();
        // Its scope ended with its process, so the tools that it was given are the only fence that is left.
        if self.log.parent().is_some() {
            self.kin.mode = Some(ChildMode::Fork);
        }
    }

    /// The routes of a conversation whose frame has their tools already.
    pub(super) fn find_routes(&mut self) {
        if self.agent.disclosure == Disclosure::Handoff {
            self.kin.routes = routes(&lock(&self.session), &self.agent.colleagues).0;
        }
    }

    /// Makes a router of a conversation that begins: instead of a catalogue and a tool that activates, a tool for each skill.
    pub(super) fn hand_over(&mut self) -> Option<EventKind> {
        if self.agent.disclosure != Disclosure::Handoff {
            return None;
        }
        let session = lock(&self.session);
        let (routes, left) = routes(&session, &self.agent.colleagues);
        let (skills, catalog) = (session.toolset().definitions(), session.catalog());
        let mut frame = Frame::clone(&self.frame)
            .keeping(|name| !skills.iter().any(|definition| definition.name == name));
        frame.system.retain(|block| &*block.text != catalog);
        drop(session);
        self.frame = frame.with(routes.iter().map(Route::definition)).into();
        self.kin.routes = routes;
        (left > 0).then(|| {
            let text =
                format!("{left} skills more than an agent that hands over has routes for are left out");
            remark("routes-left-out", EventSeverity::Warning, text)
        })
    }

    /// Keeps what a call gave, where a child may hand it back.
    pub(super) fn keep_result(&mut self, tool: &str, text: &str) {
        if self.kin.mode == Some(ChildMode::Handoff) && tool != HAND_BACK {
            text.clone_into(&mut self.kin.last_result);
        }
    }

    /// Whether a call is the way back.
    pub(super) fn is_handing_back(&self, tool: &str) -> bool {
        self.kin.mode == Some(ChildMode::Handoff) && tool == HAND_BACK
    }

    /// What this conversation hands back by these calls, where it was handed over to.
    pub(super) fn handed_back(&self, calls: &[ToolCall]) -> Option<HandedBack> {
        (self.kin.mode == Some(ChildMode::Handoff)).then(|| crate::child::handed_back(calls))?
    }

    /// The last words of a child that handed back.
    pub(super) fn last_words(&mut self, handed_back: HandedBack) -> String {
        match handed_back {
            HandedBack::Words(words) => words,
            HandedBack::LastResult => std::mem::take(&mut self.kin.last_result),
        }
    }
}

/// What stands before the messages of a child that work is handed over to: it is told how to work, and must call something.
pub(super) fn handed_over(mut frame: Frame, rules: &str) -> Frame {
    frame.system.push(Block::stable(rules));
    frame.choice = ToolChoice::Any;
    frame.with([hand_back()])
}

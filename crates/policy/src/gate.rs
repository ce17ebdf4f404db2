//! May this happen? The order in which rules, answers, fences, grants and the mode are heard.

use crate::action::{Action, Need, Trust};
use crate::answer::{Answer, Answers, Question};
use crate::aspect::{Aspect, Part, Run};
use crate::decision::{Decision, Reason, Ruling};
use crate::mode::{Asking, Mode};
use crate::rule::{Rule, rules_for};
use crate::rules::Rules;
use crate::scope::Scope;
use std::collections::BTreeSet;

/// Everything a decision depends on.
///
/// The order is: deny; an untrusted skill; `plan`; `disallowed-tools`; the answer that was given to this very question;
/// a fence; a deny rule that may be about this; `strict`; ask rules; allow rules; grants; the mode. A yes to a question
/// is heard before the fence because the question named the fence.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// The rules and the mode.
    pub rules: &'a Rules,
    /// What the user has answered.
    pub answers: &'a Answers,
    /// The skills that are active, outermost first; a child's own comes behind its parent's.
    pub scopes: &'a [Scope],
    /// Who can be asked.
    pub asking: Asking,
}

impl Gate<'_> {
    /// Decides about an action.
    pub fn decide(&self, action: &Action) -> Decision {
        let aspects = action.aspects();
        if let Some(reason) = self.refusal(action, &aspects) {
            return refuse(reason);
        }
        let stops: Vec<(&Scope, Reason)> = self.stops(&aspects);
        let outside: BTreeSet<String> = stops.iter().map(|(scope, _)| scope.key()).collect();
        let question = Question::new(action, outside);
        match self.answers.to(&question) {
            Some(Answer::No) => return refuse(Reason::Answered(Answer::No)),
            Some(answer) => return allow(vec![Reason::Answered(answer)]),
            None => {}
        }
        let settled = self.settle(&aspects, &question);
        // What the mode refuses without a question stays refused: neither a fence, nor a doubt, nor a stranger's ask rule
        // may turn a no into a question.
        let is_refused = settled.ruling == Ruling::Refuse && settled.question.is_none();
        if let Some((_, reason)) = stops.into_iter().next() {
            return self.ask_unless(is_refused, reason, question);
        }
        // To ask whether something may be asked helps nobody.
        let asked = || aspects.iter().filter(|aspect| !aspect.is_free());
        let doubt = asked().find_map(|aspect| self.rules.doubting(aspect));
        if let Some((rule, why)) = doubt {
            return self.ask_unless(is_refused, Reason::Doubt { rule: rule.clone(), why }, question);
        }
        if self.mode() == Mode::Strict && aspects.iter().any(|aspect| !aspect.is_looking()) {
            return self.ask(self.by_mode("every run asks"), question, Vec::new());
        }
        if self.mode() != Mode::Yolo {
            let rules = || asked().flat_map(|aspect| self.rules.asking(aspect));
            let rule = rules().find(|rule| !is_refused || self.rules.is_heard_in_full(&rule.source));
            if let Some(rule) = rule {
                return self.ask(Reason::AskRule(rule.clone()), question, Vec::new());
            }
        }
        settled
    }

    /// What refuses, whatever anybody answered.
    fn refusal(&self, action: &Action, aspects: &[Aspect<'_>]) -> Option<Reason> {
        if let Some(rule) = aspects.iter().find_map(|aspect| self.rules.denying(aspect)) {
            return Some(Reason::Denied(rule.clone()));
        }
        match action.skill() {
            Some(skill) if skill.trust == Trust::Untrusted => return Some(Reason::Untrusted(skill.clone())),
            Some(skill) if skill.trust == Trust::Changed && aspects.iter().any(Aspect::is_own_program) => {
                return Some(Reason::Changed(skill.clone()));
            }
            _ => {}
        }
        if self.mode() == Mode::Plan && aspects.iter().any(|aspect| !aspect.is_looking()) {
            return Some(self.by_mode("nothing runs"));
        }
        self.scopes.iter().find_map(|scope| aspects.iter().find_map(|aspect| scope.disallowing(aspect)))
    }

    /// Every fence that the action stands outside of.
    fn stops(&self, aspects: &[Aspect<'_>]) -> Vec<(&Scope, Reason)> {
        let stopping = |scope| {
            let scope: &Scope = scope;
            aspects
                .iter()
                .find_map(|aspect| scope.stopping(aspect, self.scopes))
                .map(|reason| (scope, reason))
        };
        self.scopes.iter().filter_map(stopping).collect()
    }

    /// Allow rules, grants and the mode, part by part: every part needs one of them.
    fn settle(&self, aspects: &[Aspect<'_>], question: &Question) -> Decision {
        let mut reasons: Vec<Reason> = Vec::new();
        let mut missing: Vec<&Aspect<'_>> = Vec::new();
        for aspect in aspects {
            match self.settling(aspect) {
                Some(reason) if reasons.contains(&reason) => {}
                Some(reason) => reasons.push(reason),
                None => missing.push(aspect),
            }
        }
        let Some(first) = missing.first() else { return allow(reasons) };
        let rules = rules_for(&missing);
        let unnameable = missing.iter().find(|aspect| aspect.rule().is_none());
        let what = self.lacking(unnameable.unwrap_or(first));
        let reason = self.by_mode(&what);
        match self.mode() {
            Mode::Allow | Mode::Yolo => Decision { allow_with: rules, ..refuse(reason) },
            Mode::Plan | Mode::Strict | Mode::Ask => self.ask(reason, question.clone(), rules),
        }
    }

    fn settling(&self, aspect: &Aspect<'_>) -> Option<Reason> {
        if let Some(rule) = self.rules.allowing(aspect) {
            return Some(Reason::Allowed(rule.clone()));
        }
        if let Some(reason) = self.scopes.iter().find_map(|scope| scope.granting(aspect)) {
            return Some(reason);
        }
        let what = if aspect.is_free() {
            "this is never stopped"
        } else if self.mode() == Mode::Yolo {
            "nothing asks"
        } else {
            "what stays inside the default containment passes"
        };
        passes(self.mode(), aspect).then(|| self.by_mode(what))
    }

    /// What is missing, in words that fit behind the mode.
    fn lacking(&self, aspect: &Aspect<'_>) -> String {
        if self.mode() == Mode::Allow {
            let is_unnameable =
                matches!(aspect.part, Part::Run { kind: Run::Command, .. }) && aspect.rule().is_none();
            let advice =
                "; no rule can name this line: write its words without globs, substitutions and line breaks";
            return format!("only what a rule names happens{}", if is_unnameable { advice } else { "" });
        }
        match aspect.part {
            Part::Need { need: need @ Need::Write(place), .. } if place.is_guarded() => {
                format!("it takes a yes to this very question to {}", need.words())
            }
            Part::Need { need, .. } => format!("it takes a yes to {}", need.words()),
            Part::Mcp { server, tool } => {
                format!("an MCP tool is asked about once a session: `{server}/{tool}`")
            }
            _ => "it takes a yes".to_owned(),
        }
    }

    fn mode(&self) -> Mode {
        self.rules.mode()
    }

    fn by_mode(&self, what: &str) -> Reason {
        Reason::Mode { mode: self.mode(), what: what.to_owned() }
    }

    pub(crate) fn ask(&self, by: Reason, question: Question, allow_with: Vec<Rule>) -> Decision {
        let ruling = match self.asking {
            Asking::Terminal => Ruling::Ask,
            Asking::Nobody => Ruling::Refuse,
        };
        Decision { ruling, by, also: Vec::new(), allow_with, question: Some(question) }
    }

    /// `yolo` asks nothing, and neither a fence nor a doubtful deny rule is a question to begin with.
    fn ask_unless(&self, is_refused: bool, by: Reason, question: Question) -> Decision {
        if is_refused || self.mode() == Mode::Yolo { refuse(by) } else { self.ask(by, question, Vec::new()) }
    }
}

/// Whether a mode lets a part of an action pass by itself.
fn passes(mode: Mode, aspect: &Aspect<'_>) -> bool {
    if aspect.is_free() {
        return true;
    }
    match (mode, &aspect.part) {
        (Mode::Allow, _) => false,
        // Neither what is not known whole nor what takes a yes to this very question.
        (Mode::Yolo, Part::Need { need: Need::Write(place), .. }) => !place.is_guarded(),
        (Mode::Yolo, Part::Tool { is_whole, .. }) => *is_whole,
        (Mode::Yolo, _) | (_, Part::Activate | Part::Read(_) | Part::Script { .. } | Part::Run { .. }) => {
            true
        }
        (_, Part::Tool { tool, is_whole, .. }) => tool.is_built_in() && *is_whole,
        (_, Part::Mcp { .. } | Part::Need { .. }) => false,
    }
}

pub(crate) fn refuse(by: Reason) -> Decision {
    Decision { ruling: Ruling::Refuse, by, also: Vec::new(), allow_with: Vec::new(), question: None }
}

/// Allowed by these reasons together; an action has at least one part, so there is at least one.
fn allow(mut reasons: Vec<Reason>) -> Decision {
    let also = reasons.split_off(reasons.len().min(1));
    match reasons.pop() {
        Some(by) => Decision { ruling: Ruling::Allow, by, also, allow_with: Vec::new(), question: None },
        None => {
            refuse(Reason::Mode { mode: Mode::Plan, what: "an action without a part is none".to_owned() })
        }
    }
}

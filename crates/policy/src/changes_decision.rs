//! What of a call's changes may be applied, path by path.

use crate::action::{Action, Actor, Need};
use crate::answer::{Answer, Question};
use crate::aspect::{Aspect, Part};
use crate::decision::{Decision, Reason, Ruling};
use crate::file_glob::FileGlob;
use crate::gate::{Gate, refuse};
use crate::mode::Mode;
use crate::path_change::{PathChange, PathChangeKind};
use crate::place::Place;
use crate::rule::Rule;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The most rules that name one path each. More than a person pastes become rules for folders.
const MAX_EXACT_RULES: usize = 20;

/// What may be applied. Every change is in exactly one of the three, by its number in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesDecision {
    /// Applied, and what allowed each.
    pub allowed: Vec<(usize, Reason)>,
    /// Not applied, whatever a person says, and why.
    pub refused: Vec<(usize, Decision)>,
    /// The rest, as one question.
    pub undecided: Option<UndecidedChanges>,
}

impl ChangesDecision {
    /// The same after a person approved the rest this once.
    #[must_use]
    pub fn approved_once(mut self) -> Self {
        let paths = self.undecided.take().map(|undecided| undecided.paths).unwrap_or_default();
        self.allowed.extend(paths.into_iter().map(|at| (at, Reason::Answered(Answer::Once))));
        self.allowed.sort_by_key(|(at, _)| *at);
        self
    }
}

/// Changes that take a yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedChanges {
    /// What is asked: all of them are applied.
    pub action: Action,
    /// The question, and the rules that would have allowed exactly this. Its ruling is `Refuse` where nobody can be asked.
    pub decision: Decision,
    /// Which changes.
    pub paths: Vec<usize>,
}

impl Gate<'_> {
    /// Decides about every path that a call of `actor` changed. `granted` is what the call was allowed to write before it ran: its
    /// approved needs.
    ///
    /// Each path is held against deny rules, earlier answers, ask rules, allow rules, `granted` and the mode by itself. A protected
    /// place is allowed only by a rule or an answer that names it. A new folder comes with what is allowed inside.
    pub fn decide_changes(
        &self,
        actor: &Actor,
        changes: &[PathChange],
        granted: &[FileGlob],
    ) -> ChangesDecision {
        let (mut allowed, mut refused, mut open) = (Vec::new(), Vec::new(), Vec::new());
        let emptied = emptied(changes);
        for (at, change) in changes.iter().enumerate() {
            let mut change = change.clone();
            if change.kind == PathChangeKind::Delete
                && emptied.contains(change.place.as_str())
                && !change.place.is_guarded()
            {
                change.place = change.place.folder();
            }
            let decision = self.decide(&Action::changes(actor.clone(), vec![change.clone()]));
            let grant = granted.iter().find(|glob| glob.covers(&change.place));
            match (decision.ruling, grant) {
                (Ruling::Allow, _) => allowed.push((at, decision.by)),
                (_, Some(glob)) if is_lacking(&decision) => allowed.push((at, Reason::Need(glob.clone()))),
                _ => open.push((at, decision)),
            }
        }
        let parents = parents(changes, &allowed);
        let mut paths = Vec::new();
        let mut reason = None;
        for (at, decision) in open {
            let Some(change) = changes.get(at) else { continue };
            let is_new_folder = change.kind == PathChangeKind::Create && change.place.is_folder();
            let parent =
                parents.get(change.place.as_str()).filter(|_| is_new_folder && !change.place.is_guarded());
            match parent {
                Some(reason) if is_lacking(&decision) => allowed.push((at, reason.clone())),
                _ if decision.question.is_some() => {
                    reason.get_or_insert(decision.by);
                    paths.push(at);
                }
                _ => refused.push((at, decision)),
            }
        }
        allowed.sort_by_key(|(at, _)| *at);
        let asked = paths.iter().filter_map(|at| changes.get(*at)).cloned().collect();
        let action = Action::changes(actor.clone(), asked);
        let question = Question::new(&action, BTreeSet::new());
        let is_answered = self.answers.to(&question) == Some(Answer::No);
        let undecided = match reason {
            None => None,
            Some(_) if is_answered => {
                let no = refuse(Reason::Answered(Answer::No));
                refused.extend(paths.iter().map(|at| (*at, no.clone())));
                None
            }
            Some(reason) => {
                let decision = self.ask(reason, question, rules_for(&action));
                Some(UndecidedChanges { action, decision, paths })
            }
        };
        refused.sort_by_key(|(at, _)| *at);
        ChangesDecision { allowed, refused, undecided }
    }
}

/// Whether nothing decided but the mode: no rule, answer or fence says anything against it.
fn is_lacking(decision: &Decision) -> bool {
    matches!(decision.by, Reason::Mode { mode, .. } if mode != Mode::Plan)
}

/// The folders above what was deleted: one of them that was deleted, too, was a folder, which nothing else shows any more.
fn emptied(changes: &[PathChange]) -> HashSet<&str> {
    let deleted = changes.iter().filter(|change| change.kind == PathChangeKind::Delete);
    deleted.filter_map(|change| Some(change.place.as_str().rsplit_once('/')?.0)).collect()
}

/// The folders above what is allowed, each with what allowed the first of it.
fn parents<'a>(changes: &'a [PathChange], allowed: &[(usize, Reason)]) -> HashMap<&'a str, Reason> {
    let mut parents = HashMap::new();
    for (at, reason) in allowed {
        let Some(change) = changes.get(*at).filter(|change| change.kind != PathChangeKind::Delete) else {
            continue;
        };
        let mut path = change.place.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            if parents.contains_key(folder) {
                break;
            }
            parents.insert(folder, reason.clone());
            path = folder;
        }
    }
    parents
}

/// Rules that allow exactly these changes: one each, or where that is too many, one for each folder at the top and one for each
/// protected place. What no rule can name has none.
fn rules_for(action: &Action) -> Vec<Rule> {
    let aspects = action.aspects();
    let is_named = |aspect: &Aspect<'_>| {
        let place = aspect.place();
        aspects.len() <= MAX_EXACT_RULES || place.is_none_or(|place| place.is_guarded() || !place.is_inside())
    };
    let folded: Vec<&Place> =
        aspects.iter().filter(|aspect| !is_named(aspect)).filter_map(Aspect::place).collect();
    let named = aspects.iter().filter(|aspect| is_named(aspect)).filter_map(Aspect::rule);
    named.chain(folders(&folded).iter().filter_map(|glob| action.write_rule(glob))).collect()
}

/// The globs of the folders at the top that hold these places. A file at the top stands for itself, unless there are too many.
fn folders(places: &[&Place]) -> Vec<FileGlob> {
    let mut tops: BTreeMap<&str, (&Place, bool)> = BTreeMap::new();
    for place in places {
        let (top, is_below) = match place.as_str().split_once('/') {
            Some((top, _)) => (top, true),
            None => (place.as_str(), place.is_folder()),
        };
        tops.entry(top).and_modify(|(_, below)| *below |= is_below).or_insert((place, is_below));
    }
    if tops.len() > MAX_EXACT_RULES {
        return "**".parse().into_iter().collect();
    }
    let glob = |(top, (place, is_below)): (&str, &(&Place, bool))| {
        if *is_below {
            FileGlob::exact(top).ok().and_then(|top| format!("{top}/**").parse().ok())
        } else {
            FileGlob::nearest(place).ok()
        }
    };
    tops.iter().filter_map(|(top, found)| glob((top, found))).collect()
}

impl<'a> Aspect<'a> {
    /// The place that is written, where this part is a write.
    fn place(&self) -> Option<&'a Place> {
        match self.part {
            Part::Need { need: Need::Write(place), .. } => Some(place),
            _ => None,
        }
    }
}

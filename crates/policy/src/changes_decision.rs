//! What of a call's changes may be applied, path by path.

use crate::action::{Action, Actor, Deed, Need};
use crate::answer::{Answer, Question};
use crate::aspect::{Aspect, Part};
use crate::decision::{Decision, Reason, Ruling};
use crate::file_glob::FileGlob;
use crate::gate::{Gate, refuse};
use crate::mode::Mode;
use crate::path_change::{PathChange, PathChangeKind, PathEntryKind};
use crate::place::Place;
use crate::rule::Rule;
use std::collections::{BTreeSet, HashMap};

/// From this many rules on, one rule stands for a new folder with all that is in it.
const MAX_EXACT_RULES: usize = 20;

/// How many rules there are at most, those for protected places not counted: more than anybody pastes.
const MAX_RULES: usize = 40;

/// What may be applied. Every change is in exactly one of the three, by its number in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangesDecision {
    /// Applied, and what allowed each.
    pub allowed: Vec<(usize, Reason)>,
    /// Not applied, whatever a person says, and why.
    pub refused: Vec<(usize, Decision)>,
    /// The rules that would allow what only the mode refused.
    pub refused_rules: ChangeRules,
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

/// Rules that allow changes and nothing else that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeRules {
    /// One for each path, or for a folder that is new with all that is in it.
    pub rules: Vec<Rule>,
    /// How many of the changes none of them covers.
    pub uncovered: usize,
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
    /// How many of them no rule of `decision` covers.
    pub uncovered: usize,
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
        for (at, change) in changes.iter().enumerate() {
            let mut change = change.clone();
            if change.facts.entry == PathEntryKind::Folder && !change.place.is_guarded() {
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
        let (mut paths, mut by_mode) = (Vec::new(), Vec::new());
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
                _ => {
                    if is_lacking(&decision) {
                        by_mode.push(change.clone());
                    }
                    refused.push((at, decision));
                }
            }
        }
        let refused_rules = rules_for(&Action::changes(actor.clone(), by_mode));
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
                let ChangeRules { rules, uncovered } = rules_for(&action);
                let decision = self.ask(reason, question, rules);
                Some(UndecidedChanges { action, decision, paths, uncovered })
            }
        };
        refused.sort_by_key(|(at, _)| *at);
        ChangesDecision { allowed, refused, refused_rules, undecided }
    }
}

/// Whether nothing decided but the mode: no rule, answer or fence says anything against it.
fn is_lacking(decision: &Decision) -> bool {
    matches!(decision.by, Reason::Mode { mode, .. } if mode != Mode::Plan)
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

/// Rules that allow exactly these changes: one for each path. Where that is too many, one rule stands for a folder that the changes
/// make, since nothing else can be in it. What is left over after that is counted.
fn rules_for(action: &Action) -> ChangeRules {
    let aspects = action.aspects();
    let folders = if aspects.len() > MAX_EXACT_RULES { new_folders(action) } else { HashMap::new() };
    let mut found = ChangeRules::default();
    // Each rule for what is not protected, with the number of changes that it covers.
    let mut rules: Vec<(Rule, usize)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for aspect in &aspects {
        let place = aspect.place().filter(|place| !place.is_guarded());
        let folder = place.and_then(|place| outermost(place.as_str(), &folders));
        if let Some(at) = folder.and_then(|folder| known.get(folder)) {
            rules[*at].1 += 1;
            continue;
        }
        let glob = folder.and_then(|folder| below(folders.get(folder)?));
        match (glob.map_or_else(|| aspect.rule(), |glob| action.write_rule(&glob)), place, folder) {
            (None, _, _) => found.uncovered += 1,
            (Some(rule), None, _) => found.rules.push(rule),
            (Some(rule), Some(_), None) => rules.push((rule, 1)),
            (Some(rule), Some(_), Some(folder)) => {
                known.insert(folder, rules.len());
                rules.push((rule, 1));
            }
        }
    }
    found.uncovered += rules.iter().skip(MAX_RULES).map(|(_, covered)| covered).sum::<usize>();
    found.rules.extend(rules.into_iter().take(MAX_RULES).map(|(rule, _)| rule));
    found
}

/// The folders that the changes make, by their names.
fn new_folders(action: &Action) -> HashMap<&str, &Place> {
    let Deed::Changes(changes) = &action.deed else { return HashMap::new() };
    let is_new = |change: &&PathChange| {
        change.kind == PathChangeKind::Create && change.place.is_folder() && !change.place.is_guarded()
    };
    changes.iter().filter(is_new).map(|change| (change.place.as_str(), &change.place)).collect()
}

/// The outermost of the folders that a path is or lies in.
fn outermost<'a>(path: &'a str, folders: &HashMap<&str, &Place>) -> Option<&'a str> {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.map(|end| &path[..end]).find(|part| folders.contains_key(part))
}

/// The glob of a folder and all that is in it.
fn below(folder: &Place) -> Option<FileGlob> {
    format!("{}/**", FileGlob::of_place(folder).ok()?).parse().ok()
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

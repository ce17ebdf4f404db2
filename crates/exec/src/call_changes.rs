//! What a call changed in the project: decided path by path after it ended, then applied or kept.
//!
//! ```text
//! begin ─► the call runs on the layer ─► PendingChanges ─► decide (rules, approvals, a person) ─► settle ─► ChangeReport
//! ```

mod diff;
mod edited;
mod guard;
mod path_change;
mod report;

pub use self::edited::write_file;
pub use self::edited::{EditError, FileEdit};
pub use self::path_change::{entry_facts, written_place};
pub use self::report::{ChangeReport, ChangeState, ReportedChange};

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use metier_catalog::IgnoredFiles;
use metier_changes::{
    ApplyError, CallOrigin, Change, ChangeKind, ChangeSet, Layer, LayerError, LayerPath, LayerStore,
    LayerUsage, NO_RETENTION, Noise, Retention, SessionLayer, apply, scan,
};
use metier_files::Survey;
use metier_policy::{
    Actor, ChangeRules, ChangesDecision, FileGlob, Gate, PathChange, Ruling, UndecidedChanges,
};
use metier_sandbox::{LayerMount, Limits};
use metier_secret::Redactor;

use self::guard::Guard;
use self::path_change::path_change;

/// Where the calls of one session write instead of the project.
#[derive(Clone, Debug)]
pub struct ProjectLayers {
    /// Makes and finds layers.
    pub store: LayerStore,
    /// The session whose calls see each other's ignored and cache files.
    pub session: String,
    /// What becomes of those.
    pub ignored: IgnoredFiles,
    /// How long layers are kept after a decision, for `changes undo`.
    pub retention: Retention,
}

/// The layer of one call, with the session's layer below it.
#[derive(Debug)]
pub(crate) struct CallLayer {
    pub(crate) layer: Layer,
    /// Held until the changes are settled: the session's layer must not change while it is mounted.
    session: Option<SessionLayer>,
    layers: ProjectLayers,
}

impl ProjectLayers {
    /// Makes the layer of one call.
    pub(crate) fn begin(&self, project: &Path, origin: CallOrigin) -> Result<CallLayer, LayerError> {
        // Another call of the session holds it: this one does without its ignored files.
        let session = self.store.session(project, &self.session).ok();
        let layer = match &session {
            Some(session) => self.store.create_above(session, origin)?,
            None => self.store.create(project, origin)?,
        };
        Ok(CallLayer { layer, session, layers: self.clone() })
    }

    /// Removes a layer that was applied whole, for a program that keeps nothing: nobody could undo it.
    fn let_go(&self, layer: Layer) {
        if self.retention == NO_RETENTION && layer.pending().is_ok_and(|left| left.is_empty()) {
            // What stays is removed when layers are pruned.
            let _ = layer.remove();
        }
    }
}

impl CallLayer {
    /// How the sandbox shows it.
    pub(crate) fn mount(&self) -> LayerMount {
        // An empty one shows nothing, and stays empty while it is held: mounting it would be for nothing.
        let is_filled = |session: &&SessionLayer| !session.is_empty().unwrap_or(false);
        let above = self.session.iter().filter(is_filled).map(SessionLayer::folder).collect();
        let layer = &self.layer;
        LayerMount { at: layer.project().to_owned(), above, upper: layer.upper(), work: layer.work() }
    }

    /// Removes it where nothing ran.
    pub(crate) fn abandon(self) {
        // A folder that stays behind is empty, and recovery removes it.
        let _ = self.layer.remove();
    }

    /// Removes it: nothing was written to it.
    fn retire(self) -> Result<(), LayerError> {
        self.layers.store.retire(self.layer)
    }
}

/// What a call changed in the project, not decided yet. The layer keeps it on the disk, whatever becomes of this process.
#[derive(Debug)]
pub struct PendingChanges {
    layer: CallLayer,
    set: ChangeSet,
    /// What is to be decided, as the gate knows it, with the index in `set`.
    asked: Vec<(usize, PathChange)>,
    /// Why paths are protected.
    protected: BTreeMap<LayerPath, &'static str>,
    /// Ignored and cache paths: they go to the session's layer.
    noise: BTreeSet<LayerPath>,
    /// Globs of the skill's own needs that were approved together with the call.
    approved: Vec<FileGlob>,
    /// Indices in `asked` of paths that no question may show.
    hidden: BTreeSet<usize>,
    /// Which limit the layer passed, if it did: then nothing of it is applied here.
    excess: Option<String>,
    /// Takes secrets out of diffs.
    redactor: Redactor,
}

impl PendingChanges {
    /// Looks at the layer of a call that has ended. `None` where it changed nothing; then the layer is gone.
    pub(crate) fn of(layer: CallLayer, survey: &Survey, limits: &Limits) -> Result<Option<Self>, LayerError> {
        let set = if layer.layer.is_untouched()? { ChangeSet::default() } else { scan(&layer.layer)? };
        if set.is_empty() {
            layer.retire()?;
            return Ok(None);
        }
        let excess = excess(layer.layer.usage()?, limits);
        let noise = Noise::find(&layer.layer, &set)?;
        let guard = Guard::new(survey, &layer.layer, &set);
        let (mut quiet, mut protected) = (BTreeSet::new(), BTreeMap::new());
        for change in &set.entries {
            let reason = guard.reason(&change.path);
            protected.extend(reason.map(|reason| (change.path.clone(), reason)));
            if reason.is_none() && (noise.reason(&change.path).is_some() || is_refreshed_object(change)) {
                quiet.insert(change.path.clone());
            }
        }
        if layer.layers.ignored != IgnoredFiles::Apply {
            for path in renamed_to_noise(&set, &quiet) {
                quiet.remove(&path);
            }
        }
        let asked = set.entries.iter().enumerate().filter(|(_, change)| !quiet.contains(&change.path));
        let is_protected = |change: &Change| protected.contains_key(&change.path);
        let asked = asked
            .map(|(index, change)| (index, path_change(change, survey.project(), is_protected(change))))
            .collect();
        let (approved, hidden, redactor) = (Vec::new(), BTreeSet::new(), Redactor::default());
        Ok(Some(Self { layer, set, asked, protected, noise: quiet, approved, hidden, excess, redactor }))
    }

    /// Adds globs that were approved together with the call.
    pub(crate) fn approve(&mut self, globs: &[FileGlob]) {
        self.approved.extend_from_slice(globs);
    }

    /// Keeps paths with the value of a secret in their names or targets out of questions.
    pub(crate) fn hide(&mut self, redactor: &Redactor) {
        let is_secret = |text: &str| matches!(redactor.text(text), Cow::Owned(_));
        let has_secret = |(index, change): &(usize, PathChange)| {
            // The name as it is: in the name for people, characters of a secret may be escapes.
            let path = self.set.entries[*index].path.as_path().to_string_lossy();
            is_secret(&path) || change.facts.target.as_deref().is_some_and(is_secret)
        };
        let hidden = self.asked.iter().enumerate().filter(|(_, asked)| has_secret(asked));
        self.hidden = hidden.map(|(index, _)| index).collect();
        self.redactor = redactor.clone();
    }

    /// Decides each path by rules, grants and earlier approvals.
    pub fn decide(&self, gate: &Gate<'_>, actor: &Actor) -> ChangesDecision {
        let changes: Vec<PathChange> = self.asked.iter().map(|(_, change)| change.clone()).collect();
        let mut decision = gate.decide_changes(actor, &changes, &self.approved);
        let is_shown =
            |undecided: &UndecidedChanges| undecided.paths.iter().any(|path| self.hidden.contains(path));
        if decision.undecided.as_ref().is_some_and(is_shown) {
            // The same without them: what no rule allows stays out, since asking would show the secret.
            let shown = (0..changes.len()).filter(|index| !self.hidden.contains(index)).collect::<Vec<_>>();
            let rest: Vec<PathChange> = shown.iter().map(|index| changes[*index].clone()).collect();
            let rest = gate.decide_changes(actor, &rest, &self.approved);
            decision.refused_rules = rest.refused_rules;
            decision.undecided = rest.undecided.map(|undecided| UndecidedChanges {
                paths: undecided.paths.iter().map(|path| shown[*path]).collect(),
                ..undecided
            });
        }
        if self.excess.is_some() {
            // No rule of a list would change that.
            decision.allowed.clear();
            decision.undecided = None;
            decision.refused_rules = ChangeRules::default();
        }
        self.keep_renames_together(&mut decision);
        if let Some(undecided) =
            decision.undecided.as_mut().filter(|rest| rest.decision.ruling == Ruling::Ask)
        {
            self.add_diffs(undecided);
        }
        decision
    }

    /// A file that was renamed is deleted or replaced only where its new name is applied: else its content would be under neither
    /// name. What is held back may be the new name of another file, so that one is held back, too.
    fn keep_renames_together(&self, decision: &mut ChangesDecision) {
        let path = |index: &usize| &self.set.entries[self.asked[*index].0].path;
        let is_applied_anyway = |change: &Change| {
            self.layer.layers.ignored == IgnoredFiles::Apply
                && self.noise.contains(&change.path)
                && !change.in_session
        };
        loop {
            let allowed: BTreeSet<&LayerPath> =
                decision.allowed.iter().map(|(index, _)| path(index)).collect();
            let held: BTreeSet<&LayerPath> = self
                .set
                .entries
                .iter()
                .filter(|change| !allowed.contains(&change.path) && !is_applied_anyway(change))
                .filter_map(|change| change.renamed_from.as_ref())
                .collect();
            let before = decision.allowed.len();
            decision.allowed.retain(|(index, _)| !held.contains(path(index)));
            if decision.allowed.len() == before {
                return;
            }
        }
    }

    /// Applies what was allowed and keeps the rest, for `metier changes`.
    pub fn settle(self, decision: &ChangesDecision) -> ChangeReport {
        let path = |index: &usize| self.set.entries[self.asked[*index].0].path.clone();
        let mut allowed: BTreeSet<LayerPath> =
            decision.allowed.iter().map(|(index, _)| path(index)).collect();
        let is_applied_anyway = self.layer.layers.ignored == IgnoredFiles::Apply;
        if self.excess.is_some() {
            allowed.clear();
        } else if is_applied_anyway {
            allowed.extend(self.noise.iter().cloned());
        }
        let refused: BTreeSet<LayerPath> = decision.refused.iter().map(|(index, _)| path(index)).collect();
        let (applied, mut problem) = match apply(&self.layer.layer, &self.set, &allowed) {
            Ok(applied) => (&allowed - &applied.left_out.into_iter().collect::<BTreeSet<_>>(), None),
            Err(error) => (BTreeSet::new(), Some(not_applied(&error))),
        };
        let is_applied = problem.is_none();
        if let Some(excess) = &self.excess
            && (is_applied_anyway || !self.asked.is_empty())
        {
            problem = Some(format!(
                "nothing was applied: {excess}; look at the changes: `metier changes show {}`",
                self.layer.layer.id()
            ));
        }
        if let Some(session) = &self.layer.session
            && !is_applied_anyway
            && let Err(error) = session.absorb(&self.layer.layer, &self.set, &self.noise).and_then(|_| {
                // Not while another call of the session has it mounted: that one forgets it when it ends.
                if self.layer.layers.ignored == IgnoredFiles::Discard { session.discard() } else { Ok(false) }
            })
        {
            let text = format!("ignored files are not kept for the session: {error}");
            problem = Some(problem.map_or_else(|| text.clone(), |known| format!("{known}; {text}")));
        }
        let guarded: BTreeSet<&LayerPath> = self
            .asked
            .iter()
            .filter(|(_, change)| change.place.is_guarded())
            .map(|(index, _)| &self.set.entries[*index].path)
            .collect();
        let state = |path: &LayerPath| {
            if self.noise.contains(path) && !applied.contains(path) {
                ChangeState::Ignored
            } else if applied.contains(path) {
                ChangeState::Applied
            } else if refused.contains(path) {
                ChangeState::Refused
            } else if allowed.contains(path) {
                ChangeState::Failed
            } else {
                ChangeState::NotApproved
            }
        };
        let new_names: BTreeMap<&LayerPath, &LayerPath> = self
            .set
            .entries
            .iter()
            .filter_map(|change| Some((change.renamed_from.as_ref()?, &change.path)))
            .collect();
        let entry = |change: &Change| {
            let path = &change.path;
            let reason = self.protected.get(path).copied();
            let mut reported = ReportedChange::new(change, state(path), guarded.contains(path), reason);
            if reported.state == ChangeState::NotApproved
                && let Some(new) = new_names.get(&change.path).filter(|new| !applied.contains(**new))
            {
                reported.note =
                    Some(format!("it was renamed to {}, which is not applied", report::shown(new)));
            }
            // Where nothing was applied, the problem says why.
            if reported.state == ChangeState::Failed && is_applied {
                reported.note = Some(change.why_left_out().to_owned());
            }
            reported
        };
        let mut entries: Vec<ReportedChange> = self.set.entries.iter().map(entry).collect();
        entries.extend(self.set.refused.iter().map(ReportedChange::never));
        let undecided = decision.undecided.as_ref();
        let rules = undecided.into_iter().flat_map(|undecided| &undecided.decision.allow_with);
        let allow_with = rules.chain(&decision.refused_rules.rules).map(ToString::to_string).collect();
        let uncovered =
            undecided.map_or(0, |undecided| undecided.uncovered) + decision.refused_rules.uncovered;
        let id = self.layer.layer.id();
        let is_over =
            entries.iter().all(|entry| matches!(entry.state, ChangeState::Ignored | ChangeState::Never));
        let waits = || !self.layer.layer.pending().is_ok_and(|left| left.entries.is_empty());
        if is_over && problem.is_none() && !waits() {
            // The session's layer has the rest: a set without paths would wait for a decision for good.
            let _ = self.layer.layer.remove();
        } else if problem.is_none() {
            self.layer.layers.let_go(self.layer.layer);
        }
        let ProjectLayers { store, retention, .. } = &self.layer.layers;
        // A program that keeps nothing lets go of its own layers alone.
        if *retention != NO_RETENTION {
            // What cannot be removed now is removed another time.
            let _ = store.prune_hourly(retention);
        }
        ChangeReport { id, entries, allow_with, uncovered, problem }
    }
}

/// The ignored and cache paths that hold what the project has under another name, and the new folders above them. They are decided
/// like other paths: if the old name were deleted and the new one went to the session's layer, the project would have lost a file.
fn renamed_to_noise(set: &ChangeSet, noise: &BTreeSet<LayerPath>) -> BTreeSet<LayerPath> {
    let is_moved_out = |change: &&Change| {
        let from_project = change.renamed_from.as_ref().is_some_and(|old| !noise.contains(old));
        from_project && !change.in_session && noise.contains(&change.path)
    };
    let renamed = set.entries.iter().filter(is_moved_out);
    renamed.flat_map(|change| std::iter::successors(Some(change.path.clone()), LayerPath::parent)).collect()
}

/// Whether git only gave an object a new time, so that it is not removed as unused. Its content cannot change, so nothing is asked.
fn is_refreshed_object(change: &Change) -> bool {
    let mut names = change.path.as_path().iter();
    change.kind == ChangeKind::Times
        && names.by_ref().any(|name| name == ".git")
        && names.next().is_some_and(|name| name == "objects")
}

/// The paths of a set that are applied only where each is named: what runs or is obeyed later.
pub fn protected_paths(survey: &Survey, layer: &Layer, set: &ChangeSet) -> BTreeSet<LayerPath> {
    let guard = Guard::new(survey, layer, set);
    set.entries
        .iter()
        .map(|change| &change.path)
        .filter(|path| guard.reason(path).is_some())
        .cloned()
        .collect()
}

/// Which limit a layer passed, as a sentence.
fn excess(usage: LayerUsage, limits: &Limits) -> Option<String> {
    const MIB: u64 = 1 << 20;
    if usage.files > limits.layer_files {
        let (held, most) = (usage.files, limits.layer_files);
        Some(format!("its changes hold {held} files and folders, more than the {most} of `max_files`"))
    } else if usage.bytes > limits.layer {
        let (held, most) = (usage.bytes.div_ceil(MIB), limits.layer / MIB);
        Some(format!("its changes take {held} MiB, more than the {most} of `max_mib`"))
    } else {
        None
    }
}

fn not_applied(error: &ApplyError) -> String {
    match error {
        ApplyError::Conflicts(_) => format!("nothing was applied: {error}; the changes are kept"),
        error => format!("nothing was applied: {error}"),
    }
}

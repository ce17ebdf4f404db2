//! A session of one call: the skills, the gate and whoever can be asked, and what runs things.

use crate::args::{Call, Global};
use crate::candidate::{Asked, Asking, Candidate, Step, step};
use crate::declared::may_start;
use crate::gatekeeper::Gatekeeper;
use crate::interrupt;
use crate::needs::Flags;
use crate::output::{clean, complain};
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Purpose, Ready, ScopeAround, Workplace, find, folders, scope, who};
use anyhow::{Context, Result, bail};
use metier_catalog::{EntryId, Include, Snapshot};
use metier_diagnostic::Severity;
use metier_policy::{Action, Decision, Scope, Skill};
use metier_runtime::{
    Activate, Activation, Arguments, By, Hands, InUse, Job, NotDone, NotRun, Ran, ResultFolder,
    ResultOptions, Surface, Told, Use, Work, WorkKind, frontmatter,
};
use metier_sandbox::{Cancel, Existing, Limits};
use metier_skill::Tool;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

pub(super) struct Session<'a> {
    keeper: RefCell<Gatekeeper>,
    surface: Surface,
    surroundings: &'a Surroundings,
    snapshot: Arc<Snapshot>,
    /// The skills that count as active, the last one last, and their fences and grants.
    active: Vec<EntryId>,
    scopes: Vec<Scope>,
    /// What was begun for something that runs.
    ready: RefCell<Option<Ready>>,
    /// Where what is too long for a model is put.
    out: Option<(&'a Path, ResultFolder)>,
    /// Ends what runs when a signal comes.
    cancel: Cancel,
}

impl<'a> Session<'a> {
    pub(super) fn begin(
        args: &'a Call,
        surface: Surface,
        global: &'a Global,
        surroundings: &'a Surroundings,
    ) -> Result<Self> {
        may_start(surroundings)?;
        let existing = if args.force { Existing::Replaced } else { Existing::Stay };
        let options = ResultOptions { existing, hidden: false };
        let results = surroundings.result_folder(args.out.as_deref(), options)?;
        let keeper = Gatekeeper::new(global, &[], surroundings)?;
        keeper.report_problems();
        let runs = matches!(Tool::named(&args.tool), Some(Tool::Bash | Tool::SkillRunScript));
        let ready = runs.then(|| Ready::begin(Purpose::Running, surroundings));
        let snapshot = Arc::new(surroundings.snapshot(Include::Usual));
        let mut session = Self {
            keeper: RefCell::new(keeper),
            surface,
            surroundings,
            snapshot,
            active: Vec::new(),
            scopes: Vec::new(),
            ready: RefCell::new(ready),
            out: args.out.as_deref().zip(results),
            cancel: interrupt::listen()?,
        };
        for name in &args.scope.skills {
            session.activate_at_once(name)?;
        }
        Ok(session)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    pub(super) fn active(&self) -> &[EntryId] {
        &self.active
    }

    /// Makes the call as if this skill were active: its fence holds, and tools that name no skill are those of
    /// the last one.
    fn activate_at_once(&mut self, name: &str) -> Result<()> {
        let (snapshot, surroundings) = (&self.snapshot, self.surroundings);
        let id = find(snapshot, name)?;
        let Some(entry) = snapshot.entry(id) else { bail!("`{name}` is not there any more") };
        let folders = folders(snapshot, entry, surroundings)?;
        let skill = who(snapshot, entry);
        let file = snapshot.read(entry).with_context(|| format!("`{name}` cannot be read any more"))?;
        let around = ScopeAround { folders: &folders, dialect: self.surface.dialect() };
        self.scopes.push(scope(snapshot, id, &file, &skill, &around, surroundings)?);
        self.active.push(id);
        Ok(())
    }

    /// The workplace of a skill.
    fn workplace(&self, id: EntryId, purpose: Purpose) -> Result<Workplace> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => Ready::begin(purpose, self.surroundings),
        };
        let flags = Flags::default();
        let mut place = Workplace::at(&self.snapshot, id, Active::No, &flags, self.surroundings, ready)?;
        place.scopes.clone_from(&self.scopes);
        Ok(place)
    }

    /// Asks about a decision that needs a yes. True when it may be tried again.
    fn ask(&self, action: &Action, decision: &Decision) -> bool {
        let asked = self.keeper.borrow_mut().ask(action, decision);
        let is_yes = asked.unwrap_or_else(|error| {
            complain(&error);
            false
        });
        if !is_yes {
            self.keeper.borrow().remember(&action.sentence(), decision);
        }
        is_yes
    }
}

impl Hands for Session<'_> {
    fn skill(&self, id: EntryId) -> Skill {
        match self.snapshot.entry(id) {
            Some(entry) => who(&self.snapshot, entry),
            // The toolset has its ids from this very snapshot; whoever asks for another one gets what nothing trusts.
            None => Skill { trust: metier_policy::Trust::Untrusted, ..Skill::new("", "") },
        }
    }

    fn decide(&self, action: &Action) -> Decision {
        loop {
            let decision = self.keeper.borrow().gate(&self.scopes).decide(action);
            if decision.is_allowed() || !self.ask(action, &decision) {
                return decision;
            }
        }
    }

    fn run(&self, work: Work, job: &mut Job<'_>) -> Result<Ran, NotDone> {
        let trouble = |error: anyhow::Error| NotDone::Trouble(format!("{error:#}"));
        let mut place = self.workplace(work.id, Purpose::Running).map_err(trouble)?;
        if work.kind == WorkKind::CommandLine {
            place.keep_granted(&self.keeper.borrow());
        }
        let limits = Limits { time: place.needs.seconds.unwrap_or(work.time), ..Limits::default() };
        loop {
            let ran = place.with(&self.keeper.borrow(), limits.clone(), |bench, using| {
                interrupt::during(&self.cancel, || job(bench, using))
            });
            match ran {
                Err(NotRun::Gate { action, decision }) => {
                    if !self.ask(&action, &decision) {
                        return Err(NotRun::Gate { action, decision }.into());
                    }
                }
                other => return Ok(other?),
            }
        }
    }

    fn cancel(&self) -> Option<&Cancel> {
        Some(&self.cancel)
    }

    fn keep(&self, ran: &Ran) -> Result<Option<String>, String> {
        let Some((folder, results)) = self.out.as_ref().filter(|_| !ran.long.is_empty()) else {
            return Ok(None);
        };
        for long in &ran.long {
            let trouble = |why: &dyn std::fmt::Display| {
                format!("the whole output was not written to {}: {why}", folder.join(&long.name).display())
            };
            let left_out = results.put(&long.name, &long.bytes).map_err(|error| trouble(&error))?;
            left_out.map_or(Ok(()), |why| Err(trouble(&why)))?;
        }
        Ok(Some(format!("{}/", folder.display())))
    }
}

impl Activate for Session<'_> {
    /// Whether the skill may be activated has been decided, with this very gate, so nobody is asked that again; there may be
    /// questions about its commands.
    fn activate(&self, request: &Use<'_>) -> Result<InUse, String> {
        let place = self.workplace(request.id, Purpose::Looking).map_err(|error| format!("{error:#}"))?;
        let arguments = match request.arguments {
            Told::Text(text) => Arguments::Text(text.clone()),
            Told::List(list) => Arguments::List(list.clone()),
        };
        let dialect = self.surface.dialect();
        let candidate = Candidate::new(&self.snapshot, request.id, &place, dialect, self.surroundings);
        let asked = Asked { by: By::Model, arguments: &arguments };
        let mut asking = Asking::of(&self.keeper.borrow());
        loop {
            let made = candidate.with(asked, &self.keeper.borrow(), |draft, bench| {
                Ok((step(draft, bench, asking, &self.cancel)?, frontmatter(draft.manifest())))
            });
            match made.map_err(|error| error.to_string())? {
                (Step::Done(activation), frontmatter) => {
                    let content = activation.content().to_owned();
                    let notes = notes(&activation);
                    return Ok(InUse {
                        message: activation.text,
                        content,
                        frontmatter,
                        instead: None,
                        notes,
                    });
                }
                (Step::Ask(questions), _) => {
                    for (action, decision) in questions {
                        // A no leaves the command as text, which is then said.
                        self.ask(&action, &decision);
                    }
                    asking = Asking::Over;
                }
            }
        }
    }
}

/// What there is to say about an activation, a line each.
fn notes(activation: &Activation) -> Vec<String> {
    let grave = activation.diagnostics.iter().filter(|found| found.severity() >= Severity::Warning);
    let grave = grave.map(|found| format!("{}: {}", found.code.name(), clean(&found.message)));
    grave.chain(activation.notes.iter().cloned()).collect()
}

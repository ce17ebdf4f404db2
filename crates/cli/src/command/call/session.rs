//! A session of one call: the skills, the gate and whoever can be asked, and what runs things.

use super::verbatim;
use crate::gatekeeper::Gatekeeper;
use crate::needs::Flags;
use crate::output::complain;
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Purpose, Ready, ScopeAround, Workplace, scope, who};
use anyhow::{Context, Result, bail};
use metier_catalog::{Class, EntryId, Include, Lookup, Reference, Snapshot, State};
use metier_files::real_path;
use metier_policy::{Action, Decision, Scope, Skill};
use metier_runtime::{
    Activate, DataOwner, Hands, InUse, Job, NotDone, NotRun, Ran, Surface, Use, Work, WorkKind,
};
use metier_sandbox::Limits;
use metier_skill::Tool;
use std::cell::RefCell;
use std::sync::Arc;

pub(super) struct Session<'a> {
    keeper: RefCell<Gatekeeper>,
    surroundings: &'a Surroundings,
    snapshot: Arc<Snapshot>,
    /// The skill that counts as active, and its fence and grants.
    active: Option<EntryId>,
    scopes: Vec<Scope>,
    /// What was begun for something that runs.
    ready: RefCell<Option<Ready>>,
}

impl<'a> Session<'a> {
    pub(super) fn begin(
        tool: &str,
        active: Option<&str>,
        surface: Surface,
        keeper: Gatekeeper,
        surroundings: &'a Surroundings,
    ) -> Result<Self> {
        let runs = matches!(Tool::named(tool), Some(Tool::Bash | Tool::SkillRunScript));
        let ready = runs.then(|| Ready::begin(Purpose::Running, surroundings)).transpose()?;
        let snapshot = Arc::new(surroundings.snapshot(Include::Usual));
        let mut session = Self {
            keeper: RefCell::new(keeper),
            surroundings,
            snapshot,
            active: None,
            scopes: Vec::new(),
            ready: RefCell::new(ready),
        };
        if let Some(name) = active {
            session.activate_at_once(name, surface)?;
        }
        Ok(session)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    pub(super) fn active(&self) -> Option<EntryId> {
        self.active
    }

    /// Makes the call as if this skill were active: its fence holds, and tools that name no skill are its own.
    fn activate_at_once(&mut self, name: &str, surface: Surface) -> Result<()> {
        let (snapshot, surroundings) = (&self.snapshot, self.surroundings);
        let reference: Reference = name.parse()?;
        let (id, entry) = match snapshot.find(&reference) {
            // What may not be used is refused by the gate, with the reason.
            Lookup::Found(id, entry) | Lookup::Unusable(id, entry) => (id, entry),
            other => bail!("`{name}`: {}; `metier explain {name}` says more", snapshot.in_words(&other)),
        };
        if let State::Off | State::Disabled = entry.state() {
            bail!("`{name}` is {}; `metier explain {name}` says how to change that", entry.state());
        }
        let skill = who(snapshot, entry, surroundings);
        let folder = real_path(&snapshot.folder(entry)).with_context(|| format!("`{name}` is gone"))?;
        let file = snapshot.read(entry).with_context(|| format!("`{name}` cannot be read any more"))?;
        let project = surroundings.layout.project.as_ref();
        let project = project.filter(|_| snapshot.root(entry).origin.class == Class::Project);
        let project = project.map(|project| project.folder.as_path());
        let owner = DataOwner { origin: &skill.origin, name: &skill.name, project };
        let data = owner.place(&surroundings.places.data.join("skills"));
        let around = ScopeAround { folder: &folder, data: &data, dialect: surface.dialect() };
        self.scopes = vec![scope(snapshot, id, &file, &skill, &around, surroundings)?];
        self.active = Some(id);
        Ok(())
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
            Some(entry) => who(&self.snapshot, entry, self.surroundings),
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
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => Ready::begin(Purpose::Running, self.surroundings).map_err(trouble)?,
        };
        let flags = Flags::default();
        let mut place = Workplace::at(&self.snapshot, work.id, Active::No, &flags, self.surroundings, ready)
            .map_err(trouble)?;
        place.scopes.clone_from(&self.scopes);
        if work.kind == WorkKind::CommandLine {
            place.keep_granted(&self.keeper.borrow());
        }
        let limits = Limits { time: place.needs.seconds.unwrap_or(work.time), ..Limits::default() };
        loop {
            let ran = place.with(&self.keeper.borrow(), limits.clone(), |bench, using| job(bench, using));
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
}

impl Activate for Session<'_> {
    fn activate(&self, request: &Use<'_>) -> Result<InUse, String> {
        verbatim::activate(&self.snapshot, request)
    }
}

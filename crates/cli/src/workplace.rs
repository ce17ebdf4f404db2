//! Everything that is needed to run something for a skill: who it is, what it may, where it runs.

use crate::declared::declared;
use crate::environment;
use crate::gatekeeper::Gatekeeper;
use crate::head_start::HeadStart;
use crate::needs::{Flags, Needs};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{Entry, EntryId, Include, Lookup, Reference, SkillFile, Snapshot, State, Wanted};
use metier_files::{Kind, SkillDir, Survey, SurveyBounds, TreeCopies, TreeCopy, kind, real_path};
use metier_policy::{Action, Actor, Dialect, McpTools, Scope, Skill};
use metier_runtime::{
    Containment, DeclaredEnvironment, NodeVersions, Requirements, SearchPath, SkillFolders, SkillTerms,
    Start, Toolbox, Using, WayOut, Whole, Workbench, bind, known_to_the_gate,
};
use metier_sandbox::{Limits, Sandbox, Setup};
use std::path::{Path, PathBuf};

/// Where bubblewrap is looked for. Not on the search path: a program there may be anyone's.
const BUBBLEWRAP: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// One skill with all that its processes need.
pub(crate) struct Workplace {
    pub(crate) skill: Skill,
    pub(crate) scopes: Vec<Scope>,
    folders: SkillFolders,
    handle: SkillDir,
    /// What runs in the skill's place, where that is bound to what was checked.
    copy: Option<TreeCopy>,
    copies: TreeCopies,
    survey: Option<Survey>,
    toolbox: Toolbox,
    path: SearchPath,
    node: NodeVersions,
    sandbox: Sandbox,
    session: String,
    pub(crate) needs: Needs,
    /// The environment names that the configuration declares.
    pub(crate) declared: DeclaredEnvironment,
}

/// Whether the skill counts as active, so that its fence and its grants hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Active {
    Yes,
    No,
}

/// What a workplace is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One thing will run in it at once, so what that takes is made ready meanwhile.
    Running,
    /// Somebody looks at what is there or what would be allowed; what runs after all are several things or none.
    Looking,
}

impl Workplace {
    /// Finds the skill and looks at what is around it.
    pub(crate) fn of(
        name: &str,
        active: Active,
        ready: Ready,
        flags: &Flags<'_>,
        surroundings: &Surroundings,
    ) -> Result<Self> {
        let snapshot = surroundings.snapshot(Include::Usual);
        let id = find(&snapshot, name)?;
        Self::at(&snapshot, id, active, flags, surroundings, ready)
    }

    /// The workplace of a skill that was found.
    pub(crate) fn at(
        snapshot: &Snapshot,
        id: EntryId,
        active: Active,
        flags: &Flags<'_>,
        surroundings: &Surroundings,
        ready: Ready,
    ) -> Result<Self> {
        let Some(entry) = snapshot.entry(id) else { bail!("the skill is not there any more") };
        let name = entry.name().as_str();
        if ready.purpose == Purpose::Running {
            // What runs may open whatever lies beside it.
            snapshot.bring(entry, Wanted::All)?;
        }
        let mut folders = folders(snapshot, entry, surroundings)?;
        let mut skill = who(snapshot, entry);
        let handle = SkillDir::open(&folders.skill)?;
        let project = surroundings.project();
        let survey = project.map(|project| Survey::of(project, SurveyBounds::default())).transpose()?;
        let file = snapshot.read(entry).with_context(|| format!("`{name}` cannot be read any more"))?;
        let mut needs = Needs::collect(snapshot, entry, file.manifest(), flags, surroundings)?;
        let declared = declared(surroundings);
        needs.take(&declared, &file, snapshot, entry, surroundings)?;
        needs.problems.extend(folders.note.take());
        let copies = TreeCopies::new(surroundings.places.data.join("copies"));
        let copy = bind(&mut skill, (snapshot, entry), (&handle, &file), &needs.wants, &copies);
        let scopes = match active {
            Active::Yes => vec![{
                let around = ScopeAround { folders: &folders, dialect: Dialect::Usual };
                scope(snapshot, id, &file, &skill, &around, surroundings)?
            }],
            Active::No => Vec::new(),
        };
        let sandbox = ready.sandbox;
        let path = search_path(surroundings);
        // A program that the skill requires by name is shown like those that every script may call.
        let requires = file.manifest().and_then(|manifest| manifest.more.requires.as_ref());
        let toolbox = path.usual_toolbox(&requires.map(Requirements::programs).unwrap_or_default());
        let session = format!("{}-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S"), std::process::id());
        Ok(Self {
            skill,
            scopes,
            folders,
            handle,
            copy,
            copies,
            survey,
            toolbox,
            path,
            node: NodeVersions::default(),
            sandbox,
            session,
            needs,
            declared,
        })
    }

    /// Keeps of its needs what nobody has to be asked about. A command line is one of many, and most need nothing; what the
    /// skill's scripts were given before, they get as well.
    pub(crate) fn keep_granted(&mut self, keeper: &Gatekeeper) {
        let gate = keeper.gate(&self.scopes);
        let actor = || Actor::Skill(self.skill.clone());
        self.needs.wants.retain(|need| gate.decide(&Action::more(actor(), need.clone())).is_allowed());
        if let Some(survey) = &self.survey {
            self.needs.problems.extend(self.needs.wants.drop_refused_writes(survey));
        }
    }

    /// Does something with all of it.
    pub(crate) fn with<T>(
        &self,
        keeper: &Gatekeeper,
        limits: Limits,
        work: impl FnOnce(&Workbench<'_>, &Using<'_>) -> T,
    ) -> T {
        let language = environment::language();
        let containment = Containment {
            skill: &self.folders.skill,
            copy: self.copy.as_ref().map(|copy| copy.folder.as_path()),
            project: self.survey.as_ref(),
            data: self.folders.data.as_deref(),
            plugin: self.folders.plugin(),
            toolbox: &self.toolbox,
            limits,
            session: &self.session,
            language: &language,
            wants: &self.needs.wants,
            start: Start::Skill,
        };
        let way_out = WayOut { asker: keeper.asker(), ..WayOut::default() };
        let bench = Workbench {
            sandbox: &self.sandbox,
            gate: keeper.gate(&self.scopes),
            path: &self.path,
            node: &self.node,
            way_out: &way_out,
        };
        let using = Using {
            skill: &self.skill,
            folder: self.copy.as_ref().map_or(&self.handle, |copy| &copy.dir),
            containment: &containment,
            copies: Some(&self.copies),
        };
        work(&bench, &using)
    }
}

/// What can be begun without knowing anything of the skill.
pub(crate) struct Ready {
    purpose: Purpose,
    sandbox: Sandbox,
}

impl Ready {
    /// For one thing that will run at once, of which some may have been begun before.
    pub(crate) fn for_one(head_start: HeadStart) -> Self {
        Self { purpose: Purpose::Running, sandbox: head_start.sandbox() }
    }

    pub(crate) fn begin(purpose: Purpose, surroundings: &Surroundings) -> Self {
        match purpose {
            Purpose::Running => Self::for_one(HeadStart::default()),
            Purpose::Looking => Self { purpose, sandbox: Sandbox::new(setup(&surroundings.places.temp)) },
        }
    }
}

/// A skill by the name that the user gives it.
pub(crate) fn find(snapshot: &Snapshot, name: &str) -> Result<EntryId> {
    let reference: Reference = name.parse()?;
    match snapshot.find(&reference) {
        // What may not be used is refused by the gate or by the activation, with the reason.
        Lookup::Found(id, _) | Lookup::Unusable(id, _) => Ok(id),
        other => bail!("`{name}`: {}; `metier explain {name}` says more", snapshot.in_words(&other)),
    }
}

/// The folders of a skill that may be used, made where they are not there.
pub(crate) fn folders(
    snapshot: &Snapshot,
    entry: &Entry,
    surroundings: &Surroundings,
) -> Result<SkillFolders> {
    let name = entry.name().as_str();
    if let State::Off | State::Disabled = entry.state() {
        bail!("`{name}` is {}; `metier explain {name}` says how to change that", entry.state());
    }
    Ok(SkillFolders::make(snapshot, entry, Some(&surroundings.skill_data()))?)
}

/// A skill as the gate sees it.
pub(crate) fn who(snapshot: &Snapshot, entry: &Entry) -> Skill {
    known_to_the_gate(snapshot, entry)
}

/// What the scope of a skill depends on beside the skill itself.
pub(crate) struct ScopeAround<'a> {
    pub(crate) folders: &'a SkillFolders,
    /// Whose rules the fence follows, unless the skill is a crew's.
    pub(crate) dialect: Dialect,
}

/// The fence and the grants of a skill that is active.
pub(crate) fn scope(
    snapshot: &Snapshot,
    id: EntryId,
    file: &SkillFile,
    skill: &Skill,
    around: &ScopeAround<'_>,
    surroundings: &Surroundings,
) -> Result<Scope> {
    let Some(manifest) = file.manifest() else {
        bail!("`{}` has changed and is refused now; see `metier explain {}`", skill.name, skill.name)
    };
    let terms = SkillTerms {
        snapshot,
        id,
        manifest,
        skill,
        folder: &around.folders.skill,
        data: around.folders.data.as_deref(),
        plugin: around.folders.plugin(),
        project: surroundings.project(),
        servers: &McpTools::default(),
        dialect: around.dialect,
    };
    Ok(terms.open(Whole::Yes))
}

/// How this program contains what it runs.
pub(crate) fn setup(scratch: &Path) -> Setup {
    let mut setup = Setup::new(real_path(scratch).unwrap_or_else(|_| scratch.to_owned()));
    setup.bubblewrap = BUBBLEWRAP.iter().map(PathBuf::from).find(|path| kind(path) == Kind::File);
    setup
}

/// Where programs are found.
pub(crate) fn search_path(surroundings: &Surroundings) -> SearchPath {
    SearchPath::in_layout(&environment::search_path(), &surroundings.layout)
}

//! A real session with the general tools, in a project of its own.

use std::sync::{Arc, Mutex, OnceLock};

use metier_catalog::{Layout, Ownership, Places, Preview, RootChoice, TrustStore};
use metier_policy::{Layer, List, Owner, Scope, Source};
use metier_runtime::{
    ApprovalReply, ApprovalRequest, CallControl, FileChange, SkillSession, Skills, ToolContext, ToolRegistry,
    ToolResult,
};
use metier_sandbox::{Choice, Helper, Setup, Tier};
use metier_testkit::Workspace;
use metier_tools::{Ask, GeneralTools, Memory, Setting};
use serde_json::Value;

/// A request for approval: the sentence, and the change that was shown with it.
type ShownRequest = (String, Option<FileChange>);

/// Whether calls have a layer to write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProjectAccess {
    ReadOnly,
    Layers,
}

/// A session in the folder `project` of a workspace. The user's skills are in `skills`, long outputs in `outputs`.
pub(crate) struct TestSession {
    pub(crate) workspace: Workspace,
    pub(crate) registry: ToolRegistry,
    setting: Setting,
    layer: Layer,
    reply: Option<ApprovalReply>,
    requests: Arc<Mutex<Vec<ShownRequest>>>,
    active: Vec<String>,
    scope: Option<Scope>,
    access: ProjectAccess,
    /// Opened by the first call, when all of the above is settled.
    skills: OnceLock<SkillSession>,
}

impl TestSession {
    /// A session without rules in which no one can be asked. The project is trusted; commands see it read-only.
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self::with(workspace, |setting| setting)
    }

    /// The same with another setting.
    pub(crate) fn with(workspace: Workspace, change: impl FnOnce(Setting) -> Setting) -> Self {
        let workspace = workspace.dir("project/.git").dir("outputs").dir("home").dir("skills");
        let at = |path: &str| workspace.join(path);
        let setting = change(Setting {
            project: Some(at("project")),
            home: Some(at("home")),
            outputs: Some(at("outputs")),
            commands: true,
            questions: true,
            memory: true,
            ..Setting::default()
        });
        Self {
            registry: registry(&setting, None, None),
            workspace,
            setting,
            layer: user_layer(),
            reply: None,
            requests: Arc::default(),
            active: Vec::new(),
            scope: None,
            access: ProjectAccess::ReadOnly,
            skills: OnceLock::new(),
        }
    }

    /// Rules of the user's, instead of those given so far.
    pub(crate) fn rules(mut self, allow: &[&str], deny: &[&str]) -> Self {
        self.layer = user_layer().list(List::Allow, allow).list(List::Deny, deny);
        self.reopened()
    }

    /// The mode in which nothing asks.
    pub(crate) fn yolo(mut self) -> Self {
        self.layer = user_layer().mode("yolo");
        self.reopened()
    }

    /// A handler that gives this reply to every request for approval.
    pub(crate) fn answering(mut self, reply: impl Into<ApprovalReply>) -> Self {
        self.reply = Some(reply.into());
        self.reopened()
    }

    /// Activates a skill, in addition to those that are active.
    pub(crate) fn active(mut self, name: &str) -> Self {
        self.active.push(name.to_owned());
        self.reopened()
    }

    /// The scope that holds the session.
    pub(crate) fn held_by(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self.reopened()
    }

    /// Calls write to a layer, whose changes are applied to the project as far as they are approved.
    pub(crate) fn with_layers(mut self) -> Self {
        self.access = ProjectAccess::Layers;
        self.reopened()
    }

    /// The same session with someone who answers questions.
    pub(crate) fn with_ask(mut self, ask: impl Ask + 'static) -> Self {
        self.registry = registry(&self.setting, Some(Arc::new(ask)), None);
        self
    }

    /// The same session with a memory.
    pub(crate) fn with_memory(mut self, memory: Memory) -> Self {
        self.registry = registry(&self.setting, None, Some(memory));
        self
    }

    /// The session of the skills.
    pub(crate) fn skills(&self) -> &SkillSession {
        self.skills.get_or_init(|| self.open())
    }

    pub(crate) fn call(&self, name: &str, input: &Value) -> ToolResult {
        self.call_with(name, input, CallControl::default())
    }

    pub(crate) fn call_with(&self, name: &str, input: &Value, control: CallControl<'_>) -> ToolResult {
        let tool = self.registry.find(name).unwrap();
        ToolContext { skills: self.skills(), control }.call(tool, input)
    }

    pub(crate) fn text(&self, name: &str, input: &Value) -> String {
        self.call(name, input).text
    }

    /// The requests for approval so far.
    pub(crate) fn requests(&self) -> Vec<ShownRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The content of a file of the workspace.
    pub(crate) fn content(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace.join(path)).unwrap_or_else(|error| format!("! {error}"))
    }

    fn reopened(mut self) -> Self {
        self.skills = OnceLock::new();
        self
    }

    fn open(&self) -> SkillSession {
        let places = self.places();
        // Skills of the project are used only where the user trusts it.
        let preview = Preview::of(&Layout::new(&places, &RootChoice::Usual)).unwrap();
        TrustStore::update(&places.data, |store| store.trust(&preview, "2026-11-16", Ownership::Theirs))
            .unwrap();
        let mut setup = Setup::new(places.temp.clone());
        setup.helper = Helper::Program(metier_testkit::example("general_tools"));
        // A weaker tier does not show the project at all, and the tests would try nothing.
        setup.choice = Choice::Only(Tier::Namespaces);
        let mut builder = Skills::builder().places(places).rules(self.layer.clone()).setup(setup);
        if self.access == ProjectAccess::ReadOnly {
            builder = builder.read_only();
        }
        if let Some(reply) = self.reply {
            let requests = Arc::clone(&self.requests);
            builder = builder.ask(move |request: &ApprovalRequest<'_>| {
                let shown = (request.action.sentence(), request.change.cloned());
                requests.lock().unwrap().push(shown);
                reply
            });
        }
        let mut session = builder.open().session();
        if let Some(scope) = &self.scope {
            session = session.held_by(scope.clone());
        }
        for name in &self.active {
            session.activate(name, "").unwrap();
        }
        session
    }

    fn places(&self) -> Places {
        let at = |path: &str| self.workspace.join(path);
        Places {
            home: Some(at("home")),
            temp: std::env::temp_dir(),
            config: at("config"),
            data: at("data"),
            user_skills: at("skills"),
            ..Places::bare(at("project"))
        }
    }
}

fn user_layer() -> Layer {
    Layer::new(Source::new(Owner::User, "test"))
}

fn registry(setting: &Setting, ask: Option<Arc<dyn Ask>>, memory: Option<Memory>) -> ToolRegistry {
    let tools = GeneralTools::new(setting.clone()).unwrap().with(ask, memory);
    let mut registry = ToolRegistry::default();
    registry.add(Arc::new(tools).registered());
    registry
}

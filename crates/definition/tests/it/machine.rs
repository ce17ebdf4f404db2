//! A machine with a user and a project on the disk. The tests of `metier-agent` use it, too.

use std::path::PathBuf;
use std::sync::Arc;

use metier_catalog::{Include, Layout, Ownership, Places, Preview, RootChoice, Snapshot, TrustStore};
use metier_definition::{AgentDefinition, CheckContext, ParsedDefinition, definition_at};
use metier_testkit::Workspace;

/// A crew as the first seed's documents show one, with two agents.
pub(crate) const CREW: &str = "version: \"1.0\"\nid: todo_list\ncommands:\n  - { name: french, filePath: ./commands/french.command.md \
                    }\nentryPointAgent: keeper\nagents:\n  researcher:\n    skills:\n      - name: search\n        folderPath: \
                    ../skills/search\n  keeper:\n    instructionsPath: AGENTS.md\n    mcp_servers:\n      - filePath: \
                    ./clock.json\n    skills:\n      - { name: create-task, folderPath: ./skills/create-task }\n      - { name: \
                    list-tasks, folderPath: ./skills/list-tasks }\nscript_runtime:\n  kind: local\n  dockerfile: null\n";

/// A machine: its files, and where metier looks for them.
pub(crate) struct Machine {
    pub(crate) files: Workspace,
    pub(crate) places: Places,
}

impl Machine {
    pub(crate) fn new(fill: impl FnOnce(Workspace) -> Workspace) -> Self {
        let files = fill(Workspace::new().dir("home/project/.git"));
        let base = files.path().to_owned();
        let places = Places {
            home: Some(base.join("home")),
            current: base.join("home/project"),
            temp: base.join("tmp"),
            config: base.join("home/.config/metier"),
            data: base.join("home/.local/share/metier"),
            user_skills: base.join("home/.config/metier/skills"),
            system_skills: base.join("etc/skills"),
            bundled: None,
            cache: None,
            remote: None,
            git_configs: Vec::new(),
        };
        Self { files, places }
    }

    pub(crate) fn trusted(self) -> Self {
        let preview = Preview::of(&self.layout()).unwrap();
        let trust = |store: &mut TrustStore| store.trust(&preview, "2026-11-16T00:00:00Z", Ownership::Theirs);
        TrustStore::update(&self.places.data, trust).unwrap();
        self
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(&self.places, &RootChoice::Usual)
    }

    pub(crate) fn project(&self, path: &str) -> PathBuf {
        self.files.join("home/project").join(path)
    }

    /// A file of the project, checked against what there is.
    pub(crate) fn checked(&self, path: &str) -> ParsedDefinition {
        let layout = self.layout();
        let found = definition_at(&self.project(path), &layout).unwrap();
        let snapshot = Snapshot::load(Arc::new(layout), Include::Usual);
        let model =
            |name: &str| if name == "fast" { Ok(()) } else { Err(format!("there is no model `{name}`")) };
        let known = CheckContext { snapshot: &snapshot, model: &model, servers: Some(&[]) };
        AgentDefinition::read(found.format, &found.file, &found.boundary).check(&known)
    }
}

pub(crate) fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo.\n")
}

pub(crate) fn crew_project() -> Machine {
    Machine::new(|files| {
        files
            .file("home/project/team/todo.skilled_crew.yaml", CREW)
            .file(
                "home/project/team/AGENTS.md",
                "---\nname: t\ndescription: Keeps.\nmodel: fast\n---\nKeep the list.\n",
            )
            .file("home/project/team/clock.json", r#"{"name": "clock", "type": "stdio", "command": "clock"}"#)
            .file(
                "home/project/team/commands/french.command.md",
                "---\ndescription: d\n---\nFrench: $ARGUMENTS\n",
            )
            .file("home/project/skills/search/SKILL.md", skill("search"))
            .file("home/project/team/skills/create-task/SKILL.md", skill("create-task"))
            .file("home/project/team/skills/list-tasks/SKILL.md", skill("list-tasks"))
    })
}

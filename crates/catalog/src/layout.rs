//! Where skills are looked for: from places, configuration and command line to one ordered list of roots.

mod crew;
mod files;
mod order;

use crate::code;
use crate::config::{Config, RootConfig};
use crate::origin::Class;
use crate::places::Places;
use crate::project::Project;
use crate::remote::Remote;
use crate::root::{AllowedTools, Root, RootTrust, label};
use crate::settings::{ConfigFile, LayerOwner, Settings};
use crate::trust::{ProjectTrust, Standing, TrustItem, TrustStore, split};
use metier_diagnostic::Diagnostic;
use metier_files::{Kind, kind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

pub(crate) use crew::{CREW_SUFFIX, crew_files};
use files::LayoutFiles;

/// Which roots are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RootChoice {
    /// Those of the project, the user, the system, the configuration, and the skills that come with the program.
    #[default]
    Usual,
    /// These alone, as `--root` gives them; relative ones are seen from the current folder.
    Given(Vec<PathBuf>),
}

/// The roots, highest first, and what they were made from.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where things are on this machine.
    pub places: Places,
    /// Which roots were asked for.
    pub choice: RootChoice,
    /// The project, if there is one.
    pub project: Option<Project>,
    /// How far the project is trusted.
    pub standing: Standing,
    /// Which things of the project are trusted.
    pub trust: ProjectTrust,
    /// The roots, highest first. Those that do not exist are among them, so that `explain` can say where it looked.
    pub roots: Vec<Root>,
    /// The settings in force.
    pub settings: Settings,
    /// What was odd on the way here.
    pub diagnostics: Vec<Diagnostic>,
    files: Arc<LayoutFiles>,
}

impl Layout {
    /// Finds the project, reads the configuration and the trust store, and orders the roots. Never fails: what could not
    /// be read is among the diagnostics, and counts as not trusted and not configured.
    pub fn new(places: &Places, choice: &RootChoice) -> Self {
        Self::trusting(Arc::new(LayoutFiles::read(places)), places, choice, trust_in)
    }

    /// The layout as seen from another folder, which may belong to another project. The user's configuration is not read
    /// again.
    #[must_use]
    pub fn seen_from(&self, folder: &Path, choice: &RootChoice) -> Self {
        let places = Places { current: folder.to_owned(), ..self.places.clone() };
        Self::trusting(Arc::new(self.files.seen_from(&places)), &places, choice, trust_in)
    }

    /// The same after the trust in the project changed. The configuration is not read again.
    #[must_use]
    pub fn with_new_trust(&self) -> Self {
        Self::trusting(Arc::clone(&self.files), &self.places, &self.choice, trust_in)
    }

    /// The project's configuration as it was read, with what is not trusted in it.
    pub(crate) fn project_config(&self) -> Option<&Config> {
        self.files.own.file.as_ref().map(|file| &file.config)
    }

    /// When reading began. A file that changed since may have been read as it was before.
    pub(crate) fn read_since(&self) -> SystemTime {
        self.files.since
    }

    /// The same with the skills that servers list. Nothing is read again.
    #[must_use]
    pub fn with_remote(&self, remote: Arc<Remote>) -> Self {
        let mut layout = self.clone();
        layout.roots.retain(|root| root.origin.class != Class::Mcp);
        layout.roots.extend(remote.roots());
        layout.places.remote = Some(remote);
        order::settle(&mut layout.roots);
        layout
    }

    /// The same as if the user trusted everything in the project, to see what that would switch on. The configuration is not
    /// read again: what is shown is what was read.
    pub(crate) fn assuming_trust(&self) -> Self {
        Self::trusting(Arc::clone(&self.files), &self.places, &self.choice, |_, project, _| match project {
            Some(project) => ProjectTrust::in_everything(&project.folder),
            None => ProjectTrust::default(),
        })
    }

    fn trusting(
        files: Arc<LayoutFiles>,
        places: &Places,
        choice: &RootChoice,
        trust_in: impl FnOnce(&Places, Option<&Project>, &mut Vec<Diagnostic>) -> ProjectTrust,
    ) -> Self {
        let mut diagnostics = Vec::new();
        let project = match &files.project {
            Ok(project) => Some(project.clone()),
            Err(why) => {
                // Whoever names the roots has not asked for a project.
                diagnostics.extend((*choice == RootChoice::Usual).then(|| Diagnostic::clone(why)));
                None
            }
        };
        let trust = trust_in(places, project.as_ref(), &mut diagnostics);
        let standing = trust.standing();
        diagnostics.extend(files.user.diagnostics.iter().chain(&files.own.diagnostics).cloned());
        let user = files.user.file.as_ref();
        let own = files.own.file.clone();
        let settings = match (&project, own) {
            (Some(project), Some(own)) if standing.is_trusted() => {
                let is_trusted = |item: TrustItem| trust.allows(&item.entry);
                let (trusted, rest) = split(own.config, &project.folder, places, is_trusted);
                let trusted = ConfigFile { path: Arc::clone(&own.path), config: trusted };
                let rest = ConfigFile { path: own.path, config: rest };
                let heard = Some((&trusted, LayerOwner::TrustedProject));
                let mut settings = Settings::merge(user, heard, &mut diagnostics);
                settings.hear(&rest, LayerOwner::UntrustedProject);
                settings.declare(&project.folder, &trust, &[&trusted, &rest], &mut diagnostics);
                settings
            }
            (project, own) => {
                let heard = own.as_ref().map(|own| (own, LayerOwner::UntrustedProject));
                let mut settings = Settings::merge(user, heard, &mut diagnostics);
                if let Some(project) = project {
                    settings.declare(&project.folder, &trust, own.as_ref().as_slice(), &mut diagnostics);
                }
                settings
            }
        };

        let mut layout = Self {
            places: places.clone(),
            choice: choice.clone(),
            project,
            standing,
            trust,
            roots: Vec::new(),
            settings,
            diagnostics,
            files,
        };
        layout.roots = match choice {
            RootChoice::Given(paths) => layout.given(paths),
            RootChoice::Usual => layout.usual(),
        };
        layout.apply_settings();
        order::settle(&mut layout.roots);
        layout
    }

    fn given(&mut self, paths: &[PathBuf]) -> Vec<Root> {
        let mut roots = Vec::new();
        for path in paths.iter().filter(|path| !path.as_os_str().is_empty()) {
            let path = self.places.current.join(path);
            self.report_missing(&path, "the command line");
            roots.push(Root::new(Class::Cli, &label(&path), path, RootTrust::Trusted));
        }
        roots
    }

    fn usual(&mut self) -> Vec<Root> {
        let mut roots = self.of_project();
        roots.extend(self.of_user());
        roots.extend(self.of_config());
        let system = self.places.system_skills.clone();
        roots.push(Root::new(Class::System, "system", system, RootTrust::Trusted));
        if self.settings.bundled != Some(false)
            && let Some(bundled) = &self.places.bundled
        {
            roots.extend(bundled.root(&mut self.diagnostics));
        }
        roots.extend(self.places.remote.iter().flat_map(|remote| remote.roots()));
        roots
    }

    fn of_project(&mut self) -> Vec<Root> {
        let Some(project) = self.project.clone() else { return Vec::new() };
        let trust = if self.standing.is_trusted() { RootTrust::Trusted } else { RootTrust::Untrusted };
        let root = |label: &str, path: PathBuf| Root::new(Class::Project, label, path, trust);
        let mut roots = Vec::new();
        for folder in project.folders() {
            for (name, path) in
                [("metier", ".metier/skills"), ("agents", ".agents/skills"), ("claude", ".claude/skills")]
            {
                roots.push(root(name, folder.join(path)));
            }
        }
        // agentmd's documents name the first of these and its source the last; users have both.
        for (name, path) in [
            ("workspace", "workspace/agents/skills"),
            ("agentmd", "agents/skills"),
            ("agentmd-config", "agents/_config/skills"),
        ] {
            roots.push(root(name, project.folder.join(path)).meaning(AllowedTools::Both));
        }
        for (path, crew, trust) in crew::folders(&project, &self.trust, &mut self.diagnostics) {
            let root = root("crew", path).meaning(AllowedTools::Both);
            roots.push(Root { crew: Some(crew), trust, is_named_by_project: true, ..root });
        }
        // A root that the project names is the project's choice, so it shares the project's trust wherever it lies.
        for config in self.settings.project_roots.clone() {
            let path = self.places.resolve(&config.path, &project.folder);
            self.report_missing(&path, "the project's `metier.toml`");
            let root = Root { is_named_by_project: true, ..root(&label(&path), path) };
            roots.push(configured(root, &config));
        }
        roots
    }

    fn of_user(&self) -> Vec<Root> {
        let user = |label: &str, path: PathBuf| Root::new(Class::User, label, path, RootTrust::Trusted);
        let mut roots = vec![user("metier", self.places.user_skills.clone())];
        let Some(home) = &self.places.home else { return roots };
        roots.push(user("agents", home.join(".agents/skills")));
        roots.push(user("claude", home.join(".claude/skills")));
        for (name, path) in [("openpollen", ".openpollen/skills"), ("core-agent", ".core-agent/skills")] {
            roots.push(user(name, home.join(path)).meaning(AllowedTools::Both));
        }
        roots
    }

    fn of_config(&mut self) -> Vec<Root> {
        let mut roots = Vec::new();
        for config in self.settings.user_roots.clone() {
            let path = self.places.resolve(&config.path, &self.places.config);
            self.report_missing(&path, "the configuration");
            let root = Root::new(Class::Config, &label(&path), path, RootTrust::Trusted);
            roots.push(configured(root, &config));
        }
        roots
    }

    /// A root that is there anyway takes what the configuration says of its folder: the entry itself is a repeat, and is left
    /// out. A project's own word is for the project's roots.
    fn apply_settings(&mut self) {
        let project = self.project.as_ref().map(|project| project.folder.clone()).unwrap_or_default();
        let user = self.settings.user_roots.iter().map(|config| (config, &self.places.config, false));
        let own = self.settings.project_roots.iter().map(|config| (config, &project, true));
        for (config, base, is_project) in user.chain(own) {
            let Ok(real) = metier_files::real_path(&self.places.resolve(&config.path, base)) else {
                continue;
            };
            for root in &mut self.roots {
                if root.real.as_ref() != Some(&real) || (is_project && root.origin.class != Class::Project) {
                    continue;
                }
                root.take_meaning(config.allowed_tools);
                root.commands = config.commands.unwrap_or(root.commands);
            }
        }
    }

    fn report_missing(&mut self, path: &Path, named_by: &str) {
        let what = match kind(path) {
            Kind::Folder => return,
            Kind::Missing => "does not exist",
            Kind::File | Kind::Other => "is not a folder",
        };
        let message = format!("`{}`, a root that {named_by} names, {what}", path.display());
        self.diagnostics.push(Diagnostic::new(&code::ROOT_MISSING, message));
    }
}

fn configured(mut root: Root, config: &RootConfig) -> Root {
    root.depth = config.depth;
    root.ignore.clone_from(&config.ignore);
    root.nested = config.nested;
    root.take_meaning(config.allowed_tools);
    root.commands = config.commands.unwrap_or(root.commands);
    root
}

fn trust_in(places: &Places, project: Option<&Project>, diagnostics: &mut Vec<Diagnostic>) -> ProjectTrust {
    let Some(project) = project else { return ProjectTrust::default() };
    match TrustStore::open(&places.data) {
        Ok(store) => store.trust_in(&project.folder),
        Err(error) => {
            let path: Arc<Path> = TrustStore::file(&places.data).into();
            let diagnostic = Diagnostic::new(&code::TRUST_STORE_CORRUPT, error.to_string()).in_file(&path);
            diagnostics.push(diagnostic.help("mend the file, or remove it and trust your projects again"));
            ProjectTrust::default()
        }
    }
}

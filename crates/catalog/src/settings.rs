//! What holds: the user's configuration and the project's, put together by how far the project is trusted.

mod layer;

use self::layer::Layer;
use crate::code;
use crate::config::{
    CatalogConfig, ChangesConfig, Config, DiscoveryConfig, GateConfig, LintConfig, McpServerConfig,
    NeedsConfig, RootConfig, SkillConfig, Visibility,
};
use crate::declared_name::{self, DeclaredName};
use crate::model_settings::ModelSettings;
use crate::origin::Origin;
use crate::root::CommandsStart;
use crate::trust::{ProjectTrust, exact_path, variable};
use metier_diagnostic::Diagnostic;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest configuration file that is read. A few hundred lines are 20 KB.
const MAX_CONFIG: u64 = 1024 * 1024;

/// A configuration file as it was read.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Where it is.
    pub path: Arc<Path>,
    /// What it says.
    pub config: Config,
}

impl ConfigFile {
    /// Reads a file; `None` when there is none. Problems go to `diagnostics`.
    pub fn read(path: &Path, diagnostics: &mut Vec<Diagnostic>) -> Option<Self> {
        let path: Arc<Path> = path.into();
        let unreadable = |why: String| Diagnostic::new(&code::CONFIG_UNREADABLE, why).in_file(&path);
        let bytes = match metier_files::read_bounded(&path, MAX_CONFIG) {
            Ok(bytes) => bytes?,
            Err(error) => {
                diagnostics.push(unreadable(format!("this configuration cannot be read: {error}")));
                return None;
            }
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            diagnostics.push(unreadable("this configuration is not UTF-8 text".to_owned()));
            return None;
        };
        let (config, found) = Config::read(text, &path);
        diagnostics.extend(found);
        Some(Self { path, config })
    }
}

/// The settings in force.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// More roots by the user's configuration.
    pub(crate) user_roots: Vec<RootConfig>,
    /// More roots by a trusted project's configuration.
    pub(crate) project_roots: Vec<RootConfig>,
    /// Whether the skills that come with the program count; they do, where nothing is said.
    pub(crate) bundled: Option<bool>,
    /// What the model sees first.
    pub catalog: CatalogConfig,
    /// How far the search goes.
    pub discovery: DiscoveryConfig,
    /// Which findings of a check count: the user's word, then the project's. A project's holds whether it is trusted or
    /// not, since it changes only what is said about its files; what is left out is counted.
    pub lint: Vec<LintLayer>,
    /// What may happen: the user's word, then the project's. Both are given whole, since even a stranger's rules narrow;
    /// whoever decides by them is told whose they are.
    pub gate: Vec<GateLayer>,
    /// The environment names that are declared, in order: the user's, and a trusted project's.
    pub environment: Vec<DeclaredName>,
    /// Those of a project that nobody trusts. Nothing gets a value by them; a check knows that somebody meant them.
    pub unheard_environment: Vec<DeclaredName>,
    /// Which models there are, and how much a run may use up.
    pub models: ModelSettings,
    /// The user's MCP servers, by their labels.
    pub mcp: BTreeMap<String, McpServerConfig>,
    /// What becomes of changes that commands make, by the user's own file.
    pub changes: ChangesConfig,
    /// The user's rules, then the project's.
    layers: Vec<Layer>,
}

/// What one file says about findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintLayer {
    /// The folder its paths are seen from; without one, the current folder.
    pub folder: Option<PathBuf>,
    /// What it says.
    pub config: LintConfig,
}

/// What one file says about what may happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateLayer {
    /// The file.
    pub file: Arc<Path>,
    /// Whose it is.
    pub owner: LayerOwner,
    /// What it says.
    pub config: GateConfig,
}

/// Whose word a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerOwner {
    /// The user's.
    User,
    /// That of a project the user trusts.
    TrustedProject,
    /// That of a project the user has said nothing about.
    UntrustedProject,
}

impl LayerOwner {
    /// Whether the file may do more than narrow: a trusted project's settings are as good as the user's, and nearer.
    pub(crate) fn may_widen(self) -> bool {
        self != Self::UntrustedProject
    }
}

impl GateLayer {
    fn new(file: &ConfigFile, owner: LayerOwner) -> Self {
        Self { file: Arc::clone(&file.path), owner, config: file.config.gate.clone() }
    }
}

impl Settings {
    /// Puts the two files together.
    pub(crate) fn merge(
        user: Option<&ConfigFile>,
        project: Option<(&ConfigFile, LayerOwner)>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut settings = Self::default();
        if let Some(user) = user {
            settings.user_roots.clone_from(&user.config.roots);
            settings.bundled = user.config.bundled;
            settings.catalog = user.config.catalog.clone();
            settings.discovery = user.config.discovery.clone();
            settings.lint.push(LintLayer { folder: None, config: user.config.lint.clone() });
            settings.gate.push(GateLayer::new(user, LayerOwner::User));
            settings.layers.push(Layer::new(user, LayerOwner::User));
            settings.environment = declared_name::of_config(user);
            settings.models = ModelSettings::of_user(user);
            settings.mcp.clone_from(&user.config.mcp);
            settings.changes = user.config.changes.clone();
        }
        if let Some((project, owner)) = project {
            settings.hear(project, owner);
            if owner.may_widen() {
                diagnostics.extend(providers_not_heard(project));
                diagnostics.extend(servers_not_heard(project));
            } else {
                diagnostics.extend(not_acted_on(project));
            }
        }
        settings
    }

    /// Takes what a project's file says, as far as it may be heard.
    pub(crate) fn hear(&mut self, project: &ConfigFile, owner: LayerOwner) {
        let folder = project.path.parent().map(Path::to_owned);
        if project.config.lint != LintConfig::default() {
            self.lint.push(LintLayer { folder, config: project.config.lint.clone() });
        }
        self.gate.push(GateLayer::new(project, owner));
        self.layers.push(Layer::new(project, owner));
        // To leave skills out narrows, which any project may.
        let bundled = project.config.bundled.filter(|is_on| owner.may_widen() || !is_on);
        self.bundled = bundled.or(self.bundled);
        self.models.hear(project, owner);
        if owner.may_widen() {
            self.project_roots.clone_from(&project.config.roots);
            self.nearer(&project.config);
        }
    }

    /// Takes the environment names of a project: those of its manifest, then those of its configuration, which is nearer.
    /// Each is heard where the user trusted it.
    pub(crate) fn declare(
        &mut self,
        project: &Path,
        trust: &ProjectTrust,
        config: &[&ConfigFile],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        // What is wrong with a manifest that is not heard is not worth a word before it is.
        let mut found = Vec::new();
        let manifest = declared_name::of_manifest(project, &mut found);
        if trust.standing().is_trusted() {
            diagnostics.append(&mut found);
        }
        let config = config.iter().map(|file| declared_name::of_config(file));
        for names in [manifest].into_iter().chain(config) {
            let is_trusted = |name: &DeclaredName| {
                let place = exact_path(project, &name.file);
                trust.allows(&variable(&place, &name.name, &name.config).entry)
            };
            let (heard, unheard) = names.into_iter().partition(is_trusted);
            declared_name::declare(&mut self.environment, heard);
            declared_name::declare(&mut self.unheard_environment, unheard);
        }
    }

    /// Who is offered a skill, and which file says so.
    pub fn visibility(&self, name: &str, origin: &Origin) -> Option<(Visibility, &Arc<Path>)> {
        let mut holds: Option<(Visibility, &Arc<Path>)> = None;
        for layer in &self.layers {
            let Some(says) = layer.says(name, origin) else { continue };
            let known = holds.map_or(Visibility::On, |(known, _)| known);
            if layer.owner.may_widen() || says < known {
                holds = Some((says, &layer.file));
            }
        }
        holds
    }

    /// What a skill's scripts get beyond the default containment, and whose word that is. A project that is not trusted
    /// has no say in it.
    pub fn needs<'a>(
        &'a self,
        name: &'a str,
        origin: &'a Origin,
    ) -> impl Iterator<Item = (&'a NeedsConfig, LayerOwner)> {
        let heard = self.layers.iter().filter(|layer| layer.owner.may_widen());
        heard.flat_map(move |layer| layer.widening(name, origin).map(|skill| (&skill.needs, layer.owner)))
    }

    /// The file that gives needs to the bare name of a skill, though the skill is not its writer's own and gets none of them: where
    /// none of `others`, the origins of skills of that name, is either, nobody gets them.
    pub fn unused_needs(&self, name: &str, origin: &Origin, others: &[&Origin]) -> Option<&Path> {
        let is_unused = |layer: &&Layer| {
            let is_bare = |(wanted, skill): &(Option<Origin>, SkillConfig)| {
                wanted.is_none() && skill.needs != NeedsConfig::default()
            };
            layer.rules.get(name).is_some_and(|rules| rules.iter().any(is_bare))
                && layer.widening(name, origin).next().is_none()
                && !others.iter().any(|other| layer.owns(other))
        };
        let heard = self.layers.iter().filter(|layer| layer.owner.may_widen());
        heard.filter(|layer| layer.owner == LayerOwner::User).find(is_unused).map(|layer| &*layer.file)
    }

    /// Where the scripts of a skill start, if a file says so; a trusted project's word counts before the user's.
    pub fn start(&self, name: &str, origin: &Origin) -> Option<CommandsStart> {
        let heard = self.layers.iter().rev().filter(|layer| layer.owner.may_widen());
        heard.flat_map(|layer| layer.about(name, origin)).find_map(|skill| skill.start)
    }

    /// The needs that the user's own configuration gives, with the skills they are for as they are written.
    pub fn given_needs(&self) -> Vec<(String, &NeedsConfig)> {
        let own = self.layers.iter().filter(|layer| layer.owner == LayerOwner::User);
        let mut given: Vec<(String, &NeedsConfig)> = own
            .flat_map(|layer| &layer.rules)
            .flat_map(|(name, rules)| rules.iter().map(move |(origin, skill)| (name, origin, skill)))
            .map(|(name, origin, skill)| {
                let who = origin.as_ref().map_or_else(|| name.clone(), |origin| format!("{origin}:{name}"));
                (who, &skill.needs)
            })
            .collect();
        given.sort_by(|(a, _), (b, _)| a.cmp(b));
        given
    }

    /// Whether any skill has a setting at all; the common answer is no, and then nobody looks them up.
    pub(crate) fn has_rules(&self) -> bool {
        self.layers.iter().any(|layer| !layer.rules.is_empty())
    }

    fn nearer(&mut self, config: &Config) {
        let (catalog, discovery) = (&config.catalog, &config.discovery);
        self.catalog.budget = catalog.budget.or(self.catalog.budget);
        self.catalog.window = catalog.window.or(self.catalog.window);
        self.catalog.disclosure = catalog.disclosure.or(self.catalog.disclosure);
        self.discovery.depth = discovery.depth.or(self.discovery.depth);
        self.discovery.entries = discovery.entries.or(self.discovery.entries);
    }
}

/// What an untrusted project asks for beyond hiding skills, in one diagnostic.
fn not_acted_on(file: &ConfigFile) -> Option<Diagnostic> {
    let config = &file.config;
    let sections = [
        ("`[[roots]]`", !config.roots.is_empty()),
        ("`[env]`", !config.env.is_empty()),
        ("`[catalog]`", config.catalog != CatalogConfig::default()),
        ("`[discovery]`", config.discovery != DiscoveryConfig::default()),
        ("`model`", config.model.is_some()),
        ("`[models]`", !config.models.is_empty()),
        ("`[providers]`", !config.providers.is_empty()),
        ("`[mcp]`", !config.mcp.is_empty()),
    ];
    let asked: Vec<_> = sections.iter().filter(|(_, asked)| *asked).map(|(name, _)| *name).collect();
    if asked.is_empty() {
        return None;
    }
    let message =
        format!("the project is not trusted, so {} of its `metier.toml` have no effect", asked.join(", "));
    Some(
        Diagnostic::new(&code::CONFIG_UNTRUSTED, message)
            .in_file(&file.path)
            .help("look at it with `metier trust --preview`, then `metier trust`"),
    )
}

/// That a trusted project names providers, which are the user's own business.
fn providers_not_heard(file: &ConfigFile) -> Option<Diagnostic> {
    let names: Vec<String> = file.config.providers.keys().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!(
        "providers are set in your own configuration only, so what this file says of {} has no effect",
        names.join(", ")
    );
    Some(
        Diagnostic::new(&code::CONFIG_USER_ONLY, message)
            .in_file(&file.path)
            .help("move `[providers]` to your own `config.toml` if you want your keys to go there"),
    )
}

/// That a trusted project names MCP servers where they are not looked for.
fn servers_not_heard(file: &ConfigFile) -> Option<Diagnostic> {
    if file.config.mcp.is_empty() {
        return None;
    }
    let message = "a project names its MCP servers in `.mcp.json`, so `[mcp]` of this file has no effect";
    let help = "move them to `.mcp.json` beside it, or to your own `config.toml`";
    Some(Diagnostic::new(&code::CONFIG_USER_ONLY, message).in_file(&file.path).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> ConfigFile {
        let path: Arc<Path> = Path::new(path).into();
        let (config, found) = Config::read(text, &path);
        assert_eq!(found, []);
        ConfigFile { path, config }
    }

    fn seen(settings: &Settings, name: &str, origin: &str) -> Option<(&'static str, String)> {
        let origin = Origin::parse(origin).unwrap();
        settings.visibility(name, &origin).map(|(is, file)| (is.word(), file.display().to_string()))
    }

    const USER: &str = "[skills.a]\nvisibility = \"name-only\"\n[skills.b]\nvisibility = \"off\"\n\
        [skills.\"user.claude:a\"]\nvisibility = \"on\"\n[catalog]\nbudget = 1\n[[roots]]\npath = \"u\"\n";
    const PROJECT: &str = "[skills.a]\nvisibility = \"on\"\n[skills.b]\nvisibility = \"on\"\n\
        [skills.c]\nvisibility = \"off\"\n[catalog]\nbudget = 9\n[[roots]]\npath = \"p\"\n";

    #[test]
    fn an_untrusted_project_only_narrows() {
        let (user, project) = (file("user", USER), file("project", PROJECT));
        let mut found = Vec::new();
        let settings =
            Settings::merge(Some(&user), Some((&project, LayerOwner::UntrustedProject)), &mut found);
        assert_eq!(seen(&settings, "a", "project").unwrap().0, "name-only");
        assert_eq!(seen(&settings, "b", "project").unwrap(), ("off", "user".to_owned()));
        assert_eq!(seen(&settings, "a", "user.claude").unwrap(), ("on", "user".to_owned()));
        assert_eq!(seen(&settings, "c", "user.claude").unwrap(), ("off", "project".to_owned()));
        assert_eq!(settings.catalog.budget, Some(1));
        assert!(settings.project_roots.is_empty());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, &code::CONFIG_UNTRUSTED);
    }

    #[test]
    fn needs_for_a_name_that_no_own_skill_has_are_unused() {
        let user = file(
            "user",
            "[skills.a.needs]\nwrite = [\"x\"]\n[skills.\"cli:b\".needs]\nwrite = [\"x\"]\n[skills.c]\n",
        );
        let settings = Settings::merge(Some(&user), None, &mut Vec::new());
        let origin = |text: &str| Origin::parse(text).unwrap();
        let (cli, own) = (origin("cli"), origin("user.agents"));
        assert_eq!(settings.unused_needs("a", &cli, &[&cli]), Some(Path::new("user")));
        assert_eq!(settings.unused_needs("a", &cli, &[&cli, &own]), None);
        assert_eq!(settings.unused_needs("a", &own, &[&own]), None);
        for name in ["b", "c", "d"] {
            assert_eq!(settings.unused_needs(name, &cli, &[&cli]), None, "{name}");
        }
    }

    #[test]
    fn a_trusted_project_is_nearer_than_the_user() {
        let (user, project) = (file("user", USER), file("project", PROJECT));
        let settings =
            Settings::merge(Some(&user), Some((&project, LayerOwner::TrustedProject)), &mut Vec::new());
        assert_eq!(seen(&settings, "b", "project").unwrap(), ("on", "project".to_owned()));
        assert_eq!(settings.catalog.budget, Some(9));
        assert_eq!((settings.user_roots.len(), settings.project_roots.len()), (1, 1));
    }

    #[test]
    fn bundled_skills_are_left_out_by_anybody_and_brought_back_by_who_is_trusted() {
        let says = |text: &str| (!text.is_empty()).then(|| file("x", text));
        for (user, project, owner, expected) in [
            ("", "", LayerOwner::UntrustedProject, true),
            ("bundled = false", "", LayerOwner::UntrustedProject, false),
            ("", "bundled = false", LayerOwner::UntrustedProject, false),
            ("bundled = false", "bundled = true", LayerOwner::UntrustedProject, false),
            ("bundled = false", "bundled = true", LayerOwner::TrustedProject, true),
            ("bundled = true", "bundled = false", LayerOwner::TrustedProject, false),
        ] {
            let (user, project) = (says(user), says(project));
            let project = project.as_ref().map(|project| (project, owner));
            let settings = Settings::merge(user.as_ref(), project, &mut Vec::new());
            assert_eq!(settings.bundled != Some(false), expected, "{user:?} {project:?}");
        }
    }

    #[test]
    fn rules_of_both_files_are_kept_with_their_owner() {
        let user = file("user", "[gate]\nmode = \"strict\"\n");
        let project = file("project", "[gate]\nallow = [\"skill:*\"]\n");
        for owner in [LayerOwner::TrustedProject, LayerOwner::UntrustedProject] {
            let settings = Settings::merge(Some(&user), Some((&project, owner)), &mut Vec::new());
            let seen: Vec<_> =
                settings.gate.iter().map(|layer| (layer.owner, layer.config.allow.len())).collect();
            assert_eq!(seen, [(LayerOwner::User, 0), (owner, 1)]);
            assert_eq!(settings.gate[0].config.mode.as_deref(), Some("strict"));
        }
    }

    #[test]
    fn a_setting_with_an_origin_goes_before_one_without() {
        let user = file("user", USER);
        let settings = Settings::merge(Some(&user), None, &mut Vec::new());
        assert_eq!(seen(&settings, "a", "user.claude").unwrap().0, "on");
        assert_eq!(seen(&settings, "a", "user.agents").unwrap().0, "name-only");
        assert_eq!(seen(&settings, "z", "user.agents"), None);
    }
}

//! An agent made ready for this user: whom it asks, what it may use up, where its files lie, who looks on.

use crate::agency::{self, AtTheTerminal};
use crate::agent_choice::AgentChoice;
use crate::args::Working;
use crate::cast::Cast;
use crate::environment;
use crate::model_choice::proxy_variables::proxy_for;
use crate::model_choice::{MODEL_FLAG, Settled, Wish};
use crate::output::{Output, clean};
use crate::run_view::RunView;
use crate::servers::{ask_all, of_role};
use crate::skill_models;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_agent::{Agent, CancelToken, Compaction, Limits, RetryDecision, RunHooks, defined_agent};
use metier_catalog::{Entry, Standing, State};
use metier_definition::{DefinitionFormat, Role};
use metier_diagnostic::counted;
use metier_files::PassingFolder;
use metier_mcp_client::Servers;
use metier_model::{ChatModel, Prices};
use metier_planner::{IndexRouter, OfflinePlanner};
use metier_runtime::Skills;
use metier_store::Store;
use metier_tools::{Setting, ToolServer, Web};
use std::sync::Arc;

/// An agent that is ready, and what its conversations are begun with.
pub(crate) struct Outfit {
    pub(crate) agent: Agent,
    pub(crate) skills: Skills,
    /// Whether somebody can be asked.
    pub(crate) can_ask: bool,
    pub(crate) surroundings: Surroundings,
    /// Why no language model is asked, where none is.
    pub(crate) offline: Option<String>,
    /// The names of the agent's own skills, where it has a list of them.
    pub(crate) own: Option<Vec<String>>,
    /// What programs wrote beyond what the model got lies here as long as this lasts.
    outputs: PassingFolder,
    /// The role that it plays, and the format of its file.
    cast: Option<(DefinitionFormat, Role)>,
}

/// Whom an agent asks.
struct Mind {
    model: Arc<dyn ChatModel>,
    prices: Option<Prices>,
    /// How much it can hold in mind.
    compaction: Compaction,
    offline: Option<String>,
}

impl Outfit {
    /// Makes ready whoever works. Says what in the rules could not be taken as it is written, and which skills it does not get.
    pub(crate) fn ready(cast: &Cast, working: &Working, output: &mut Output) -> Result<Self> {
        let (surroundings, silent) = ask_all(&cast.surroundings);
        for server in silent {
            let (server, why) = (clean(&server.uri), clean(&server.why));
            output.aside(&format!("the MCP server `{server}` lists nothing: {why}"))?;
        }
        let chosen = cast.agents.first();
        let role = chosen.and_then(AgentChoice::role);
        let settled = Wish::new(working.model.model.as_deref(), MODEL_FLAG, &surroundings)
            .settle_for(chosen.and_then(AgentChoice::model))?;
        let window = match &settled {
            Settled::Model(chosen) => chosen.choice.context.and_then(|tokens| usize::try_from(tokens).ok()),
            Settled::Offline { .. } => None,
        };
        let skills = agency::skills(&surroundings, cast.can_ask, window, role)?;
        for problem in skills.rule_problems() {
            output.aside(&clean(&problem.to_string()))?;
        }
        let snapshot = skills.snapshot();
        let own = chosen.and_then(|agent| agent.read.definition.reachable_from(role?, &snapshot));
        let mind = Mind::of(settled, &skills, own.as_deref())?;
        let store = Store::open(&surroundings.store_file())?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let config = surroundings.layout.settings.models.limits()?;
        let budget = role.map(|role| role.budget).unwrap_or_default();
        let settled = Limits::settled(&budget, config);
        let turns = working.max_turns.map_or(settled.turns, |turns| turns.get().into());
        let limits = Limits { turns, ..settled };
        let models = skill_models::configured(&surroundings, mind.model.id());
        let mut agent = Agent::new(skills.clone(), mind.model, store, Arc::new(runtime));
        agent.selection.prices = mind.prices;
        agent.compaction = mind.compaction;
        agent.models = Some(models);
        agent.outside = surroundings.servers.clone().map(|servers| Arc::new(servers) as Arc<dyn ToolServer>);
        if let (Some(chosen), Some(role)) = (chosen, role) {
            let definition = &chosen.read.definition;
            let (mut said, mut shared) = (Vec::new(), Vec::new());
            let servers = definition.roles.iter().map(|role| {
                let (servers, found) = of_role(chosen, role);
                let servers = servers.map(|servers| servers.share_connections(&shared));
                shared.extend(servers.clone());
                said.extend(found);
                (role.name.value.as_str(), servers)
            });
            let servers: Vec<(&str, Option<Servers>)> = servers.collect();
            for found in said {
                let help = found.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
                output.aside(&clean(&format!("{}{help}", found.message)))?;
            }
            let outside = |role: &Role| {
                let (_, own) = servers.iter().find(|(name, _)| *name == role.name.value)?;
                own.clone().map(|own| Arc::new(own) as Arc<dyn ToolServer>)
            };
            agent = agent.with_crew(definition, role, &snapshot, config, &outside);
            // The planner reads a catalogue, and has no use for conversations beside its own.
            if mind.offline.is_some() {
                agent = agent.without_crew(definition, role, &snapshot);
            }
        }
        agent.limits = limits;
        let layout = Arc::clone(&surroundings.layout);
        agent.agents = Some(Arc::new(move |name| defined_agent(&layout, name)));
        let outputs = PassingFolder::make(&surroundings.places.temp)
            .context("there is no place for the run's files")?;
        let cast_role = chosen.and_then(|agent| Some((agent.found.format, agent.role()?.clone())));
        let (can_ask, offline) = (cast.can_ask, mind.offline);
        let outfit = Self { agent, skills, can_ask, surroundings, offline, own, outputs, cast: cast_role };
        outfit.tell_untrusted(output)?;
        Ok(outfit)
    }

    /// Asks another model from now on. Conversations that are there already go on with the one they have.
    pub(crate) fn change_model(&mut self, name: &str) -> Result<()> {
        let settled = Wish::new(Some(name), "/model", &self.surroundings).settle()?;
        let mind = Mind::of(settled, &self.skills, self.own.as_deref())?;
        self.agent.models = Some(skill_models::configured(&self.surroundings, mind.model.id()));
        self.agent.selection.model = mind.model;
        self.agent.selection.prices = mind.prices;
        self.agent.compaction = mind.compaction;
        self.offline = mind.offline;
        Ok(())
    }

    /// What the general tools of a conversation work with.
    pub(crate) fn setting(&self) -> Setting {
        let project = self.surroundings.layout.project.as_ref();
        let usual = Setting {
            project: project.map(|project| project.folder.clone()),
            current: project.map(|project| project.current.clone()),
            home: self.surroundings.places.home.clone(),
            user: self.surroundings.places.user_paths(),
            outputs: Some(self.outputs.path().to_owned()),
            guarded: Vec::new(),
            web: Some(Web::system().with_proxies(Arc::new(web_proxy))),
            commands: true,
            questions: self.can_ask,
            memory: true,
        };
        match &self.cast {
            Some((format, role)) => metier_agent::role_setting(usual, role, *format),
            None => usual,
        }
    }

    /// Shows what happens in a conversation.
    pub(crate) fn view(&self, output: &Output, decided: Option<RetryDecision>) -> Arc<RunView> {
        Arc::new(RunView::new(output, self.can_ask, decided))
    }

    /// Who is there during a conversation.
    pub(crate) fn hooks(&self, view: &Arc<RunView>, cancel: CancelToken) -> RunHooks {
        let ask = self.can_ask.then(|| Arc::new(AtTheTerminal) as _);
        RunHooks { observer: Arc::clone(view) as _, cancel, ask }
    }

    /// Skills of a project that nobody trusts yet are not offered; whoever runs something there should know.
    fn tell_untrusted(&self, output: &mut Output) -> Result<()> {
        let snapshot = self.skills.snapshot();
        let is_untrusted = |(_, entry): &(_, &Entry)| entry.state() == State::Untrusted;
        let (remote, own): (Vec<_>, Vec<_>) =
            snapshot.entries().filter(is_untrusted).partition(|(_, entry)| entry.remote().is_some());
        if !remote.is_empty() {
            output.aside(&format!(
                "{} of MCP servers not used, since you have not approved them: `metier list` shows them, `metier trust NAME` approves one",
                counted(remote.len(), "skill is", "skills are")
            ))?;
        }
        // What is new in a trusted project has been told with everything else that is.
        let untrusted = own.len();
        if untrusted > 0 && snapshot.layout().standing == Standing::Untrusted {
            output.aside(&format!(
                "{} ignored because this project is not trusted. Review it: `metier trust --preview`",
                counted(untrusted, "skill is", "skills are")
            ))?;
        }
        Ok(())
    }

    /// Says that no language model is asked, where none is.
    pub(crate) fn tell_offline(&self, output: &mut Output) -> Result<()> {
        if let Some(why) = self.offline.as_deref().filter(|_| !output.is_json()) {
            output.aside(&format!(
                "No language model was used: {}. Name one with `--model PROVIDER/MODEL`, or see `metier init`.",
                clean(why)
            ))?;
        }
        Ok(())
    }
}

/// The proxy that the environment names for a page.
fn web_proxy(is_tls: bool, host: &str) -> Option<String> {
    proxy_for(is_tls, host, &environment::variable).map(|named| named.address)
}

impl Mind {
    /// The model, or the planner that needs none and knows the agent's own skills alone.
    fn of(settled: Settled, skills: &Skills, own: Option<&[String]>) -> Result<Self> {
        match settled {
            Settled::Model(chosen) => {
                let compaction =
                    Compaction { window: chosen.choice.context.map(u64::from), ..Compaction::default() };
                let prices = chosen.choice.prices;
                Ok(Self { model: chosen.model, prices, compaction, offline: None })
            }
            Settled::Offline { why } => {
                let router = IndexRouter::new(skills.finder()).among(own);
                let model = Arc::new(OfflinePlanner::new(Arc::new(router))?);
                let compaction = Compaction::default();
                Ok(Self { model, prices: None, compaction, offline: Some(why) })
            }
        }
    }
}

//! An agent made ready for this user: whom it asks, what it may use up, where its files lie, who looks on.

use crate::agency::{self, Presence};
use crate::agent_choice::AgentChoice;
use crate::args::Global;
use crate::environment;
use crate::history_place;
use crate::model_choice::{NamedAt, Settled, Wish};
use crate::output::{Output, clean};
use crate::run_view::{Loudness, RunView};
use crate::servers::{ask_all, of_role};
use crate::skill_models;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_agent::{Agent, CancelToken, Compaction, DefinedAgents, Limits, RunHooks};
use metier_catalog::{Entry, Standing, State};
use metier_definition::{DefinitionFormat, Role};
use metier_diagnostic::counted;
use metier_files::{PassingFolder, UserPaths};
use metier_mcp_client::Servers;
use metier_model::{ChatModel, Prices};
use metier_planner::{IndexRouter, OfflinePlanner};
use metier_runtime::Skills;
use metier_store::Store;
use metier_tools::{Offer, Setting, ToolServer, Web};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

/// What the user says about an agent before it begins.
pub(crate) struct Wishes<'a> {
    /// What `--model` says.
    pub(crate) model: Option<&'a str>,
    /// How often the model may be asked for one message.
    pub(crate) max_turns: Option<NonZeroU32>,
    /// Whether somebody can be asked.
    pub(crate) presence: Presence,
    /// The agent that somebody wrote down, if it is to be one of those.
    pub(crate) agent: Option<&'a AgentChoice>,
}

/// An agent that is ready, and what its conversations are begun with.
pub(crate) struct Outfit {
    pub(crate) agent: Agent,
    pub(crate) skills: Skills,
    pub(crate) presence: Presence,
    /// Why no language model is asked, where none is.
    pub(crate) offline: Option<String>,
    /// The names of the agent's own skills, where it has a list of them.
    pub(crate) own: Option<Vec<String>>,
    /// What programs wrote beyond what the model got lies here as long as this lasts.
    outputs: PassingFolder,
    project: Option<metier_catalog::Project>,
    home: Option<PathBuf>,
    user: UserPaths,
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
    /// Makes an agent ready, and says what in the rules could not be taken as it is written.
    pub(crate) fn ready(
        wishes: &Wishes<'_>,
        global: &Global,
        surroundings: &Surroundings,
        output: &mut Output,
    ) -> Result<Self> {
        let (surroundings, silent) = &ask_all(surroundings);
        for server in silent {
            let (server, why) = (clean(&server.uri), clean(&server.why));
            output.aside(&format!("the MCP server `{server}` lists nothing: {why}"))?;
        }
        let role = wishes.agent.and_then(AgentChoice::role);
        let named = (wishes.model, NamedAt::CommandLine);
        let settled = settle(named, wishes.agent.and_then(AgentChoice::model), surroundings)?;
        let window = match &settled {
            Settled::Model(chosen) => chosen.choice.context.and_then(|tokens| usize::try_from(tokens).ok()),
            Settled::Offline { .. } => None,
        };
        let skills = agency::skills(global, surroundings, wishes.presence, window, role)?;
        for problem in skills.rule_problems() {
            output.aside(&clean(&problem.to_string()))?;
        }
        let snapshot = skills.snapshot();
        let own = wishes.agent.and_then(|agent| agent.read.definition.reachable_from(role?, &snapshot));
        let mind = Mind::of(settled, &skills, own.as_deref())?;
        let store = Store::open(&history_place::file(&surroundings.places))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let config = surroundings.layout.settings.models.limits()?;
        let budget = role.map(|role| role.budget).unwrap_or_default();
        let settled = Limits::settled(&budget, config);
        let turns = wishes.max_turns.map_or(settled.turns, |turns| turns.get().into());
        let limits = Limits { turns, ..settled };
        let models = skill_models::configured(surroundings, mind.model.id());
        let mut agent = Agent::new(skills.clone(), mind.model, store, Arc::new(runtime))
            .prices(mind.prices)
            .compaction(mind.compaction)
            .models(models)
            .outside(surroundings.servers.clone().map(|servers| Arc::new(servers) as Arc<dyn ToolServer>));
        if let (Some(chosen), Some(role)) = (wishes.agent, role) {
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
        let agent =
            agent.limits(limits).agents(Arc::new(DefinedAgents::new(Arc::clone(&surroundings.layout))));
        let outputs = PassingFolder::make(&surroundings.places.temp)
            .context("there is no place for the run's files")?;
        Ok(Self {
            agent,
            skills,
            presence: wishes.presence,
            offline: mind.offline,
            own,
            outputs,
            project: surroundings.layout.project.clone(),
            home: surroundings.places.home.clone(),
            user: surroundings.places.user_paths(),
            cast: wishes.agent.and_then(|agent| Some((agent.found.format, agent.role()?.clone()))),
        })
    }

    /// Asks another model from now on. Conversations that are there already go on with the one they have.
    pub(crate) fn change_model(&mut self, name: &str, surroundings: &Surroundings) -> Result<()> {
        let settled = settle((Some(name), NamedAt::Chat), None, surroundings)?;
        let mind = Mind::of(settled, &self.skills, self.own.as_deref())?;
        let models = skill_models::configured(surroundings, mind.model.id());
        let agent = self.agent.clone().model(mind.model).prices(mind.prices).compaction(mind.compaction);
        self.agent = agent.models(models);
        self.offline = mind.offline;
        Ok(())
    }

    /// What the general tools of a conversation work with.
    pub(crate) fn setting(&self) -> Setting {
        let usual = Setting {
            project: self.project.as_ref().map(|project| project.folder.clone()),
            current: self.project.as_ref().map(|project| project.current.clone()),
            home: self.home.clone(),
            user: self.user.clone(),
            outputs: Some(self.outputs.path().to_owned()),
            guarded: Vec::new(),
            web: Web::system().ok(),
            commands: Offer::Yes,
            questions: if self.presence == Presence::Here { Offer::Yes } else { Offer::No },
            memory: Offer::Yes,
        };
        match &self.cast {
            Some((format, role)) => metier_agent::role_setting(usual, role, *format),
            None => usual,
        }
    }

    /// Shows what happens in a conversation.
    pub(crate) fn view(&self, global: &Global, output: &Output) -> Arc<RunView> {
        let loudness = if global.quiet { Loudness::AnswerOnly } else { Loudness::Steps };
        Arc::new(RunView::new(output.is_json(), loudness, self.presence, output.paint()))
    }

    /// Who is there during a conversation.
    pub(crate) fn hooks(&self, view: &Arc<RunView>, cancel: CancelToken) -> RunHooks {
        RunHooks { observer: Arc::clone(view) as _, cancel, ask: agency::company(self.presence) }
    }

    /// Skills of a project that nobody trusts yet are not offered; whoever runs something there should know.
    pub(crate) fn tell_untrusted(&self, output: &mut Output) -> Result<()> {
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

/// Which model is asked: what the user says, else what the agent's file does, else the configuration.
fn settle(
    (named, at): (Option<&str>, NamedAt),
    own: Option<(&str, String)>,
    surroundings: &Surroundings,
) -> Result<Settled> {
    let wish = Wish {
        named,
        at,
        settings: &surroundings.layout.settings.models,
        variable: &environment::variable,
        shown: &|path| surroundings.shown(path),
    };
    wish.settle_for(own)
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

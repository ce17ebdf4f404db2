//! Who works, and around what: the agents that somebody named, found and let start.

use crate::agency::Presence;
use crate::agent_choice::{self, AgentChoice};
use crate::args::{Global, Working};
use crate::command::trust_question;
use crate::declared::may_start;
use crate::exit::Exit;
use crate::outfit::{Outfit, Wishes};
use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use crate::trust_report;
use anyhow::{Result, bail};
use metier_catalog::Standing;
use metier_diagnostic::{Paint, Severity};

/// The agents that were named; the first one works, and without any metier's own does.
pub(crate) struct Cast {
    agents: Vec<AgentChoice>,
    presence: Presence,
    /// What is around the one that works.
    pub(crate) surroundings: Surroundings,
}

impl Cast {
    /// Finds whoever is named, once it is settled whether the project is trusted: its agents are looked for as it stands then.
    /// Where they do not start, the exit code; why has been said.
    pub(crate) fn find(
        named: &[String],
        working: &Working,
        global: &Global,
        surroundings: &Surroundings,
        output: &mut Output,
    ) -> Result<Result<Self, Exit>> {
        let presence = Presence::of(working.no_input);
        let surroundings = trust_question::settle(surroundings, presence, output)?;
        trust_report::tell(&surroundings, output)?;
        let agents = named.iter().map(|named| AgentChoice::find(named, global, &surroundings));
        let agents = agents.collect::<Result<Vec<_>>>()?;
        let surroundings = agents.first().map_or(surroundings, |agent| agent.surroundings.clone());
        may_start(&surroundings)?;
        Ok(match refused(&agents, output)? {
            Some(exit) => Err(exit),
            None => Ok(Self { agents, presence, surroundings }),
        })
    }

    /// The one that works.
    pub(crate) fn first(&self) -> Option<&AgentChoice> {
        self.agents.first()
    }

    /// The same, and nothing of the others.
    pub(crate) fn into_first(self) -> (Option<AgentChoice>, Surroundings) {
        (self.agents.into_iter().next(), self.surroundings)
    }

    /// Whether somebody can be asked.
    pub(crate) fn presence(&self) -> Presence {
        self.presence
    }

    /// Makes it ready, and says which skills it does not get.
    pub(crate) fn outfit(&self, working: &Working, global: &Global, output: &mut Output) -> Result<Outfit> {
        let wishes = Wishes {
            model: working.model.model.as_deref(),
            max_turns: working.max_turns,
            presence: self.presence,
            agent: self.first(),
        };
        let outfit = Outfit::ready(&wishes, global, &self.surroundings, output)?;
        outfit.tell_untrusted(output)?;
        Ok(outfit)
    }
}

/// Says why agents do not start, with everything that is wrong with all of them; nothing where they do.
fn refused(chosen: &[AgentChoice], output: &mut Output) -> Result<Option<Exit>> {
    if let Some(agent) = chosen.iter().find(|agent| agent.is_untrusted()) {
        let name = clean(&agent.read.definition.name.value);
        let why = match agent.surroundings.layout.standing {
            Standing::Untrusted => "belongs to a project that you have not trusted",
            Standing::Trusted | Standing::Mine => "is new or changed since you trusted the project",
        };
        output.aside(&format!(
            "the agent `{name}` {why}: it is shown and not run. `metier agents {}` shows it, `metier trust --diff` what trust \
             would switch on",
            clean(&agent.shown())
        ))?;
        return Ok(Some(Exit::NeedsYes));
    }
    if let Some(report) = agent_choice::refusal(chosen, Paint::Plain) {
        bail!("{}", report.trim_end());
    }
    for agent in chosen {
        let report = agent.report(Severity::Warning, output.paint());
        if !report.is_empty() {
            output.aside_rendered(&report)?;
        }
    }
    Ok(None)
}

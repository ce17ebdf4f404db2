//! Who works, and around what: the agents that somebody named, found and let start.

use crate::agent_choice::{self, AgentChoice};
use crate::args::Working;
use crate::command::trust_question;
use crate::declared::may_start;
use crate::exit::Exit;
use crate::keyboard;
use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use crate::trust_report;
use anyhow::{Result, bail};
use metier_catalog::Standing;
use metier_diagnostic::{Paint, Severity};

/// The agents that were named; the first one works, and without any metier's own does.
pub(crate) struct Cast {
    pub(crate) agents: Vec<AgentChoice>,
    /// Whether somebody can be asked.
    pub(crate) can_ask: bool,
    /// What is around the one that works.
    pub(crate) surroundings: Surroundings,
}

impl Cast {
    /// Finds whoever is named, once it is settled whether the project is trusted: its agents are looked for as it stands then.
    /// Where they do not start, the exit code; why has been said.
    pub(crate) fn find(
        named: &[String],
        working: &Working,
        surroundings: &Surroundings,
        output: &mut Output,
    ) -> Result<Result<Self, Exit>> {
        let can_ask = !working.no_input && keyboard::can_ask();
        let surroundings = trust_question::settle(surroundings, can_ask, output)?;
        trust_report::tell(&surroundings, output)?;
        let agents = named.iter().map(|named| AgentChoice::find(named, &surroundings));
        let agents = agents.collect::<Result<Vec<_>>>()?;
        let surroundings = agents.first().map_or(surroundings, |agent| agent.surroundings.clone());
        may_start(&surroundings)?;
        Ok(match refused(&agents, output)? {
            Some(exit) => Err(exit),
            None => Ok(Self { agents, can_ask, surroundings }),
        })
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
